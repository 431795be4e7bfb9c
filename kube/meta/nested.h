// Typed access to what lies deep inside a dynamic Value, for objects whose type is not known.
//
//   std::optional<String> image = nestedString(container, {"image"});
//   setNestedField(object, 3, {"spec", "replicas"});
//
// The rules are those of apimachinery's unstructured helpers. Nothing there, or null on the way, is
// absent: std::nullopt. Something of another type, null included, throws DecodeError with the path.
// Writing makes the objects that are missing on the way, and throws rather than replace a value of
// another type there; then nothing was changed.
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

/// Object keys from the outside in: {"metadata", "labels", "app"}. A view, for use as an argument.
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

/// The value itself; for an empty path, all of it.
std::optional<Value> nestedField(const Value& object, FieldPath path);
std::optional<String> nestedString(const Value& object, FieldPath path);
std::optional<bool> nestedBool(const Value& object, FieldPath path);
std::optional<std::int64_t> nestedInt64(const Value& object, FieldPath path);
/// Any number: JSON does not tell 1 from 1.0.
std::optional<double> nestedDouble(const Value& object, FieldPath path);
/// An array of strings; one element of another type is an error.
std::optional<List<String>> nestedStringList(const Value& object, FieldPath path);
/// An object of strings; one value of another type is an error.
std::optional<Map<String>> nestedStringMap(const Value& object, FieldPath path);
std::optional<Value::Array> nestedSlice(const Value& object, FieldPath path);
std::optional<Value::Object> nestedMap(const Value& object, FieldPath path);

/// Throws DecodeError when the object, or something on the way, is there and is no object; a null
/// outermost value becomes one. An empty path replaces everything.
void setNestedField(Value& object, Value value, FieldPath path);
/// Says whether it was there. What cannot hold it holds it not.
bool removeNestedField(Value& object, FieldPath path);

}  // namespace kube
