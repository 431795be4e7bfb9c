// Tests server-side apply of built-in types, which uses the generated tables.
#include "kube/codec/apply/apply.h"

#include <gtest/gtest.h>

#include <string>

#include "kube/api/apps/v1.h"
#include "kube/api/core/v1.h"
#include "kube/codec/apply/apply_configuration.h"
#include "kube/codec/apply/field_set.h"
#include "kube/codec/apply/object_fields.h"
#include "kube/codec/json.h"
#include "kube/codec/yaml.h"

namespace kube {
namespace {

const TypeInfo* const kDeployment = &TypeOf<appsv1::Deployment>::info;

// The Deployment in the API server after `kubectl create deployment`.
constexpr std::string_view kCreated = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default, uid: u-1, generation: 1, resourceVersion: "7",
           creationTimestamp: "2024-01-01T00:00:00Z", labels: {app: web}}
spec:
  progressDeadlineSeconds: 600
  replicas: 1
  revisionHistoryLimit: 10
  selector: {matchLabels: {app: web}}
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 25%}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {image: nginx, imagePullPolicy: Always, name: nginx, resources: {},
         terminationMessagePath: /dev/termination-log, terminationMessagePolicy: File}
      dnsPolicy: ClusterFirst
      restartPolicy: Always
      schedulerName: default-scheduler
      securityContext: {}
      terminationGracePeriodSeconds: 30
)";

TEST(ApplyBuiltInTest, AClientsCreateOwnsTheSameFieldsAsOnARealServer) {
  const Value created = updateManagedFields(nullptr, parseYaml(kCreated), kDeployment,
                                            {.name = "kubectl-create",
                                             .apiVersion = "apps/v1",
                                             .time = Time::parse("2024-01-01T00:00:00Z")});
  const Value& entry = created["metadata"]["managedFields"][0];
  EXPECT_EQ(
      FieldSet::fromValue(entry["fieldsV1"]).toJson(),
      R"({"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:progressDeadlineSeconds":{},)"
      R"("f:replicas":{},"f:revisionHistoryLimit":{},"f:selector":{},"f:strategy":{)"
      R"("f:rollingUpdate":{".":{},"f:maxSurge":{},"f:maxUnavailable":{}},"f:type":{}},)"
      R"("f:template":{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:containers":{)"
      R"("k:{\"name\":\"nginx\"}":{".":{},"f:image":{},"f:imagePullPolicy":{},"f:name":{},)"
      R"("f:resources":{},"f:terminationMessagePath":{},"f:terminationMessagePolicy":{}}},)"
      R"("f:dnsPolicy":{},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},)"
      R"("f:terminationGracePeriodSeconds":{}}}}})");
  EXPECT_EQ(entry["manager"], Value("kubectl-create"));
  EXPECT_EQ(entry["operation"], Value("Update"));
}

TEST(ApplyBuiltInTest, ConflictsHaveTheServersMessages) {
  const Value live = updateManagedFields(nullptr, parseYaml(kCreated), kDeployment,
                                         {.name = "kubectl", .apiVersion = "apps/v1"});
  const Value config = parseYaml(
      "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 3}}");
  const FieldManager me{.name = "me", .apiVersion = "apps/v1"};
  EXPECT_EQ(
      applyPatch(live, config, kDeployment, me).conflictMessage(),
      R"(Apply failed with 1 conflict: conflict with "kubectl" using apps/v1: .spec.replicas)");
  const ApplyResult forced = applyPatch(live, config, kDeployment, me, true);
  EXPECT_EQ(forced.object["spec"]["replicas"], Value(3));
  EXPECT_EQ(forced.object["metadata"]["uid"], Value("u-1"));
}

TEST(ApplyBuiltInTest, PortsAreIdentifiedByNumberAndProtocolWithItsDefault) {
  const TypeInfo* schema = &TypeOf<corev1::Pod>::info;
  const FieldManager me{.name = "me", .apiVersion = "v1"};
  const auto pod = [](std::string_view ports) {
    return parseYaml(
        "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, "
        "ports: " +
        std::string(ports) + "}]}}");
  };
  const Value first =
      applyPatch(nullptr, pod("[{containerPort: 80}, {containerPort: 80, protocol: UDP}]"), schema,
                 me)
          .object;
  EXPECT_EQ(FieldSet::fromValue(first["metadata"]["managedFields"][0]["fieldsV1"]).toJson(),
            R"({"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:name":{},"f:ports":{)"
            R"("k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}},)"
            R"("k:{\"containerPort\":80,\"protocol\":\"UDP\"}":{".":{},"f:containerPort":{},)"
            R"("f:protocol":{}}}}}}})");
  const Value second =
      applyPatch(first, pod("[{containerPort: 80, protocol: TCP, name: http}]"), schema, me).object;
  EXPECT_EQ(toJson(second["spec"]["containers"][0]["ports"]),
            R"([{"containerPort":80,"name":"http","protocol":"TCP"}])");
}

TEST(ApplyBuiltInTest, AClaimReferenceIsGranularAlthoughReferencesAreAtomic) {
  const Value volume = parseYaml(
      "{apiVersion: v1, kind: PersistentVolume, spec: {claimRef: {name: a, namespace: b}}}");
  EXPECT_TRUE(
      fieldsOf(volume, &TypeOf<corev1::PersistentVolume>::info).has({"spec", "claimRef", "name"}));
  const Value event =
      parseYaml("{apiVersion: v1, kind: Event, involvedObject: {name: a, namespace: b}}");
  EXPECT_TRUE(fieldsOf(event, &TypeOf<corev1::Event>::info).has({"involvedObject"}));
}

TEST(ApplyBuiltInTest, ExtractGivesAnObjectToChangeAndApplyAgain) {
  const auto config = fromYaml<appsv1::Deployment>(
      "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: default}, spec: "
      "{replicas: 2, template: {spec: {containers: [{name: nginx, image: nginx:1.27}]}}}}");
  const Value live = updateManagedFields(nullptr, parseYaml(kCreated), kDeployment,
                                         {.name = "kubectl", .apiVersion = "apps/v1"});
  const Value applied = applyPatch(live, parseJson(Apply(config).toJson()), kDeployment,
                                   {.name = "me", .apiVersion = "apps/v1"}, true)
                            .object;
  const auto stored = fromUnstructured<appsv1::Deployment>(Unstructured(applied));
  EXPECT_EQ(stored.spec->template_->spec->dnsPolicy, "ClusterFirst");
  const Apply<appsv1::Deployment> mine = extract(stored, "me");
  EXPECT_EQ(*mine, config);
  EXPECT_TRUE(mine.zeros().empty()) << mine.zeros();
  EXPECT_FALSE(extract(stored, "nobody")->spec);
  EXPECT_EQ(extract(stored, "nobody")->metadata.name, "web");
}

}  // namespace
}  // namespace kube
