#include "kube/codec/deserializer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/base/error.h"
#include "kube/base/pool.h"
#include "kube/codec/json.h"
#include "kube/codec/protobuf.h"
#include "kube/codec/unstructured.h"
#include "kube/meta/internal/network_versions_testing.h"

namespace kube {
namespace {

using metav1::PartialObjectMetadata;
using networks::kAlpha;
using networks::kV1;
using networks::kV2;
using testing::ElementsAre;
using testing::HasSubstr;
namespace v1 = networks::v1;
namespace v1alpha1 = networks::v1alpha1;
namespace v2 = networks::v2;

constexpr const char* kJson =
    R"({"kind":"Network","apiVersion":"samplecrd.k8s.io/v1","metadata":{"name":"a"},)"
    R"("spec":{"cidr":"10.0.0.0/8","gateways":["10.0.0.1"]}})";
constexpr const char* kYaml = R"(apiVersion: samplecrd.k8s.io/v1
kind: Network
metadata:
  name: a
spec:
  cidr: 10.0.0.0/8
  gateways:
  - 10.0.0.1
)";

Scheme makeScheme() {
  Scheme scheme = networks::makeScheme();
  scheme.setHub({"samplecrd.k8s.io", "Network"}, "v1");
  scheme.addKnownTypes<PartialObjectMetadata>({"meta.k8s.io", "v1"});
  scheme.addKnownTypeWithName<PartialObjectMetadata>({"other.io", "v3", "Metadata"});
  addToGroupVersion(scheme, kV1);
  scheme.addDefaulting<v1::Network>([](v1::Network& network) {
    if (!std::as_const(network).spec->mtu) network.spec->mtu = 1500;
  });
  return scheme;
}

const Scheme& scheme() {
  static const Scheme instance = makeScheme();
  return instance;
}

class DeserializerTest : public testing::Test {
 protected:
  const UniversalDeserializer deserializer{scheme()};

