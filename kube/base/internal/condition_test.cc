#include "kube/base/internal/condition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "kube/base/error.h"
#include "kube/base/internal/error_of_testing.h"
#include "kube/base/internal/test_loop_testing.h"
#include "kube/base/task_scope.h"
#include "kube/base/task_threads.h"

namespace kube::detail {
namespace {

using namespace std::chrono_literals;
using kube::testing::Begun;
using kube::testing::TestLoop;
using ::testing::HasSubstr;

// A queue of numbers.
class Numbers {
 public:
  void add(int n) {
    const Lock lock(numbersMutex_);
    numbers_.push_back(n);
    added_.notifyAll();
  }
  /// The next number; -1 after a stop.
  Task<int> next() {
    const auto ready = [this]() KUBE_REQUIRES(numbersMutex_) { return !numbers_.empty(); };
    for (;;) {
      const bool there = co_await added_.wait(ready);
      if (!there) co_return -1;
      const Lock lock(numbersMutex_);
      if (numbers_.empty()) continue;  // another was faster
      const int n = numbers_.front();
      numbers_.pop_front();
      co_return n;
    }
  }

 private:
  Mutex numbersMutex_;
  Condition added_{numbersMutex_};
  std::deque<int> numbers_ KUBE_GUARDED_BY(numbersMutex_);
};

TEST(ConditionTest, ATaskGoesOnWhenTheConditionIsMet) {
  Numbers numbers;
  TestLoop loop;
  Begun<int> next(numbers.next(), loop.executor());
  EXPECT_FALSE(next.over());
  EXPECT_EQ(loop.queued(), 0u);
  numbers.add(7);
  loop.runAll();
  EXPECT_EQ(next.result(), 7);
  numbers.add(8);
  EXPECT_EQ(blockOn(numbers.next()), 8) << "without a wait";
}

TEST(ConditionTest, EachTaskThatWaitsLooksAgain) {
  Numbers numbers;
  TestLoop loop;
  Begun<int> first(numbers.next(), loop.executor()), second(numbers.next(), loop.executor());
  numbers.add(1);
  loop.runAll();
  EXPECT_TRUE(first.over());
  EXPECT_FALSE(second.over());
  numbers.add(2);
  loop.runAll();
  EXPECT_EQ(second.result(), 2);
}

TEST(ConditionTest, AStopEndsTheWait) {
  Numbers numbers;
  TestLoop loop;
  std::stop_source stop;
  Begun<int> next(numbers.next(), loop.executor(), stop.get_token());
  stop.request_stop();
  loop.runAll();
  EXPECT_EQ(next.result(), -1);
  Begun<int> late(numbers.next(), loop.executor(), stop.get_token());
  EXPECT_EQ(late.result(), -1);
}

TEST(ConditionTest, ADestroyedTaskWaitsNoMore) {
  Numbers numbers;
  TestLoop loop;
  Begun<int> gone(numbers.next(), loop.executor()), dropped(numbers.next(), loop.executor());
  Begun<int> next(numbers.next(), loop.executor());
  gone.destroy();
  numbers.add(1);
  dropped.destroy();  // it is in the loop already
  loop.runAll();
  EXPECT_EQ(next.result(), 1);
}

TEST(ConditionTest, ADeadlineEndsTheWait) {
  FakeClock clock;
  Mutex mutex;
  Condition changed(mutex);
  bool ready = false;
  const auto isReady = [&] { return ready; };
  const auto wait = [&] { return changed.waitUntil(isReady, clock, clock.deadlineAfter(1s)); };
  TestLoop loop;
  Begun<bool> late(wait(), loop.executor()), destroyed(wait(), loop.executor());
  EXPECT_EQ(clock.waiters(), 2u);
  destroyed.destroy();
  EXPECT_EQ(clock.waiters(), 1u);
  auto thread = std::async(std::launch::async, [&] { return runBlocking(wait(), {}); });
  clock.waitForWaiters(2);
  clock.advance(1s);
  loop.runAll();
  EXPECT_FALSE(late.result());
  EXPECT_FALSE(thread.get());
  Begun<bool> inTime(wait(), loop.executor());
  {
    const Lock lock(mutex);
    ready = true;
    changed.notifyAll();
  }
  loop.runAll();
  EXPECT_TRUE(inTime.result());
  EXPECT_EQ(clock.waiters(), 0u);
}

TEST(ConditionTest, AThreadBlocks) {
  Numbers numbers;
  auto waiter = std::async(std::launch::async, [&] { return runBlocking(numbers.next(), {}); });
  numbers.add(3);
  EXPECT_EQ(waiter.get(), 3);
  std::stop_source stop;
  auto stopped =
      std::async(std::launch::async, [&] { return runBlocking(numbers.next(), stop.get_token()); });
  stop.request_stop();
  EXPECT_EQ(stopped.get(), -1);
}

TEST(ConditionTest, AnIoThreadMayNotBlock) {
  Numbers numbers;
  std::thread([&] {
    setMayBlock(false);
    EXPECT_THAT(errorOf<Error>([&] { runBlocking(numbers.next(), {}); }), HasSubstr("I/O thread"));
    numbers.add(1);
    EXPECT_EQ(runBlocking(numbers.next(), {}), 1) << "there is nothing to wait for";
    setMayBlock(true);
  }).join();
}

TEST(ConditionTest, TasksAndThreadsShareTheWork) {
  constexpr int kNumbers = 2000;
  Numbers numbers;
  std::atomic<int> sum = 0;
  const auto threads = std::make_shared<TaskThreads>();
  {
    TaskScope tasks(Executor([threads](Executor::Work work) { threads->run(std::move(work)); }));
    const auto adding = [](Numbers& from, std::atomic<int>& to) -> Task<void> {
      for (;;) {
        const int n = co_await from.next();
        if (n < 0) co_return;
        to += n;
      }
    };
    for (int i = 0; i < 4; ++i) tasks.start(adding(numbers, sum));
    std::jthread blocked([&](const std::stop_token& stop) {
      for (int n = 0; n >= 0;) sum += std::max(n = runBlocking(numbers.next(), stop), 0);
    });
    std::jthread other([&] {
      for (int i = 0; i < kNumbers; ++i) numbers.add(1);
    });
    for (int i = 0; i < kNumbers; ++i) numbers.add(1);
    other.join();
    while (sum != 2 * kNumbers) std::this_thread::yield();
  }
  EXPECT_EQ(sum, 2 * kNumbers);
}

}  // namespace
}  // namespace kube::detail
