#include "kube/controller/create_or_update.h"

#include <gtest/gtest.h>

#include "kube/base/internal/each_wait_testing.h"
#include "kube/controller/finalizers.h"
#include "kube/testing/api_server_testing.h"

namespace kube {
namespace {

using testing::ApiServerTest;

class ReconcileTest : public ApiServerTest {
 protected:
  ResourceClient<Unstructured> networks() {
    return DynamicClient(clients.rest())
        .resource(GroupVersionResource{"sample.example.com", "v1", "networks"})
        .inNamespace("default");
  }
};

TEST_F(ReconcileTest, AMissingObjectIsCreated) {
  corev1::ConfigMap map = ApiServerTest::map("a");
  EXPECT_EQ(createOrUpdate(maps(), map, [&] { map.data["color"] = "blue"; }),
            OperationResult::Created);
  EXPECT_FALSE(map.metadata.uid.empty());
  EXPECT_EQ(maps().get("a").data["color"], "blue");
}

TEST_F(ReconcileTest, AnExistingObjectIsUpdated) {
  maps().create(map("a", "old"));
  corev1::ConfigMap object;
  object.metadata.name = "a";
  const auto mutate = [&] { object.data["color"] = "blue"; };
  EXPECT_EQ(createOrUpdate(maps(), object, mutate), OperationResult::Updated);
  EXPECT_EQ(maps().get("a").data["color"], "blue");
  EXPECT_EQ(maps().get("a").data["k"], "old");
  EXPECT_EQ(object, maps().get("a"));
}

TEST_F(ReconcileTest, AnUnchangedObjectIsNotSent) {
  maps().create(map("a", "v"));
  const auto before = server.revision();
  corev1::ConfigMap object = map("a");
  const auto mutate = [&] { object.data["k"] = "v"; };
  EXPECT_EQ(createOrUpdate(maps(), object, mutate), OperationResult::Unchanged);
  EXPECT_EQ(createOrPatch(maps(), object, mutate), OperationResult::Unchanged);
  EXPECT_EQ(server.revision(), before);
}

TEST_F(ReconcileTest, AClientOfAllNamespacesUsesTheObjectsNamespace) {
  corev1::ConfigMap object = map("a");
  object.metadata.namespace_ = "default";
  const auto everywhere = clients.coreV1().configMaps();
  int n = 0;
  const auto mutate = [&] { object.data["n"] = std::to_string(++n); };
  EXPECT_EQ(createOrUpdate(everywhere, object, mutate), OperationResult::Created);
  EXPECT_EQ(createOrUpdate(everywhere, object, mutate), OperationResult::Updated);
  EXPECT_EQ(createOrPatch(everywhere, object, mutate), OperationResult::Updated);
  EXPECT_EQ(maps().get("a").data["n"], "3");
}

TEST_F(ReconcileTest, AnUpdateFailsIfAnotherClientChangesTheObjectMeanwhile) {
  maps().create(map("a"));
  corev1::ConfigMap object = map("a");
  const auto mutate = [&] {
    maps().patch("a", PatchType::Merge, R"({"data":{"other":"x"}})");
    object.data["mine"] = "y";
  };
  EXPECT_EQ(testing::refusalOf([&] { createOrUpdate(maps(), object, mutate); }).reason, "Conflict");
  // A patch leaves the fields of others as they are.
  EXPECT_EQ(createOrPatch(maps(), object, mutate), OperationResult::Updated);
  EXPECT_EQ(maps().get("a").data["other"], "x");
  EXPECT_EQ(maps().get("a").data["mine"], "y");
}

TEST_F(ReconcileTest, TheFunctionMustNotChangeNameOrNamespace) {
  corev1::ConfigMap object = map("a");
  EXPECT_THROW(createOrUpdate(maps(), object, [&] { object.metadata.name = "b"; }), Error);
  object = map("a");
  EXPECT_THROW(createOrPatch(maps(), object, [&] { object.metadata.namespace_ = "other"; }), Error);
  EXPECT_THROW(createOrUpdate(maps(), object, [] { throw std::out_of_range("x"); }),
               std::out_of_range);
  EXPECT_FALSE(maps().find("a"));
  EXPECT_FALSE(maps().find("b"));
}

TEST_F(ReconcileTest, OtherErrorsArePassedOn) {
  server.inject({.verb = "get", .resource = "configmaps", .times = 1, .status = 403});
  corev1::ConfigMap object = map("a");
  EXPECT_EQ(testing::refusalOf([&] { createOrUpdate(maps(), object, [] {}); }).code, 403);
}

TEST_F(ReconcileTest, APatchSendsTheStatusToItsSubresource) {
  const auto pods = clients.coreV1().pods("default");
  corev1::Pod object = pod("a");
  const auto phase = [&](const char* value) {
    return [&object, value] { object.status->phase = value; };
  };
  EXPECT_EQ(createOrPatch(pods, object, phase("Running")), OperationResult::Created);
  EXPECT_EQ(pods.get("a").status.read().phase, "Running");
  EXPECT_EQ(createOrPatch(pods, object, phase("Running")), OperationResult::Unchanged);
  EXPECT_EQ(createOrPatch(pods, object, phase("Failed")), OperationResult::UpdatedStatusOnly);
  EXPECT_EQ(createOrPatch(pods, object, [&] { object.metadata.labels["a"] = "b"; }),
            OperationResult::Updated);
  EXPECT_EQ(createOrPatch(pods, object,
                          [&] {
                            object.metadata.labels["a"] = "c";
                            object.status->phase = "Succeeded";
                          }),
            OperationResult::UpdatedStatus);
  EXPECT_EQ(pods.get("a").status.read().phase, "Succeeded");
  EXPECT_EQ(pods.get("a").metadata.labels["a"], "c");
  EXPECT_EQ(toString(OperationResult::UpdatedStatus), "updatedStatus");
}

TEST_F(ReconcileTest, ObjectsWithoutATypeWorkToo) {
  define(testing::kNetworks);
  Unstructured object = testing::network("a");
  const auto mutate = [&] {
    object.setNestedField("10.1.0.0/16", "spec", "cidr");
    object.setNestedField("Ready", "status", "phase");
  };
  EXPECT_EQ(createOrPatch(networks(), object, mutate), OperationResult::Created);
  EXPECT_EQ(networks().get("a").nestedString("status", "phase"), "Ready");
  EXPECT_EQ(createOrPatch(networks(), object, mutate), OperationResult::Unchanged);
  EXPECT_EQ(createOrUpdate(networks(), object, [&] { object.setNestedField(9000, "spec", "mtu"); }),
            OperationResult::Updated);
  EXPECT_EQ(networks().get("a").nestedInt64("spec", "mtu"), 9000);
  EXPECT_EQ(networks().get("a").nestedString("status", "phase"), "Ready");
}

// --- Finalizers.

TEST_F(ReconcileTest, FinalizersAreAddedAndRemoved) {
  corev1::ConfigMap object = maps().create(map("a"));
  EXPECT_TRUE(ensureFinalizer(maps(), object, "example.com/x"));
  EXPECT_TRUE(containsFinalizer(maps().get("a"), "example.com/x"));
  const auto before = server.revision();
  EXPECT_FALSE(ensureFinalizer(maps(), object, "example.com/x"));
  EXPECT_EQ(server.revision(), before);

  maps().remove("a");
  object = maps().get("a");
  EXPECT_TRUE(object.metadata.deletionTimestamp);
  EXPECT_TRUE(removeFinalizer(maps(), object, "example.com/x"));
  EXPECT_FALSE(maps().find("a"));
  EXPECT_FALSE(removeFinalizer(maps(), object, "example.com/x"));
}

TEST_F(ReconcileTest, FinalizersOfOthersAreNotLost) {
  define(testing::kNetworks);
  Unstructured mine = networks().create(testing::network("a"));
  Unstructured theirs = mine;
  EXPECT_TRUE(ensureFinalizer(networks(), theirs, "example.com/theirs"));
  // `mine` is out of date, so it is read again.
  EXPECT_TRUE(ensureFinalizer(networks(), mine, "example.com/mine"));
  EXPECT_EQ(networks().get("a").finalizers().size(), 2U);
  EXPECT_TRUE(removeFinalizer(networks(), theirs, "example.com/theirs"));
  EXPECT_TRUE(containsFinalizer(networks().get("a"), "example.com/mine"));
  EXPECT_FALSE(removeFinalizer(networks(), theirs, "example.com/theirs"));
}

TEST_F(ReconcileTest, RemovingAFinalizerOfADeletedObjectIsNoError) {
  corev1::ConfigMap object = maps().create(map("a"));
  addFinalizer(object, "example.com/x");
  maps().remove("a");
  EXPECT_FALSE(removeFinalizer(maps(), object, "example.com/x"));
  EXPECT_THROW(ensureFinalizer(maps(), object, "example.com/y"), ApiError);
}

TEST_F(ReconcileTest, FinalizersOfANewObjectWithTheSameNameAreLeftAlone) {
  corev1::ConfigMap gone = maps().create(map("a"));
  addFinalizer(gone, "example.com/x");
  maps().remove("a");
  corev1::ConfigMap other = maps().create(map("a"));
  ASSERT_TRUE(ensureFinalizer(maps(), other, "example.com/x"));
  EXPECT_FALSE(removeFinalizer(maps(), gone, "example.com/x"));
  try {
    ensureFinalizer(maps(), gone, "example.com/y");
    FAIL() << "the finalizer was added to the new object";
  } catch (const ApiError& error) {
    EXPECT_TRUE(isNotFound(error)) << error.what();
  }
  EXPECT_EQ(maps().get("a").metadata.finalizers, other.metadata.finalizers);
}

// --- The awaitable forms.

TEST_F(ReconcileTest, TasksDoTheSame) {
  const auto async = maps().async();
  corev1::ConfigMap object = map("a");
  const auto paint = [&](const char* color) {
    return [&object, color] { object.data["color"] = color; };
  };
  EXPECT_EQ(blockOn(createOrUpdate(async, object, paint("red"))), OperationResult::Created);
  EXPECT_EQ(blockOn(createOrUpdate(async, object, paint("red"))), OperationResult::Unchanged);
  EXPECT_EQ(blockOn(createOrUpdate(async, object, paint("blue"))), OperationResult::Updated);
  EXPECT_EQ(blockOn(createOrPatch(async, object, paint("green"))), OperationResult::Updated);
  EXPECT_EQ(object, maps().get("a"));
  EXPECT_TRUE(blockOn(ensureFinalizer(async, object, "example.com/x")));
  EXPECT_FALSE(blockOn(ensureFinalizer(async, object, "example.com/x")));
  maps().patch("a", PatchType::Merge, R"({"data":{"other":"x"}})");
  maps().remove("a");  // `object` is out of date now
  EXPECT_TRUE(blockOn(removeFinalizer(async, object, "example.com/x")));
  EXPECT_FALSE(maps().find("a"));
  EXPECT_FALSE(blockOn(removeFinalizer(async, object, "example.com/x")));
}

TEST_F(ReconcileTest, AnAwaitedFunctionMayAskTheServer) {
  maps().create(map("source", "blue"));
  const auto async = maps().async();
  corev1::ConfigMap object = map("a");
  const auto copy = [&]() -> Task<> {
    const corev1::ConfigMap source = co_await async.get("source");
    object.data["k"] = source.data["k"];
  };
  EXPECT_EQ(blockOn(createOrUpdate(async, object, copy)), OperationResult::Created);
  EXPECT_EQ(maps().get("a").data["k"], "blue");
  const auto rename = [&]() -> Task<> {
    object.metadata.name = "b";
    co_return;
  };
  EXPECT_THROW(blockOn(createOrPatch(async, object, rename)), Error);
}

Task<> reconciles(AsyncResourceClient<corev1::ConfigMap> maps) {
  corev1::ConfigMap object;
  object.metadata.name = "a";
  const auto change = [&]() -> Task<> {
    const auto other = co_await maps.find("other");
    object.data["n"] = object.data["n"] == "1" ? "2" : "1";
    EXPECT_FALSE(other.has_value());
  };
  try {
    co_await createOrPatch(maps, object, change);
    co_await createOrUpdate(maps, object, change);
    corev1::ConfigMap stale = object;
    co_await ensureFinalizer(maps, object, "example.com/x");
    co_await ensureFinalizer(maps, stale, "example.com/y");
    co_await removeFinalizer(maps, object, "example.com/x");
  } catch (const ApiError& error) {
    // The last error of a retry that was stopped, or a request of the task before came in between.
    if (!isConflict(error)) throw;
  }
}

TEST_F(ReconcileTest, IsStoppedOrDestroyedAtEachWait) {
  maps().create(map("a"));
  const auto make = [this] { return reconciles(maps().async()); };
  testing::stopAtEachWait(make);
  testing::destroyAtEachWait(make);
  EXPECT_TRUE(maps().find("a"));
}

}  // namespace
}  // namespace kube
