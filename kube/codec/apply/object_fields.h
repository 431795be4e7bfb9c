// The fields of an object, and parts of it by sets of fields.
//
//   FieldSet all = fieldsOf(pod);
//   Value rest = removeItems(object, set, &TypeOf<corev1::Pod>::info);
//   Value mine = extract(object, schema, "my-controller");
//
// The tables tell which parts are one field: scalars, atomic lists and atomic structs. They also
// tell how elements of other lists are identified. For a custom resource, a FieldSchema tells both.
// Without a schema (a null pointer, or Unstructured), objects are split member by member and lists
// are one field each.
//
// `extract` returns the fields that a manager has applied, like client-go's ExtractPod: change them
// and apply them again. All fields of other managers are unset; apiVersion, kind, name and
// namespace stay. For typed objects, see kube/codec/apply/apply_configuration.h.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <string_view>

#include "kube/codec/apply/field_schema.h"
#include "kube/codec/apply/field_set.h"
#include "kube/codec/unstructured.h"
#include "kube/meta/any_object.h"
#include "kube/meta/type_info.h"
#include "kube/meta/unstructured.h"
#include "kube/meta/value.h"

namespace kube {

/// Throws PatchError if the object does not fit the schema.
FieldSet fieldsOf(const Value& object, ObjectSchema schema);
FieldSet fieldsOf(const TypeInfo& type, const void* object);

template <Described T>
FieldSet fieldsOf(const T& object) {
  return fieldsOf(TypeOf<T>::info, &object);
}

/// Returns the object without these fields. Objects and lists that become empty become null.
Value removeItems(const Value& object, const FieldSet& set, ObjectSchema schema);
/// Returns only these fields.
Value extractItems(const Value& object, const FieldSet& set, ObjectSchema schema);

/// The fields that `fieldManager` has applied, through the subresource if one is given, according
/// to the object's managedFields. Throws DecodeError if the manager's entry is malformed.
FieldSet appliedFields(const Value& object, std::string_view fieldManager,
                       std::string_view subresource = "");

/// The part of the object that `fieldManager` has applied, through the subresource if one is given.
/// Throws DecodeError if the manager's entry in managedFields is malformed, and PatchError if the
/// object does not fit the schema.
Value extract(const Value& object, ObjectSchema schema, std::string_view fieldManager,
              std::string_view subresource = "");

}  // namespace kube
