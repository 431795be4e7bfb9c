// Tests patches of built-in types, which use the merge facts in the generated tables.
#include "kube/codec/patch/patch.h"

#include <gtest/gtest.h>

#include <string>

#include "kube/api/apps/v1.h"
#include "kube/api/core/v1.h"
#include "kube/api/policy/v1.h"
#include "kube/codec/json.h"
#include "kube/codec/patch/patch_error.h"
#include "kube/codec/patch/strategic_merge.h"
#include "kube/codec/yaml.h"

namespace kube {
namespace {

appsv1::Deployment web() {
  return fromYaml<appsv1::Deployment>(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}, finalizers: [a.example.com/x, b.example.com/y]}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: nginx:1.26
        args: [-g, daemon off]
        ports: [{containerPort: 80, name: http}]
        env: [{name: A, value: "1"}, {name: B, value: "2"}]
        resources: {limits: {cpu: "1"}}
      - {name: sidecar, image: envoy}
      volumes:
      - {name: cfg, configMap: {name: c}}
      tolerations: [{key: a}]
      nodeSelector: {disk: ssd}
)");
}

TEST(PatchBuiltInTest, ContainersAreMergedByName) {
  const auto after = applyStrategicMergePatch(web(), R"({"spec":{"template":{"spec":{"containers":[
      {"name":"web","image":"nginx:1.27","env":[{"name":"B","$patch":"delete"},
       {"name":"C","value":"3"}],"args":["-t"]}]}}}})");
  const auto& containers = after.spec->template_->spec->containers;
  ASSERT_EQ(containers.size(), 2);
  EXPECT_EQ(containers[0].image, "nginx:1.27");
  EXPECT_EQ(containers[0].args, List<String>{"-t"});
  ASSERT_EQ(containers[0].env.size(), 2);
  EXPECT_EQ(containers[0].env[0].name, "C");
  EXPECT_EQ(containers[0].env[1].name, "A");
  EXPECT_EQ(containers[0].ports[0].name, "http");
  EXPECT_EQ(containers[1].name, "sidecar");
  EXPECT_EQ(after.metadata, web().metadata);
}

TEST(PatchBuiltInTest, QuantitiesAndIntOrStringsAreReplaced) {
  const auto after = applyStrategicMergePatch(
      web(), R"({"spec":{"strategy":{"rollingUpdate":{"maxSurge":"25%"}},"template":{"spec":{
             "containers":[{"name":"web","resources":{"limits":{"cpu":2,"memory":"1Gi"}}}]}}}})");
  EXPECT_EQ(after.spec->strategy->rollingUpdate->maxSurge, IntOrString("25%"));
  const auto& limits = after.spec->template_->spec->containers[0].resources->limits;
  EXPECT_EQ(limits["cpu"], Quantity("2"));
  EXPECT_EQ(limits["memory"], Quantity("1Gi"));
}

TEST(PatchBuiltInTest, VolumesRetainOnlyTheKeysOfTheirNewSource) {
  auto after = web();
  after.spec->template_->spec->volumes[0].configMap.reset();
  after.spec->template_->spec->volumes[0].emptyDir.write();
  const std::string patch = createTwoWayMergePatch(web(), after);
  EXPECT_EQ(parseJson(patch), parseJson(R"({"spec":{"template":{"spec":{
                "$setElementOrder/volumes":[{"name":"cfg"}],
                "volumes":[{"name":"cfg","$retainKeys":["emptyDir","name"],"configMap":null,
                            "emptyDir":{}}]}}}})"));
  EXPECT_EQ(applyStrategicMergePatch(web(), patch), after);
}

TEST(PatchBuiltInTest, CreatedPatchesTurnOneIntoTheOther) {
  const auto before = web();
  auto after = before;
  after.spec->replicas.reset();
  after.metadata.labels["tier"] = "front";
  after.metadata.finalizers = {"b.example.com/y", "c.example.com/z"};
  auto& pod = *after.spec->template_->spec;
  pod.containers.erase(1);
  pod.containers[0].image = "nginx:1.27";
  pod.containers[0].env.push_back({.name = "C"});
  pod.tolerations.push_back({.key = "b"});
  pod.nodeSelector["zone"] = "z";
  const std::string patch = createTwoWayMergePatch(before, after);
  EXPECT_EQ(parseJson(patch), parseJson(R"({
    "metadata":{"labels":{"tier":"front"},
      "$deleteFromPrimitiveList/finalizers":["a.example.com/x"],
      "$setElementOrder/finalizers":["b.example.com/y","c.example.com/z"],
      "finalizers":["c.example.com/z"]},
    "spec":{"replicas":null,"template":{"spec":{
      "$setElementOrder/containers":[{"name":"web"}],
      "containers":[{"name":"web","image":"nginx:1.27",
                     "$setElementOrder/env":[{"name":"A"},{"name":"B"},{"name":"C"}],
                     "env":[{"name":"C"}]},
                    {"name":"sidecar","$patch":"delete"}],
      "nodeSelector":{"zone":"z"},
      "tolerations":[{"key":"a"},{"key":"b"}]}}}})"));
  EXPECT_EQ(applyStrategicMergePatch(before, patch), after);
  EXPECT_EQ(createTwoWayMergePatch(before, before), "{}");
  EXPECT_EQ(mergePatchType<appsv1::Deployment>(), PatchType::StrategicMerge);
}

