#include "kube/meta/describe.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kube/base/error.h"
#include "kube/codec/internal/sample_types_testing.h"
#include "kube/codec/json.h"
#include "kube/codec/stream.h"

// A namespace that kube has too: descriptions use the global one.
namespace metav1 {
struct Note {
  kube::String text;
};
}  // namespace metav1
KUBE_DESCRIBE(metav1::Note, text)

struct Wide {
  int f00, f01, f02, f03, f04, f05, f06, f07, f08, f09, f10, f11, f12, f13, f14, f15;
  int f16, f17, f18, f19, f20, f21, f22, f23, f24, f25, f26, f27, f28, f29, f30, f31;
  int f32, f33, f34, f35, f36, f37, f38, f39, f40, f41, f42, f43, f44, f45, f46, f47;
  int f48, f49, f50, f51, f52, f53, f54, f55, f56, f57, f58, f59, f60, f61, f62, f63;
};
KUBE_DESCRIBE(Wide, f00, f01, f02, f03, f04, f05, f06, f07, f08, f09, f10, f11, f12, f13, f14, f15,
              f16, f17, f18, f19, f20, f21, f22, f23, f24, f25, f26, f27, f28, f29, f30, f31, f32,
              f33, f34, f35, f36, f37, f38, f39, f40, f41, f42, f43, f44, f45, f46, f47, f48, f49,
              f50, f51, f52, f53, f54, f55, f56, f57, f58, f59, f60, f61, f62, (f63, "last"));

struct CustomListName {
  kube::metav1::ObjectMeta metadata;
};
struct CustomListNames {
  kube::metav1::ListMeta metadata;
  kube::List<CustomListName> items;
};
KUBE_DESCRIBE_KIND(CustomListName,
                   (.group = "", .version = "v2", .kind = "Custom", .listKind = "Customs"),
                   metadata);
KUBE_DESCRIBE_LIST(CustomListNames);

namespace kube {
namespace {

using samplecrdv1::Network;
using samplecrdv1::NetworkList;
using samplecrdv1::NetworkSpec;
using samplecrdv1::NetworkStatus;

static_assert(Described<Network> && ApiObject<Network>);
static_assert(Described<NetworkSpec> && !ApiObject<NetworkSpec>);
static_assert(!Described<std::string>);

constexpr std::string_view kNetwork =
    R"({"kind":"Network","apiVersion":"samplecrd.k8s.io/v1",)"
    R"("metadata":{"name":"n","namespace":"book","labels":{"a":"b"}},)"
    R"("spec":{"cidr":"10.0.0.0/8","mtu":0,"peerNetworks":[{"name":"p","peers":[{"name":"q"}]}],)"
    R"("class":"fast","options":{"x":"y"},"isEnabled":true},)"
    R"("status":{"phase":"Ready","addresses":9007199254740993,"load":0.5,"reason":"",)"
    R"("bandwidth":"10M","port":"http","since":"2024-01-02T03:04:05Z","age":"1m0s",)"
    R"("key":"AAE=","extra":{"any":[1,null]},)"
    R"("conditions":[{"type":"Up","status":"True","lastTransitionTime":null,"reason":"r",)"
    R"("message":""}]}})";

TEST(DescribeTest, JsonGoesInAndComesOutTheSame) {
  const auto network = fromJson<Network>(kNetwork);
  EXPECT_EQ(network.metadata.name, "n");
  EXPECT_EQ(network.spec->cidr, "10.0.0.0/8");
  EXPECT_EQ(network.spec->peers[0].peers[0].name, "q");
  EXPECT_EQ(network.spec->class_, "fast");
  EXPECT_TRUE(network.spec->enabled);
  EXPECT_EQ(network.status->addresses, 9007199254740993);
  EXPECT_EQ(network.status->extra["any"][0].asInt(), 1);
  EXPECT_EQ(network.status->conditions[0].type, "Up");
  EXPECT_EQ(toJson(network), kNetwork);
}

TEST(DescribeTest, OptionalTellsZeroFromAbsent) {
  EXPECT_EQ(fromJson<NetworkSpec>(R"({"mtu":0})").mtu, 0);
  EXPECT_EQ(fromJson<NetworkSpec>(R"({})").mtu, std::nullopt);
  EXPECT_EQ(fromJson<NetworkSpec>(R"({"mtu":null})").mtu, std::nullopt);
  EXPECT_EQ(fromJson<NetworkStatus>(R"({"reason":""})").reason, "");
  EXPECT_FALSE(fromJson<Network>("{}").spec);
  EXPECT_TRUE(fromJson<Network>(R"({"spec":{}})").spec);
}

TEST(DescribeTest, RequiredAndKeptFieldsAreShownWhenEmpty) {
  EXPECT_EQ(toJson(NetworkSpec()), R"({"cidr":"","isEnabled":false})");
  const TypeInfo& type = TypeOf<NetworkSpec>::info;
  EXPECT_TRUE(type.field("cidr")->required());
  EXPECT_TRUE(type.field("cidr")->keep());
  EXPECT_FALSE(type.field("isEnabled")->required());
  EXPECT_TRUE(type.field("isEnabled")->keep());
  EXPECT_FALSE(type.field("mtu")->required() || type.field("mtu")->keep());
}

TEST(DescribeTest, JsonNamesAreTheMembersUnlessGiven) {
  std::vector<std::string> names;
  for (const FieldInfo& field : TypeOf<NetworkSpec>::info.fields) names.emplace_back(field.name);
  EXPECT_EQ(names, (std::vector<std::string>{"cidr", "mtu", "peerNetworks", "class", "options",
                                             "isEnabled"}));
}

TEST(DescribeTest, MembersNotDescribedAreLeftAlone) {
  NetworkStatus status;
  status.notDescribed = 5;
  EXPECT_EQ(toJson(status).find("notDescribed"), std::string::npos);
  EXPECT_EQ(fromJson<NetworkStatus>(R"({"notDescribed":7})").notDescribed, 0);
}

TEST(DescribeTest, KindShowsKindAndApiVersion) {
  EXPECT_TRUE(
      toJson(Network()).starts_with(R"({"kind":"Network","apiVersion":"samplecrd.k8s.io/v1",)"));
  const ResourceInfo& resource = *TypeOf<Network>::info.resource;
  EXPECT_EQ(resource.group, "samplecrd.k8s.io");
  EXPECT_EQ(resource.plural, "networks");
  EXPECT_TRUE(resource.namespaced);
  EXPECT_EQ(TypeOf<Network>::info.name, "Network");
  EXPECT_EQ(TypeOf<NetworkSpec>::info.resource, nullptr);
}

TEST(DescribeTest, AnotherKindIsRefused) {
  EXPECT_THROW(fromJson<Network>(R"({"kind":"Pod"})"), DecodeError);
  EXPECT_THROW(fromJson<Network>(R"({"apiVersion":"samplecrd.k8s.io/v2"})"), DecodeError);
}

TEST(DescribeTest, WrongTypeIsAnErrorThatNamesThePath) {
  try {
    fromJson<Network>(R"({"spec":{"peerNetworks":[{"name":"a"},{"name":1}]}})");
    FAIL() << "nothing was thrown";
  } catch (const DecodeError& e) {
    EXPECT_EQ(e.path(), "spec.peerNetworks[1].name");
  }
}

TEST(DescribeTest, StrictDecodingFindsUnknownFields) {
  constexpr std::string_view kText =
      R"({"spec":{"cidr":"c","peers":[],"peerNetworks":[{"nmae":"x"}]}})";
  EXPECT_EQ(fromJson<Network>(kText).spec.read().cidr, "c");
  std::vector<std::string> problems;
  fromJson<Network>(kText, {.problems = &problems});
  EXPECT_EQ(problems, (std::vector<std::string>{R"(unknown field "spec.peers")",
                                                R"(unknown field "spec.peerNetworks[0].nmae")"}));
  EXPECT_THROW(fromJson<Network>(kText, {.strict = true}), DecodeError);
  EXPECT_NO_THROW(fromJson<Network>(kNetwork, {.strict = true}));
}

TEST(DescribeTest, ListTakesItsKindFromItsItems) {
  const ResourceInfo& resource = *TypeOf<NetworkList>::info.resource;
  EXPECT_EQ(resource.kind, "NetworkList");
  EXPECT_EQ(resource.apiVersion(), "samplecrd.k8s.io/v1");
  EXPECT_EQ(TypeOf<CustomListNames>::info.resource->kind, "Customs");
  EXPECT_EQ(
      toJson(NetworkList()),
      R"({"kind":"NetworkList","apiVersion":"samplecrd.k8s.io/v1","metadata":{},"items":[]})");
}

std::string listOf(std::string_view kind, int items) {
  std::string text = R"({"kind":")" + std::string(kind) +
                     R"(","apiVersion":"samplecrd.k8s.io/v1","metadata":{"resourceVersion":"9"},)" +
                     R"("items":[)";
  for (int i = 0; i < items; ++i) {
    if (i > 0) text += ',';
    text += R"({"metadata":{"name":"n)" + std::to_string(i) + R"("},"spec":{"cidr":"same"}})";
  }
  return text + "]}";
}

