#include "kube/meta/unstructured.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "kube/base/error.h"

namespace kube {
namespace {

TEST(UnstructuredTest, EmptyOneReadsAsEmptyEverywhere) {
  const Unstructured object;
  EXPECT_EQ(object.apiVersion(), "");
  EXPECT_EQ(object.kind(), "");
  EXPECT_TRUE(object.gvk().empty());
  EXPECT_EQ(object.name(), "");
  EXPECT_EQ(object.generation(), 0);
  EXPECT_TRUE(object.creationTimestamp().isZero());
  EXPECT_EQ(object.deletionGracePeriodSeconds(), std::nullopt);
  EXPECT_TRUE(object.labels().empty());
  EXPECT_TRUE(object.ownerReferences().empty());
  EXPECT_FALSE(object.isList());
  EXPECT_EQ(object.nestedString("spec", "nodeName"), std::nullopt);
}

TEST(UnstructuredTest, SettersPutTheFieldsWhereTheApiHasThem) {
  Unstructured object;
  object.setGvk({"apps", "v1", "Deployment"});
  object.setName("web");
  object.setGenerateName("web-");
  object.setNamespace("book");
  object.setUid("u1");
  object.setResourceVersion("7");
  object.setSelfLink("/x");
  object.setGeneration(2);
  object.setCreationTimestamp(Time::parse("2024-01-02T03:04:05Z"));
  object.setDeletionTimestamp(Time::parse("2024-01-02T03:04:06Z"));
  object.setDeletionGracePeriodSeconds(0);
  object.setLabels({{"app", "web"}});
  object.setAnnotations({{"a.b/c", "d"}});
  object.setFinalizers({"f"});
  object.setManagedFields({Value::Object{{"manager", "m"}}});
  EXPECT_EQ(
      object.object,
      (Value::Object{{"apiVersion", "apps/v1"},
                     {"kind", "Deployment"},
                     {"metadata", Value::Object{{"name", "web"},
                                                {"generateName", "web-"},
                                                {"namespace", "book"},
                                                {"uid", "u1"},
                                                {"resourceVersion", "7"},
                                                {"selfLink", "/x"},
                                                {"generation", 2},
                                                {"creationTimestamp", "2024-01-02T03:04:05Z"},
                                                {"deletionTimestamp", "2024-01-02T03:04:06Z"},
                                                {"deletionGracePeriodSeconds", 0},
                                                {"labels", Value::Object{{"app", "web"}}},
                                                {"annotations", Value::Object{{"a.b/c", "d"}}},
                                                {"finalizers", Value::Array{"f"}},
                                                {"managedFields", Value::Array{Value(Value::Object{
                                                                      {"manager", "m"}})}}}}}));

  EXPECT_EQ(object.gvk(), (GroupVersionKind{"apps", "v1", "Deployment"}));
  EXPECT_EQ(object.name(), "web");
  EXPECT_EQ(object.generateName(), "web-");
  EXPECT_EQ(object.namespace_(), "book");
  EXPECT_EQ(object.uid(), "u1");
  EXPECT_EQ(object.resourceVersion(), "7");
  EXPECT_EQ(object.selfLink(), "/x");
  EXPECT_EQ(object.generation(), 2);
  EXPECT_EQ(object.creationTimestamp().str(), "2024-01-02T03:04:05Z");
  EXPECT_EQ(object.deletionTimestamp().str(), "2024-01-02T03:04:06Z");
  EXPECT_EQ(object.deletionGracePeriodSeconds(), 0);
  EXPECT_EQ(object.labels(), (Map<String>{{"app", "web"}}));
  EXPECT_EQ(object.annotations(), (Map<String>{{"a.b/c", "d"}}));
  EXPECT_EQ(object.finalizers(), List<String>{"f"});
  EXPECT_EQ(object.managedFields().size(), 1u);
}

TEST(UnstructuredTest, SettingSomethingEmptyRemovesTheField) {
  Unstructured object;
  object.setName("web");
  object.setUid("u");
  object.setResourceVersion("1");
  object.setGeneration(2);
  object.setCreationTimestamp(Time::fromUnix(0));
  object.setDeletionGracePeriodSeconds(5);
  object.setLabels({{"a", "b"}});
  object.setFinalizers({"f"});
  object.setOwnerReferences({metav1::OwnerReference()});
  object.setManagedFields({Value(1)});
  object.setUid("");
  object.setResourceVersion({});
  object.setGeneration(0);
  object.setCreationTimestamp({});
  object.setDeletionGracePeriodSeconds({});
  object.setLabels({});
  object.setFinalizers({});
  object.setOwnerReferences({});
  object.setManagedFields({});
  EXPECT_EQ(object.object["metadata"], Value(Value::Object{{"name", "web"}}));
}

TEST(UnstructuredTest, RemovingFromAnEmptyObjectMakesNothing) {
  Unstructured object;
  object.setName("");
  object.setLabels({});
  EXPECT_TRUE(object.object.isNull());
}

TEST(UnstructuredTest, OwnerReferencesComeAndGoTyped) {
  metav1::OwnerReference controller;
  controller.apiVersion = "apps/v1";
  controller.kind = "ReplicaSet";
  controller.name = "web";
  controller.uid = "u";
  controller.controller = true;
  metav1::OwnerReference other;
  other.name = "p";
  other.blockOwnerDeletion = false;
  const List<metav1::OwnerReference> owners{controller, other};
  Unstructured object;
  object.setOwnerReferences(owners);
  EXPECT_EQ(object.ownerReferences(), owners);
  EXPECT_EQ(std::as_const(object).object["metadata"]["ownerReferences"][0],
            (Value::Object{{"apiVersion", "apps/v1"},
                           {"kind", "ReplicaSet"},
                           {"name", "web"},
                           {"uid", "u"},
                           {"controller", true}}));
}

TEST(UnstructuredTest, WrongTypesReadAsEmptyThroughGetters) {
  const Unstructured object(
      Value::Object{{"kind", 1},
                    {"apiVersion", "a/b/c"},
                    {"metadata", Value::Object{{"name", 1},
                                               {"generation", "2"},
                                               {"creationTimestamp", "yesterday"},
                                               {"deletionTimestamp", nullptr},
                                               {"labels", Value::Object{{"a", "b"}, {"c", 1}}},
                                               {"annotations", Value::Object{{"a", nullptr}}},
                                               {"finalizers", Value::Array{"a", 1}},
                                               {"ownerReferences", Value::Array{"a"}}}}});
  EXPECT_EQ(object.kind(), "");
  EXPECT_TRUE(object.gvk().empty());
  EXPECT_EQ(object.name(), "");
  EXPECT_EQ(object.generation(), 0);
  EXPECT_TRUE(object.creationTimestamp().isZero());
  EXPECT_TRUE(object.deletionTimestamp().isZero());
  EXPECT_TRUE(object.labels().empty());
  EXPECT_EQ(object.annotations(), (Map<String>{{"a", ""}}));
  EXPECT_TRUE(object.finalizers().empty());
  EXPECT_TRUE(object.ownerReferences().empty());
  EXPECT_EQ(Unstructured(Value::Object{{"metadata", "text"}}).name(), "");
}

TEST(UnstructuredTest, PathsAreKeysOneByOneOrInAList) {
  Unstructured object;
  object.setNestedField(3, "spec", "replicas");
  object.setNestedField("n", {"spec", "name"});
  object.setNestedField(true, std::string("spec"), String("paused"));
  object.setNestedField(Value::Array{"a"}, "spec", "args");
  object.setNestedField(Value::Object{{"a", "b"}}, "spec", "labels");
  EXPECT_EQ(object.nestedInt64("spec", "replicas"), 3);
  EXPECT_EQ(object.nestedInt64({"spec", "replicas"}), 3);
  EXPECT_EQ(object.nestedDouble("spec", "replicas"), 3);
  EXPECT_EQ(object.nestedString("spec", "name"), "n");
  EXPECT_EQ(object.nestedBool("spec", "paused"), true);
  EXPECT_EQ(object.nestedStringList("spec", "args"), List<String>{"a"});
  EXPECT_EQ(object.nestedStringMap("spec", "labels"), (Map<String>{{"a", "b"}}));
  EXPECT_EQ(object.nestedSlice("spec", "args")->size(), 1u);
  EXPECT_EQ(object.nestedMap("spec")->size(), 5u);
  EXPECT_EQ(object.nestedField("spec", "labels", "a"), Value("b"));
  EXPECT_THROW(object.nestedString("spec", "replicas"), DecodeError);
  EXPECT_TRUE(object.removeNestedField("spec", "labels"));
  EXPECT_FALSE(object.removeNestedField({"spec", "labels"}));
}

TEST(UnstructuredTest, WritingACopyLeavesTheOriginalAlone) {
  Unstructured original;
  original.setName("a");
  Unstructured copy = original;
  copy.setName("b");
  EXPECT_EQ(original.name(), "a");
  EXPECT_NE(original, copy);
}

TEST(UnstructuredTest, ListIsWhatHasAnArrayOfItems) {
  EXPECT_TRUE(Unstructured(Value::Object{{"items", Value::Array{}}}).isList());
  EXPECT_FALSE(Unstructured(Value::Object{{"items", nullptr}}).isList());
  EXPECT_FALSE(Unstructured(Value::Object{{"items", Value::Object{}}}).isList());
}

TEST(UnstructuredListTest, IsTakenOutOfAnObjectAndPutBack) {
  const Unstructured whole(Value::Object{
      {"kind", "PodList"},
      {"apiVersion", "v1"},
      {"metadata", Value::Object{{"resourceVersion", "9"}}},
      {"items", Value::Array{Value::Object{{"metadata", Value::Object{{"name", "a"}}}},
                             Value::Object{{"metadata", Value::Object{{"name", "b"}}}}}}});
  const UnstructuredList list = whole.toList();
  ASSERT_EQ(list.items.size(), 2u);
  EXPECT_EQ(list.items[1].name(), "b");
  EXPECT_EQ(list.gvk(), (GroupVersionKind{"", "v1", "PodList"}));
  EXPECT_EQ(list.resourceVersion(), "9");
  EXPECT_FALSE(list.object.asObject().contains("items"));
  EXPECT_EQ(list.toUnstructured(), whole);
}

TEST(UnstructuredListTest, ObjectsThatAreNotListsAreRefused) {
  EXPECT_THROW(Unstructured().toList(), DecodeError);
  EXPECT_THROW(Unstructured(Value::Object{{"items", 1}}).toList(), DecodeError);
  try {
    Unstructured(Value::Object{{"items", Value::Array{Value::Object{}, 1}}}).toList();
    FAIL() << "nothing was thrown";
  } catch (const DecodeError& e) {
    EXPECT_EQ(e.path(), "items[1]");
  }
}

TEST(UnstructuredListTest, MetadataOfTheList) {
  UnstructuredList list;
  EXPECT_EQ(list.remainingItemCount(), std::nullopt);
  list.setGvk({"apps", "v1", "DeploymentList"});
  list.setResourceVersion("1");
  list.setContinue("token");
  list.setRemainingItemCount(0);
  list.setSelfLink("/x");
  EXPECT_EQ(list.apiVersion(), "apps/v1");
  EXPECT_EQ(list.kind(), "DeploymentList");
  EXPECT_EQ(list.continue_(), "token");
  EXPECT_EQ(list.remainingItemCount(), 0);
  EXPECT_EQ(std::as_const(list).object["metadata"], (Value::Object{{"resourceVersion", "1"},
                                                                   {"continue", "token"},
                                                                   {"remainingItemCount", 0},
                                                                   {"selfLink", "/x"}}));
  list.setContinue("");
  list.setRemainingItemCount({});
  EXPECT_EQ(list.continue_(), "");
  EXPECT_EQ(list.remainingItemCount(), std::nullopt);
}

}  // namespace
}  // namespace kube
