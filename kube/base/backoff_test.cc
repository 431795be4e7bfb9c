#include "kube/base/backoff.h"

#include <gtest/gtest.h>

#include <future>
#include <stop_token>
#include <thread>

#include "kube/base/error.h"

namespace kube {
namespace {

using namespace std::chrono_literals;

TEST(BackoffTest, WaitsGrowByTheFactorUpToTheCap) {
  FakeClock clock;
  Backoff backoff({.initial = 1s, .factor = 3, .cap = 10s}, clock);
  EXPECT_EQ(backoff.next(), 1s);
  EXPECT_EQ(backoff.next(), 3s);
  EXPECT_EQ(backoff.next(), 9s);
  EXPECT_EQ(backoff.next(), 10s);
  EXPECT_EQ(backoff.next(), 10s);
  EXPECT_EQ(backoff.taken(), 5);
}

TEST(BackoffTest, AnInitialWaitAboveTheCapIsCapped) {
  FakeClock clock;
  Backoff backoff({.initial = 1min, .cap = 10s}, clock);
  EXPECT_EQ(backoff.next(), 10s);
}

TEST(BackoffTest, EndsAfterItsSteps) {
  FakeClock clock;
  Backoff backoff({.initial = 1s, .factor = 1, .steps = 2}, clock);
  EXPECT_EQ(backoff.next(), 1s);
  EXPECT_EQ(backoff.next(), 1s);
  EXPECT_EQ(backoff.next(), std::nullopt);
  backoff.reset();
  EXPECT_EQ(backoff.next(), 1s);
}

TEST(BackoffTest, JitterAddsAShareOfTheWaitAndDoesNotCompound) {
  FakeClock clock;
  double random = 0.5;
  Backoff backoff({.initial = 4s, .cap = 8s, .jitter = 0.5}, clock, [&] { return random; });
  EXPECT_EQ(backoff.next(), 5s);
  EXPECT_EQ(backoff.next(), 10s);
  random = 0;
  EXPECT_EQ(backoff.next(), 8s);
}

TEST(BackoffTest, StartsOverAfterAQuietTime) {
  FakeClock clock;
  Backoff backoff({.initial = 1s, .steps = 3, .resetAfter = 2min}, clock);
  backoff.next();
  backoff.next();
  clock.advance(2min);
  EXPECT_EQ(backoff.next(), 4s);
  clock.advance(2min + 1ns);
  EXPECT_EQ(backoff.next(), 1s);
  EXPECT_EQ(backoff.taken(), 1);
}

TEST(BackoffTest, WithoutACapTheGrowthEndsBeforeItOverflows) {
  FakeClock clock;
  Backoff backoff({.initial = 1h, .factor = 1000, .jitter = 1}, clock, [] { return 0.99; });
  Clock::Duration last{};
  for (int i = 0; i < 200; ++i) last = backoff.next().value();
  EXPECT_GT(last, 24h * 365);
}

TEST(BackoffTest, SleepsByTheClock) {
  FakeClock clock;
  Backoff backoff({.initial = 1s, .steps = 1}, clock);
  auto slept = std::async(std::launch::async, [&] { return backoff.sleep(); });
  clock.waitForWaiters(1);
  clock.advance(1s);
  EXPECT_TRUE(slept.get());
  EXPECT_FALSE(backoff.sleep());
}

TEST(BackoffTest, AStopEndsTheSleep) {
  FakeClock clock;
  Backoff backoff({.initial = 1h}, clock);
  std::stop_source stop;
  auto slept = std::async(std::launch::async, [&] { return backoff.sleep(stop.get_token()); });
  clock.waitForWaiters(1);
  stop.request_stop();
  EXPECT_FALSE(slept.get());
}

TEST(BackoffTest, InvalidOptionsAreRefused) {
  EXPECT_THROW(Backoff({.initial = -1s}), ConfigError);
  EXPECT_THROW(Backoff({.factor = 0.5}), ConfigError);
  EXPECT_THROW(Backoff({.cap = -1s}), ConfigError);
  EXPECT_THROW(Backoff({.jitter = -1}), ConfigError);
  EXPECT_THROW(Backoff({.steps = -1}), ConfigError);
  EXPECT_THROW(Backoff({.resetAfter = -1s}), ConfigError);
}

TEST(RandomUnitTest, StaysInRangeAndVaries) {
  const double first = randomUnit();
  bool varies = false;
  for (int i = 0; i < 1000; ++i) {
    const double r = randomUnit();
    ASSERT_GE(r, 0.0);
    ASSERT_LT(r, 1.0);
    varies = varies || r != first;
  }
  EXPECT_TRUE(varies);
}

TEST(BackoffTest, BackoffWaitReturnsTheWaitAfterEarlierOnes) {
  const BackoffOptions options{.initial = 5ms, .cap = 1000s};
  EXPECT_EQ(backoffWait(options, 0), 5ms);
  EXPECT_EQ(backoffWait(options, 1), 10ms);
  EXPECT_EQ(backoffWait(options, 17), 655360ms);
  EXPECT_EQ(backoffWait(options, 18), 1000s);
  EXPECT_EQ(backoffWait(options, 5000), 1000s);
  EXPECT_EQ(backoffWait({.initial = 0s}, 5000), 0s);
  EXPECT_THROW(backoffWait({.factor = 0.5}, 1), ConfigError);
}

}  // namespace
}  // namespace kube
