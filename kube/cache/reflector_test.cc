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
#include "kube/meta/api_error.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using corev1::Pod;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

Pod podAt(std::string_view name, std::string_view version) {
  Pod result;
  result.metadata.namespace_ = "book";
  result.metadata.name = name;
  result.metadata.resourceVersion = version;
  return result;
}
WatchEvent<Pod> event(EventType type, std::string_view name, std::string_view version) {
  return {type, podAt(name, version), {}};
}
WatchEvent<Pod> bookmark(std::string_view version, bool endsInitialEvents = false) {
  WatchEvent<Pod> result{EventType::Bookmark, {}, {}};
  result.object.metadata.resourceVersion = version;
  if (endsInitialEvents) {
    result.object.metadata.annotations["k8s.io/initial-events-end"] = "true";
  }
  return result;
}
WatchEvent<Pod> failure(metav1::Status status) { return {EventType::Error, {}, std::move(status)}; }

// A source that does what the test says, one call after the other.
class Script {
 public:
  struct List {
    std::vector<Pod> pods = {};
    std::string version = {};
    std::string next = {};               // the token for the next page
    std::exception_ptr error = nullptr;  // after the pods
  };
  struct Watch {
    std::vector<WatchEvent<Pod>> events = {};
    std::exception_ptr error = nullptr;  // after the events
    std::exception_ptr refused = nullptr;
    bool stays = false;                    // until the stop
    std::function<void()> before = [] {};  // the first event
  };

  Script& list(List list) { return step({.list = std::move(list)}); }
  Script& watch(Watch watch) { return step({.watch = std::move(watch)}); }

  ListWatch<Pod> source() {
    return {
        .list = [this](const metav1::ListOptions& options, const std::function<void(Pod &&)>& use,
                       const std::stop_token&, Pool&) { return serve(options, use); },
        .watch = [this](const metav1::ListOptions& options, const std::stop_token& stop,
                        Pool&) { return serve(options, stop); }};
  }
  // "list rv=0 limit=500", "watch rv=7".
  std::vector<std::string> calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
  }
  std::vector<std::int64_t> timeouts() const {
    const std::lock_guard lock(mutex_);
    return timeouts_;
  }
  // Until everything was asked for, and what comes before a last watch that stays was taken.
  void waitForEnd() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return steps_.empty() && (staying_ || !endStays_); });
  }

 private:
  struct Step {
    std::optional<List> list = {};
    std::optional<Watch> watch = {};
  };
  Script& step(Step step) {
    endStays_ = step.watch && step.watch->stays;
    steps_.push_back(std::move(step));
    return *this;
  }
  Step take(std::string call) {
    const std::lock_guard lock(mutex_);
    calls_.push_back(std::move(call));
    if (steps_.empty()) throw ApiError(status::internalError("the script is over"));
    Step step = std::move(steps_.front());
    steps_.pop_front();
    changed_.notify_all();
    return step;
  }
  metav1::ListMeta serve(const metav1::ListOptions& options,
                         const std::function<void(Pod&&)>& use) {
    std::string call = fmt::format("list rv={} limit={}", options.resourceVersion, options.limit);
    if (!options.resourceVersionMatch.empty()) call += " " + options.resourceVersionMatch.str();
    if (!options.continue_.empty()) call += " continue=" + options.continue_.str();
    const Step step = take(std::move(call));
    if (!step.list) throw Error("the script says to watch");
    for (Pod copy : step.list->pods) use(std::move(copy));
    if (step.list->error) std::rethrow_exception(step.list->error);
    return {.resourceVersion = step.list->version, .continue_ = step.list->next};
  }
  EventSource<Pod> serve(const metav1::ListOptions& options, const std::stop_token& stop) {
    std::string call = fmt::format("watch rv={}", options.resourceVersion);
    if (options.sendInitialEvents) call += " initial " + options.resourceVersionMatch.str();
    if (!options.allowWatchBookmarks) call += " without bookmarks";
    {
      const std::lock_guard lock(mutex_);
      timeouts_.push_back(options.timeoutSeconds.value_or(0));
    }
    const Step step = take(std::move(call));
    if (!step.watch) throw ApiError(status::invalid({"", "ListOptions"}, "", {}));
    if (step.watch->refused) std::rethrow_exception(step.watch->refused);
    const auto watch = std::make_shared<Watch>(*step.watch);
    const auto at = std::make_shared<std::size_t>(0);
    return [this, watch, at, stop]() -> std::optional<WatchEvent<Pod>> {
      if (*at == 0) watch->before();
      if (*at < watch->events.size()) return watch->events[(*at)++];
      if (watch->error) std::rethrow_exception(watch->error);
      if (watch->stays) {
        std::unique_lock lock(mutex_);
        staying_ = true;
        changed_.notify_all();
        changed_.wait(lock, stop, [] { return false; });
      }
      return std::nullopt;
    };
  }

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Step> steps_;
  bool endStays_ = false;
  bool staying_ = false;
  std::vector<std::string> calls_;
  std::vector<std::int64_t> timeouts_;
};

