#include "kube/base/clock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "kube/base/error.h"
#include "kube/base/log.h"

namespace kube {
namespace {

using namespace std::chrono_literals;

TEST(FakeClockTest, TimeMovesOnlyWhenAdvanced) {
  FakeClock clock(Clock::WallTime{100s});
  const auto start = clock.now();
  EXPECT_EQ(clock.now(), start);
  clock.advance(5s);
  EXPECT_EQ(clock.now() - start, 5s);
  EXPECT_EQ(clock.wallNow(), Clock::WallTime{105s});
}

TEST(FakeClockTest, SleeperWakesWhenItsTimeHasComeAndNotBefore) {
  FakeClock clock;
  std::atomic<bool> awake = false;
  std::jthread sleeper([&] {
    EXPECT_TRUE(clock.sleepFor(10s));
    awake = true;
  });
  clock.waitForWaiters(1);
  clock.advance(9s);
  EXPECT_EQ(clock.waiters(), 1u);
  EXPECT_FALSE(awake);
  clock.advance(1s);
  EXPECT_EQ(clock.waiters(), 0u);
  sleeper.join();
  EXPECT_TRUE(awake);
}

TEST(FakeClockTest, StopEndsASleep) {
  FakeClock clock;
  std::promise<bool> slept;
  std::jthread sleeper([&](std::stop_token stop) { slept.set_value(clock.sleepFor(1h, stop)); });
  clock.waitForWaiters(1);
  sleeper.request_stop();
  EXPECT_FALSE(slept.get_future().get());
  sleeper.join();
  EXPECT_EQ(clock.waiters(), 0u);
}

TEST(FakeClockTest, StopRequestedBeforehandMeansNoSleep) {
  FakeClock clock;
  std::stop_source source;
  source.request_stop();
  EXPECT_FALSE(clock.sleepFor(1h, source.get_token()));
}

TEST(FakeClockTest, NotificationEndsAWaitWhosePredicateHolds) {
  FakeClock clock;
  std::mutex mutex;
  std::condition_variable_any changed;
  bool ready = false;
  std::promise<bool> result;
  std::jthread waiter([&] {
    std::unique_lock lock(mutex);
    result.set_value(clock.waitFor(changed, lock, {}, 1h, [&] { return ready; }));
    EXPECT_TRUE(lock.owns_lock());
  });
  clock.waitForWaiters(1);
  {
    std::lock_guard lock(mutex);
    ready = true;
  }
  changed.notify_all();
  EXPECT_TRUE(result.get_future().get());
}

TEST(FakeClockTest, DeadlineEndsAWaitWhosePredicateDoesNotHold) {
  FakeClock clock;
  std::mutex mutex;
  std::condition_variable_any changed;
  std::promise<bool> result;
  std::jthread waiter([&] {
    std::unique_lock lock(mutex);
    result.set_value(clock.waitFor(changed, lock, {}, 3s, [] { return false; }));
  });
  clock.waitForWaiters(1);
  clock.advance(3s);
  EXPECT_FALSE(result.get_future().get());
}

TEST(FakeClockTest, WaitWithoutDeadlineIsNoWaiter) {
  FakeClock clock;
  std::mutex mutex;
  std::condition_variable_any changed;
  std::promise<bool> waiting;
  std::jthread waiter([&](std::stop_token stop) {
    std::unique_lock lock(mutex);
    bool first = true;
    clock.waitUntil(changed, lock, stop, Clock::noDeadline, [&] {
      if (std::exchange(first, false)) waiting.set_value(true);
      return false;
    });
  });
  waiting.get_future().get();
  clock.advance(1000h);
  EXPECT_EQ(clock.waiters(), 0u);
}

TEST(FakeClockTest, OneAdvanceWakesEverySleeper) {
  FakeClock clock;
  constexpr int count = 8;
  std::atomic<int> awake = 0;
  {
    std::vector<std::jthread> sleepers;
    for (int i = 0; i < count; ++i) {
      sleepers.emplace_back([&, i] {
        clock.sleepFor(std::chrono::seconds(i + 1));
        ++awake;
      });
    }
    clock.waitForWaiters(count);
    clock.advance(1min);
  }
  EXPECT_EQ(awake, count);
}

// A sleeper counts as a waiter a moment before it really waits: an advance in that moment must not
// be lost.
TEST(FakeClockTest, NoAdvanceIsLostOnAThreadThatJustBeganToWait) {
  FakeClock clock;
  std::atomic<int> woken = 0;
  std::jthread sleeper([&](std::stop_token stop) {
    while (clock.sleepFor(1s, stop)) ++woken;
  });
  for (int round = 1; round <= 5000; ++round) {
    const auto patience = realClock().deadlineAfter(20s);
    while (woken < round && realClock().now() < patience) {
      clock.advance(1s);
      std::this_thread::yield();
    }
    ASSERT_GE(woken, round);
  }
}

// Waiters leave by notification, stop and deadline while the clock advances: for the thread
// sanitizer.
TEST(FakeClockTest, AdvanceRacesWithWaitersThatLeave) {
  FakeClock clock;
  std::stop_source stop;
  std::mutex mutex;
  std::condition_variable_any changed;
  std::vector<std::jthread> waiters;
  for (int i = 0; i < 3; ++i) {
    waiters.emplace_back([&] {
      while (!stop.stop_requested()) {
        clock.sleepFor(1ms, stop.get_token());
        std::unique_lock lock(mutex);
        clock.waitFor(changed, lock, stop.get_token(), 2ms, [] { return false; });
      }
    });
  }
  for (int i = 0; i < 1000; ++i) {
    clock.advance(1ms);
    changed.notify_all();
  }
  stop.request_stop();
}

TEST(FakeClockTest, WaitForWaitersGivesUp) {
  FakeClock clock;
  EXPECT_THROW(clock.waitForWaiters(1, 1ns), TimeoutError);
}

TEST(FakeClockTest, TimersRunInOrderAtTheirOwnTimes) {
  FakeClock clock;
  const auto start = clock.now();
  std::vector<std::pair<int, Clock::Duration>> ran;
  auto record = [&](int id) { return [&, id] { ran.emplace_back(id, clock.now() - start); }; };
  Timer late = clock.callAfter(3s, record(3));
  Timer early = clock.callAfter(1s, record(1));
  Timer alsoEarly = clock.callAfter(1s, record(2));
  Timer notYet = clock.callAfter(1h, record(4));
  EXPECT_EQ(clock.waiters(), 4u);
  clock.advance(10s);
  EXPECT_EQ(ran, (std::vector<std::pair<int, Clock::Duration>>{{1, 1s}, {2, 1s}, {3, 3s}}));
  EXPECT_EQ(clock.waiters(), 1u);
}

TEST(FakeClockTest, ATimerMaySetTheNextOne) {
  FakeClock clock;
  int ticks = 0;
  Timer timer;
  std::function<void()> tick = [&] {
    ++ticks;
    timer = clock.callAfter(1s, tick);
  };
  timer = clock.callAfter(1s, tick);
  clock.advance(5s);
  EXPECT_EQ(ticks, 5);
}

TEST(FakeClockTest, ATimerForAPastTimeRunsAtTheNextAdvance) {
  FakeClock clock;
  bool ran = false;
  Timer timer = clock.callAt(clock.now() - 1s, [&] { ran = true; });
  clock.advance(0s);
  EXPECT_TRUE(ran);
}

TEST(TimerTest, CancelledOrDestroyedTimersDoNotRun) {
  FakeClock clock;
  int ran = 0;
  Timer cancelled = clock.callAfter(1s, [&] { ++ran; });
  EXPECT_TRUE(cancelled.cancel());
  EXPECT_FALSE(cancelled.cancel());
  {
    Timer destroyed = clock.callAfter(1s, [&] { ++ran; });
  }
  Timer replaced = clock.callAfter(1s, [&] { ++ran; });
  replaced = Timer();
  EXPECT_EQ(clock.waiters(), 0u);
  clock.advance(1min);
  EXPECT_EQ(ran, 0);
}

TEST(TimerTest, CancelAfterTheRunReturnsFalse) {
  FakeClock clock;
  Timer timer = clock.callAfter(1s, [] {});
  clock.advance(1s);
  EXPECT_FALSE(timer.cancel());
}

TEST(TimerTest, CancelWaitsForARunningFunction) {
  FakeClock clock;
  std::promise<void> running;
  std::promise<void> proceed;
  std::atomic<bool> ended = false;
  Timer timer = clock.callAfter(1s, [&] {
    running.set_value();
    proceed.get_future().get();
    ended = true;
  });
  std::jthread advancer([&] { clock.advance(1s); });
  running.get_future().get();
  std::jthread releaser([&] { proceed.set_value(); });
  EXPECT_FALSE(timer.cancel());
  EXPECT_TRUE(ended);
}

TEST(TimerTest, OutlivesItsClock) {
  std::optional<FakeClock> clock(std::in_place);
  Timer timer = clock->callAfter(1s, [] {});
  clock.reset();
  EXPECT_TRUE(timer.cancel());
}

TEST(TimerTest, ExceptionsAreLoggedAndTheNextTimerRuns) {
  FakeClock clock;
  std::string logged;
  LogSink before = setLogSink([&](const LogRecord& r) { logged = std::string(r.message); });
  bool next = false;
  Timer bad = clock.callAfter(1s, [] { throw std::runtime_error("oops"); });
  Timer good = clock.callAfter(1s, [&] { next = true; });
  clock.advance(1s);
  setLogSink(std::move(before));
  EXPECT_NE(logged.find("oops"), std::string::npos) << logged;
  EXPECT_TRUE(next);
}

TEST(RealClockTest, RunsTimersAndWakesSleepers) {
  Clock& clock = realClock();
  const auto start = clock.now();
  std::promise<void> late;
  std::promise<void> early;
  std::atomic<bool> lateRan = false;
  Timer second = clock.callAfter(5ms, [&] {
    lateRan = true;
    late.set_value();
  });
  Timer first = clock.callAfter(0ms, [&] { early.set_value(); });
  Timer never = clock.callAt(Clock::noDeadline, [] { FAIL(); });
  early.get_future().get();
  late.get_future().get();
  EXPECT_GE(clock.now() - start, 5ms);
  EXPECT_TRUE(clock.sleepUntil(start + 6ms));
  EXPECT_GE(clock.now() - start, 6ms);
  EXPECT_TRUE(never.cancel());
}

TEST(RealClockTest, StopEndsASleepWithoutDeadline) {
  std::promise<bool> slept;
  std::jthread sleeper([&](std::stop_token stop) {
    slept.set_value(realClock().sleepFor(Clock::Duration::max(), stop));
  });
  sleeper.request_stop();
  EXPECT_FALSE(slept.get_future().get());
}

TEST(ClockTest, DeadlinesSaturate) {
  FakeClock clock;
  EXPECT_EQ(clock.deadlineAfter(Clock::Duration::max()), Clock::noDeadline);
  EXPECT_EQ(clock.deadlineAfter(1s), clock.now() + 1s);
}

}  // namespace
}  // namespace kube
