#include "kube/cache/reflector.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <thread>

#include "kube/api/core/v1.h"
#include "kube/cache/delta_fifo.h"
#include "kube/cache/internal/reflector_script_testing.h"
#include "kube/meta/api_error.h"

namespace kube {
namespace {

using namespace scripted;

TEST(ReflectorTest, ListsThenWatchesFromThere) {
  Rig rig;
  rig.script.list({{podAt("a", "1"), podAt("b", "2")}, "5"})
      .watch({.events = {event(EventType::Added, "c", "6"), event(EventType::Modified, "a", "7"),
                         event(EventType::Deleted, "b", "8")},
              .error = thrown(ApiError(status::internalError("end")))});
  EXPECT_EQ(rig.reflector->lastSyncResourceVersion(), "");
  EXPECT_THAT(rig.round(), HasSubstr("end"));
  EXPECT_THAT(namesIn(rig.store), UnorderedElementsAre("a@7", "c@6"));
  EXPECT_EQ(rig.reflector->lastSyncResourceVersion(), "8");
  EXPECT_THAT(rig.script.calls(), ElementsAre("list rv=0 limit=500", "watch rv=5"));
}

TEST(ReflectorTest, ASecondListIsNotOlderThanWhatWasSeen) {
  Rig rig;
  rig.script.list({{podAt("a", "1")}, "5"})
      .watch({.events = {event(EventType::Added, "b", "9")},
              .error = thrown(ApiError(status::internalError("end")))})
      .list({{podAt("c", "10")}, "11"});
  rig.round();
  rig.round();
  EXPECT_THAT(namesIn(rig.store), ElementsAre("c@10"));
  EXPECT_EQ(rig.reflector->lastSyncResourceVersion(), "11");
  EXPECT_EQ(rig.script.calls()[2], "list rv=9 limit=0");
}

TEST(ReflectorTest, BookmarksMoveTheVersionOn) {
  Rig rig;
  rig.script.list({{}, "5"}).watch(
      {.events = {bookmark("40")}, .error = thrown(ApiError(status::internalError("end")))});
  rig.round();
  EXPECT_EQ(rig.reflector->lastSyncResourceVersion(), "40");
  EXPECT_EQ(rig.store.resourceVersion(), "40");
  EXPECT_THAT(rig.store.list(), IsEmpty());
}

TEST(ReflectorTest, AWatchThatEndsIsResumed) {
  Rig rig;
  const auto later = [&] { rig.clock.advance(300s); };
  rig.script.list({{}, "5"})
      .watch({.events = {event(EventType::Added, "a", "6")}, .before = later})
      .watch({.events = {event(EventType::Added, "b", "7")}, .before = later})
      .watch({.stays = true});
  rig.run();
  rig.end();
  EXPECT_THAT(rig.script.calls(),
              ElementsAre("list rv=0 limit=500", "watch rv=5", "watch rv=6", "watch rv=7"));
  EXPECT_THAT(namesIn(rig.store), UnorderedElementsAre("a@6", "b@7"));
  EXPECT_THAT(rig.errors, IsEmpty());
}

TEST(ReflectorTest, PagesAreOneList) {
  Rig rig;
  rig.script.list({{podAt("a", "1")}, "5", "x"})
      .list({{podAt("b", "2")}, "5", "y"})
      .list({{}, "5"});
  rig.round();
  EXPECT_THAT(namesIn(rig.store), UnorderedElementsAre("a@1", "b@2"));
  // A list that the server paged once is requested in pages again.
  rig.script.list({{}, "6"});
  rig.round();
  EXPECT_THAT(rig.script.calls(),
              ElementsAre("list rv=0 limit=500", "list rv= limit=500 continue=x",
                          "list rv= limit=500 continue=y", "watch rv=5",
                          "list rv=5 limit=500 NotOlderThan", "watch rv=6"));
}

TEST(ReflectorTest, PagesThatExpireAreReadAllAtOnce) {
  Rig rig({.streamList = false, .pageSize = 2});
  rig.script.list({{podAt("a", "1")}, "5", "x"})
      .list({.pods = {podAt("b", "1")}, .error = thrown(ApiError(status::expired("late")))})
      .list({{podAt("c", "1")}, "6"});
  rig.round();
  EXPECT_THAT(namesIn(rig.store), ElementsAre("c@1"));
  EXPECT_THAT(rig.script.calls(), ElementsAre("list rv=0 limit=2", "list rv= limit=2 continue=x",
                                              "list rv=0 limit=0", "watch rv=6"));
}

TEST(ReflectorTest, AListThatBreaksOffChangesNothing) {
  Rig rig;
  rig.script.list({{podAt("a", "1")}, "5"})
      .watch({})
      .list({.pods = {podAt("b", "1")}, .error = thrown(TransportError("cut"))});
  rig.round();
  EXPECT_EQ(rig.round(), "cut");
  EXPECT_THAT(namesIn(rig.store), ElementsAre("a@1"));
  EXPECT_EQ(rig.reflector->lastSyncResourceVersion(), "5");
}

TEST(ReflectorTest, WatchesLastFiveToTenMinutes) {
  Rig rig;
  for (int i = 0; i < 20; ++i) rig.script.list({{}, "5"}).watch({});
  for (int i = 0; i < 20; ++i) rig.round();
  for (const std::int64_t timeout : rig.script.timeouts()) {
    EXPECT_GE(timeout, 300);
    EXPECT_LT(timeout, 600);
  }
  const std::vector<std::int64_t> timeouts = rig.script.timeouts();
  EXPECT_GT(std::set(timeouts.begin(), timeouts.end()).size(), 1U);  // chosen at random

  Rig longer({.streamList = false, .minWatchTimeout = 3600s});
  longer.script.list({{}, "5"}).watch({});
  longer.round();
  EXPECT_GE(longer.script.timeouts()[0], 3600);
  Rig shorter({.streamList = false, .minWatchTimeout = 1s});
  shorter.script.list({{}, "5"}).watch({});
  shorter.round();
  EXPECT_GE(shorter.script.timeouts()[0], 300);
}

TEST(ReflectorTest, WithoutAVersionAddedObjectsDoNotMoveIt) {
  Rig rig;
  rig.script.list({{}, ""}).watch(
      {.events = {event(EventType::Added, "a", "90"), event(EventType::Added, "b", "20")},
       .error = thrown(ApiError(status::internalError("end")))});
  rig.round();
  EXPECT_EQ(rig.reflector->lastSyncResourceVersion(), "");
  rig.script.list({{}, ""}).watch({.events = {event(EventType::Added, "a", "90"), bookmark("95"),
                                              event(EventType::Added, "b", "96")},
                                   .error = thrown(ApiError(status::internalError("end")))});
  rig.round();
  EXPECT_EQ(rig.reflector->lastSyncResourceVersion(), "96");
}

TEST(ReflectorTest, AStreamedListIsAWatchThatGoesOn) {
  Rig rig(ReflectorOptions{});
  rig.store.add(podAt("gone", "1"));
  rig.script.watch(
      {.events = {event(EventType::Added, "a", "3"), event(EventType::Added, "b", "2"),
                  event(EventType::Modified, "a", "4"), event(EventType::Added, "c", "1"),
                  event(EventType::Deleted, "c", "5"), bookmark("6"), bookmark("7", true),
                  event(EventType::Added, "d", "8")},
       .error = thrown(ApiError(status::internalError("end")))});
  EXPECT_THAT(rig.round(), HasSubstr("end"));
  EXPECT_THAT(namesIn(rig.store), UnorderedElementsAre("a@4", "b@2", "d@8"));
  EXPECT_EQ(rig.reflector->lastSyncResourceVersion(), "8");
  rig.script.watch(
      {.events = {bookmark("9", true)}, .error = thrown(ApiError(status::internalError("end")))});
  rig.round();
  EXPECT_THAT(rig.script.calls(),
              ElementsAre("watch rv= initial NotOlderThan", "watch rv=8 initial NotOlderThan"));
  EXPECT_THAT(namesIn(rig.store), IsEmpty());
}

TEST(ReflectorTest, AServerWithoutStreamedListsIsAskedOnceOnly) {
  Rig rig(ReflectorOptions{});
  rig.script.watch({.refused = thrown(ApiError(status::invalid({"", "ListOptions"}, "", {})))})
      .list({{podAt("a", "1")}, "5"})
      .watch({})
      .list({{podAt("a", "1")}, "6"});
  rig.round();
  rig.round();
  EXPECT_THAT(rig.script.calls(),
              ElementsAre("watch rv= initial NotOlderThan", "list rv=0 limit=500", "watch rv=5",
                          "list rv=5 limit=0", "watch rv=6"));
}

TEST(ReflectorTest, AStreamedListThatBreaksOffBecomesAnOrdinaryOne) {
  Rig rig(ReflectorOptions{});
  rig.script.watch({.events = {event(EventType::Added, "a", "1")}})
      .list({{podAt("b", "1")}, "5"})
      .watch({})
      .watch({.events = {event(EventType::Added, "a", "1")}, .error = thrown(TransportError("x"))})
      .list({{podAt("c", "1")}, "6"});
  rig.round();
  EXPECT_THAT(namesIn(rig.store), ElementsAre("b@1"));
  rig.round();
  EXPECT_THAT(namesIn(rig.store), ElementsAre("c@1"));
}

TEST(ReflectorTest, AnExpiredVersionOfAStreamedListIsDropped) {
  Rig rig(ReflectorOptions{});
  rig.script.watch({.events = {bookmark("5", true), failure(status::expired("x"))}})
      .watch({.refused = thrown(ApiError(status::expired("x")))})
      .watch({.events = {event(EventType::Added, "a", "8"), bookmark("9", true)},
              .error = thrown(ApiError(status::internalError("end")))});
  rig.round();
  rig.round();
  EXPECT_THAT(rig.script.calls(),
              ElementsAre("watch rv= initial NotOlderThan", "watch rv=5 initial NotOlderThan",
                          "watch rv= initial NotOlderThan"));
  EXPECT_THAT(namesIn(rig.store), ElementsAre("a@8"));
}

TEST(ReflectorTest, AStreamedListIsTriedAgainWithoutAServer) {
  Rig rig(ReflectorOptions{});
  rig.script.watch({.refused = unreachable()})
      .watch({.refused = unreachable()})
      .watch({.events = {event(EventType::Added, "a", "8"), bookmark("9", true)}, .stays = true});
  rig.run(2);
  rig.end();
  EXPECT_THAT(namesIn(rig.store), ElementsAre("a@8"));
  EXPECT_EQ(rig.errors.size(), 2U);
}

TEST(ReflectorTest, ATransformSeesEveryObjectFirst) {
  for (const bool streamed : {true, false}) {
    Rig rig({.streamList = streamed},
            [](Pod& pod) { pod.metadata.labels["seen"] = pod.metadata.labels["seen"] + "x"; });
    if (streamed) {
      rig.script.watch({.events = {event(EventType::Added, "a", "1"), bookmark("5", true),
                                   event(EventType::Added, "b", "6")},
                        .error = thrown(ApiError(status::internalError("end")))});
    } else {
      rig.script.list({{podAt("a", "1")}, "5"})
          .watch({.events = {event(EventType::Added, "b", "6")},
                  .error = thrown(ApiError(status::internalError("end")))});
    }
    rig.round();
    ASSERT_EQ(rig.store.size(), 2U);
    for (const auto& one : rig.store.list()) EXPECT_EQ(one->metadata.labels["seen"], "x");
  }
}

Transform<Pod> pickyTransform(bool& refuse) {
  return [&refuse](Pod& pod) {
    if (!refuse || pod.metadata.name == "good") return;
    pod.metadata = {};
    if (pod.spec->nodeName.empty()) throw std::runtime_error("cannot transform");
    throw 7;
  };
}

TEST(ReflectorTest, ATransformThatThrowsCostsOneObjectOfAList) {
  for (const bool streamed : {false, true}) {
    bool refuse = false;
    Rig rig({.streamList = streamed}, pickyTransform(refuse));
    std::mutex mutex;
    std::vector<std::string> logged;
    const LogSink before = setLogSink([&](const LogRecord& record) {
      const std::lock_guard lock(mutex);
      logged.push_back(formatLogLine(record));
    });
    const auto round = [&](std::string_view version, std::vector<Pod> pods) {
      const auto end = thrown(ApiError(status::internalError("end")));
      if (!streamed) {
        rig.script.list({std::move(pods), std::string(version)}).watch({.error = end});
      } else {
        Script::Watch watch{.error = end};
        for (Pod& pod : pods) watch.events.push_back({EventType::Added, std::move(pod), {}});
        watch.events.push_back(bookmark(version, true));
        rig.script.watch(std::move(watch));
      }
      EXPECT_THAT(rig.round(), HasSubstr("end"));
    };
    round("2", {podAt("good", "1"), podAt("bad", "2")});
    EXPECT_THAT(namesIn(rig.store), UnorderedElementsAre("good@1", "bad@2"));
    // An object that the transform refuses later stays as it was; one that was never known is left
    // out.
    refuse = true;
    Pod worse = podAt("worse", "4");
    worse.spec->nodeName = "x";
    round("5", {podAt("good", "5"), podAt("bad", "3"), worse});
    EXPECT_THAT(namesIn(rig.store), UnorderedElementsAre("good@5", "bad@2"));
    EXPECT_EQ(rig.reflector->stats().transformFailures, 2U);
    setLogSink(before);
    ASSERT_FALSE(logged.empty());
    EXPECT_THAT(logged[0], AllOf(HasSubstr("cannot transform"), HasSubstr("object=book/bad")));
    EXPECT_EQ(logged.size(), 1U);  // one of many
    EXPECT_EQ(rig.errors.size(), 0U);
  }
}

TEST(ReflectorTest, ATransformThatThrowsCostsOneEvent) {
  bool refuse = false;
  const LogSink before = setLogSink([](const LogRecord&) {});
  Rig rig({.streamList = false}, pickyTransform(refuse));
  rig.script.list({{podAt("bad", "1"), podAt("gone", "2")}, "5"})
      .watch(
          {.events = {event(EventType::Modified, "bad", "6"), event(EventType::Added, "new", "7"),
                      event(EventType::Deleted, "gone", "8"),
                      event(EventType::Deleted, "unknown", "9"),
                      event(EventType::Added, "good", "10")},
           .error = thrown(ApiError(status::internalError("end"))),
           .before = [&] { refuse = true; }});
  EXPECT_THAT(rig.round(), HasSubstr("end"));
  // Later events arrive; a deletion counts even if the transform refuses the last state.
  EXPECT_THAT(namesIn(rig.store), UnorderedElementsAre("bad@1", "good@10"));
  EXPECT_EQ(rig.reflector->lastSyncResourceVersion(), "10");
  EXPECT_EQ(rig.reflector->stats().transformFailures, 4U);
  setLogSink(before);
}

TEST(ReflectorTest, WhatIsThrownIsReportedAndDoesNotEndIt) {
  Rig rig;
  rig.script.list({.error = std::make_exception_ptr(std::runtime_error("bad"))})
      .list({.error = std::make_exception_ptr(7)})
      .list({{podAt("a", "1")}, "5"})
      .watch({.stays = true});
  rig.run(2);
  rig.end();
  EXPECT_THAT(rig.errors, ElementsAre("bad", HasSubstr("not a std::exception")));
  EXPECT_THAT(namesIn(rig.store), ElementsAre("a@1"));
}

TEST(ReflectorTest, AnErrorHandlerThatThrowsDoesNoHarm) {
  FakeClock clock;
  Script script;
  script.list({.error = std::make_exception_ptr(std::runtime_error("x"))})
      .list({{podAt("a", "1")}, "5"})
      .watch({.stays = true});
  Store<Pod> store;
  std::atomic<int> logged = 0;
  const LogSink before = setLogSink([&](const LogRecord&) { ++logged; });
  Reflector<Pod> reflector(script.source(), store,
                           {.streamList = false,
                            .onError = [](const std::exception&) { throw Error("again"); },
                            .clock = &clock});
  std::jthread thread([&](const std::stop_token& stop) { reflector.run(stop); });
  clock.waitForWaiters(1);
  clock.advance(60s);
  script.waitForEnd();
  thread.request_stop();
  thread.join();
  setLogSink(before);
  EXPECT_EQ(logged, 1);
}

class CountsResyncs : public ReflectorStore<Pod> {
 public:
  void add(std::shared_ptr<const Pod>) override {}
  void update(std::shared_ptr<const Pod>) override {}
  void remove(std::shared_ptr<const Pod>) override {}
  void replace(std::vector<std::shared_ptr<const Pod>>, const String&) override {}
  void resync() override {
    ++resyncs;
    resyncs.notify_all();
    if (resyncs == 2) throw Error("once");
  }
  std::atomic<int> resyncs = 0;
};

TEST(ReflectorTest, ResyncsPeriodicallyWhereWanted) {
  FakeClock clock;
  Script script;
  script.list({{}, "5"}).watch({.stays = true});
  CountsResyncs store;
  std::atomic<bool> wanted = true;
  std::atomic<int> asked = 0;
  Reflector<Pod> reflector(script.source(), store,
                           {.resync = 10s,
                            .shouldResync =
                                [&] {
                                  ++asked;
                                  return wanted.load();
                                },
                            .streamList = false,
                            .clock = &clock});
  const LogSink before = setLogSink([](const LogRecord&) {});
  std::jthread thread([&](const std::stop_token& stop) { reflector.run(stop); });
  script.waitForEnd();
  for (int i = 1; i <= 3; ++i) {
    clock.waitForWaiters(1);
    clock.advance(10s);
    for (int n = store.resyncs; n < i; n = store.resyncs) store.resyncs.wait(n);
  }
  clock.waitForWaiters(1);
  wanted = false;
  clock.advance(10s);
  clock.waitForWaiters(1);
  thread.request_stop();
  thread.join();
  setLogSink(before);
  EXPECT_EQ(store.resyncs, 3);
  EXPECT_EQ(asked, 4);
}

TEST(ReflectorTest, AStopEndsItWhereverItIs) {
  {
    Rig watching;
    watching.script.list({{}, "5"}).watch({.stays = true});
    watching.run();
    watching.end();
    EXPECT_THAT(watching.errors, IsEmpty());
  }
  {
    Rig pausing;
    pausing.script.list({.error = std::make_exception_ptr(std::runtime_error("x"))});
    pausing.run();
    pausing.clock.waitForWaiters(1);
    pausing.end();
  }
  Rig never;
  std::stop_source stop;
  stop.request_stop();
  never.reflector->run(stop.get_token());
  EXPECT_THAT(never.script.calls(), IsEmpty());
}

TEST(ReflectorTest, FeedsADeltaQueue) {
  Script script;
  script.list({{podAt("a", "1"), podAt("b", "2")}, "5"})
      .watch({.events = {event(EventType::Deleted, "a", "6")},
              .error = thrown(ApiError(status::expired("x")))})
      .list({{}, "8"});
  Store<Pod> known;
  DeltaFifo<Pod> queue({.known = &known});
  Reflector<Pod> reflector(script.source(), queue, {.streamList = false});
  EXPECT_THROW(reflector.listAndWatch({}), ApiError);
  EXPECT_THROW(reflector.listAndWatch({}), Error);
  std::vector<std::string> seen;
  while (queue.size() > 0) {
    queue.pop({}, [&](const Deltas<Pod>& deltas) {
      std::string text = deltas.key.name.str();
      for (const auto& delta : deltas.changes) text += fmt::format(" {}", toString(delta.type));
      seen.push_back(text);
    });
  }
  EXPECT_THAT(seen, ElementsAre("a Replaced Deleted", "b Replaced Deleted"));
}

TEST(ReflectorTest, NeedsBothFunctions) {
  Store<Pod> store;
  EXPECT_THROW(Reflector<Pod>(ListWatch<Pod>{}, store), Error);
}

}  // namespace
}  // namespace kube
