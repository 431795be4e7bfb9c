// No threads.

#include "kube/apiserver/schema/structural_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/apiserver/schema/schema_testing.h"
#include "kube/base/error.h"

namespace kube::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// --- Structural schemas.

TEST(StructuralSchemaTest, AcceptsWhatGeneratorsWrite) {
  EXPECT_THAT(problemsOf(R"(
type: object
description: a network
properties:
  apiVersion: {type: string, description: the version}
  kind: {type: string}
  metadata: {type: object}
  spec:
    type: object
    required: [cidr]
    properties:
      cidr: {type: string, format: cidr}
      port: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}
      peers:
        type: array
        items: {type: object, required: [name], properties: {name: {type: string}}}
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [name]
      labels: {type: object, additionalProperties: {type: string}}
      anything: {type: object, x-kubernetes-preserve-unknown-fields: true}
  status: {type: object, x-kubernetes-preserve-unknown-fields: true}
x-kubernetes-validations: [{rule: "self.spec.cidr != ''"}]
)"),
              IsEmpty());
}

TEST(StructuralSchemaTest, NeedsATypeEverywhere) {
  EXPECT_THAT(problemsOf("{}"),
              ElementsAre("schema.type: Required value: must not be empty at the root"));
  EXPECT_THAT(
      problemsOf("{type: object, properties: {x: {}, z: {type: array, items: {}}}}"),
      ElementsAre("schema.properties[x].type: Required value: must not be empty for specified "
                  "object fields",
                  "schema.properties[z].items.type: Required value: must not be empty for "
                  "specified array items"));
  EXPECT_THAT(problemsOf("{type: array, items: {type: string}}"),
              ElementsAre("schema.type: Invalid value: \"array\": must be object at the root"));
  EXPECT_THAT(problemsOf("{type: object, properties: {x: {type: array}}}"),
              ElementsAre("schema.properties[x].items: Required value: must be specified"));
  EXPECT_THAT(
      problemsOf("{type: object, properties: {x: {type: float}}}"),
      ElementsAre("schema.properties[x].type: Unsupported value: \"float\": supported values: "
                  "\"array\", \"boolean\", \"integer\", \"number\", \"object\", \"string\""));
}

TEST(StructuralSchemaTest, HasNoStructureInsideOfJunctors) {
  EXPECT_THAT(
      problemsOf(R"(
type: object
properties: {x: {type: string}}
anyOf:
- type: object
  description: none
  nullable: true
  default: {}
  additionalProperties: {}
  x-kubernetes-preserve-unknown-fields: true
  properties: {x: {pattern: "("}, z: {}, metadata: {}}
)"),
      ElementsAre(
          "schema.anyOf[0].additionalProperties: Forbidden: must be undefined to be structural",
          "schema.anyOf[0].default: Forbidden: must be undefined to be structural",
          "schema.anyOf[0].description: Forbidden: must be empty to be structural",
          "schema.anyOf[0].nullable: Forbidden: must be false to be structural",
          "schema.anyOf[0].properties[metadata]: Forbidden: must not be specified in a nested "
          "context",
          "schema.anyOf[0].properties[x].pattern: Invalid value: \"(\": must be a valid regular "
          "expression, but isn't: error parsing regexp: missing closing ): `(`",
          "schema.anyOf[0].type: Forbidden: must be empty to be structural",
          "schema.anyOf[0].x-kubernetes-preserve-unknown-fields: Forbidden: must be false to be "
          "structural",
          "schema.properties[metadata]: Required value: because it is defined in "
          "schema.anyOf[0].properties[metadata]",
          "schema.properties[z]: Required value: because it is defined in "
          "schema.anyOf[0].properties[z]",
          "schema.anyOf[0].additionalProperties: Forbidden: additionalProperties and properties "
          "are mutual exclusive"));
}

