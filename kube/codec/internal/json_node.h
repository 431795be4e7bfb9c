// A common view of dynamic values and described objects: as the JSON that they would become,
// without making it.
//
// For source files of this folder. A node is a place in an object; a NodeReader reads it. Nodes
// live as long as the object and the reader do. One thread at a time.
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

/// A place in an object. Only NodeReader interprets it.
struct JsonNode {
  enum class Form : std::uint8_t {
    Dynamic,  // at: a Value
    Kind,     // at: a struct of `type` with its kind and apiVersion
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
  /// The node of an object. A kind includes its kind and apiVersion; parts of it do not.
  JsonNode root(const TypeInfo& type, const void* object);

  Value::Type type(const JsonNode& node) const;
  /// The number of an array's elements.
  std::size_t size(const JsonNode& array) const;
  /// True for an array, an object or a string that is not empty.
  bool holdsAnything(const JsonNode& node) const;
  /// `i` must be less than the array's size.
  JsonNode element(const JsonNode& array, std::size_t i);
  /// Returns nothing if there is no such member, or the node is not an object.
  std::optional<JsonNode> member(const JsonNode& object, std::string_view name);
  /// Returns elements, or members in the order of their names.
  std::vector<JsonNode> children(const JsonNode& node);

  /// The whole value, as it would be read from its JSON. Calls `count()` for every value inside;
  /// the caller may end the call by an exception.
  template <class Count>
  Value value(const JsonNode& node, const Count& count);
  /// The value of a node that is neither an object nor an array, except an array of strings.
  Value scalar(const JsonNode& node) const;

  /// Throws Error if the nesting is too deep, since readers recurse.
  static void checkDepth(int depth);

 private:
  using Named = std::pair<std::string_view, JsonNode>;
  JsonNode ofMessage(const TypeInfo& type, const std::byte* at);
  JsonNode ofField(const FieldInfo& field, const std::byte* at);
  JsonNode ofElement(const FieldInfo& field, const std::byte* at);
  JsonNode ofRaw(const RawExtension& raw);
  JsonNode made(Value value);
  std::vector<Named> members(const JsonNode& object);

  std::deque<Value> made_;                                // a deque, so that values do not move
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
