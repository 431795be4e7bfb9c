#include "kube/client/crd.h"
#include "kube/base/internal/error_of_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/base/error.h"
#include "kube/client/apiextensions/v1.h"
#include "kube/client/resource_client.h"
#include "kube/codec/json.h"
#include "kube/codec/unstructured.h"
#include "kube/codec/yaml.h"
#include "kube/meta/api_error.h"
#include "kube/meta/describe.h"
#include "kube/meta/schema_notes.h"
#include "kube/testing/api_server.h"

namespace crdtest {

struct Peer {
  kube::String name;
  std::int32_t weight = 0;
};
struct NetworkSpec {
  kube::String cidr;
  std::optional<std::int32_t> mtu;
  kube::String mode;
  kube::List<Peer> peers;
  kube::Map<kube::Quantity> limits;
  kube::List<kube::String> tags;
  kube::IntOrString port;
  kube::Time since;
  kube::Value anything;
  kube::RawExtension raw;
  kube::Bytes blob;
  double ratio = 0;
};
struct NetworkStatus {
  std::int64_t replicas = 0;
  kube::List<kube::metav1::Condition> conditions;
};
struct Network {
  kube::metav1::ObjectMeta metadata;
  kube::Shared<NetworkSpec> spec;
  kube::Shared<NetworkStatus> status;
};
struct OldNetwork {
  kube::metav1::ObjectMeta metadata;
  kube::String cidr;
};
struct Tree {
  kube::String name;
  kube::List<Tree> children;
};
struct Plant {
  kube::metav1::ObjectMeta metadata;
  kube::Shared<Tree> spec;
};

}  // namespace crdtest

template <>
struct kube::SchemaOf<crdtest::Peer> {
  static void annotate(kube::SchemaNotes<crdtest::Peer>& peer) {
    peer.type() = {.description = "Another network."};
    peer[&crdtest::Peer::weight] = {.default_ = 1, .minimum = 1, .maximum = 9};
  }
};
template <>
struct kube::SchemaOf<crdtest::NetworkSpec> {
  using Spec = crdtest::NetworkSpec;
  static void annotate(kube::SchemaNotes<Spec>& spec) {
    spec.type() = {.description = "What a network is made of.", .maxProperties = 20};
    spec[&Spec::cidr] = {.description = "Its addresses", .maxLength = 18, .pattern = "^[0-9./]+$"};
    spec[&Spec::mtu] = {.default_ = 1500, .minimum = 68, .maximum = 9000, .multipleOf = 4.0};
    spec[&Spec::mode] = {.enum_ = {"Bridge", "Overlay"}};
    spec[&Spec::peers] = {.maxItems = 8};
    spec[&Spec::tags] = {.more = {{"x-kubernetes-list-type", "set"}}};
    spec.items(&Spec::tags) = {.minLength = 1};
    spec[&Spec::since] = {.nullable = true};
    spec.rule({.rule = "self.mtu <= 1500 || self.mode == 'Bridge'", .message = "too big"});
  }
};
template <>
struct kube::SchemaOf<crdtest::Network> {
  using Network = crdtest::Network;
  static void annotate(kube::SchemaNotes<Network>& network) {
    network.kind() = {.shortNames = {"net"},
                      .categories = {"all"},
                      .selectableFields = {".spec.mode"},
                      .status = true,
                      .scale = kube::ScalePlaces{.specReplicasPath = ".spec.mtu"}};
    network.column("CIDR", &Network::spec, &crdtest::NetworkSpec::cidr);
    network.column("MTU", &Network::spec, &crdtest::NetworkSpec::mtu);
    network.column({.name = "Age", .type = "date", .jsonPath = ".metadata.creationTimestamp"});
  }
};

KUBE_DESCRIBE(crdtest::Peer, (name, required), weight);
KUBE_DESCRIBE(crdtest::NetworkSpec, (cidr, required), mtu, mode, peers, limits, tags, port, since,
              anything, raw, blob, ratio);
KUBE_DESCRIBE(crdtest::NetworkStatus, replicas, conditions);
KUBE_DESCRIBE_KIND(crdtest::Network,
                   (.group = "crd.example.com", .version = "v1", .kind = "Network",
                    .plural = "networks", .namespaced = true),
                   metadata, (spec, required), status);
KUBE_DESCRIBE_KIND(crdtest::OldNetwork,
                   (.group = "crd.example.com", .version = "v1alpha1", .kind = "Network",
                    .plural = "networks", .namespaced = true),
                   metadata, cidr);
