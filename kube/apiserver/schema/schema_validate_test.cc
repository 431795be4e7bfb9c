// No threads.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/apiserver/schema/schema_testing.h"
#include "kube/base/internal/sanitizer.h"

namespace kube::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The schema of a single field "f".
std::string field(std::string_view schema) {
  return "{type: object, properties: {f: " + std::string(schema) + "}}";
}
std::vector<std::string> errorsOfField(std::string_view schema, std::string_view value) {
  return errorsOf(field(schema), "{f: " + std::string(value) + "}");
}

TEST(SchemaValidateTest, Types) {
  EXPECT_THAT(errorsOfField("{type: integer}", "x"),
              ElementsAre("f: Invalid value: \"string\": f in body must be of type integer: "
                          "\"string\""));
  EXPECT_THAT(
      errorsOfField("{type: string}", "null"),
      ElementsAre("f: Invalid value: \"null\": f in body must be of type string: \"null\""));
  EXPECT_THAT(errorsOfField("{type: string, nullable: true}", "null"), IsEmpty());
  EXPECT_THAT(errorsOfField("{type: boolean}", "{a: 1}"),
              ElementsAre("f: Invalid value: \"object\": f in body must be of type boolean: "
                          "\"object\""));
  EXPECT_THAT(errorsOfField("{type: number}", "3"), IsEmpty());
  EXPECT_THAT(errorsOfField("{type: integer}", "3.0"), IsEmpty());
  EXPECT_THAT(errorsOfField("{type: integer}", "3.5"),
              ElementsAre("f: Invalid value: \"number\": f in body must be of type integer: "
                          "\"number\"",
                          "<nil>: Invalid value: \"\": Checked value must be of type integer "
                          "(default format) in f"));
  EXPECT_EQ(compiled(field("{type: integer}")).validate(parseYaml("{f: x}"))[0].type,
            FieldError::Type::TypeInvalid);
}

TEST(SchemaValidateTest, IntOrString) {
  constexpr std::string_view kEither = "{x-kubernetes-int-or-string: true}";
  EXPECT_THAT(errorsOfField(kEither, "80"), IsEmpty());
  EXPECT_THAT(errorsOfField(kEither, "http"), IsEmpty());
  EXPECT_THAT(errorsOfField(kEither, "true"),
              ElementsAre("f: Invalid value: \"boolean\": f in body must be of type "
                          "integer,string: \"boolean\""));
  EXPECT_THAT(errorsOfField("{x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: "
                            "string}]}",
                            "[]"),
              ElementsAre("f: Invalid value: \"array\": f in body must be of type integer,string: "
                          "\"array\"",
                          "<nil>: Invalid value: \"\": \"f\" must validate at least one schema "
                          "(anyOf)",
                          "f: Invalid value: \"array\": f in body must be of type integer: "
                          "\"array\""));
}

TEST(SchemaValidateTest, NumbersAndTheirLimits) {
  EXPECT_THAT(errorsOf("{type: object, properties: {spec: {type: object, properties: {replicas: "
                       "{type: integer, minimum: 1, maximum: 10}}}}}",
                       "{spec: {replicas: 11}}"),
              ElementsAre("spec.replicas: Invalid value: 11: spec.replicas in body should be less "
                          "than or equal to 10"));
  EXPECT_THAT(errorsOfField("{type: integer, minimum: 1}", "0"),
              ElementsAre("f: Invalid value: 0: f in body should be greater than or equal to 1"));
  EXPECT_THAT(errorsOfField("{type: integer, maximum: 5, exclusiveMaximum: true}", "5"),
              ElementsAre("f: Invalid value: 5: f in body should be less than 5"));
  EXPECT_THAT(errorsOfField("{type: number, minimum: 0.5, exclusiveMinimum: true}", "0.5"),
              ElementsAre("f: Invalid value: 0.5: f in body should be greater than 0.5"));
  EXPECT_THAT(errorsOfField("{type: number, maximum: 1000000}", "2000000.5"),
              ElementsAre("f: Invalid value: 2000000.5: f in body should be less than or equal to "
                          "1e+06"));
  EXPECT_THAT(errorsOfField("{type: integer, multipleOf: 5}", "12"),
              ElementsAre("f: Invalid value: 12: f in body should be a multiple of 5"));
  EXPECT_THAT(errorsOfField("{type: number, multipleOf: 0.1}", "0.3"), IsEmpty());
  EXPECT_THAT(errorsOfField("{type: number, multipleOf: 0.1}", "0.35"),
              ElementsAre("f: Invalid value: 0.35: f in body should be a multiple of 0.1"));
  EXPECT_THAT(errorsOfField("{type: integer, multipleOf: 0}", "1"),
              ElementsAre("f: Invalid value: 0: factor MultipleOf declared for f must be positive: "
                          "0"));
}

