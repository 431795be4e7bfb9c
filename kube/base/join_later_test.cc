#include "kube/base/join_later.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <future>
#include <thread>
#include <utility>

namespace kube {
namespace {

// Ends in its own time, after whoever started it.
struct Leaver {
  explicit Leaver(std::shared_future<void> go, std::promise<void> left = {})
      : thread([this, go, left = std::move(left)]() mutable {
          go.wait();
          joinLater(std::move(thread));
          left.set_value();
        }) {}
  std::thread thread;
};

TEST(JoinLaterTest, AThreadMayHandOverItself) {
  std::promise<void> go;
  std::promise<void> left;
  auto done = left.get_future();
  const Leaver leaver(go.get_future().share(), std::move(left));
  go.set_value();
  done.wait();
  EXPECT_FALSE(leaver.thread.joinable());
}

TEST(JoinLaterTest, ThreadsThatHaveEndedAreLetGo) {
  for (int i = 0; i < 100; ++i) joinLater(std::thread([] {}));
}

TEST(JoinLaterDeathTest, TheProcessWaitsForThoseThatRun) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        static std::promise<void> leaving;
        joinLater(std::thread([] {
          leaving.get_future().wait();
          std::fputs("the thread has ended\n", stderr);
        }));
        std::atexit([] { leaving.set_value(); });  // before what joins, which came earlier
        std::exit(0);
      },
      testing::ExitedWithCode(0), "the thread has ended");
}

}  // namespace
}  // namespace kube
