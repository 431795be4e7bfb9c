// Changes members of an object or array, and leaves it alone if nothing changes: shared parts stay
// shared, and nothing is allocated.
//
//   ValueRebuild<Value::Array> rebuild(array);
//   for (const Value& item : array) {
//     if (auto better = improved(item)) rebuild.put(std::move(*better)); else rebuild.keep(item);
//   }
//   if (rebuild.changed()) use(rebuild.done());
//
// For source files of this folder.
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>
#include <utility>

#include "kube/meta/value.h"

namespace kube::apiserver {

/// `Container` is Value::Array or Value::Object. Pass the members in order, each once.
template <class Container>
class ValueRebuild {
 public:
  explicit ValueRebuild(const Container& from) : from_(from) {}

  bool changed() const noexcept { return changed_; }

  /// Keeps the next member as it is.
  void keep(const Value& item) requires std::same_as<Container, Value::Array> {
    if (changed_) to_.push_back(item);
    ++passed_;
  }
  void keep(const Value::Object::Entry& entry) requires std::same_as<Container, Value::Object> {
    if (changed_) to_.insert_or_assign(entry.key, entry.value);
    ++passed_;
  }
  /// Replaces the next member.
  void put(Value item) requires std::same_as<Container, Value::Array> {
    change();
    to_.push_back(std::move(item));
    ++passed_;
  }
  void put(std::string_view key, Value value) requires std::same_as<Container, Value::Object> {
    change();
    to_.insert_or_assign(key, std::move(value));
    ++passed_;
  }
  /// Drops the next member.
  void drop() {
    change();
    ++passed_;
  }
  /// Inserts a member before the next one.
  void add(std::string_view key, Value value) requires std::same_as<Container, Value::Object> {
    change();
    to_.insert_or_assign(key, std::move(value));
  }

  Container done() { return std::move(to_); }

 private:
  void change() {
    if (std::exchange(changed_, true)) return;
    std::size_t left = passed_;
    for (const auto& each : from_) {
      if (left-- == 0) break;
      if constexpr (std::same_as<Container, Value::Array>) {
        to_.push_back(each);
      } else {
        to_.insert_or_assign(each.key, each.value);
      }
    }
  }

  const Container& from_;
  Container to_;
  std::size_t passed_ = 0;
  bool changed_ = false;
};

}  // namespace kube::apiserver
