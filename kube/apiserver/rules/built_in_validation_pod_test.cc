// No threads.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/apiserver/rules/built_in_kinds.h"
#include "kube/apiserver/rules/built_in_rules_testing.h"

namespace kube::apiserver {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// The errors of a pod with this spec.
std::string inPod(std::string_view spec) {
  return problems<corev1::Pod>("spec: " + std::string(spec));
}
/// The errors of a pod whose only container has these fields besides.
std::string inContainer(std::string_view fields) {
  return inPod("{containers: [{name: a, image: x, " + std::string(fields) + "}]}");
}

TEST(BuiltInPodValidationTest, GoodPod) {
  EXPECT_EQ(inPod(R"({
      volumes: [{name: v}, {name: c, configMap: {name: m, items: [{key: k, path: p/q}]}}],
      initContainers: [{name: i, image: x}, {name: side, image: x, restartPolicy: Always,
                       startupProbe: {grpc: {port: 1}}}],
      tolerations: [{operator: Exists}, {key: a, value: b, effect: NoSchedule}],
      affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution:
        {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In, values: [b]}]}]}}},
      containers: [{name: a, image: x, volumeMounts: [{name: v, mountPath: /v, subPath: s}],
        env: [{name: A, valueFrom: {fieldRef: {fieldPath: "metadata.labels['app']"}}},
              {name: a.b, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}],
        envFrom: [{secretRef: {name: s}}],
        resources: {limits: {cpu: 1, example.com/gpu: 2}, requests: {cpu: 500m}},
        lifecycle: {preStop: {sleep: {seconds: 5}}}}]})"),
            "");
}

TEST(BuiltInPodValidationTest, ContainersAreRequired) {
  EXPECT_EQ(inPod("{}"), "spec.containers: Required value");
  EXPECT_EQ(inPod("{containers: [{}]}"),
            "[spec.containers[0].name: Required value, spec.containers[0].image: Required value]");
  EXPECT_EQ(inPod("{containers: [{name: a, image: x}, {name: a, image: x}]}"),
            "spec.containers[1].name: Duplicate value: \"a\"");
  EXPECT_THAT(inPod("{containers: [{name: A_b, image: x}]}"),
              StartsWith("spec.containers[0].name: Invalid value: \"A_b\": a lowercase RFC 1123 "
                         "label must consist of"));
  EXPECT_EQ(inPod("{containers: [{name: a, image: ' x'}]}"),
            "spec.containers[0].image: Invalid value: \" x\": must not have leading or trailing "
            "whitespace");
}

TEST(BuiltInPodValidationTest, Ports) {
  EXPECT_EQ(inContainer("ports: [{}]"),
            "spec.containers[0].ports[0].containerPort: Required value");
  EXPECT_EQ(inContainer("ports: [{containerPort: 70000, protocol: X}]"),
            "[spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 "
            "and 65535, inclusive, spec.containers[0].ports[0].protocol: Unsupported value: \"X\": "
            "supported values: \"SCTP\", \"TCP\", \"UDP\"]");
  EXPECT_EQ(inContainer("ports: [{containerPort: 1, name: a}, {containerPort: 2, name: a}]"),
            "spec.containers[0].ports[1].name: Duplicate value: \"a\"");
  EXPECT_EQ(
      inContainer("ports: [{containerPort: 1, hostPort: 9}, {containerPort: 2, hostPort: 9}]"),
      "spec.containers[0].ports[1].hostPort: Duplicate value: \"TCP//9\"");
}

TEST(BuiltInPodValidationTest, HostNetworkPorts) {
  EXPECT_EQ(
      inPod("{hostNetwork: true, containers: [{name: a, image: x, ports: [{containerPort: 80, "
            "hostPort: 81}]}]}"),
      "spec.containers[0].ports[0].hostPort: Invalid value: 81: must match `containerPort` "
      "when `hostNetwork` is true");
}

TEST(BuiltInPodValidationTest, Environment) {
  EXPECT_EQ(inContainer("env: [{}]"), "spec.containers[0].env[0].name: Required value");
  EXPECT_EQ(inContainer("env: [{name: a=b}]"),
            "spec.containers[0].env[0].name: Invalid value: \"a=b\": a valid environment variable "
            "name must consist only of printable ASCII characters other than '='");
  EXPECT_THAT(inContainer("env: [{name: A, valueFrom: {}}]"), HasSubstr("must specify one of: "));
  EXPECT_THAT(
      inContainer("env: [{name: A, value: v, valueFrom: {secretKeyRef: {name: s, key: k}}}]"),
      EndsWith("may not be specified when `value` is not empty"));
  EXPECT_EQ(inContainer("env: [{name: A, valueFrom: {fieldRef: {fieldPath: spec.x}}}]"),
            "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: \"spec.x\": "
            "error converting fieldPath: field label not supported: spec.x");
  EXPECT_THAT(inContainer("env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.labels}}}]"),
              StartsWith("spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Unsupported "
                         "value: \"metadata.labels\": supported values: \"metadata.name\", "));
}

