// Tests a few hand-written kinds in all three formats, because upstream's golden files may be
// missing.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "kube/api/apiextensions/v1.h"
#include "kube/api/apps/v1.h"
#include "kube/api/coordination/v1.h"
#include "kube/api/core/v1.h"
#include "kube/api/registry.h"
#include "kube/codec/json.h"
#include "kube/codec/protobuf.h"
#include "kube/codec/yaml.h"

namespace kube {
namespace {

// Checks that an object stays the same in every format, and that its JSON is exactly `json`.
template <class T>
T roundTrip(const std::string& json) {
  const T object = fromJson<T>(json, {.strict = true});
  EXPECT_EQ(toJson(object), json);
  const std::string protobuf = toProtobuf(object);
  EXPECT_EQ(fromProtobuf<T>(protobuf), object);
  EXPECT_EQ(toProtobuf(fromProtobuf<T>(protobuf)), protobuf);
  EXPECT_EQ(toJson(fromProtobuf<T>(protobuf)), json);
  EXPECT_EQ(fromYaml<T>(toYaml(object), {.strict = true}), object);
  return object;
}

// Decoders make zeroed objects without a call of the constructor, so the constructor must change
// nothing.
void expectZeroed(const TypeInfo& type, std::set<const TypeInfo*>& seen) {
  if (!seen.insert(&type).second) return;
  for (const FieldInfo& field : type.fields) {
    if (field.type != nullptr) expectZeroed(*field.type, seen);
  }
  // It is not always known for types without a protobuf form.
  EXPECT_TRUE(type.zeroed || type.wire.empty()) << type.name;
  if (!type.zeroed) return;
  // Padding is not written, nor is the storage of an empty optional.
  const std::vector<unsigned char> zeroes(type.size, 0);
  std::vector<unsigned char> made = zeroes;
  type.construct(made.data());
  EXPECT_EQ(made, zeroes) << type.name;
}

TEST(KindsTest, EveryDefaultObjectIsZeroedMemory) {
  std::set<const TypeInfo*> seen;
  for (const TypeInfo* type : builtInKinds()) expectZeroed(*type, seen);
  EXPECT_GT(seen.size(), 500u);
}

TEST(KindsTest, ADeploymentTellsExplicitZeroFromAbsent) {
  const auto zero = roundTrip<appsv1::Deployment>(
      R"({"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"a"},"spec":{"replicas":0}})");
  const auto none = roundTrip<appsv1::Deployment>(
      R"({"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"a"},"spec":{}})");
  EXPECT_EQ(zero.spec->replicas, 0);
  EXPECT_FALSE(none.spec->replicas.has_value());
  EXPECT_NE(zero, none);
}

TEST(KindsTest, AVolumeKeepsItsSourceBesideItsName) {
  const auto pod = roundTrip<corev1::Pod>(
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"},"spec":{"volumes":[)"
      R"({"name":"config","configMap":{"name":"c","defaultMode":420}},{"name":"tmp","emptyDir":{}}],)"
      R"("containers":[]}})");
  EXPECT_EQ(pod.spec->volumes[0].configMap->name, "c");
  EXPECT_TRUE(pod.spec->volumes[1].emptyDir);
  EXPECT_FALSE(pod.spec->volumes[1].configMap);
}

TEST(KindsTest, ASecretHoldsBytes) {
  const auto secret = roundTrip<corev1::Secret>(
      R"({"kind":"Secret","apiVersion":"v1","metadata":{"name":"s"},"data":{"bin":"AP8B","pw":"c3dvcmRmaXNo"},"type":"Opaque"})");
  EXPECT_EQ(secret.data["pw"], "swordfish");
  EXPECT_EQ(secret.data["bin"], std::string_view("\x00\xff\x01", 3));
}

TEST(KindsTest, AServicePortIsANumberOrAName) {
  const auto service = roundTrip<corev1::Service>(
      R"({"kind":"Service","apiVersion":"v1","metadata":{"name":"s"},"spec":{"ports":[)"
      R"({"port":80,"targetPort":8080},{"port":81,"targetPort":"http"},{"port":82,"targetPort":"8080"}]}})");
  EXPECT_EQ(service.spec->ports[0].targetPort, IntOrString(8080));
  EXPECT_EQ(service.spec->ports[1].targetPort, IntOrString("http"));
  EXPECT_TRUE(service.spec->ports[2].targetPort.isString());
}

