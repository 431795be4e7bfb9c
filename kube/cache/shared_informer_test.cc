#include "kube/cache/shared_informer.h"
#include "kube/base/internal/error_of_testing.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <thread>

#include "kube/client/clientset.h"
#include "kube/client/core/v1.h"
#include "kube/client/dynamic_client.h"
#include "kube/testing/api_server.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using corev1::ConfigMap;
using kube::testing::ApiServer;
using kube::testing::WatchFault;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

ConfigMap configMapWith(std::string_view name, std::string_view value = "1") {
  ConfigMap result;
  result.metadata.name = name;
  result.data["value"] = value;
  return result;
}

// The calls of a handler: "+a", "~a 1 2", "-a", with ! for the initial list and ? for an unknown
// final state.
class Record {
 public:
  // The handler may be called after the record is destroyed.
  template <class T>
  EventHandler<T> handler() {
    using Object = std::shared_ptr<const T>;
    return {.onAdd =
                [notes = notes_](Object object, bool initial) {
                  notes->add("+" + keyOf(*object).name + (initial ? "!" : ""));
                },
            .onUpdate =
                [notes = notes_](Object before, Object after) {
                  notes->add("~" + keyOf(*after).name + " " + value(*before) + " " + value(*after));
                },
            .onDelete =
                [notes = notes_](DeletedObject<T> last) {
                  notes->add("-" + keyOf(*last).name + (last.finalStateUnknown ? "?" : ""));
                }};
  }
  // Waits until there are that many calls.
  std::vector<std::string> wait(std::size_t n) {
    std::unique_lock lock(notes_->mutex);
    notes_->changed.wait_for(lock, 30s, [&] { return notes_->seen.size() >= n; });
    return notes_->seen;
  }
  bool waitFor(const std::string& text) {
    std::unique_lock lock(notes_->mutex);
    return notes_->changed.wait_for(lock, 30s, [&] {
      return std::find(notes_->seen.begin(), notes_->seen.end(), text) != notes_->seen.end();
    });
  }
  std::vector<std::string> seen() { return wait(0); }

 private:
  static std::string value(const ConfigMap& object) { return object.data["value"].str(); }
  template <class T>
  static std::string value(const T&) {
    return "";
  }
  struct Notes {
    void add(std::string text) {
      const std::lock_guard lock(mutex);
      seen.push_back(std::move(text));
      changed.notify_all();
    }
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::string> seen;
  };
  std::shared_ptr<Notes> notes_ = std::make_shared<Notes>();
};

// A server with some config maps, and an informer of them.
struct World {
  ApiServer server;
  Config config = unlimited(server.config());
  Clientset clients{config};
  ResourceClient<ConfigMap> maps = clients.coreV1().configMaps("default");
  std::unique_ptr<SharedInformer<ConfigMap>> informer;
  std::jthread runner;

  explicit World(ReflectorOptions options = {}) {
    options.backoff = {.initial = 10ms, .factor = 2, .cap = 100ms, .jitter = 1};
    options.reconnect = options.backoff;
    options.onError = [](const std::exception&) {};
    informer = std::make_unique<SharedInformer<ConfigMap>>(ListWatch<ConfigMap>::fromClient(maps),
                                                           std::move(options));
  }
  static Config unlimited(Config config) {
    config.qps = -1;
    return config;
  }
  void start() {
    runner = std::jthread([this](const std::stop_token& stop) { informer->run(stop); });
    informer->waitForSync();
  }
  void stop() {
    runner.request_stop();
    runner.join();
  }
  // The contents of the cache, and of the server.
  bool agree() {
    std::map<std::string, std::string> cached, real;
    for (const auto& one : informer->store().list()) {
      cached[one->metadata.name.str()] = one->metadata.resourceVersion.str();
    }
    for (const auto& one : maps.list().items) {
      real[one.metadata.name.str()] = one.metadata.resourceVersion.str();
    }
    return cached == real;
  }
};

