// Server-side apply: merges a configuration into a live object, in which every field is owned by
// the manager that set it. An API server does this for a patch of type
// application/apply-patch+yaml, and updates metadata.managedFields accordingly for every other
// write.
//
//   ApplyResult result = applyPatch(
//       live, config, &TypeOf<appsv1::Deployment>::info,
//       {.name = "kubectl", .apiVersion = "apps/v1", .time = Time::now()});
//   if (!result.conflicts.empty()) throw Refused(result.conflictMessage());
//   store(result.object);
//
// The rules are those of upstream's structured-merge-diff and managedfields. A manager owns the
// fields of the configuration that it applied last. A field that it no longer applies, and that has
// no other owner, is removed. A field that another manager owns with another value is a conflict,
// unless forced: then the field changes its owner. With the same value, both own it. The schema
// defines the fields (see kube/codec/apply/object_fields.h): a type's table, or a FieldSchema for a
// custom resource. Without one, lists are one field each.
//
// Conversion between versions of an API is not done here, since it needs more than one object.
// Entries of other versions are treated as entries of this one.
//
// Errors: PatchError for a configuration or object that does not fit the schema, names another
// version or kind, or contains managedFields. Inputs are never changed.
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

/// The manager that writes, the subresource that it uses, and the time.
struct FieldManager {
  String name;  // empty: "unknown"
  String apiVersion;
  String subresource = {};
  Time time = {};  // time of the entry, if the write changes anything
};

struct ApplyConflict {
  String manager;  // owner of the field
  String operation;
  String apiVersion;  // empty for an applier
  String subresource;
  FieldSet::Path path;

  /// "kubectl" using apps/v1
  std::string describeManager() const;
  bool operator==(const ApplyConflict&) const = default;
};

struct ApplyResult {
  /// The new object with its managedFields; the live one if there are conflicts.
  Value object;
  /// True if the object differs from the live one in more than managedFields.
  bool changed = false;
  /// Empty if the configuration was applied.
  std::vector<ApplyConflict> conflicts;

  /// Apply failed with 1 conflict: conflict with "kubectl" using apps/v1: .spec.replicas
  std::string conflictMessage() const;
};

/// `live` is null to create the object. `schema` is null if there is none.
ApplyResult applyPatch(const Value& live, const Value& config, ObjectSchema schema,
                       const FieldManager& manager, bool force = false);

/// Updates the owners of fields for a create (`before` is null), an update or another patch:
/// returns `after` with managedFields that give the changed fields to `manager`. As in the API
/// server,
/// - managedFields in `after` count, unless it is written through a subresource; an empty
///   list, or one empty entry, resets them, and malformed ones are ignored
/// - an object that exists but has no managedFields gets none
/// - the oldest of more than ten updaters are merged as "ancient-changes"
/// - an object that does not fit the schema loses them; this does not throw
Value updateManagedFields(const Value& before, const Value& after, ObjectSchema schema,
                          const FieldManager& manager);

/// The content of metadata.managedFields.
using FieldOwners = List<metav1::ManagedFieldsEntry>;

/// An object and its managedFields, separately.
struct OwnedObject {
  Value object = {};  // without managedFields
  FieldOwners owners = {};
  bool reset = false;  // the object came with managedFields that have no entries
};

/// updateManagedFields for callers that keep owners separate from objects, as a server of typed
/// objects does: returns the owners of `after`. The fields of unchanged owners are not written
/// again.
FieldOwners updateOwners(const OwnedObject& before, const OwnedObject& after, ObjectSchema schema,
                         const FieldManager& manager);

}  // namespace kube