TEST(SchemaValidateTest, FormatsOfNumbers) {
  EXPECT_THAT(errorsOfField("{type: integer, format: int32}", "2147483647"), IsEmpty());
  EXPECT_THAT(errorsOfField("{type: integer, format: int32}", "2147483648"),
              ElementsAre("<nil>: Invalid value: \"\": Checked value must be of type integer with "
                          "format int32 in f"));
  EXPECT_THAT(errorsOfField("{type: number, format: float}", "1e39"),
              ElementsAre("<nil>: Invalid value: \"\": Checked value must be of type number with "
                          "format float in f"));
  EXPECT_THAT(errorsOfField("{type: number, format: double}", "1e39"), IsEmpty());
  EXPECT_THAT(errorsOfField("{type: integer, format: int32, maximum: 3000000000}", "1"),
              ElementsAre("<nil>: Invalid value: \"\": Maximum boundary value must be of type "
                          "integer with format int32 in f"));
}

TEST(SchemaValidateTest, Strings) {
  EXPECT_THAT(errorsOfField("{type: string, maxLength: 2}", "äöü"),
              ElementsAre("f: Too long: may not be more than 2 bytes"));
  EXPECT_THAT(errorsOfField("{type: string, maxLength: 3}", "äöü"), IsEmpty());
  EXPECT_THAT(errorsOfField("{type: string, minLength: 4}", "äöü"),
              ElementsAre("f: Invalid value: \"äöü\": f in body should be at least 4 chars long"));
  EXPECT_THAT(errorsOfField("{type: string, pattern: '^a+$'}", "ab"),
              ElementsAre("f: Invalid value: \"ab\": f in body should match '^a+$'"));
  EXPECT_THAT(errorsOfField("{type: string, pattern: 'b'}", "abc"), IsEmpty());
  EXPECT_THAT(errorsOfField("{type: string, format: ipv4}", "1.2.3"),
              ElementsAre("f: Invalid value: \"1.2.3\": f in body must be of type ipv4: "
                          "\"1.2.3\""));
  EXPECT_THAT(errorsOfField("{type: string, format: colour}", "red"), IsEmpty());
}

TEST(SchemaValidateTest, HostilePatternsTakeNoLonger) {
  const StructuralSchema schema = compiled(field("{type: string, pattern: '^(a+)+$'}"));
  Value object = Value::Object{{"f", std::string(1'000'000, 'a') + "!"}};
  EXPECT_EQ(schema.validate(object).size(), 1U);
  const StructuralSchema nested = compiled(field("{type: string, pattern: '((a*)*)*b'}"));
  EXPECT_EQ(nested.validate(object).size(), 1U);
  EXPECT_THAT(problemsOf(field("{type: string, pattern: '(((a{1,100}){1,100}){1,100})'}")).size(),
              1U);
}

TEST(SchemaValidateTest, Enums) {
  EXPECT_THAT(errorsOfField("{type: string, enum: [B, A]}", "x"),
              ElementsAre("f: Unsupported value: \"x\": supported values: \"B\", \"A\""));
  EXPECT_THAT(errorsOfField("{type: string, enum: [B, A]}", "A"), IsEmpty());
  EXPECT_THAT(errorsOfField("{type: integer, enum: [1, 2]}", "3"),
              ElementsAre("f: Unsupported value: 3: supported values: \"1\", \"2\""));
  EXPECT_THAT(errorsOfField("{type: number, enum: [1, 2]}", "2.0"), IsEmpty());
  EXPECT_THAT(errorsOfField("{type: object, x-kubernetes-preserve-unknown-fields: true, enum: [{a: "
                            "[1]}]}",
                            "{a: [1]}"),
              IsEmpty());
  EXPECT_THAT(errorsOfField("{type: string, nullable: true, enum: [a]}", "null"),
              ElementsAre("f: Unsupported value: null: supported values: \"a\""));
}

