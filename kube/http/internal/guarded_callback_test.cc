// No threads.

#include "kube/http/internal/guarded_callback.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

namespace kube::detail {
namespace {

TEST(GuardedCallbackTest, NothingThatIsThrownPasses) {
  std::exception_ptr thrown;
  EXPECT_EQ(guardedCallback(thrown, -1, [] { return 7; }), 7);
  EXPECT_EQ(thrown, nullptr);
  EXPECT_EQ(guardedCallback(thrown, -1, []() -> int { throw std::bad_alloc(); }), -1);
  EXPECT_EQ(messageOf(thrown), std::bad_alloc().what());
  EXPECT_EQ(guardedCallback(thrown, -2, []() -> int { throw 3; }), -2);
  EXPECT_EQ(messageOf(thrown), "an exception that is not a std::exception");
}

}  // namespace
}  // namespace kube::detail