KUBE_DESCRIBE(crdtest::Tree, name, children);
KUBE_DESCRIBE_KIND(crdtest::Plant,
                   (.group = "crd.example.com", .version = "v1", .kind = "Plant",
                    .plural = "plants"),
                   metadata, spec);

namespace kube {
namespace {

using ::testing::HasSubstr;

Value schema() { return toUnstructured(schemaOf(TypeOf<crdtest::Network>::info)).object; }

TEST(CrdTest, TablesAndNotesMakeTheSchema) {
  const Value network = schema();
  const Value& spec = network["properties"]["spec"];
  EXPECT_EQ(network["required"], Value(Value::Array{"spec"}));
  EXPECT_EQ(network["properties"]["metadata"], Value(Value::Object{{"type", "object"}}));
  EXPECT_EQ(spec["description"], "What a network is made of.");
  EXPECT_EQ(spec["required"], Value(Value::Array{"cidr"}));
  EXPECT_EQ(spec["maxProperties"].asInt(), 20);
  const Value& fields = spec["properties"];
  EXPECT_EQ(
      toJson(fields["cidr"]),
      R"({"description":"Its addresses","maxLength":18,"pattern":"^[0-9./]+$","type":"string"})");
  EXPECT_EQ(
      toJson(fields["mtu"]),
      R"({"default":1500,"format":"int32","maximum":9000,"minimum":68,"multipleOf":4,"type":"integer"})");
  EXPECT_EQ(toJson(fields["mode"]), R"({"enum":["Bridge","Overlay"],"type":"string"})");
  EXPECT_EQ(
      toJson(fields["tags"]),
      R"({"items":{"minLength":1,"type":"string"},"type":"array","x-kubernetes-list-type":"set"})");
  EXPECT_EQ(fields["peers"]["items"]["properties"]["weight"]["default"].asInt(), 1);
  EXPECT_EQ(fields["peers"]["items"]["description"], "Another network.");
  EXPECT_EQ(fields["peers"]["maxItems"].asInt(), 8);
  EXPECT_TRUE(fields["limits"]["additionalProperties"]["x-kubernetes-int-or-string"].asBool());
  EXPECT_EQ(toJson(fields["since"]), R"({"format":"date-time","nullable":true,"type":"string"})");
  EXPECT_EQ(toJson(fields["anything"]), R"({"x-kubernetes-preserve-unknown-fields":true})");
  EXPECT_EQ(toJson(fields["raw"]),
            R"({"type":"object","x-kubernetes-preserve-unknown-fields":true})");
  EXPECT_EQ(fields["blob"]["format"], "byte");
  EXPECT_EQ(toJson(spec["x-kubernetes-validations"]),
            R"([{"message":"too big","rule":"self.mtu <= 1500 || self.mode == 'Bridge'"}])");
  const Value& conditions = network["properties"]["status"]["properties"]["conditions"];
  EXPECT_EQ(conditions["items"]["properties"]["type"]["type"], "string");
}

TEST(CrdTest, NamesScopeColumnsAndSubresourcesComeFromTheKind) {
  const auto crd = kube::crd<crdtest::Network>();
  EXPECT_EQ(crd.metadata.name, "networks.crd.example.com");
  EXPECT_EQ(crd.spec->scope, "Namespaced");
  EXPECT_EQ(crd.spec->names->singular, "network");
  EXPECT_EQ(crd.spec->names->listKind, "NetworkList");
  EXPECT_EQ(crd.spec->names->shortNames, List<String>({"net"}));
  const auto& version = crd.spec->versions[0];
  EXPECT_TRUE(version.served);
  EXPECT_TRUE(version.storage);
  EXPECT_TRUE(version.subresources->status);
  EXPECT_EQ(version.subresources->scale->specReplicasPath, ".spec.mtu");
  ASSERT_EQ(version.additionalPrinterColumns.size(), 3U);
  EXPECT_EQ(version.additionalPrinterColumns[0].jsonPath, ".spec.cidr");
  EXPECT_EQ(version.additionalPrinterColumns[1].type, "integer");
  EXPECT_EQ(version.selectableFields[0].jsonPath, ".spec.mode");
}

TEST(CrdTest, TheFirstOfSeveralVersionsIsStored) {
  const auto crd = kube::crd<crdtest::Network, crdtest::OldNetwork>();
  ASSERT_EQ(crd.spec->versions.size(), 2U);
  EXPECT_TRUE(crd.spec->versions[0].storage);
  EXPECT_FALSE(crd.spec->versions[1].storage);
  EXPECT_EQ(crd.spec->versions[1].name, "v1alpha1");
}

TEST(CrdTest, VersionsOfDifferentKindsAreAnErrorThatNamesThem) {
  EXPECT_THAT(errorOf<Error>([] { kube::crd<crdtest::Network, crdtest::Plant>(); }),
              HasSubstr("Network and crd.example.com/v1 Plant"));
  EXPECT_THROW(crd<crdtest::Peer>(), Error);  // not a kind
}

TEST(CrdTest, ARecursiveTypeAllowsAnythingInItsInnerOccurrence) {
  const Value plant = toUnstructured(schemaOf(TypeOf<crdtest::Plant>::info)).object;
  EXPECT_EQ(toJson(plant["properties"]["spec"]["properties"]["children"]),
            R"({"items":{"x-kubernetes-preserve-unknown-fields":true},"type":"array"})");
}

TEST(EnsureCrdTest, InstallsWaitsAndServes) {
  testing::ApiServer server;
  const Clientset clients(server.config());
  const auto there = ensureCrd(clients, crd<crdtest::Network>());
  EXPECT_FALSE(there.metadata.uid.empty());

  const ResourceClient<crdtest::Network> networks(clients.rest(), "default");
  crdtest::Network network;
  network.metadata.name = "n";
  network.spec->cidr = "10.0.0.0/8";
  network.spec->mode = "Bridge";
  network.spec->peers = {{.name = "p"}};
  network = networks.create(network);
  EXPECT_EQ(network.spec->mtu, 1500);
  EXPECT_EQ(network.spec->peers[0].weight, 1);
  network.spec->mtu = 9001;
  EXPECT_THROW(networks.update(network), ApiError);
}

TEST(EnsureCrdTest, UpdatesADefinitionAndKeepsChangesOfOthers) {
  testing::ApiServer server;
  const Clientset clients(server.config());
  const auto definitions = clients.apiextensionsV1().customResourceDefinitions();
  auto first = ensureCrd(clients, crd<crdtest::Network>());
  EXPECT_EQ(ensureCrd(clients, crd<crdtest::Network>()).metadata.resourceVersion,
            first.metadata.resourceVersion);  // nothing to change

  first.metadata.labels["team"] = "blue";
  definitions.update(first);
  auto next = crd<crdtest::Network, crdtest::OldNetwork>();
  next.metadata.labels["mine"] = "yes";
  const auto second = ensureCrd(clients, next);
  EXPECT_EQ(second.spec->versions.size(), 2U);
  EXPECT_EQ(second.metadata.labels["team"], "blue");
  EXPECT_EQ(second.metadata.labels["mine"], "yes");
}

TEST(EnsureCrdTest, TakenNamesAreAnErrorAtOnce) {
  testing::ApiServer server;
  const Clientset clients(server.config());
  ensureCrd(clients, crd<crdtest::Network>());
  auto other = crd<crdtest::Network>();
  other.metadata.name = "nets.crd.example.com";
  other.spec->names->plural = "nets";
  EXPECT_THAT(errorOf<Error>([&] { ensureCrd(clients, other); }),
              HasSubstr("nets.crd.example.com\": the server does not accept its names"));
}

TEST(EnsureCrdTest, TheAwaitableFormDoesTheSame) {
  testing::ApiServer server;
  const Clientset clients(server.config());
  const auto definitions = clients.apiextensionsV1().customResourceDefinitions();
  const auto there = blockOn(ensureCrd(definitions.async(), crd<crdtest::Network>()));
  EXPECT_FALSE(there.metadata.uid.empty());
  EXPECT_EQ(ensureCrd(clients, crd<crdtest::Network>()), there);
  const ResourceClient<crdtest::Network> networks(clients.rest(), "default");
  EXPECT_TRUE(networks.list().items.empty());

  auto other = crd<crdtest::Network>();
  other.metadata.name = "nets.crd.example.com";
  other.spec->names->plural = "nets";
  EXPECT_THAT(errorOf<Error>([&] { blockOn(ensureCrd(definitions.async(), other)); }),
              HasSubstr("nets.crd.example.com\": the server does not accept its names"));
}

}  // namespace
}  // namespace kube
