#include "kube/controller/controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "kube/controller/controller_testing.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using corev1::ConfigMap;
using corev1::Secret;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class ControllerTest : public testing::ControllerFixture {};

TEST_F(ControllerTest, ReconcilesExistingObjectsAndLaterChanges) {
  create("a");
  create("b");
  Controller<ConfigMap> controller("maps", factory, real());
  controller.reconcile([&](const ObjectKey& key) {
    const auto found = controller.lister().get(key);
    notes.add(key.str() + (found ? "=" + found->data["k"].str() : " is gone"));
  });
  const auto running = start(controller);
  notes.waitFor("book/a=v");
  notes.waitFor("book/b=v");
  create("c");
  notes.waitFor("book/c=v");
  change("a", "new");
  notes.waitFor("book/a=new");
  maps("book").remove("b");
  notes.waitFor("book/b is gone");
}

TEST_F(ControllerTest, WorksOnlyWhenAllCachesHaveSynced) {
  create("a");
  secrets().create(secret("s"));
  const testing::FaultId noSecrets =
      server.inject({.resource = "secrets", .delay = 30ms, .status = 503});
  std::atomic<bool> fault = true;
  Controller<ConfigMap> controller("maps", factory, real());
  const auto owned = factory.informerFor<Secret>();
  controller.owns<Secret>().reconcile([&](const ObjectKey& key) {
    EXPECT_TRUE(owned.hasSynced());
    EXPECT_FALSE(fault);
    notes.add(key);
  });
  const auto running = start(controller);
  controller.informer().waitForSync();
  fault = false;
  server.forget(noSecrets);
  notes.waitFor("book/a");
}

TEST_F(ControllerTest, ReconcilesTheOwnerOfAChangedObject) {
  const ConfigMap owner = create("owner");
  create("bystander");
  Controller<ConfigMap> controller("maps", factory, real());
  controller
      .when(noneOf(resourceVersionChanged))  // only through owned objects
      .owns<Secret>()
      .reconcile([&](const ObjectKey& key) { notes.add(key); });
  const auto running = start(controller);
  factory.waitForSync();

  Secret unowned = secret("unowned");
  secrets().create(unowned);
  Secret other = secret("other");  // owned by another kind with the same name
  other.metadata.ownerReferences.push_back({.apiVersion = "apps/v1",
                                            .kind = "ConfigMap",
                                            .name = "owner",
                                            .uid = "1",
                                            .controller = true});
  secrets().create(other);
  Secret weak = secret("weak");
  setOwnerReference(owner, weak);
  secrets().create(weak);
  Secret owned = secret("owned");
  setControllerReference(owner, owned);
  owned = secrets().create(owned);
  notes.waitFor("book/owner", 1);
  owned.data["k"] = "v";
  secrets().update(owned);
  notes.waitFor("book/owner", 2);
  secrets().remove("owned");
  notes.waitFor("book/owner", 3);
  running->finish();
  EXPECT_THAT(notes.lines(), ElementsAre("book/owner", "book/owner", "book/owner"));
}

TEST_F(ControllerTest, ReconcilesTheFormerOwnerToo) {
  const ConfigMap first = create("first");
  const ConfigMap second = create("second");
  Secret owned = secret("owned");
  setOwnerReference(first, owned);
  owned = secrets().create(owned);
  Controller<ConfigMap> controller("maps", factory, real());
  controller.when(noneOf(resourceVersionChanged))
      .owns<Secret>(resourceVersionChanged, OwnerMatch::Every)
      .reconcile([&](const ObjectKey& key) { notes.add(key); });
  const auto running = start(controller);
  notes.waitFor("book/first");
  removeOwnerReference(first, owned);
  setOwnerReference(second, owned);
  secrets().update(owned);
  notes.waitFor("book/first", 2);
  notes.waitFor("book/second");
}

TEST_F(ControllerTest, WatchesOtherKindsThroughAMap) {
  create("a");
  Controller<ConfigMap> controller("maps", factory, real());
  controller.when(noneOf(resourceVersionChanged))
      .watches<corev1::Namespace>(
          [](const corev1::Namespace& space) {
            std::vector<ObjectKey> keys;
            if (const String& name = space.metadata.labels["wants"]; !name.empty()) {
              keys.push_back({space.metadata.name, name});
            }
            return keys;
          },
          labelsChanged)
      .reconcile([&](const ObjectKey& key) { notes.add(key); });
  const auto running = start(controller);
  factory.waitForSync();
  auto space = clients.coreV1().namespaces().get("book");
  space.metadata.labels["wants"] = "a";
  space = clients.coreV1().namespaces().update(space);
  notes.waitFor("book/a");
  space.metadata.labels["wants"] = "b";  // the key that was mapped before is reconciled too
  clients.coreV1().namespaces().update(space);
  notes.waitFor("book/a", 2);
  notes.waitFor("book/b");
}