TEST(DescribeTest, ListIsDecodedWithItsItems) {
  const auto list = fromJson<NetworkList>(listOf("NetworkList", 3));
  ASSERT_EQ(list.items.size(), 3u);
  EXPECT_EQ(list.items[2].metadata.name, "n2");
  EXPECT_EQ(list.metadata.resourceVersion, "9");
  EXPECT_TRUE(list.items[0].spec.sharesWith(list.items[1].spec));
  EXPECT_THROW(fromJson<NetworkList>(listOf("PodList", 1)), DecodeError);
}

TEST(DescribeTest, ListIsStreamedInChunks) {
  std::vector<std::string> names;
  ListDecoder<Network> stream(
      [&](Network&& network) { names.emplace_back(network.metadata.name.str()); });
  const std::string text = listOf("NetworkList", 5);
  for (std::size_t at = 0; at < text.size(); at += 7) stream.feed(text.substr(at, 7));
  EXPECT_EQ(stream.finish().resourceVersion, "9");
  EXPECT_EQ(names, (std::vector<std::string>{"n0", "n1", "n2", "n3", "n4"}));
}

TEST(DescribeTest, SixtyFourFieldsAreDescribed) {
  const TypeInfo& type = TypeOf<Wide>::info;
  ASSERT_EQ(type.fields.size(), 64u);
  EXPECT_EQ(type.fields[62].name, "f62");
  EXPECT_EQ(type.fields[63].name, "last");
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(type.fields[i].offset, 4 * i);
  Wide wide{};
  decodeJson(type, &wide, R"({"f00":1,"last":64})");
  EXPECT_EQ(toJson(wide), R"({"f00":1,"last":64})");
}

TEST(DescribeTest, NamespaceMayHaveANameThatKubeUsesToo) {
  EXPECT_EQ(fromJson<::metav1::Note>(R"({"text":"t"})").text, "t");
}

}  // namespace
}  // namespace kube