TEST(SharedInformerTest, CachesAndTells) {
  World world;
  world.maps.create(configMapWith("a"));
  world.maps.create(configMapWith("b"));
  Record record;
  const auto registration = world.informer->addHandler(record.handler<ConfigMap>());
  EXPECT_FALSE(world.informer->hasSynced());
  EXPECT_FALSE(registration.hasSynced());
  EXPECT_FALSE(world.informer->hasStarted());
  world.start();
  EXPECT_TRUE(world.informer->hasStarted());
  EXPECT_TRUE(world.informer->hasSynced());
  EXPECT_TRUE(registration.waitForSync());
  EXPECT_TRUE(registration.hasSynced());
  EXPECT_THAT(record.seen(), UnorderedElementsAre("+a!", "+b!"));
  const auto lister = world.informer->lister();
  EXPECT_EQ(lister.list().size(), 2U);
  EXPECT_EQ(lister.inNamespace("default").get("a")->data["value"], "1");

  world.maps.create(configMapWith("c"));
  world.maps.update(configMapWith("a", "2"));
  world.maps.remove("b");
  const auto seen = record.wait(5);
  EXPECT_NE(world.informer->lastSyncResourceVersion(), "");  // set once the store has the list
  EXPECT_THAT(std::vector(seen.begin() + 2, seen.end()), ElementsAre("+c", "~a 1 2", "-b"));
  EXPECT_TRUE(world.agree());
  EXPECT_EQ(lister.inNamespace("default").get("b"), nullptr);
  world.stop();
  EXPECT_TRUE(world.informer->isStopped());
}

TEST(SharedInformerTest, WorksWithPagedListsToo) {
  World world({.streamList = false, .pageSize = 3});
  for (int i = 0; i < 10; ++i) world.maps.create(configMapWith("m" + std::to_string(i)));
  world.start();
  EXPECT_EQ(world.informer->store().size(), 10U);
  EXPECT_TRUE(world.agree());
}

TEST(SharedInformerTest, SharesEqualPartsOfAllObjects) {
  for (const bool streamed : {true, false}) {
    World world({.streamList = streamed});
    const std::string text(200, 'x');
    world.maps.create(configMapWith("a", text));
    world.maps.create(configMapWith("b", text));
    world.start();
    Record record;
    world.informer->addHandler(record.handler<ConfigMap>());
    world.maps.create(configMapWith("c", text));
    record.wait(3);
    const auto lister = world.informer->lister().inNamespace("default");
    const auto& one = lister.get("a")->data["value"];
    EXPECT_TRUE(one.sharesWith(lister.get("b")->data["value"]));
    EXPECT_TRUE(one.sharesWith(lister.get("c")->data["value"]));
  }
}

TEST(SharedInformerTest, IndexesBeforeAndWhileItRuns) {
  World world;
  world.informer->addIndexer("value",
                             [](const ConfigMap& map) { return Strings{map.data["value"]}; });
  world.maps.create(configMapWith("a", "x"));
  world.start();
  EXPECT_EQ(world.informer->store().byIndex("value", "x").size(), 1U);
  world.informer->addIndexer("name",
                             [](const ConfigMap& map) { return Strings{map.metadata.name}; });
  EXPECT_EQ(world.informer->store().byIndex("name", "a").size(), 1U);
  EXPECT_THROW(world.informer->addIndexer("name", namespaceIndex<ConfigMap>), Error);
  world.stop();
  EXPECT_THROW(world.informer->addIndexer("late", namespaceIndex<ConfigMap>), Error);
}

TEST(SharedInformerTest, ALateHandlerIsToldOfEverything) {
  World world;
  world.maps.create(configMapWith("a"));
  world.maps.create(configMapWith("b"));
  world.start();
  Record record;
  const auto registration = world.informer->addHandler(record.handler<ConfigMap>());
  EXPECT_TRUE(registration.waitForSync());
  EXPECT_THAT(record.seen(), UnorderedElementsAre("+a!", "+b!"));
  world.maps.remove("a");
  EXPECT_EQ(record.wait(3)[2], "-a");
}

TEST(SharedInformerTest, ASlowHandlerDelaysNobody) {
  World world;
  std::mutex gate;
  gate.lock();
  Record quick, slow;
  EventHandler<ConfigMap> waits;
  waits.onAdd = [&](std::shared_ptr<const ConfigMap> map) {
    const std::lock_guard lock(gate);
    slow.handler<ConfigMap>().onAdd(map, false);
  };
  const auto registration = world.informer->addHandler(waits, {.name = "slow"});
  world.informer->addHandler(quick.handler<ConfigMap>());
  for (int i = 0; i < 20; ++i) world.maps.create(configMapWith(std::to_string(i)));
  world.start();
  world.maps.create(configMapWith("late"));
  EXPECT_EQ(quick.wait(21).size(), 21U);
  EXPECT_THAT(slow.seen(), IsEmpty());
  EXPECT_FALSE(registration.hasSynced());
  EXPECT_GT(registration.pending(), 10U);
  gate.unlock();
  EXPECT_TRUE(registration.waitForSync());
  std::vector<std::string> expected = quick.seen();
  for (std::string& text : expected) std::erase(text, '!');
  EXPECT_EQ(slow.wait(21), expected);  // in the same order
}

