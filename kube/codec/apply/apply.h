// Server-side apply: merging a configuration into a live object, with every field owned by whoever
// set it. What an API server does for a patch of type application/apply-patch+yaml, and what it
// does to metadata.managedFields for every other write.
//
//   ApplyResult result = applyPatch(live, config, &TypeOf<appsv1::Deployment>::info,
//                                   {.name = "kubectl", .apiVersion = "apps/v1", .time =
//                                   Time::now()});
//   if (!result.conflicts.empty()) throw Refused(result.conflictMessage());
//   store(result.object);
//
// The rules are those of upstream's structured-merge-diff and managedfields. A manager owns the
// fields of the configuration it applied last. Fields it no longer applies, and nobody else owns,
// are removed. A field that another manager owns with another value is a conflict, unless forced:
// then it changes hands; with the same value, both own it. The schema tells what a field is (see
// kube/codec/apply/object_fields.h): a type's table, or a FieldSchema for a custom resource.
// Without one, lists are one field each.
//
// Not done here, as it needs more than one object: conversion between versions of an API. Entries
// of other versions are taken as if they were of this one.
//
// Errors: PatchError for a configuration or object that is not what the schema describes, names
// another version or kind, or brings managedFields of its own. Inputs are never changed.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <string>
#include <vector>

#include "kube/base/list.h"
#include "kube/base/string.h"
#include "kube/codec/apply/field_schema.h"
#include "kube/codec/apply/field_set.h"
#include "kube/meta/time.h"
#include "kube/meta/type_info.h"
#include "kube/meta/v1.h"
#include "kube/meta/value.h"

namespace kube {

/// Who writes, through what, and when.
struct FieldManager {
  String name;  // empty: "unknown"
  String apiVersion;
  String subresource = {};
  Time time = {};  // of the entry, when it changes something
};

struct ApplyConflict {
  String manager;  // who owns the field
  String operation;
  String apiVersion;  // empty for one who applied it
  String subresource;
  FieldSet::Path path;

  /// "kubectl" using apps/v1
  std::string describeManager() const;
  bool operator==(const ApplyConflict&) const = default;
};

struct ApplyResult {
  /// The new object with its managedFields; the live one if there are conflicts.
  Value object;
  /// Whether more than managedFields differs from the live object.
  bool changed = false;
  /// Empty if the configuration was applied.
  std::vector<ApplyConflict> conflicts;

  /// Apply failed with 1 conflict: conflict with "kubectl" using apps/v1: .spec.replicas
  std::string conflictMessage() const;
};

/// `live` is null to create the object. `schema` is null when there is none.
ApplyResult applyPatch(const Value& live, const Value& config, ObjectSchema schema,
                       const FieldManager& manager, bool force = false);

/// What a create (`before` is null), an update or another patch does to the fields' owners: returns
/// `after` with managedFields that give to `manager` what it changed. As in the API server,
/// - managedFields that `after` brings count, unless it is written through a subresource; an empty
///   list, or one empty entry, resets them, and malformed ones are ignored
/// - an object that exists but has no managedFields gets none
/// - the oldest of more than ten updaters are put together as "ancient-changes"
/// - an object that is not what the schema describes loses them; this does not throw
Value updateManagedFields(const Value& before, const Value& after, ObjectSchema schema,
                          const FieldManager& manager);

/// What metadata.managedFields holds.
using FieldOwners = List<metav1::ManagedFieldsEntry>;

/// An object, and its managedFields apart from it.
struct OwnedObject {
  Value object = {};  // without managedFields
  FieldOwners owners = {};
  bool reset = false;  // it came with managedFields, but none in them
};

/// updateManagedFields for one who keeps owners apart from objects, as a server of typed objects
/// does: returns the owners of `after`. Fields of owners that have not changed are not written
/// anew.
FieldOwners updateOwners(const OwnedObject& before, const OwnedObject& after, ObjectSchema schema,
                         const FieldManager& manager);

}  // namespace kube
