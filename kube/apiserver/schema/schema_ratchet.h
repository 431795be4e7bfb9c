// Finds the parts of an object that an update leaves unchanged. Validation accepts them even if
// they have become invalid, so a schema can become stricter without making every object impossible
// to update.
//
// For source files of this folder.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "kube/apiserver/schema/schema_node.h"
#include "kube/base/string.h"
#include "kube/codec/apply/path_element.h"
#include "kube/meta/value.h"

namespace kube::apiserver {

/// The most visits of a schema to a value. Without a limit, alternatives of many items could take
/// hours.
inline constexpr std::uint64_t kMaxVisits = 20'000'000;

/// The elements of an older list that is a map, by their keys.
class OldElements {
 public:
  OldElements(const Value::Array& old, const SchemaNode& list) : keys_(list.listMapKeys) {
    for (const Value& item : old) {
      if (const auto key = keyOf(item)) items_.emplace(*key, &item);
    }
  }

  const Value* find(const Value& item) const {
    const auto key = keyOf(item);
    const auto at = key ? items_.find(*key) : items_.end();
    return at != items_.end() ? at->second : nullptr;
  }

 private:
  struct Less {
    bool operator()(const Value& a, const Value& b) const { return compareValues(a, b) < 0; }
  };

  // nullopt unless all keys are present and scalars.
  std::optional<Value> keyOf(const Value& item) const {
    Value::Array values;
    for (const String& key : keys_) {
      const Value& value = item[key];
      if (value.isNull() || value.isArray() || value.isObject()) return std::nullopt;
      values.push_back(value);
    }
    return values;
  }

  const std::vector<String>& keys_;
  std::map<Value, const Value*, Less> items_;
};

/// True if nothing has changed that the schema describes.
bool isUnchanged(const Value& value, const Value& old, const SchemaNode* structure,
                 std::uint64_t& visits);

}  // namespace kube::apiserver