TEST(BuiltInPodValidationTest, Mounts) {
  EXPECT_EQ(inContainer("volumeMounts: [{name: v, mountPath: /v}]"),
            "spec.containers[0].volumeMounts[0].name: Not found: \"v\"");
  EXPECT_EQ(
      inPod("{volumes: [{name: v}], containers: [{name: a, image: x, volumeMounts: [{name: v, "
            "mountPath: /v}, {name: v, mountPath: /v}, {name: v}]}]}"),
      "[spec.containers[0].volumeMounts[1].mountPath: Invalid value: \"/v\": must be unique, "
      "spec.containers[0].volumeMounts[2].mountPath: Required value]");
  EXPECT_EQ(
      inPod("{volumes: [{name: v}], containers: [{name: a, image: x, volumeDevices: [{name: v, "
            "devicePath: /v}]}]}"),
      "spec.containers[0].volumeDevices[0].name: Invalid value: \"v\": can only use volume "
      "source type of PersistentVolumeClaim or Ephemeral for block mode");
}

TEST(BuiltInPodValidationTest, Volumes) {
  const auto inVolumes = [](std::string_view volumes) {
    return inPod("{containers: [{name: a, image: x}], volumes: [" + std::string(volumes) + "]}");
  };
  EXPECT_EQ(inVolumes("{name: v}, {name: v}"), "spec.volumes[1].name: Duplicate value: \"v\"");
  EXPECT_EQ(inVolumes("{}"), "spec.volumes[0].name: Required value");
  EXPECT_EQ(inVolumes("{name: v, emptyDir: {}, hostPath: {path: /}}"),
            "spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type");
  EXPECT_EQ(
      inVolumes("{name: v, secret: {defaultMode: 512}}"),
      "[spec.volumes[0].secret.secretName: Required value, "
      "spec.volumes[0].secret.defaultMode: Invalid value: 512: must be a number between 0 and "
      "0777 (octal), both inclusive]");
  EXPECT_EQ(inVolumes("{name: v, hostPath: {path: a/../b}}"),
            "spec.volumes[0].hostPath.path: Invalid value: \"a/../b\": must not contain '..'");
  EXPECT_EQ(inVolumes("{name: v, configMap: {name: m, items: [{key: k, path: ..x}]}}"),
            "spec.volumes[0].configMap.items[0].path: Invalid value: \"..x\": must not start with "
            "'..'");
  EXPECT_EQ(inVolumes("{name: v, persistentVolumeClaim: {}}"),
            "spec.volumes[0].persistentVolumeClaim.claimName: Required value");
}

TEST(BuiltInPodValidationTest, ProbesAndHandlers) {
  EXPECT_EQ(inContainer("livenessProbe: {}"),
            "spec.containers[0].livenessProbe: Required value: must specify a handler type");
  EXPECT_EQ(
      inContainer("livenessProbe: {successThreshold: 2, httpGet: {port: 0}}"),
      "[spec.containers[0].livenessProbe.httpGet.port: Invalid value: 0: must be between 1 and "
      "65535, inclusive, spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: "
      "must be 1]");
  EXPECT_EQ(inContainer("startupProbe: {exec: {command: [a]}, tcpSocket: {port: 1}}"),
            "spec.containers[0].startupProbe.tcpSocket: Forbidden: may not specify more than 1 "
            "handler type");
  EXPECT_EQ(
      inContainer("lifecycle: {preStop: {sleep: {seconds: 31}}}"),
      "spec.containers[0].lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and "
      "less than terminationGracePeriodSeconds (30)");
  EXPECT_EQ(inPod("{containers: [{name: a, image: x}], initContainers: [{name: i, image: x, "
                  "livenessProbe: {grpc: {port: 1}}}]}"),
            "spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers "
            "without restartPolicy=Always");
}

TEST(BuiltInPodValidationTest, Resources) {
  EXPECT_EQ(
      inContainer("resources: {limits: {cpu: -1}, requests: {cpu: 0}}"),
      "[spec.containers[0].resources.limits[cpu]: Invalid value: \"-1\": must be greater than "
      "or equal to 0, spec.containers[0].resources.requests: Invalid value: \"0\": must be "
      "less than or equal to cpu limit of -1]");
  EXPECT_EQ(inContainer("resources: {limits: {memory: 1Mi}, requests: {memory: 2Mi}}"),
            "spec.containers[0].resources.requests: Invalid value: \"2Mi\": must be less than or "
            "equal to memory limit of 1Mi");
  EXPECT_EQ(
      inContainer("resources: {limits: {example.com/gpu: 2}, requests: {example.com/gpu: 1}}"),
      "spec.containers[0].resources.requests: Invalid value: \"1\": must be equal to "
      "example.com/gpu limit of 2");
  EXPECT_EQ(inContainer("resources: {requests: {example.com/gpu: 1}}"),
            "spec.containers[0].resources.limits: Required value: Limit must be set for non "
            "overcommitable resources");
  EXPECT_EQ(inContainer("resources: {requests: {pods: 1}}"),
            "spec.containers[0].resources.requests[pods]: Invalid value: \"pods\": must be a "
            "standard resource for containers");
}