template <class E>
std::exception_ptr thrown(E error) {
  return std::make_exception_ptr(std::move(error));
}
std::exception_ptr unreachable() { return thrown(TransportError("connection refused", false)); }

std::vector<std::string> names(const Store<Pod>& store) {
  std::vector<std::string> result;
  for (const auto& one : store.list()) {
    result.push_back(one->metadata.name + "@" + one->metadata.resourceVersion.str());
  }
  return result;
}

// A reflector into a store, with a clock that the test drives.
struct Rig {
  Script script;
  Store<Pod> store;
  FakeClock clock;
  std::mutex errorsMutex;
  std::vector<std::string> errors;
  std::unique_ptr<Reflector<Pod>> reflector;
  std::jthread thread;

  explicit Rig(ReflectorOptions options = {.streamList = false}, Transform<Pod> transform = {}) {
    options.clock = &clock;
    options.onError = [this](const std::exception& error) {
      const std::lock_guard lock(errorsMutex);
      errors.push_back(error.what());
    };
    reflector = std::make_unique<Reflector<Pod>>(script.source(), store, std::move(options),
                                                 std::move(transform));
  }
  // On a thread, until the script is over; time goes on by a minute whenever it waits.
  void run(int pauses = 0) {
    thread = std::jthread([this](const std::stop_token& stop) { reflector->run(stop); });
    for (int i = 0; i < pauses; ++i) {
      clock.waitForWaiters(1);
      clock.advance(60s);
    }
    script.waitForEnd();
  }
  void end() {
    thread.request_stop();
    thread.join();
  }
  std::string round() {
    try {
      reflector->listAndWatch({});
      return "";
    } catch (const std::exception& error) {
      return error.what();
    }
  }
};

TEST(ReflectorTest, ListsThenWatchesFromThere) {
  Rig rig;
  rig.script.list({{podAt("a", "1"), podAt("b", "2")}, "5"})
      .watch({.events = {event(EventType::Added, "c", "6"), event(EventType::Modified, "a", "7"),
                         event(EventType::Deleted, "b", "8")},
              .error = thrown(ApiError(status::internalError("end")))});
  EXPECT_EQ(rig.reflector->lastSyncResourceVersion(), "");
  EXPECT_THAT(rig.round(), HasSubstr("end"));
  EXPECT_THAT(names(rig.store), UnorderedElementsAre("a@7", "c@6"));
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
  EXPECT_THAT(names(rig.store), ElementsAre("c@10"));
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
  EXPECT_THAT(names(rig.store), UnorderedElementsAre("a@6", "b@7"));
  EXPECT_THAT(rig.errors, IsEmpty());
}

TEST(ReflectorTest, AWatchThatWorkedAndBreaksIsResumedAtOnce) {
  Rig rig;
  const auto later = [&] { rig.clock.advance(2s); };
  rig.script.list({{}, "5"})
      .watch(
          {.events = {event(EventType::Added, "a", "6")}, .error = thrown(TransportError("cut"))})
      .watch({.error = thrown(TransportError("quiet, but not for long")), .before = later})
      .watch({.error = thrown(TimeoutError("the time of all requests")), .before = later})
      .watch({.stays = true});
  rig.run();  // without any pause
  rig.end();
  EXPECT_THAT(rig.script.calls(), ElementsAre("list rv=0 limit=500", "watch rv=5", "watch rv=6",
                                              "watch rv=6", "watch rv=6"));
  EXPECT_THAT(rig.errors, ElementsAre("cut", "quiet, but not for long"));
}

