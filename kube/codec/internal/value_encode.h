// Encodes described objects as dynamic values: the only walker of that direction.
//
// The result equals the value that is read from the object's JSON, without making that text.
// Strings are shared with the object, and names of fields share memory among all values. For source
// files of this folder; the public face is kube/codec/unstructured.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "kube/base/internal/block.h"
#include "kube/meta/type_info.h"
#include "kube/meta/value.h"

namespace kube::detail {

class ValueEncoder {
 public:
  /// `count`, if given, is called for every value that is made; the caller may end the call by an
  /// exception.
  explicit ValueEncoder(std::function<void()> count = {}) : count_(std::move(count)) {}

  /// The value of an object. A kind includes its kind and apiVersion; parts of it do not. Throws
  /// Error for values without a JSON form: infinity, NaN, malformed raw values.
  Value object(const TypeInfo& type, const void* object);
  /// A part of an object: a struct without a kind, or a field's list or map.
  Value message(const TypeInfo& type, const std::byte* object);
  Value list(const FieldInfo& field, const Block* block);
  Value map(const FieldInfo& field, const Block* block);

  /// One value of the field's kind; null if that is an array or an object.
  static Value scalar(const FieldInfo& field, const std::byte* at);

 private:
  Value members(const TypeInfo& type, const std::byte* object, bool named);
  Value field(const FieldInfo& field, const std::byte* at);
  Value element(const FieldInfo& field, const std::byte* at);

  std::function<void()> count_;
  std::vector<std::uint16_t> shown_;  // members of the current objects, as a stack
  int depth_ = 0;
};

}  // namespace kube::detail
