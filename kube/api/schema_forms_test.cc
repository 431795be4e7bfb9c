// Tests the schemas of CustomResourceDefinitions: they are recursive, with members whose JSON has
// one of two shapes.
#include <gtest/gtest.h>

#include <string>

#include "kube/api/apiextensions/v1.h"
#include "kube/base/error.h"
#include "kube/base/pool.h"
#include "kube/codec/json.h"
#include "kube/codec/protobuf.h"

namespace kube {
namespace {

using apiextensionsv1::JSONSchemaProps;

JSONSchemaProps byWayOfProtobuf(const JSONSchemaProps& schema) {
  return fromProtobuf<JSONSchemaProps>(toProtobuf(schema));
}

TEST(SchemaFormsTest, EachShapeComesBackAsItself) {
  for (const char* text : {
           R"({"additionalProperties":true})",
           R"({"additionalProperties":false})",
           R"({"additionalProperties":{}})",
           R"({"additionalProperties":{"type":"string"},"additionalItems":false})",
           R"({"items":{"type":"string"}})",
           R"({"items":{}})",
           R"({"items":[{"type":"string"},{"items":[{},{}]}]})",
           R"({"dependencies":{"a":["b","c"],"d":{"type":"object"},"e":{}}})",
           R"({"default":{"a":[1,null]},"enum":["x",1,true,{"a":2.50}],"example":"e"})",
           R"({"properties":{"a":{"properties":{"b":{"not":{"allOf":[{"type":"integer"}]}}}}}})",
           R"({"maximum":1.5,"multipleOf":0.1,"x-kubernetes-int-or-string":true})",
       }) {
    const auto schema = fromJson<JSONSchemaProps>(text, {.strict = true});
    EXPECT_EQ(toJson(schema), text);
    EXPECT_EQ(byWayOfProtobuf(schema), schema) << text;
    EXPECT_EQ(toJson(byWayOfProtobuf(schema)), text);
    Pool pool;
    for (int i = 0; i < 3; ++i) EXPECT_EQ(fromJson<JSONSchemaProps>(text, {.pool = &pool}), schema);
  }
}

TEST(SchemaFormsTest, AShapeThatIsNeitherIsAnError) {
  for (const char* text :
       {R"({"additionalProperties":"yes"})", R"({"additionalProperties":[]})",
        R"({"additionalProperties":1})", R"({"items":true})", R"({"items":"x"})",
        R"({"items":[1]})", R"({"dependencies":{"a":[1]}})", R"({"dependencies":{"a":"b"}})",
        R"({"dependencies":{"a":true}})", R"({"dependencies":["a"]})", R"({"properties":[]})"}) {
    EXPECT_THROW(fromJson<JSONSchemaProps>(text), DecodeError) << text;
  }
}

TEST(SchemaFormsTest, ProblemsNameThePathThroughSchemas) {
  std::vector<std::string> problems;
  fromJson<JSONSchemaProps>(
      R"({"properties":{"spec":{"items":[{},{"typ":"x"}],"additionalProperties":{"tpye":1}}}})",
      {.problems = &problems});
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_NE(problems[0].find("typ\""), std::string::npos) << problems[0];
  EXPECT_NE(problems[1].find("tpye\""), std::string::npos) << problems[1];
}

TEST(SchemaFormsTest, DeepSchemasAreRefusedNotFollowed) {
  for (const auto& [open, close] :
       {std::pair{"{\"items\":", "}"}, std::pair{"{\"items\":[", "]}"},
        std::pair{"{\"properties\":{\"p\":", "}}"}, std::pair{"{\"not\":", "}"},
        std::pair{"{\"allOf\":[", "]}"}, std::pair{"{\"default\":[", "]}"}}) {
    std::string text;
    for (int i = 0; i < 10'000; ++i) text += open;
    text += "{}";
    for (int i = 0; i < 10'000; ++i) text += close;
    EXPECT_THROW(fromJson<JSONSchemaProps>(text), DecodeError) << open;
  }
}

// A few hundred bytes in which every list is torn in two, each inside the other.
TEST(SchemaFormsTest, SplitListsInsideEachOtherTakeLinearTime) {
  const auto field = [](char key, const std::string& content) {
    std::string bytes(1, key);
    for (std::size_t size = content.size();; size >>= 7) {
      bytes += static_cast<char>(size >= 0x80 ? size | 0x80 : size);
      if (size < 0x80) break;
    }
    return bytes + content;
  };
  const FieldInfo* allOf = TypeOf<JSONSchemaProps>::info.field("allOf");
  ASSERT_NE(allOf, nullptr);
  std::string key;
  const unsigned number = allOf->tag << 3 | 2U;
  if (number >= 0x80) key += static_cast<char>(number | 0x80);
  std::string raw;
  for (int i = 0; i < 60; ++i) {
    const auto last = static_cast<char>(number >= 0x80 ? number >> 7 : number);
    raw = key + field(last, raw) + field(0x0A, "id") + key + field(last, "");
  }
  const auto schema = fromProtobuf<JSONSchemaProps>(std::string(kProtobufMagic) + field(0x12, raw));
  EXPECT_EQ(schema.allOf.size(), 2u);
}

}  // namespace
}  // namespace kube
