// The walkers of server-side apply over objects and places: validating, merging, comparing, and
// which fields there are. They follow upstream's structured-merge-diff.
//
// A value that is not there is a null pointer; null in JSON is a value.
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

/// Throws PatchError that names all places where the value is not what the tables say; also for two
/// elements of one identity, unless those are allowed.
void validate(const Value& value, const ApplyPlace& place, bool allowDuplicates);

/// All fields the value has.
FieldSet fieldsIn(const Value& value, const ApplyPlace& place);

/// `rhs` merged into `lhs`. Throws PatchError for elements without identity.
std::optional<Value> merge(const Value* lhs, const Value* rhs, const ApplyPlace& place);

struct Comparison {
  FieldSet removed, modified, added;
};
Comparison compare(const Value& lhs, const Value& rhs, const ApplyPlace& place);

/// Without the fields of `set`; what becomes empty becomes null.
Value removeFields(const Value& value, const FieldSet& set, const ApplyPlace& place);
/// Only the fields of `set`.
Value extractFields(const Value& value, const FieldSet& set, const ApplyPlace& place);

/// With all fields of structs that lead to a path in the set.
FieldSet withNamedFields(const FieldSet& set, const ApplyPlace& place);
/// With what is atomic as one path, although it was not when the set was written.
FieldSet reconciled(const FieldSet& set, const ApplyPlace& place);

}  // namespace kube::detail