  std::string errorOf(std::string_view body, const DeserializeOptions& options = {}) const {
    try {
      deserializer.decode(body, options);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
};

TEST(FormatOfTest, IsToldByTheContent) {
  EXPECT_EQ(recognizeFormat(kJson), Format::Json);
  EXPECT_EQ(recognizeFormat(" \n\t{}"), Format::Json);
  EXPECT_EQ(recognizeFormat(kYaml), Format::Yaml);
  EXPECT_EQ(recognizeFormat("{a: 1}"), Format::Yaml) << "a brace alone is not enough";
  EXPECT_EQ(recognizeFormat("{\"a\": 1} trailing"), Format::Yaml);
  EXPECT_EQ(recognizeFormat(""), Format::Yaml);
  EXPECT_EQ(recognizeFormat("[1]"), Format::Yaml);
  EXPECT_EQ(recognizeFormat(toProtobuf(PartialObjectMetadata())), Format::Protobuf);
  EXPECT_EQ(recognizeFormat("k8s"), Format::Yaml);
  EXPECT_EQ(toString(Format::Json), "json");
  EXPECT_EQ(toString(Format::Yaml), "yaml");
  EXPECT_EQ(toString(Format::Protobuf), "protobuf");
}

TEST(TypeMetaOfTest, IsReadWithoutDecoding) {
  const TypeMeta says = peekTypeMeta(kJson);
  EXPECT_EQ(says.kind, "Network");
  EXPECT_EQ(says.apiVersion, "samplecrd.k8s.io/v1");
  EXPECT_EQ(peekTypeMeta(R"({"kind":3})").kind, "");
  EXPECT_EQ(peekTypeMeta("[1]").kind, "");
  EXPECT_THROW(peekTypeMeta("{\"kind\" 3}"), DecodeError);
  EXPECT_THROW(peekTypeMeta("{"), DecodeError);
}

TEST_F(DeserializerTest, FindsTheTypeByTheKindInEveryFormat) {
  EXPECT_EQ(&deserializer.scheme(), &scheme());
  const AnyObject fromJson = deserializer.decode(kJson);
  ASSERT_NE(fromJson.as<v1::Network>(), nullptr);
  EXPECT_EQ(fromJson.as<v1::Network>()->spec->gateways[0], "10.0.0.1");
  EXPECT_EQ(fromJson.gvk().str(), "samplecrd.k8s.io/v1, Kind=Network");
  const AnyObject fromYaml = deserializer.decode(kYaml);
  ASSERT_NE(fromYaml.as<v1::Network>(), nullptr);
  EXPECT_EQ(*fromYaml.as<v1::Network>(), *fromJson.as<v1::Network>());

  PartialObjectMetadata metadata;
  metadata.metadata.name = "p";
  const AnyObject fromProtobuf = deserializer.decode(toProtobuf(metadata));
  ASSERT_NE(fromProtobuf.as<PartialObjectMetadata>(), nullptr);
  EXPECT_EQ(fromProtobuf.objectMeta()->name, "p");
}

TEST_F(DeserializerTest, ListsAndUnversionedKindsAreTypesToo) {
  const AnyObject list = deserializer.decode(
      R"({"kind":"NetworkList","apiVersion":"samplecrd.k8s.io/v1","metadata":{"resourceVersion":"3"},)"
      R"("items":[{"kind":"Network","apiVersion":"samplecrd.k8s.io/v1","metadata":{"name":"a"}}]})");
  ASSERT_NE(list.as<v1::NetworkList>(), nullptr);
  EXPECT_EQ(list.as<v1::NetworkList>()->items[0].metadata.name, "a");
  EXPECT_EQ(list.listMeta()->resourceVersion, "3");

  for (const char* version : {"v1", "apps/v1"}) {
    const AnyObject status = deserializer.decode(std::string(R"({"kind":"Status","apiVersion":")") +
                                                 version + R"(","code":404})");
    ASSERT_NE(status.as<metav1::Status>(), nullptr) << version;
    EXPECT_EQ(status.as<metav1::Status>()->code, 404);
  }
}

TEST_F(DeserializerTest, UnregisteredKindIsAnErrorWithItsName) {
  constexpr const char* kBody = R"({"kind":"Thing","apiVersion":"example.com/v1","size":3})";
  try {
    deserializer.decode(kBody);
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(isNotRegistered(error));
    EXPECT_STREQ(error.what(),
                 "no kind \"Thing\" is registered for version \"example.com/v1\" in scheme "
                 "\"networks\"");
  }
}

TEST_F(DeserializerTest, UnregisteredKindBecomesUnstructuredOnRequest) {
  for (const char* body : {R"({"kind":"Thing","apiVersion":"example.com/v1","size":3})",
                           "kind: Thing\napiVersion: example.com/v1\nsize: 3\n"}) {
    const AnyObject object = deserializer.decode(body, {.unknownAsUnstructured = true});
    ASSERT_NE(object.as<Unstructured>(), nullptr);
    EXPECT_EQ(object.as<Unstructured>()->nestedInt64("size"), 3);
    EXPECT_EQ(object.gvk().str(), "example.com/v1, Kind=Thing");
  }
  EXPECT_NE(deserializer.decode(kJson, {.unknownAsUnstructured = true}).as<v1::Network>(), nullptr);

  Scheme empty;
  try {
    UniversalDeserializer(empty).decode(toProtobuf(PartialObjectMetadata()),
                                        {.unknownAsUnstructured = true});
    FAIL() << "protobuf says nothing without a table";
  } catch (const Error& error) {
    EXPECT_TRUE(isNotRegistered(error));
  }
}

TEST_F(DeserializerTest, DefaultKindSuppliesWhatABodyLeavesOut) {
  const GroupVersionKind kind = kV1.withKind("Network");
  EXPECT_EQ(errorOf(R"({"metadata":{}})"), "json: kind: missing: it names the type of the object");
  EXPECT_EQ(errorOf(R"({"kind":"Network"})"),
            "json: apiVersion: missing: it names the type of the object");
  EXPECT_EQ(errorOf("metadata: {}\n"),
            "yaml: line 1, column 1: kind: missing: it names the type of the object");
  EXPECT_EQ(errorOf(R"({"kind":"Network","apiVersion":"a/b/c"})"),
            "json: apiVersion: unexpected GroupVersion string: a/b/c");

  EXPECT_NE(deserializer.decode(R"({"metadata":{}})", {.defaultKind = kind}).as<v1::Network>(),
            nullptr);
  EXPECT_NE(
      deserializer.decode(R"({"kind":"NetworkList"})", {.defaultKind = kind}).as<v1::NetworkList>(),
      nullptr);
  EXPECT_NE(deserializer.decode("apiVersion: samplecrd.k8s.io/v2\n", {.defaultKind = kind})
                .as<v2::Network>(),
            nullptr);
  EXPECT_NE(deserializer.decode("apiVersion: samplecrd.k8s.io/\n", {.defaultKind = kind})
                .as<v1::Network>(),
            nullptr)
      << "a group alone takes the default's version, if the group is the same";
  EXPECT_NE(errorOf("apiVersion: other.io/\n", {.defaultKind = kind}), "no error");

  // The kind in the body wins.
  EXPECT_NE(deserializer.decode(kJson, {.defaultKind = {"a", "v1", "B"}}).as<v1::Network>(),
            nullptr);
  const AnyObject dynamic =
      deserializer.decode("{}", {.defaultKind = {"a", "v1", "B"}, .unknownAsUnstructured = true});
  EXPECT_EQ(dynamic.as<Unstructured>()->kind(), "B");
}

TEST_F(DeserializerTest, StrictDecodingAndItsProblemsReachTheDecoder) {
  const std::string json =
      R"({"kind":"Network","apiVersion":"samplecrd.k8s.io/v1","surprise":1,"spec":{"kind":"x"}})";
  EXPECT_NE(deserializer.decode(json).as<v1::Network>(), nullptr);
  EXPECT_EQ(errorOf(json, {.decode = {.strict = true}}),
            "json: strict decoding error: unknown field \"surprise\", unknown field \"spec.kind\"");
  std::vector<std::string> problems;
  deserializer.decode(std::string(kYaml) + "surprise: 1\n", {.decode = {.problems = &problems}});
  EXPECT_THAT(problems, ElementsAre("unknown field \"surprise\""));
}

TEST_F(DeserializerTest, DefaultsAreAppliedWhenAskedFor) {
  EXPECT_FALSE(std::as_const(*deserializer.decode(kJson).as<v1::Network>()).spec->mtu);
  EXPECT_EQ(deserializer.decode(kJson, {.applyDefaults = true}).as<v1::Network>()->spec->mtu, 1500);
}

TEST_F(DeserializerTest, ConvertsToTheRequestedVersion) {
  const AnyObject alpha = deserializer.decode(kJson, {.toVersions = {kAlpha}});
  ASSERT_NE(alpha.as<v1alpha1::Network>(), nullptr);
  EXPECT_EQ(alpha.as<v1alpha1::Network>()->spec->gateway, "10.0.0.1");
  EXPECT_EQ(alpha.gvk().version, "v1alpha1");
  EXPECT_NE(deserializer.decode(kJson, {.toVersions = {kV2, kV1}}).as<v1::Network>(), nullptr);
  EXPECT_EQ(deserializer.decode(kJson, {.applyDefaults = true, .toVersions = {kAlpha}})
                .as<v1alpha1::Network>()
                ->spec->mtu,
            1500)
      << "the defaults are those of what was read";
  EXPECT_THAT(errorOf(kJson, {.toVersions = {{"other.io", "v9"}}}),
              HasSubstr("is not suitable for converting to \"other.io/v9\""));
}

TEST_F(DeserializerTest, AllObjectsOfABody) {
  const std::string list =
      "apiVersion: v1\nkind: List\nitems:\n- apiVersion: samplecrd.k8s.io/v2\n  kind: Network\n  "
      "range: r\n";
  const std::vector<AnyObject> all =
      deserializer.decodeAll(std::string(kYaml) + "---\n" + list + "---\n\n");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_NE(all[0].as<v1::Network>(), nullptr);
  EXPECT_EQ(all[1].as<v2::Network>()->range, "r");
  EXPECT_EQ(deserializer.decodeAll(toProtobuf(PartialObjectMetadata())).size(), 1U);
  EXPECT_EQ(deserializer.decodeAll("").size(), 0U);
  EXPECT_THAT(errorOf(std::string(kYaml) + "---\n" + kYaml), HasSubstr("expected one document"));
}

TEST_F(DeserializerTest, MalformedBodiesAreRefused) {
  for (const char* body : {"", "{", "[]", "a: [", "42", "{\"kind\":\"Network\"", "\xff\xfe",
                           R"({"kind":"Network","apiVersion":"samplecrd.k8s.io/v1","spec":3})"}) {
    EXPECT_THROW(deserializer.decode(body), DecodeError) << body;
  }
  std::string cut = toProtobuf(PartialObjectMetadata());
  cut.resize(7);
  EXPECT_THROW(deserializer.decode(cut), DecodeError);
  EXPECT_EQ(errorOf(std::string("k8s\0", 4)),
            "protobuf: kind: missing: it names the type of the object");
}

TEST_F(DeserializerTest, EncodesInTheVersionAskedFor) {
  const AnyObject object = deserializer.decode(kJson);
  EXPECT_EQ(deserializer.encode(object, kV1, Format::Json), kJson);
  EXPECT_EQ(deserializer.encode(object, kV1, Format::Yaml), kYaml);
  EXPECT_EQ(deserializer.encode(object, kAlpha, Format::Json),
            R"({"kind":"Network","apiVersion":"samplecrd.k8s.io/v1alpha1","metadata":{"name":"a"},)"
            R"("spec":{"cidr":"10.0.0.0/8","gateway":"10.0.0.1"}})");
  v2::Network network;
  network.range = "r";
  EXPECT_EQ(deserializer.encode(network, kV1, Format::Json, 2),
            "{\n  \"kind\": \"Network\",\n  \"apiVersion\": \"samplecrd.k8s.io/v1\",\n  "
            "\"metadata\": {},\n  \"spec\": {\n    \"cidr\": \"r\"\n  }\n}");
  EXPECT_THROW(deserializer.encode(object, {"other.io", "v1"}, Format::Json), NotRegisteredError);
  EXPECT_THROW(deserializer.encode(object, kV1, Format::Protobuf), Error)
      << "custom resources have no protobuf form";
}

TEST_F(DeserializerTest, AnObjectKeepsItsKindIfItsTypeHasSeveral) {
  const std::string json =
      R"({"kind":"Metadata","apiVersion":"other.io/v3","metadata":{"name":"m"}})";
  const AnyObject object = deserializer.decode(json);
  ASSERT_NE(object.as<PartialObjectMetadata>(), nullptr);
  EXPECT_EQ(encodeObject(object, Format::Json), json);
  EXPECT_THAT(deserializer.encode(object, {"other.io", "v3"}, Format::Yaml),
              HasSubstr("apiVersion: other.io/v3\nkind: Metadata\n"));
  EXPECT_EQ(
      deserializer.encode(object, {"meta.k8s.io", "v1"}, Format::Json),
      R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"m"}})");