TEST(SharedInformerTest, ARemovedHandlerIsCalledNoMore) {
  World world;
  Record kept, removed;
  world.informer->addHandler(kept.handler<ConfigMap>());
  const auto registration = world.informer->addHandler(removed.handler<ConfigMap>());
  world.maps.create(configMapWith("a"));
  world.start();
  removed.wait(1);
  registration.remove();
  registration.remove();
  world.maps.create(configMapWith("b"));
  kept.wait(2);
  EXPECT_THAT(removed.seen(), ElementsAre("+a!"));
}

TEST(SharedInformerTest, AHandlerMayRemoveItself) {
  World world;
  Record kept;
  std::atomic<int> calls = 0;
  std::optional<HandlerRegistration> registration;
  std::mutex set;
  {
    const std::lock_guard lock(set);
    EventHandler<ConfigMap> once;
    once.onAdd = [&](auto) {
      ++calls;
      const std::lock_guard locked(set);
      registration->remove();
    };
    registration = world.informer->addHandler(std::move(once));
  }
  world.informer->addHandler(kept.handler<ConfigMap>());
  for (int i = 0; i < 5; ++i) world.maps.create(configMapWith(std::to_string(i)));
  world.start();
  kept.wait(5);
  world.stop();
  EXPECT_EQ(calls, 1);
}

TEST(SharedInformerTest, WhatAHandlerThrowsIsCountedAndTheNextFollows) {
  World world;
  const LogSink before = setLogSink([](const LogRecord&) {});
  std::atomic<int> calls = 0;
  EventHandler<ConfigMap> throws;
  throws.onAdd = [&](auto map) {
    ++calls;
    if (map->metadata.name == "b") throw 7;
    throw std::runtime_error("no");
  };
  const auto registration = world.informer->addHandler(throws, {.name = "bad"});
  world.maps.create(configMapWith("a"));
  world.maps.create(configMapWith("b"));
  world.start();
  EXPECT_TRUE(registration.waitForSync());
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(registration.failures(), 2U);
  EXPECT_EQ(world.informer->stats().handlerFailures, 2U);
  registration.remove();
  EXPECT_EQ(world.informer->stats().handlerFailures, 2U);
  setLogSink(before);
}

TEST(SharedInformerTest, ATransformComesBeforeCacheAndHandlers) {
  World world;
  world.informer->setTransform([](ConfigMap& map) { map.data.clear(); });
  world.maps.create(configMapWith("a"));
  Record record;
  world.informer->addHandler(record.handler<ConfigMap>());
  world.start();
  world.maps.update(configMapWith("a", "2"));
  EXPECT_EQ(record.wait(2)[1], "~a  ");
  EXPECT_TRUE(world.informer->lister().inNamespace("default").get("a")->data.empty());
  EXPECT_THROW(world.informer->setTransform({}), Error);
  EXPECT_THROW(world.informer->setWatchErrorHandler({}), Error);
}

TEST(SharedInformerTest, RunsOnceAndThenIsOver) {
  World world;
  world.start();
  EXPECT_THAT(errorOf<Error>([&] { world.informer->run({}); }), HasSubstr("running already"));
  EXPECT_FALSE(world.informer->isStopped());
  world.stop();
  EXPECT_THROW(world.informer->run({}), Error);
  EXPECT_THROW(world.informer->addHandler({}), Error);
}

TEST(SharedInformerTest, ARegistrationMayOutliveTheInformer) {
  std::optional<HandlerRegistration> registration;
  {
    World world;
    registration = world.informer->addHandler({});
    world.start();
    EXPECT_TRUE(registration->waitForSync());
  }
  EXPECT_TRUE(registration->hasSynced());
  registration->remove();
}

TEST(SharedInformerTest, WaitingForASyncEndsWithAStop) {
  World world;
  const auto registration = world.informer->addHandler({});
  std::stop_source stop;
  std::thread waits(
      [&] { EXPECT_FALSE(waitForSync(stop.get_token(), *world.informer, registration)); });
  stop.request_stop();
  waits.join();
}

