#include "kube/codec/apply/internal/managed_fields.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>
#include <vector>

#include "kube/base/error.h"
#include "kube/codec/json.h"
#include "kube/codec/patch/patch_error.h"

namespace kube::detail {

namespace {

// The same values as in the API server.
constexpr std::size_t kMaxUpdaters = 10;
constexpr std::string_view kBucket = "ancient-changes";

[[noreturn]] void malformedEntry(const std::string& what) {
  throw PatchError(PatchError::Reason::Malformed, "failed to decode managed fields: " + what);
}

FieldSet readSet(const Value& fields) {
  try {
    return FieldSet::fromValue(fields);
  } catch (const DecodeError& error) {
    malformedEntry(error.what());
  }
}

// The sets that were read last, found by the memory of their text. Replicas have the same text, and
// an object keeps its text from write to write.
class RecentSets {
 public:
  struct Entry {
    String text;
    FieldSet set;
    bool canonical = false;
  };

  /// Throws DecodeError.
  const Entry& read(const String& text) {
    for (const Entry& entry : entries_) {
      if (entry.text.sharesWith(text)) return entry;
    }
    bool canonical = false;
    FieldSet set = FieldSet::parse(text, &canonical);
    Entry& oldest = entries_[next_];
    next_ = (next_ + 1) % entries_.size();
    return oldest = {text, std::move(set), canonical};
  }