  const std::string protobuf = encodeObject(object, Format::Protobuf);
  EXPECT_EQ(openProtobuf(protobuf).kind, "Metadata");
  EXPECT_EQ(openProtobuf(protobuf).apiVersion, "other.io/v3");
  const AnyObject again = deserializer.decode(protobuf);
  EXPECT_EQ(again.gvk().kind, "Metadata");
  EXPECT_EQ(again.objectMeta()->name, "m");
}

TEST_F(DeserializerTest, ATypeDescribedWithoutAKindCanBeRegisteredAsOne) {
  Scheme own;
  own.addKnownTypeWithName<v1::Peer>({"peers.io", "v1", "Peer"});
  own.addKnownTypeWithName<v1::NetworkList>({"peers.io", "v1", "Networks"});
  const UniversalDeserializer peers(own);
  const std::string json = R"({"kind":"Peer","apiVersion":"peers.io/v1","name":"p"})";
  const AnyObject object = peers.decode(json, {.decode = {.strict = true}});
  ASSERT_NE(object.as<v1::Peer>(), nullptr);
  EXPECT_EQ(encodeObject(object, Format::Json), json);
  EXPECT_EQ(
      peers.decode(R"({"kind":"Networks","apiVersion":"peers.io/v1","items":[{"kind":"Net"}]})")
          .as<v1::NetworkList>()
          ->items.size(),
      1U);
  EXPECT_EQ(encodeObject(AnyObject(v1::Option{"x", 1}), Format::Json), R"({"value":"x","ttl":1})")
      << "an object without a registered kind has none";
}

