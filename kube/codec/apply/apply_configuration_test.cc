// No threads.
#include "kube/codec/apply/apply_configuration.h"

#include <gtest/gtest.h>

#include "kube/base/error.h"
#include "kube/codec/apply/internal/apply_types_testing.h"
#include "kube/codec/internal/sample_types_testing.h"
#include "kube/codec/json.h"
#include "kube/codec/yaml.h"

namespace kube {
namespace {

using samplecrdv1::Network;
using samplecrdv1::Peer;

constexpr std::string_view kHead = R"({"kind":"Network","apiVersion":"samplecrd.k8s.io/v1")";

std::string sentFields(const Apply<Network>& wanted) {
  const std::string json = wanted.toJson();
  EXPECT_TRUE(json.starts_with(kHead)) << json;
  return json.substr(kHead.size());
}

TEST(ApplyConfigurationTest, SendsOnlyFieldsThatWereSet) {
  Apply<Network> wanted;
  EXPECT_EQ(sentFields(wanted), "}");
  wanted->metadata.name = "net";
  wanted->spec->mtu = 0;
  // Neither required fields nor fields that an update would always send.
  EXPECT_EQ(sentFields(wanted), R"(,"metadata":{"name":"net"},"spec":{"mtu":0}})");
}

TEST(ApplyConfigurationTest, ReadingSendsNothing) {
  Apply<Network> wanted;
  EXPECT_EQ(wanted->spec->cidr, "");
  EXPECT_EQ(wanted->metadata.labels["x"], "");
  EXPECT_EQ(sentFields(wanted), "}");
}

TEST(ApplyConfigurationTest, AnIntendedZeroIsSent) {
  Apply<Network> wanted;
  wanted.set(wanted->spec->enabled, false);
  wanted.set(wanted->spec->cidr, "");
  wanted.set(wanted->spec->peers, {});
  wanted.set(wanted->spec->options, {});
  wanted.set(wanted->status->addresses, 0);
  EXPECT_EQ(sentFields(wanted),
            R"(,"spec":{"cidr":"","peerNetworks":[],"options":{},"isEnabled":false},)"
            R"("status":{"addresses":0}})");
}

TEST(ApplyConfigurationTest, AMessageThatIsSetIsSentThoughEmpty) {
  Apply<Network> wanted;
  wanted.set(wanted->spec, {});
  EXPECT_EQ(sentFields(wanted), R"(,"spec":{}})");
  wanted->status.emplace();
  EXPECT_EQ(sentFields(wanted), R"(,"spec":{},"status":{}})");
}

TEST(ApplyConfigurationTest, UnsetGivesUpTheField) {
  Apply<Network> wanted;
  wanted.set(wanted->spec->enabled, false);
  wanted->spec->cidr = "10.0.0.0/8";
  wanted.unset(wanted->spec->enabled);
  EXPECT_EQ(sentFields(wanted), R"(,"spec":{"cidr":"10.0.0.0/8"}})");
  wanted.set(wanted->spec->enabled, false);
  wanted.unset(wanted->spec);
  EXPECT_EQ(sentFields(wanted), "}");
  EXPECT_TRUE(wanted.zeros().empty());
}

TEST(ApplyConfigurationTest, AMessageThatIsDroppedTakesItsZerosAlong) {
  Apply<Network> wanted;
  wanted.set(wanted->spec->enabled, false);
  wanted->spec.reset();
  EXPECT_EQ(sentFields(wanted), "}");
}

TEST(ApplyConfigurationTest, ElementsAndEntriesAreSentAsTheyAre) {
  Apply<Network> wanted;
  wanted->spec->peers = {Peer{}, Peer{"b", {}}};
  wanted->metadata.labels["empty"] = "";
  wanted->status->port = 0;
  EXPECT_EQ(sentFields(wanted),
            R"(,"metadata":{"labels":{"empty":""}},"spec":{"peerNetworks":[{},{"name":"b"}]}})");
  wanted.set(wanted->spec->peers[0].name, "");
  EXPECT_EQ(
      sentFields(wanted),
      R"(,"metadata":{"labels":{"empty":""}},"spec":{"peerNetworks":[{"name":""},{"name":"b"}]}})");
}

TEST(ApplyConfigurationTest, AZeroInAnElementFollowsTheElementsKey) {
  Apply<applytypes::Thing> wanted;
  wanted->spec->parts.resize(2);
  wanted->spec->parts[0].name = "a";
  wanted->spec->parts[1].name = "b";
  wanted.set(wanted->spec->parts[1].value, "");
  wanted.set(wanted->spec->named.write("k").value, "");
  EXPECT_EQ(wanted.zeros(), (FieldSet{{"spec", "parts", PathElement::key({{"name", "b"}}), "value"},
                                      {"spec", "named", "k", "value"}}));
  wanted->spec->parts.erase(0);
  EXPECT_EQ(wanted.toJson(), R"({"kind":"Thing","apiVersion":"example.com/v1","spec":{"parts":)"
                             R"([{"name":"b","value":""}],"named":{"k":{"value":""}}}})");
}

TEST(ApplyConfigurationTest, OnlyItsOwnFieldsCanBeSet) {
  Apply<Network> wanted;
  Network other;
  EXPECT_THROW(wanted.set(other.spec->enabled, false), Error);
  // The same type at the same offset of another message is another field.
  wanted.set(wanted->spec->cidr, "");
  EXPECT_EQ(wanted.zeros(), (FieldSet{{"spec", "cidr"}}));
}

TEST(ApplyConfigurationTest, ExtractKeepsZerosThatWereApplied) {
  const auto stored = fromYaml<Network>(R"(
kind: Network
apiVersion: samplecrd.k8s.io/v1
metadata:
  name: net
  managedFields:
  - {manager: me, operation: Apply, apiVersion: samplecrd.k8s.io/v1, fieldsType: FieldsV1,
     fieldsV1: {"f:spec": {"f:cidr": {}, "f:isEnabled": {}, "f:mtu": {}, "f:peerNetworks": {}}}}
spec: {cidr: 10.0.0.0/8, isEnabled: false, mtu: 0, peerNetworks: [], class: theirs}
)");
  Apply<Network> mine = extract(stored, "me");
  EXPECT_EQ(sentFields(mine), R"(,"metadata":{"name":"net"},"spec":{"cidr":"10.0.0.0/8","mtu":0,)"
                              R"("peerNetworks":[],"isEnabled":false}})");
  mine->spec->cidr = "";
  mine.unset(mine->spec->enabled);
  EXPECT_EQ(sentFields(mine), R"(,"metadata":{"name":"net"},"spec":{"mtu":0,"peerNetworks":[]}})");
}

TEST(ApplyConfigurationTest, ExtractKeepsRequiredZerosInWhatIsOwnedAsAWhole) {
  const auto stored = fromYaml<metav1::PartialObjectMetadata>(R"(
metadata:
  name: a
  ownerReferences:
  - {apiVersion: v1, kind: "", name: b, uid: u}
  managedFields:
  - {manager: me, operation: Apply, apiVersion: v1, fieldsType: FieldsV1,
     fieldsV1: {"f:metadata": {"f:ownerReferences": {"k:{\"uid\":\"u\"}": {}}}}}
)");
  EXPECT_EQ(extract(stored, "me")->metadata.ownerReferences.size(), 1U);
  EXPECT_EQ(extract(stored, "me").zeros(),
            (FieldSet{{"metadata", "ownerReferences", PathElement::key({{"uid", "u"}}), "kind"}}));

  const auto network = fromYaml<Network>(R"(
kind: Network
apiVersion: samplecrd.k8s.io/v1
metadata:
  managedFields:
  - {manager: me, operation: Apply, apiVersion: samplecrd.k8s.io/v1, fieldsType: FieldsV1,
     fieldsV1: {"f:status": {"f:conditions": {}}}}
status: {conditions: [{type: Ready, status: "True", reason: "", message: ""}]}
)");
  EXPECT_EQ(sentFields(extract(network, "me")),
            R"(,"status":{"conditions":[{"type":"Ready","status":"True",)"
            R"("lastTransitionTime":null,"reason":"","message":""}]}})");
}

}  // namespace
}  // namespace kube
