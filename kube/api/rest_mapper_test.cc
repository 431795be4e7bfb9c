#include "kube/api/rest_mapper.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "kube/api/registry.h"

namespace kube {
namespace {

std::string kindOf(std::string_view text) {
  return mappingFor(builtInRestMapper(), text).gvk.str();
}

TEST(BuiltInRestMapperTest, PrefersServedResourcesInTheServersOrderOfGroups) {
  EXPECT_EQ(kindOf("pods"), "/v1, Kind=Pod");
  EXPECT_EQ(kindOf("events"), "/v1, Kind=Event");
  EXPECT_EQ(kindOf("events.events.k8s.io"), "events.k8s.io/v1, Kind=Event");
  EXPECT_EQ(kindOf("deployments"), "apps/v1, Kind=Deployment");
  EXPECT_EQ(kindOf("ingresses"), "networking.k8s.io/v1, Kind=Ingress");
  EXPECT_EQ(kindOf("networkpolicies"), "networking.k8s.io/v1, Kind=NetworkPolicy");
  EXPECT_EQ(kindOf("horizontalpodautoscalers"), "autoscaling/v2, Kind=HorizontalPodAutoscaler");
  EXPECT_EQ(kindOf("cronjobs"), "batch/v1, Kind=CronJob");
  EXPECT_EQ(kindOf("nodes"), "/v1, Kind=Node");
  EXPECT_EQ(kindOf("nodes.metrics.k8s.io"), "metrics.k8s.io/v1, Kind=NodeMetrics");
}

TEST(BuiltInRestMapperTest, ReadsAllFormsOfAName) {
  for (const char* text :
       {"deploy", "deployment", "deployments", "Deployment", "deployments.apps",
        "deployments.v1.apps", "deploy.apps", "deploy.v1.apps", "Deployment.v1.apps"}) {
    EXPECT_EQ(kindOf(text), "apps/v1, Kind=Deployment") << text;
  }
  EXPECT_EQ(kindOf("deployments.v1beta1.apps"), "apps/v1beta1, Kind=Deployment");
  EXPECT_EQ(kindOf("deployments.extensions"), "extensions/v1beta1, Kind=Deployment");
  EXPECT_EQ(kindOf("sc"), "storage.k8s.io/v1, Kind=StorageClass");
  EXPECT_EQ(kindOf("storageclasses.storage"), "storage.k8s.io/v1, Kind=StorageClass");
  EXPECT_EQ(kindOf("crd"), "apiextensions.k8s.io/v1, Kind=CustomResourceDefinition");
  EXPECT_EQ(kindOf("po"), "/v1, Kind=Pod");
  EXPECT_EQ(kindOf("ep"), "/v1, Kind=Endpoints");
  EXPECT_EQ(kindOf("endpoints"), "/v1, Kind=Endpoints");
  EXPECT_EQ(kindOf("hpa"), "autoscaling/v2, Kind=HorizontalPodAutoscaler");
  EXPECT_EQ(kindOf("ing"), "networking.k8s.io/v1, Kind=Ingress");
  EXPECT_THROW(kindOf("gadgets"), NoResourceMatchError);
}

TEST(BuiltInRestMapperTest, KnowsScopesAndVersions) {
  const RestMapper& mapper = builtInRestMapper();
  EXPECT_EQ(mapper.restMapping({"", "Node"}),
            (RestMapping{{"", "v1", "nodes"}, {"", "v1", "Node"}, RestScope::Root}));
  EXPECT_EQ(mapper.restMapping({"apps", "Deployment"}, {"v1beta2"}).gvr,
            (GroupVersionResource{"apps", "v1beta2", "deployments"}));
  EXPECT_EQ(mapper.restMappings({"apps", "Deployment"}).size(), 3U);
  EXPECT_EQ(mapper.restMappings({"apps", "Deployment"}).front().gvk.version, "v1");
  EXPECT_EQ(mapper.resourceSingularizer("ingresses"), "ingress");
  EXPECT_THROW(mapper.restMapping({"apps", "Deployment"}, {"v7"}), NoKindMatchError);
}

TEST(BuiltInRestMapperTest, MapsEveryServedKindBothWays) {
  const RestMapper& mapper = builtInRestMapper();
  std::size_t served = 0;
  for (const TypeInfo* type : builtInKinds()) {
    const ResourceInfo& info = *type->resource;
    if (info.plural.empty()) continue;
    ++served;
    const GroupVersionKind kind{info.group, info.version, info.kind};
    const GroupVersionResource resource{info.group, info.version, info.plural};
    const RestMapping mapping = mapper.restMapping(kind.groupKind(), {info.version});
    EXPECT_EQ(mapping.gvr, resource);
    EXPECT_EQ(mapping.scope, info.namespaced ? RestScope::Namespace : RestScope::Root) << kind;
    if (info.group.empty()) continue;  // "" may be any group
    EXPECT_EQ(mapper.kindFor(resource), kind);
    EXPECT_EQ(mapper.resourceFor(resource), resource);
  }
  EXPECT_GE(served, 120U);
}

TEST(BuiltInCategoriesTest, AllHasTheResourcesThatKubectlShows) {
  const auto all = builtInCategories().expand("all");
  ASSERT_TRUE(all);
  EXPECT_EQ(*all, (std::vector<GroupResource>{{"", "pods"},
                                              {"", "replicationcontrollers"},
                                              {"", "services"},
                                              {"apps", "deployments"},
                                              {"apps", "statefulsets"},
                                              {"apps", "daemonsets"},
                                              {"apps", "replicasets"},
                                              {"autoscaling", "horizontalpodautoscalers"},
                                              {"batch", "jobs"},
                                              {"batch", "cronjobs"}}));
  EXPECT_TRUE(builtInCategories().expand("api-extensions"));
  EXPECT_EQ(builtInCategories().expand("none"), std::nullopt);
}

}  // namespace
}  // namespace kube
