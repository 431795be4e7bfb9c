#include "kube/meta/mapping/static_rest_mapper.h"

#include <gtest/gtest.h>

#include "kube/meta/describe.h"

namespace staticmapper {
struct Thing {
  kube::metav1::ObjectMeta metadata;
};
struct ThingList {
  kube::metav1::ListMeta metadata;
  kube::List<Thing> items;
};
struct BetaThing {
  kube::metav1::ObjectMeta metadata;
};
struct OldThing {
  kube::metav1::ObjectMeta metadata;
};
struct OtherThing {
  kube::metav1::ObjectMeta metadata;
};
struct Zone {
  kube::metav1::ObjectMeta metadata;
};
}  // namespace staticmapper

KUBE_DESCRIBE_KIND(staticmapper::Thing,
                   (.group = "b.example.com", .version = "v1", .kind = "Thing", .plural = "things",
                    .singular = "thing", .namespaced = true),
                   metadata);
KUBE_DESCRIBE_LIST(staticmapper::ThingList);
KUBE_DESCRIBE_KIND(staticmapper::BetaThing,
                   (.group = "b.example.com", .version = "v1beta1", .kind = "Thing",
                    .plural = "things", .singular = "thing", .namespaced = true),
                   metadata);
KUBE_DESCRIBE_KIND(staticmapper::OldThing,
                   (.group = "a.example.com", .version = "v2", .kind = "Thing", .plural = "things",
                    .singular = "thing", .namespaced = true, .retired = true),
                   metadata);
KUBE_DESCRIBE_KIND(staticmapper::OtherThing,
                   (.group = "c.example.com", .version = "v1", .kind = "Thing", .plural = "things",
                    .singular = "thing", .namespaced = true),
                   metadata);
KUBE_DESCRIBE_KIND(staticmapper::Zone,
                   (.group = "a.example.com", .version = "v1", .kind = "Zone", .plural = "zones"),
                   metadata);

