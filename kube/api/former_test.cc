// Conversions of versions that servers no longer have: the form of an older cluster becomes that of
// a newer one, and back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/api/autoscaling/v2.h"
#include "kube/api/autoscaling/v2beta1.h"
#include "kube/api/autoscaling/v2beta2.h"
#include "kube/api/discovery/v1.h"
#include "kube/api/discovery/v1beta1.h"
#include "kube/api/flowcontrol/v1.h"
#include "kube/api/flowcontrol/v1alpha1.h"
#include "kube/api/node/v1.h"
#include "kube/api/node/v1alpha1.h"
#include "kube/api/registry.h"
#include "kube/api/resource/v1.h"
#include "kube/api/resource/v1alpha3.h"
#include "kube/api/resource/v1beta1.h"
#include "kube/api/scheme.h"
#include "kube/codec/yaml.h"

namespace kube {
namespace {

using testing::HasSubstr;

template <class B, class A>
B converted(const A& object) {
  return builtInScheme().convertTo<B>(object);
}

// Converts YAML of A to B and back, and returns B.
template <class B, class A>
B thereAndBack(const std::string& yaml) {
  const A old = fromYaml<A>(yaml, {.strict = true});
  const B now = converted<B>(old);
  EXPECT_EQ(toYaml(converted<A>(now)), toYaml(old));
  return now;
}

constexpr const char* kScaler = R"(
metadata: {name: web, annotations: {keep: me}}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  maxReplicas: 5
)";

TEST(FormerAutoscalingTest, MetricsOfV2beta1) {
  const auto now =
      thereAndBack<autoscalingv2::HorizontalPodAutoscaler,
                   autoscalingv2beta1::HorizontalPodAutoscaler>(std::string(kScaler) + R"(
  metrics:
  - {type: Resource, resource: {name: cpu, targetAverageUtilization: 50}}
  - {type: Resource, resource: {name: memory, targetAverageValue: 1Gi}}
  - type: Object
    object: {target: {kind: Service, name: s}, metricName: hits, targetValue: 10}
  - {type: Pods, pods: {metricName: packets, targetAverageValue: 1k}}
  - {type: External, external: {metricName: queue, targetValue: 3}}
status:
  currentReplicas: 2
  desiredReplicas: 3
  currentMetrics:
  - {type: Resource, resource: {name: cpu, currentAverageUtilization: 40, currentAverageValue: 1}}
  conditions:
  - {type: AbleToScale, status: "True", reason: r, message: m}
)");
  ASSERT_EQ(now.spec->metrics.size(), 5U);
  EXPECT_EQ(now.spec->metrics[0].resource->target->type, "Utilization");
  EXPECT_EQ(now.spec->metrics[0].resource->target->averageUtilization, 50);
  EXPECT_EQ(now.spec->metrics[1].resource->target->type, "AverageValue");
  EXPECT_EQ(now.spec->metrics[2].object->metric->name, "hits");
  EXPECT_EQ(now.spec->metrics[2].object->target->value, Quantity("10"));
  EXPECT_EQ(now.status->conditions[0].type, "AbleToScale");
}

TEST(FormerAutoscalingTest, V2beta1KeepsTheBehaviorInAnAnnotation) {
  auto now = fromYaml<autoscalingv2::HorizontalPodAutoscaler>(kScaler);
  now.spec->behavior->scaleDown->stabilizationWindowSeconds = 7;
  now.spec->behavior->scaleDown->tolerance = Quantity("50m");
  const auto old = converted<autoscalingv2beta1::HorizontalPodAutoscaler>(now);
  EXPECT_THAT(old.metadata.annotations["autoscaling.alpha.kubernetes.io/behavior"].str(),
              HasSubstr(R"("StabilizationWindowSeconds":7)"));
  EXPECT_EQ(converted<autoscalingv2::HorizontalPodAutoscaler>(old), now);
}

TEST(FormerAutoscalingTest, V2beta2KeepsTolerancesInAnnotations) {
  auto now = fromYaml<autoscalingv2::HorizontalPodAutoscaler>(kScaler);
  now.spec->behavior->scaleUp->tolerance = Quantity("50m");
  now.spec->behavior->scaleUp->selectPolicy = "Max";
  const auto old = converted<autoscalingv2beta2::HorizontalPodAutoscaler>(now);
  EXPECT_EQ(old.metadata.annotations["autoscaling.alpha.kubernetes.io/scale-up-tolerance"], "50m");
  EXPECT_EQ(old.spec->behavior->scaleUp->selectPolicy, "Max");
  EXPECT_EQ(converted<autoscalingv2::HorizontalPodAutoscaler>(old), now);
}

TEST(FormerFlowControlTest, SharesHaveAnotherName) {
  const auto now = thereAndBack<flowcontrolv1::PriorityLevelConfiguration,
                                flowcontrolv1alpha1::PriorityLevelConfiguration>(
      "metadata: {name: p}\nspec: {type: Limited, limited: {assuredConcurrencyShares: 30}}\n");
  EXPECT_EQ(now.spec->limited->nominalConcurrencyShares, 30);
}

TEST(FormerNodeTest, RuntimeClassesHadASpec) {
  const auto now = thereAndBack<nodev1::RuntimeClass, nodev1alpha1::RuntimeClass>(
      "metadata: {name: r}\nspec: {runtimeHandler: kata, overhead: {podFixed: {cpu: 1}}, "
      "scheduling: {nodeSelector: {a: b}}}\n");
  EXPECT_EQ(now.handler, "kata");
  EXPECT_EQ(now.overhead->podFixed["cpu"], Quantity("1"));
}

TEST(FormerDiscoveryTest, ZonesWereTopology) {
  const auto now = thereAndBack<discoveryv1::EndpointSlice, discoveryv1beta1::EndpointSlice>(R"(
metadata: {name: s}
addressType: IPv4
endpoints:
- addresses: [10.0.0.1]
  nodeName: n1
  topology: {topology.kubernetes.io/zone: z, kubernetes.io/hostname: n1, own: label}
- addresses: [10.0.0.2]
  nodeName: n1
  topology: {kubernetes.io/hostname: other}
)");
  EXPECT_EQ(now.endpoints[0].zone, "z");
  EXPECT_EQ(now.endpoints[0].deprecatedTopology, (Map<String>{{"own", "label"}}));
  EXPECT_EQ(now.endpoints[1].deprecatedTopology["kubernetes.io/hostname"], "other");
}

TEST(FormerResourceTest, RequestsWereFlat) {
  const std::string claim = R"(
metadata: {name: c}
spec:
  devices:
    requests:
    - {name: one, deviceClassName: gpu, allocationMode: ExactCount, count: 2, adminAccess: true,
       selectors: [{cel: {expression: e}}]}
    - name: either
      firstAvailable: [{name: a, deviceClassName: gpu}]
)";
  const auto now = thereAndBack<resourcev1::ResourceClaim, resourcev1beta1::ResourceClaim>(claim);
  const auto& requests = now.spec->devices->requests;
  EXPECT_EQ(requests[0].exactly->deviceClassName, "gpu");
  EXPECT_EQ(requests[0].exactly->selectors[0].cel->expression, "e");
  EXPECT_FALSE(requests[1].exactly);
  EXPECT_EQ(requests[1].firstAvailable[0].deviceClassName, "gpu");
  EXPECT_EQ((thereAndBack<resourcev1::ResourceClaim, resourcev1alpha3::ResourceClaim>(claim)), now);
}