TEST(BuiltInPodValidationTest, EnumsAndRanges) {
  EXPECT_EQ(inPod("{restartPolicy: Sometimes, containers: [{name: a, image: x}]}"),
            "spec.restartPolicy: Unsupported value: \"Sometimes\": supported values: \"Always\", "
            "\"OnFailure\", \"Never\"");
  EXPECT_EQ(inPod("{activeDeadlineSeconds: 0, containers: [{name: a, image: x}]}"),
            "spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, "
            "inclusive");
  EXPECT_EQ(inPod("{dnsPolicy: None, containers: [{name: a, image: x}]}"),
            "spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None");
  EXPECT_EQ(inContainer("imagePullPolicy: Often"),
            "spec.containers[0].imagePullPolicy: Unsupported value: \"Often\": supported values: "
            "\"Always\", \"IfNotPresent\", \"Never\"");
  EXPECT_EQ(inPod("{tolerations: [{key: a, operator: Maybe}], containers: [{name: a, image: x}]}"),
            "spec.tolerations[0].operator: Unsupported value: \"Maybe\": supported values: "
            "\"Equal\", \"Exists\"");
}

TEST(BuiltInPodValidationTest, SpreadConstraints) {
  EXPECT_EQ(
      inPod("{containers: [{name: a, image: x}], topologySpreadConstraints: [{topologyKey: z, "
            "maxSkew: 0, whenUnsatisfiable: DoNotSchedule}, {topologyKey: z, maxSkew: 1, "
            "whenUnsatisfiable: DoNotSchedule}]}"),
      "[spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than "
      "zero, spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate "
      "value: \"{z, DoNotSchedule}\"]");
}

TEST(BuiltInPodValidationTest, OnlyOnCreate) {
  EXPECT_EQ(inPod("{nodeName: n1, schedulingGates: [{name: g}], containers: [{name: a, image: x}], "
                  "ephemeralContainers: [{name: e, image: x, targetContainerName: a}]}"),
            "[spec.ephemeralContainers: Forbidden: cannot be set on create, spec.nodeName: "
            "Forbidden: cannot be set until all schedulingGates have been cleared]");
}

class BuiltInPodUpdateTest : public ::testing::Test {
 protected:
  corev1::Pod old = defaulted<corev1::Pod>(R"(
    spec:
      nodeName: n1
      tolerations: [{key: a, operator: Exists}]
      containers: [{name: a, image: x}]
  )");
  corev1::Pod next = old;
  std::string problems() const { return changeProblems(next, old); }
};

TEST_F(BuiltInPodUpdateTest, SomeFieldsMayChange) {
  EXPECT_EQ(problems(), "");
  next.metadata.labels["a"] = "b";
  next.spec->containers[0].image = "y";
  next.spec->activeDeadlineSeconds = 5;
  next.spec->tolerations.push_back({.key = "b", .operator_ = "Exists"});
  EXPECT_EQ(problems(), "");
}

TEST_F(BuiltInPodUpdateTest, OthersMayNot) {
  next.spec->nodeName = "n2";
  EXPECT_EQ(
      problems(),
      "spec: Forbidden: pod updates may not change fields other than "
      "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
      "`spec.tolerations` (only additions to existing "
      "tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was "
      "previously negative)\n- nodeName: \"n1\"\n+ nodeName: \"n2\"");
}

TEST_F(BuiltInPodUpdateTest, ContainersStay) {
  next.spec->containers.push_back(next.spec->containers[0]);
  next.spec->containers[1].name = "b";
  EXPECT_EQ(problems(), "spec.containers: Forbidden: pod updates may not add or remove containers");
}

TEST_F(BuiltInPodUpdateTest, TolerationsStay) {
  next.spec->tolerations.clear();
  EXPECT_EQ(problems(),
            "spec.tolerations: Forbidden: existing toleration can not be modified except its "
            "tolerationSeconds");
}

TEST_F(BuiltInPodUpdateTest, DeadlinesShrink) {
  old.spec->activeDeadlineSeconds = 5;
  next.spec->activeDeadlineSeconds = 6;
  EXPECT_EQ(problems(),
            "spec.activeDeadlineSeconds: Invalid value: 6: must be less than or equal to previous "
            "value");
  next.spec->activeDeadlineSeconds = 4;
  EXPECT_EQ(problems(), "");
}

TEST_F(BuiltInPodUpdateTest, GatesOnlyGo) {
  next.spec->schedulingGates = {{.name = "g"}};
  EXPECT_EQ(problems(),
            "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new "
            "scheduling gate 'g'");
  std::swap(next, old);
  EXPECT_EQ(problems(), "");
  next.spec->nodeSelector["zone"] = "a";
  EXPECT_EQ(problems(), "") << "while it waits, it may be told where to go";
}

}  // namespace
}  // namespace kube::apiserver
