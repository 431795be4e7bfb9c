// No threads.

#include "kube/controller/internal/event_correlator.h"

#include <gtest/gtest.h>

#include <string>

#include "kube/base/error.h"
#include "kube/codec/json.h"
#include "kube/controller/internal/event_name.h"
#include "kube/controller/internal/event_series.h"
#include "kube/meta/validation/validation.h"

namespace kube {
namespace {

using namespace std::chrono_literals;

corev1::Event event(std::string_view message, std::string_view reason = "Reason",
                    std::string_view object = "web") {
  corev1::Event result;
  result.metadata.name = eventName(object, realClock());
  result.metadata.namespace_ = "book";
  result.involvedObject->kind = "Pod";
  result.involvedObject->namespace_ = "book";
  result.involvedObject->name = object;
  result.reason = reason;
  result.message = message;
  result.type = "Normal";
  result.source->component = result.reportingComponent = "test";
  result.count = 1;
  result.firstTimestamp = result.lastTimestamp = Time::fromUnix(1700000000);
  return result;
}

class EventCorrelatorTest : public ::testing::Test {
 protected:
  FakeClock clock;
  EventCorrelator correlator{{}, clock};
};

TEST_F(EventCorrelatorTest, ASingleEventIsUnchanged) {
  const corev1::Event one = event("hello");
  const auto result = correlator.correlate(one);
  EXPECT_FALSE(result.skip);
  EXPECT_EQ(result.event, one);
  EXPECT_EQ(result.patch, "");
}

TEST_F(EventCorrelatorTest, FunctionsReplaceTheRules) {
  EventCorrelatorOptions options;
  options.maxSimilarEvents = 3;
  options.similarKey = [](const corev1::Event& event) {
    return EventCorrelatorOptions::SimilarKey{.group = event.involvedObject->name.str(),
                                              .member = event.reason.str()};
  };
  options.combinedMessage = [](const corev1::Event& event) {
    return "many, such as " + event.reason.str();
  };
  options.spamKey = [](const corev1::Event& event) { return event.reason.str(); };
  options.spamBurst = 2;
  options.skip = [](const corev1::Event& event) { return event.reason == "Boring"; };
  EventCorrelator mine(options, clock);
  EXPECT_EQ(mine.correlate(event("a", "R1")).event.message, "a");
  EXPECT_EQ(mine.correlate(event("b", "R1")).event.message, "b") << "the same member";
  EXPECT_TRUE(mine.correlate(event("c", "R1")).skip) << "the reason has used up its burst";
  mine.correlate(event("d", "R2"));
  const auto combined = mine.correlate(event("e", "R3"));
  EXPECT_EQ(combined.event.message, "many, such as R3");
  EXPECT_FALSE(combined.skip);
  EXPECT_TRUE(mine.correlate(event("f", "Boring")).skip);
}

TEST_F(EventCorrelatorTest, ARepeatedEventIsCountedOnTheFirst) {
  const auto first = correlator.correlate(event("hello"));
  corev1::Event again = event("hello");
  again.lastTimestamp = Time::fromUnix(1700000060);
  const auto second = correlator.correlate(again);
  EXPECT_EQ(second.event.metadata.name, first.event.metadata.name);
  EXPECT_EQ(second.event.count, 2);
  EXPECT_EQ(second.event.firstTimestamp, first.event.firstTimestamp);
  const Value patch = parseJson(second.patch);
  EXPECT_EQ(patch["count"], Value(2));
  EXPECT_EQ(patch["message"], Value("hello"));
  EXPECT_EQ(patch["lastTimestamp"], Value("2023-11-14T22:14:20Z"));
  EXPECT_EQ(patch.asObject().size(), 3U);
}

TEST_F(EventCorrelatorTest, EqualEventsAreNotCombined) {
  for (int i = 1; i <= 20; ++i) {
    const auto result = correlator.correlate(event("hello"));
    EXPECT_EQ(result.event.count, i);
    EXPECT_EQ(result.event.message, "hello");
  }
}

TEST_F(EventCorrelatorTest, EventsThatDifferOnlyInTheirMessageAreCombined) {
  for (int i = 1; i <= 9; ++i) {
    const auto result = correlator.correlate(event("try " + std::to_string(i)));
    EXPECT_EQ(result.event.message, "try " + std::to_string(i));
    EXPECT_EQ(result.patch, "");
  }
  const auto tenth = correlator.correlate(event("try 10"));
  EXPECT_EQ(tenth.event.message, "(combined from similar events): try 10");
  EXPECT_EQ(tenth.event.count, 1);
  EXPECT_EQ(tenth.event.firstTimestamp, Time(clock.wallNow()));
  EXPECT_EQ(tenth.patch, "");
  const auto next = correlator.correlate(event("try 11"));
  EXPECT_EQ(next.event.message, "(combined from similar events): try 11");
  EXPECT_EQ(next.event.count, 2);
  EXPECT_EQ(next.event.metadata.name, tenth.event.metadata.name);
  EXPECT_NE(next.patch, "");
}

TEST_F(EventCorrelatorTest, OtherReasonsObjectsSourcesAndTimesAreNotSimilar) {
  for (int i = 1; i <= 9; ++i) correlator.correlate(event("try " + std::to_string(i)));
  EXPECT_EQ(correlator.correlate(event("x", "Other")).event.message, "x");
  EXPECT_EQ(correlator.correlate(event("x", "Reason", "db")).event.message, "x");
  corev1::Event other = event("x");
  other.source->component = "another";
  EXPECT_EQ(correlator.correlate(other).event.message, "x");
  // After more than ten minutes without a similar event, counting starts again.
  clock.advance(600s + 1ns);
  EXPECT_EQ(correlator.correlate(event("x")).event.message, "x");
}

TEST_F(EventCorrelatorTest, EventsUpToTenMinutesApartAreSimilar) {
  for (int i = 1; i <= 9; ++i) correlator.correlate(event("try " + std::to_string(i)));
  clock.advance(600s);
  EXPECT_EQ(correlator.correlate(event("x")).event.message, "(combined from similar events): x");
}

TEST_F(EventCorrelatorTest, AnObjectHasABurstThenOneEventInFiveMinutes) {
  const auto through = [&](int n, std::string_view object) {
    return !correlator.correlate(event("e" + std::to_string(n), "R" + std::to_string(n), object))
                .skip;
  };
  for (int i = 0; i < 25; ++i) EXPECT_TRUE(through(i, "web"));
  EXPECT_FALSE(through(25, "web"));
  EXPECT_TRUE(through(25, "db"));
  clock.advance(299s);
  EXPECT_FALSE(through(26, "web"));
  clock.advance(1s);
  EXPECT_TRUE(through(27, "web"));
  EXPECT_FALSE(through(28, "web"));
}

TEST_F(EventCorrelatorTest, MemoryIsBounded) {
  EventCorrelator small({.cacheSize = 2}, clock);
  EXPECT_EQ(small.correlate(event("a")).event.count, 1);
  EXPECT_EQ(small.correlate(event("b")).event.count, 1);
  EXPECT_EQ(small.correlate(event("c")).event.count, 1);
  EXPECT_EQ(small.correlate(event("c")).event.count, 2);
  EXPECT_EQ(small.correlate(event("a")).event.count, 1);  // it was forgotten
  EXPECT_THROW(EventCorrelator({.spamBurst = 0}, clock), ConfigError);
}

TEST(EventNameTest, IsTheObjectsNameWithTheTimeOrARandomName) {
  FakeClock clock(Clock::WallTime{Clock::Duration{105999103295324396}});
  const std::string one = eventName("test-pod", clock);
  const std::string two = eventName("test-pod", clock);
  EXPECT_TRUE(one.starts_with("test-pod."));
  EXPECT_NE(one, two);
  for (const std::string& bad : {std::string(300, 'x'), std::string("test.POD"),
                                 std::string("--test.pod/invalid!chars?"), std::string()}) {
    const std::string name = eventName(bad, clock);
    EXPECT_TRUE(validation::isDNS1123Subdomain(name).empty()) << name;
    EXPECT_NE(name, eventName(bad, clock));
  }
}

// --- Series.

eventsv1::Event newEvent(std::string_view reason, std::string_view note = "note") {
  eventsv1::Event result;
  result.reason = reason;
  result.note = note;
  result.regarding->name = "web";
  return result;
}

TEST(EventSeriesTest, TheSecondEventMakesASeriesAndLaterOnesAreCounted) {
  FakeClock clock;
  EventSeriesCounter series(clock);
  const auto first = series.observe(newEvent("A"));
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->event.series);
  clock.advance(1s);
  const auto second = series.observe(newEvent("A", "another note"));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->event.series->count, 2);
  EXPECT_EQ(second->event.series->lastObservedTime, MicroTime(clock.wallNow()));
  EXPECT_EQ(second->event.note, "note");
  EXPECT_FALSE(series.observe(newEvent("A")));
  EXPECT_TRUE(series.observe(newEvent("B")));
  eventsv1::Event about = newEvent("A");
  about.regarding->name = "db";
  EXPECT_TRUE(series.observe(about));
  about = newEvent("A");
  about.related->name = "db";
  EXPECT_TRUE(series.observe(about));
  about = newEvent("A");
  about.regarding->resourceVersion = "7";
  EXPECT_FALSE(series.observe(about));
  EXPECT_EQ(series.refresh().size(), 1U);
  EXPECT_EQ(series.refresh()[0].series->count, 4);
}

