// Server-side apply along the schema of a custom resource.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/apiserver/schema/schema_testing.h"
#include "kube/codec/apply/apply.h"
#include "kube/codec/apply/object_fields.h"
#include "kube/codec/patch/patch_error.h"

namespace kube::apiserver {
namespace {

using ::testing::HasSubstr;

const StructuralSchema& networkSchema() {
  static const StructuralSchema schema = compiled(R"(
type: object
properties:
  spec:
    type: object
    properties:
      ports:
        type: array
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [port, protocol]
        items:
          type: object
          required: [port]
          properties:
            port: {type: integer}
            protocol: {type: string, default: TCP}
            name: {type: string}
      tags: {type: array, items: {type: string}, x-kubernetes-list-type: set}
      order: {type: array, items: {type: string}}
      point: {type: object, x-kubernetes-map-type: atomic, properties: {x: {type: integer}, z: {type: integer}}}
      labels: {type: object, additionalProperties: {type: string}}
      any: {type: object, x-kubernetes-preserve-unknown-fields: true}
      embedded: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
)");
  return schema;
}

Value object(std::string_view spec) {
  return parseYaml("{apiVersion: g.example.com/v1, kind: Network, metadata: {name: foo}, spec: " +
                   std::string(spec) + "}");
}
FieldManager manager(std::string_view name) {
  return {.name = name, .apiVersion = "g.example.com/v1", .time = Time::fromUnix(1)};
}
ApplyResult apply(const Value& live, std::string_view by, std::string_view spec) {
  return applyPatch(live, object(spec), &networkSchema().fields(), manager(by));
}
std::string fields(std::string_view spec) {
  return fieldsOf(object(spec), &networkSchema().fields()).toJson();
}

TEST(StructuralApplyTest, ListsAreMergedByTheirKeys) {
  ApplyResult result = apply({}, "a", "{ports: [{port: 80, protocol: TCP, name: web}]}");
  result = apply(result.object, "b", "{ports: [{port: 443, protocol: TCP}]}");
  ASSERT_TRUE(result.conflicts.empty()) << result.conflictMessage();
  EXPECT_EQ(toJson(result.object["spec"]["ports"]),
            R"([{"name":"web","port":80,"protocol":"TCP"},{"port":443,"protocol":"TCP"}])");
  // Fields that their owner no longer applies are removed, and no others.
  result = apply(result.object, "a", "{}");
  EXPECT_EQ(toJson(result.object["spec"]["ports"]), R"([{"port":443,"protocol":"TCP"}])");
}

TEST(StructuralApplyTest, AKeyThatIsMissingHasItsDefault) {
  ApplyResult result = apply({}, "a", "{ports: [{port: 80, protocol: TCP, name: web}]}");
  result = apply(result.object, "b", "{ports: [{port: 80, name: other}]}");
  EXPECT_THAT(result.conflictMessage(),
              HasSubstr("conflict with \"a\": .spec.ports[port=80,protocol=\"TCP\"].name"));
  result = apply(result.object, "b", "{ports: [{port: 80, protocol: UDP, name: other}]}");
  EXPECT_TRUE(result.conflicts.empty());
  EXPECT_EQ(result.object["spec"]["ports"].asArray().size(), 2U);
}

TEST(StructuralApplyTest, SetsAreMergedAtomsAreReplaced) {
  ApplyResult result = apply({}, "a", "{tags: [x], order: [x], point: {x: 1}}");
  EXPECT_EQ(toJson(apply(result.object, "b", "{tags: [w]}").object["spec"]["tags"]),
            R"(["x","w"])");
  EXPECT_THAT(apply(result.object, "b", "{order: [w]}").conflictMessage(),
              HasSubstr("conflict with \"a\": .spec.order"));
  EXPECT_THAT(apply(result.object, "b", "{point: {z: 1}}").conflictMessage(),
              HasSubstr("conflict with \"a\": .spec.point"));
}

TEST(StructuralApplyTest, FieldsAreWhatTheSchemaSays) {
  EXPECT_EQ(fields("{labels: {a: b}, any: {x: {w: 1}, l: [1]}, point: {x: 1}}"),
            R"({"f:apiVersion":{},"f:kind":{},"f:metadata":{"f:name":{}},"f:spec":{)"
            R"("f:any":{"f:l":{},"f:x":{".":{},"f:w":{}}},"f:labels":{"f:a":{}},"f:point":{}}})");
  // Embedded resources have the metadata of any object.
  EXPECT_THAT(fields("{embedded: {apiVersion: v1, kind: Pod, metadata: {finalizers: [x.y/z]}}}"),
              HasSubstr(R"("f:finalizers":{"v:\"x.y/z\"":{}})"));
}

TEST(StructuralApplyTest, WhatIsNotInTheSchemaIsRefused) {
  EXPECT_THROW(apply({}, "a", "{colour: red}"), PatchError);
  EXPECT_THROW(apply({}, "a", "{labels: {a: 1}}"), PatchError);
  EXPECT_THROW(apply({}, "a", "{ports: [{name: x}, {name: w}]}"), PatchError);
  EXPECT_THROW(apply({}, "a", "{tags: [x, x]}"), PatchError);
}

TEST(StructuralApplyTest, UpdatesTakeElementsTheyChange) {
  const Value live = apply({}, "a", "{ports: [{port: 80, protocol: TCP, name: web}]}").object;
  Value changed = live;
  changed["spec"]["ports"].array().push_back(parseYaml("{port: 81, protocol: TCP}"));
  changed = updateManagedFields(live, changed, &networkSchema().fields(), manager("b"));
  EXPECT_THAT(toJson(changed["metadata"]["managedFields"][1]["fieldsV1"]),
              HasSubstr(R"("k:{\"port\":81,\"protocol\":\"TCP\"}")"));
  EXPECT_THAT(toJson(changed["metadata"]["managedFields"][1]["fieldsV1"]),
              ::testing::Not(HasSubstr(":80")));
}

}  // namespace
}  // namespace kube::apiserver
