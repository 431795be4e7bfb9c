// Many changes to one object, made at once: the members of an object are a sorted array, and each
// single insertion moves all members behind it.
//
// For source files of this folder.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "kube/base/string.h"
#include "kube/meta/value.h"

namespace kube::detail {

class ObjectEdit {
 public:
  explicit ObjectEdit(Value::Object base = {}) noexcept : base_(std::move(base)) {}

  /// The member with the changes so far, or null. Valid until that member is changed.
  const Value* find(std::string_view key) const {
    if (const auto changed = changes_.find(key); changed != changes_.end()) {
      return changed->second ? &*changed->second : nullptr;
    }
    const auto at = base_.find(key);
    return at != base_.end() ? &at->value : nullptr;
  }
  void set(std::string_view key, Value value) { changes_[String(key)] = std::move(value); }
  void erase(std::string_view key) {
    if (find(key) != nullptr) changes_[String(key)] = std::nullopt;
  }

  bool unchanged() const noexcept { return changes_.empty(); }

  /// The object with its changes.
  Value::Object done() const {
    if (changes_.empty()) return base_;
    Value::Object result;
    auto change = changes_.begin();
    const auto takeChange = [&] {
      if (change->second) result.insert_or_assign(change->first, *change->second);
      ++change;
    };
    for (const auto& [key, value] : base_) {
      while (change != changes_.end() && change->first < key) takeChange();
      if (change != changes_.end() && change->first == key) {
        takeChange();
      } else {
        result.insert_or_assign(key, value);
      }
    }
    while (change != changes_.end()) takeChange();
    return result;
  }

 private:
  const Value::Object base_;
  std::map<String, std::optional<Value>, std::less<>> changes_;
};

}  // namespace kube::detail
