// No threads.
// OpenAPI 2.0 in protobuf, read back field by field.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kube/apiserver/documents/openapi.h"
#include "kube/codec/json.h"

namespace kube::apiserver {
namespace {

// A message as its fields.
class Fields {
 public:
  explicit Fields(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::uint64_t key = varint(bytes);
      switch (key & 7) {
        case 0:
          numbers_[key >> 3] = varint(bytes);
          break;
        case 1:
          bytes.remove_prefix(8);
          break;
        case 2: {
          const std::uint64_t size = varint(bytes);
          if (size > bytes.size()) throw std::runtime_error("cut off");
          parts_[key >> 3].push_back(bytes.substr(0, size));
          bytes.remove_prefix(size);
          break;
        }
        default:
          throw std::runtime_error("no such wire type");
      }
    }
  }

  std::size_t count(std::uint64_t tag) const {
    const auto at = parts_.find(tag);
    return at != parts_.end() ? at->second.size() : 0;
  }
  std::string_view text(std::uint64_t tag, std::size_t i = 0) const { return parts_.at(tag).at(i); }
  Fields message(std::uint64_t tag, std::size_t i = 0) const { return Fields(text(tag, i)); }
  std::uint64_t number(std::uint64_t tag) const { return numbers_.at(tag); }

  // The value of the entry with this name, in a list of name-value messages.
  Fields named(std::uint64_t tag, std::string_view name) const {
    for (const std::string_view part : parts_.at(tag)) {
      const Fields entry(part);
      if (entry.text(1) == name) return entry.message(2);
    }
    throw std::runtime_error("no entry " + std::string(name));
  }

 private:
  static std::uint64_t varint(std::string_view& bytes) {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (bytes.empty()) break;
      const auto byte = static_cast<unsigned char>(bytes.front());
      bytes.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw std::runtime_error("bad number");
  }

