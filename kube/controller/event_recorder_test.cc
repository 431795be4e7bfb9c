#include "kube/controller/event_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "kube/base/internal/no_threads_testing.h"
#include "kube/base/internal/test_loop_testing.h"
#include "kube/client/events/v1.h"
#include "kube/testing/api_server_testing.h"
#include "kube/testing/event_log.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using testing::Begun;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using testing::TestLoop;

std::size_t threadsOfTheProcess() {
  const std::filesystem::directory_iterator all("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

class EventRecorderTest : public testing::ApiServerTest {
 protected:
  EventRecorderTest() {
    web = pod("web");
    web.metadata.namespace_ = "default";
    web.metadata.uid = "u-1";
  }
  EventRecorderOptions options(EventApi api = EventApi::Events) {
    return {.component = "test",
            .instance = "test-1",
            .api = api,
            .clock = &clock,
            .metrics = &metrics};
  }
  void flushWhileTimePasses(EventRecorder& events) {
    auto flushed = std::async(std::launch::async, [&] { return events.flush(); });
    while (flushed.wait_for(0s) != std::future_status::ready) {
      clock.advance(1s);
      std::this_thread::yield();
    }
    EXPECT_TRUE(flushed.get());
  }
  List<corev1::Event> coreEvents() const { return clients.coreV1().events("default").list().items; }
  List<eventsv1::Event> newEvents() const {
    return clients.eventsV1().events("default").list().items;
  }

  FakeClock clock;
  Metrics metrics;
  corev1::Pod web;
};

TEST_F(EventRecorderTest, AnEventNamesItsSourceReasonAndObject) {
  EventRecorder events(clients.rest(), options());
  events.warning(web, "Failed", "failed {} times: {}", 3, "no luck");
  EXPECT_TRUE(events.flush());
  const auto found = newEvents();
  ASSERT_EQ(found.size(), 1U);
  const eventsv1::Event& event = found[0];
  EXPECT_EQ(event.note, "failed 3 times: no luck");
  EXPECT_EQ(event.reason, "Failed");
  EXPECT_EQ(event.action, "Failed");
  EXPECT_EQ(event.type, "Warning");
  EXPECT_EQ(event.reportingController, "test");
  EXPECT_EQ(event.reportingInstance, "test-1");
  EXPECT_EQ(event.eventTime, MicroTime(clock.wallNow()));
  EXPECT_THAT(event.metadata.name.str(), StartsWith("web."));
  EXPECT_EQ(event.regarding->kind, "Pod");
  EXPECT_EQ(event.regarding->apiVersion, "v1");
  EXPECT_EQ(event.regarding->name, "web");
  EXPECT_EQ(event.regarding->namespace_, "default");
  EXPECT_EQ(event.regarding->uid, "u-1");
  EXPECT_FALSE(event.related);
  EXPECT_FALSE(event.series);
}

TEST_F(EventRecorderTest, AllFactsCanBeGiven) {
  EventRecorder events(clients.rest(), options());
  corev1::Node node;
  node.metadata.name = "n-1";
  events.record({.regarding = referenceTo(web),
                 .related = referenceTo(node),
                 .reason = "Scheduled",
                 .action = "Binding",
                 .note = "on n-1",
                 .annotations = {{"a", "b"}}});
  events.flush();
  ASSERT_EQ(newEvents().size(), 1U);
  EXPECT_EQ(newEvents()[0].type, "Normal");
  EXPECT_EQ(newEvents()[0].action, "Binding");
  EXPECT_EQ(newEvents()[0].related->kind, "Node");
  EXPECT_EQ(newEvents()[0].metadata.annotations["a"], "b");
}

TEST_F(EventRecorderTest, EventsAboutClusterScopedObjectsAreInDefault) {
  for (const EventApi api : {EventApi::Events, EventApi::Core}) {
    EventRecorder events(clients.rest(), options(api));
    Unstructured node;
    node.setGvk({"", "v1", "Node"});
    node.setName("n-1");
    events.normal(node, "Ready", "it is ready");
    events.flush();
    ASSERT_EQ(coreEvents().size(), 1U);
    EXPECT_EQ(coreEvents()[0].involvedObject->kind, "Node");
    clients.coreV1().events("default").removeCollection();
  }
}

TEST_F(EventRecorderTest, LongNotesAreCutBetweenCharacters) {
  EventRecorder events(clients.rest(), options());
  std::string note(1023, 'x');
  note += "\u00e4 and more";
  events.normal(web, "Long", "{}", note);
  events.flush();
  ASSERT_EQ(newEvents().size(), 1U);
  EXPECT_EQ(newEvents()[0].note, std::string(1023, 'x'));
}

TEST_F(EventRecorderTest, RepetitionsAreASeriesThatIsSentWhenItIsOver) {
  EventRecorder events(clients.rest(), options());
  const auto record = [&] { events.normal(web, "Again", "and again"); };
  record();
  record();
  events.flush();
  ASSERT_EQ(newEvents().size(), 1U);
  EXPECT_EQ(newEvents()[0].series->count, 2);
  for (int i = 0; i < 8; ++i) record();
  events.flush();
  EXPECT_EQ(newEvents()[0].series->count, 2);
  // Every six minutes the recorder ends the series that had no event for six minutes.
  for (int i = 0; i < 2; ++i) {
    clock.waitForWaiters(1);
    clock.advance(6min);
  }
  clock.waitForWaiters(1);
  EXPECT_EQ(newEvents()[0].series->count, 10);
  // The next repetition is a new event.
  record();
  events.flush();
  EXPECT_EQ(newEvents().size(), 2U);
}

TEST_F(EventRecorderTest, AContinuingSeriesIsSentEveryHalfHour) {
  EventRecorder events(clients.rest(), options());
  for (int i = 0; i < 6; ++i) {
    events.normal(web, "Again", "and again");
    events.flush();
    clock.waitForWaiters(1);
    clock.advance(5min);
  }
  clock.waitForWaiters(1);
  ASSERT_EQ(newEvents().size(), 1U);
  EXPECT_EQ(newEvents()[0].series->count, 6);
}

TEST_F(EventRecorderTest, AnExpiredEventIsCreatedAgain) {
  for (const EventApi api : {EventApi::Events, EventApi::Core}) {
    EventRecorder events(clients.rest(), options(api));
    events.normal(web, "Again", "and again");
    events.flush();
    clients.coreV1().events("default").removeCollection();
    events.normal(web, "Again", "and again");
    events.flush();
    ASSERT_EQ(coreEvents().size(), 1U);
    if (api == EventApi::Core) {
      EXPECT_EQ(coreEvents()[0].count, 2);
    } else {
      EXPECT_EQ(newEvents()[0].series->count, 2);
    }
    clients.coreV1().events("default").removeCollection();
  }
}

TEST_F(EventRecorderTest, CoreEventsAreCounted) {
  EventRecorder events(clients.rest(), options(EventApi::Core));
  events.normal(web, "Again", "and again");
  events.flush();
  const corev1::Event first = coreEvents()[0];
  EXPECT_EQ(first.count, 1);
  EXPECT_EQ(first.source->component, "test");
  EXPECT_EQ(first.source->host, "test-1");
  EXPECT_EQ(first.reportingComponent, "test");
  EXPECT_EQ(first.firstTimestamp, Time(clock.wallNow()));
  clock.advance(1min);
  events.normal(web, "Again", "and again");
  events.normal(web, "Again", "and again");
  events.flush();
  ASSERT_EQ(coreEvents().size(), 1U);
  EXPECT_EQ(coreEvents()[0].count, 3);
  EXPECT_EQ(coreEvents()[0].firstTimestamp, first.firstTimestamp);
  EXPECT_EQ(coreEvents()[0].lastTimestamp, Time(clock.wallNow()));
}

TEST_F(EventRecorderTest, SimilarCoreEventsAreOneAndSpamIsDropped) {
  EventRecorder events(clients.rest(), options(EventApi::Core));
  for (int i = 0; i < 40; ++i) events.normal(web, "Again", "number {}", i);
  events.flush();
  const auto found = coreEvents();
  ASSERT_EQ(found.size(), 10U);
  int combined = 0;
  for (const corev1::Event& event : found) {
    if (!event.message.view().starts_with("(combined from similar events): ")) continue;
    ++combined;
    EXPECT_EQ(event.count, 16);  // 25 events passed the filter
    EXPECT_EQ(event.message, "(combined from similar events): number 24");
  }
  EXPECT_EQ(combined, 1);
}

TEST_F(EventRecorderTest, SpamOfNewEventsIsDroppedToo) {
  EventRecorder events(clients.rest(), options());
  for (int i = 0; i < 40; ++i) events.normal(web, "R" + std::to_string(i), "x");
  events.flush();
  EXPECT_EQ(newEvents().size(), 25U);
  clock.advance(5min);
  events.normal(web, "R39", "x");
  events.flush();
  EXPECT_EQ(newEvents().size(), 26U);
}

TEST_F(EventRecorderTest, ARefusedEventIsNotRetried) {
  for (const EventApi api : {EventApi::Events, EventApi::Core}) {
    EventRecorder events(clients.rest(), options(api));
    server.inject({.verb = "create", .resource = "events", .times = 1, .status = 403});
    events.normal(web, "Refused", "x");
    events.normal(web, "Taken", "y");
    events.flush();
    ASSERT_EQ(coreEvents().size(), 1U);
    EXPECT_EQ(coreEvents()[0].reason, "Taken");
    clients.coreV1().events("default").removeCollection();
  }
}

TEST_F(EventRecorderTest, AnUnreachableServerIsRetried) {
  EventRecorder events(clients.rest(), options());
  server.inject({.verb = "create", .resource = "events", .times = 2, .cut = true});
  events.normal(web, "Late", "x");
  flushWhileTimePasses(events);
  EXPECT_EQ(newEvents().size(), 1U);
}

TEST_F(EventRecorderTest, AnEventIsGivenUpAfterMaxTries) {
  auto few = options();
  few.maxTries = 3;
  EventRecorder events(clients.rest(), few);
  server.inject({.verb = "create", .resource = "events", .cut = true});
  events.normal(web, "Lost", "x");
  flushWhileTimePasses(events);
  EXPECT_EQ(server.faultsHit(), 3U);
}

TEST_F(EventRecorderTest, EventsAreDroppedWhileTheQueueIsFull) {
  auto small = options();
  small.queueSize = 2;
  EventRecorder events(clients.rest(), small);
  const testing::FaultId hang = server.inject({.resource = "events", .hang = true});
  for (int i = 0; i < 10; ++i) events.normal(web, "R" + std::to_string(i), "x");
  // The recorder may have taken one event from the queue.
  EXPECT_GE(events.dropped(), 7U);
  EXPECT_LE(events.dropped(), 8U);
  EXPECT_THAT(metrics.text(), HasSubstr("event_recorder_dropped_total{component=\"test\"} " +
                                        std::to_string(events.dropped())));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(events.flush(stop.get_token()));

  // A shutdown takes flushTimeout at most.
  auto down = std::async(std::launch::async, [&] { events.shutDown(); });
  clock.waitForWaiters(1);
  while (down.wait_for(0s) != std::future_status::ready) clock.advance(5s);
  EXPECT_EQ(events.dropped(), 10U);
  server.forget(hang);
}

TEST_F(EventRecorderTest, DestroyingTheRecorderSendsTheQueue) {
  for (const EventApi api : {EventApi::Events, EventApi::Core}) {
    {
      EventRecorder events(clients.rest(), options(api));
      for (int i = 0; i < 20; ++i) events.normal(web, "R" + std::to_string(i), "x");
      for (int i = 0; i < 4; ++i) events.normal(web, "Again", "x");
    }
    const auto found = coreEvents();
    ASSERT_EQ(found.size(), 21U);
    for (const corev1::Event& event : found) {
      if (event.reason != "Again") continue;
      EXPECT_EQ(api == EventApi::Core ? event.count : event.series->count, 4);
    }
    clients.coreV1().events("default").removeCollection();
  }
}

TEST_F(EventRecorderTest, AShutdownDoesNotWaitForTheNextTry) {
  EventRecorder events(clients.rest(), options());
  server.inject({.verb = "create", .resource = "events", .cut = true});
  events.normal(web, "Lost", "x");
  clock.waitForWaiters(1);
  events.shutDown();
  events.shutDown();
  events.normal(web, "Late", "x");
  EXPECT_EQ(events.dropped(), 1U);
}

TEST_F(EventRecorderTest, EndsWhereNoThreadCanBeStarted) {
  std::optional<EventRecorder> events;
  auto real = options();
  real.clock = nullptr;
  events.emplace(clients.rest(), real);
  events->normal(web, "Last", "x");
  const testing::NoThreads none;
  events.reset();
  EXPECT_EQ(newEvents().size(), 1U);
}

TEST_F(EventRecorderTest, EventsWaitUntilAThreadCanBeHad) {
  EXPECT_TRUE(newEvents().empty());  // starts the I/O thread
  EventRecorder events(clients.rest(), options());
  std::optional<testing::NoThreads> none(0);
  events.normal(web, "First", "x");
  EXPECT_THROW(events.flush(), Error);
  EXPECT_TRUE(newEvents().empty());
  {
    EventRecorder lost(clients.rest(), options());
    lost.normal(web, "Lost", "x");
    lost.shutDown();
    EXPECT_EQ(lost.dropped(), 1U);
  }
  none.reset();
  events.normal(web, "Second", "x");
  EXPECT_TRUE(events.flush());
  EXPECT_EQ(newEvents().size(), 2U);
  EXPECT_EQ(events.dropped(), 0U);
}

TEST_F(EventRecorderTest, RecordersHaveNoThreadsOfTheirOwn) {
  constexpr std::size_t kRecorders = 100;
  std::vector<std::unique_ptr<EventRecorder>> recorders;
  std::size_t before = 0;
  for (std::size_t i = 0; i < kRecorders; ++i) {
    recorders.push_back(std::make_unique<EventRecorder>(clients.rest(), options()));
    recorders.back()->normal(web, "R", "x");
    EXPECT_TRUE(recorders.back()->flush());
    if (i == 0) before = threadsOfTheProcess();
  }
  EXPECT_LT(threadsOfTheProcess(), before + kRecorders / 2);
  EXPECT_EQ(newEvents().size(), kRecorders);
}

TEST_F(EventRecorderTest, ATaskFlushes) {
  EventRecorder events(clients.rest(), options());
  TestLoop loop;
  Begun<bool> nothing(events.async().flush(), loop.executor());
  EXPECT_TRUE(nothing.result()) << "without a wait";
  const testing::FaultId cut = server.inject({.resource = "events", .cut = true});
  events.normal(web, "R", "x");
  clock.waitForWaiters(1);  // until the next try
  std::stop_source stop;
  Begun<bool> flush(events.async().flush(), loop.executor());
  Begun<bool> stopped(events.async().flush(), loop.executor(), stop.get_token());
  Begun<bool> destroyed(events.async().flush(), loop.executor());
  destroyed.destroy();
  stop.request_stop();
  loop.runUntil([&] { return stopped.over(); });
  EXPECT_FALSE(stopped.result());
  EXPECT_FALSE(flush.over());
  server.forget(cut);
  clock.advance(15s);
  loop.runUntil([&] { return flush.over(); });
  EXPECT_TRUE(flush.result());
  EXPECT_EQ(newEvents().size(), 1U);
}

TEST_F(EventRecorderTest, ATaskShutsDown) {
  TestLoop loop;
  EventRecorder events(clients.rest(), options());
  for (int i = 0; i < 3; ++i) events.normal(web, "R" + std::to_string(i), "x");
  Begun<void> down(events.async().shutDown(), loop.executor());
  loop.runUntil([&] { return down.over(); });
  EXPECT_EQ(newEvents().size(), 3U);
  events.normal(web, "Late", "x");
  EXPECT_EQ(events.dropped(), 1U);
}

TEST_F(EventRecorderTest, AStopOrTheTimeLimitEndsTheShutdownOfATask) {
  for (const bool stops : {false, true}) {
    TestLoop loop;
    EventRecorder events(clients.rest(), options());
    const testing::FaultId hang = server.inject({.resource = "events", .hang = true});
    for (int i = 0; i < 3; ++i) events.normal(web, "R" + std::to_string(i), "x");
    std::stop_source stop;
    Begun<void> down(events.async().shutDown(), loop.executor(), stop.get_token());
    clock.waitForWaiters(1);
    EXPECT_FALSE(down.over());
    if (stops) {
      stop.request_stop();
    } else {
      clock.advance(5s);
    }
    loop.runUntil([&] { return down.over(); });
    EXPECT_EQ(events.dropped(), 3U);
    server.forget(hang);
  }
}

TEST_F(EventRecorderTest, MayBeDestroyedWhileTasksWait) {
  auto hasty = options();
  hasty.flushTimeout = 0s;
  std::optional<EventRecorder> events;
  events.emplace(clients.rest(), hasty);
  TestLoop loop;
  server.inject({.resource = "events", .hang = true});
  for (int i = 0; i < 3; ++i) events->normal(web, "R" + std::to_string(i), "x");
  Begun<bool> flush(events->async().flush(), loop.executor());
  Begun<void> down(events->async().shutDown(), loop.executor());
  events.reset();
  loop.runUntil([&] { return flush.over() && down.over(); });
  EXPECT_TRUE(flush.result()) << "the events were given up";
}

TEST_F(EventRecorderTest, MayOutliveTheClients) {
  std::optional<Clientset> shortLived(std::in_place, server.config());
  {
    EventRecorder events(shortLived->rest(), options());
    shortLived.reset();
    events.normal(web, "Late", "x");
  }
  EXPECT_EQ(newEvents().size(), 1U);
}

TEST_F(EventRecorderTest, AnIoThreadDoesNotWaitForTheEnd) {
  const testing::FaultId hang = server.inject({.resource = "events", .hang = true});
  auto events = std::make_unique<EventRecorder>(clients.rest(), options());
  for (int i = 0; i < 3; ++i) events->normal(web, "R" + std::to_string(i), "x");
  std::promise<void> ended;
  clients.rest().connection()->executor().post([&] {
    events.reset();
    ended.set_value();
  });
  EXPECT_EQ(ended.get_future().wait_for(60s), std::future_status::ready);
  EXPECT_THAT(metrics.text(), HasSubstr("event_recorder_dropped_total{component=\"test\"} 3"));
  server.forget(hang);
}

TEST_F(EventRecorderTest, MayBeDestroyedAtAnyTime) {
  std::mt19937 random(1);
  for (int round = 0; round < 60; ++round) {
    auto real = options(round % 2 == 0 ? EventApi::Events : EventApi::Core);
    real.clock = nullptr;
    real.flushTimeout = std::chrono::microseconds(random() % 2000);
    testing::Fault fault{.resource = "events", .times = 0};
    if (round % 3 == 1) fault = {.resource = "events", .hang = true};
    if (round % 3 == 2) fault = {.resource = "events", .times = 1, .cut = true};
    const testing::FaultId injected = server.inject(fault);
    TestLoop loop;
    std::optional<EventRecorder> events(std::in_place, clients.rest(), real);
    std::vector<std::unique_ptr<Begun<bool>>> flushes;
    for (unsigned i = 0, n = random() % 20; i < n; ++i) {
      events->normal(web, "R" + std::to_string(i % 5), "x");
      flushes.push_back(std::make_unique<Begun<bool>>(events->async().flush(), loop.executor()));
      for (unsigned turns = random() % 50; turns > 0; --turns) std::this_thread::yield();
    }
    events.reset();
    server.forget(injected);
    loop.runUntil([&] { return std::ranges::all_of(flushes, [](auto& f) { return f->over(); }); });
  }
}

TEST_F(EventRecorderTest, InvalidOptionsAndTypesAreRefused) {
  EXPECT_THROW(EventRecorder(clients.rest(), {}), ConfigError);
  EXPECT_THROW(EventRecorder(clients.rest(), {.component = "x", .queueSize = 0}), ConfigError);
  EXPECT_THROW(EventRecorder(clients.rest(), {.component = "x", .maxTries = 0}), ConfigError);
  EventRecorder events(clients.rest(), options());
  events.record({.regarding = referenceTo(web), .type = "Strange", .reason = "R", .note = "x"});
  events.flush();
  EXPECT_TRUE(newEvents().empty());
}

TEST_F(EventRecorderTest, ManyThreadsMayRecord) {
  EventRecorder events(clients.rest(), options());
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        corev1::Pod about = web;
        about.metadata.name = "web-" + std::to_string(t);
        events.normal(about, "R" + std::to_string(i % 5), "x");
      }
    });
  }
  threads.clear();
  events.shutDown();
  const auto found = newEvents();
  ASSERT_EQ(found.size(), 20U);
  for (const eventsv1::Event& event : found) EXPECT_EQ(event.series->count, 10);
}

TEST(EventLogTest, KeepsEventsInsteadOfSendingThem) {
  testing::EventLog events;
  corev1::Pod pod;
  pod.metadata.name = "web";
  events.recorder().normal(pod, "Configured", "{} subnets", 3);
  events.recorder().warning(pod, "NoAddress", "none is left");
  EXPECT_THAT(events.texts(), ::testing::ElementsAre("Normal Configured 3 subnets",
                                                     "Warning NoAddress none is left"));
  EXPECT_EQ(events.events()[0].regarding.name, "web");
  EXPECT_TRUE(events.recorder().flush());
  EXPECT_EQ(referenceTo(pod, "spec.containers{app}").fieldPath, "spec.containers{app}");
  EXPECT_EQ(referenceTo(pod, "spec.containers{app}").kind, "Pod");
  events.clear();
  EXPECT_TRUE(events.events().empty());
}

}  // namespace
}  // namespace kube
