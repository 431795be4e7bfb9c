// No threads.

#include "kube/apiserver/documents/discovery_documents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "kube/api/apidiscovery/v2beta1.h"
#include "kube/api/packages.h"
#include "kube/api/registry.h"
#include "kube/apiserver/documents/shared_files_testing.h"
#include "kube/codec/json.h"

namespace kube::apiserver {
namespace {

using ::testing::ElementsAre;

ServedResource network(const String& version) {
  return {.group = "samplecrd.k8s.io",
          .version = version,
          .kind = "Network",
          .plural = "networks",
          .singular = "network",
          .listKind = "NetworkList",
          .namespaced = true,
          .verbs = allVerbs(),
          .shortNames = {"net"},
          .categories = {"all"},
          .subresources = {{.name = "status",
                            .kind = {"samplecrd.k8s.io", version, "Network"},
                            .verbs = {"get", "patch", "update"}},
                           {.name = "scale",
                            .kind = {"autoscaling", "v1", "Scale"},
                            .verbs = {"get", "patch", "update"}}},
          .storageVersionHash = "hash"};
}

std::vector<ServedResource> sample() {
  std::vector<ServedResource> served;
  for (ServedResource& resource : builtInResources()) {
    if (resource.group.empty() || resource.group == "autoscaling") served.push_back(resource);
  }
  for (const char* version : {"v1alpha1", "v1", "v1beta1"}) served.push_back(network(version));
  return served;
}

const metav1::APIResource* find(const metav1::APIResourceList& list, std::string_view name) {
  for (const metav1::APIResource& resource : list.resources) {
    if (resource.name == name) return &resource;
  }
  return nullptr;
}

TEST(DiscoveryDocumentsTest, CoreIsApartFromTheGroups) {
  const auto served = sample();
  const metav1::APIVersions core = apiVersions(served, "127.0.0.1:6443");
  EXPECT_THAT(core.versions, ElementsAre("v1"));
  EXPECT_EQ(core.serverAddressByClientCIDRs[0].serverAddress, "127.0.0.1:6443");
  EXPECT_EQ(parseJson(toJson(core))["kind"].asString(), "APIVersions");

  const metav1::APIGroupList groups = apiGroupList(served);
  ASSERT_EQ(groups.groups.size(), 2U);
  EXPECT_EQ(groups.groups[0].name, "autoscaling");
  EXPECT_EQ(groups.groups[1].name, "samplecrd.k8s.io");
}

TEST(DiscoveryDocumentsTest, VersionsComeByMaturity) {
  const metav1::APIGroup group = apiGroup(sample(), "samplecrd.k8s.io");
  std::string versions;
  for (const auto& version : group.versions) versions += version.groupVersion.str() + " ";
  EXPECT_EQ(versions, "samplecrd.k8s.io/v1 samplecrd.k8s.io/v1beta1 samplecrd.k8s.io/v1alpha1 ");
  EXPECT_EQ(group.preferredVersion->version, "v1");
  EXPECT_EQ(apiGroup(sample(), "autoscaling").preferredVersion.read().groupVersion,
            "autoscaling/v2");
  EXPECT_TRUE(apiGroup(sample(), "nowhere").versions.empty());
}

TEST(DiscoveryDocumentsTest, ResourcesComeWithTheirSubresources) {
  const metav1::APIResourceList list = apiResourceList(sample(), {"samplecrd.k8s.io", "v1"});
  EXPECT_EQ(list.groupVersion, "samplecrd.k8s.io/v1");
  ASSERT_EQ(list.resources.size(), 3U);
  const metav1::APIResource& networks = list.resources[0];
  EXPECT_EQ(networks.name, "networks");
  EXPECT_EQ(networks.singularName, "network");
  EXPECT_EQ(networks.kind, "Network");
  EXPECT_TRUE(networks.namespaced);
  EXPECT_THAT(networks.shortNames, ElementsAre("net"));
  EXPECT_THAT(networks.categories, ElementsAre("all"));
  EXPECT_EQ(networks.storageVersionHash, "hash");
  EXPECT_EQ(networks.group, "");

  const metav1::APIResource& scale = list.resources[1];
  EXPECT_EQ(scale.name, "networks/scale");
  EXPECT_EQ(scale.kind, "Scale");
  EXPECT_EQ(scale.group, "autoscaling");
  EXPECT_EQ(scale.version, "v1");
  EXPECT_EQ(scale.singularName, "");
  EXPECT_EQ(list.resources[2].name, "networks/status");
  EXPECT_EQ(list.resources[2].group, "");
  EXPECT_TRUE(apiResourceList(sample(), {"samplecrd.k8s.io", "v9"}).resources.empty());
}

TEST(DiscoveryDocumentsTest, SubresourcesMayTakeAnotherKind) {
  const auto core = apiResourceList(sample(), {"", "v1"});
  const metav1::APIResource* eviction = find(core, "pods/eviction");
  ASSERT_NE(eviction, nullptr);
  EXPECT_EQ(eviction->kind, "Eviction");
  EXPECT_EQ(eviction->group, "policy");
  EXPECT_THAT(core.resources, ::testing::Each(::testing::Truly([](const metav1::APIResource& r) {
                return !r.verbs.empty() && !r.kind.empty();
              })));
}

TEST(DiscoveryDocumentsTest, AggregatedHasAllOfARoot) {
  const auto served = sample();
  const auto core = groupDiscovery(served, Root::Core);
  ASSERT_EQ(core.items.size(), 1U);
  EXPECT_EQ(core.items[0].metadata.name, "");
  EXPECT_EQ(core.items[0].versions[0].version, "v1");
  EXPECT_EQ(core.items[0].versions[0].freshness, "Current");

  const auto groups = groupDiscovery(served, Root::Groups);
  ASSERT_EQ(groups.items.size(), 2U);
  const auto& networks = groups.items[1].versions[0].resources[0];
  EXPECT_EQ(networks.resource, "networks");
  EXPECT_EQ(networks.scope, "Namespaced");
  EXPECT_EQ(networks.responseKind->kind, "Network");
  EXPECT_EQ(networks.responseKind->group, "");  // the same as the list's
  EXPECT_EQ(networks.subresources[0].subresource, "scale");
  EXPECT_EQ(networks.subresources[0].responseKind->group, "autoscaling");
}

TEST(DiscoveryDocumentsTest, AggregatedIsOfEitherVersion) {
  const auto served = sample();
  const TaggedDocument v2 = aggregatedDiscovery(served, Root::Groups);
  const TaggedDocument beta = aggregatedDiscovery(served, Root::Groups, "v2beta1");
  EXPECT_EQ(parseJson(v2.body)["apiVersion"].asString(), "apidiscovery.k8s.io/v2");
  EXPECT_EQ(fromJson<apidiscoveryv2beta1::APIGroupDiscoveryList>(beta.body).items.size(), 2U);
}

TEST(DiscoveryDocumentsTest, TheEtagIsThatOfTheContent) {
  auto served = sample();
  const TaggedDocument before = aggregatedDiscovery(served, Root::Groups);
  EXPECT_EQ(before.etag.size(), 128U);
  EXPECT_EQ(aggregatedDiscovery(served, Root::Groups).etag, before.etag);
  served.pop_back();
  EXPECT_NE(aggregatedDiscovery(served, Root::Groups).etag, before.etag);
}

TEST(DiscoveryDocumentsTest, VersionIsTheSchemas) {
  const Value version = parseJson(versionDocument());
  EXPECT_EQ(version["gitVersion"].asString(), "v" + std::string(builtInRelease()) + "+kubexx");
  EXPECT_EQ(version["major"].asString(), "1");
  EXPECT_THAT(version["minor"].asString().str(), ::testing::MatchesRegex("[0-9]+"));
  EXPECT_THAT(version["platform"].asString().str(), ::testing::StartsWith("linux/"));
}

TEST(BuiltInResourcesTest, LeaveOutWhatIsNoLongerServed) {
  for (const ServedResource& resource : builtInResources()) {
    EXPECT_FALSE(resource.type->resource->retired);
    EXPECT_NE(resource.group, "extensions");
    EXPECT_FALSE(resource.verbs.empty()) << resource.plural;
    EXPECT_TRUE(std::is_sorted(resource.verbs.begin(), resource.verbs.end())) << resource.plural;
  }
}

// A dump of a real server's discovery: resources that it serves are served alike here, in its
// order.
TEST(BuiltInResourcesTest, AreThoseOfARealServer) {
  const auto text = sharedFile("api/discovery-v" + std::string(builtInRelease()) + ".json");
  if (!text) GTEST_SKIP() << "no discovery dump";
  const auto served = builtInResources();
  const Value dump = parseJson(*text);
  const auto strings = [](const Value& array) {
    List<String> list;
    for (const Value& item : array.asArray()) list.push_back(item.asString());
    return list;
  };
  std::vector<std::string> theirs;
  for (const Value& entry : dump.asArray()) {
    const GroupVersion version{entry["group"].asString(), entry["version"].asString()};
    const String& name = entry["resource"].asString();
    if (theirs.empty() || theirs.back() != version.str()) theirs.push_back(version.str());
    const auto list = apiResourceList(served, version);
    const metav1::APIResource* ours = find(list, name);
    ASSERT_NE(ours, nullptr) << version << " " << name;
    EXPECT_EQ(ours->kind, entry["kind"].asString()) << name;
    EXPECT_EQ(ours->singularName, entry["singular"].asString()) << name;
    EXPECT_EQ(ours->namespaced, entry["scope"].asString() == "Namespaced") << name;
    EXPECT_EQ(ours->shortNames, strings(entry["shortNames"])) << name;
    EXPECT_EQ(ours->categories, strings(entry["categories"])) << name;
    EXPECT_EQ(ours->verbs, strings(entry["verbs"])) << name;
    std::size_t subresources = 0;
    for (const auto& resource : list.resources) {
      subresources += resource.name.view().starts_with(name.str() + "/") ? 1 : 0;
    }
    EXPECT_EQ(subresources, entry["subresources"].asArray().size()) << name;
    for (const Value& sub : entry["subresources"].asArray()) {
      const auto* mine = find(list, name + "/" + sub["name"].asString());
      ASSERT_NE(mine, nullptr) << name << "/" << sub["name"].asString();
      EXPECT_EQ(mine->kind, sub["kind"]["kind"].asString());
      EXPECT_EQ(mine->group, sub["kind"]["group"].asString());
      EXPECT_EQ(mine->version, sub["kind"]["version"].asString());
      EXPECT_EQ(mine->verbs, strings(sub["verbs"])) << name << "/" << sub["name"].asString();
    }
  }
  std::vector<std::string> ours;
  const std::set<std::string> known(theirs.begin(), theirs.end());
  for (const ServedGroup& group : groupsOf(served)) {
    for (const String& version : group.versions) {
      const std::string name = GroupVersion{group.name, version}.str();
      if (known.contains(name))
        ours.push_back(name);  // the real server serves only what is on by default
    }
  }
  EXPECT_EQ(ours, theirs);
}

}  // namespace
}  // namespace kube::apiserver
