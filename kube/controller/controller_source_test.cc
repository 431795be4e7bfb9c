// Tests of the sources of controllers: those of the program's own, and those that come and go.

#include "kube/controller/controller_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "kube/base/internal/error_of_testing.h"
#include "kube/base/internal/logged_testing.h"
#include "kube/controller/controller_testing.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using corev1::ConfigMap;
using corev1::Secret;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Running;

class ControllerSourceTest : public testing::ControllerFixture {
 protected:
  ControllerSourceTest() {
    controller.beforeWork([this](const std::stop_token&) { notes.add("ready"); });
  }

  void noteKeys() {
    controller.reconcile([this](const ReconcileContext& context, const ObjectKey& key) {
      notes.add(key);
      notes.add(context.why());
    });
  }
  static ObjectKey key(int i) { return {"", String("key-" + std::to_string(i))}; }
  static std::vector<ObjectKey> ownKey(const Secret& secret) { return {keyOf(secret)}; }

  Controller<ConfigMap> controller{"maps", factory, fake()};
};

TEST_F(ControllerSourceTest, ReconcilesTheKeysOfAChannel) {
  const KeyChannel<> channel("webhook");
  controller.source(channel);
  noteKeys();
  const auto running = start(controller);
  EXPECT_TRUE(channel.push(key(1)));
  notes.waitFor("key-1");
  notes.waitFor("asked for (webhook)");
  EXPECT_TRUE(blockOn(channel.async().push(key(2))));
  notes.waitFor("key-2");
  EXPECT_EQ(channel.size(), 0U);
}

TEST_F(ControllerSourceTest, AFullChannelRefusesAndWaits) {
  const KeyChannel<> channel("webhook", {.capacity = 2});
  controller.source(channel);
  noteKeys();
  EXPECT_TRUE(channel.tryPush(key(1)));
  EXPECT_TRUE(channel.tryPush(key(2)));
  EXPECT_FALSE(channel.tryPush(key(3)));
  EXPECT_TRUE(channel.tryPush(key(1)));  // it is in the channel already
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(channel.push(key(3), stop.get_token()));
  std::jthread blocking([&] { EXPECT_TRUE(channel.push(key(3))); });
  std::jthread awaiting([&] { EXPECT_TRUE(blockOn(channel.async().push(key(4)))); });
  const auto running = start(controller);
  for (const int i : {1, 2, 3, 4}) notes.waitFor("key-" + std::to_string(i));
  EXPECT_THAT(errorOf<Error>([] { KeyChannel<>("none", {.capacity = 0}); }),
              HasSubstr("the capacity must not be 0"));
}

TEST_F(ControllerSourceTest, AKeyOfAChannelThatARunHasNotTakenIsForTheNext) {
  const KeyChannel<> channel("webhook");
  std::latch goOn(1);
  controller.source(channel).reconcile([&](const ObjectKey& key) {
    notes.add(key);
    if (key.name == "key-1") goOn.wait();
  });
  {
    const auto running = start(controller);
    channel.push(key(1));
    notes.waitFor("key-1");
    channel.push(key(2));
    running->requestStop();
    goOn.count_down();
    running->wait();
  }
  EXPECT_EQ(channel.size(), 1U);
  EXPECT_EQ(notes.count("key-2"), 0);
  const auto running = start(controller);
  notes.waitFor("key-2");
  EXPECT_EQ(notes.count("key-1"), 1);
}

TEST_F(ControllerSourceTest, NoPushOfManyThreadsIsLost) {
  const KeyChannel<> channel("webhook", {.capacity = 8});
  constexpr int kThreads = 4, kPushes = 500;
  std::atomic<int> left = kThreads * kPushes;
  controller.source(channel).workers(3).reconcile([&](const ObjectKey&) {
    if (--left == 0) notes.add("all");
  });
  const auto running = start(controller);
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kPushes; ++i) {
        const ObjectKey mine = key(thread * kPushes + i);
        EXPECT_TRUE(i % 2 == 0 ? channel.push(mine) : blockOn(channel.async().push(mine)));
      }
    });
  }
  notes.waitFor("all");
}

