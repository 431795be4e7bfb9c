#include "kube/codec/apply/field_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/codec/apply/apply.h"
#include "kube/codec/apply/object_fields.h"
#include "kube/codec/json.h"
#include "kube/codec/patch/patch_error.h"
#include "kube/codec/yaml.h"

namespace kube {
namespace {

using ::testing::HasSubstr;
using Kind = FieldSchema::Kind;

const FieldSchema kText{.kind = Kind::String};
const FieldSchema kNumber{.kind = Kind::Number};
const FieldSchema kFlag{.kind = Kind::Boolean};
const FieldSchema kScalar{.kind = Kind::Scalar};
const FieldSchema kAny;
const FieldSchema kPort{
    .kind = Kind::Map,
    .members = {{"number", &kNumber}, {"protocol", &kText, "TCP"}, {"title", &kText}}};
const FieldSchema kPorts{.kind = Kind::List, .element = &kPort, .keys = {"number", "protocol"}};
const FieldSchema kSet{.kind = Kind::List, .element = &kText};
const FieldSchema kAtoms{.kind = Kind::List, .atomic = true, .element = &kText};
const FieldSchema kPoint{.kind = Kind::Map, .atomic = true, .members = {{"x", &kNumber}}};
const FieldSchema kLabels{.kind = Kind::Map, .element = &kText};
const FieldSchema kOpen{.kind = Kind::Map, .open = true, .members = {{"known", &kText}}};
const FieldSchema kObject{.kind = Kind::Map,
                          .members = {{"any", &kAny},
                                      {"apiVersion", &kText},
                                      {"atoms", &kAtoms},
                                      {"either", &kScalar},
                                      {"flag", &kFlag},
                                      {"labels", &kLabels},
                                      {"open", &kOpen},
                                      {"point", &kPoint},
                                      {"ports", &kPorts},
                                      {"set", &kSet}}};

std::string fields(std::string_view yaml) { return fieldsOf(parseYaml(yaml), &kObject).toJson(); }
std::string problem(std::string_view yaml) {
  try {
    fields(yaml);
  } catch (const PatchError& error) {
    return error.what();
  }
  return "none";
}

TEST(FieldSchemaTest, TellsWhichPartsAreOneField) {
  EXPECT_EQ(fields("{point: {x: 1}, atoms: [a], labels: {a: b}, flag: true, either: 5}"),
            R"({"f:atoms":{},"f:either":{},"f:flag":{},"f:labels":{"f:a":{}},"f:point":{}})");
  EXPECT_EQ(fields("{any: {a: {b: [1]}}, open: {known: a, other: {b: 1}}}"),
            R"({"f:any":{"f:a":{".":{},"f:b":{}}},)"
            R"("f:open":{"f:known":{},"f:other":{".":{},"f:b":{}}}})");
}

TEST(FieldSchemaTest, IdentifiesElements) {
  EXPECT_EQ(fields("{set: [a, b]}"), R"({"f:set":{"v:\"a\"":{},"v:\"b\"":{}}})");
  EXPECT_EQ(fields("{ports: [{number: 80, title: web}]}"),
            R"({"f:ports":{"k:{\"number\":80,\"protocol\":\"TCP\"}":{".":{},"f:number":{},)"
            R"("f:title":{}}}})");
}

TEST(FieldSchemaTest, ChecksTypesOfValues) {
  EXPECT_EQ(problem("{flag: true, either: text}"), "none");
  EXPECT_THAT(problem("{flag: 1}"), HasSubstr(".flag: expected boolean"));
  EXPECT_THAT(problem("{labels: {a: 1}}"), HasSubstr(".labels.a: expected string"));
  EXPECT_THAT(problem("{ports: [{number: a}]}"), HasSubstr("expected numeric (int or float)"));
  EXPECT_THAT(problem("{either: []}"), HasSubstr(".either: expected any scalar"));
  EXPECT_THAT(problem("{set: {}}"), HasSubstr(".set: expected list"));
  EXPECT_THAT(problem("{point: []}"), HasSubstr(".point: expected map"));
  EXPECT_THAT(problem("{colour: 1}"), HasSubstr(".colour: field not declared in schema"));
}

TEST(FieldSchemaTest, MergesAppliedConfigurations) {
  const auto apply = [](const Value& live, std::string_view who, std::string_view config) {
    Value whole = parseYaml(config);
    whole["apiVersion"] = "g/v1";
    return applyPatch(live, whole, &kObject, {.name = who, .apiVersion = "g/v1"});
  };
  // The schema does not have the object's metadata, so managedFields are kept beside it.
  ApplyResult result = apply({}, "a", "{ports: [{number: 80, title: web}], set: [a]}");
  const Value spec = result.object;
  result = apply(Value::Object{{"apiVersion", "g/v1"}, {"ports", spec["ports"]}}, "b",
                 "{ports: [{number: 81}], set: [b]}");
  EXPECT_EQ(toJson(result.object["ports"]), R"([{"number":80,"title":"web"},{"number":81}])");
  result = apply(Value::Object{{"ports", spec["ports"]}}, "b", "{ports: [{number: 80, title: x}]}");
  EXPECT_THAT(result.conflictMessage(), HasSubstr(".ports[number=80,protocol=\"TCP\"].title"));
}

}  // namespace
}  // namespace kube
