#include "kube/codec/apply/object_fields.h"

#include <gtest/gtest.h>

#include <string>

#include "kube/codec/apply/apply_configuration.h"
#include "kube/codec/apply/internal/apply_types_testing.h"
#include "kube/codec/internal/sample_types_testing.h"
#include "kube/codec/json.h"
#include "kube/codec/patch/patch_error.h"
#include "kube/codec/yaml.h"

namespace kube {
namespace {

const TypeInfo* const kSpec = &TypeOf<applytypes::Spec>::info;

std::string fieldPaths(std::string_view yaml, const TypeInfo* schema = kSpec) {
  std::string text;
  for (const FieldSet::Path& path : fieldsOf(parseYaml(yaml), schema).paths()) {
    text += (text.empty() ? "" : " ") + toString(path);
  }
  return text;
}

TEST(ObjectFieldsTest, TablesTellWhichPartsAreOneField) {
  EXPECT_EQ(fieldPaths("{replicas: 1}"), ".replicas");
  EXPECT_EQ(fieldPaths("{labels: {a: b, c: d}}"), ".labels.a .labels.c");
  EXPECT_EQ(fieldPaths("{selector: {a: b}}"), ".selector");
  EXPECT_EQ(fieldPaths("{finalizers: [p, q]}"), R"(.finalizers[="p"] .finalizers[="q"])");
  EXPECT_EQ(fieldPaths("{args: [p, q]}"), ".args");
  EXPECT_EQ(fieldPaths("{unmarked: [{name: x}]}"), ".unmarked");
  EXPECT_EQ(fieldPaths("{part: {name: a, numbers: [2, 1]}}"),
            ".part.name .part.numbers[=1] .part.numbers[=2]");
  EXPECT_EQ(fieldPaths("{ref: {name: a}}"), ".ref");
  EXPECT_EQ(fieldPaths("{granularRef: {name: a}}"), ".granularRef.name");
  EXPECT_EQ(fieldPaths("{amount: 1Gi, port: http}"), ".amount .port");
  EXPECT_EQ(fieldPaths("{port: 80}"), ".port");
  EXPECT_EQ(fieldPaths("{parts: [{name: a, value: b}]}"),
            R"(.parts[name="a"] .parts[name="a"].name .parts[name="a"].value)");
  EXPECT_EQ(fieldPaths("{named: {k: {name: a}}}"), ".named.k .named.k.name");
}

TEST(ObjectFieldsTest, KeysOfElementsHaveDefaults) {
  EXPECT_EQ(fieldPaths("{ports: [{containerPort: 80}]}"),
            R"(.ports[containerPort=80,protocol="TCP"] )"
            R"(.ports[containerPort=80,protocol="TCP"].containerPort)");
  EXPECT_EQ(fieldPaths("{ports: [{protocol: UDP}]}"),
            R"(.ports[containerPort=0,protocol="UDP"] )"
            R"(.ports[containerPort=0,protocol="UDP"].protocol)");
}

TEST(ObjectFieldsTest, EmptyValuesAreFieldsButTheirContainersAreNot) {
  EXPECT_EQ(fieldPaths("{}"), "");
  EXPECT_EQ(fieldPaths("{labels: {}, part: {}}"), ".labels .part");
  EXPECT_EQ(fieldPaths("{labels: null, replicas: null, parts: null}"), ".labels .parts .replicas");
  EXPECT_EQ(fieldPaths("{parts: [], finalizers: []}"), "");
  EXPECT_EQ(fieldPaths("{args: []}"), ".args");
}

TEST(ObjectFieldsTest, ElementsOfOneIdentityAreOwnedTogether) {
  EXPECT_EQ(fieldPaths("{finalizers: [p, p, q]}"), R"(.finalizers[="p"] .finalizers[="q"])");
  EXPECT_EQ(fieldPaths("{parts: [{name: a, value: b}, {name: a}, {name: c}]}"),
            R"(.parts[name="a"] .parts[name="c"] .parts[name="c"].name)");
}

TEST(ObjectFieldsTest, WithoutSchemaListsAreOneFieldEach) {
  EXPECT_EQ(fieldPaths("{a: {b: 1, c: [{x: 1}]}, d: {}, e: null}", nullptr), ".a .d .e .a.b .a.c");
  EXPECT_EQ(fieldPaths("{any: {b: {c: [1]}}, raw: {x: 1}}"), ".any.b .any.b.c .raw.x");
  Unstructured object(parseYaml("{kind: X, spec: {list: [1]}}"));
  EXPECT_EQ(fieldsOf(object), FieldSet({{"kind"}, {"spec"}, {"spec", "list"}}));
}

TEST(ObjectFieldsTest, TypedObjects) {
  applytypes::Thing thing;
  thing.metadata.name = "n";
  thing.metadata.labels["a"] = "b";
  thing.spec->replicas = 0;
  EXPECT_EQ(fieldsOf(thing), FieldSet({{"apiVersion"},
                                       {"kind"},
                                       {"metadata", "name"},
                                       {"metadata", "labels", "a"},
                                       {"spec", "replicas"}}));
}

TEST(ObjectFieldsTest, FieldsOutsideOfTheSchemaAreErrors) {
  const auto refused = [](std::string_view yaml) -> std::string {
    try {
      return "taken: " + fieldPaths(yaml);
    } catch (const PatchError& error) {
      return error.what();
    }
  };
  EXPECT_EQ(refused("{nope: 1}"), ".nope: field not declared in schema");
  EXPECT_EQ(refused("{replicas: text}"), ".replicas: expected numeric (int or float), got string");
  EXPECT_EQ(refused("{labels: [1]}"), ".labels: expected map, got array");
  EXPECT_EQ(refused("{labels: {a: 1}}"), ".labels.a: expected string, got integer");
  EXPECT_EQ(refused("{parts: {a: 1}}"), ".parts: expected list, got object");
  EXPECT_EQ(refused("{amount: [1]}"), ".amount: expected any scalar, got array");
  EXPECT_EQ(refused("{parts: [{name: a, x: 1}]}"),
            R"(.parts[name="a"].x: field not declared in schema)");
  EXPECT_EQ(
      refused("{parts: [{value: a}]}"),
      ".parts: element 0: associative list with keys has an element that omits all key fields "
      "[\"name\"] (and doesn't have default values for any key fields)");
  EXPECT_EQ(refused("{parts: [1]}"),
            ".parts: element 0: associative list with keys may not have a integer element");
  EXPECT_EQ(refused("{finalizers: [{a: b}]}"),
            ".finalizers: element 0: associative list without keys has an element that's a object");
  EXPECT_EQ(refused("{unmarked: [{name: 1}], nope: 1}"),
            "errors:\n  .nope: field not declared in schema\n  .unmarked[0].name: expected string, "
            "got integer");
}

TEST(ObjectFieldsTest, ItemsAreRemoved) {
  const auto rest = [](std::string_view yaml, const FieldSet& set) {
    return toJson(removeItems(parseYaml(yaml), set, kSpec));
  };
  const auto part = PathElement::key({{"name", "a"}});
  EXPECT_EQ(rest("{replicas: 1, labels: {a: b, c: d}}", {{"replicas"}, {"labels", "a"}}),
            R"({"labels":{"c":"d"}})");
  EXPECT_EQ(rest("{parts: [{name: a, value: x}, {name: b}]}", {{"parts", part}}),
            R"({"parts":[{"name":"b"}]})");
  EXPECT_EQ(rest("{parts: [{name: a, value: x}]}", {{"parts", part, "value"}}),
            R"({"parts":[{"name":"a"}]})");
  EXPECT_EQ(rest("{finalizers: [p, q]}", {{"finalizers", PathElement::value("p")}}),
            R"({"finalizers":["q"]})");
  EXPECT_EQ(rest("{labels: {a: b}, replicas: 1}", {{"labels", "a"}}),
            R"({"labels":null,"replicas":1})");
  EXPECT_EQ(rest("{labels: {a: b}}", {{"labels"}}), "null");
  EXPECT_EQ(rest("{replicas: 1}", {{"nope"}}), R"({"replicas":1})");
}

TEST(ObjectFieldsTest, ItemsAreExtracted) {
  const auto some = [](std::string_view yaml, const FieldSet& set) {
    return toJson(extractItems(parseYaml(yaml), set, kSpec));
  };
  const auto part = PathElement::key({{"name", "a"}});
  EXPECT_EQ(some("{replicas: 1, labels: {a: b, c: d}}", {{"labels", "a"}}),
            R"({"labels":{"a":"b"}})");
  EXPECT_EQ(some("{parts: [{name: a, value: x}, {name: b}]}", {{"parts", part}}),
            R"({"parts":[{"name":"a","value":"x"}]})");
  EXPECT_EQ(some("{parts: [{name: a, value: x}]}", {{"parts", part, "name"}}),
            R"({"parts":[{"name":"a"}]})");
  EXPECT_EQ(
      some("{selector: {a: b}, ref: {name: x}, args: [p]}", {{"selector"}, {"ref"}, {"args"}}),
      R"({"args":["p"],"ref":{"name":"x"},"selector":{"a":"b"}})");
  EXPECT_EQ(some("{finalizers: [p, q]}", {{"finalizers", PathElement::value("q")}}),
            R"({"finalizers":["q"]})");
  EXPECT_EQ(some("{labels: {}, replicas: 1}", {{"labels"}}), R"({"labels":{}})");
  EXPECT_EQ(some("{replicas: 1}", {{"nope"}}), "null");
}

Unstructured managed() {
  return Unstructured(parseYaml(R"(
apiVersion: samplecrd.k8s.io/v1
kind: Network
metadata:
  name: net
  namespace: ns
  labels: {mine: a, other: b}
  uid: u-1
  managedFields:
  - {manager: me, operation: Update, apiVersion: samplecrd.k8s.io/v1, fieldsType: FieldsV1,
     fieldsV1: {"f:spec": {"f:mtu": {}}}}
  - {manager: me, operation: Apply, apiVersion: samplecrd.k8s.io/v1, fieldsType: FieldsV1,
     fieldsV1: {"f:metadata": {"f:labels": {"f:mine": {}}}, "f:spec": {".": {}, "f:cidr": {}}}}
  - {manager: me, operation: Apply, subresource: status, apiVersion: samplecrd.k8s.io/v1,
     fieldsType: FieldsV1, fieldsV1: {"f:status": {"f:phase": {}}}}
  - {manager: bad, operation: Apply, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"x": {}}}
spec: {cidr: 10.0.0.0/8, mtu: 1500}
status: {phase: Ready, addresses: 4}
)"));
}

TEST(ExtractTest, HasOnlyTheManagersFields) {
  EXPECT_EQ(extract(managed(), "me")->object,
            parseYaml("{apiVersion: samplecrd.k8s.io/v1, kind: Network, metadata: {name: net, "
                      "namespace: ns, labels: {mine: a}}, spec: {cidr: 10.0.0.0/8}}"));
  EXPECT_EQ(extract(managed(), "me", "status")->object,
            parseYaml("{apiVersion: samplecrd.k8s.io/v1, kind: Network, metadata: {name: net, "
                      "namespace: ns}, status: {phase: Ready}}"));
  EXPECT_EQ(extract(managed(), "nobody")->object,
            parseYaml("{apiVersion: samplecrd.k8s.io/v1, kind: Network, metadata: {name: net, "
                      "namespace: ns}}"));
  EXPECT_THROW(extract(managed(), "bad"), DecodeError);
}

TEST(ExtractTest, OfTypedObjects) {
  const auto network = fromUnstructured<samplecrdv1::Network>(managed());
  samplecrdv1::Network expected;
  expected.metadata.name = "net";
  expected.metadata.namespace_ = "ns";
  expected.metadata.labels["mine"] = "a";
  expected.spec->cidr = "10.0.0.0/8";
  EXPECT_EQ(*extract(network, "me"), expected);
}

}  // namespace
}  // namespace kube
