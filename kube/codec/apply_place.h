// What the tables say to server-side apply about one place in an object: how a value there is owned
// and merged. Upstream's structured-merge-diff calls it an atom of a schema.
//
// Places without a description (custom resources, RawExtension, any JSON) are deduced from what
// they hold: objects are merged member by member, arrays are replaced.
//
// For source files of this folder; the public faces are kube/codec/object_fields.h and apply.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kube/codec/path_element.h"
#include "kube/meta/type_info.h"
#include "kube/meta/value.h"

namespace kube::detail {

class ApplyPlace {
 public:
  enum class Form : std::uint8_t { Scalar, List, Map };

  /// A whole object; null when its type is not described.
  static ApplyPlace root(const TypeInfo* type) noexcept;

  /// What a value is taken for here. Null is taken for whatever the place is.
  Form formOf(const Value& value) const noexcept;
  /// Owned and replaced as one, if it has that form.
  bool isAtomic(Form form) const noexcept;

  /// Of an object: whether this member is one of known fields.
  bool declares(std::string_view name) const noexcept;
  /// Nothing when a struct has no such field.
  std::optional<ApplyPlace> member(std::string_view name) const noexcept;
  /// Of a list.
  ApplyPlace element() const noexcept;

  /// How an element of a list that is not atomic is known. Nothing, and why, when it cannot be.
  std::optional<PathElement> identify(const Value& element, std::string& why) const;

  /// What upstream has where a struct lacks this member, if not nothing: its Go structs hold some
  /// structs by value, and write some lists even when they are nil.
  const Value* standIn(std::string_view name) const noexcept;

  /// Nothing, or what else was expected.
  std::string_view mismatch(const Value& value) const noexcept;

 private:
  enum class Type : std::uint8_t { Scalar, List, Map, Struct, Deduced };

  ApplyPlace() = default;
  static ApplyPlace ofField(const FieldInfo& field) noexcept;
  static ApplyPlace ofElement(const FieldInfo& field) noexcept;
  static ApplyPlace ofStruct(const TypeInfo& type) noexcept;
  static ApplyPlace ofScalar(FieldKind kind) noexcept;
  std::optional<Value> keyDefault(std::string_view key) const;

  Type type_ = Type::Deduced;
  FieldKind kind_ = FieldKind::Value;  // of a scalar
  bool atomic_ = false;
  const TypeInfo* struct_ = nullptr;
  const FieldInfo* field_ = nullptr;  // of a list or map: what its elements are
};

}  // namespace kube::detail
