#include "kube/meta/mapping/default_rest_mapper.h"

#include <algorithm>

#include "kube/base/internal/text.h"

namespace kube {

std::pair<GroupVersionResource, GroupVersionResource> unsafeGuessKindToResource(
    const GroupVersionKind& kind) {
  if (kind.kind.empty()) return {};
  std::string name = detail::lower(kind.kind);
  GroupVersionResource singular = kind.groupVersion().withResource(name);
  if (name.ends_with("endpoints")) return {singular, singular};
  if (name.ends_with('y')) {
    name.replace(name.size() - 1, 1, "ies");
  } else {
    name += name.ends_with('s') ? "es" : "s";
  }
  return {kind.groupVersion().withResource(name), std::move(singular)};
}

void DefaultRestMapper::add(const GroupVersionKind& kind, RestScope scope) {
  const auto [plural, singular] = unsafeGuessKindToResource(kind);
  addSpecific(kind, plural, singular, scope);
}

void DefaultRestMapper::addSpecific(const GroupVersionKind& kind,
                                    const GroupVersionResource& plural,
                                    const GroupVersionResource& singular, RestScope scope) {
  const auto at = std::ranges::find(preferred_, kind.groupVersion());
  const auto rank = at != preferred_.end() ? static_cast<detail::RestRank>(at - preferred_.begin())
                                           : detail::kLastRank;
  index_.add({plural, kind, scope}, singular.resource, rank);
}

std::vector<GroupVersionKind> DefaultRestMapper::findKinds(
    const GroupVersionResource& partial) const {
  std::vector<GroupVersionKind> kinds;
  for (const auto* entry : index_.ofResource(partial)) kinds.push_back(entry->mapping.gvk);
  return kinds;
}

std::vector<GroupVersionResource> DefaultRestMapper::findResources(
    const GroupVersionResource& partial) const {
  std::vector<GroupVersionResource> resources;
  for (const auto* entry : index_.ofResource(partial)) resources.push_back(entry->mapping.gvr);
  return resources;
}

std::vector<RestMapping> DefaultRestMapper::findMappings(const GroupKind& kind,
                                                         VersionList versions) const {
  bool asked = false;
  for (const std::string_view version : versions) {
    if (!detail::namesVersion(version)) continue;
    asked = true;
    if (const auto* entry = index_.ofKind(kind, version)) return {entry->mapping};
  }
  std::vector<RestMapping> mappings;
  if (asked) return mappings;
  for (const auto* entry : index_.ofKind(kind)) {
    if (entry->rank != detail::kLastRank) mappings.push_back(entry->mapping);
  }
  return mappings;
}

std::optional<RestMapping> DefaultRestMapper::findMapping(const GroupKind& kind,
                                                          VersionList versions) const {
  std::vector<RestMapping> mappings = findMappings(kind, versions);
  if (mappings.empty()) return std::nullopt;
  return std::move(mappings.front());
}

std::optional<String> DefaultRestMapper::findSingular(std::string_view resource) const {
  return index_.singularOf(resource);
}

}  // namespace kube
