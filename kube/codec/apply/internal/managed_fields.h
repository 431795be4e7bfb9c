// The owners of an object's fields: metadata.managedFields, decoded.
//
// For source files of this folder; the public face is kube/codec/apply/apply.h.
#pragma once

#include <compare>
#include <map>
#include <string>
#include <string_view>

#include "kube/base/string.h"
#include "kube/codec/apply/apply.h"
#include "kube/codec/apply/field_set.h"
#include "kube/meta/time.h"
#include "kube/meta/value.h"

namespace kube::detail {

inline constexpr std::string_view kApply = "Apply";
inline constexpr std::string_view kUpdate = "Update";

/// The identity of a manager. An applier keeps its fields when it changes to another version, so
/// its apiVersion is left out and empty.
struct ManagerKey {
  String manager;
  String operation;
  String apiVersion;
  String subresource;

  static ManagerKey applier(String manager, String subresource);
  static ManagerKey updater(String manager, String apiVersion, String subresource);

  bool applies() const noexcept { return operation == kApply; }
  auto operator<=>(const ManagerKey&) const = default;
};

struct ManagedSet {
  FieldSet set = {};
  String apiVersion = {};
  Time time = {};        // zero: unknown
  String text = {};      // text of `asRead`, if known
  FieldSet asRead = {};  // the set as it was read

  /// FieldsV1; encoded only if the set has changed.
  String fieldsV1() const;
};

using Managers = std::map<ManagerKey, ManagedSet>;

/// Decodes the array in an object's metadata. Throws PatchError for malformed entries.
Managers decodeManagers(const Value& managedFields);
Managers decodeManagers(const FieldOwners& owners);
/// Sorts entries as upstream does: by operation, time, name, version, subresource.
Value encodeManagers(const Managers& managers);
FieldOwners encodeOwners(const Managers& managers);

/// Removes managedFields, and metadata too if nothing else is in it.
Value withoutManagedFields(Value object);
/// Sets managedFields, or removes them if there are no managers.
Value withManagedFields(Value object, const Managers& managers);

/// Merges the oldest updaters of a version if there are too many updaters.
void capUpdaters(Managers& managers);

}  // namespace kube::detail
