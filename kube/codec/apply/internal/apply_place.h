// What a schema says to server-side apply about one place in an object: how a value there is owned
// and merged. Upstream's structured-merge-diff calls it an atom of a schema.
//
// A place is described by a table or by a FieldSchema. One that is not (RawExtension, any JSON, a
// custom resource whose definition is not known) is deduced from what it holds: objects are merged
// member by member, arrays are replaced.
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

  /// A whole object.
  static ApplyPlace root(ObjectSchema schema) noexcept;
  static ApplyPlace ofField(const FieldInfo& field) noexcept;

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
  /// Whether it can be.
  bool identifies(const Value& element, std::string& why) const;

  /// What upstream has where a struct lacks this member, if not nothing: its Go structs hold some
  /// structs by value, and write some lists even when they are nil.
  const Value* standIn(std::string_view name) const noexcept;

  /// Nothing, or what else was expected.
  std::string_view mismatch(const Value& value) const noexcept;

 private:
  // Of those that tables describe; Custom is a FieldSchema's, of whatever kind.
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
  FieldKind kind_ = FieldKind::Value;  // of a scalar
  bool atomic_ = false;
  union {
    const FieldInfo* field_ = nullptr;  // of a list or map: what its elements are
    const TypeInfo* struct_;
    const FieldSchema* schema_;
  };
};

}  // namespace kube::detail
