#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "kube/base/internal/error_of_testing.h"
#include "kube/base/internal/logged_testing.h"
#include "kube/base/internal/no_threads_testing.h"
#include "kube/cache/apps/v1.h"
#include "kube/cache/core/v1.h"
#include "kube/cache/resource_informer_factory.h"
#include "kube/cache/shared_informer_factory.h"
#include "kube/client/core/v1.h"
#include "kube/testing/api_server.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using corev1::ConfigMap;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::Logged;
using ::testing::Not;

ConfigMap configMap(std::string_view name, std::string_view tier = "none") {
  ConfigMap result;
  result.metadata.name = name;
  result.metadata.labels["tier"] = tier;
  return result;
}

struct FactoryTest : ::testing::Test {
  testing::ApiServer server;
  Clientset clients{server.config()};

  void create(const String& namespaceName, const ConfigMap& map) {
    if (!clients.coreV1().namespaces().find(namespaceName)) {
      corev1::Namespace one;
      one.metadata.name = namespaceName;
      clients.coreV1().namespaces().create(one);
    }
    clients.coreV1().configMaps(namespaceName).create(map);
  }
};

TEST_F(FactoryTest, OneInformerPerKindHoweverItIsAskedFor) {
  create("book", configMap("a"));
  SharedInformerFactory factory(clients);
  const auto one = factory.coreV1().configMaps();
  const auto other = factory.informerFor<ConfigMap>();
  EXPECT_EQ(&one.store(), &other.store());
  EXPECT_EQ(factory.describe(), one.describe() + "\n");
  factory.start();
  EXPECT_TRUE(factory.waitForSync());
  EXPECT_NE(one.lister().inNamespace("book").get("a"), nullptr);
}

TEST_F(FactoryTest, WhatIsAskedForLaterNeedsAnotherStart) {
  SharedInformerFactory factory(clients);
  const auto maps = factory.coreV1().configMaps();
  factory.start();
  const auto pods = factory.coreV1().pods();
  EXPECT_TRUE(maps.waitForSync());
  EXPECT_FALSE(pods.hasStarted());
  EXPECT_THAT(errorOf<Error>([&] { factory.waitForSync(); }),
              AllOf(HasSubstr("informer of pods"), HasSubstr("call start(); again")));
  EXPECT_THAT(
      errorOf<Error>([&] { pods.waitForSync(); }),
      AllOf(HasSubstr("informer of pods"), HasSubstr("call start() of its factory; again")));
  factory.start();
  factory.start();
  EXPECT_TRUE(factory.waitForSync());
  EXPECT_TRUE(pods.hasSynced());
  EXPECT_THAT(factory.describe(), HasSubstr("configmaps: synced at version "));
  factory.shutdown();
  EXPECT_TRUE(pods.isStopped());
  EXPECT_TRUE(maps.isStopped());
  EXPECT_THAT(factory.describe(), HasSubstr("pods: stopped, 0 objects; 1 list, "));
  const auto secrets = factory.coreV1().secrets();
  factory.start();
  EXPECT_FALSE(secrets.hasStarted());
}

TEST_F(FactoryTest, VersionsOfAKindAreDifferentKinds) {
  SharedInformerFactory factory(clients);
  factory.appsV1().deployments();
  factory.appsV1().statefulSets();
  factory.coreV1().pods();
  const std::string text = factory.describe();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
}

TEST_F(FactoryTest, ANamespaceAndSelectorsNarrowItDown) {
  create("book", configMap("a", "web"));
  create("book", configMap("b"));
  create("films", configMap("c", "web"));
  SharedInformerFactory factory(
      clients, {.namespace_ = "book", .tweakListOptions = [](metav1::ListOptions& options) {
                  options.labelSelector = "tier=web";
                }});
  const auto maps = factory.coreV1().configMaps();
  const auto namespaces = factory.coreV1().namespaces();  // cluster-scoped
  factory.start();
  ASSERT_TRUE(factory.waitForSync());
  EXPECT_EQ(maps.store().size(), 1U);
  EXPECT_NE(maps.lister().inNamespace("book").get("a"), nullptr);
  EXPECT_TRUE(namespaces.hasSynced());
}

