#include "kube/base/rate_limiter.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "kube/base/error.h"

namespace kube {
namespace {

using namespace std::chrono_literals;

TEST(TokenBucketTest, LetsABurstThroughAndThenTheRate) {
  FakeClock clock;
  TokenBucket bucket({.qps = 10, .burst = 3}, clock);
  EXPECT_TRUE(bucket.tryAccept());
  EXPECT_TRUE(bucket.tryAccept());
  EXPECT_TRUE(bucket.tryAccept());
  EXPECT_FALSE(bucket.tryAccept());
  clock.advance(99ms);
  EXPECT_FALSE(bucket.tryAccept());
  clock.advance(1ms);
  EXPECT_TRUE(bucket.tryAccept());
  EXPECT_FALSE(bucket.tryAccept());
}

TEST(TokenBucketTest, HoldsNoMoreThanTheBurst) {
  FakeClock clock;
  TokenBucket bucket({.qps = 10, .burst = 2}, clock);
  clock.advance(1h);
  EXPECT_TRUE(bucket.tryAccept());
  EXPECT_TRUE(bucket.tryAccept());
  EXPECT_FALSE(bucket.tryAccept());
}

TEST(TokenBucketTest, AcceptWaitsForItsTurn) {
  FakeClock clock;
  TokenBucket bucket({.qps = 1, .burst = 1}, clock);
  EXPECT_TRUE(bucket.accept());
  std::atomic<int> through = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] { through += bucket.accept() ? 1 : 0; });
    clock.waitForWaiters(static_cast<std::size_t>(i) + 1);
  }
  clock.advance(999ms);
  EXPECT_EQ(clock.waiters(), 2U);
  clock.advance(1ms);
  EXPECT_EQ(clock.waiters(), 1U);
  threads.front().join();
  EXPECT_EQ(through, 1);
  clock.advance(1s);
  threads.back().join();
  EXPECT_EQ(through, 2);
}

TEST(TokenBucketTest, AStopEndsTheWaitAndGivesTheTokenBack) {
  FakeClock clock;
  TokenBucket bucket({.qps = 1, .burst = 1}, clock);
  EXPECT_TRUE(bucket.accept());
  std::stop_source stop;
  bool accepted = true;
  std::thread waiting([&] { accepted = bucket.accept(stop.get_token()); });
  clock.waitForWaiters(1);
  stop.request_stop();
  waiting.join();
  EXPECT_FALSE(accepted);
  clock.advance(1s);
  EXPECT_TRUE(bucket.tryAccept());
  EXPECT_FALSE(bucket.accept(stop.get_token()));
}

TEST(TokenBucketTest, AStopDoesNotMoveLaterTurns) {
  FakeClock clock;
  TokenBucket bucket({.qps = 1, .burst = 1}, clock);
  EXPECT_TRUE(bucket.accept());
  std::stop_source stop;
  std::thread first([&] { bucket.accept(stop.get_token()); });
  clock.waitForWaiters(1);
  std::thread second([&] { bucket.accept(); });
  clock.waitForWaiters(2);
  std::thread third([&] { bucket.accept(); });
  clock.waitForWaiters(3);
  stop.request_stop();
  first.join();
  // The other callers keep their promised turns; none takes the turn of the first.
  clock.advance(1s);
  EXPECT_FALSE(bucket.tryAccept());
  EXPECT_EQ(clock.waiters(), 2U);
  clock.advance(1s);
  second.join();
  clock.advance(1s);
  third.join();
  EXPECT_FALSE(bucket.tryAccept());
  clock.advance(1s);
  EXPECT_TRUE(bucket.tryAccept());
}

TEST(TokenBucketTest, ADeadlineBeforeTheTurnIsNotWaitedFor) {
  FakeClock clock;
  TokenBucket bucket({.qps = 1, .burst = 1}, clock);
  EXPECT_TRUE(bucket.accept({}, clock.now()));
  EXPECT_FALSE(bucket.accept({}, clock.deadlineAfter(999ms)));
  clock.advance(1s);
  EXPECT_TRUE(bucket.tryAccept());
}

TEST(TokenBucketTest, RefusesOptionsThatWouldBlockForever) {
  EXPECT_THROW(TokenBucket({.qps = 0, .burst = 1}), ConfigError);
  EXPECT_THROW(TokenBucket({.qps = 5, .burst = 0}), ConfigError);
  EXPECT_THROW(TokenBucket({.qps = std::numeric_limits<double>::quiet_NaN(), .burst = 1}),
               ConfigError);
}

TEST(TokenBucketTest, AReservationIsAPlaceInTheLine) {
  FakeClock clock;
  TokenBucket bucket({.qps = 10, .burst = 2}, clock);
  EXPECT_EQ(bucket.reserve(), 0s);
  EXPECT_EQ(bucket.reserve(), 0s);
  EXPECT_EQ(bucket.reserve(), 100ms);
  EXPECT_EQ(bucket.reserve(), 200ms);
  EXPECT_FALSE(bucket.tryAccept());
  clock.advance(200ms);
  EXPECT_FALSE(bucket.tryAccept());
  EXPECT_EQ(bucket.reserve(), 100ms);
}

}  // namespace
}  // namespace kube