TEST(SchemaValidateTest, HugeEnumsAreSearchedNotScanned) {
  apiextensionsv1::JSONSchemaProps item{.type = "string"};
  Value::Array values;
  constexpr int kValues = kube::detail::testAmount(100'000);
  for (int i = 0; i < kValues; ++i) {
    item.enum_.push_back({"\"value-" + std::to_string(i) + "\""});
    values.push_back("value-" + std::to_string(kValues - 1 - i));
  }
  apiextensionsv1::JSONSchemaProps list{.type = "array"};
  list.items->schema = item;
  apiextensionsv1::JSONSchemaProps root{.type = "object"};
  root.properties.insert_or_assign("f", list);
  EXPECT_THAT(StructuralSchema(root).validate(Value::Object{{"f", values}}), IsEmpty());
}

TEST(SchemaValidateTest, RequiredFields) {
  EXPECT_THAT(
      errorsOf("{type: object, required: [spec], properties: {spec: {type: object}}}", "{}"),
      ElementsAre("spec: Required value"));
  EXPECT_THAT(errorsOf("{type: object, properties: {spec: {type: object, required: [b, cidr]}}}",
                       "{spec: {}}"),
              ElementsAre("spec.b: Required value", "spec.cidr: Required value"));
}

TEST(SchemaValidateTest, SizesOfListsAndObjects) {
  EXPECT_THAT(errorsOfField("{type: array, items: {type: integer}, maxItems: 2}", "[1, 2, 3]"),
              ElementsAre("f: Too many: 3: must have at most 2 items"));
  EXPECT_THAT(errorsOfField("{type: array, items: {type: integer}, minItems: 1}", "[]"),
              ElementsAre("f: Invalid value: 0: f in body should have at least 1 items"));
  EXPECT_THAT(errorsOfField("{type: object, additionalProperties: {type: integer}, maxProperties: "
                            "1, minProperties: 1}",
                            "{a: 1, b: x}"),
              ElementsAre("f: Too many: 2: must have at most 1 item",
                          "f.b: Invalid value: \"string\": f.b in body must be of type integer: "
                          "\"string\""));
  EXPECT_THAT(errorsOfField("{type: object, minProperties: 1}", "{}"),
              ElementsAre("f: Invalid value: 0: f in body should have at least 1 properties"));
  EXPECT_THAT(errorsOfField("{type: object, additionalProperties: false}", "{a: 1}"),
              ElementsAre("f: Invalid value: \"a\": f.a in body is a forbidden property"));
}

TEST(SchemaValidateTest, ElementsAndTheirPlaces) {
  EXPECT_THAT(
      errorsOfField("{type: array, items: {type: object, properties: {p: {type: integer}}}}",
                    "[{p: 1}, {p: x}, y-]"),
      ElementsAre("f[1].p: Invalid value: \"string\": f[1].p in body must be of type "
                  "integer: \"string\"",
                  "f[2]: Invalid value: \"string\": f[2] in body must be of type object: "
                  "\"string\""));
}

TEST(SchemaValidateTest, Alternatives) {
  constexpr std::string_view kSchema = R"({type: object,
      properties: {a: {type: string}, b: {type: string}},
      oneOf: [{required: [a]}, {required: [b]}]})";
  EXPECT_THAT(errorsOf(kSchema, "{a: x}"), IsEmpty());
  EXPECT_THAT(errorsOf(kSchema, "{a: x, b: x}"),
              ElementsAre("<nil>: Invalid value: \"\": \"\" must validate one and only one schema "
                          "(oneOf). Found 2 valid alternatives"));
  EXPECT_THAT(errorsOf(kSchema, "{}"),
              ElementsAre("<nil>: Invalid value: \"\": \"\" must validate one and only one schema "
                          "(oneOf). Found none valid",
                          "a: Required value"));
  EXPECT_THAT(
      errorsOfField("{type: string, allOf: [{minLength: 2}, {pattern: ^a}]}", "b"),
      ElementsAre("f: Invalid value: \"b\": f in body should be at least 2 chars long",
                  "f: Invalid value: \"b\": f in body should match '^a'",
                  "<nil>: Invalid value: \"\": \"f\" must validate all the schemas (allOf). "
                  "None validated"));
  EXPECT_THAT(errorsOfField("{type: string, not: {enum: [x]}}", "x"),
              ElementsAre("<nil>: Invalid value: \"\": \"f\" must not validate the schema (not)"));
  EXPECT_THAT(errorsOfField("{type: string, not: {enum: [x]}}", "z"), IsEmpty());
}

