// The fields an object has, and parts of it by sets of fields.
//
//   FieldSet all = fieldsOf(pod);
//   Value rest = removeItems(object, set, &TypeOf<corev1::Pod>::info);
//   Value mine = extract(object, schema, "my-controller");
//
// The tables tell what is one field: a scalar, a list or struct that is atomic; and how elements of
// other lists are known. For a custom resource, a FieldSchema tells it. Without a schema (a null
// pointer, or Unstructured), objects are taken apart member by member and lists are one field each.
//
// `extract` gives what a manager has applied, as client-go's ExtractPod and the like: change that
// and apply it again. All fields but the manager's are unset; apiVersion, kind, name and namespace
// stay. For typed objects, see kube/codec/apply/apply_configuration.h.
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

/// Throws PatchError when the object is not what the schema describes.
FieldSet fieldsOf(const Value& object, ObjectSchema schema);
FieldSet fieldsOf(const TypeInfo& type, const void* object);

template <Described T>
FieldSet fieldsOf(const T& object) {
  return fieldsOf(TypeOf<T>::info, &object);
}

/// Without these fields. An object or list of which nothing is left becomes null.
Value removeItems(const Value& object, const FieldSet& set, ObjectSchema schema);
/// Only these fields.
Value extractItems(const Value& object, const FieldSet& set, ObjectSchema schema);

/// Which fields `fieldManager` has applied, by the object's managedFields, through the subresource
/// if one is given. Throws DecodeError when its entry is malformed.
FieldSet appliedFields(const Value& object, std::string_view fieldManager,
                       std::string_view subresource = "");

/// What `fieldManager` has applied, through the subresource if one is given. Throws DecodeError
/// when its entry in managedFields is malformed, and PatchError when the object is not what the
/// schema describes.
Value extract(const Value& object, ObjectSchema schema, std::string_view fieldManager,
              std::string_view subresource = "");

}  // namespace kube