namespace kube {
namespace {

template <class T>
const TypeInfo* typeOf() {
  return &TypeOf<T>::info;
}
const std::vector<const TypeInfo*>& mappedTypes() {
  using namespace staticmapper;
  static const std::vector<const TypeInfo*> types = {typeOf<OldThing>(),   typeOf<BetaThing>(),
                                                     typeOf<ThingList>(),  typeOf<Thing>(),
                                                     typeOf<OtherThing>(), typeOf<Zone>()};
  return types;
}

TEST(StaticRestMapperTest, OfTablesPrefersCurrentThenGroupThenVersion) {
  const StaticRestMapper mapper(mappedTypes());
  EXPECT_EQ(mapper.kindsFor({.resource = "things"}),
            (std::vector<GroupVersionKind>{{"b.example.com", "v1", "Thing"},
                                           {"b.example.com", "v1beta1", "Thing"},
                                           {"c.example.com", "v1", "Thing"},
                                           {"a.example.com", "v2", "Thing"}}));
  EXPECT_EQ(mapper.kindFor({.resource = "thing"}),
            (GroupVersionKind{"b.example.com", "v1", "Thing"}));
  EXPECT_EQ(mapper.resourceFor({.resource = "Things"}),
            (GroupVersionResource{"b.example.com", "v1", "things"}));
  EXPECT_EQ(mapper.kindFor({"a.example", "", "things"}).version, "v2");
  EXPECT_EQ(mapper.kindFor({"", "v2", "things"}).group, "a.example.com");
  EXPECT_EQ(mapper.kindFor({"b.example.com", "v1beta1", "things"}).version, "v1beta1");
  EXPECT_EQ(mapper.resourceSingularizer("things"), "thing");
}

TEST(StaticRestMapperTest, OfTablesTakesAnOrderOfGroups) {
  const std::vector<std::string_view> groups = {"x", "c.example.com"};
  const StaticRestMapper mapper(mappedTypes(), groups);
  EXPECT_EQ(mapper.kindFor({.resource = "things"}).group, "c.example.com");
  EXPECT_EQ(mapper.kindsFor({.resource = "things"}).back().group, "a.example.com");
}

TEST(StaticRestMapperTest, OfTablesMapsKindsAndKnowsNoLists) {
  const StaticRestMapper mapper(mappedTypes());
  const GroupKind thing{"b.example.com", "Thing"};
  EXPECT_EQ(mapper.restMapping(thing).gvk.version, "v1");
  EXPECT_EQ(mapper.restMapping(thing).scope, RestScope::Namespace);
  EXPECT_EQ(mapper.restMapping(thing, {"v7", "v1beta1"}).gvk.version, "v1beta1");
  EXPECT_EQ(mapper.restMappings(thing).size(), 2U);
  EXPECT_EQ(mapper.restMappings(thing, {"v1beta1", "v1"}).front().gvk.version, "v1beta1");
  EXPECT_THROW(mapper.restMapping(thing, {"v7"}), NoKindMatchError);
  EXPECT_EQ(mapper.restMapping({"a.example.com", "Zone"}).scope, RestScope::Root);
  EXPECT_EQ(mapper.kindFor({.resource = "zone"}).kind, "Zone");  // a guessed singular
  EXPECT_THROW(mapper.restMapping({"b.example.com", "ThingList"}), NoKindMatchError);
}

metav1::APIGroup group(String name, std::initializer_list<const char*> versions) {
  metav1::APIGroup result{.name = name};
  for (const char* version : versions) {
    result.versions.push_back(
        {.groupVersion = GroupVersion{name, version}.str(), .version = version});
  }
  result.preferredVersion = result.versions.front();
  return result;
}
metav1::APIResource resource(String name, String kind, bool namespaced = true) {
  return {.name = name, .namespaced = namespaced, .kind = kind};
}

std::vector<ApiGroupResources> discovered() {
  const auto broccoli = resource("broccoli", "Broccoli");
  const auto peas = resource("peas", "Pea");
  ApiGroupResources versions{
      group("unpreferred", {"v1", "v2beta1", "v2alpha1"}),
      {{"v1", {broccoli}}, {"v2beta1", {broccoli, peas}}, {"v2alpha1", {broccoli, peas}}}};
  return {{group("extensions", {"v1beta"}),
           {{"v1beta", {resource("jobs", "Job"), resource("pods", "Pod")}}}},
          {group("", {"v1", "v2"}),
           {{"v1",
             {resource("pods", "Pod"), resource("pods/status", "Pod"),
              resource("nodes", "Node", false)}},
            {"v2", {resource("pods", "Pod")}}}},
          versions};
}

TEST(StaticRestMapperTest, OfDiscoveryPrefersCoreThenTheServersOrder) {
  const StaticRestMapper mapper(discovered());
  const auto kind = [&](GroupVersionResource partial) { return mapper.kindFor(partial); };
  EXPECT_EQ(kind({.resource = "pods"}), (GroupVersionKind{"", "v1", "Pod"}));
  EXPECT_EQ(kind({"", "v1", "pods"}), (GroupVersionKind{"", "v1", "Pod"}));
  EXPECT_EQ(kind({"", "v2", "pods"}), (GroupVersionKind{"", "v2", "Pod"}));
  EXPECT_EQ(kind({.resource = "jobs"}), (GroupVersionKind{"extensions", "v1beta", "Job"}));
  // Resources that only versions other than the preferred one have.
  EXPECT_EQ(kind({.resource = "peas"}), (GroupVersionKind{"unpreferred", "v2beta1", "Pea"}));
  EXPECT_EQ(kind({.resource = "broccoli"}).version, "v1");
  EXPECT_EQ(mapper.resourceFor({.resource = "pod"}), (GroupVersionResource{"", "v1", "pods"}));
  EXPECT_EQ(mapper.restMapping({"", "Node"}).scope, RestScope::Root);
  EXPECT_EQ(mapper.restMapping({"", "Pod"}, {"v2"}).gvr.version, "v2");
  EXPECT_EQ(mapper.restMapping({"unpreferred", "Pea"}).gvr.version, "v2beta1");
  EXPECT_THROW(kind({.resource = "pods/status"}), NoResourceMatchError);
  EXPECT_THROW(mapper.restMapping({"", "Job"}), NoKindMatchError);
}

TEST(StaticRestMapperTest, OfDiscoveryPutsThePreferredVersionFirstWhereverItStands) {
  ApiGroupResources versions{
      group("g", {"v1", "v2"}),
      {{"v1", {resource("things", "Thing")}}, {"v2", {resource("things", "Thing")}}}};
  versions.group.preferredVersion->version = "v2";
  const StaticRestMapper mapper(std::vector{versions});
  EXPECT_EQ(mapper.kindFor({.resource = "things"}).version, "v2");
  EXPECT_EQ(mapper.restMappings({"g", "Thing"}).front().gvk.version, "v2");
}

TEST(StaticRestMapperTest, OfDiscoveryGuessesListsAndLowerCaseKinds) {
  const StaticRestMapper mapper(discovered());
  EXPECT_EQ(mapper.restMapping({"", "pod"}).gvr.resource, "pods");
  EXPECT_EQ(mapper.restMapping({"", "PodList"}).gvr.resource, "podlists");
  EXPECT_EQ(mapper.restMapping({"", "List"}, {"v1"}).scope, RestScope::Root);
  // Resources of a server replace guesses.
  const StaticRestMapper lists(std::vector<ApiGroupResources>{
      {group("g", {"v1"}),
       {{"v1",
         {{.name = "allowlists", .singularName = "allowlist", .kind = "AllowList"},
          resource("allows", "Allow"),
          resource("lists", "List")}}}}});
  EXPECT_EQ(lists.restMapping({"g", "AllowList"}).scope, RestScope::Root);
  EXPECT_EQ(lists.restMapping({"g", "List"}).scope, RestScope::Namespace);
  EXPECT_EQ(lists.kindFor({.resource = "allowlists"}).kind, "AllowList");
}

TEST(JoinedGroupResourcesTest, LeaveOutVersionsWithoutResources) {
  const List<metav1::APIGroup> groups = {group("a", {"v1", "v2"}), group("b", {"v1"})};
  const List<metav1::APIResourceList> lists = {
      {.groupVersion = "b/v1", .resources = {resource("bars", "Bar")}},
      {.groupVersion = "a/v1", .resources = {resource("foos", "Foo")}},
      {.groupVersion = "c/v1", .resources = {resource("others", "Other")}}};
  const std::vector<ApiGroupResources> joined = joinGroupResources(groups, lists);
  ASSERT_EQ(joined.size(), 2U);
  EXPECT_EQ(joined[0].group, groups[0]);
  EXPECT_EQ(joined[0].versionedResources.size(), 1U);
  EXPECT_EQ(joined[0].versionedResources["v1"][0].kind, "Foo");
  EXPECT_EQ(joined[1].versionedResources["v1"][0].kind, "Bar");
}

}  // namespace
}  // namespace kube