TEST(PatchBuiltInTest, ElementsOfOneKeyAreReplacedTogether) {
  corev1::Service udp;
  udp.metadata.name = "dns";
  udp.spec->ports.push_back({.name = "dns", .protocol = "UDP", .port = 53, .targetPort = 5353});
  auto both = udp;
  both.spec->ports.push_back({.name = "dns-tcp", .protocol = "TCP", .port = 53});
  auto tcp = both;
  tcp.spec->ports.erase(0);
  auto turned = both;
  turned.spec->ports = {both.spec->ports[1], both.spec->ports[0]};
  auto none = udp;
  none.spec->ports.clear();
  for (const auto& before : {udp, both, tcp, turned}) {
    for (const auto& after : {udp, both, tcp, turned, none}) {
      const std::string patch = createTwoWayMergePatch(before, after);
      EXPECT_EQ(applyStrategicMergePatch(before, patch).spec.read().ports, after.spec->ports)
          << patch;
    }
  }
  EXPECT_EQ(parseJson(createTwoWayMergePatch(udp, both)), parseJson(R"({"spec":{"ports":[
      {"$patch":"replace"},
      {"name":"dns","protocol":"UDP","port":53,"targetPort":5353},
      {"name":"dns-tcp","protocol":"TCP","port":53,"targetPort":0}]}})"));
}

TEST(PatchBuiltInTest, ASelectorWithTheReplaceStrategyIsReplaced) {
  policyv1::PodDisruptionBudget budget;
  budget.spec->selector->matchLabels["a"] = "b";
  auto other = budget;
  other.spec->selector->matchLabels["c"] = "d";
  EXPECT_EQ(createTwoWayMergePatch(budget, other),
            R"({"spec":{"selector":{"matchLabels":{"a":"b","c":"d"}}}})");
  const auto after =
      applyStrategicMergePatch(other, R"({"spec":{"selector":{"matchLabels":{"x":"y"}}}})");
  EXPECT_EQ(after.spec->selector->matchLabels, (Map<String>{{"x", "y"}}));
}

TEST(PatchBuiltInTest, AnyObject) {
  const AnyObject after = applyStrategicMergePatch(AnyObject(web()), R"({"spec":{"replicas":5}})");
  ASSERT_NE(after.as<appsv1::Deployment>(), nullptr);
  EXPECT_EQ(after.as<appsv1::Deployment>()->spec->replicas, 5);
  EXPECT_EQ(createTwoWayMergePatch(AnyObject(web()), after), R"({"spec":{"replicas":5}})");
}

TEST(PatchBuiltInTest, ResultsMustFitTheType) {
  EXPECT_THROW(applyStrategicMergePatch(web(), R"({"spec":{"replicas":"many"}})"), DecodeError);
  EXPECT_THROW(applyStrategicMergePatch(web(), "["), DecodeError);
  EXPECT_THROW(applyStrategicMergePatch(web(), R"({"spec":{"template":{"spec":{"containers":[
                   {"image":"x"}]}}}})"),
               PatchError);
  EXPECT_THROW(applyStrategicMergePatch(web(), "[]"), PatchError);
}

TEST(PatchBuiltInTest, ThreeWayAsKubectlApplyDoes) {
  const TypeInfo& schema = TypeOf<corev1::Service>::info;
  const Value last = parseYaml("{spec: {ports: [{port: 80}, {port: 443}], selector: {app: a}}}");
  const Value wanted = parseYaml("{spec: {ports: [{port: 80, name: web}], selector: {app: b}}}");
  const Value live = parseYaml(
      "{spec: {clusterIP: 10.0.0.1, ports: [{port: 80, protocol: TCP, targetPort: 80}, {port: 443, "
      "protocol: TCP}, {port: 9, protocol: UDP}], selector: {app: a}}}");
  const Value patch = createThreeWayStrategicMergePatch(last, wanted, live, schema);
  EXPECT_EQ(patch, parseYaml("{spec: {$setElementOrder/ports: [{port: 80}], ports: [{port: 80, "
                             "name: web}, {port: 443, $patch: delete}], selector: {app: b}}}"));
  EXPECT_EQ(applyStrategicMergePatch(live, patch, schema),
            parseYaml("{spec: {clusterIP: 10.0.0.1, ports: [{port: 80, protocol: TCP, targetPort: "
                      "80, name: web}, {port: 9, protocol: UDP}], selector: {app: b}}}"));
}

}  // namespace
}  // namespace kube