TEST(StructuralSchemaTest, LeavesMetadataAlone) {
  EXPECT_THAT(problemsOf("{type: object, properties: {metadata: {type: object, properties: "
                         "{name: {type: string, pattern: ^a}}}}}"),
              IsEmpty());
  EXPECT_THAT(
      problemsOf("{type: object, properties: {kind: {type: integer}, metadata: {type: object, "
                 "properties: {labels: {type: object}}}}}"),
      ElementsAre("schema.properties[kind].type: Invalid value: \"integer\": must be string",
                  "schema.properties[metadata]: Forbidden: must not specify anything other than "
                  "name and generateName, but metadata is implicitly specified"));
  EXPECT_THAT(problemsOf("{type: object, additionalProperties: {type: string}}"),
              ElementsAre("schema.additionalProperties: Forbidden: must not be used at the root"));
}

TEST(StructuralSchemaTest, RefusesWhatKubernetesHasNot) {
  EXPECT_THAT(
      problemsOf(R"({type: object, properties: {
      a: {type: string, $ref: "#/definitions/x"},
      b: {type: object, patternProperties: {x: {type: string}}},
      c: {type: array, items: [{type: string}]},
      d: {type: array, items: {type: string}, uniqueItems: true},
      e: {type: object, properties: {x: {type: string}}, additionalProperties: {type: string}}}})"),
      ElementsAre("schema.properties[a].$ref: Forbidden: $ref is not supported",
                  "schema.properties[b].patternProperties: Forbidden: patternProperties is "
                  "not supported",
                  "schema.properties[c].items: Forbidden: items must be a schema object and "
                  "not an array",
                  "schema.properties[d].uniqueItems: Forbidden: uniqueItems cannot be set "
                  "to true since the runtime complexity becomes quadratic",
                  "schema.properties[e].additionalProperties: Forbidden: "
                  "additionalProperties and properties are mutual exclusive"));
  EXPECT_THAT(
      problemsOf("{type: object, $schema: x}"),
      ElementsAre("schema: Invalid value: \"\": OpenAPIV3Schema 'schema' is not supported"));
}

TEST(StructuralSchemaTest, ChecksListAndMapTypes) {
  EXPECT_THAT(
      problemsOf(R"({type: object, properties: {
      a: {type: array, items: {type: object}, x-kubernetes-list-type: set},
      b: {type: array, items: {type: object, properties: {k: {type: string, nullable: true}}},
          x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k, l]},
      c: {type: array, items: {type: string}, x-kubernetes-list-map-keys: [k]},
      d: {type: string, x-kubernetes-map-type: loose}}})"),
      ElementsAre(
          "schema.properties[a].items.x-kubernetes-map-type: Invalid value: \"null\": must be "
          "atomic "
          "as "
          "item of a list with x-kubernetes-list-type=set",
          "schema.properties[b].x-kubernetes-list-map-keys: Invalid value: [\"k\",\"l\"]: entries "
          "must all be names of item properties",
          "schema.properties[b].items.properties[k].default: Required value: this property is in "
          "x-kubernetes-list-map-keys, so it must have a default or be a required property",
          "schema.properties[b].items.properties[k].nullable: Forbidden: this property is in "
          "x-kubernetes-list-map-keys, so it cannot be nullable",
          "schema.properties[c].x-kubernetes-list-type: Required value: must be map if "
          "x-kubernetes-list-map-keys is non-empty",
          "schema.properties[d].type: Invalid value: \"string\": must be object if "
          "x-kubernetes-map-type is specified",
          "schema.properties[d].x-kubernetes-map-type: Unsupported value: \"loose\": supported "
          "values: \"atomic\", \"granular\""));
}

TEST(StructuralSchemaTest, DefaultsMustBeValidAndKnown) {
  EXPECT_THAT(
      problemsOf(R"({type: object, properties: {
      a: {type: integer, maximum: 5, default: 6},
      b: {type: object, properties: {x: {type: string}}, default: {x: ok, z: 1}},
      metadata: {type: object, default: {}}}})"),
      ElementsAre("schema.properties[a].default: Invalid value: 6:  in body should be less "
                  "than or equal to 5",
                  "schema.properties[b].default: Invalid value: {\"x\":\"ok\",\"z\":1}: must not "
                  "have unknown fields",
                  "schema.properties[metadata].default: Forbidden: must not be set in top-level "
                  "metadata"));
}