TEST_F(ControllerTest, WorksForKindsWithoutStructs) {
  create("owner");
  const RestMapping mapping{.gvr = {"", "v1", "configmaps"}, .gvk = {"", "v1", "ConfigMap"}};
  Controller<Unstructured> controller("dynamic", factory, mapping, real());
  controller.owns(factory.forResource({"", "v1", "secrets"}))
      .reconcile([&](const ObjectKey& key, const std::stop_token&) {
        const auto found = controller.lister().get(key);
        notes.add(key.str() + (found ? "=" + found->object["data"]["k"].asString().str() : ""));
      });
  const auto running = start(controller);
  notes.waitFor("book/owner=v");
  Secret owned = secret("owned");
  setControllerReference(maps("book").get("owner"), owned);
  secrets().create(owned);
  notes.waitFor("book/owner=v", 2);
}

TEST_F(ControllerTest, RetriesFailuresWithGrowingDelays) {
  create("a");
  Controller<ConfigMap> controller("maps", factory, fake());
  std::atomic<int> failures = 3;
  controller.reconcile([&](const ObjectKey& key) -> Requeue {
    notes.add(key);
    if (failures-- > 0) throw std::runtime_error("not yet");
    notes.add("done");
    return {};
  });
  const auto running = start(controller);
  notes.waitFor("book/a");
  std::ptrdiff_t times = 1;
  for (const auto wait : {5ms, 10ms, 20ms}) {
    clock.waitForWaiters(1);
    clock.advance(wait - 1ns);
    EXPECT_EQ(notes.count("book/a"), times);
    clock.advance(1ns);
    notes.waitFor("book/a", ++times);
  }
  notes.waitFor("done");
  running->finish();
  EXPECT_THAT(metrics.text(),
              AllOf(HasSubstr("controller_runtime_reconcile_total{controller=\"maps\","
                              "result=\"error\"} 3\n"),
                    HasSubstr("controller_runtime_reconcile_total{controller=\"maps\","
                              "result=\"success\"} 1\n"),
                    HasSubstr("controller_runtime_reconcile_errors_total{controller=\"maps\"} 3\n"),
                    HasSubstr("controller_runtime_reconcile_time_seconds_count{controller=\"maps\"}"
                              " 4\n"),
                    HasSubstr("workqueue_retries_total{name=\"maps\"} 3\n")));
}

TEST_F(ControllerTest, GivesUpAfterTooManyFailuresUntilTheObjectChanges) {
  create("a");
  Controller<ConfigMap> controller("maps", factory, fake());
  controller.maxRetries(2)
      .onGiveUp([&](const ObjectKey& key, const std::string& error) {
        notes.add("gave up " + key.str() + ": " + error);
        throw std::runtime_error("and this one throws as well");
      })
      .reconcile([&](const ObjectKey& key) {
        notes.add(key);
        throw std::runtime_error("never");
      });
  const auto running = start(controller);
  // Advances to the next retry only: a longer step would include the retry after it.
  for (const int i : {1, 2}) {
    notes.waitFor("book/a", i);
    clock.waitForWaiters(1);
    clock.advance(i * 5ms);
  }
  notes.waitFor("gave up book/a: never");
  EXPECT_EQ(notes.count("book/a"), 3);
  EXPECT_EQ(clock.waiters(), 0U);
  change("a", "new");
  notes.waitFor("book/a", 4);
  // The count of failures starts again at zero.
  clock.waitForWaiters(1);
  clock.advance(5ms);
  notes.waitFor("book/a", 5);
  running->finish();
  EXPECT_THAT(
      metrics.text(),
      HasSubstr("controller_runtime_terminal_reconcile_errors_total{controller=\"maps\"} 1\n"));
}

TEST_F(ControllerTest, RetriesAfterExceptionsThatAreNotStdExceptions) {
  create("a");
  Controller<ConfigMap> controller("maps", factory, real());
  std::atomic<bool> first = true;
  controller.reconcile([&](const ObjectKey& key) {
    if (first.exchange(false)) throw 42;
    notes.add(key);
  });
  const auto running = start(controller);
  notes.waitFor("book/a");
  running->finish();
  EXPECT_THAT(metrics.text(),
              HasSubstr("controller_runtime_reconcile_panics_total{controller=\"maps\"} 1\n"));
}