TEST_F(FactoryTest, AKindMayHaveAResyncOfItsOwn) {
  create("book", configMap("a"));
  FakeClock clock;
  SharedInformerFactory factory(clients, {.resync = 10h, .informer = {.clock = &clock}});
  factory.setResync<ConfigMap>(10s);
  std::atomic<bool> again = false;
  factory.coreV1().configMaps().addHandler({.onUpdate = [&](auto before, auto after) {
    EXPECT_EQ(before->metadata.resourceVersion, after->metadata.resourceVersion);
    again = true;
  }});
  factory.start();
  ASSERT_TRUE(factory.waitForSync());
  // The version is set when the list has been processed, a moment later.
  while (!again) {
    clock.advance(10s);
    std::this_thread::yield();
  }
}

TEST_F(FactoryTest, AStopEndsEverything) {
  SharedInformerFactory factory(clients);
  const auto maps = factory.coreV1().configMaps();
  std::stop_source stop;
  factory.start(stop.get_token());
  ASSERT_TRUE(factory.waitForSync());
  stop.request_stop();
  factory.shutdown();
  EXPECT_TRUE(maps.isStopped());
}

TEST_F(FactoryTest, OneThatWasNeverStartedDoesNotLookSynced) {
  SharedInformerFactory factory(clients);
  EXPECT_TRUE(factory.waitForSync());  // there is nothing to wait for
  const auto maps = factory.coreV1().configMaps();
  EXPECT_THAT(errorOf<Error>([&] { factory.waitForSync(); }), HasSubstr("configmaps"));
  EXPECT_THAT(errorOf<Error>([&] { maps.waitForSync(); }), HasSubstr("configmaps"));
  EXPECT_THAT(factory.describe(), HasSubstr("configmaps: not started"));
}

// A controller waits by a handler's registration, and may do so before start(): that is only
// logged.
TEST_F(FactoryTest, AHandlerWaitsForAnInformerThatIsYetToBeStarted) {
  FakeClock clock;
  SharedInformerFactory factory(clients, {.informer = {.clock = &clock}});
  const auto maps = factory.coreV1().configMaps();
  const auto handler = maps.addHandler({});
  Logged logged;
  std::thread waits([&] { EXPECT_TRUE(handler.waitForSync()); });
  clock.waitForWaiters(1);
  clock.advance(5s);
  EXPECT_THAT(logged.text(), AllOf(HasSubstr("nothing runs"), HasSubstr("resource=configmaps")));
  factory.start();
  waits.join();
}

TEST_F(FactoryTest, AShutdownThatWaitsSaysForWhichHandler) {
  create("book", configMap("a"));
  FakeClock clock;
  SharedInformerFactory factory(clients, {.informer = {.clock = &clock}});
  const auto maps = factory.coreV1().configMaps();
  std::latch begun(1), mayEnd(1);
  maps.addHandler({.onAdd =
                       [&](auto) {
                         begun.count_down();
                         mayEnd.wait();
                       }},
                  {.name = "auditor"});
  factory.start();
  begun.wait();
  clock.advance(12s);
  EXPECT_THAT(factory.describe(),
              HasSubstr("1 handler, handler \"auditor\" is busy for 12 s with book/a"));
  Logged logged;
  const std::size_t waiters = clock.waiters();
  std::atomic<int> ended = 0;
  std::jthread first([&] {
    factory.shutdown();
    ++ended;
  });
  clock.waitForWaiters(waiters + 1);
  clock.advance(5s);
  EXPECT_THAT(logged.text(), AllOf(HasSubstr("handler \"auditor\" is busy for 17 s with book/a"),
                                   HasSubstr("resource=configmaps")));
  // A second call of shutdown() waits for the same handler, too.
  std::jthread second([&] {
    factory.shutdown();
    ++ended;
  });
  EXPECT_EQ(ended, 0);
  mayEnd.count_down();
  first.join();
  second.join();
  EXPECT_EQ(ended, 2);
  EXPECT_TRUE(maps.isStopped());
}