TEST(SharedInformerTest, AFilteredHandlerSeesObjectsComeAndGo) {
  World world;
  Record record;
  world.informer->addHandler(filtered<ConfigMap>(
      [](const ConfigMap& map) { return map.data["value"] == "in"; }, record.handler<ConfigMap>()));
  Record all;
  world.informer->addHandler(all.handler<ConfigMap>());
  world.maps.create(configMapWith("a", "in"));
  world.maps.create(configMapWith("b", "out"));
  world.start();
  world.maps.update(configMapWith("b", "in"));
  ConfigMap labeled = configMapWith("b", "in");
  labeled.metadata.labels["x"] = "y";
  world.maps.update(labeled);
  world.maps.update(configMapWith("b", "out"));
  world.maps.update(configMapWith("b", "still out"));
  world.maps.remove("b");
  world.maps.remove("a");
  EXPECT_TRUE(record.waitFor("-a"));
  EXPECT_THAT(record.seen(), ElementsAre("+a!", "+b", "~b in in", "-b", "-a"));
}

TEST(SharedInformerTest, WhatIsKnownFromEarlierIsToldOnlyIfItChanged) {
  World world;
  const ConfigMap same = world.maps.create(configMapWith("same"));
  const ConfigMap changed = world.maps.create(configMapWith("changed"));
  world.maps.update(configMapWith("changed", "2"));
  ConfigMap gone = configMapWith("gone");
  gone.metadata.namespace_ = "default";
  world.maps.create(configMapWith("new"));
  Record record;
  const auto informer = newIndexerInformer<ConfigMap>(
      ListWatch<ConfigMap>::fromClient(world.maps), record.handler<ConfigMap>(), {}, {},
      {std::make_shared<const ConfigMap>(same), std::make_shared<const ConfigMap>(changed),
       std::make_shared<const ConfigMap>(gone)});
  EXPECT_EQ(informer.store().size(), 3U);
  const std::jthread runner([&](const std::stop_token& stop) { informer.run(stop); });
  ASSERT_TRUE(informer.waitForSync());
  EXPECT_TRUE(record.waitFor("-gone?"));
  EXPECT_TRUE(record.waitFor("~changed 1 2"));
  EXPECT_TRUE(record.waitFor("+new!"));
  EXPECT_EQ(informer.store().size(), 3U);
  EXPECT_EQ(informer.lister().inNamespace("default").get("gone"), nullptr);
}

// ---- Things go wrong.

TEST(SharedInformerTest, FindsWhatChangedWhileItWasAway) {
  World world;
  for (const char* name : {"same", "changed", "gone"}) world.maps.create(configMapWith(name));
  Record record;
  world.informer->addHandler(record.handler<ConfigMap>());
  world.start();
  record.wait(3);
  // No watch and no list succeeds until everything has changed and the old version is no longer
  // available.
  world.server.inject({.verb = "watch", .resource = "configmaps", .status = 500});
  world.server.inject({.verb = "list", .resource = "configmaps", .status = 500});
  world.server.failWatches(WatchFault::Cut, "configmaps");
  const ResourceClient<corev1::Secret> others = world.clients.coreV1().secrets("default");
  world.maps.update(configMapWith("changed", "2"));
  world.maps.remove("gone");
  world.maps.create(configMapWith("new"));
  world.server.expireRevisions();
  world.server.forgetAll();
  EXPECT_TRUE(record.waitFor("-gone?"));
  EXPECT_TRUE(record.waitFor("~changed 1 2"));
  EXPECT_TRUE(record.waitFor("+new"));
  EXPECT_TRUE(world.agree());
}

TEST(SharedInformerTest, SurvivesEveryFaultOfAWatch) {
  World world;
  Record record;
  world.informer->addHandler(record.handler<ConfigMap>());
  world.start();
  int n = 0;
  for (const WatchFault fault : {WatchFault::End, WatchFault::Cut, WatchFault::CutInFrame,
                                 WatchFault::Garbage, WatchFault::Expire}) {
    const std::string before = "before" + std::to_string(n);
    const std::string after = "after" + std::to_string(n++);
    world.maps.create(configMapWith(before));
    EXPECT_TRUE(record.waitFor("+" + before));
    world.server.failWatches(fault, "configmaps");
    world.maps.create(configMapWith(after));
    EXPECT_TRUE(record.waitFor("+" + after)) << n;
  }
  EXPECT_TRUE(world.agree());
}