TEST_F(ControllerTest, RequeuesAfterATimeAndNow) {
  create("a");
  Controller<ConfigMap> controller("maps", factory, fake());
  std::atomic<int> call = 0;
  controller.maxRetries(0).reconcile([&](const ObjectKey& key) -> Requeue {
    notes.add(key);
    switch (call++) {
      case 0:
        return Requeue::after(10min);
      case 1:
      case 2:
        return Requeue::now();
      default:
        notes.add("done");
        return {};
    }
  });
  const auto running = start(controller);
  notes.waitFor("book/a");
  clock.waitForWaiters(1);
  clock.advance(10min - 1ns);
  EXPECT_EQ(notes.count("book/a"), 1);
  clock.advance(1ns);
  notes.waitFor("book/a", 2);
  clock.waitForWaiters(1);
  clock.advance(5ms);
  notes.waitFor("book/a", 3);
  clock.waitForWaiters(1);
  clock.advance(10ms);
  notes.waitFor("done");
  running->finish();
  EXPECT_THAT(metrics.text(), AllOf(HasSubstr("result=\"requeue\"} 2\n"),
                                    HasSubstr("result=\"requeue_after\"} 1\n"),
                                    HasSubstr("result=\"success\"} 1\n")));
}

TEST_F(ControllerTest, AFailingKeyDoesNotStarveOthers) {
  create("bad");
  for (int i = 0; i < 50; ++i) create("good-" + std::to_string(i));
  Controller<ConfigMap> controller("maps", factory, real());
  controller.reconcile([&](const ObjectKey& key) {
    if (key.name == "bad") throw Error("always");
    notes.add(key);
  });
  const auto running = start(controller);
  for (int i = 0; i < 50; ++i) notes.waitFor("book/good-" + std::to_string(i));
}

TEST_F(ControllerTest, NoKeyIsReconciledTwiceAtATime) {
  for (int i = 0; i < 5; ++i) create("m-" + std::to_string(i));
  Controller<ConfigMap> controller("maps", factory, real());
  std::mutex mutex;
  std::map<ObjectKey, int> atWork;
  std::atomic<int> calls = 0;
  controller.workers(8).reconcile([&](const ObjectKey& key) -> Requeue {
    {
      const std::lock_guard lock(mutex);
      EXPECT_EQ(++atWork[key], 1);
    }
    std::this_thread::yield();
    controller.enqueue(key);
    {
      const std::lock_guard lock(mutex);
      --atWork[key];
    }
    if (++calls == 500) notes.add("enough");
    return {};
  });
  const auto running = start(controller);
  notes.waitFor("enough");
}

TEST_F(ControllerTest, RunReturnsAfterReconcilesUnderWayHaveEnded) {
  create("a");
  create("b");
  Controller<ConfigMap> controller("maps", factory, real());
  std::latch goOn(1);
  controller.reconcile([&](const ObjectKey&, const std::stop_token& stop) {
    notes.add("begun");
    goOn.wait();
    EXPECT_TRUE(stop.stop_requested());
    notes.add("ended");
  });
  const auto running = start(controller);
  notes.waitFor("begun");
  running->requestStop();
  EXPECT_FALSE(running->ended());
  goOn.count_down();
  running->wait();
  EXPECT_THAT(notes.lines(), ElementsAre("begun", "ended"));  // the other key was not started
}

TEST_F(ControllerTest, RunsAgainAndReconcilesEverything) {
  create("a");
  Controller<ConfigMap> controller("maps", factory, real());
  controller.beforeWork([&](const std::stop_token&) { notes.add("before"); })
      .reconcile([&](const ObjectKey& key) { notes.add(key); });
  start(controller)->requestStop();
  notes.clear();
  {
    const auto running = start(controller);
    notes.waitFor("book/a");
    EXPECT_THROW(controller.workers(2), Error);
    EXPECT_THROW(controller.run(std::stop_source().get_token()), Error);
  }
  controller.enqueue({"book", "nobody looks"});
  const auto running = start(controller);
  notes.waitFor("book/a", 2);
  running->finish();
  EXPECT_THAT(notes.lines(), ElementsAre("before", "book/a", "before", "book/a"));
}

TEST_F(ControllerTest, AnExceptionOfBeforeWorkEndsRun) {
  Controller<ConfigMap> controller("maps", factory, real());
  EXPECT_THROW(controller.run(std::stop_source().get_token()), Error);  // no reconcile
  controller.beforeWork([](const std::stop_token&) { throw std::runtime_error("no"); })
      .reconcile([&](const ObjectKey& key) { notes.add(key); });
  EXPECT_THROW(start(controller)->wait(), std::runtime_error);
  EXPECT_THAT(notes.lines(), ElementsAre());
}

TEST_F(ControllerTest, AnExceptionOfBeforeWorkAfterAStopIsNoFailure) {
  Controller<ConfigMap> controller("maps", factory, real());
  controller
      .beforeWork([&](const std::stop_token& stop) {
        notes.add("before");
        while (!stop.stop_requested()) std::this_thread::yield();
        throw std::runtime_error("no");
      })
      .reconcile([&](const ObjectKey& key) { notes.add(key); });
  const auto running = start(controller);
  notes.waitFor("before", 1);
  EXPECT_NO_THROW(running->finish());
}

