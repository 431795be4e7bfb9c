// Typed access to fields deep inside a dynamic Value, for objects whose type is not known.
//
//   std::optional<String> image = nestedString(container, {"image"});
//   setNestedField(object, 3, {"spec", "replicas"});
//
// The rules are those of apimachinery's unstructured helpers. A missing field, or null on the path
// to it, is absent: std::nullopt. A field of another type, including null, throws DecodeError with
// the path. Writing creates missing objects on the path. It throws instead of replacing a value of
// another type on the path, and then changes nothing.
//
// Thread safety: that of Value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kube/base/list.h"
#include "kube/base/map.h"
#include "kube/base/string.h"
#include "kube/meta/value.h"

namespace kube {

/// Object keys from the outermost to the innermost: {"metadata", "labels", "app"}. A view, for use
/// as an argument.
class FieldPath {
 public:
  FieldPath(std::initializer_list<std::string_view> keys) noexcept  // NOLINT: implicit by design
      : keys_(keys.begin(), keys.size()) {}
  FieldPath(std::span<const std::string_view> keys) noexcept : keys_(keys) {}  // NOLINT: likewise

  auto begin() const noexcept { return keys_.begin(); }
  auto end() const noexcept { return keys_.end(); }
  std::size_t size() const noexcept { return keys_.size(); }
  std::string_view operator[](std::size_t i) const noexcept { return keys_[i]; }
  FieldPath first(std::size_t n) const noexcept { return keys_.first(n); }

  /// "metadata.labels.app"
  std::string str() const;

 private:
  std::span<const std::string_view> keys_;
};

/// The value of the field; for an empty path, the whole object.
std::optional<Value> nestedField(const Value& object, FieldPath path);
std::optional<String> nestedString(const Value& object, FieldPath path);
std::optional<bool> nestedBool(const Value& object, FieldPath path);
std::optional<std::int64_t> nestedInt64(const Value& object, FieldPath path);
/// Any number: JSON does not distinguish 1 from 1.0.
std::optional<double> nestedDouble(const Value& object, FieldPath path);
/// An array of strings; a single element of another type is an error.
std::optional<List<String>> nestedStringList(const Value& object, FieldPath path);
/// An object of strings; a single value of another type is an error.
std::optional<Map<String>> nestedStringMap(const Value& object, FieldPath path);
std::optional<Value::Array> nestedSlice(const Value& object, FieldPath path);
std::optional<Value::Object> nestedMap(const Value& object, FieldPath path);

/// Throws DecodeError if the object, or a value on the path, exists and is not an object; a null
/// outermost value becomes an object. An empty path replaces the whole object.
void setNestedField(Value& object, Value value, FieldPath path);
/// Returns whether the field existed. It does not exist in values that are not objects.
bool removeNestedField(Value& object, FieldPath path);

}  // namespace kube
