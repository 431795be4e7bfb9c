#include "kube/codec/patch/patch.h"

#include <gtest/gtest.h>

#include <sstream>

#include "kube/base/error.h"
#include "kube/codec/apply/internal/apply_types_testing.h"
#include "kube/codec/internal/sample_types_testing.h"
#include "kube/meta/unstructured.h"

namespace kube {
namespace {

TEST(PatchTypeTest, HasAWordAndAContentType) {
  struct Case {
    PatchType type;
    const char *word, *contentType;
  };
  for (const Case& c :
       {Case{PatchType::Json, "json", "application/json-patch+json"},
        Case{PatchType::Merge, "merge", "application/merge-patch+json"},
        Case{PatchType::StrategicMerge, "strategic", "application/strategic-merge-patch+json"},
        Case{PatchType::Apply, "apply", "application/apply-patch+yaml"}}) {
    EXPECT_EQ(toString(c.type), c.word);
    EXPECT_EQ(parsePatchType(c.word), c.type);
    EXPECT_EQ(contentType(c.type), c.contentType);
    EXPECT_EQ(patchTypeOf(c.contentType), c.type);
    std::ostringstream out;
    out << c.type;
    EXPECT_EQ(out.str(), c.word);
  }
  EXPECT_EQ(patchTypeOf("Application/JSON-Patch+json ; charset=utf-8"), PatchType::Json);
  EXPECT_EQ(patchTypeOf("application/json"), std::nullopt);
  EXPECT_EQ(patchTypeOf(""), std::nullopt);
  EXPECT_EQ(parsePatchType("strategic-merge"), std::nullopt);
}

TEST(TwoWayMergePatchTest, CustomResourcesGetJsonMergePatches) {
  samplecrdv1::Network before;
  before.metadata.name = "n";
  before.spec->cidr = "10.0.0.0/8";
  before.spec->mtu = 1500;
  samplecrdv1::Network after = before;
  EXPECT_EQ(createTwoWayMergePatch(before, after), "{}");
  after.spec->mtu.reset();
  after.spec->peers.push_back({.name = "p", .peers = {}});
  after.metadata.finalizers.push_back("f");
  EXPECT_EQ(
      createTwoWayMergePatch(before, after),
      R"({"metadata":{"finalizers":["f"]},"spec":{"mtu":null,"peerNetworks":[{"name":"p"}]}})");
  EXPECT_EQ(mergePatchType<samplecrdv1::Network>(), PatchType::Merge);
  EXPECT_EQ(mergePatchType<Unstructured>(), PatchType::Merge);
  EXPECT_EQ(mergePatchType<applytypes::Thing>(), PatchType::StrategicMerge);
}

TEST(TwoWayMergePatchTest, AnOptimisticLockNamesTheVersionThatWasRead) {
  samplecrdv1::Network before;
  before.spec->cidr = "a";
  samplecrdv1::Network after = before;
  EXPECT_TRUE(mergeFrom(before, after, {.optimisticLock = true}).empty()) << "nothing to lock";
  after.spec->cidr = "b";
  EXPECT_THROW(mergeFrom(before, after, {.optimisticLock = true}), Error);
  before.metadata.resourceVersion = "7";
  after.metadata.resourceVersion = "7";
  const MergePatch patch = mergeFrom(before, after, {.optimisticLock = true});
  EXPECT_EQ(patch.type, PatchType::Merge);
  EXPECT_EQ(patch.body, R"({"metadata":{"resourceVersion":"7"},"spec":{"cidr":"b"}})");
  EXPECT_EQ(mergeFrom(before, after).body, R"({"spec":{"cidr":"b"}})");
}

TEST(TwoWayMergePatchTest, ATypeMayBeAskedFor) {
  applytypes::Thing thing;
  EXPECT_EQ(mergeFrom(thing, thing).type, PatchType::StrategicMerge);
  EXPECT_EQ(mergeFrom(thing, thing, {.type = PatchType::Merge}).type, PatchType::Merge);
  const samplecrdv1::Network network;
  EXPECT_THROW(mergeFrom(network, network, {.type = PatchType::StrategicMerge}), Error);
  EXPECT_THROW(mergeFrom(network, network, {.type = PatchType::Json}), Error);
}

TEST(TwoWayMergePatchTest, ObjectsOfAnyType) {
  samplecrdv1::Network network;
  network.spec->cidr = "a";
  AnyObject before(network);
  network.spec->cidr = "b";
  EXPECT_EQ(createTwoWayMergePatch(before, AnyObject(network)), R"({"spec":{"cidr":"b"}})");
  EXPECT_THROW(createTwoWayMergePatch(before, AnyObject(samplecrdv1::Peer())), Error);
}

}  // namespace
}  // namespace kube
