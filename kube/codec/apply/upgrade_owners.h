// Hands fields that a program has written by updates (kubectl apply of old, createOrUpdate) to the
// same program as one that applies on the server, so that it can remove them later.
//
//   const auto patch = upgradeManagedFieldsPatch(deployment, {.from =
//   {"kubectl-client-side-apply"},
//                                                             .to = "my-controller"});
//   if (patch) deployments.patch("web", PatchType::Json, *patch);
//
// The rules are those of client-go's csaupgrade. The fields of the newest updater with one of the
// names go to the applier, which is made of that entry if there is none; other entries of these
// updaters are dropped. The upgrade cannot be undone: the record of the fields that were updated is
// lost. It may run before or after the first apply, and again.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kube/codec/apply/apply.h"
#include "kube/codec/apply/field_set.h"
#include "kube/codec/unstructured.h"
#include "kube/meta/object_key.h"
#include "kube/meta/v1.h"

namespace kube {

struct OwnerUpgrade {
  std::vector<String> from = {};  // managers that updated
  String to = {};                 // the manager that applies
  String subresource = {};        // of the entries
};

/// The entries of managers with that operation ("Apply", "Update") that own all of the fields.
/// Malformed entries own none.
FieldOwners findFieldOwners(const FieldOwners& owners, std::string_view operation,
                            const FieldSet& fields);

/// Returns the owners after the upgrade. Throws DecodeError for malformed entries.
FieldOwners upgradeFieldOwners(FieldOwners owners, const OwnerUpgrade& upgrade);

/// Changes the object in memory. Returns whether there was anything to upgrade.
bool upgradeManagedFields(metav1::ObjectMeta& object, const OwnerUpgrade& upgrade);
template <NamedObject T>
bool upgradeManagedFields(T& object, const OwnerUpgrade& upgrade) {
  return upgradeManagedFields(object.metadata, upgrade);
}

/// The JSON patch that upgrades the object on the server, or none if there is nothing to upgrade.
/// The server refuses it with a conflict if the object has changed. Throws Error without a
/// resourceVersion.
std::optional<std::string> upgradeManagedFieldsPatch(const metav1::ObjectMeta& object,
                                                     const OwnerUpgrade& upgrade);
template <NamedObject T>
std::optional<std::string> upgradeManagedFieldsPatch(const T& object, const OwnerUpgrade& upgrade) {
  return upgradeManagedFieldsPatch(object.metadata, upgrade);
}
inline std::optional<std::string> upgradeManagedFieldsPatch(const Unstructured& object,
                                                            const OwnerUpgrade& upgrade) {
  return upgradeManagedFieldsPatch(fromUnstructured<metav1::PartialObjectMetadata>(object).metadata,
                                   upgrade);
}

}  // namespace kube