TEST_F(ControllerSourceTest, OneControllerAtATimeReadsAChannel) {
  const KeyChannel<> channel("webhook");
  controller.source(channel);
  noteKeys();
  const auto running = start(controller);
  notes.waitFor("ready");
  Controller<ConfigMap> other("others", factory, real());
  other.source(channel).reconcile([](const ObjectKey&) {});
  EXPECT_THAT(errorOf<Error>([&] { other.run(std::stop_source().get_token()); }),
              HasSubstr("channel \"webhook\": controller \"maps\" reads it already"));
}

TEST_F(ControllerSourceTest, KeysOfATimerAreReconciledAfterEachPeriod) {
  controller.every(1min, [] { return std::vector<ObjectKey>{{"", "all"}}; });
  noteKeys();
  const auto running = start(controller);
  notes.waitFor("ready");
  for (const int times : {1, 2, 3}) {
    clock.waitForWaiters(1);
    clock.advance(1min);
    notes.waitFor("all", times);
  }
  notes.waitFor("asked for (timer)", 3);
  EXPECT_THROW(controller.every(0s, {}), Error);
}

TEST_F(ControllerSourceTest, AFunctionFeedsTheQueueUntilTheStop) {
  std::atomic<bool> ended = false;
  controller.source("watcher", [&](const SourceQueue<>& queue, const std::stop_token& stop) {
    queue.add(key(1));
    clock.sleepUntil(Clock::noDeadline, stop);
    ended = true;
  });
  controller.source("coroutine", [&](SourceQueue<> queue) -> Task<> {
    queue.add(key(2));
    co_await sleepFor(1s, clock);
    queue.addAfter(key(3), 1s);
  });
  noteKeys();
  const auto running = start(controller);
  notes.waitFor("key-1");
  notes.waitFor("asked for (watcher)");
  notes.waitFor("key-2");
  clock.waitForWaiters(1);
  clock.advance(1s);
  clock.waitForWaiters(1);
  clock.advance(1s);
  notes.waitFor("key-3");
  running->finish();
  EXPECT_TRUE(ended);
}

TEST_F(ControllerSourceTest, AnExceptionOfASourceEndsRun) {
  controller.source("watcher", [&](const SourceQueue<>&, const std::stop_token&) {
    notes.waitFor("ready");
    throw std::runtime_error("the other system is gone");
  });
  noteKeys();
  EXPECT_THAT(errorOf<std::runtime_error>([&] { start(controller)->wait(); }),
              "the other system is gone");
}

TEST_F(ControllerSourceTest, AnExceptionOfACoroutineEndsRun) {
  controller.source("watcher", [&](SourceQueue<>) -> Task<> {
    co_await sleepFor(1s, clock);
    throw std::runtime_error("the other system is gone");
  });
  noteKeys();
  const auto running = start(controller);
  notes.waitFor("ready");
  clock.waitForWaiters(1);
  clock.advance(1s);
  EXPECT_THAT(errorOf<std::runtime_error>([&] { running->wait(); }), "the other system is gone");
}

TEST_F(ControllerSourceTest, TheFilterJudgesTheObjectsOfAllSources) {
  controller.watches<Secret>(ownKey).filter(
      allOf(labelsMatch("app=web"), [](const Change<ObjectView>& change) {
        const auto* secret = change.object().as<Secret>();
        return secret == nullptr || secret->type != "hidden";
      }));
  noteKeys();
  const auto running = start(controller);
  notes.waitFor("ready");
  const auto make = [&](auto object, std::string_view name, const auto& client) {
    object.metadata.name = std::string(name) + "-not";
    client.create(object);
    object.metadata.name = name;
    object.metadata.labels["app"] = "web";
    client.create(object);
  };
  make(ConfigMap(), "map", maps("book"));
  Secret hidden = secret("hidden");
  hidden.type = "hidden";
  hidden.metadata.labels["app"] = "web";
  secrets().create(hidden);
  make(Secret(), "secret", secrets());
  notes.waitFor("book/map");
  notes.waitFor("book/secret");
  EXPECT_EQ(notes.count("book/map-not"), 0);
  EXPECT_EQ(notes.count("book/secret-not"), 0);
  EXPECT_EQ(notes.count("book/hidden"), 0);
}