TEST(KindsTest, ALeaseKeepsMicroseconds) {
  const auto lease = roundTrip<coordinationv1::Lease>(
      R"({"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"l","creationTimestamp":"2024-02-29T12:00:00Z"},)"
      R"("spec":{"holderIdentity":"me","leaseDurationSeconds":15,"renewTime":"2024-02-29T12:00:00.000123Z"}})");
  EXPECT_EQ(lease.spec->renewTime.nanos(), 123000);
}

TEST(KindsTest, ASchemaHoldsItselfABooleanOrAnArray) {
  const auto crd = roundTrip<apiextensionsv1::CustomResourceDefinition>(
      R"({"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","metadata":{"name":"things.example.com"},)"
      R"("spec":{"group":"example.com","names":{"plural":"things","kind":"Thing"},"scope":"Namespaced","versions":[)"
      R"({"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{)"
      R"("any":{"type":"object","additionalProperties":true},"args":{"type":"array","items":{"type":"string","default":"x"}},)"
      R"("size":{"type":"number","maximum":1.5,"x-kubernetes-int-or-string":true}}}}}]}})");
  const auto& schema = *crd.spec->versions[0].schema->openAPIV3Schema;
  EXPECT_TRUE(schema.properties["any"].additionalProperties->allows);
  EXPECT_EQ(schema.properties["args"].items->schema->default_.raw, "\"x\"");
  EXPECT_EQ(schema.properties["size"].maximum, 1.5);
  EXPECT_TRUE(schema.properties["size"].xKubernetesIntOrString);
}

TEST(KindsTest, QuantitiesAreCanonicalAndTyposAreFound) {
  const auto quota = fromYaml<corev1::ResourceQuota>(
      "apiVersion: v1\nkind: ResourceQuota\nspec: {hard: {cpu: 0.5, memory: 2048Mi, pods: 10}}\n");
  EXPECT_EQ(quota.spec->hard["cpu"].text(), "500m");
  EXPECT_EQ(quota.spec->hard["memory"].text(), "2Gi");
  EXPECT_EQ(quota.spec->hard["pods"].value(), 10);
  EXPECT_THROW(fromYaml<corev1::ResourceQuota>("spec: {hard: {cpu: lots}}"), DecodeError);
  EXPECT_EQ(
      fromYaml<corev1::ResourceQuota>("spec: {hard: {cpu: ' 1 '}}").spec.read().hard["cpu"].text(),
      "1");
  EXPECT_THROW(fromYaml<corev1::ResourceQuota>("spec: {hard: {cpu: ' '}}"), DecodeError);
}

TEST(KindsTest, EveryBuiltInKindIsFoundByItsNameAndHasATable) {
  EXPECT_GE(builtInKinds().size(), 340U);
  for (const TypeInfo* type : builtInKinds()) {
    const ResourceInfo& resource = *type->resource;
    EXPECT_EQ(builtInKind(resource.apiVersion(), resource.kind), type) << resource.kind;
    EXPECT_GT(type->size, 0U);
    if (!resource.plural.empty()) {
      EXPECT_FALSE(resource.verbs.empty()) << resource.kind;
    }
  }
  const ResourceInfo& deployment = *TypeOf<appsv1::Deployment>::info.resource;
  EXPECT_EQ(deployment.plural, "deployments");
  EXPECT_EQ(deployment.shortNames[0], "deploy");
  EXPECT_TRUE(deployment.namespaced);
  EXPECT_TRUE(builtInKind("extensions/v1beta1", "Ingress")->resource->retired);
  EXPECT_EQ(builtInKind("v1", "Nonsense"), nullptr);
}

TEST(KindsTest, MergeFactsAreInTheTables) {
  const FieldInfo* containers = TypeOf<corev1::PodSpec>::info.field("containers");
  ASSERT_NE(containers->merge, nullptr);
  EXPECT_EQ(containers->merge->patchMergeKey, "name");
  EXPECT_EQ(containers->merge->listType, MergeInfo::ListType::Map);
  EXPECT_EQ(containers->merge->listMapKeys[0], "name");
  EXPECT_TRUE(containers->required());
}

}  // namespace
}  // namespace kube