TEST(StructuralSchemaTest, ThrowsEverythingThatIsWrong) {
  try {
    compiled("{type: object, properties: {x: {}, y: {}}}");
    FAIL();
  } catch (const ValidationError& error) {
    EXPECT_EQ(error.errors().size(), 2U);
    EXPECT_THAT(error.what(), HasSubstr("schema.properties[x].type: Required value"));
  }
}

// --- Pruning.

std::vector<std::string> pruned(std::string_view schema, std::string_view object) {
  Value value = parseYaml(object);
  std::vector<std::string> lines;
  compiled(schema).prune(value, &lines);
  lines.insert(lines.begin(), toJson(value));
  return lines;
}

TEST(StructuralSchemaPruneTest, RemovesWhatIsNotSpecified) {
  EXPECT_THAT(pruned("{type: object, properties: {spec: {type: object, properties: {a: {type: "
                     "string}, l: {type: array, items: {type: object, properties: {x: {type: "
                     "integer}}}}}}}}",
                     "{kind: K, apiVersion: g/v1, metadata: {name: foo}, other: 1, "
                     "spec: {a: x, foo: {b: 1}, l: [{x: 1}, {x: 2, z: 3}]}}"),
              ElementsAre(R"({"apiVersion":"g/v1","kind":"K","metadata":{"name":"foo"},)"
                          R"("spec":{"a":"x","l":[{"x":1},{"x":2}]}})",
                          "unknown field \"other\"", "unknown field \"spec.foo\"",
                          "unknown field \"spec.l[1].z\""));
}

TEST(StructuralSchemaPruneTest, HonoursPreserveUnknownFields) {
  // Specified fields inside are pruned too.
  EXPECT_THAT(pruned("{type: object, properties: {spec: {type: object, "
                     "x-kubernetes-preserve-unknown-fields: true, properties: {known: {type: "
                     "object, properties: {a: {type: string}}}}}}}",
                     "{spec: {any: {thing: 1}, known: {a: x, b: y}}, top: 1}"),
              ElementsAre(R"({"spec":{"any":{"thing":1},"known":{"a":"x"}}})",
                          "unknown field \"spec.known.b\"", "unknown field \"top\""));
}

TEST(StructuralSchemaPruneTest, KeepsMembersOfMaps) {
  EXPECT_THAT(pruned("{type: object, properties: {m: {type: object, additionalProperties: {type: "
                     "object, properties: {a: {type: string}}}}, o: {type: object, "
                     "additionalProperties: true}}}",
                     "{m: {k1: {a: x, b: y}, k2: {}}, o: {x: 1, w: {z: 1}}}"),
              ElementsAre(R"({"m":{"k1":{"a":"x"},"k2":{}},"o":{"w":{},"x":1}})",
                          "unknown field \"m.k1.b\"", "unknown field \"o.w.z\""));
}

TEST(StructuralSchemaPruneTest, KeepsTheMetadataOfEmbeddedResources) {
  EXPECT_THAT(
      pruned(
          "{type: object, properties: {e: {type: object, x-kubernetes-embedded-resource: true, "
          "properties: {spec: {type: object}}}, f: {type: object, properties: {x: {type: "
          "string}}}}}",
          "{e: {apiVersion: v1, kind: Pod, metadata: {name: x, colour: red}, spec: {}, more: 1}, "
          "f: {kind: Pod, metadata: {}}}"),
      ElementsAre(
          R"({"e":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"},"spec":{}},"f":{}})",
          "unknown field \"e.more\"", "unknown field \"f.kind\"", "unknown field \"f.metadata\"",
          "unknown field \"e.metadata.colour\""));
}

