// Options of createOrUpdate, createOrPatch and finalizers; the registry of finalizers.
#include "kube/controller/write_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "kube/base/internal/each_wait_testing.h"
#include "kube/codec/apply/upgrade_owners.h"
#include "kube/controller/create_or_update.h"
#include "kube/controller/finalizer_registry.h"
#include "kube/testing/api_server_testing.h"

namespace kube {
namespace {

using testing::ApiServerTest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const WriteOptions kAllOptions{.fieldManager = "mine", .dryRun = true, .fieldValidation = "Strict"};

class WriteOptionsTest : public ApiServerTest {
 protected:
  /// The options of all writes so far.
  std::string sent() {
    std::string text;
    for (const auto& request : server.requests()) {
      if (request.verb == "get") continue;
      if (!text.empty()) text += "; ";
      text += request.verb;
      if (!request.subresource.empty()) text += "/" + request.subresource;
      for (const auto* name : {"fieldManager", "dryRun", "fieldValidation"}) {
        if (const auto value = request.param(name)) text += " " + std::string(*value);
      }
    }
    server.forgetRequests();
    return text;
  }
};

TEST_F(WriteOptionsTest, AreSentWithCreatesAndUpdates) {
  corev1::ConfigMap object = map("a");
  const auto mutate = [&] { object.data["n"] = std::to_string(object.data["n"].view().size()); };
  EXPECT_EQ(createOrUpdate(maps(), object, mutate, kAllOptions), OperationResult::Created);
  EXPECT_EQ(sent(), "create mine All Strict");
  EXPECT_FALSE(maps().find("a")) << "it was a dry run";
  maps().create(map("a"));
  sent();
  EXPECT_EQ(createOrUpdate(maps(), object, mutate, {.fieldManager = "mine"}),
            OperationResult::Updated);
  EXPECT_EQ(sent(), "update mine");
  EXPECT_EQ(blockOn(createOrUpdate(maps().async(), object, mutate, kAllOptions)),
            OperationResult::Updated);
  EXPECT_EQ(sent(), "update mine All Strict");
}

TEST_F(WriteOptionsTest, AreSentWithPatches) {
  const auto pods = clients.coreV1().pods("default");
  corev1::Pod object = pod("a");
  const auto mutate = [&] {
    object.metadata.labels["a"] = "b";
    object.status->phase = "Running";
  };
  EXPECT_EQ(createOrPatch(pods, object, mutate, kAllOptions), OperationResult::Created);
  EXPECT_EQ(sent(), "create mine All Strict") << "there is no object to have a status";
  object = pods.create(pod("a"));
  sent();
  EXPECT_EQ(createOrPatch(pods, object, mutate, {.fieldManager = "mine"}),
            OperationResult::UpdatedStatus);
  EXPECT_EQ(sent(), "patch mine; patch/status mine");
}

TEST_F(WriteOptionsTest, ALockRefusesAPatchOfAnOldObject) {
  maps().create(map("a"));
  corev1::ConfigMap object = map("a");
  const auto mutate = [&] {
    maps().patch("a", PatchType::Merge, R"({"data":{"other":"x"}})");
    object.data["mine"] = "y";
  };
  const auto locked = [&] { createOrPatch(maps(), object, mutate, {.optimisticLock = true}); };
  EXPECT_EQ(testing::refusalOf(locked).reason, "Conflict");
  EXPECT_EQ(createOrPatch(maps(), object, mutate, WriteOptions()), OperationResult::Updated);
}

TEST_F(WriteOptionsTest, ALockHoldsForTheStatusAfterTheObject) {
  const auto pods = clients.coreV1().pods("default");
  corev1::Pod object = pods.create(pod("a"));
  const auto mutate = [&] {
    object.metadata.labels["a"] = "b";
    object.status->phase = "Running";
  };
  EXPECT_EQ(createOrPatch(pods, object, mutate, {.optimisticLock = true}),
            OperationResult::UpdatedStatus);
  EXPECT_EQ(pods.get("a").status.read().phase, "Running");
}

TEST_F(WriteOptionsTest, AreSentWithFinalizers) {
  corev1::ConfigMap object = maps().create(map("a"));
  sent();
  EXPECT_TRUE(ensureFinalizer(maps(), object, "example.com/x", {.fieldManager = "mine"}));
  EXPECT_EQ(sent(), "patch mine");
  EXPECT_TRUE(removeFinalizer(maps(), object, "example.com/x", kAllOptions));
  EXPECT_EQ(sent(), "patch mine All Strict");
  EXPECT_TRUE(containsFinalizer(maps().get("a"), "example.com/x")) << "it was a dry run";
  object = maps().get("a");
  EXPECT_TRUE(
      blockOn(removeFinalizer(maps().async(), object, "example.com/x", {.fieldManager = "b"})));
  EXPECT_EQ(sent(), "patch b");
}

TEST_F(WriteOptionsTest, APatchWithALockIsRefusedByTheServer) {
  const corev1::ConfigMap old = maps().create(map("a"));
  corev1::ConfigMap wanted = old;
  wanted.data["k"] = "mine";
  maps().patch("a", PatchType::Merge, R"({"data":{"other":"x"}})");
  const MergePatch locked = mergeFrom(old, wanted, {.optimisticLock = true});
  EXPECT_EQ(testing::refusalOf([&] { maps().patch("a", locked); }).reason, "Conflict");
  EXPECT_EQ(maps().patch("a", mergeFrom(old, wanted)).data["k"], "mine");
  EXPECT_EQ(blockOn(maps().async().patch("a", mergeFrom(old, wanted))).data["other"], "x");
}

TEST_F(WriteOptionsTest, FieldsOfAnUpdaterAreHandedToTheApplier) {
  const auto wanted = [](bool both) {
    corev1::ConfigMap result = map("a");
    if (both) result.data["old"] = "v";
    return result;
  };
  const auto apply = [&](const corev1::ConfigMap& object) {
    return maps().apply(object, {.fieldManager = "mine"});
  };
  maps().create(wanted(true), {.fieldManager = "updater"});
  apply(wanted(true));
  EXPECT_TRUE(apply(wanted(false)).data.contains("old")) << "the updater owns it as well";
  apply(wanted(true));
  const corev1::ConfigMap object = maps().get("a");
  const auto patch = upgradeManagedFieldsPatch(object, {.from = {"updater"}, .to = "mine"});
  ASSERT_TRUE(patch);
  const corev1::ConfigMap upgraded = maps().patch("a", PatchType::Json, *patch);
  ASSERT_EQ(upgraded.metadata.managedFields.size(), 1U);
  EXPECT_FALSE(apply(wanted(false)).data.contains("old"));
  EXPECT_EQ(testing::refusalOf([&] { maps().patch("a", PatchType::Json, *patch); }).reason,
            "Conflict");
}

// --- The registry of finalizers.

class FinalizerRegistryTest : public WriteOptionsTest {
 protected:
  FinalizerRegistryTest() {
    registry.add("example.com/a", [this](const corev1::ConfigMap&) { note("a"); });
    registry.add("example.com/b", [this](const corev1::ConfigMap& object) -> Task<> {
      const auto found = co_await maps().async().find(object.metadata.name);
      note(found ? "b" : "b of nothing");
    });
  }
  void note(std::string what) {
    calls.push_back(what);
    if (what == failing) throw std::runtime_error(what + " fails");
  }

