#include "kube/codec/apply/apply.h"

#include <fmt/core.h>

#include <map>
#include <utility>

#include "kube/codec/apply/internal/apply_place.h"
#include "kube/codec/apply/internal/apply_walk.h"
#include "kube/codec/apply/internal/managed_fields.h"
#include "kube/codec/patch/patch_error.h"

namespace kube {

namespace {

using detail::ApplyPlace;
using detail::Comparison;
using detail::ManagedSet;
using detail::ManagerKey;
using detail::Managers;

constexpr std::string_view kBeforeFirstApply = "before-first-apply";

// Fields without an owner: they identify the object, or belong to the server.
const FieldSet& unowned() {
  static const FieldSet set = {{"apiVersion"},
                               {"kind"},
                               {"metadata"},
                               {"metadata", "name"},
                               {"metadata", "namespace"},
                               {"metadata", "creationTimestamp"},
                               {"metadata", "selfLink"},
                               {"metadata", "uid"},
                               {"metadata", "clusterName"},
                               {"metadata", "generation"},
                               {"metadata", "managedFields"},
                               {"metadata", "resourceVersion"}};
  return set;
}

String nameOf(const FieldManager& manager) {
  return manager.name.empty() ? String("unknown") : manager.name;
}

// Replaces null by an empty object, since the comparison needs a place to start at.
Value objectOr(const Value& value) { return value.isNull() ? Value(Value::Object()) : value; }

class Ownership {
 public:
  Ownership(Managers managers, const ApplyPlace& place)
      : managers_(std::move(managers)), place_(place) {
    for (auto& [key, managed] : managers_) managed.set = detail::reconciled(managed.set, place_);
  }

  Managers& managers() noexcept { return managers_; }

  /// Takes the changed fields from all managers but `writer`. Without force, changes nothing and
  /// returns the conflicts if other managers own any of them.
  std::vector<ApplyConflict> change(const Comparison& comparison, const ManagerKey& writer,
                                    bool force) {
    const FieldSet changed = comparison.modified.union_(comparison.added);
    if (!force) {
      std::vector<ApplyConflict> conflicts;
      for (const auto& [key, managed] : managers_) {
        if (key == writer) continue;
        for (FieldSet::Path& path : managed.set.intersection(changed).paths()) {
          conflicts.push_back(
              {key.manager, key.operation, key.apiVersion, key.subresource, std::move(path)});
        }
      }
      if (!conflicts.empty()) return conflicts;
    }
    for (auto& [key, managed] : managers_) {
      if (key == writer) continue;
      for (const FieldSet* lost : {&changed, &comparison.removed}) {
        if (managed.set.intersects(*lost)) managed.set = managed.set.difference(*lost);
      }
    }
    std::erase_if(managers_, [](const auto& entry) { return entry.second.set.empty(); });
    return {};
  }

  /// The merged object without fields of `last`, the set applied before, that have no owner any
  /// more.
  Value prune(const Value& merged, const FieldSet& last) const {
    if (last.empty()) return merged;
    const auto named = [&](const FieldSet& set) { return detail::withNamedFields(set, place_); };
    const FieldSet lastNamed = named(last);
    const FieldSet all = named(detail::fieldsIn(merged, place_));
    Value pruned = detail::removeFields(merged, lastNamed, place_);

    FieldSet owned;
    for (const auto& [key, managed] : managers_) owned = owned.union_(managed.set);
    FieldSet kept = named(detail::fieldsIn(pruned, place_)).union_(named(owned));
    pruned = detail::removeFields(merged, all.difference(kept), place_);

    // Fields that were never in that set stay, even if they depend on a field that was.
    kept = named(detail::fieldsIn(pruned, place_));
    return detail::removeFields(merged, all.difference(kept).intersection(lastNamed), place_);
  }

  /// Adds the fields that an update changed to the updater's entry.
  void give(const Comparison& comparison, const ManagerKey& writer, const FieldManager& manager) {
    const FieldSet changed = strip(comparison.modified.union_(comparison.added));
    if (changed.empty()) return;
    ManagedSet& entry = managers_[writer];
    entry.set = entry.set.union_(changed);
    entry.apiVersion = manager.apiVersion;
    entry.time = manager.time;
  }

  static FieldSet strip(const FieldSet& set) { return set.difference(unowned()); }