  std::map<std::uint64_t, std::vector<std::string_view>> parts_;
  std::map<std::uint64_t, std::uint64_t> numbers_;
};

TEST(OpenApiProtobufTest, HoldsTheWholeDocument) {
  const Value document = openApiV2(builtInResources());
  const std::string bytes = openApiV2Protobuf(document);
  const Fields fields(bytes);
  EXPECT_EQ(fields.text(1), "2.0");
  EXPECT_EQ(fields.message(2).text(1), "Kubernetes");
  EXPECT_EQ(fields.message(8).count(2), document["paths"].asObject().size());
  EXPECT_EQ(fields.message(9).count(1), document["definitions"].asObject().size());
  EXPECT_EQ(fields.message(10).count(1), document["parameters"].asObject().size());
  EXPECT_EQ(fields.message(12).message(1).text(1), "BearerToken");
  EXPECT_EQ(fields.message(13).named(1, "BearerToken").message(2).text(1), "apiKey");
}

TEST(OpenApiProtobufTest, HoldsSchemas) {
  const std::string bytes = openApiV2Protobuf(openApiV2(builtInResources()));
  const Fields definitions = Fields(bytes).message(9);
  const Fields container = definitions.named(1, "io.k8s.api.core.v1.Container");
  EXPECT_EQ(container.message(22).text(1), "object");
  EXPECT_EQ(container.text(19), "name");
  const Fields ports = container.message(25).named(1, "ports");
  EXPECT_EQ(ports.message(22).text(1), "array");
  EXPECT_EQ(ports.message(23).message(1).text(1), "#/definitions/io.k8s.api.core.v1.ContainerPort");
  EXPECT_EQ(ports.named(31, "x-kubernetes-patch-merge-key").text(2), R"("containerPort")");
  const Fields limits = definitions.named(1, "io.k8s.api.core.v1.ResourceRequirements")
                            .message(25)
                            .named(1, "limits");
  EXPECT_EQ(limits.message(21).message(1).text(1),
            "#/definitions/io.k8s.apimachinery.pkg.api.resource.Quantity");
}

TEST(OpenApiProtobufTest, HoldsOperations) {
  const std::string bytes = openApiV2Protobuf(openApiV2(builtInResources()));
  const Fields path =
      Fields(bytes).message(8).named(2, "/api/v1/namespaces/{namespace}/pods/{name}");
  const Fields patch = path.message(8);
  EXPECT_EQ(patch.text(5), "patchCoreV1NamespacedPod");
  EXPECT_EQ(patch.named(13, "x-kubernetes-group-version-kind").text(2),
            R"({"group":"","kind":"Pod","version":"v1"})");
  EXPECT_EQ(patch.message(9).count(1), 3U);  // 200, 201, 401
  EXPECT_EQ(patch.message(9).named(1, "200").message(1).message(2).message(1).text(1),
            "#/definitions/io.k8s.api.core.v1.Pod");
  bool fieldValidation = false;
  for (std::size_t i = 0; i < patch.count(8); ++i) {
    const Fields item = patch.message(8, i);
    if (item.count(2) > 0) {
      EXPECT_EQ(item.message(2).text(1).substr(0, 13), "#/parameters/");
      continue;
    }
    const Fields parameter = item.message(1);
    if (parameter.count(1) > 0) {  // the body
      EXPECT_EQ(parameter.message(1).number(4), 1U);
      continue;
    }
    fieldValidation |= parameter.message(2).message(3).text(4) == "fieldValidation";
  }
  EXPECT_TRUE(fieldValidation);
  EXPECT_EQ(path.message(9).message(1).message(2).message(4).text(4), "name");
}

TEST(OpenApiProtobufTest, HoldsWhatCustomSchemasMaySay) {
  const Value document = parseJson(R"({"definitions": {"x": {
      "type": "object", "title": "t", "maxLength": 5, "minimum": 1.5, "uniqueItems": true,
      "enum": ["a", 1], "default": {"k": [true]}, "additionalProperties": true,
      "externalDocs": {"url": "u"}, "nullable": true}}})");
  const std::string bytes = openApiV2Protobuf(document);
  const Fields schema = Fields(bytes).message(9).named(1, "x");
  EXPECT_EQ(schema.text(3), "t");
  EXPECT_EQ(schema.number(11), 5U);
  EXPECT_EQ(schema.number(16), 1U);
  EXPECT_EQ(schema.message(20, 1).text(2), "1");
  EXPECT_EQ(schema.message(5).text(2), R"({"k":[true]})");
  EXPECT_EQ(schema.message(21).number(2), 1U);
  EXPECT_EQ(schema.message(29).text(2), "u");
  const std::string_view oneAndAHalf("\x49\0\0\0\0\0\0\xf8\x3f", 9);  // tag 9
  EXPECT_NE(bytes.find(oneAndAHalf), std::string::npos);
}

TEST(OpenApiProtobufTest, KeepsTheOrderAndWhatIsEmpty) {
  const Value document = parseJson(R"({
      "definitions": {"x": {"required": ["a", "b", "c"], "allOf": [{}, {"title": "t"}]}, "y": {}},
      "security": [{"BearerToken": []}]})");
  const std::string bytes = openApiV2Protobuf(document);
  const Fields definitions = Fields(bytes).message(9);
  const Fields x = definitions.named(1, "x");
  EXPECT_EQ(x.text(19, 0), "a");
  EXPECT_EQ(x.text(19, 2), "c");
  ASSERT_EQ(x.count(24), 2U);
  EXPECT_EQ(x.text(24, 0), "");
  EXPECT_EQ(x.message(24, 1).text(3), "t");
  EXPECT_EQ(definitions.message(1, 0).text(1), "x");
  EXPECT_EQ(definitions.message(1, 1).text(1), "y");
  EXPECT_EQ(definitions.message(1, 1).text(2), "");
  EXPECT_EQ(Fields(bytes).message(12).message(1).text(2), "");
}

}  // namespace
}  // namespace kube::apiserver
