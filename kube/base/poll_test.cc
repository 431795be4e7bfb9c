#include "kube/base/poll.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <stdexcept>
#include <thread>

namespace kube {
namespace {

using namespace std::chrono_literals;

TEST(UntilTest, CallsAtOnceThenEveryPeriodUntilStopped) {
  FakeClock clock;
  std::atomic<int> calls = 0;
  std::jthread thread([&](const std::stop_token& stop) {
    until(
        10s, stop, [&] { ++calls; }, {}, clock);
  });
  clock.waitForWaiters(1);
  EXPECT_EQ(calls, 1);
  clock.advance(9s);
  EXPECT_EQ(clock.waiters(), 1U);
  clock.advance(1s);
  clock.waitForWaiters(1);
  EXPECT_EQ(calls, 2);
  thread.request_stop();
  thread.join();
  EXPECT_EQ(calls, 2);
}

TEST(UntilTest, APeriodBeginsAtTheEndOrAtTheBeginning) {
  for (const bool sliding : {true, false}) {
    FakeClock clock;
    std::stop_source stop;
    int calls = 0;
    auto done = std::async(std::launch::async, [&] {
      until(
          10s, stop.get_token(),
          [&] {
            if (++calls == 1) clock.advance(4s);
            if (calls == 2) stop.request_stop();
          },
          {.sliding = sliding}, clock);
    });
    clock.waitForWaiters(1);
    clock.advance(6s);
    if (sliding) {
      EXPECT_EQ(clock.waiters(), 1U);
      clock.advance(4s);
    }
    done.get();
    EXPECT_EQ(calls, 2);
  }
}

TEST(UntilTest, GoesOnAfterAThrow) {
  FakeClock clock;
  std::stop_source stop;
  int calls = 0;
  until(
      0s, stop.get_token(),
      [&] {
        if (++calls == 3) stop.request_stop();
        if (calls == 1) throw std::runtime_error("first");
        if (calls == 2) throw 7;  // NOLINT
      },
      {}, clock);
  EXPECT_EQ(calls, 3);
}

TEST(UntilTest, IsNotCalledAfterAStop) {
  std::stop_source stop;
  stop.request_stop();
  until(1s, stop.get_token(), [&] { ADD_FAILURE(); });
}

TEST(PollTest, AsksUntilTheConditionHolds) {
  FakeClock clock;
  int calls = 0;
  auto done = std::async(std::launch::async, [&] {
    poll(
        {.interval = 1s}, {}, [&] { return ++calls == 3; }, clock);
  });
  for (int i = 0; i < 2; ++i) {
    clock.waitForWaiters(1);
    clock.advance(1s);
  }
  done.get();
  EXPECT_EQ(calls, 3);
}

TEST(PollTest, IntervalsMayGrow) {
  FakeClock clock;
  int calls = 0;
  auto done = std::async(std::launch::async, [&] {
    poll(
        {.interval = 1s, .factor = 2, .cap = 3s}, {}, [&] { return ++calls == 4; }, clock);
  });
  for (const auto wait : {1s, 2s, 3s}) {
    clock.waitForWaiters(1);
    clock.advance(wait - 1ns);
    EXPECT_EQ(clock.waiters(), 1U);
    clock.advance(1ns);
  }
  done.get();
  EXPECT_EQ(calls, 4);
}

TEST(PollTest, MayWaitBeforeItAsksTheFirstTime) {
  FakeClock clock;
  std::atomic<int> calls = 0;
  auto done = std::async(std::launch::async, [&] {
    poll(
        {.interval = 1s, .immediate = false}, {}, [&] { return ++calls > 0; }, clock);
  });
  clock.waitForWaiters(1);
  EXPECT_EQ(calls, 0);
  clock.advance(1s);
  done.get();
  EXPECT_EQ(calls, 1);
}

TEST(PollTest, EndsWithItsTimeOrAStopOrAThrow) {
  FakeClock clock;
  int calls = 0;
  auto late = std::async(std::launch::async, [&] {
    poll(
        {.interval = 1s, .timeout = 1500ms}, {}, [&] { return ++calls < 0; }, clock);
  });
  clock.waitForWaiters(1);
  clock.advance(1s);
  clock.waitForWaiters(1);
  clock.advance(500ms);
  EXPECT_THROW(late.get(), TimeoutError);
  EXPECT_EQ(calls, 2);

  std::stop_source stop;
  auto stopped = std::async(std::launch::async, [&] {
    poll(
        {}, stop.get_token(), [] { return false; }, clock);
  });
  clock.waitForWaiters(1);
  stop.request_stop();
  EXPECT_THROW(stopped.get(), CanceledError);

  EXPECT_THROW(poll(
                   {}, {}, []() -> bool { throw std::out_of_range("x"); }, clock),
               std::out_of_range);
}

}  // namespace
}  // namespace kube
