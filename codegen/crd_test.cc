#include "codegen/crd.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/generate.h"
#include "codegen/names.h"
#include "kube/base/error.h"
#include "kube/codec/yaml.h"

namespace kube::codegen {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Schema library() {
  Schema schema;
  const auto add = [&](std::string name, std::string group, std::vector<std::string> types) {
    Package& package = schema[name];
    package.name = name;
    package.group = std::move(group);
    package.version = "v1";
    for (std::string& type : types)
      package.types.push_back({.name = std::move(type), .fields = {}});
  };
  add("meta/v1", "", {"ObjectMeta", "ListMeta", "Condition", "LabelSelector"});
  add("core/v1", "", {"PodSpec"});
  add("autoscaling/v1", "autoscaling", {"Scale"});
  return schema;
}

Value definition(std::string_view schema, std::string_view group = "acme.example.com",
                 std::string_view kind = "Widget") {
  Value crd = parseYaml(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  scope: Namespaced
  names: {plural: widgets}
  versions: [{name: v1, served: true, storage: true}]
)");
  crd["spec"]["group"] = group;
  crd["spec"]["names"]["kind"] = kind;
  crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"] = parseYaml(schema);
  return crd;
}

struct Generated {
  std::vector<std::string> notes;
  std::vector<GeneratedFile> files;

  std::string file(std::string_view path) const {
    for (const GeneratedFile& each : files) {
      if (each.path == path) return each.content;
    }
    return "";
  }
};

Generated generated(const std::vector<Value>& definitions, ReadOptions options = {}) {
  const Schema types = library();
  CrdReader reader(types, std::move(options));
  for (const Value& each : definitions) reader.addDefinition(each, "test");
  const auto packages = reader.finish();
  return {reader.notes(), generateCustom(types, packages)};
}

std::string specOf(std::string_view schema) {
  const std::string header = generated({definition(schema)}).file("acme/v1.h");
  const auto at = header.find("struct WidgetSpec {");
  return at == std::string::npos ? "" : header.substr(at, header.find("\n};", at) - at);
}

std::string failure(const std::vector<Value>& definitions, ReadOptions options = {}) {
  try {
    generated(definitions, std::move(options));
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(CrdReaderTest, OptionalScalarsAreStdOptionalUnlessEmptyMeansAbsent) {
  const std::string spec = specOf(R"(
type: object
required: [must, name]
properties:
  must: {type: integer, format: int32}
  may: {type: integer, format: int32}
  wide: {type: integer}
  share: {type: number}
  flag: {type: boolean}
  name: {type: string}
  note: {type: string}
  mode: {type: string, default: Fast}
  gone: {type: string, nullable: true}
)");
  EXPECT_THAT(spec, HasSubstr("  std::int32_t must = 0;\n"));
  EXPECT_THAT(spec, HasSubstr("  std::optional<std::int32_t> may = {};\n"));
  EXPECT_THAT(spec, HasSubstr("  std::optional<std::int64_t> wide = {};\n"));
  EXPECT_THAT(spec, HasSubstr("  std::optional<double> share = {};\n"));
  EXPECT_THAT(spec, HasSubstr("  std::optional<bool> flag = {};\n"));
  EXPECT_THAT(spec, HasSubstr("  kube::String name = {};\n"));
  EXPECT_THAT(spec, HasSubstr("  kube::String note = {};\n"));
  EXPECT_THAT(spec, HasSubstr("  std::optional<kube::String> mode = {};\n"));
  EXPECT_THAT(spec, HasSubstr("  std::optional<kube::String> gone = {};\n"));
}

TEST(CrdReaderTest, UsesTheLibrarysStructsForEqualSchemas) {
  const std::string condition = R"({type: object, required: [type, status, reason, message,
    lastTransitionTime], properties: {type: {type: string}, status: {type: string},
    reason: {type: string}, message: {type: string}, observedGeneration: {type: integer},
    lastTransitionTime: {type: string, format: date-time}}})";
  EXPECT_THAT(
      specOf("{type: object, properties: {conditions: {type: array, items: " + condition + "}}}"),
      HasSubstr("kube::List<kube::metav1::Condition> conditions"));
  // The library would write an absent reason as an empty string, which the schema may refuse.
  std::string loose = condition;
  loose.replace(loose.find("reason, "), 8, "");
  EXPECT_THAT(
      specOf("{type: object, properties: {conditions: {type: array, items: " + loose + "}}}"),
      HasSubstr("kube::List<WidgetSpecConditions> conditions"));
}