 private:
  std::array<Entry, 16> entries_;
  std::size_t next_ = 0;
};

ManagedSet readText(const metav1::ManagedFieldsEntry& entry) {
  thread_local RecentSets recent;
  ManagedSet managed{.apiVersion = entry.apiVersion, .time = entry.time};
  const String& text = entry.fieldsV1.raw;
  if (text.empty()) return managed;
  try {
    const RecentSets::Entry& known = recent.read(text);
    managed.set = known.set;
    if (known.canonical) {
      managed.text = text;
      managed.asRead = known.set;
    }
  } catch (const DecodeError& error) {
    malformedEntry(error.what());
  }
  return managed;
}

Time readTime(const Value& time) {
  if (time.asString().empty()) return {};
  try {
    return Time::parse(time.asString());
  } catch (const DecodeError& error) {
    malformedEntry(error.what());
  }
}

std::int64_t secondsOf(const Time& time) { return time.isZero() ? 0 : time.unixSeconds(); }

}  // namespace

ManagerKey ManagerKey::applier(String manager, String subresource) {
  return {std::move(manager), kApply, {}, std::move(subresource)};
}

ManagerKey ManagerKey::updater(String manager, String apiVersion, String subresource) {
  return {std::move(manager), kUpdate, std::move(apiVersion), std::move(subresource)};
}

String ManagedSet::fieldsV1() const {
  return !text.empty() && set == asRead ? text : String(set.toJson());
}

namespace {

// Returns the key of the i-th entry. Throws PatchError unless the entry is well-formed, except its
// fields.
ManagerKey keyOf(std::size_t i, const String& manager, const String& operation,
                 const String& apiVersion, const String& fieldsType, const String& subresource) {
  if (operation != kApply && operation != kUpdate) {
    malformedEntry("operation must be `Apply` or `Update`");
  }
  if (apiVersion.empty()) malformedEntry("apiVersion must not be empty");
  if (fieldsType.empty()) {
    malformedEntry(fmt::format("missing fieldsType in managed fields entry {}", i));
  }
  if (fieldsType != "FieldsV1") {
    malformedEntry(
        fmt::format("invalid fieldsType \"{}\" in managed fields entry {}", fieldsType, i));
  }
  return operation == kApply ? ManagerKey::applier(manager, subresource)
                             : ManagerKey::updater(manager, apiVersion, subresource);
}

// Sorts entries as upstream does.
std::vector<const Managers::value_type*> sorted(const Managers& managers) {
  std::vector<const Managers::value_type*> entries;
  entries.reserve(managers.size());
  for (const auto& entry : managers) entries.push_back(&entry);
  const auto order = [](const Managers::value_type* entry) {
    const auto& [key, managed] = *entry;
    return std::tuple(key.operation.view(), secondsOf(managed.time), key.manager.view(),
                      managed.apiVersion.view(), key.subresource.view());
  };
  std::sort(entries.begin(), entries.end(),
            [&](const auto* a, const auto* b) { return order(a) < order(b); });
  return entries;
}

}  // namespace

Managers decodeManagers(const Value& managedFields) {
  Managers managers;
  std::size_t i = 0;
  for (const Value& entry : managedFields.asArray()) {
    const String& apiVersion = entry["apiVersion"].asString();
    const ManagerKey key =
        keyOf(i++, entry["manager"].asString(), entry["operation"].asString(), apiVersion,
              entry["fieldsType"].asString(), entry["subresource"].asString());
    managers[key] = {.set = readSet(entry["fieldsV1"]),
                     .apiVersion = apiVersion,
                     .time = readTime(entry["time"])};
  }
  return managers;
}

Managers decodeManagers(const FieldOwners& owners) {
  Managers managers;
  std::size_t i = 0;
  for (const metav1::ManagedFieldsEntry& entry : owners) {
    const ManagerKey key = keyOf(i++, entry.manager, entry.operation, entry.apiVersion,
                                 entry.fieldsType, entry.subresource);
    managers[key] = readText(entry);
  }
  return managers;
}

Value encodeManagers(const Managers& managers) {
  Value::Array result;
  for (const auto* entry : sorted(managers)) {
    const auto& [key, managed] = *entry;
    Value::Object fields{{"operation", key.operation},
                         {"apiVersion", managed.apiVersion},
                         {"fieldsType", "FieldsV1"},
                         {"fieldsV1", parseJson(managed.set.toJson())}};
    if (!key.manager.empty()) fields.insert_or_assign("manager", key.manager);
    if (!managed.time.isZero()) fields.insert_or_assign("time", managed.time.str());
    if (!key.subresource.empty()) fields.insert_or_assign("subresource", key.subresource);
    result.push_back(std::move(fields));
  }
  return result;
}

FieldOwners encodeOwners(const Managers& managers) {
  FieldOwners owners;
  for (const auto* entry : sorted(managers)) {
    const auto& [key, managed] = *entry;
    owners.push_back({.manager = key.manager,
                      .operation = key.operation,
                      .apiVersion = managed.apiVersion,
                      .time = managed.time,
                      .fieldsType = "FieldsV1",
                      .fieldsV1 = {managed.fieldsV1()},
                      .subresource = key.subresource});
  }
  return owners;
}

Value withoutManagedFields(Value object) {
  const Value& metadata = std::as_const(object)["metadata"];
  if (!metadata.asObject().contains("managedFields")) return object;
  if (metadata.asObject().size() == 1) {
    object.object().erase("metadata");
  } else {
    object["metadata"].object().erase("managedFields");
  }
  return object;
}

Value withManagedFields(Value object, const Managers& managers) {
  object = withoutManagedFields(std::move(object));
  if (!managers.empty()) object["metadata"]["managedFields"] = encodeManagers(managers);
  return object;
}

void capUpdaters(Managers& managers) {
  std::vector<ManagerKey> updaters;
  for (const auto& [key, managed] : managers) {
    if (!key.applies()) updaters.push_back(key);
  }
  if (updaters.size() <= kMaxUpdaters) return;
  std::stable_sort(updaters.begin(), updaters.end(), [&](const ManagerKey& a, const ManagerKey& b) {
    return secondsOf(managers[a].time) < secondsOf(managers[b].time);
  });
  std::size_t count = updaters.size();
  std::map<String, ManagerKey> firstOfVersion;
  for (std::size_t i = 0; i < updaters.size() && count > kMaxUpdaters; ++i) {
    const ManagerKey& key = updaters[i];
    const ManagedSet managed = managers[key];
    const auto [first, isFirst] = firstOfVersion.try_emplace(managed.apiVersion, key);
    if (isFirst) continue;
    const auto bucket = ManagerKey::updater(kBucket, managed.apiVersion, "");
    if (!managers.contains(bucket)) {
      managers[bucket] = managers[first->second];
      managers.erase(first->second);
    }
    ManagedSet& merged = managers[bucket];
    merged.set = merged.set.union_(managed.set);
    merged.time = managed.time;  // the later one
    if (key != bucket) managers.erase(key);
    --count;
  }
}

}  // namespace kube::detail
