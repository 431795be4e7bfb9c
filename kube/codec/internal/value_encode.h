// Described objects into dynamic values: the one walker of that direction.
//
// What comes out is what one would read from the object's JSON, without making that. Strings are
// shared with the object, and names of fields are one memory for all values. For source files of
// this folder; the public face is kube/codec/unstructured.h.
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
  /// `count`, if given, is called for every value that is made, for the caller to stop it by an
  /// exception.
  explicit ValueEncoder(std::function<void()> count = {}) : count_(std::move(count)) {}

  /// A kind has its kind and apiVersion; parts of it do not. Throws Error for what has no JSON:
  /// infinity, NaN, raw values that are malformed.
  Value object(const TypeInfo& type, const void* object);
  /// A part of an object: one without kind, or a field's list or map.
  Value message(const TypeInfo& type, const std::byte* object);
  Value list(const FieldInfo& field, const Block* block);
  Value map(const FieldInfo& field, const Block* block);

  /// One value of the field's kind, if that is neither an array nor an object; else null.
  static Value scalar(const FieldInfo& field, const std::byte* at);

 private:
  Value members(const TypeInfo& type, const std::byte* object, bool named);
  Value field(const FieldInfo& field, const std::byte* at);
  Value element(const FieldInfo& field, const std::byte* at);

  std::function<void()> count_;
  std::vector<std::uint16_t> shown_;  // members of the objects under way, as a stack
  int depth_ = 0;
};

}  // namespace kube::detail
