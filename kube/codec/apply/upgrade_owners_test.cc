// No threads.
#include "kube/codec/apply/upgrade_owners.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/base/error.h"
#include "kube/codec/json.h"

namespace kube {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

metav1::ManagedFieldsEntry entry(String manager, String operation, String fields,
                                 String apiVersion = "apps/v1", String subresource = {}) {
  return {.manager = std::move(manager),
          .operation = std::move(operation),
          .apiVersion = std::move(apiVersion),
          .fieldsType = "FieldsV1",
          .fieldsV1 = {std::move(fields)},
          .subresource = std::move(subresource)};
}

const String kReplicas = R"({"f:spec":{"f:replicas":{}}})";
const String kPaused = R"({"f:spec":{"f:paused":{}}})";
const String kBoth = R"({"f:spec":{"f:paused":{},"f:replicas":{}}})";
const OwnerUpgrade kUpgrade{.from = {"kubectl"}, .to = "mine"};

TEST(UpgradeOwnersTest, AnUpdaterBecomesTheApplier) {
  EXPECT_THAT(
      upgradeFieldOwners({entry("kubectl", "Update", kReplicas), entry("other", "Update", kPaused)},
                         kUpgrade),
      ElementsAre(entry("mine", "Apply", kReplicas), entry("other", "Update", kPaused)));
}

TEST(UpgradeOwnersTest, FieldsJoinThoseOfTheApplier) {
  EXPECT_THAT(
      upgradeFieldOwners({entry("kubectl", "Update", kReplicas), entry("mine", "Apply", kPaused)},
                         kUpgrade),
      ElementsAre(entry("mine", "Apply", kBoth)));
}

TEST(UpgradeOwnersTest, SeveralUpdatersAreJoined) {
  EXPECT_THAT(upgradeFieldOwners(
                  {entry("kubectl", "Update", kReplicas), entry("controller", "Update", kPaused)},
                  {.from = {"kubectl", "controller"}, .to = "mine"}),
              ElementsAre(entry("mine", "Apply", kBoth)));
}

TEST(UpgradeOwnersTest, OnlyFieldsOfTheSameVersionAreJoined) {
  EXPECT_THAT(upgradeFieldOwners({entry("kubectl", "Update", kReplicas, "apps/v1beta1"),
                                  entry("mine", "Apply", kPaused)},
                                 kUpgrade),
              ElementsAre(entry("mine", "Apply", kPaused)))
      << "the paths of another version may mean other fields";
}

TEST(UpgradeOwnersTest, EntriesOfSubresourcesAreSeparate) {
  const FieldOwners owners{entry("kubectl", "Update", kReplicas, "apps/v1", "status")};
  EXPECT_EQ(upgradeFieldOwners(owners, kUpgrade), owners);
  OwnerUpgrade ofStatus = kUpgrade;
  ofStatus.subresource = "status";
  EXPECT_THAT(upgradeFieldOwners(owners, ofStatus),
              ElementsAre(entry("mine", "Apply", kReplicas, "apps/v1", "status")));
}

TEST(UpgradeOwnersTest, ThePatchReplacesOwnersOfThatVersionOnly) {
  metav1::ObjectMeta object{.name = "web",
                            .resourceVersion = "7",
                            .managedFields = {entry("kubectl", "Update", kReplicas)}};
  const auto patch = upgradeManagedFieldsPatch(object, kUpgrade);
  ASSERT_TRUE(patch);
  const Value operations = parseJson(*patch);
  EXPECT_EQ(operations[0]["path"].asString(), "/metadata/managedFields");
  EXPECT_EQ(operations[0]["value"][0]["manager"].asString(), "mine");
  EXPECT_EQ(toJson(operations[0]["value"][0]["fieldsV1"]), kReplicas.view());
  EXPECT_EQ(toJson(operations[1]),
            R"({"op":"replace","path":"/metadata/resourceVersion","value":"7"})");
  EXPECT_TRUE(upgradeManagedFields(object, kUpgrade));
  EXPECT_FALSE(upgradeManagedFields(object, kUpgrade)) << "again";
  EXPECT_FALSE(upgradeManagedFieldsPatch(object, kUpgrade));
  object.managedFields = {entry("kubectl", "Update", kReplicas)};
  object.resourceVersion = String();
  EXPECT_THROW(upgradeManagedFieldsPatch(object, kUpgrade), Error);
}

TEST(UpgradeOwnersTest, OwnersOfFieldsAreFound) {
  const FieldOwners owners{entry("a", "Update", kBoth), entry("b", "Update", kPaused),
                           entry("c", "Apply", kBoth), entry("d", "Update", "{\"x\"")};
  const auto found = findFieldOwners(owners, "Update", FieldSet::parse(kReplicas));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].manager, "a");
  EXPECT_THAT(findFieldOwners(owners, "Apply", FieldSet::parse(kReplicas)), SizeIs(1));
}

}  // namespace
}  // namespace kube