TEST(SchemaValidateTest, ManyAlternativesOfManyItemsEnd) {
  apiextensionsv1::JSONSchemaProps item{.type = "integer"};
  apiextensionsv1::JSONSchemaProps positive;
  positive.minimum = 0.0;
  for (int i = 0; i < 2'000; ++i) item.oneOf.push_back(positive);
  apiextensionsv1::JSONSchemaProps list{.type = "array"};
  list.items->schema = item;
  apiextensionsv1::JSONSchemaProps root{.type = "object"};
  root.properties.insert_or_assign("f", list);
  Value::Array values;
  for (int i = 0; i < 100'000; ++i) values.push_back(-1);
  const FieldErrors errors = StructuralSchema(root).validate(Value::Object{{"f", values}});
  EXPECT_LE(errors.size(), 1001U);
  EXPECT_GE(errors.size(), 1U);
}

// --- Lists that are sets or maps.

TEST(SchemaValidateTest, SetsHaveNothingTwice) {
  constexpr std::string_view kSet =
      "{type: array, items: {type: string}, x-kubernetes-list-type: set}";
  EXPECT_THAT(errorsOfField(kSet, "[a, b]"), IsEmpty());
  EXPECT_THAT(errorsOfField(kSet, "[a, b, a, a, b]"),
              ElementsAre("f[2]: Duplicate value: \"a\"", "f[4]: Duplicate value: \"b\""));
}

TEST(SchemaValidateTest, MapsHaveNoKeyTwice) {
  constexpr std::string_view kMap = R"({type: array, x-kubernetes-list-type: map,
      x-kubernetes-list-map-keys: [port, protocol],
      items: {type: object, required: [port],
              properties: {port: {type: integer}, protocol: {type: string, default: TCP}}}})";
  EXPECT_THAT(errorsOfField(kMap, "[{port: 1}, {port: 1, protocol: UDP}]"), IsEmpty());
  EXPECT_THAT(errorsOfField(kMap, "[{port: 1, protocol: UDP}, {port: 1, protocol: UDP}]"),
              ElementsAre("f[1]: Duplicate value: {\"port\":1,\"protocol\":\"UDP\"}"));
  EXPECT_THAT(errorsOfField(kMap, "[5]"),
              ElementsAre("f[0]: Invalid value: \"integer\": f[0] in body must be of type object: "
                          "\"integer\"",
                          "f[0]: Invalid value: 5: must be an object for an array of list-type "
                          "map"));
}

// --- Embedded resources.

TEST(SchemaValidateTest, EmbeddedResourcesAreResources) {
  constexpr std::string_view kSchema =
      "{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: "
      "true}";
  EXPECT_THAT(errorsOfField(kSchema, "{apiVersion: v1, kind: Pod, metadata: {name: web}}"),
              IsEmpty());
  EXPECT_THAT(errorsOfField(kSchema, "{metadata: {name: a/b}}"),
              ElementsAre("f.apiVersion: Required value", "f.kind: Required value",
                          "f.metadata.name: Invalid value: \"a/b\": may not contain '/'"));
  EXPECT_THAT(errorsOfField(kSchema, "{apiVersion: a/b/c, kind: ''}"),
              ElementsAre("f.apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: "
                          "a/b/c",
                          "f.kind: Invalid value: \"\": must not be empty"));
}