// However often: as where a balancer ends connections after a while.
TEST(ReflectorTest, PausesDoNotGrowByWatchesThatWork) {
  Rig rig;
  rig.script.list({{}, "5"});
  for (int i = 6; i < 40; ++i) {
    rig.script.watch({.events = {event(EventType::Added, "a", std::to_string(i))},
                      .error = thrown(TransportError("cut")),
                      .before = [&] { rig.clock.advance(i % 2 == 0 ? 5s : 250ms); }});
  }
  rig.script.watch({.stays = true});
  rig.run();
  rig.end();
  EXPECT_EQ(rig.script.calls().back(), "watch rv=39");
}

// What a server that accepts each watch and cuts it at once gets to do, in two minutes.
TEST(ReflectorTest, AStormOfBrokenWatchesIsBounded) {
  for (const bool withEvents : {false, true}) {
    Rig rig;
    for (int i = 0; i < 400; ++i) {
      if (!withEvents && i % 3 == 0) rig.script.list({{}, "5"});
      if (withEvents && i == 0) rig.script.list({{}, "5"});
      Script::Watch watch{.error = thrown(TransportError("cut"))};
      if (withEvents) watch.events = {event(EventType::Added, "a", std::to_string(i + 6))};
      rig.script.watch(std::move(watch));
    }
    rig.thread = std::jthread([&](const std::stop_token& stop) { rig.reflector->run(stop); });
    for (int i = 0; i < 1200; ++i) {
      rig.clock.waitForWaiters(1);
      rig.clock.advance(100ms);
    }
    rig.clock.waitForWaiters(1);
    rig.end();
    EXPECT_LE(rig.script.calls().size(), withEvents ? 260U : 40U);
    EXPECT_GE(rig.script.calls().size(), withEvents ? 100U : 8U);
  }
}

// A server that is away is tried at a steady, quick rhythm: what counts is when it is noticed to be
// back.
TEST(ReflectorTest, AServerThatIsAwayIsTriedAboutOnceASecond) {
  Rig rig;
  rig.script.list({{}, "5"});
  for (int i = 0; i < 400; ++i) {
    // As a proxy does, which accepts and cuts at once; and then nobody.
    rig.script.watch({.refused = i < 5 ? thrown(TransportError("reset")) : unreachable()});
  }
  rig.thread = std::jthread([&](const std::stop_token& stop) { rig.reflector->run(stop); });
  for (int i = 0; i < 120; ++i) {
    rig.clock.waitForWaiters(1);
    const auto before = rig.script.calls().size();
    for (int part = 0; part < 10; ++part) {
      rig.clock.waitForWaiters(1);
      rig.clock.advance(100ms);
    }
    rig.clock.waitForWaiters(1);
    if (i > 1) {
      EXPECT_GE(rig.script.calls().size(), before + 1) << i;
      EXPECT_LE(rig.script.calls().size(), before + 3) << i;
    }
  }
  rig.end();
  EXPECT_THAT(rig.script.calls()[0], "list rv=0 limit=500");
  EXPECT_THAT(rig.script.calls().back(), "watch rv=5");  // nothing is listed
}

// Connections that break in the middle of requests may be the fault of what is asked, in the end.
TEST(ReflectorTest, AListThatAlwaysBreaksOffIsAskedForLessOften) {
  Rig rig;
  for (int i = 0; i < 400; ++i) rig.script.list({.error = thrown(TransportError("cut"))});
  rig.thread = std::jthread([&](const std::stop_token& stop) { rig.reflector->run(stop); });
  for (int i = 0; i < 3000; ++i) {
    rig.clock.waitForWaiters(1);
    rig.clock.advance(100ms);
  }
  rig.clock.waitForWaiters(1);
  rig.end();
  EXPECT_GE(rig.script.calls().size(), 20U);
  EXPECT_LE(rig.script.calls().size(), 35U);
}

TEST(ReflectorTest, NewCredentialsAreWaitedForWithoutAList) {
  Rig rig;
  rig.script.list({{}, "5"});
  for (int i = 0; i < 10; ++i) {
    rig.script.watch({.refused = thrown(ApiError(status::unauthorized("expired")))});
  }
  rig.script.watch({.stays = true});
  rig.run(10);
  rig.end();
  EXPECT_EQ(rig.script.calls().size(), 12U);
}