TEST(FormerResourceTest, DevicesHadABasicPart) {
  const auto slice = [](std::string_view capacity) {
    return R"(
metadata: {name: s}
spec:
  driver: d
  nodeName: n1
  pool: {name: p, generation: 1, resourceSliceCount: 1}
  devices:
  - name: gpu0
    basic:
      attributes: {model: {string: m}}
      capacity: {memory: )" +
           std::string(capacity) + "}\n";
  };
  const auto now = thereAndBack<resourcev1::ResourceSlice, resourcev1beta1::ResourceSlice>(
      slice("{value: 1Gi}"));
  EXPECT_EQ(now.spec->nodeName, "n1");
  EXPECT_EQ(now.spec->devices[0].attributes["model"].string, "m");
  EXPECT_EQ(now.spec->devices[0].capacity["memory"].value, Quantity("1Gi"));
  EXPECT_EQ(
      (thereAndBack<resourcev1::ResourceSlice, resourcev1alpha3::ResourceSlice>(slice("1Gi"))),
      now);
}

// Kinds that have no successor keep the names of the last release that served them.
TEST(FormerKindsTest, KeepTheirResources) {
  const ResourceInfo& policy = *builtInKind("policy/v1beta1", "PodSecurityPolicy")->resource;
  EXPECT_EQ(policy.plural, "podsecuritypolicies");
  EXPECT_TRUE(policy.retired);
  EXPECT_FALSE(policy.namespaced);
  ASSERT_EQ(policy.shortNames.size(), 1U);
  EXPECT_EQ(policy.shortNames[0], "psp");
  EXPECT_EQ(builtInKind("networking.k8s.io/v1alpha1", "ClusterCIDR")->resource->plural,
            "clustercidrs");
  EXPECT_TRUE(builtInKind("resource.k8s.io/v1alpha2", "ResourceClass")->resource->retired);
}

}  // namespace
}  // namespace kube