TEST(EventSeriesTest, ASeriesEndsAfterSixMinutesWithoutAnEvent) {
  FakeClock clock;
  EventSeriesCounter series(clock);
  for (int i = 0; i < 5; ++i) series.observe(newEvent("many"));
  for (int i = 0; i < 2; ++i) series.observe(newEvent("two"));
  series.observe(newEvent("one"));
  clock.advance(6min);
  EXPECT_TRUE(series.finish().empty());
  EXPECT_EQ(series.size(), 3U);
  series.observe(newEvent("one"));
  clock.advance(1ns);
  const auto over = series.finish();
  // The server already knows the count of "two".
  ASSERT_EQ(over.size(), 1U);
  EXPECT_EQ(over[0].reason, "many");
  EXPECT_EQ(over[0].series->count, 5);
  EXPECT_EQ(series.size(), 1U);
  EXPECT_FALSE(series.observe(newEvent("many"))->event.series);
}

TEST(EventSeriesTest, AnEvictedSeriesIsSentWithItsCount) {
  FakeClock clock;
  EventSeriesCounter series(clock, 2);
  for (int i = 0; i < 5; ++i) series.observe(newEvent("many"));
  series.observe(newEvent("x"));
  series.observe(newEvent("y"));
  const auto over = series.finish();
  ASSERT_EQ(over.size(), 1U);
  EXPECT_EQ(over[0].series->count, 5);
  EXPECT_TRUE(series.finish().empty());
}

}  // namespace
}  // namespace kube
