// The facts in a schema that server-side apply needs about one place in an object: how a value
// there is owned and merged. Upstream's structured-merge-diff calls it an atom of a schema.
//
// A table or a FieldSchema describes a place. A place without either (RawExtension, any JSON, a
// custom resource with an unknown definition) is deduced from its value: objects are merged member
// by member, arrays are replaced.
//
// For source files of this folder; the public faces are kube/codec/apply/object_fields.h and
// apply.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kube/codec/apply/field_schema.h"
#include "kube/codec/apply/path_element.h"
#include "kube/meta/type_info.h"
#include "kube/meta/value.h"

namespace kube::detail {

class ApplyPlace {
 public:
  enum class Form : std::uint8_t { Scalar, List, Map };

  /// The place of a whole object.
  static ApplyPlace root(ObjectSchema schema) noexcept;
  static ApplyPlace ofField(const FieldInfo& field) noexcept;

  /// The form of a value at this place. Null has the form of the place.
  Form formOf(const Value& value) const noexcept;
  /// True if a value of that form is owned and replaced as one here.
  bool isAtomic(Form form) const noexcept;

  /// For an object: true if this member is one of its known fields.
  bool declares(std::string_view name) const noexcept;
  /// Returns nothing if a struct has no such field.
  std::optional<ApplyPlace> member(std::string_view name) const noexcept;
  /// The place of a list's elements.
  ApplyPlace element() const noexcept;

  /// The identity of an element of a list that is not atomic. Nothing, with the reason, if it has
  /// none.
  std::optional<PathElement> identify(const Value& element, std::string& why) const;
  /// True if the element has an identity.
  bool identifies(const Value& element, std::string& why) const;

  /// The value that upstream has if a struct lacks this member, or null: its Go structs hold some
  /// structs by value, and write some lists even when they are nil.
  const Value* standIn(std::string_view name) const noexcept;

  /// The expected type if the value does not fit; else empty.
  std::string_view mismatch(const Value& value) const noexcept;

 private:
  // The first four come from tables, Custom from a FieldSchema of any kind; Deduced has neither.
  enum class Type : std::uint8_t { Scalar, List, Map, Struct, Deduced, Custom };

  ApplyPlace() = default;
  static ApplyPlace ofSchema(const FieldSchema* schema) noexcept;
  static ApplyPlace ofElement(const FieldInfo& field) noexcept;
  static ApplyPlace ofStruct(const TypeInfo& type) noexcept;
  static ApplyPlace ofScalar(FieldKind kind) noexcept;
  std::optional<Value> keyDefault(std::string_view key) const;
  template <class Use>
  decltype(auto) withKeys(const Use& use) const;

  Type type_ = Type::Deduced;
  FieldKind kind_ = FieldKind::Value;  // for a scalar
  bool atomic_ = false;
  union {
    const FieldInfo* field_ = nullptr;  // for a list or map: describes its elements
    const TypeInfo* struct_;
    const FieldSchema* schema_;
  };
};

}  // namespace kube::detail