  FinalizerRegistry<corev1::ConfigMap> registry;
  std::vector<std::string> calls;
  std::string failing;
};

TEST_F(FinalizerRegistryTest, ALiveObjectGetsAllFinalizers) {
  corev1::ConfigMap object = maps().create(map("a"));
  sent();
  EXPECT_TRUE(registry.finalize(maps(), object, {.fieldManager = "mine"}));
  EXPECT_EQ(sent(), "patch mine");
  EXPECT_THAT(maps().get("a").metadata.finalizers, ElementsAre("example.com/a", "example.com/b"));
  EXPECT_TRUE(registry.finalize(maps(), object));
  EXPECT_EQ(sent(), "") << "it has them";
  EXPECT_THAT(calls, IsEmpty());
}

TEST_F(FinalizerRegistryTest, ADeletedObjectIsCleanedUp) {
  corev1::ConfigMap object = maps().create(map("a"));
  registry.finalize(maps(), object);
  maps().remove("a");
  object = maps().get("a");
  corev1::ConfigMap stale = object;
  sent();
  EXPECT_FALSE(registry.finalize(maps(), object));
  EXPECT_THAT(calls, ElementsAre("a", "b"));
  EXPECT_EQ(sent(), "patch");
  EXPECT_FALSE(maps().find("a"));
  EXPECT_FALSE(registry.finalize(maps(), stale)) << "the cache is behind";
  EXPECT_THAT(calls, ElementsAre("a", "b", "a", "b of nothing"));
}

TEST_F(FinalizerRegistryTest, AnObjectThatWasDeletedMeanwhileIsCleanedUp) {
  corev1::ConfigMap object = maps().create(map("a"));
  addFinalizer(object, "example.com/a");
  object = maps().update(object);
  maps().remove("a");  // `object` is out of date now
  EXPECT_FALSE(registry.finalize(maps(), object));
  EXPECT_THAT(calls, ElementsAre("a"));
  EXPECT_FALSE(maps().find("a"));
}

TEST_F(FinalizerRegistryTest, AFailureKeepsItsFinalizerOnly) {
  corev1::ConfigMap object = maps().create(map("a"));
  registry.finalize(maps(), object);
  maps().remove("a");
  object = maps().get("a");
  failing = "a";
  EXPECT_THROW(registry.finalize(maps(), object), std::runtime_error);
  EXPECT_THAT(maps().get("a").metadata.finalizers, ElementsAre("example.com/a"));
  failing = "";
  EXPECT_FALSE(registry.finalize(maps(), object));
  EXPECT_THAT(calls, ElementsAre("a", "b", "a"));
  EXPECT_FALSE(maps().find("a"));
}

TEST_F(FinalizerRegistryTest, FailuresOfSeveralAreJoined) {
  registry.add("example.com/c", [](const corev1::ConfigMap&) { throw std::out_of_range("far"); });
  corev1::ConfigMap object = maps().create(map("a"));
  registry.finalize(maps(), object);
  maps().remove("a");
  object = maps().get("a");
  failing = "b";
  try {
    registry.finalize(maps(), object);
    FAIL() << "it did not throw";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "b fails; far");
  }
}

TEST_F(FinalizerRegistryTest, NamesAreChecked) {
  EXPECT_THROW(registry.add("example.com/a", [](const corev1::ConfigMap&) {}), Error);
  EXPECT_THROW(registry.add("a b", [](const corev1::ConfigMap&) {}), Error);
}

TEST_F(FinalizerRegistryTest, ObjectsWithoutATypeWorkToo) {
  define(testing::kNetworks);
  const auto networks = DynamicClient(clients.rest())
                            .resource(GroupVersionResource{"sample.example.com", "v1", "networks"})
                            .inNamespace("default");
  FinalizerRegistry<Unstructured> dynamic;
  int cleaned = 0;
  dynamic.add("example.com/a", [&](const Unstructured&) { ++cleaned; });
  Unstructured object = networks.create(testing::network("n"));
  EXPECT_TRUE(dynamic.finalize(networks, object));
  networks.remove("n");
  object = networks.get("n");
  EXPECT_FALSE(dynamic.finalize(networks, object));
  EXPECT_EQ(cleaned, 1);
  EXPECT_FALSE(networks.find("n"));
}

corev1::ConfigMap mapNamedA() {
  corev1::ConfigMap map;
  map.metadata.name = "a";
  return map;
}

Task<> finalizes(const FinalizerRegistry<corev1::ConfigMap>& registry,
                 AsyncResourceClient<corev1::ConfigMap> maps) {
  try {
    std::optional<corev1::ConfigMap> object = co_await maps.find("a");
    if (!object) object = co_await maps.create(mapNamedA());
    co_await registry.finalize(maps, *object);
    co_await maps.remove("a");
    co_await registry.finalize(maps, *object);
  } catch (const ApiError& error) {
    // A request of the task before came in between.
    if (!isConflict(error) && !isNotFound(error) && !isAlreadyExists(error)) throw;
  }
}

TEST_F(FinalizerRegistryTest, IsDestroyedAtEachWait) {
  const auto make = [this] { return finalizes(registry, maps().async()); };
  testing::destroyAtEachWait(make);
}

}  // namespace
}  // namespace kube
