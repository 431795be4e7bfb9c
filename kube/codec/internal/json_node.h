// One way to look into dynamic values and described objects alike: as the JSON they would be,
// without making it.
//
// For source files of this folder. A node is a place in an object; a NodeReader asks it questions.
// Nodes live as long as the object and the reader do. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kube/base/internal/block.h"
#include "kube/codec/internal/value_encode.h"
#include "kube/meta/type_info.h"
#include "kube/meta/value.h"

namespace kube::detail {

/// A place in an object. Opaque but to NodeReader.
struct JsonNode {
  enum class Form : std::uint8_t {
    Dynamic,  // at: a Value
    Kind,     // at: a struct of `type` that shows its kind and apiVersion, too
    Struct,   // at: a struct of `type`
    List,     // at: the Block of `field`'s list, or null
    Map,      // at: the Block of `field`'s map, or null
    Strings,  // at: a Strings
    Scalar,   // at: a value of `field`'s kind
  };
  Form form = Form::Dynamic;
  const void* at = nullptr;
  union {
    const TypeInfo* type = nullptr;
    const FieldInfo* field;
  };

  static JsonNode of(const Value& value) noexcept { return {Form::Dynamic, &value, {nullptr}}; }
};

class NodeReader {
 public:
  /// A kind shows its kind and apiVersion; parts of it do not.
  JsonNode root(const TypeInfo& type, const void* object);

  Value::Type type(const JsonNode& node) const;
  /// The number of an array's elements.
  std::size_t size(const JsonNode& array) const;
  /// Whether this is an array, an object or a string with something in it.
  bool holdsAnything(const JsonNode& node) const;
  /// `i` is less than the array's size.
  JsonNode element(const JsonNode& array, std::size_t i);
  /// Nothing if there is none, or this is no object.
  std::optional<JsonNode> member(const JsonNode& object, std::string_view name);
  /// Elements, or members in the order of their names.
  std::vector<JsonNode> children(const JsonNode& node);

  /// All of it, as its JSON would be read. Calls `count()` for every value in it, for the caller to
  /// stop it by an exception.
  template <class Count>
  Value value(const JsonNode& node, const Count& count);
  /// What is no object, and no array but one of strings.
  Value scalar(const JsonNode& node) const;

  /// What nests deeper is refused with an Error: what looks into it recurses.
  static void checkDepth(int depth);

 private:
  using Named = std::pair<std::string_view, JsonNode>;
  JsonNode ofMessage(const TypeInfo& type, const std::byte* at);
  JsonNode ofField(const FieldInfo& field, const std::byte* at);
  JsonNode ofElement(const FieldInfo& field, const std::byte* at);
  JsonNode ofRaw(const RawExtension& raw);
  JsonNode made(Value value);
  std::vector<Named> members(const JsonNode& object);

  std::deque<Value> made_;                                // stays where it is
  std::unordered_map<const void*, const Value*> parsed_;  // RawExtensions, by address
};

template <class Count>
Value NodeReader::value(const JsonNode& node, const Count& count) {
  if (node.form == JsonNode::Form::Dynamic) {
    count();
    return *static_cast<const Value*>(node.at);
  }
  ValueEncoder encoder(std::cref(count));
  switch (node.form) {
    case JsonNode::Form::Kind:
      return encoder.object(*node.type, node.at);
    case JsonNode::Form::Struct:
      return encoder.message(*node.type, static_cast<const std::byte*>(node.at));
    case JsonNode::Form::List:
      return encoder.list(*node.field, static_cast<const Block*>(node.at));
    case JsonNode::Form::Map:
      return encoder.map(*node.field, static_cast<const Block*>(node.at));
    default:
      count();
      return scalar(node);
  }
}

}  // namespace kube::detail