TEST(SharedInformerTest, SurvivesARestartWithAnotherHistory) {
  World world;
  world.maps.create(configMapWith("a"));
  Record record;
  world.informer->addHandler(record.handler<ConfigMap>());
  world.start();
  world.server.restart(true);
  Clientset(world.config).coreV1().configMaps("default").create(configMapWith("b"));
  EXPECT_TRUE(record.waitFor("+b"));
  EXPECT_TRUE(world.agree());
}

TEST(SharedInformerTest, SyncsThroughAnUnreliableServer) {
  for (const bool streamed : {true, false}) {
    World world({.streamList = streamed});
    for (int i = 0; i < 50; ++i) world.maps.create(configMapWith(std::to_string(i)));
    const char* verb = streamed ? "watch" : "list";
    world.server.inject({.verb = verb, .resource = "configmaps", .times = 2, .status = 503});
    world.server.inject({.verb = verb, .resource = "configmaps", .times = 2, .cutInBody = true});
    world.server.inject({.verb = verb, .resource = "configmaps", .times = 1, .garbage = true});
    world.start();
    EXPECT_EQ(world.informer->store().size(), 50U);
    EXPECT_GE(world.informer->stats().source.errors, streamed ? 0U : 3U);
    world.server.forgetAll();
    EXPECT_TRUE(world.agree());
  }
}

TEST(SharedInformerTest, ErrorsAreTold) {
  World world;
  std::mutex mutex;
  std::vector<int> codes;
  world.informer->setWatchErrorHandler([&](const std::exception& error) {
    const std::lock_guard lock(mutex);
    if (const auto* api = dynamic_cast<const ApiError*>(&error)) codes.push_back(api->code());
  });
  world.server.inject({.verb = "list", .resource = "configmaps", .times = 1, .status = 403});
  world.server.inject({.verb = "watch", .resource = "configmaps", .times = 1, .status = 403});
  world.start();
  const std::lock_guard lock(mutex);
  EXPECT_THAT(codes, ElementsAre(403));
}

// ---- Other kinds of objects.

TEST(SharedInformerTest, WorksWithoutStructs) {
  World world;
  world.maps.create(configMapWith("a"));
  const GroupVersionResource gvr{"", "v1", "configmaps"};
  for (const bool streamed : {true, false}) {
    SharedInformer<Unstructured> whole(
        ListWatch<Unstructured>::fromClient(
            DynamicClient(world.config).resource(gvr).inNamespace("default")),
        {.streamList = streamed});
    SharedInformer<metav1::PartialObjectMetadata> partial(
        ListWatch<metav1::PartialObjectMetadata>::fromClient(
            MetadataClient(world.config).resource(gvr).inNamespace("default")),
        {.streamList = streamed});
    std::jthread one([&](const std::stop_token& stop) { whole.run(stop); });
    std::jthread two([&](const std::stop_token& stop) { partial.run(stop); });
    EXPECT_TRUE(waitForSync({}, whole, partial));
    const auto object = whole.lister().inNamespace("default").get("a");
    ASSERT_NE(object, nullptr);
    EXPECT_EQ(object->nestedString("data", "value"), "1");
    EXPECT_EQ(object->kind(), "ConfigMap");
    EXPECT_NE(partial.lister().inNamespace("default").get("a"), nullptr);
  }
}

TEST(SharedInformerTest, SelectorsNarrowIt) {
  World world;
  ConfigMap labeled = configMapWith("a");
  labeled.metadata.labels["app"] = "web";
  world.maps.create(labeled);
  world.maps.create(configMapWith("b"));
  SharedInformer<ConfigMap> some(
      ListWatch<ConfigMap>::fromClient(world.maps, {.labelSelector = "app=web"}));
  std::jthread runner([&](const std::stop_token& stop) { some.run(stop); });
  EXPECT_TRUE(some.waitForSync());
  EXPECT_EQ(some.store().size(), 1U);
}

// ---- Resyncs, with a source that never changes and a clock that the test drives.

struct Still {
  FakeClock clock;
  std::unique_ptr<SharedInformer<ConfigMap>> informer;
  std::jthread runner;