TEST_F(DeserializerTest, AnInternalVersionHasNoEncoding) {
  Scheme own;
  own.addKnownTypeWithName<v1::Network>({"samplecrd.k8s.io", kInternalVersion, "Network"});
  const AnyObject internal = own.newObject({"samplecrd.k8s.io", kInternalVersion, "Network"});
  try {
    encodeObject(internal, Format::Json);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("samplecrd.k8s.io/__internal Network cannot be encoded"));
  }
}

TEST_F(DeserializerTest, UnstructuredObjectsAreConvertedThroughTheirType) {
  const Unstructured dynamic = parseUnstructured(kJson);
  EXPECT_NE(deserializer.typed(dynamic).as<v1::Network>(), nullptr);
  const AnyObject same = deserializer.convertToVersion(AnyObject(dynamic), kV1);
  ASSERT_NE(same.as<Unstructured>(), nullptr) << "it is in that version already";
  EXPECT_EQ(*same.as<Unstructured>(), dynamic);
  const AnyObject other = deserializer.convertToVersion(AnyObject(dynamic), kV2);
  ASSERT_NE(other.as<v2::Network>(), nullptr);
  EXPECT_EQ(other.as<v2::Network>()->range, "10.0.0.0/8");
  EXPECT_THAT(deserializer.encode(dynamic, kAlpha, Format::Json),
              HasSubstr(R"("apiVersion":"samplecrd.k8s.io/v1alpha1")"));
  EXPECT_THROW(deserializer.typed(parseUnstructured(R"({"kind":"X","apiVersion":"x/v1"})")),
               NotRegisteredError);
  EXPECT_THROW(deserializer.typed(Unstructured()), DecodeError);
}

TEST_F(DeserializerTest, APoolSharesAmongKindsOfOneType) {
  Pool pool;
  const DeserializeOptions options{.decode = {.pool = &pool}};
  const auto decode = [&](const char* kind) {
    return deserializer.decode(std::string(R"({"kind":")") + kind +
                                   R"(","metadata":{"labels":{"some":"label","and":"another"}}})",
                               options);
  };
  const AnyObject a = decode("PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1");
  const AnyObject b = decode("Metadata\",\"apiVersion\":\"other.io/v3");
  EXPECT_TRUE(a.objectMeta()->labels.sharesWith(b.objectMeta()->labels));
}

}  // namespace
}  // namespace kube
