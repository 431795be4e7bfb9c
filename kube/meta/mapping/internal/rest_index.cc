#include "kube/meta/mapping/internal/rest_index.h"

#include <fmt/core.h>

#include <algorithm>

#include "kube/base/error.h"
#include "kube/base/internal/text.h"

namespace kube::detail {

template <class Same>
void RestIndex::put(Positions& positions, Same same) {
  std::erase_if(positions, [&](std::uint32_t other) { return same(entries_[other].mapping); });
  const auto at = std::upper_bound(
      positions.begin(), positions.end(), entries_.back().rank,
      [&](RestRank rank, std::uint32_t other) { return rank < entries_[other].rank; });
  positions.insert(at, static_cast<std::uint32_t>(entries_.size() - 1));
}

void RestIndex::add(RestMapping mapping, String singular, RestRank rank) {
  entries_.push_back({std::move(mapping), std::move(singular), rank});
  const Entry& added = entries_.back();
  const auto sameResource = [&](const RestMapping& other) {
    return other.gvr.groupVersion() == added.mapping.gvr.groupVersion();
  };
  put(byName_[added.mapping.gvr.resource], sameResource);
  put(byName_[added.singular], sameResource);
  put(byKind_[added.mapping.gvk.groupKind()],
      [&](const RestMapping& other) { return other.gvk.version == added.mapping.gvk.version; });
}

std::vector<const RestIndex::Entry*> RestIndex::ofResource(
    const GroupVersionResource& partial) const {
  if (partial.resource.empty()) {
    throw Error(fmt::format("a resource must be present, got: {}", partial));
  }
  std::vector<const Entry*> found;
  auto named = byName_.find(partial.resource.view());
  if (named == byName_.end()) {
    named = byName_.find(std::string_view(lower(partial.resource)));
    if (named == byName_.end()) return found;
  }
  const auto collect = [&](auto wantedGroup) {
    for (const std::uint32_t position : named->second) {
      const Entry& entry = entries_[position];
      if (!wantedGroup(entry.mapping.gvr.group)) continue;
      if (namesVersion(partial.version) && entry.mapping.gvr.version != partial.version) continue;
      const auto same = [&](const Entry* other) { return other->mapping.gvr == entry.mapping.gvr; };
      if (std::ranges::none_of(found, same)) found.push_back(&entry);
    }
  };
  if (partial.group.empty()) {
    collect([](const String&) { return true; });
    return found;
  }
  collect([&](const String& group) { return group == partial.group; });
  // storageclasses.storage may mean storageclasses.storage.k8s.io. With a version, groups must be
  // complete.
  if (found.empty() && !namesVersion(partial.version)) {
    collect([&](const String& group) { return group.view().starts_with(partial.group.view()); });
  }
  return found;
}

std::vector<const RestIndex::Entry*> RestIndex::ofKind(const GroupKind& kind) const {
  std::vector<const Entry*> found;
  const auto named = byKind_.find(kind);
  if (named == byKind_.end()) return found;
  for (const std::uint32_t position : named->second) found.push_back(&entries_[position]);
  return found;
}

const RestIndex::Entry* RestIndex::ofKind(const GroupKind& kind, std::string_view version) const {
  const auto named = byKind_.find(kind);
  if (named == byKind_.end()) return nullptr;
  for (const std::uint32_t position : named->second) {
    if (entries_[position].mapping.gvk.version == version) return &entries_[position];
  }
  return nullptr;
}

std::optional<String> RestIndex::singularOf(std::string_view resource) const {
  const std::vector<const Entry*> entries = ofResource({.resource = resource});
  if (entries.empty()) return std::nullopt;
  const String& singular = entries.front()->singular;
  for (const Entry* entry : entries) {
    if (entry->singular == singular) continue;
    std::string all;
    for (const Entry* each : entries) {
      all.append(all.empty() ? "" : " ").append(each->mapping.gvr.str());
    }
    throw Error(
        fmt::format("multiple possible singular resources ([{}]) found for {}", all, resource));
  }
  return singular;
}

}  // namespace kube::detail