TEST(ReflectorTest, WithoutAServerTheWatchIsTriedAgainAndNothingListed) {
  Rig rig;
  rig.script.list({{podAt("a", "1")}, "5"})
      .watch({.refused = unreachable()})
      .watch({.refused = unreachable()})
      .watch({.refused = thrown(ApiError(status::tooManyRequests("busy", 1)))})
      .watch({.events = {failure(status::tooManyRequests("busy", 1))}})
      .watch({.stays = true});
  rig.run(4);
  rig.end();
  EXPECT_THAT(rig.script.calls(), ElementsAre("list rv=0 limit=500", "watch rv=5", "watch rv=5",
                                              "watch rv=5", "watch rv=5", "watch rv=5"));
  EXPECT_EQ(rig.errors.size(), 4U);
}

TEST(ReflectorTest, AServerThatAsksForATimeGetsIt) {
  Rig rig;
  rig.script.list({.error = thrown(ApiError(status::tooManyRequests("busy", 3600)))})
      .list({{}, "5"})
      .watch({.refused = thrown(ApiError(status::tooManyRequests("busy", 3600)))})
      .watch({.stays = true});
  rig.thread = std::jthread([&](const std::stop_token& stop) { rig.reflector->run(stop); });
  for (int i = 0; i < 2; ++i) {
    rig.clock.waitForWaiters(1);
    rig.clock.advance(3599s);
    EXPECT_EQ(rig.clock.waiters(), 1U);  // still waiting
    rig.clock.advance(2s);
  }
  rig.script.waitForEnd();
  rig.end();
}

// As a server that starts anew asks for a second at a time; and not all come back at once.
TEST(ReflectorTest, ATimeThatIsAskedForAgainAndAgainDoesNotGrow) {
  Rig rig;
  rig.script.list({{}, "5"});
  for (int i = 0; i < 10; ++i) {
    rig.script.watch({.refused = thrown(ApiError(status::tooManyRequests("starting", 1)))});
  }
  rig.script.watch({.stays = true});
  rig.thread = std::jthread([&](const std::stop_token& stop) { rig.reflector->run(stop); });
  for (int i = 0; i < 10; ++i) {
    rig.clock.waitForWaiters(1);
    rig.clock.advance(1100ms);
  }
  rig.script.waitForEnd();
  rig.end();
}

TEST(ReflectorTest, AnExpiredVersionMeansANewList) {
  for (const bool inStream : {true, false}) {
    Rig rig;
    rig.script.list({{podAt("a", "1"), podAt("b", "1")}, "5"});
    if (inStream) {
      rig.script.watch({.events = {failure(status::expired("too old"))}});
    } else {
      rig.script.watch({.refused = thrown(ApiError(status::gone("too old")))});
    }
    rig.script.list({{podAt("b", "8")}, "9"}).watch({.stays = true});
    rig.run(1);
    rig.end();
    EXPECT_THAT(rig.script.calls(), ElementsAre("list rv=0 limit=500", "watch rv=5",
                                                "list rv=5 limit=0", "watch rv=9"));
    EXPECT_THAT(names(rig.store), ElementsAre("b@8"));
  }
}

// It is mostly that of a server that was started anew, and then of none.
TEST(ReflectorTest, AnExpiredVersionIsListedAnewSoonButNotForEver) {
  Rig rig;
  for (int i = 5; i < 30; ++i) {
    rig.script.list({{}, std::to_string(i)})
        .watch({.refused = thrown(ApiError(status::gone("too old")))});
  }
  rig.thread = std::jthread([&](const std::stop_token& stop) { rig.reflector->run(stop); });
  for (int i = 0; i < 6; ++i) {
    rig.clock.waitForWaiters(1);
    rig.clock.advance(100ms);
  }
  rig.clock.waitForWaiters(1);
  EXPECT_EQ(rig.script.calls().size(), 6U);
  for (int i = 0; i < 600; ++i) {
    rig.clock.waitForWaiters(1);
    rig.clock.advance(100ms);
  }
  rig.clock.waitForWaiters(1);
  rig.end();
  EXPECT_LE(rig.script.calls().size(), 20U);
}

