#include "kube/meta/gvk.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <unordered_set>
#include <vector>

#include "kube/base/error.h"

namespace kube {
namespace {

TEST(GroupVersionTest, ParsesAndPrintsAnApiVersion) {
  EXPECT_EQ(GroupVersion::parse("apps/v1"), (GroupVersion{"apps", "v1"}));
  EXPECT_EQ(GroupVersion::parse("v1"), (GroupVersion{"", "v1"}));
  EXPECT_EQ(GroupVersion::parse("/v1"), (GroupVersion{"", "v1"}));
  EXPECT_EQ(GroupVersion::parse("apps/"), (GroupVersion{"apps", ""}));
  EXPECT_TRUE(GroupVersion::parse("").empty());
  EXPECT_TRUE(GroupVersion::parse("/").empty());
  EXPECT_EQ((GroupVersion{"apps", "v1"}).str(), "apps/v1");
  EXPECT_EQ((GroupVersion{"", "v1"}).str(), "v1");
  EXPECT_EQ(GroupVersion().str(), "");
}

TEST(GroupVersionTest, HasAtMostOneSlash) {
  EXPECT_THROW(GroupVersion::parse("apps/v1/deployments"), DecodeError);
  EXPECT_THROW(GroupVersion::parse("//"), DecodeError);
  EXPECT_EQ(GroupVersion::tryParse("a/b/c"), std::nullopt);
}

TEST(GroupVersionTest, NamesTypesInIt) {
  const GroupVersion apps{"apps", "v1"};
  EXPECT_EQ(apps.withKind("Deployment").str(), "apps/v1, Kind=Deployment");
  EXPECT_EQ(apps.withResource("deployments").str(), "apps/v1, Resource=deployments");
  EXPECT_EQ((GroupVersion{"", "v1"}).withKind("Pod").str(), "/v1, Kind=Pod");
  EXPECT_EQ(apps.withKind("Deployment").groupVersion(), apps);
  EXPECT_EQ(apps.withKind("Deployment").groupKind().str(), "Deployment.apps");
  EXPECT_EQ(apps.withResource("deployments").groupResource().str(), "deployments.apps");
}

TEST(GroupKindTest, IsSplitAtTheFirstDot) {
  EXPECT_EQ(GroupKind::parse("Pod"), (GroupKind{"", "Pod"}));
  EXPECT_EQ(GroupKind::parse("Deployment.apps"), (GroupKind{"apps", "Deployment"}));
  EXPECT_EQ(GroupKind::parse("Ingress.networking.k8s.io"),
            (GroupKind{"networking.k8s.io", "Ingress"}));
  EXPECT_EQ(GroupKind::parse(".apps"), (GroupKind{"apps", ""}));
  EXPECT_TRUE(GroupKind::parse("").empty());
  EXPECT_EQ(GroupKind::parse("Pod").str(), "Pod");
  EXPECT_EQ((GroupKind{"apps", "Deployment"}).withVersion("v1"),
            (GroupVersionKind{"apps", "v1", "Deployment"}));
}

TEST(GroupResourceTest, IsSplitAtTheFirstDot) {
  EXPECT_EQ(GroupResource::parse("pods"), (GroupResource{"", "pods"}));
  EXPECT_EQ(GroupResource::parse("deployments.apps"), (GroupResource{"apps", "deployments"}));
  EXPECT_EQ(GroupResource::parse("v1."), (GroupResource{"", "v1"}));
  EXPECT_EQ(GroupResource::parse("a.b.c").str(), "a.b.c");
  EXPECT_EQ((GroupResource{"apps", "deployments"}).withVersion("v1"),
            (GroupVersionResource{"apps", "v1", "deployments"}));
}

TEST(ResourceArgTest, IsReadBothWithAndWithoutAVersion) {
  const auto [full, plain] = parseResourceArg("deployments.v1.apps");
  ASSERT_TRUE(full);
  EXPECT_EQ(*full, (GroupVersionResource{"apps", "v1", "deployments"}));
  EXPECT_EQ(plain, (GroupResource{"v1.apps", "deployments"}));

  EXPECT_EQ(parseResourceArg("foo.v1beta1.example.com").first,
            (GroupVersionResource{"example.com", "v1beta1", "foo"}));
  EXPECT_EQ(parseResourceArg("pods").first, std::nullopt);
  EXPECT_EQ(parseResourceArg("deployments.apps").first, std::nullopt);
  EXPECT_EQ(parseResourceArg("deployments.apps").second, (GroupResource{"apps", "deployments"}));
  EXPECT_EQ(parseResourceArg("a..").first, (GroupVersionResource{"", "", "a"}));
}

TEST(KindArgTest, IsReadBothWithAndWithoutAVersion) {
  const auto [full, plain] = parseKindArg("Foo.v1.stable.example.com");
  EXPECT_EQ(full, (GroupVersionKind{"stable.example.com", "v1", "Foo"}));
  EXPECT_EQ(plain, (GroupKind{"v1.stable.example.com", "Foo"}));
  EXPECT_EQ(parseKindArg("Pod.apps").first, std::nullopt);
  EXPECT_EQ(parseKindArg("").second, GroupKind());
}

TEST(SubresourceTest, IsWhatFollowsTheFirstSlash) {
  using Parts = std::pair<std::string_view, std::string_view>;
  EXPECT_EQ(splitSubresource("pods/log"), Parts("pods", "log"));
  EXPECT_EQ(splitSubresource("deployments.v1.apps/scale"), Parts("deployments.v1.apps", "scale"));
  EXPECT_EQ(splitSubresource("services/proxy/x"), Parts("services", "proxy/x"));
  EXPECT_EQ(splitSubresource("pods"), Parts("pods", ""));
  EXPECT_EQ(splitSubresource("*/scale"), Parts("*", "scale"));
  EXPECT_EQ(splitSubresource(""), Parts("", ""));
}

TEST(GroupVersionKindTest, ConvertsToAndFromAnObjectsFields) {
  const auto pod = GroupVersionKind::fromApiVersionAndKind("v1", "Pod");
  EXPECT_EQ(pod, (GroupVersionKind{"", "v1", "Pod"}));
  const auto deployment = GroupVersionKind::fromApiVersionAndKind("apps/v1", "Deployment");
  EXPECT_EQ(deployment, (GroupVersionKind{"apps", "v1", "Deployment"}));
  EXPECT_EQ(deployment.toApiVersionAndKind(), (std::pair<String, String>("apps/v1", "Deployment")));
  EXPECT_EQ(pod.toApiVersionAndKind(), (std::pair<String, String>("v1", "Pod")));
  EXPECT_EQ(GroupVersionKind().toApiVersionAndKind(), (std::pair<String, String>()));
  EXPECT_EQ(GroupVersionKind::fromApiVersionAndKind("a/b/c", "X"), (GroupVersionKind{"", "", "X"}));
}

TEST(GvkTest, IsOrderedHashedAndPrinted) {
  const GroupVersionKind a{"apps", "v1", "Deployment"};
  const GroupVersionKind b{"batch", "v1", "CronJob"};
  EXPECT_LT(a, b);
  EXPECT_EQ((std::set<GroupVersionKind>{b, a, b}).size(), 2U);
  EXPECT_EQ((std::unordered_set<GroupVersionKind>{a, b, a}).size(), 2U);
  EXPECT_EQ(
      (std::unordered_set<GroupVersionResource>{{"", "v1", "pods"}, {"", "v1", "pods"}}).size(),
      1U);
  EXPECT_NE(std::hash<GroupVersion>{}({"a", "b"}), std::hash<GroupVersion>{}({"b", "a"}));
  EXPECT_NE(std::hash<GroupKind>{}({"x", "x"}), std::hash<GroupKind>{}({"y", "y"}));
  EXPECT_NE(std::hash<GroupResource>{}({"a", ""}), std::hash<GroupResource>{}({"", "a"}));
  std::ostringstream out;
  out << a << "; " << a.groupVersion() << "; " << a.groupKind() << "; "
      << GroupVersionResource{"", "v1", "pods"} << "; " << GroupResource{"apps", "deployments"};
  EXPECT_EQ(
      out.str(),
      "apps/v1, Kind=Deployment; apps/v1; Deployment.apps; /v1, Resource=pods; deployments.apps");
  EXPECT_EQ(fmt::format("{} {}", a, a.groupVersion()), "apps/v1, Kind=Deployment apps/v1");
}

TEST(KubeAwareVersionsTest, GaComesBeforeBetaBeforeAlphaBeforeTheRest) {
  const std::vector<std::string> descending = {
      "v10",     "v2",        "v1",        "v11beta2", "v10beta3", "v3beta1", "v1beta10",
      "v1beta2", "v12alpha1", "v11alpha2", "bar",      "foo",      "foo10",   "v1gamma1"};
  for (std::size_t i = 0; i < descending.size(); ++i) {
    for (std::size_t j = 0; j < descending.size(); ++j) {
      EXPECT_TRUE(compareKubeAwareVersions(descending[i], descending[j]) == (j <=> i))
          << descending[i] << ' ' << descending[j];
    }
  }
}

TEST(KubeAwareVersionsTest, SimilarTextsAreNotVersions) {
  for (const char* text : {"", "v", "1", "V1", "v1beta", "v-1", "v1beta-1", "v1.1", "v1alpha1x",
                           "v1rc1", "v99999999999999999999"}) {
    EXPECT_TRUE(compareKubeAwareVersions(text, "v1alpha1") < 0) << text;
    EXPECT_TRUE(compareKubeAwareVersions("v1alpha1", text) > 0) << text;
  }
  EXPECT_TRUE(compareKubeAwareVersions("v01", "v1") == 0);
  EXPECT_TRUE(compareKubeAwareVersions("foo", "foo") == 0);
}

}  // namespace
}  // namespace kube
