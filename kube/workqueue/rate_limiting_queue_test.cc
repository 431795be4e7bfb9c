#include "kube/workqueue/rate_limiting_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "kube/base/error.h"
#include "kube/base/string.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

// --- The limiters.

TEST(RateLimitersTest, EachFailureDoublesTheWaitOfItsItem) {
  ItemExponentialFailureRateLimiter<String> limiter(1ms, 1s);
  for (const auto wait : {1ms, 2ms, 4ms, 8ms, 16ms}) EXPECT_EQ(limiter.when("one"), wait);
  EXPECT_EQ(limiter.numRequeues("one"), 5);
  EXPECT_EQ(limiter.when("two"), 1ms);
  EXPECT_EQ(limiter.when("two"), 2ms);
  EXPECT_EQ(limiter.numRequeues("two"), 2);
  limiter.forget("one");
  EXPECT_EQ(limiter.numRequeues("one"), 0);
  EXPECT_EQ(limiter.when("one"), 1ms);
  EXPECT_EQ(limiter.numRequeues("two"), 2);
}

TEST(RateLimitersTest, ManyFailuresDoNotOverflow) {
  ItemExponentialFailureRateLimiter<String> limiter(1ms, 1000s);
  for (int i = 0; i < 5; ++i) limiter.when("one");
  EXPECT_EQ(limiter.when("one"), 32ms);
  for (int i = 0; i < 1000; ++i) limiter.when("one");
  EXPECT_EQ(limiter.when("one"), 1000s);
  ItemExponentialFailureRateLimiter<String> minutes(1min, 1000h);
  for (int i = 0; i < 2; ++i) minutes.when("two");
  EXPECT_EQ(minutes.when("two"), 4min);
  for (int i = 0; i < 1000; ++i) minutes.when("two");
  EXPECT_EQ(minutes.when("two"), 1000h);
}

TEST(RateLimitersTest, TheFirstTriesAreFastAndLaterOnesSlow) {
  ItemFastSlowRateLimiter<String> limiter(5ms, 10s, 3);
  for (const Clock::Duration wait :
       {Clock::Duration(5ms), Clock::Duration(5ms), Clock::Duration(5ms), Clock::Duration(10s),
        Clock::Duration(10s)}) {
    EXPECT_EQ(limiter.when("one"), wait);
  }
  EXPECT_EQ(limiter.numRequeues("one"), 5);
  EXPECT_EQ(limiter.when("two"), 5ms);
  limiter.forget("one");
  EXPECT_EQ(limiter.numRequeues("one"), 0);
  EXPECT_EQ(limiter.when("one"), 5ms);
}

TEST(RateLimitersTest, ABucketIsForAllItems) {
  FakeClock clock;
  BucketRateLimiter<String> limiter({.qps = 10, .burst = 2}, clock);
  EXPECT_EQ(limiter.when("one"), 0s);
  EXPECT_EQ(limiter.when("two"), 0s);
  EXPECT_EQ(limiter.when("one"), 100ms);
  EXPECT_EQ(limiter.when("three"), 200ms);
  EXPECT_EQ(limiter.numRequeues("one"), 0);
  limiter.forget("one");
  clock.advance(1s);
  EXPECT_EQ(limiter.when("one"), 0s);
}

TEST(RateLimitersTest, TheLongestDelayOfSeveralCounts) {
  MaxOfRateLimiter<String> limiter(
      {std::make_shared<ItemFastSlowRateLimiter<String>>(5ms, 3s, 3),
       std::make_shared<ItemExponentialFailureRateLimiter<String>>(1ms, 1s)});
  for (const auto wait : {5ms, 5ms, 5ms, 3000ms, 3000ms}) EXPECT_EQ(limiter.when("one"), wait);
  EXPECT_EQ(limiter.numRequeues("one"), 5);
  EXPECT_EQ(limiter.when("two"), 5ms);
  limiter.forget("one");
  EXPECT_EQ(limiter.numRequeues("one"), 0);
  EXPECT_EQ(limiter.when("one"), 5ms);
}

TEST(RateLimitersTest, ADelayMayHaveAMaximum) {
  FakeClock clock;
  WithMaxWaitRateLimiter<String> limiter(std::make_shared<BucketRateLimiter<String>>(
                                             TokenBucketOptions{.qps = 0.001, .burst = 1}, clock),
                                         500s);
  EXPECT_EQ(limiter.when("one"), 0s);
  EXPECT_EQ(limiter.when("one"), 500s);
  EXPECT_EQ(limiter.when("one"), 500s);

  WithMaxWaitRateLimiter<String> failing(
      std::make_shared<ItemExponentialFailureRateLimiter<String>>(1ms, 1000s), 3ms);
  for (const auto wait : {1ms, 2ms, 3ms, 3ms}) EXPECT_EQ(failing.when("one"), wait);
  EXPECT_EQ(failing.numRequeues("one"), 4);
  failing.forget("one");
  EXPECT_EQ(failing.when("one"), 1ms);
}

TEST(RateLimitersTest, ControllersBeginAtFiveMillisecondsAndShareTenASecond) {
  FakeClock clock;
  const auto limiter = defaultControllerRateLimiter<String>(clock);
  for (const auto wait : {5ms, 10ms, 20ms, 40ms}) EXPECT_EQ(limiter->when("one"), wait);
  for (int i = 0; i < 96; ++i) limiter->when(std::to_string(i));
  // The burst is used up.
  EXPECT_EQ(limiter->when("other"), 100ms);
  EXPECT_EQ(limiter->when("another"), 200ms);
  EXPECT_EQ(limiter->when("one"), 300ms);
  clock.advance(1h);
  for (int i = 0; i < 20; ++i) limiter->when("bad");
  EXPECT_EQ(limiter->when("bad"), 1000s);

  const auto items = defaultItemBasedRateLimiter<String>();
  EXPECT_EQ(items->when("one"), 1ms);
}