TEST(CrdReaderTest, ValuesWithoutACppTypeAreAnyJsonAndNotedWithTheirPath) {
  const Generated result = generated({definition(
      "{type: object, required: [none], properties: {m: {type: array, items: {type: array, items: "
      "{type: integer}}}, none: {type: string, nullable: true}}}")});
  EXPECT_THAT(result.file("acme/v1.h"), HasSubstr("kube::List<kube::Value> m"));
  EXPECT_THAT(result.file("acme/v1.h"), HasSubstr("  kube::Value none"));
  EXPECT_THAT(
      result.notes,
      ElementsAre(
          "test: spec.versions[0].schema.openAPIV3Schema.spec.m[]: an array within an array "
          "or map: a kube::Value",
          "test: spec.versions[0].schema.openAPIV3Schema.spec.none: required, and may be null: "
          "a kube::Value"));
}

TEST(CrdReaderTest, ErrorsNameThePath) {
  EXPECT_EQ(failure({definition("{type: object, properties: {a: {type: strange}}}")}),
            "test: spec.versions[0].schema.openAPIV3Schema.spec.a: unknown type \"strange\"");
  EXPECT_EQ(
      failure({definition("{type: object, properties: {a: 5}}")}),
      "test: spec.versions[0].schema.openAPIV3Schema.spec.a: expected an object as the schema");
  EXPECT_THAT(failure({definition("{type: object, properties: {a: {$ref: '#/definitions/A'}}}")}),
              HasSubstr("spec.a: the reference \"#/definitions/A\" does not name a schema"));
}

TEST(CrdReaderTest, NestingAndNumbersAreBounded) {
  Value deep = Value::Object{{"type", "string"}};
  for (int i = 0; i < 300; ++i) {
    Value next = Value::Object{{"type", "object"}};
    next["properties"]["a"] = deep;
    deep = next;
  }
  Value crd = definition("{}");
  crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = deep;
  EXPECT_THAT(failure({crd}), HasSubstr("nested deeper than 250 levels"));

  Value wide = Value::Object{{"type", "object"}};
  for (int i = 0; i < 1001; ++i) {
    wide["properties"]["f" + std::to_string(i)] = Value::Object{{"type", "string"}};
  }
  crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = wide;
  EXPECT_THAT(failure({crd}), HasSubstr("more than 1000 properties"));
}

TEST(CrdReaderTest, RefusesNamesThatCouldInjectCode) {
  EXPECT_THAT(failure({definition("{}", "acme\n#include <x>")}), HasSubstr("spec.group: \"acme"));
  EXPECT_THAT(failure({definition("{}", "acme", "A{};")}), HasSubstr("is not a name"));
  EXPECT_THAT(failure({definition("{}", "")}), HasSubstr("spec.group: missing"));
  EXPECT_THAT(failure({definition("{}")}, {.outer = "a b"}), HasSubstr("cannot be a namespace"));
  EXPECT_THAT(failure({definition("{}")}, {.outer = "acme::kube"}),
              HasSubstr("cannot be a namespace"));
  EXPECT_THAT(failure({definition("{}")}, {.outer = "class"}), HasSubstr("cannot be a namespace"));
}

TEST(CrdReaderTest, RefusesOtherVersionsAndKindsWithTheWayOut) {
  Value old = definition("{}");
  old["apiVersion"] = "apiextensions.k8s.io/v1beta1";
  EXPECT_THAT(failure({old}), HasSubstr("convert the definition to it"));
  EXPECT_THAT(failure({Value::Object{{"kind", "Pod"}, {"apiVersion", "v1"}}}),
              HasSubstr("expected a CustomResourceDefinition, found \"v1\" \"Pod\""));
  EXPECT_THAT(failure({definition("{}"), definition("{}")}), HasSubstr("is defined twice"));
}

