// Sets the defaults of a schema. A null that is not allowed is replaced by its default, or removed
// if it has none.
#include <utility>

#include "kube/apiserver/schema/schema_node.h"
#include "kube/apiserver/schema/value_rebuild.h"

namespace kube::apiserver {

namespace {

std::optional<Value> defaulted(const Value& value, const SchemaNode* node, bool dropNulls);

bool isUnwantedNull(const Value& value, const SchemaNode* node) {
  return value.isNull() && node != nullptr && !node->nullable;
}

std::optional<Value> defaultedObject(const Value::Object& object, const SchemaNode& node,
                                     bool dropNulls) {
  ValueRebuild<Value::Object> rebuild(object);
  auto property = node.properties.begin();
  const auto addBefore = [&](const String* key) {
    for (; property != node.properties.end() && (key == nullptr || property->name < *key);
         ++property) {
      const SchemaNode& missing = *property->node;
      if (!missing.default_.isNull()) rebuild.add(property->name, missing.wholeDefault);
    }
  };
  for (const auto& entry : object) {
    const auto& [key, member] = entry;
    addBefore(&key);
    const SchemaNode* inside = node.additional;
    if (property != node.properties.end() && property->name == key) inside = (property++)->node;
    if (isUnwantedNull(member, inside)) {
      if (!inside->default_.isNull()) {
        rebuild.put(key, inside->wholeDefault);
      } else if (dropNulls) {
        rebuild.drop();
      } else {
        rebuild.keep(entry);
      }
    } else if (auto changed = defaulted(member, inside, dropNulls)) {
      rebuild.put(key, std::move(*changed));
    } else {
      rebuild.keep(entry);
    }
  }
  addBefore(nullptr);
  if (!rebuild.changed()) return std::nullopt;
  return rebuild.done();
}

std::optional<Value> defaultedArray(const Value::Array& array, const SchemaNode& node,
                                    bool dropNulls) {
  if (node.items == nullptr) return std::nullopt;
  ValueRebuild<Value::Array> rebuild(array);
  for (const Value& item : array) {
    if (isUnwantedNull(item, node.items) && !node.items->default_.isNull()) {
      rebuild.put(node.items->wholeDefault);
    } else if (auto changed = defaulted(item, node.items, dropNulls)) {
      rebuild.put(std::move(*changed));
    } else {
      rebuild.keep(item);
    }
  }
  if (!rebuild.changed()) return std::nullopt;
  return rebuild.done();
}

// Recursion is as deep as the schema at most.
std::optional<Value> defaulted(const Value& value, const SchemaNode* node, bool dropNulls) {
  if (node == nullptr) return std::nullopt;
  if (value.isObject()) return defaultedObject(value.asObject(), *node, dropNulls);
  if (value.isArray()) return defaultedArray(value.asArray(), *node, dropNulls);
  return std::nullopt;
}

}  // namespace

std::optional<Value> defaultedValue(const Value& value, const SchemaNode& node) {
  return defaulted(value, &node, /*dropNulls=*/true);
}

std::optional<Value> defaultedDefault(const SchemaNode& node) {
  return defaulted(node.default_, &node, /*dropNulls=*/false);
}

}  // namespace kube::apiserver
