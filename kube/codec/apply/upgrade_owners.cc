#include "kube/codec/apply/upgrade_owners.h"

#include <algorithm>

#include "kube/base/error.h"
#include "kube/codec/apply/internal/managed_fields.h"
#include "kube/codec/json.h"

namespace kube {

namespace {

using Entry = metav1::ManagedFieldsEntry;

bool isEntryOf(const Entry& entry, std::string_view manager, std::string_view operation,
               const String& subresource) {
  return entry.manager == manager && entry.operation == operation &&
         entry.subresource == subresource;
}

FieldSet fieldsOf(const Entry& entry) {
  return entry.fieldsV1 ? FieldSet::parse(entry.fieldsV1.raw) : FieldSet();
}

FieldOwners upgraded(const FieldOwners& owners, const String& from, const OwnerUpgrade& upgrade) {
  const auto isUpdater = [&](const Entry& entry) {
    return isEntryOf(entry, from, detail::kUpdate, upgrade.subresource);
  };
  auto target = std::ranges::find_if(owners, [&](const Entry& entry) {
    return isEntryOf(entry, upgrade.to, detail::kApply, upgrade.subresource);
  });
  // The newest entry is the first.
  if (target == owners.end()) target = std::ranges::find_if(owners, isUpdater);
  if (target == owners.end()) return owners;
  const auto updater = std::ranges::find_if(owners, [&](const Entry& entry) {
    return isUpdater(entry) && entry.apiVersion == target->apiVersion;
  });

  FieldOwners result;
  for (auto entry = owners.begin(); entry != owners.end(); ++entry) {
    if (entry != target && isUpdater(*entry)) continue;
    Entry kept = *entry;
    if (entry == target) {
      kept.manager = upgrade.to;
      kept.operation = detail::kApply;
      if (updater != owners.end()) {
        kept.fieldsV1.raw = fieldsOf(kept).union_(fieldsOf(*updater)).toJson();
      }
    }
    result.push_back(std::move(kept));
  }
  return result;
}

}  // namespace

FieldOwners findFieldOwners(const FieldOwners& owners, std::string_view operation,
                            const FieldSet& fields) {
  FieldOwners found;
  for (const Entry& entry : owners) {
    if (entry.operation != operation) continue;
    try {
      if (fields.difference(fieldsOf(entry)).empty()) found.push_back(entry);
    } catch (const DecodeError&) {
      continue;
    }
  }
  return found;
}

FieldOwners upgradeFieldOwners(FieldOwners owners, const OwnerUpgrade& upgrade) {
  for (const String& from : upgrade.from) owners = upgraded(owners, from, upgrade);
  return owners;
}

bool upgradeManagedFields(metav1::ObjectMeta& object, const OwnerUpgrade& upgrade) {
  FieldOwners owners = upgradeFieldOwners(object.managedFields, upgrade);
  if (owners == object.managedFields) return false;
  object.managedFields = std::move(owners);
  return true;
}

std::optional<std::string> upgradeManagedFieldsPatch(const metav1::ObjectMeta& object,
                                                     const OwnerUpgrade& upgrade) {
  metav1::PartialObjectMetadata upgraded{.metadata = object};
  if (!upgradeManagedFields(upgraded.metadata, upgrade)) return std::nullopt;
  if (object.resourceVersion.empty()) {
    throw Error("upgrade of managedFields: the object has no resourceVersion; read it first");
  }
  const Value all = toUnstructured(upgraded).object;
  // A "test" of the version would be refused as invalid; a replacement is a conflict.
  return toJson(Value(Value::Array{Value::Object{{"op", "replace"},
                                                 {"path", "/metadata/managedFields"},
                                                 {"value", all["metadata"]["managedFields"]}},
                                   Value::Object{{"op", "replace"},
                                                 {"path", "/metadata/resourceVersion"},
                                                 {"value", object.resourceVersion}}}));
}

}  // namespace kube
