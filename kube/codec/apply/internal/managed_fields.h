// Who owns what in an object: metadata.managedFields, decoded.
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

/// What tells managers apart. An applier keeps its fields when it changes to another version, so
/// its apiVersion is no part of it and empty.
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
  String text = {};      // of `asRead`, where that is known
  FieldSet asRead = {};  // what the set was at first

  /// FieldsV1; made only if the set is not what it was.
  String fieldsV1() const;
};

using Managers = std::map<ManagerKey, ManagedSet>;

/// From the array in an object's metadata. Throws PatchError for entries that are malformed.
Managers decodeManagers(const Value& managedFields);
Managers decodeManagers(const FieldOwners& owners);
/// Entries sorted as upstream does: by operation, time, name, version, subresource.
Value encodeManagers(const Managers& managers);
FieldOwners encodeOwners(const Managers& managers);

/// The object without managedFields; without metadata too, if there is nothing else in it.
Value withoutManagedFields(Value object);
/// The object with these, or without any when there are none.
Value withManagedFields(Value object, const Managers& managers);

/// Merges the oldest updaters of a version when there are too many of them.
void capUpdaters(Managers& managers);

}  // namespace kube::detail