TEST_F(ControllerSourceTest, ASourceOfARunningControllerCountsOnceItHasSynced) {
  for (int i = 0; i < 50; ++i) secrets().create(secret("s-" + std::to_string(i)));
  std::atomic<bool> early = false;
  controller.reconcile([&](const ObjectKey& key) {
    if (factory.informerFor<Secret>().lister().list().size() < 50) early = true;
    notes.add(key);
  });
  const auto running = start(controller);
  notes.waitFor("ready");
  // The informer of Secrets does not exist yet, and starts now.
  const ControllerSource source = controller.addWatches<Secret>(ownKey);
  EXPECT_EQ(source.name(), "secrets");
  EXPECT_TRUE(source.waitForSync());
  for (int i = 0; i < 50; ++i) notes.waitFor("book/s-" + std::to_string(i));
  EXPECT_FALSE(early);
  secrets().create(secret("later"));
  notes.waitFor("book/later");
}

TEST_F(ControllerSourceTest, MetadataSuffice) {
  const RestMapping mapping{.gvr = {"", "v1", "configmaps"}, .gvk = {"", "v1", "ConfigMap"}};
  Controller<metav1::PartialObjectMetadata> names("names", factory, mapping, real());
  names.owns(factory.metadataOf<Secret>())
      .when(labelsMatch("app=web"))
      .reconcile([&](const ReconcileContext& context, const ObjectKey& key) {
        const auto found = names.lister().get(key);
        notes.add(found ? key.str() + ": " + context.why() : key.str() + " is gone");
      });
  const auto running = start(names);
  ConfigMap owner = map("owner");
  owner.metadata.labels["app"] = "web";
  owner = maps("book").create(owner);
  notes.waitFor("book/owner: PartialObjectMetadata book/owner added (configmaps)");
  Secret owned = secret("owned");
  setControllerReference(owner, owned);
  secrets().create(owned);
  notes.waitFor("book/owner: PartialObjectMetadata book/owned added (secrets)");
  maps("book").remove("owner");
  notes.waitFor("book/owner is gone");
}

TEST_F(ControllerSourceTest, AKindMayComeChangeAndGo) {
  const testing::Logged logged(LogLevel::Info);
  const auto waitForLog = [&](const std::string& line) {
    const auto deadline = std::chrono::steady_clock::now() + 1min;
    while (logged.text().find(line) == std::string::npos) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "missing: " << line;
      std::this_thread::yield();
    }
  };
  const DynamicClient dynamic(clients.rest());
  const auto create = [&](std::string_view name, std::string_view version) {
    const GroupVersionResource resource{"sample.example.com", version, "networks"};
    Unstructured object = testing::network(name);
    object.setGvk({"sample.example.com", version, "Network"});
    dynamic.resource(resource).inNamespace("book").create(object);
  };
  noteKeys();
  controller.watchesKind({"sample.example.com", "Network"},
                         [](const Unstructured& network) { return std::vector{keyOf(network)}; });
  const auto running = start(controller);
  notes.waitFor("ready");
  waitForLog(
      "the kind is not served yet: its source waits for a definition controller=maps "
      "kind=Network.sample.example.com");
  define(testing::kNetworks);
  create("first", "v1");
  notes.waitFor("book/first");
  notes.waitFor("Network book/first added (networks)");
  waitForLog("sample.example.com/v1, Resource=networks");

  using Definition = apiextensionsv1::CustomResourceDefinition;
  const ResourceClient<Definition> definitions(clients.rest());
  Definition definition = definitions.get("networks.sample.example.com");
  auto version = definition.spec->versions[0];
  version.name = "v2";
  version.storage = false;
  definition.spec->versions.push_back(version);
  definitions.update(definition);
  waitForLog("sample.example.com/v2, Resource=networks");
  create("second", "v2");
  notes.waitFor("book/second");

  definitions.remove("networks.sample.example.com");
  waitForLog("the kind is not served any more");
  notes.clear();
  define(testing::kNetworks);
  create("first", "v1");
  notes.waitFor("book/first");
  running->finish();
}