TEST(StructuralSchemaPruneTest, MakesMetadataWhatItIs) {
  EXPECT_THAT(pruned("{type: object}",
                     "{metadata: {name: foo, colour: red, creationTimestamp: null, "
                     "ownerReferences: [{name: o, size: 1}]}}"),
              ElementsAre(::testing::StartsWith(R"({"metadata":{"name":"foo","ownerReferences":)"),
                          "unknown field \"metadata.colour\"",
                          "unknown field \"metadata.ownerReferences[0].size\""));
  for (const char* bad : {"{metadata: {name: 5}}", "{metadata: [x]}", "{kind: 5}"}) {
    Value value = parseYaml(bad);
    const Value before = value;
    EXPECT_THROW(compiled("{type: object}").prune(value), DecodeError) << bad;
    EXPECT_EQ(value, before);
  }
}

TEST(StructuralSchemaPruneTest, SharesWhatDoesNotChange) {
  const Value object = parseYaml("{spec: {a: x}, status: {b: y}}");
  Value copy = object;
  compiled(
      "{type: object, properties: {spec: {type: object, properties: {a: {type: string}}}, "
      "status: {type: object, x-kubernetes-preserve-unknown-fields: true}}}")
      .prune(copy);
  EXPECT_TRUE(copy.asObject().sharesWith(object.asObject()));
}

// --- Defaults.

std::string defaulted(std::string_view schema, std::string_view object) {
  Value value = parseYaml(object);
  compiled(schema).setDefaults(value);
  return toJson(value);
}

TEST(StructuralSchemaDefaultsTest, FillWhatIsMissing) {
  constexpr std::string_view kSchema = R"(
type: object
properties:
  spec:
    type: object
    default: {}
    properties:
      replicas: {type: integer, default: 1}
      name: {type: string, default: x}
      ports: {type: array, items: {type: object, properties: {protocol: {type: string, default: TCP}}}}
      map: {type: object, additionalProperties: {type: object, properties: {up: {type: boolean, default: true}}}}
)";
  EXPECT_EQ(defaulted(kSchema, "{}"), R"({"spec":{"name":"x","replicas":1}})");
  EXPECT_EQ(defaulted(kSchema, "{spec: {replicas: 0, ports: [{}, {protocol: UDP}], map: {a: {}}}}"),
            R"({"spec":{"map":{"a":{"up":true}},"name":"x",)"
            R"("ports":[{"protocol":"TCP"},{"protocol":"UDP"}],"replicas":0}})");
}

TEST(StructuralSchemaDefaultsTest, TakeNullForMissingUnlessItIsAllowed) {
  constexpr std::string_view kSchema = R"(
type: object
properties:
  a: {type: string, default: x}
  b: {type: string, nullable: true, default: x}
  c: {type: string}
  d: {type: string, nullable: true}
  e: {type: array, items: {type: string, default: x}}
  f: {type: object, additionalProperties: {type: string}}
  g: {type: object, additionalProperties: {type: string, default: x}}
  h: {type: array, items: {type: string}}
)";
  EXPECT_EQ(defaulted(kSchema,
                      "{a: null, b: null, c: null, d: null, e: [null, z], f: {k: null}, "
                      "g: {k: null}, h: [null]}"),
            R"({"a":"x","b":null,"d":null,"e":["x","z"],"f":{},"g":{"k":"x"},"h":[null]})");
}

TEST(StructuralSchemaDefaultsTest, ShareWhatDoesNotChange) {
  const Value object = parseYaml("{a: 1, l: [{b: 2}]}");
  Value copy = object;
  compiled(
      "{type: object, properties: {a: {type: integer, default: 5}, l: {type: array, items: "
      "{type: object, properties: {b: {type: integer, default: 1}}}}}}")
      .setDefaults(copy);
  EXPECT_TRUE(copy.asObject().sharesWith(object.asObject()));
}

// --- Hostile schemas and objects.

apiextensionsv1::JSONSchemaProps nestedSchema(int levels) {
  apiextensionsv1::JSONSchemaProps schema{.type = "string"};
  for (int i = 0; i < levels; ++i) {
    apiextensionsv1::JSONSchemaProps outer{.type = "object"};
    outer.properties.insert_or_assign("x", std::move(schema));
    schema = std::move(outer);
  }
  return schema;
}

