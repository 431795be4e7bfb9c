#include "kube/base/internal/slow_wait.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

namespace kube::detail {
namespace {

using namespace std::chrono_literals;

TEST(SlowWaitTest, ReportsAgainEachTimeAfterTwiceAsLong) {
  FakeClock clock;
  std::vector<std::string> said;
  {
    const SlowWait slow(clock, [&](Clock::Duration waited) { said.push_back(inSeconds(waited)); });
    clock.advance(4999ms);
    EXPECT_TRUE(said.empty());
    clock.advance(60s);
    EXPECT_EQ(said, (std::vector<std::string>{"5 s", "10 s", "20 s", "40 s"}));
    EXPECT_EQ(clock.waiters(), 1U);
  }
  EXPECT_EQ(clock.waiters(), 0U);
  clock.advance(1h);
  EXPECT_EQ(said.size(), 4U);
}

TEST(SlowWaitTest, IsNotDestroyedDuringAReport) {
  FakeClock clock;
  std::atomic<bool> reporting = false, gone = false;
  std::optional<SlowWait> slow;
  slow.emplace(clock, [&](Clock::Duration) {
    reporting = true;
    reporting.notify_all();
    // A destructor that did not wait would have this time to finish too early.
    const auto end = std::chrono::steady_clock::now() + 100ms;
    while (std::chrono::steady_clock::now() < end && !gone) std::this_thread::yield();
    EXPECT_FALSE(gone);
  });
  std::jthread destroyer([&] {
    reporting.wait(false);
    slow.reset();
    gone = true;
  });
  clock.advance(5s);
  destroyer.join();
  EXPECT_EQ(clock.waiters(), 0U);
}

}  // namespace
}  // namespace kube::detail
