#include "kube/meta/any_object.h"

#include <gtest/gtest.h>

#include "kube/meta/internal/network_versions_testing.h"
#include "kube/meta/unstructured.h"

namespace kube {
namespace {

using networks::v1::Network;
using networks::v1::NetworkList;

TEST(AnyObjectTest, KnowsItsTypeAndGivesTheStruct) {
  Network network;
  network.metadata.name = "a";
  AnyObject object(network);
  ASSERT_NE(object.as<Network>(), nullptr);
  EXPECT_EQ(object.as<Network>()->metadata.name, "a");
  EXPECT_EQ(object.as<NetworkList>(), nullptr);
  EXPECT_EQ(std::as_const(object).as<Network>()->metadata.name, "a");
}

TEST(AnyObjectTest, IsOfTheKindOfItsTypeUnlessGivenAnother) {
  AnyObject object(TypeOf<Network>::info);
  EXPECT_EQ(object.gvk().str(), "samplecrd.k8s.io/v1, Kind=Network");
  object.setGvk({"other.io", "v3", "Net"});
  const AnyObject copy = object;
  EXPECT_EQ(copy.gvk().str(), "other.io/v3, Kind=Net");
  AnyObject assigned(TypeOf<NetworkList>::info);
  assigned = copy;
  EXPECT_EQ(assigned.gvk().str(), "other.io/v3, Kind=Net");
  EXPECT_NE(assigned.as<Network>(), nullptr);
  EXPECT_TRUE(AnyObject(TypeOf<networks::v1::Peer>::info).gvk().empty()) << "a part is no kind";
}

TEST(AnyObjectTest, AnUnstructuredHasTheKindInItsFields) {
  Unstructured dynamic;
  dynamic.setGvk({"apps", "v1", "Deployment"});
  AnyObject object(dynamic);
  EXPECT_EQ(object.gvk().str(), "apps/v1, Kind=Deployment");
  object.setGvk({"", "v1", "Pod"});
  EXPECT_EQ(object.as<Unstructured>()->apiVersion(), "v1");
  EXPECT_EQ(object.as<Unstructured>()->kind(), "Pod");
}

TEST(AnyObjectTest, CopiesAreIndependent) {
  AnyObject object(TypeOf<Network>::info);
  object.as<Network>()->spec->cidr = "10.0.0.0/8";
  AnyObject copy = object;
  copy.as<Network>()->spec->cidr = "192.168.0.0/16";
  EXPECT_EQ(std::as_const(*object.as<Network>()).spec->cidr, "10.0.0.0/8");
}

TEST(AnyObjectTest, MetadataIsFoundWhereTheTypeHasIt) {
  AnyObject object(TypeOf<Network>::info);
  ASSERT_NE(object.objectMeta(), nullptr);
  object.objectMeta()->name = "a";
  EXPECT_EQ(object.as<Network>()->metadata.name, "a");
  EXPECT_EQ(std::as_const(object).objectMeta()->name, "a");
  EXPECT_EQ(object.listMeta(), nullptr);

  AnyObject list(TypeOf<NetworkList>::info);
  ASSERT_NE(list.listMeta(), nullptr);
  list.listMeta()->resourceVersion = "7";
  EXPECT_EQ(std::as_const(list).listMeta()->resourceVersion, "7");
  EXPECT_EQ(list.objectMeta(), nullptr);

  AnyObject part(TypeOf<networks::v1::Peer>::info);
  EXPECT_EQ(part.objectMeta(), nullptr);
  EXPECT_EQ(part.listMeta(), nullptr);
}

}  // namespace
}  // namespace kube
