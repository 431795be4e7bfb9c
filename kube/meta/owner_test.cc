#include "kube/meta/owner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/meta/internal/sample_kind_testing.h"

namespace kube {
namespace {

using metav1::ObjectMeta;
using metav1::OwnerReference;
using testing::ElementsAre;

const GroupVersionKind kReplicaSet{"apps", "v1", "ReplicaSet"};

sample::Network network(String name, String namespace_ = "book") {
  sample::Network network;
  network.metadata = {.name = name, .namespace_ = std::move(namespace_), .uid = "uid-" + name};
  return network;
}

TEST(ControllerRefTest, NamesTheOwnerCompletely) {
  const OwnerReference expected{.apiVersion = "sample.io/v1",
                                .kind = "Network",
                                .name = "a",
                                .uid = "uid-a",
                                .controller = true,
                                .blockOwnerDeletion = true};
  EXPECT_EQ(newControllerRef(network("a")), expected);
  Unstructured dynamic;
  dynamic.setGvk({"sample.io", "v1", "Network"});
  dynamic.setName("a");
  dynamic.setUid("uid-a");
  EXPECT_EQ(newControllerRef(dynamic), expected);
  EXPECT_EQ(newControllerRef({.name = "a", .uid = "1"}, {"", "v1", "Node"}).apiVersion, "v1");
  EXPECT_THROW(newControllerRef(Unstructured()), Error);
}

TEST(ControllerRefTest, IsTheReferenceMarkedSo) {
  ObjectMeta meta;
  EXPECT_EQ(getControllerOf(meta), nullptr);
  meta.ownerReferences = {{.name = "a"}, {.name = "b", .controller = false}};
  EXPECT_EQ(getControllerOf(meta), nullptr);
  meta.ownerReferences.push_back({.name = "c", .uid = "3", .controller = true});
  ASSERT_NE(getControllerOf(meta), nullptr);
  EXPECT_EQ(getControllerOf(meta)->name, "c");
}

TEST(ControllerRefTest, IsKnownByItsUid) {
  const sample::Network owner = network("a");
  sample::Network object = network("b");
  EXPECT_FALSE(isControlledBy(object, owner));
  setControllerReference(owner, object);
  EXPECT_TRUE(isControlledBy(object, owner));
  sample::Network again = owner;
  again.metadata.uid = "another";
  EXPECT_FALSE(isControlledBy(object, again));
  Unstructured dynamic;
  dynamic.setOwnerReferences(object.metadata.ownerReferences);
  EXPECT_TRUE(isControlledBy(dynamic, owner));
  EXPECT_EQ(getControllerOf(dynamic)->name, "a");
  EXPECT_FALSE(getControllerOf(Unstructured()));
}

TEST(SetControllerReferenceTest, AddsOrBringsUpToDate) {
  sample::Network owner = network("a");
  sample::Network object = network("b");
  object.metadata.ownerReferences = {{.apiVersion = "v1", .kind = "Node", .name = "n", .uid = "9"}};
  setControllerReference(owner, object);
  ASSERT_EQ(object.metadata.ownerReferences.size(), 2U);
  EXPECT_EQ(object.metadata.ownerReferences[1], newControllerRef(owner));
  // The owner was created again under the same name.
  owner.metadata.uid = "new";
  setControllerReference(owner, object, {.blockOwnerDeletion = false});
  ASSERT_EQ(object.metadata.ownerReferences.size(), 2U);
  EXPECT_EQ(object.metadata.ownerReferences[1].uid, "new");
  EXPECT_EQ(object.metadata.ownerReferences[1].blockOwnerDeletion, false);
}

TEST(SetControllerReferenceTest, AnotherVersionIsTheSameOwner) {
  ObjectMeta object{.name = "p", .namespace_ = "book"};
  const ObjectMeta owner{.name = "a", .namespace_ = "book", .uid = "1"};
  setControllerReference(owner, {"apps", "v1beta1", "ReplicaSet"}, object);
  setControllerReference(owner, kReplicaSet, object);
  ASSERT_EQ(object.ownerReferences.size(), 1U);
  EXPECT_EQ(object.ownerReferences[0].apiVersion, "apps/v1");
  EXPECT_THROW(setControllerReference(owner, {"extensions", "v1", "ReplicaSet"}, object),
               AlreadyOwnedError);
}

TEST(SetControllerReferenceTest, OfAnotherControllerIsRefused) {
  const ObjectMeta owner{.name = "a", .namespace_ = "book", .uid = "1"};
  ObjectMeta object{.name = "p", .namespace_ = "book"};
  setControllerReference(owner, kReplicaSet, object);
  const ObjectMeta before = object;
  try {
    setControllerReference({.name = "b", .namespace_ = "book", .uid = "2"}, kReplicaSet, object);
    FAIL();
  } catch (const AlreadyOwnedError& e) {
    EXPECT_STREQ(e.what(),
                 "book/p: cannot be controlled by ReplicaSet \"b\": is already controlled by "
                 "ReplicaSet \"a\"");
    EXPECT_EQ(e.owner().uid, "1");
  }
  EXPECT_EQ(object, before);
}

std::string refusal(String ownerNamespace, String objectNamespace) {
  ObjectMeta object{.name = "p", .namespace_ = std::move(objectNamespace)};
  const ObjectMeta owner{.name = "a", .namespace_ = std::move(ownerNamespace), .uid = "1"};
  std::string message;
  try {
    setControllerReference(owner, kReplicaSet, object);
  } catch (const Error& e) {
    message = e.what();
    EXPECT_TRUE(object.ownerReferences.empty());
    EXPECT_THROW(setOwnerReference(owner, kReplicaSet, object), Error);
  }
  return message;
}

TEST(SetControllerReferenceTest, StaysInANamespace) {
  EXPECT_EQ(refusal("book", "book"), "");
  EXPECT_EQ(refusal("", "book"), "");
  EXPECT_EQ(refusal("", ""), "");
  EXPECT_EQ(refusal("shop", "book"),
            "book/p: cannot be owned by ReplicaSet \"a\" in namespace \"shop\": cross-namespace "
            "owner references are disallowed");
  EXPECT_EQ(refusal("shop", ""),
            "p: cannot be owned by ReplicaSet \"a\" in namespace \"shop\": cluster-scoped resource "
            "must not have a namespace-scoped owner");
}

TEST(SetOwnerReferenceTest, IsNoController) {
  sample::Network object = network("b");
  setOwnerReference(network("a"), object);
  setOwnerReference(network("c"), object, {.blockOwnerDeletion = true});
  setOwnerReference(network("a"), object);
  ASSERT_EQ(object.metadata.ownerReferences.size(), 2U);
  EXPECT_EQ(object.metadata.ownerReferences[0].controller, std::nullopt);
  EXPECT_EQ(object.metadata.ownerReferences[0].blockOwnerDeletion, std::nullopt);
  EXPECT_EQ(object.metadata.ownerReferences[1].blockOwnerDeletion, true);
  EXPECT_EQ(getControllerOf(object), nullptr);
}

TEST(RemoveOwnerReferenceTest, ReturnsWhetherThereWasOne) {
  sample::Network object = network("b");
  setOwnerReference(network("a"), object);
  setOwnerReference(network("c"), object);
  EXPECT_FALSE(removeOwnerReference(network("d"), object));
  EXPECT_TRUE(removeOwnerReference(network("a"), object));
  EXPECT_FALSE(removeOwnerReference(network("a"), object));
  ASSERT_EQ(object.metadata.ownerReferences.size(), 1U);
  EXPECT_EQ(object.metadata.ownerReferences[0].name, "c");
}

TEST(OwnerReferencesTest, OfDynamicObjects) {
  Unstructured object;
  object.setName("b");
  object.setNamespace("book");
  setControllerReference(network("a"), object);
  EXPECT_THAT(object.ownerReferences(), ElementsAre(newControllerRef(network("a"))));
  EXPECT_THROW(setControllerReference(network("x"), object), AlreadyOwnedError);
  setOwnerReference(network("c"), object);
  EXPECT_TRUE(removeOwnerReference(network("a"), object));
  ASSERT_EQ(object.ownerReferences().size(), 1U);
}

TEST(OwnerReferencesTest, AreLookedFor) {
  sample::Network object = network("b");
  EXPECT_FALSE(hasControllerReference(object));
  setOwnerReference(network("a"), object);
  EXPECT_TRUE(hasOwnerReference(network("a"), object));
  EXPECT_FALSE(hasOwnerReference(network("c"), object));
  EXPECT_FALSE(hasControllerReference(object));
  setControllerReference(network("c"), object);
  EXPECT_TRUE(hasControllerReference(object));
  Unstructured dynamic;
  dynamic.setOwnerReferences(object.metadata.ownerReferences);
  EXPECT_TRUE(hasOwnerReference(network("c"), dynamic));
  EXPECT_TRUE(hasControllerReference(dynamic));
}

TEST(OwnerReferencesTest, OfTheControllerAreRemovedAlone) {
  sample::Network object = network("b");
  setOwnerReference(network("a"), object);
  setControllerReference(network("c"), object);
  EXPECT_FALSE(removeControllerReference(network("a"), object)) << "an owner that does not control";
  EXPECT_FALSE(removeControllerReference(network("d"), object));
  EXPECT_TRUE(removeControllerReference(network("c"), object));
  ASSERT_EQ(object.metadata.ownerReferences.size(), 1U);
  EXPECT_EQ(object.metadata.ownerReferences[0].name, "a");
}

TEST(OwnerReferencesTest, OfACopyLeaveTheOriginalAlone) {
  sample::Network object = network("b");
  setControllerReference(network("a"), object);
  const sample::Network cached = object;
  EXPECT_TRUE(removeOwnerReference(network("a"), object));
  EXPECT_EQ(cached.metadata.ownerReferences.size(), 1U);
}

}  // namespace
}  // namespace kube