TEST(ReflectorTest, AVersionThatTheServerCannotListIsDropped) {
  metav1::Status tooLarge = status::timeout("Too large resource version: 9, current: 3", 1);
  for (const metav1::Status& refusal :
       {status::expired("too old"), status::gone("too old"), tooLarge}) {
    Rig rig;
    rig.script.list({{podAt("a", "1")}, "5"})
        .watch({.error = thrown(ApiError(status::internalError("x")))})
        .list({.error = thrown(ApiError(refusal))})
        .list({{podAt("a", "2")}, "3"})
        .watch({.error = thrown(ApiError(status::internalError("x")))})
        .list({{podAt("a", "4")}, "4"});
    rig.round();
    rig.round();
    rig.round();
    EXPECT_THAT(rig.script.calls(),
                ElementsAre("list rv=0 limit=500", "watch rv=5", "list rv=5 limit=0",
                            "list rv= limit=500", "watch rv=3", "list rv=3 limit=0", "watch rv=4"));
    EXPECT_THAT(names(rig.store), ElementsAre("a@4"));
  }
}

TEST(ReflectorTest, TheLatestVersionIsAskedForAgainIfThatFails) {
  Rig rig;
  rig.script.list({.error = thrown(ApiError(status::expired("too old")))})
      .list({.error = thrown(ApiError(status::expired("too old")))})
      .list({.error = thrown(ApiError(status::expired("too old")))});
  EXPECT_THAT(rig.round(), HasSubstr("too old"));
  EXPECT_THAT(rig.round(), HasSubstr("too old"));
  EXPECT_THAT(rig.script.calls(),
              ElementsAre("list rv=0 limit=500", "list rv= limit=500", "list rv= limit=500"));
}

TEST(ReflectorTest, PagesAreOneList) {
  Rig rig;
  rig.script.list({{podAt("a", "1")}, "5", "x"})
      .list({{podAt("b", "2")}, "5", "y"})
      .list({{}, "5"});
  rig.round();
  EXPECT_THAT(names(rig.store), UnorderedElementsAre("a@1", "b@2"));
  // What the server has paged once, it is asked to page again.
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
  EXPECT_THAT(names(rig.store), ElementsAre("c@1"));
  EXPECT_THAT(rig.script.calls(), ElementsAre("list rv=0 limit=2", "list rv= limit=2 continue=x",
                                              "list rv=0 limit=0", "watch rv=6"));
}

// A server that was started anew does not know what was before its first version, and would answer
// a page of just that one.
TEST(ReflectorTest, PagesAreOfAVersionThatIsNotOlder) {
  Rig rig({.streamList = false, .pageSize = 2});
  rig.script.list({{podAt("a", "1")}, "5", "x"})
      .list({{}, "5"})
      .watch({.refused = thrown(ApiError(status::expired("too old")))})
      .list({{podAt("a", "7")}, "9", "y"})
      .list({{}, "9"})
      .watch({.error = thrown(ApiError(status::internalError("end")))});
  rig.round();
  rig.round();
  EXPECT_THAT(rig.script.calls(), ElementsAre("list rv=0 limit=2", "list rv= limit=2 continue=x",
                                              "watch rv=5", "list rv=5 limit=2 NotOlderThan",
                                              "list rv= limit=2 continue=y", "watch rv=9"));
}

// Whatever a server takes NotOlderThan for.
TEST(ReflectorTest, AVersionThatExpiresTwiceIsNotListedAgain) {
  Rig rig({.streamList = false, .pageSize = 2});
  const auto expired = thrown(ApiError(status::expired("too old")));
  rig.script.list({{podAt("a", "1")}, "5"})
      .watch({.refused = expired})
      .list({{podAt("a", "1")}, "5"})
      .watch({.events = {failure(status::expired("too old"))}})
      .list({{podAt("a", "8")}, "9"})
      .watch({.error = thrown(ApiError(status::internalError("end")))});
  for (int i = 0; i < 3; ++i) rig.round();
  EXPECT_THAT(rig.script.calls(),
              ElementsAre("list rv=0 limit=2", "watch rv=5", "list rv=5 limit=2 NotOlderThan",
                          "watch rv=5", "list rv= limit=2", "watch rv=9"));
}