TEST(CrdReaderTest, GroupsWithTheSameFirstLabelGetDifferentNames) {
  const Generated result =
      generated({definition("{}", "acme.example.com"), definition("{}", "acme.example.org")});
  EXPECT_THAT(result.file("acme/v1.h"), HasSubstr("namespace acmev1 {"));
  EXPECT_THAT(result.file("acmeexampleorg/v1_client.h"), HasSubstr("class AcmeexampleorgV1Client"));
}

TEST(CrdReaderTest, PutsAllCodeIntoAnOuterNamespace) {
  const Generated result = generated({definition("{type: object}")}, {.outer = "my::api"});
  EXPECT_THAT(result.file("acme/v1.h"), HasSubstr("namespace my::api::acmev1 {"));
  EXPECT_THAT(result.file("acme/v1.cc"), HasSubstr("kube::TypeOf<my::api::acmev1::Widget>::info"));
  EXPECT_THAT(result.file("crds.h"), HasSubstr("namespace my::api {"));
}

TEST(CrdReaderTest, AnnotationsCanBeLeftOut) {
  EXPECT_THAT(generated({definition("{type: object}")}).file("acme/v1.cc"),
              HasSubstr("SchemaText"));
  EXPECT_THAT(generated({definition("{type: object}")}, {.annotations = false}).file("acme/v1.cc"),
              Not(HasSubstr("SchemaText")));
}

TEST(CrdReaderTest, ResolvesReferencesToTheLibraryAndWithinTheDocument) {
  const Value document = parseYaml(R"(
components:
  schemas:
    com.acme.v1.Widget:
      type: object
      x-kubernetes-group-version-kind: [{group: acme.example.com, version: v1, kind: Widget}]
      properties:
        metadata: {$ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'}
        spec: {allOf: [{$ref: '#/components/schemas/com.acme.v1.WidgetSpec'}], default: {}}
    com.acme.v1.WidgetSpec:
      type: object
      properties:
        pod: {$ref: '#/components/schemas/io.k8s.api.core.v1.PodSpec'}
        size: {$ref: '#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity'}
        inner: {type: array, items: {$ref: '#/components/schemas/com.acme.v1.WidgetSpec'}}
)");
  const Value resources = parseYaml(R"(
groupVersion: acme.example.com/v1
resources:
  - {name: widgets, singularName: widget, kind: Widget, namespaced: true, verbs: [get, list, watch]}
  - {name: widgets/status, kind: Widget, verbs: [get]}
)");
  const Schema types = library();
  CrdReader reader(types, {});
  reader.addDocument(document, resources, "server");
  const auto files = generateCustom(types, reader.finish());
  EXPECT_THAT(reader.notes(), IsEmpty());
  const std::string& header = files.at(0).content;
  EXPECT_THAT(header, HasSubstr("  kube::Shared<WidgetSpec> spec"));
  EXPECT_THAT(header, HasSubstr("  kube::Shared<kube::corev1::PodSpec> pod"));
  EXPECT_THAT(header, HasSubstr("  std::optional<kube::Quantity> size"));
  EXPECT_THAT(header, HasSubstr("  kube::List<WidgetSpec> inner"));
}

TEST(NamesTest, TextBecomesALiteralOrAnIdentifier) {
  EXPECT_EQ(literal("a\"b\\c\n?\?/"), R"("a\"b\\c\012?\?/")");
  EXPECT_EQ(identifier("foo-bar.baz"), "fooBarBaz");
  EXPECT_EQ(identifier("3d"), "x3d");
  EXPECT_EQ(identifier("*"), "x");
  EXPECT_EQ(literal("a\u202e1"), R"("a\342\200\2561")");
  EXPECT_EQ(comment("a\u202e1", ""), "/// a1\n");
  EXPECT_EQ(comment("one \\\ntwo", ""), "/// one two\n");
}

}  // namespace
}  // namespace kube::codegen