TEST_F(ControllerSourceTest, ADroppedSourceIsQuiet) {
  noteKeys();
  const ControllerSource source = controller.addWatches<Secret>(ownKey);
  const auto running = start(controller);
  secrets().create(secret("s-1"));
  notes.waitFor("book/s-1");
  EXPECT_EQ(factory.informerFor<Secret>().stats().handlers, 1U);
  source.drop();
  source.drop();
  EXPECT_EQ(factory.informerFor<Secret>().stats().handlers, 0U);
  EXPECT_FALSE(source.waitForSync());
  secrets().create(secret("s-2"));
  while (!factory.informerFor<Secret>().lister().inNamespace("book").get("s-2")) {
    std::this_thread::yield();
  }
  create("a");
  notes.waitFor("book/a");
  EXPECT_EQ(notes.count("book/s-2"), 0);
  running->finish();
  ControllerSource().drop();
}

TEST_F(ControllerSourceTest, ASourceMayDropItself) {
  auto source = std::make_shared<ControllerSource>();
  std::latch set(1);
  noteKeys();
  const auto running = start(controller);
  notes.waitFor("ready");
  *source = controller.addWatches<Secret>([source, &set](const Secret& secret) {
    set.wait();
    source->drop();
    return ownKey(secret);
  });
  EXPECT_TRUE(source->waitForSync());
  set.count_down();
  secrets().create(secret("s-1"));
  notes.waitFor("book/s-1");
  auto thread = std::make_shared<ControllerSource>();
  std::latch threadSet(1);
  *thread = controller.addSource(
      "thread", [thread, &threadSet](const SourceQueue<>& queue, const std::stop_token&) {
        threadSet.wait();
        thread->drop();
        queue.add(key(1));
      });
  threadSet.count_down();
  notes.waitFor("key-1");
}

TEST_F(ControllerSourceTest, AHandleMayOutliveTheController) {
  ControllerSource source;
  {
    Controller<ConfigMap> brief("brief", factory, real());
    brief.reconcile([](const ObjectKey&) {});
    source = brief.addWatches<Secret>(ownKey);
    EXPECT_FALSE(source.waitForSync());
    source = brief.addWatches<Secret>(ownKey);
  }
  EXPECT_FALSE(source.waitForSync());
  source.drop();
}

TEST_F(ControllerSourceTest, SourcesComeAndGoWhileChangesArrive) {
  std::atomic<bool> over = false;
  controller.workers(2).reconcile(
      [&](const ReconcileContext&, const ObjectKey& key) { notes.add(key); });
  const auto informer = factory.informerFor<Secret>();
  const auto running = start(controller);
  factory.waitForSync();
  std::jthread writer([&] {
    for (int i = 0; !over; ++i) {
      const std::string name = "s-" + std::to_string(i % 20);
      secrets().create(secret(name));
      secrets().remove(name);
    }
  });
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 3; ++thread) {
      threads.emplace_back([&, thread] {
        for (int i = 0; i < 100; ++i) {
          const ControllerSource source =
              thread == 0   ? controller.addWatches<Secret>(ownKey)
              : thread == 1 ? controller.addOwns<Secret>()
                            : controller.addSource("thread", [i](SourceQueue<> queue) -> Task<> {
                                queue.add(key(i));
                                co_return;
                              });
          if (i % 3 == 0) source.waitForSync();
          source.drop();
        }
      });
    }
  }
  over = true;
  writer.join();
  EXPECT_EQ(informer.stats().handlers, 0U);
  const ControllerSource source = controller.addWatches<Secret>(ownKey);
  EXPECT_TRUE(source.waitForSync());
  secrets().create(secret("last"));
  notes.waitFor("book/last");
}

TEST_F(ControllerSourceTest, RunsEndWhileSourcesComeAndGo) {
  controller.reconcile([&](const ObjectKey& key) { notes.add(key); });
  secrets().create(secret("s-1"));
  factory.informerFor<Secret>();
  factory.start();
  std::atomic<bool> over = false;
  std::jthread adder([&] {
    while (!over) {
      const ControllerSource source = controller.addWatches<Secret>(ownKey);
      const ControllerSource function = controller.addSource(
          "thread", [](const SourceQueue<>& queue, const std::stop_token&) { queue.add(key(1)); });
      source.waitForSync();
      source.drop();
      function.drop();
    }
  });
  for (int run = 0; run < 20; ++run) {
    const auto running = start(controller);
    notes.waitFor("ready", run + 1);
    running->finish();
  }
  over = true;
}

}  // namespace
}  // namespace kube