TEST(ReflectorTest, AListThatBreaksOffChangesNothing) {
  Rig rig;
  rig.script.list({{podAt("a", "1")}, "5"})
      .watch({})
      .list({.pods = {podAt("b", "1")}, .error = thrown(TransportError("cut"))});
  rig.round();
  EXPECT_EQ(rig.round(), "cut");
  EXPECT_THAT(names(rig.store), ElementsAre("a@1"));
  EXPECT_EQ(rig.reflector->lastSyncResourceVersion(), "5");
}

TEST(ReflectorTest, AVeryShortWatchIsAFailure) {
  Rig rig;
  rig.script.list({{}, "5"}).watch({});
  EXPECT_THAT(rig.round(), HasSubstr("within a second"));
}

// One that ends at once after an event is no failure, but not repeated in a tight loop either.
TEST(ReflectorTest, AServerThatEndsWatchesIsNotAskedAllTheTime) {
  Rig rig;
  rig.script.list({{}, "5"});
  for (int i = 1; i < 9; ++i) {
    rig.script.watch({.events = {event(EventType::Added, "a", std::to_string(i))}});
  }
  rig.script.watch({.stays = true});
  rig.run(3);
  rig.end();
  EXPECT_THAT(rig.errors, IsEmpty());
  EXPECT_EQ(rig.script.calls().back(), "watch rv=8");
}

TEST(ReflectorTest, PausesGrowAndStartOver) {
  Rig rig;
  for (int i = 0; i < 8; ++i) {
    rig.script.list({.error = thrown(ApiError(status::serviceUnavailable("no")))});
  }
  rig.thread = std::jthread([&](const std::stop_token& stop) { rig.reflector->run(stop); });
  // Each wait is between its base and twice that.
  for (const auto base : {800ms, 1600ms, 3200ms, 6400ms, 12800ms, 25600ms, 30000ms}) {
    rig.clock.waitForWaiters(1);
    rig.clock.advance(base - 1ms);
    EXPECT_EQ(rig.clock.waiters(), 1U) << base.count();
    rig.clock.advance(base + 1ms);
  }
  rig.clock.waitForWaiters(1);
  rig.script.waitForEnd();
  EXPECT_EQ(rig.errors.size(), 8U);
  // Two minutes later all is forgotten.
  rig.clock.advance(60s);
  rig.clock.waitForWaiters(1);
  rig.end();
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
  EXPECT_THAT(names(rig.store), UnorderedElementsAre("a@4", "b@2", "d@8"));
  EXPECT_EQ(rig.reflector->lastSyncResourceVersion(), "8");
  rig.script.watch(
      {.events = {bookmark("9", true)}, .error = thrown(ApiError(status::internalError("end")))});
  rig.round();
  EXPECT_THAT(rig.script.calls(),
              ElementsAre("watch rv= initial NotOlderThan", "watch rv=8 initial NotOlderThan"));
  EXPECT_THAT(names(rig.store), IsEmpty());
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
  EXPECT_THAT(names(rig.store), ElementsAre("b@1"));
  rig.round();
  EXPECT_THAT(names(rig.store), ElementsAre("c@1"));
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
  EXPECT_THAT(names(rig.store), ElementsAre("a@8"));
}

TEST(ReflectorTest, AStreamedListIsTriedAgainWithoutAServer) {
  Rig rig(ReflectorOptions{});
  rig.script.watch({.refused = unreachable()})
      .watch({.refused = unreachable()})
      .watch({.events = {event(EventType::Added, "a", "8"), bookmark("9", true)}, .stays = true});
  rig.run(2);
  rig.end();
  EXPECT_THAT(names(rig.store), ElementsAre("a@8"));
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
    EXPECT_THAT(names(rig.store), UnorderedElementsAre("good@1", "bad@2"));
    // What is refused later stays what it was, and what never was there is left out.
    refuse = true;
    Pod worse = podAt("worse", "4");
    worse.spec->nodeName = "x";
    round("5", {podAt("good", "5"), podAt("bad", "3"), worse});
    EXPECT_THAT(names(rig.store), UnorderedElementsAre("good@5", "bad@2"));
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
  // What follows comes; a deletion is one, whatever the transform thinks of the last state.
  EXPECT_THAT(names(rig.store), UnorderedElementsAre("bad@1", "good@10"));
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
  EXPECT_THAT(rig.errors, ElementsAre("bad", HasSubstr("no exception")));
  EXPECT_THAT(names(rig.store), ElementsAre("a@1"));
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
