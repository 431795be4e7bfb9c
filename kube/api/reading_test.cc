// Reading through a non-const object, as programs do, must not change what is sent.
// No threads.
#include <gtest/gtest.h>

#include "kube/api/autoscaling/v2.h"
#include "kube/api/core/v1.h"
#include "kube/api/networking/v1.h"
#include "kube/codec/apply/apply_configuration.h"
#include "kube/codec/apply/object_fields.h"
#include "kube/codec/json.h"
#include "kube/codec/jsonpath/json_path.h"
#include "kube/codec/patch/merge_patch.h"
#include "kube/codec/patch/patch.h"
#include "kube/codec/protobuf.h"
#include "kube/codec/unstructured.h"
#include "kube/codec/yaml.h"
#include "kube/meta/equality.h"

namespace kube {
namespace {

corev1::Pod pod() {
  return fromYaml<corev1::Pod>(
      "{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {app: web}}, spec: {containers: "
      "[{name: web, image: nginx}]}}");
}

// Reads a pod as an operator does. All the fields are absent.
void look(corev1::Pod& pod) {
  EXPECT_TRUE(pod.spec->affinity->nodeAffinity->requiredDuringSchedulingIgnoredDuringExecution
                  ->nodeSelectorTerms.empty());
  EXPECT_FALSE(pod.spec->securityContext->runAsUser.has_value());
  EXPECT_NE(pod.metadata.labels["tier"], "backend");
  EXPECT_NE(pod.metadata.annotations["seen"], "yes");
  EXPECT_EQ(pod.status->phase, "");
  for (auto& container : pod.spec->containers) {
    EXPECT_EQ(container.resources->limits["cpu"].value(), 0);
    EXPECT_TRUE(container.livenessProbe->httpGet->path.empty());
  }
  EXPECT_FALSE(pod.spec->affinity || pod.spec->securityContext || pod.status);
}

TEST(ReadingTest, ChangesNoEncoding) {
  const corev1::Pod untouched = pod();
  corev1::Pod looked = untouched;
  look(looked);
  EXPECT_EQ(toJson(looked), toJson(untouched));
  EXPECT_EQ(toYaml(looked), toYaml(untouched));
  EXPECT_EQ(toProtobuf(looked), toProtobuf(untouched));
  EXPECT_EQ(toUnstructured(looked).object, toUnstructured(untouched).object);
  EXPECT_EQ(Apply(looked).toJson(), Apply(untouched).toJson());
  EXPECT_EQ(fieldsOf(looked), fieldsOf(untouched));
}

TEST(ReadingTest, ChangesNoComparison) {
  const corev1::Pod untouched = pod();
  corev1::Pod looked = untouched;
  look(looked);
  EXPECT_EQ(looked, untouched);
  EXPECT_TRUE(semanticEqual(looked, untouched) && semanticEqual(untouched, looked));
  EXPECT_TRUE(semanticDerivative(looked, untouched) && semanticDerivative(untouched, looked));
}

TEST(ReadingTest, MakesNoPatch) {
  const corev1::Pod untouched = pod();
  corev1::Pod looked = untouched;
  look(looked);
  EXPECT_EQ(createTwoWayMergePatch(untouched, looked), "{}");
  EXPECT_EQ(createMergePatch(toUnstructured(untouched).object, toUnstructured(looked).object),
            Value(Value::Object()));
  looked.metadata.labels["seen"] = "yes";
  EXPECT_EQ(createTwoWayMergePatch(untouched, looked), R"({"metadata":{"labels":{"seen":"yes"}}})");
}

TEST(ReadingTest, OfUnstructuredObjectsChangesNothing) {
  const Unstructured untouched = toUnstructured(pod());
  Unstructured looked = untouched;
  EXPECT_TRUE(looked.object["spec"]["affinity"]["nodeAffinity"].isNull());
  EXPECT_TRUE(looked.object["spec"]["containers"][1]["image"].isNull());
  EXPECT_EQ(looked.object["metadata"]["annotations"]["a"].asString(), "");
  EXPECT_EQ(looked, untouched);
  EXPECT_EQ(toJson(looked), toJson(untouched));
  EXPECT_EQ(toYaml(looked), toYaml(untouched));
  EXPECT_EQ(createMergePatch(untouched.object, looked.object), Value(Value::Object()));
  EXPECT_EQ(fromUnstructured<corev1::Pod>(looked), pod());
  EXPECT_EQ(fieldsOf(looked.object, nullptr), fieldsOf(untouched.object, nullptr));
}

TEST(ReadingTest, AssignedValuesAreSentEvenIfEmpty) {
  networkingv1::NetworkPolicy policy;
  policy.spec->podSelector = metav1::LabelSelector{};
  EXPECT_EQ(toJson(policy),
            R"({"kind":"NetworkPolicy","apiVersion":"networking.k8s.io/v1","metadata":{},)"
            R"("spec":{"podSelector":{}}})");
  EXPECT_EQ(fromProtobuf<networkingv1::NetworkPolicy>(toProtobuf(policy)), policy);
  policy.spec->podSelector.reset();
  policy.spec->podSelector.emplace();
  EXPECT_TRUE(policy.spec->podSelector);
  EXPECT_TRUE(fromJson<networkingv1::NetworkPolicy>(toJson(policy)).spec.has_value());
}

TEST(ReadingTest, AnAutoscalerIsAppliedWithItsSetFields) {
  autoscalingv2::HorizontalPodAutoscaler wanted;
  wanted.metadata.name = "web";
  wanted.spec->minReplicas = 2;
  EXPECT_EQ(Apply(wanted).toJson(),
            R"({"kind":"HorizontalPodAutoscaler","apiVersion":"autoscaling/v2",)"
            R"("metadata":{"name":"web"},"spec":{"minReplicas":2}})");
}

}  // namespace
}  // namespace kube