TEST_F(FactoryTest, AHandlerMustNotShutItsFactoryDown) {
  create("book", configMap("a"));
  for (const bool quick : {false, true}) {
    SharedInformerFactory factory(clients);
    std::promise<std::string> error;
    factory.coreV1().configMaps().addHandler(
        {.onAdd = [&](auto) { error.set_value(errorOf<Error>([&] { factory.shutdown(); })); }},
        {.quick = quick});
    factory.start();
    EXPECT_THAT(error.get_future().get(),
                AllOf(HasSubstr("handler of configmaps"), HasSubstr("request a stop")));
  }
}

TEST_F(FactoryTest, AHandlerMayDestroyItsFactory) {
  create("book", configMap("a"));
  for (const bool quick : {false, true}) {
    auto factory = std::make_unique<SharedInformerFactory>(clients);
    std::promise<void> destroyed;
    const auto maps = factory->coreV1().configMaps();
    const auto others = factory->coreV1().secrets();
    maps.addHandler({.onAdd =
                         [&](auto) {
                           factory.reset();
                           // A quick handler is called where the other informers run, too.
                           EXPECT_TRUE(quick || others.isStopped());
                           destroyed.set_value();
                         }},
                    {.quick = quick});
    factory->start();
    destroyed.get_future().wait();
    // The handler's own informer ends after the handler.
    while (!maps.isStopped() || !others.isStopped()) std::this_thread::yield();
  }
}

// The second informer cannot begin before the handler has returned.
TEST_F(FactoryTest, AQuickHandlerMayStartAnInformerAndDestroyTheFactory) {
  create("book", configMap("a"));
  auto factory = std::make_unique<SharedInformerFactory>(clients);
  std::promise<void> destroyed;
  std::optional<SharedInformer<corev1::Secret>> others;
  const auto maps = factory->coreV1().configMaps();
  maps.addHandler({.onAdd =
                       [&](auto) {
                         others = factory->coreV1().secrets();
                         factory->start();
                         factory.reset();
                         destroyed.set_value();
                       }},
                  {.quick = true});
  factory->start();
  ASSERT_EQ(destroyed.get_future().wait_for(30s), std::future_status::ready);
  while (!maps.isStopped() || !others->isStopped()) std::this_thread::yield();
}

TEST_F(FactoryTest, WithoutAThreadForCachesThereIsNoInformer) {
  create("book", configMap("a"));
  SharedInformerFactory factory(clients);
  {
    const testing::NoThreads none(0);
    EXPECT_THAT(errorOf<Error>([&] { factory.coreV1().configMaps(); }),
                AllOf(HasSubstr("no thread for the I/O of a transport"), HasSubstr("pids.max")));
  }
  factory.coreV1().configMaps();
  factory.start();
  EXPECT_TRUE(factory.waitForSync());
}

TEST_F(FactoryTest, AllInformersShareAThread) {
  create("book", configMap("a"));
  SharedInformerFactory factory(clients);
  std::mutex threadsMutex;
  std::set<std::thread::id> threads;
  const auto maps = factory.coreV1().configMaps();
  const auto spaces = factory.coreV1().namespaces();
  const auto note = [&](auto) {
    const std::lock_guard lock(threadsMutex);
    threads.insert(std::this_thread::get_id());
  };
  maps.addHandler({.onAdd = note}, {.quick = true});
  spaces.addHandler({.onAdd = note}, {.quick = true});
  factory.start();
  EXPECT_TRUE(factory.waitForSync());
  factory.shutdown();
  EXPECT_EQ(threads.size(), 1u);
  EXPECT_FALSE(threads.contains(std::this_thread::get_id()));
}

