#include "kube/codec/unstructured.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/internal/error_of_testing.h"
#include "kube/codec/internal/sample_types_testing.h"
#include "kube/codec/json.h"
#include "kube/codec/stream.h"

namespace kube {
namespace {

using samplecrdv1::Network;
using samplecrdv1::NetworkSpec;

Network sample() {
  Network network;
  network.metadata.name = "n";
  network.metadata.labels["a"] = "b";
  network.metadata.creationTimestamp = Time::parse("2024-01-02T03:04:05Z");
  network.spec->cidr = "10.0.0.0/8";
  network.spec->mtu = 1500;
  network.status->load = 0.5;
  return network;
}

TEST(UnstructuredCodecTest, TypedObjectBecomesUnstructuredWithItsKind) {
  const Unstructured object = toUnstructured(sample());
  EXPECT_EQ(object.gvk(), (GroupVersionKind{"samplecrd.k8s.io", "v1", "Network"}));
  EXPECT_EQ(object.name(), "n");
  EXPECT_EQ(object.labels(), (Map<String>{{"a", "b"}}));
  EXPECT_EQ(object.creationTimestamp(), sample().metadata.creationTimestamp);
  EXPECT_EQ(object.nestedInt64("spec", "mtu"), 1500);
  EXPECT_EQ(object.nestedDouble("status", "load"), 0.5);
}

TEST(UnstructuredCodecTest, AndBack) {
  Unstructured object = toUnstructured(sample());
  EXPECT_EQ(fromUnstructured<Network>(object), sample());
  object.setName("m");
  object.setNestedField(9000, "spec", "mtu");
  const auto network = fromUnstructured<Network>(object);
  EXPECT_EQ(network.metadata.name, "m");
  EXPECT_EQ(network.spec->mtu, 9000);
}

TEST(UnstructuredCodecTest, PartsOfObjectsHaveNoKind) {
  NetworkSpec spec;
  spec.cidr = "c";
  const Unstructured object = toUnstructured(spec);
  EXPECT_EQ(object.kind(), "");
  EXPECT_EQ(fromUnstructured<NetworkSpec>(object), spec);
}

TEST(UnstructuredCodecTest, AValueThatDoesNotFitIsAnErrorWithThePathAlone) {
  Unstructured object = toUnstructured(sample());
  object.setNestedField("many", "spec", "mtu");
  EXPECT_EQ(errorOf([&] { fromUnstructured<Network>(object); }),
            "spec.mtu: expected a number, found a string");
  object = toUnstructured(sample());
  object.setKind("Pod");
  EXPECT_EQ(errorOf([&] { fromUnstructured<Network>(object); }),
            R"(kind: expected kind "Network", found "Pod")");
}

TEST(UnstructuredCodecTest, StrictConversionFindsUnknownFields) {
  Unstructured object = toUnstructured(sample());
  object.setNestedField(1, "spec", "mut");
  EXPECT_EQ(fromUnstructured<Network>(object), sample());
  EXPECT_NE(errorOf([&] { fromUnstructured<Network>(object, {.strict = true}); }).find("spec.mut"),
            std::string::npos);
}

TEST(UnstructuredCodecTest, JsonGoesInAndComesOutTheSame) {
  constexpr std::string_view kText =
      R"({"apiVersion":"v1","kind":"Thing","metadata":{"name":"n"},)"
      R"("spec":{"big":9007199254740993,"half":0.5,"list":[1,"two",null,true]}})";
  const Unstructured object = parseUnstructured(kText);
  EXPECT_EQ(object.kind(), "Thing");
  EXPECT_EQ(object.nestedInt64("spec", "big"), 9007199254740993);
  EXPECT_EQ(toJson(object), kText);
  EXPECT_EQ(parseUnstructured(toJson(object, 2)), object);
}

TEST(UnstructuredCodecTest, TextWithoutKindIsRefused) {
  EXPECT_EQ(errorOf([] { parseUnstructured(R"({"apiVersion":"v1"})"); }),
            "json: kind: missing: it names the type of the object");
  EXPECT_EQ(errorOf([] { parseUnstructured("[]"); }), "json: expected an object, found array");
  EXPECT_THROW(parseUnstructured(R"({"kind":)"), DecodeError);
  EXPECT_THROW(parseUnstructured(R"({"kind":1})"), DecodeError);
}

TEST(UnstructuredCodecTest, ListGivesItsItemsTheirKind) {
  const UnstructuredList list = parseUnstructuredList(
      R"({"kind":"ThingList","apiVersion":"g/v1","metadata":{"continue":"c"},)"
      R"("items":[{"metadata":{"name":"a"}},{"kind":"Other","apiVersion":"h/v1"}]})");
  ASSERT_EQ(list.items.size(), 2u);
  EXPECT_EQ(list.continue_(), "c");
  EXPECT_EQ(list.items[0].gvk(), (GroupVersionKind{"g", "v1", "Thing"}));
  EXPECT_EQ(list.items[1].gvk(), (GroupVersionKind{"h", "v1", "Other"}));
  EXPECT_EQ(
      toJson(list),
      R"({"apiVersion":"g/v1","items":[)"
      R"({"apiVersion":"g/v1","kind":"Thing","metadata":{"name":"a"}},)"
      R"({"apiVersion":"h/v1","kind":"Other"}],"kind":"ThingList","metadata":{"continue":"c"}})");
}

TEST(UnstructuredCodecTest, ListOfAnythingLeavesItsItemsAlone) {
  const UnstructuredList list =
      parseUnstructuredList(R"({"kind":"List","apiVersion":"v1","items":[{"a":1}]})");
  EXPECT_EQ(list.items[0].kind(), "");
  EXPECT_THROW(parseUnstructuredList(R"({"kind":"Thing"})"), DecodeError);
  EXPECT_THROW(parseUnstructuredList(R"({"kind":"ThingList","items":[1]})"), DecodeError);
}

TEST(UnstructuredStreamTest, ItemsOfATypedListAreToldTheirKind) {
  std::vector<Unstructured> items;
  ListDecoder<Unstructured> stream([&](Unstructured&& item) { items.push_back(std::move(item)); });
  stream.feed(
      R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[)");
  stream.feed(R"({"metadata":{"name":"a"},"spec":{"n":1}},{"kind":"Other","apiVersion":"x/v1"}]})");
  EXPECT_EQ(stream.finish().resourceVersion, "7");
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0].kind(), "Pod");
  EXPECT_EQ(items[0].apiVersion(), "v1");
  EXPECT_EQ(items[0].nestedInt64("spec", "n"), 1);
  EXPECT_EQ(items[1].kind(), "Other");
}

TEST(UnstructuredStreamTest, EqualPartsOfDifferentItemsAreOneMemory) {
  std::vector<Unstructured> items;
  ListDecoder<Unstructured> stream([&](Unstructured&& item) { items.push_back(std::move(item)); });
  std::string body = R"({"kind":"ThingList","apiVersion":"x/v1","items":[)";
  for (int i = 0; i < 8; ++i) {
    if (i > 0) body += ',';
    body += R"({"metadata":{"name":"t)" + std::to_string(i) +
            R"(","labels":{"app":"web","tier":"front"}},"spec":{"list":[{"a":1},{"b":"two"}]}})";
  }
  stream.feed(body + "]}");
  stream.finish();
  ASSERT_EQ(items.size(), 8U);
  const Value& first = std::as_const(items[0].object);
  const Value& last = std::as_const(items[7].object);
  EXPECT_TRUE(
      first["metadata"]["labels"].asObject().sharesWith(last["metadata"]["labels"].asObject()));
  EXPECT_TRUE(first["spec"].asObject().sharesWith(last["spec"].asObject()));
  EXPECT_EQ(last["metadata"]["name"], "t7");
}

TEST(UnstructuredStreamTest, AWatchGivesEvents) {
  std::vector<std::string> seen;
  WatchDecoder<Unstructured> stream([&](WatchEvent<Unstructured>&& event) {
    seen.push_back(std::string(toString(event.type)) + " " +
                   (event.type == EventType::Error ? event.status.reason : event.object.name()));
  });
  stream.feed(R"({"type":"ADDED","object":{"kind":"T","metadata":{"name":"a"}}})"
              "\n");
  stream.feed(
      R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","reason":"Expired"}})");
  stream.finish();
  EXPECT_EQ(seen, (std::vector<std::string>{"ADDED a", "ERROR Expired"}));
}

}  // namespace
}  // namespace kube