  explicit Still(Clock::Duration resync) {
    ListWatch<ConfigMap> source{
        .list =
            [](const metav1::ListOptions&, const std::function<void(ConfigMap &&)>& use,
               const std::stop_token&, Pool&) {
              ConfigMap map = configMapWith("a");
              map.metadata.resourceVersion = "1";
              use(std::move(map));
              return metav1::ListMeta{.resourceVersion = "1"};
            },
        .watch = [](const metav1::ListOptions&, const std::stop_token& stop,
                    Pool&) -> EventSource<ConfigMap> {
          return [stop]() -> std::optional<WatchEvent<ConfigMap>> {
            std::mutex mutex;
            std::unique_lock lock(mutex);
            std::condition_variable_any never;
            never.wait(lock, stop, [] { return false; });
            return std::nullopt;
          };
        }};
    informer = std::make_unique<SharedInformer<ConfigMap>>(
        std::move(source),
        ReflectorOptions{.resync = resync, .streamList = false, .clock = &clock});
  }
  void start() {
    runner = std::jthread([this](const std::stop_token& stop) { informer->run(stop); });
    informer->waitForSync();
    // Resyncs start when the list has been noted, which is a moment later.
    while (informer->lastSyncResourceVersion().empty()) std::this_thread::yield();
  }
  void advance(Clock::Duration time) {
    clock.waitForWaiters(1);
    clock.advance(time);
    clock.waitForWaiters(1);
  }
};

TEST(SharedInformerTest, ResyncsThoseWhoAreDue) {
  Still still(30s);
  Record often, seldom, never;
  still.informer->addHandler(often.handler<ConfigMap>(), {.resync = 10s});
  still.informer->addHandler(seldom.handler<ConfigMap>(), {.resync = 20s});
  still.informer->addHandler(never.handler<ConfigMap>(), {.resync = 0s});
  still.start();
  often.wait(1);
  still.advance(10s);
  EXPECT_THAT(often.wait(2), ElementsAre("+a!", "~a 1 1"));
  still.advance(10s);
  EXPECT_THAT(often.wait(3), ElementsAre("+a!", "~a 1 1", "~a 1 1"));
  EXPECT_THAT(seldom.wait(2), ElementsAre("+a!", "~a 1 1"));
  EXPECT_THAT(never.wait(1), ElementsAre("+a!"));
}

TEST(SharedInformerTest, AnInformerWithoutResyncsHasNone) {
  const LogSink before = setLogSink([](const LogRecord&) {});
  Still still(0s);
  Record record;
  still.informer->addHandler(record.handler<ConfigMap>(), {.resync = 10s});
  setLogSink(before);
  still.start();
  record.wait(1);
  EXPECT_EQ(still.clock.waiters(), 0U);
}

TEST(SharedInformerTest, ALateHandlerCannotMakeResyncsMoreFrequent) {
  Still still(30s);
  Record late;
  still.start();
  still.informer->addHandler(late.handler<ConfigMap>(), {.resync = 10s});
  late.wait(1);
  still.advance(30s);
  EXPECT_THAT(late.wait(2), ElementsAre("+a!", "~a 1 1"));
}

// ---- Many at once.

TEST(SharedInformerTest, ManyHandlersChangesAndReaders) {
  World world;
  std::vector<std::unique_ptr<Record>> records;
  for (int i = 0; i < 5; ++i) {
    records.push_back(std::make_unique<Record>());
    world.informer->addHandler(records.back()->handler<ConfigMap>());
  }
  world.start();
  std::atomic<bool> done = false;
  std::thread reader([&] {
    const auto lister = world.informer->lister();
    while (!done) {
      for (const auto& one : lister.inNamespace("default").list()) {
        EXPECT_FALSE(one->metadata.name.empty());
      }
    }
  });
  std::thread joins([&] {
    for (int i = 0; i < 10; ++i) {
      Record record;
      const auto registration = world.informer->addHandler(record.handler<ConfigMap>());
      EXPECT_TRUE(registration.waitForSync());
      registration.remove();
    }
  });
  for (int i = 0; i < 30; ++i) {
    const std::string name = std::to_string(i % 7);
    if (world.maps.find(name)) {
      i % 3 == 0 ? world.maps.remove(name)
                 : static_cast<void>(world.maps.update(configMapWith(name, std::to_string(i))));
    } else {
      world.maps.create(configMapWith(name));
    }
  }
  world.maps.create(configMapWith("last"));
  for (const auto& record : records) EXPECT_TRUE(record->waitFor("+last"));
  done = true;
  reader.join();
  joins.join();
  EXPECT_TRUE(world.agree());
  for (const auto& record : records) EXPECT_EQ(record->seen(), records[0]->seen());
}

}  // namespace
}  // namespace kube