TEST(RateLimitersTest, NegativeAndZeroOptionsAreRefused) {
  EXPECT_THROW(ItemExponentialFailureRateLimiter<String>(-1s, 1s), ConfigError);
  EXPECT_THROW(BucketRateLimiter<String>({.qps = 0, .burst = 1}), ConfigError);
}

// --- The queue.

TEST(RateLimitingQueueTest, AnItemThatFailsWaitsLongerEachTimeUntilForgotten) {
  FakeClock clock;
  RateLimitingQueue<String> queue(
      std::make_shared<ItemExponentialFailureRateLimiter<String>>(1ms, 1s), {.clock = &clock});
  queue.addRateLimited("one");
  clock.advance(1ms);
  EXPECT_EQ(queue.get(), "one");
  queue.addRateLimited("one");
  queue.done("one");
  EXPECT_EQ(queue.numRequeues("one"), 2);
  clock.advance(1ms);
  EXPECT_EQ(queue.len(), 0U);
  clock.advance(1ms);
  EXPECT_EQ(queue.get(), "one");
  queue.forget("one");
  EXPECT_EQ(queue.numRequeues("one"), 0);
  queue.addRateLimited("one", 3);
  queue.done("one");
  clock.advance(1ms);
  WorkItem<String> item;
  ASSERT_TRUE(queue.next(item));
  EXPECT_EQ(item.priority(), 3);
}

TEST(RateLimitingQueueTest, HasTheLimiterOfControllersByDefault) {
  FakeClock clock;
  RateLimitingQueue<String> queue({.clock = &clock});
  queue.addRateLimited("one");
  clock.advance(5ms - 1ns);
  EXPECT_EQ(queue.len(), 0U);
  clock.advance(1ns);
  EXPECT_EQ(queue.len(), 1U);
}

// --- Metrics.

TEST(QueueMetricsTest, ANamedQueueCountsItsItemsAndTimes) {
  FakeClock clock;
  Metrics metrics;
  RateLimitingQueue<String> queue({.name = "test", .clock = &clock, .metrics = &metrics});
  const auto value = [&](const std::string& metric) {
    const std::string text = metrics.text();
    const std::string line = "\nworkqueue_" + metric + "{name=\"test\"} ";
    const auto at = text.find(line);
    return at == std::string::npos
               ? std::string("none")
               : text.substr(at + line.size(), text.find('\n', at + 1) - at - line.size());
  };
  queue.add("a");
  clock.advance(50ms);
  queue.add("a");  // not counted
  EXPECT_EQ(value("adds_total"), "1");
  EXPECT_EQ(value("depth"), "1");

  clock.advance(50ms);
  EXPECT_EQ(queue.get(), "a");
  EXPECT_EQ(value("depth"), "0");
  EXPECT_EQ(value("queue_duration_seconds_count"), "1");
  EXPECT_EQ(value("queue_duration_seconds_sum"), "0.1");

  clock.advance(25ms);
  queue.add("a");
  EXPECT_EQ(value("adds_total"), "2");
  EXPECT_EQ(value("depth"), "1");
  clock.advance(25ms);
  queue.done("a");
  EXPECT_EQ(value("work_duration_seconds_count"), "1");
  EXPECT_EQ(value("work_duration_seconds_sum"), "0.05");
  EXPECT_EQ(value("depth"), "1");
  EXPECT_EQ(queue.get(), "a");
  // It has waited since it was added, although it was in work then.
  EXPECT_EQ(value("queue_duration_seconds_sum"), "0.125");
  queue.add("b");
  clock.advance(1s);
  EXPECT_EQ(queue.get(), "b");
  clock.advance(2s);
  EXPECT_EQ(value("unfinished_work_seconds"), "5");
  EXPECT_EQ(value("longest_running_processor_seconds"), "3");
  queue.done("a");
  EXPECT_EQ(value("unfinished_work_seconds"), "2");
  EXPECT_EQ(value("longest_running_processor_seconds"), "2");

  EXPECT_EQ(value("retries_total"), "0");
  queue.addRateLimited("b");
  queue.addAfter("c", 1s);
  EXPECT_EQ(value("retries_total"), "2");
  EXPECT_THAT(metrics.text(), HasSubstr("workqueue_work_duration_seconds_bucket{name=\"test\",le="
                                        "\"1e-08\"} 0\n"));
}

TEST(QueueMetricsTest, ADestroyedQueueHasNoDepth) {
  Metrics metrics;
  {
    WorkQueue<String> queue({.name = "test", .metrics = &metrics});
    for (const char* item : {"a", "b", "c"}) queue.add(item);
    EXPECT_EQ(queue.get(), "a");
    queue.add("a");
    EXPECT_THAT(metrics.text(), HasSubstr("workqueue_depth{name=\"test\"} 3\n"));
  }
  EXPECT_THAT(metrics.text(), HasSubstr("workqueue_depth{name=\"test\"} 0\n"));
  EXPECT_THAT(metrics.text(), HasSubstr("workqueue_unfinished_work_seconds{name=\"test\"} 0\n"));
  EXPECT_THAT(metrics.text(), HasSubstr("workqueue_adds_total{name=\"test\"} 4\n"));
}

TEST(QueueMetricsTest, AQueueWithoutANameHasNoMetrics) {
  Metrics metrics;
  WorkQueue<String> queue({.metrics = &metrics});
  queue.add("a");
  EXPECT_EQ(metrics.text(), "");
  EXPECT_THAT(defaultMetrics().text(), Not(HasSubstr("workqueue")));
}

}  // namespace
}  // namespace kube