Value nestedArrays(int levels) {
  Value value = 1;
  for (int i = 0; i < levels; ++i) value = Value::Array{std::move(value)};
  return value;
}

TEST(HostileSchemaTest, DeepOnesAreRefused) {
  EXPECT_THAT(StructuralSchema::check(nestedSchema(250), ErrorPath("s")), IsEmpty());
  EXPECT_THAT(texts(StructuralSchema::check(nestedSchema(251), ErrorPath("s"))),
              ElementsAre("s: Invalid value: \"\": must not be nested deeper than 250 levels"));
  EXPECT_THAT(texts(StructuralSchema::check(nestedSchema(2000), ErrorPath("s"))),
              ElementsAre("s: Invalid value: \"\": must not be nested deeper than 250 levels"));
}

TEST(HostileSchemaTest, SharedPartsDoNotMultiply) {
  apiextensionsv1::JSONSchemaProps schema{.type = "string"};
  for (int i = 0; i < 100; ++i) {  // 2^100 nodes if each were compiled by itself
    apiextensionsv1::JSONSchemaProps outer{.type = "object"};
    outer.properties.insert_or_assign("x", schema);
    outer.properties.insert_or_assign("y", schema);
    schema = std::move(outer);
  }
  EXPECT_THAT(texts(StructuralSchema::check(schema, ErrorPath("s"))),
              ElementsAre("s: Invalid value: \"\": must not have more than 200000 schemas"));
}

TEST(HostileSchemaTest, DefaultsInDefaultsDoNotMultiply) {
  std::string schema = "{type: integer}";
  for (int i = 0; i < 20; ++i) {
    schema =
        "{type: array, default: [{}, {}, {}, {}, {}, {}, {}, {}], items: {type: object, "
        "properties: {x: " +
        schema + "}}}";
  }
  EXPECT_THAT(problemsOf("{type: object, properties: {x: " + schema + "}}"),
              ::testing::Contains(HasSubstr("is too large with the defaults inside it")));
}

TEST(HostileSchemaTest, ManyErrorsAreNotAllTold) {
  apiextensionsv1::JSONSchemaProps schema{.type = "object"};
  for (int i = 0; i < 5000; ++i) schema.properties.insert_or_assign(std::to_string(i), {});
  EXPECT_EQ(StructuralSchema::check(schema, ErrorPath("s")).size(), 1000U);
}

TEST(HostileObjectTest, DeepOnesAreNotFollowed) {
  constexpr int kDeep = 2000;  // twice the depth that decoders allow
  const StructuralSchema schema = compiled(
      "{type: object, properties: {any: {x-kubernetes-preserve-unknown-fields: true}, list: {type: "
      "array, items: {type: array, items: {type: string}}}, map: {type: object, "
      "additionalProperties: true}}}");
  Value object = Value::Object{{"any", nestedArrays(kDeep)}, {"list", nestedArrays(kDeep)}};
  schema.setDefaults(object);
  EXPECT_THAT(
      texts(schema.validate(object)),
      ElementsAre("list[0][0]: Invalid value: \"array\": list[0][0] in body must be of type "
                  "string: \"array\""));
  EXPECT_THROW(schema.prune(object), DecodeError);  // the list has arrays that it does not specify
  object = Value::Object{{"any", nestedArrays(kDeep)}};
  schema.prune(object);
  object = Value::Object{{"map", Value::Object{{"k", nestedArrays(kDeep)}}}};
  EXPECT_THROW(schema.prune(object), DecodeError);
}

TEST(HostileObjectTest, ManyUnknownFieldsAreNotAllTold) {
  Value object = Value::Object();
  const std::string long_(10'000, 'x');
  for (int i = 0; i < 5000; ++i) object.object().insert_or_assign(long_ + std::to_string(i), 1);
  std::vector<std::string> unknown;
  compiled("{type: object}").prune(object, &unknown);
  EXPECT_TRUE(object.asObject().empty());
  EXPECT_LE(unknown.size(), 110U);
  EXPECT_GE(unknown.size(), 100U);
}

}  // namespace
}  // namespace kube::apiserver
