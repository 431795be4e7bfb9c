// The walkers of server-side apply over objects and places: they validate, merge, compare, and list
// fields. They follow upstream's structured-merge-diff.
//
// A null pointer stands for a missing value; null in JSON is a value.
//
// For source files of this folder; the public faces are kube/codec/apply/object_fields.h and
// apply.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kube/codec/apply/field_set.h"
#include "kube/codec/apply/internal/apply_place.h"
#include "kube/meta/value.h"

namespace kube::detail {

/// Throws PatchError that names all places where the value does not fit the schema. Two elements of
/// one identity are an error too, unless they are allowed.
void validate(const Value& value, const ApplyPlace& place, bool allowDuplicates);

/// Returns all fields of the value.
FieldSet fieldsIn(const Value& value, const ApplyPlace& place);

/// Merges `rhs` into `lhs`. Throws PatchError for elements without identity.
std::optional<Value> merge(const Value* lhs, const Value* rhs, const ApplyPlace& place);

struct Comparison {
  FieldSet removed, modified, added;
};
Comparison compare(const Value& lhs, const Value& rhs, const ApplyPlace& place);

/// Returns the value without the fields of `set`; objects and lists that become empty become null.
Value removeFields(const Value& value, const FieldSet& set, const ApplyPlace& place);
/// Returns only the fields of `set`.
Value extractFields(const Value& value, const FieldSet& set, const ApplyPlace& place);

/// Returns the set with all fields of structs that lead to one of its paths.
FieldSet withNamedFields(const FieldSet& set, const ApplyPlace& place);
/// Returns the set with each atomic part as one path, even if it was not atomic when it was
/// written.
FieldSet reconciled(const FieldSet& set, const ApplyPlace& place);

}  // namespace kube::detail
