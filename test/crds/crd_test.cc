// Uses the code generated from test/crds/definitions, which is compiled into this program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "crds.h"
#include "crds_clients.h"
#include "kube/client/core/v1.h"
#include "kube/client/crd.h"
#include "kube/codec/json.h"
#include "kube/codec/yaml.h"
#include "kube/meta/conditions.h"
#include "kube/testing/api_server.h"
#include "test/crds/round_trip.h"

namespace kube::crds {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

acmev1::Gadget gadget() {
  acmev1::Gadget result;
  result.metadata.name = "example";
  result.metadata.namespace_ = "default";
  auto& spec = result.spec.write();
  spec.name = "example";
  spec.size = String(acmev1::GadgetSpec::kSizeExtraLarge);
  spec.ratio = 1.5;
  spec.counts = {1, 2};
  spec.ports.push_back({.number = 80, .protocol = "TCP"});
  spec.labels["app"] = "web";
  spec.limit = Quantity("5Gi");
  spec.blob = Bytes("hello");
  spec.parts->left->right->left = "x";
  return result;
}

TEST(GeneratedCrdsTest, ObjectsAndDefinitionsSurvive) {
  Scheme scheme;
  addAllToScheme(scheme);
  const RoundTrip result = roundTrip(scheme, {"test/crds/definitions"});
  EXPECT_THAT(result.problems, IsEmpty());
  EXPECT_EQ(result.definitions, 5U);
  EXPECT_EQ(result.versions, 6U);
}

TEST(GeneratedCrdsTest, TheClientsetUsesADefinitionMadeFromTheTypes) {
  testing::ApiServer server;
  const ClientsetWith<acmev1::WithClient, x3dv1::WithClient> clients(server.config());
  ensureCrd(clients, crd<acmev1::Gadget, acmev1beta1::Gadget>());
  ensureCrd(clients, crd<x3dv1::Rest>());

  auto gadgets = clients.acmeV1().gadgets("default");
  acmev1::Gadget made = gadgets.create(gadget());
  EXPECT_EQ(made.spec->replicas, 1);  // the schema's default
  EXPECT_EQ(made.spec->mode, "");
  EXPECT_EQ(made.spec->blob, Bytes("hello"));

  made.status->replicas = 3;
  setStatusCondition(made.status->conditions,
                     {.type = "Ready", .status = "True", .reason = "Done", .message = "it works"});
  made = gadgets.updateStatus(made);
  EXPECT_TRUE(isStatusConditionTrue(made.status->conditions, "Ready"));
  EXPECT_EQ(gadgets.getScale("example").spec.read().replicas, 1);

  made.spec->size = "Huge";
  EXPECT_THROW(gadgets.update(made), ApiError);

  x3dv1::Rest rest;
  rest.metadata.name = "one";
  rest.spec->class_ = "c";
  EXPECT_EQ(clients.x3DV1().rest_().create(rest).spec.read().class_, "c");
  EXPECT_THAT(clients.coreV1().pods("default").list().items, IsEmpty());  // built-in clients work
}

TEST(GeneratedCrdsTest, InformersAndListersWork) {
  testing::ApiServer server;
  const ClientsetWith<acmev1::WithClient> clients(server.config());
  ensureCrd(clients, crd<acmev1::Gadget>());
  clients.acmeV1().gadgets("default").create(gadget());

  SharedInformerFactoryWith<acmev1::WithInformers> factory(clients);
  auto gadgets = factory.acmeV1().gadgets();
  factory.start();
  ASSERT_TRUE(factory.waitForSync());
  const auto found = gadgets.lister().inNamespace("default").get("example");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->spec->size, "Extra Large");
}

TEST(GeneratedCrdsTest, ListsAreMergedByTheirKeysWhenApplied) {
  testing::ApiServer server;
  const ClientsetWith<acmev1::WithClient> clients(server.config());
  ensureCrd(clients, crd<acmev1::Gadget>());
  auto gadgets = clients.acmeV1().gadgets("default");
  gadgets.create(gadget());

  acmev1::Gadget more;
  more.metadata.name = "example";
  more.spec = gadget().spec;
  more.spec->ports = {{.hosts = {"a"}, .number = 443, .protocol = "TCP"}};
  const auto applied = gadgets.apply(more, {.force = true, .fieldManager = "me"});
  ASSERT_EQ(applied.spec->ports.size(), 2U);
  EXPECT_EQ(applied.spec->ports[1].number, 443);
}

TEST(GeneratedCrdsTest, OptionalFieldsTellAbsentFromEmpty) {
  acmev1::GadgetSpec spec;
  EXPECT_EQ(toJson(spec),
            R"({"blob":"","counts":[],"flag":false,"labels":{},"limit":"0","name":"","ports":[],)"
            R"("ratio":0,"size":""})");
  spec.replicas = 0;
  spec.paused = false;
  spec.mode = "";
  const auto again = fromJson<acmev1::GadgetSpec>(toJson(spec));
  EXPECT_EQ(again.replicas, 0);
  EXPECT_EQ(again.paused, false);
  EXPECT_EQ(again.mode, "");
  EXPECT_EQ(again.maximum, std::nullopt);
}

TEST(GeneratedCrdsTest, FieldsWithoutAStructAreJsonValues) {
  const auto spec = fromYaml<acmev1::GadgetSpec>(R"(
matrix: [[1, 2], [3]]
holes: [a, null]
half: {known: x, other: 1}
template: {apiVersion: v1, kind: Pod, spec: {nodeName: node-1}}
words: [[a, b], [c]]
)",
                                                 {.strict = true});
  EXPECT_EQ(spec.matrix[1][0].asInt(), 3);
  EXPECT_TRUE(spec.holes[1].isNull());
  EXPECT_EQ(spec.half["other"].asInt(), 1);
  EXPECT_EQ(spec.template_["spec"]["nodeName"].asString(), "node-1");
  EXPECT_THAT(spec.words[0], ElementsAre("a", "b"));
}

}  // namespace
}  // namespace kube::crds