TEST_F(ControllerTest, ContinuesAfterTheServerWasAway) {
  ConfigMap object = create("a");
  Controller<ConfigMap> controller("maps", factory, real());
  controller.reconcile([&](const ObjectKey& key) {
    notes.add("begun");
    const auto found = maps("book").get(key.name);  // throws while the fault is active
    notes.add(key.str() + "=" + found.data["k"].str());
  });
  const auto running = start(controller);
  notes.waitFor("book/a=v");
  const testing::FaultId gone =
      server.inject({.verb = "get", .resource = "configmaps", .status = 500});
  server.restart();
  object.data["k"] = "new";
  Clientset(server.config()).coreV1().configMaps("book").update(object);  // on a new connection
  notes.waitFor("begun", 3);  // a reconcile has failed and was retried
  server.forget(gone);
  notes.waitFor("book/a=new");
}

// ---- Predicates.

ConfigMap mapOf(std::string_view version, std::int64_t generation = 1) {
  ConfigMap object;
  object.metadata.resourceVersion = version;
  object.metadata.generation = generation;
  object.metadata.labels["app"] = "web";
  object.metadata.annotations["note"] = "x";
  return object;
}

TEST(PredicatesTest, FilterUpdatesOnly) {
  const ConfigMap object = mapOf("1");
  const auto ask = [&](const Predicate<ConfigMap>& predicate) {
    EXPECT_TRUE(predicate({nullptr, &object}));
    EXPECT_TRUE(predicate({&object, nullptr}));
    EXPECT_FALSE(predicate({&object, &object}));  // a resync
  };
  ask(generationChanged);
  ask(resourceVersionChanged);
  ask(labelsChanged);
  ask(annotationsChanged);
}

TEST(PredicatesTest, DetectChanges) {
  const ConfigMap before = mapOf("1");
  ConfigMap after = mapOf("2");
  const Change<ConfigMap> change{&before, &after};
  EXPECT_TRUE(resourceVersionChanged(change));
  EXPECT_FALSE(generationChanged(change));
  EXPECT_FALSE(labelsChanged(change));
  EXPECT_FALSE(annotationsChanged(change));
  after.metadata.generation = 2;
  EXPECT_TRUE(generationChanged(change));
  after.metadata.labels["app"] = "db";
  EXPECT_TRUE(labelsChanged(change));
  after.metadata.annotations["note"] = "y";
  EXPECT_TRUE(annotationsChanged(change));
}

TEST(PredicatesTest, WorkForObjectsWithoutStructs) {
  const auto object = [](std::string_view version, std::int64_t generation) {
    Unstructured result;
    result.setResourceVersion(version);
    result.setGeneration(generation);
    result.setLabels({{"app", "web"}});
    result.setAnnotations({{"note", std::to_string(generation)}});
    return result;
  };
  const Unstructured before = object("1", 1);
  const Unstructured after = object("2", 2);
  const Change<Unstructured> change{&before, &after};
  EXPECT_TRUE(generationChanged(change));
  EXPECT_TRUE(resourceVersionChanged(change));
  EXPECT_FALSE(labelsChanged(change));
  EXPECT_TRUE(annotationsChanged(change));
  EXPECT_TRUE(labelsMatch("app=web")(change));
}

TEST(PredicatesTest, Combine) {
  const ConfigMap before = mapOf("1");
  const ConfigMap after = mapOf("2");
  const Change<ConfigMap> change{&before, &after};
  EXPECT_TRUE(anyOf(generationChanged, resourceVersionChanged)(change));
  EXPECT_FALSE(allOf(generationChanged, resourceVersionChanged)(change));
  EXPECT_FALSE(noneOf(resourceVersionChanged)(change));
  EXPECT_TRUE(noneOf(generationChanged, labelsChanged)(change));
  EXPECT_FALSE(noneOf(generationChanged)(Change<ConfigMap>{nullptr, &after}));
}

TEST(PredicatesTest, SelectByLabelsNowOrBefore) {
  const ConfigMap web = mapOf("1");
  ConfigMap db = mapOf("2");
  db.metadata.labels["app"] = "db";
  const auto selected = labelsMatch("app=web");
  EXPECT_TRUE(selected(Change<ConfigMap>{nullptr, &web}));
  EXPECT_TRUE(selected(Change<ConfigMap>{&web, &db}));
  EXPECT_FALSE(selected(Change<ConfigMap>{&db, nullptr}));
  EXPECT_THROW(labelsMatch("app in"), Error);
}

}  // namespace
}  // namespace kube