// --- Updates.

std::vector<std::string> updateErrors(std::string_view schema, std::string_view from,
                                      std::string_view to) {
  const Value old = parseYaml(from);
  return texts(compiled(schema).validate(parseYaml(to), &old));
}

TEST(SchemaRatchetingTest, WhatWasWrongAndIsUnchangedIsLetBe) {
  constexpr std::string_view kSchema =
      "{type: object, properties: {a: {type: integer, maximum: 5}, b: {type: integer, maximum: 5}, "
      "l: {type: array, items: {type: integer, maximum: 5}}}}";
  EXPECT_THAT(updateErrors(kSchema, "{a: 9}", "{a: 9, b: 1}"), IsEmpty());
  EXPECT_THAT(updateErrors(kSchema, "{a: 9}", "{a: 8}").size(), 1U);
  EXPECT_THAT(updateErrors(kSchema, "{a: 9}", "{a: 9, b: 9}").size(), 1U);
  // A list without keys is compared as a whole.
  EXPECT_THAT(updateErrors(kSchema, "{l: [9]}", "{l: [9], a: 1}"), IsEmpty());
  EXPECT_THAT(updateErrors(kSchema, "{l: [9]}", "{l: [9, 1]}").size(), 1U);
}

TEST(SchemaRatchetingTest, ElementsOfMapsAreFoundByTheirKeys) {
  constexpr std::string_view kSchema = R"({type: object, properties: {l: {type: array,
      x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k],
      items: {type: object, required: [k],
              properties: {k: {type: string}, v: {type: integer, maximum: 5}}}}}})";
  EXPECT_THAT(updateErrors(kSchema, "{l: [{k: a, v: 9}]}", "{l: [{k: b, v: 1}, {k: a, v: 9}]}"),
              IsEmpty());
  EXPECT_THAT(updateErrors(kSchema, "{l: [{k: a, v: 9}]}", "{l: [{k: b, v: 9}]}").size(), 1U);
}

TEST(SchemaRatchetingTest, JunctorsAndNewFieldsAreNotSpared) {
  constexpr std::string_view kSchema =
      "{type: object, required: [r], properties: {r: {type: string}, a: {type: integer}}, "
      "anyOf: [{properties: {a: {maximum: 5}}}]}";
  EXPECT_THAT(updateErrors(kSchema, "{a: 9, r: x}", "{a: 9, r: z}"), IsEmpty());
  EXPECT_THAT(updateErrors(kSchema, "{a: 9, r: x}", "{a: 8, r: x}").size(), 2U);
  EXPECT_THAT(updateErrors(kSchema, "{a: 9}", "{a: 9}"), IsEmpty());
  EXPECT_THAT(updateErrors(kSchema, "{a: 1}", "{a: 2}"), ElementsAre("r: Required value"));
}

TEST(SchemaRatchetingTest, DuplicatesThatWereThereMayStay) {
  constexpr std::string_view kSchema =
      "{type: object, properties: {l: {type: array, items: {type: string}, x-kubernetes-list-type: "
      "set}, a: {type: integer}}}";
  EXPECT_THAT(updateErrors(kSchema, "{l: [x, x]}", "{l: [x, x, x], a: 1}"), IsEmpty());
  EXPECT_THAT(updateErrors(kSchema, "{l: [x]}", "{l: [x, x]}").size(), 1U);
}

TEST(SchemaValidateTest, OfAStatusOnlyThatIsLookedAt) {
  const StructuralSchema schema = compiled(
      "{type: object, required: [spec], properties: {spec: {type: object}, status: {type: "
      "object, properties: {replicas: {type: integer, maximum: 5}}}}}");
  const Value old = parseYaml("{status: {replicas: 1}}");
  EXPECT_THAT(texts(schema.validateStatus(parseYaml("{status: {replicas: 9}}"), old)),
              ElementsAre("status.replicas: Invalid value: 9: replicas in body should be less than "
                          "or equal to 5"));
  EXPECT_THAT(texts(schema.validateStatus(parseYaml("{}"), old)), IsEmpty());
}

}  // namespace
}  // namespace kube::apiserver