// A call on the thread of all informers would wait for ever.
TEST_F(FactoryTest, AQuickHandlerMustNotCall) {
  create("book", configMap("a"));
  SharedInformerFactory factory(clients);
  std::promise<std::string> answer;
  factory.coreV1().configMaps().addHandler(
      {.onAdd =
           [&](auto map) {
             answer.set_value(errorOf<Error>(
                 [&] { clients.coreV1().configMaps("book").get(map->metadata.name); }));
           }},
      {.quick = true});
  factory.start();
  EXPECT_THAT(answer.get_future().get(), HasSubstr("I/O thread"));
}

// Without a thread, only the informer itself can call them.
TEST_F(FactoryTest, WithoutAThreadHandlersAreCalledByTheInformer) {
  create("book", configMap("a"));
  SharedInformerFactory factory(clients);
  const auto maps = factory.coreV1().configMaps();
  std::promise<void> told;
  maps.addHandler({.onAdd = [&](auto) { told.set_value(); }});
  const testing::NoThreads one(1);
  factory.start();
  told.get_future().wait();
}

TEST_F(FactoryTest, WaitingEndsWithAShutdown) {
  server.inject({.resource = "configmaps", .hang = true});
  SharedInformerFactory factory(clients);
  factory.coreV1().configMaps();
  factory.start();
  std::thread waits([&] { EXPECT_FALSE(factory.waitForSync()); });
  factory.shutdown();
  waits.join();
}

TEST_F(FactoryTest, ASourceOfOnesOwnServesTheKind) {
  SharedInformerFactory factory(clients);
  const std::function<SharedInformer<ConfigMap>()> make = [&] {
    return SharedInformer<ConfigMap>(ListWatch<ConfigMap>::fromClient(
        clients.rest(), {"", "v1", "configmaps"}, "book", "metadata.name=b"));
  };
  const auto maps = factory.informerFor<ConfigMap>(make);
  EXPECT_EQ(&maps.store(), &factory.coreV1().configMaps().store());
  create("book", configMap("a"));
  create("book", configMap("b"));
  factory.start();
  ASSERT_TRUE(factory.waitForSync());
  EXPECT_EQ(maps.lister().list().size(), 1U);
}

TEST_F(FactoryTest, ATypedFactoryHasResourcesByNameToo) {
  create("book", configMap("a"));
  SharedInformerFactory factory(clients);
  const auto typed = factory.coreV1().configMaps();
  const auto dynamic = factory.forResource({"", "v1", "configmaps"});
  EXPECT_EQ(&dynamic.store(), &factory.forResource({"", "v1", "configmaps"}).store());
  factory.start();
  ASSERT_TRUE(factory.waitForSync());
  EXPECT_NE(typed.lister().inNamespace("book").get("a"), nullptr);
  EXPECT_NE(dynamic.lister().inNamespace("book").get("a"), nullptr);
}

TEST_F(FactoryTest, ResourcesByNameOnly) {
  create("book", configMap("a", "web"));
  const GroupVersionResource gvr{"", "v1", "configmaps"};
  DynamicInformerFactory dynamic(DynamicClient(clients.rest()), {.namespace_ = "book"});
  MetadataInformerFactory metadata{MetadataClient(clients.rest())};
  const auto whole = dynamic.forResource(gvr);
  const auto partial = metadata.forResource(gvr);
  EXPECT_EQ(&whole.store(), &dynamic.forResource(gvr).store());
  EXPECT_NE(&whole.store(), &dynamic.forResource({"", "v1", "pods"}).store());
  dynamic.start();
  metadata.start();
  ASSERT_TRUE(dynamic.waitForSync());
  ASSERT_TRUE(metadata.waitForSync());
  const auto a = whole.lister().inNamespace("book").get("a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->object["metadata"]["labels"]["tier"].asString(), "web");
  EXPECT_EQ(partial.lister().list(labels::Selector::parse("tier=web")).size(), 1U);
}

}  // namespace
}  // namespace kube