 private:
  Managers managers_;
  const ApplyPlace& place_;
};

// Handles ownership for an update: the updater owns everything that it changed.
void update(Ownership& ownership, const Value& before, const Value& after, const ApplyPlace& place,
            const ManagerKey& writer, const FieldManager& manager) {
  const Comparison comparison = detail::compare(before, after, place);
  // The updater's own older entry also loses the changed fields, and gets them again.
  ownership.change(comparison, ManagerKey{}, /*force=*/true);
  ownership.give(comparison, writer, manager);
}

void checkConfig(const Value& config, const TypeInfo* type, const FieldManager& manager) {
  const auto refuse = [](const std::string& what) {
    throw PatchError(PatchError::Reason::Malformed, what);
  };
  if (!config.isObject()) {
    refuse(fmt::format("an applied configuration is an object, found {}", toString(config.type())));
  }
  const String& version = config["apiVersion"].asString();
  if (version != manager.apiVersion) {
    refuse(
        fmt::format("Incorrect version specified in apply patch. Specified patch version: {}, "
                    "expected: {}",
                    version, manager.apiVersion));
  }
  if (version.empty()) refuse("an applied configuration needs its apiVersion");
  if (type != nullptr && type->resource != nullptr &&
      config["kind"].asString() != type->resource->kind) {
    refuse(fmt::format("invalid object type: {}, Kind={}; expected Kind={}", version,
                       config["kind"].asString(), type->resource->kind));
  }
  if (!config["metadata"]["managedFields"].isNull()) {
    refuse("metadata.managedFields must be nil");
  }
}

bool isReset(const Value& managedFields) {
  if (!managedFields.isArray()) return false;
  const Value::Array& entries = managedFields.asArray();
  return entries.empty() || (entries.size() == 1 && entries[0] == Value(Value::Object()));
}

template <class Entries>
Managers managersOf(const Entries& entries) {
  try {
    return detail::decodeManagers(entries);
  } catch (const PatchError&) {
    return {};  // malformed entries must not prevent a write
  }
}

// The owners of the fields before `after` was written. Entries are values or structs.
template <class Entries>
Managers managersBefore(const Entries& before, const Entries& after, bool reset,
                        const FieldManager& manager) {
  if (!manager.subresource.empty()) return managersOf(before);
  if (reset) return {};
  Managers managers = managersOf(after);
  return managers.empty() ? managersOf(before) : managers;
}

// The owners after the write. Both objects come without managedFields. Returns no owners if the
// objects do not fit the schema.
Managers managersAfter(Managers managers, const Value& before, const Value& after,
                       ObjectSchema schema, const FieldManager& manager) {
  if (managers.empty() && !before["metadata"]["uid"].asString().empty()) return {};
  const ApplyPlace place = ApplyPlace::root(schema);
  const Value live = objectOr(before);
  try {
    detail::validate(live, place, /*allowDuplicates=*/true);
    detail::validate(after, place, /*allowDuplicates=*/true);
    Ownership ownership(std::move(managers), place);
    const auto writer =
        ManagerKey::updater(nameOf(manager), manager.apiVersion, manager.subresource);
    update(ownership, live, after, place, writer, manager);
    detail::capUpdaters(ownership.managers());
    return std::move(ownership.managers());
  } catch (const PatchError&) {
    return {};
  }
}

}  // namespace

std::string ApplyConflict::describeManager() const {
  std::string text = fmt::format("\"{}\"", manager);
  if (!subresource.empty()) text += fmt::format(" with subresource \"{}\"", subresource);
  if (operation == detail::kUpdate) text += fmt::format(" using {}", apiVersion);
  return text;
}

std::string ApplyResult::conflictMessage() const {
  if (conflicts.empty()) return {};
  if (conflicts.size() == 1) {
    return fmt::format("Apply failed with 1 conflict: conflict with {}: {}",
                       conflicts[0].describeManager(), toString(conflicts[0].path));
  }
  std::string text = fmt::format("Apply failed with {} conflicts: ", conflicts.size());
  std::string last;
  for (const ApplyConflict& conflict : conflicts) {  // conflicts of one manager are adjacent
    std::string manager = conflict.describeManager() + conflict.operation;
    if (manager != last) {
      if (!last.empty()) text += '\n';
      text += fmt::format("conflicts with {}:", conflict.describeManager());
      last = std::move(manager);
    }
    text += "\n- " + toString(conflict.path);
  }
  return text;
}

ApplyResult applyPatch(const Value& live, const Value& config, ObjectSchema schema,
                       const FieldManager& manager, bool force) {
  checkConfig(config, schema.table(), manager);
  const ApplyPlace place = ApplyPlace::root(schema);
  const Value before = objectOr(detail::withoutManagedFields(live));
  detail::validate(config, place, /*allowDuplicates=*/false);
  detail::validate(before, place, /*allowDuplicates=*/true);

  Ownership ownership(detail::decodeManagers(live["metadata"]["managedFields"]), place);
  if (ownership.managers().empty()) {
    // Existing fields have an owner, even if it is unknown.
    const auto unknown =
        ManagerKey::updater(kBeforeFirstApply, manager.apiVersion, manager.subresource);
    update(ownership, Value::Object(), before, place, unknown, manager);
  }

  const auto writer = ManagerKey::applier(nameOf(manager), manager.subresource);
  const ManagedSet last = ownership.managers()[writer];
  ManagedSet& entry = ownership.managers()[writer];
  entry = {detail::fieldsIn(config, place), manager.apiVersion, last.time};
  const Value merged = detail::merge(&before, &config, place).value_or(Value::Object());
  const Value after = objectOr(ownership.prune(merged, last.set));

  ApplyResult result;
  result.conflicts = ownership.change(detail::compare(before, after, place), writer, force);
  if (!result.conflicts.empty()) {
    result.object = live;
    return result;
  }
  result.changed = compareValues(before, after) != 0;
  if (const auto at = ownership.managers().find(writer); at != ownership.managers().end()) {
    at->second.set = Ownership::strip(at->second.set);
    if (result.changed) at->second.time = manager.time;
    if (at->second.set.empty()) ownership.managers().erase(at);
  }
  result.object = detail::withManagedFields(after, ownership.managers());
  return result;
}

Value updateManagedFields(const Value& before, const Value& after, ObjectSchema schema,
                          const FieldManager& manager) {
  const Value& given = after["metadata"]["managedFields"];
  const Value object = detail::withoutManagedFields(after);
  Managers managers =
      managersBefore(before["metadata"]["managedFields"], given, isReset(given), manager);
  managers = managersAfter(std::move(managers), detail::withoutManagedFields(before), object,
                           schema, manager);
  return detail::withManagedFields(object, managers);
}

FieldOwners updateOwners(const OwnedObject& before, const OwnedObject& after, ObjectSchema schema,
                         const FieldManager& manager) {
  static const metav1::ManagedFieldsEntry kEmpty;
  const bool reset = after.reset || (after.owners.size() == 1 && after.owners[0] == kEmpty);
  return detail::encodeOwners(
      managersAfter(managersBefore(before.owners, after.owners, reset, manager), before.object,
                    after.object, schema, manager));
}

}  // namespace kube
