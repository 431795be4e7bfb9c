#include "kube/meta/mapping/static_rest_mapper.h"

#include <algorithm>
#include <compare>

#include "kube/base/internal/text.h"
#include "kube/meta/mapping/default_rest_mapper.h"

namespace kube {

std::vector<ApiGroupResources> joinGroupResources(const List<metav1::APIGroup>& groups,
                                                  const List<metav1::APIResourceList>& resources) {
  detail::StringMap<const List<metav1::APIResource>*> byVersion;
  for (const metav1::APIResourceList& list : resources) {
    byVersion[list.groupVersion] = &list.resources;
  }
  std::vector<ApiGroupResources> joined;
  for (const metav1::APIGroup& group : groups) {
    ApiGroupResources& added = joined.emplace_back(ApiGroupResources{group, {}});
    for (const metav1::GroupVersionForDiscovery& version : group.versions) {
      const auto known = byVersion.find(version.groupVersion.view());
      if (known == byVersion.end()) continue;
      added.versionedResources.insert_or_assign(version.version, *known->second);
    }
  }
  return joined;
}

std::vector<const ResourceInfo*> servedResources(std::span<const TypeInfo* const> types,
                                                 std::span<const std::string_view> groups) {
  std::vector<const ResourceInfo*> served;
  std::vector<std::string_view> order(groups.begin(), groups.end());
  for (const TypeInfo* type : types) {
    const ResourceInfo* resource = type->resource;
    if (resource == nullptr || resource->plural.empty()) continue;
    served.push_back(resource);
    if (std::ranges::find(order, resource->group) == order.end()) {
      order.push_back(resource->group);
    }
  }
  std::unordered_map<std::string_view, std::size_t> groupRank;
  for (std::size_t i = 0; i < order.size(); ++i) groupRank.emplace(order[i], i);
  std::ranges::stable_sort(served, [&](const ResourceInfo* a, const ResourceInfo* b) {
    if (a->retired != b->retired) return b->retired;
    if (a->group != b->group) return groupRank.at(a->group) < groupRank.at(b->group);
    return compareKubeAwareVersions(a->version, b->version) > 0;
  });
  return served;
}

StaticRestMapper::StaticRestMapper(std::span<const TypeInfo* const> types,
                                   std::span<const std::string_view> groups) {
  detail::RestRank rank = 0;
  for (const ResourceInfo* resource : servedResources(types, groups)) {
    const GroupVersion version{resource->group, resource->version};
    const GroupVersionKind kind = version.withKind(resource->kind);
    index_.add({version.withResource(resource->plural), kind,
                resource->namespaced ? RestScope::Namespace : RestScope::Root},
               resource->singular.empty() ? unsafeGuessKindToResource(kind).second.resource
                                          : String(resource->singular),
               rank++);
  }
}

StaticRestMapper::StaticRestMapper(std::span<const ApiGroupResources> groups) {
  detail::RestRank rank = 1;  // 0 is the core group's v1
  for (const ApiGroupResources& group : groups) {
    const String& preferred = group.group.preferredVersion->version;
    // Resources in the preferred version precede those that only other versions have.
    for (const bool first : {true, false}) {
      for (const metav1::GroupVersionForDiscovery& discovered : group.group.versions) {
        if ((discovered.version == preferred) != first) continue;
        const auto known = group.versionedResources.find(discovered.version);
        if (known == group.versionedResources.end()) continue;
        const GroupVersion version{group.group.name, discovered.version};
        addVersion(version, known->value, version == GroupVersion{"", "v1"} ? 0 : rank++);
      }
    }
  }
}

void StaticRestMapper::addVersion(const GroupVersion& version,
                                  const List<metav1::APIResource>& resources,
                                  detail::RestRank rank) {
  const auto guess = [&](const GroupVersionKind& kind, RestScope scope) {
    const auto [plural, singular] = unsafeGuessKindToResource(kind);
    index_.add({plural, kind, scope}, singular.resource, rank);
  };
  const auto isSubresource = [](const metav1::APIResource& resource) {
    return resource.name.view().find('/') != std::string_view::npos;
  };
  const auto scopeOf = [](const metav1::APIResource& resource) {
    return resource.namespaced ? RestScope::Namespace : RestScope::Root;
  };
  // Guesses are added first, so that a real resource of that name replaces them.
  guess(version.withKind("List"), RestScope::Root);
  for (const metav1::APIResource& resource : resources) {
    if (!isSubresource(resource))
      guess(version.withKind(resource.kind + "List"), scopeOf(resource));
  }
  for (const metav1::APIResource& resource : resources) {
    if (isSubresource(resource)) continue;
    const GroupVersionKind kind = version.withKind(resource.kind);
    const GroupVersionKind lowerKind = version.withKind(detail::lower(resource.kind));
    const GroupVersionResource plural = version.withResource(resource.name);
    const String singular = !resource.singularName.empty()
                                ? resource.singularName
                                : unsafeGuessKindToResource(kind).second.resource;
    index_.add({plural, lowerKind, scopeOf(resource)}, singular, rank);
    index_.add({plural, kind, scopeOf(resource)}, singular, rank);
  }
}

std::optional<GroupVersionKind> StaticRestMapper::findKind(
    const GroupVersionResource& partial) const {
  const auto entries = index_.ofResource(partial);
  if (entries.empty()) return std::nullopt;
  return entries.front()->mapping.gvk;
}

std::vector<GroupVersionKind> StaticRestMapper::findKinds(
    const GroupVersionResource& partial) const {
  std::vector<GroupVersionKind> kinds;
  for (const auto* entry : index_.ofResource(partial)) kinds.push_back(entry->mapping.gvk);
  return kinds;
}

std::optional<GroupVersionResource> StaticRestMapper::findResource(
    const GroupVersionResource& partial) const {
  const auto entries = index_.ofResource(partial);
  if (entries.empty()) return std::nullopt;
  return entries.front()->mapping.gvr;
}

std::vector<GroupVersionResource> StaticRestMapper::findResources(
    const GroupVersionResource& partial) const {
  std::vector<GroupVersionResource> resources;
  for (const auto* entry : index_.ofResource(partial)) resources.push_back(entry->mapping.gvr);
  return resources;
}

std::optional<RestMapping> StaticRestMapper::findMapping(const GroupKind& kind,
                                                         VersionList versions) const {
  bool asked = false;
  for (const std::string_view version : versions) {
    if (!detail::namesVersion(version)) continue;
    asked = true;
    if (const auto* entry = index_.ofKind(kind, version)) return entry->mapping;
  }
  if (asked) return std::nullopt;
  const auto entries = index_.ofKind(kind);
  if (entries.empty()) return std::nullopt;
  return entries.front()->mapping;
}

std::vector<RestMapping> StaticRestMapper::findMappings(const GroupKind& kind,
                                                        VersionList versions) const {
  std::vector<RestMapping> mappings;
  bool asked = false;
  for (const std::string_view version : versions) {
    if (!detail::namesVersion(version)) continue;
    asked = true;
    if (const auto* entry = index_.ofKind(kind, version)) mappings.push_back(entry->mapping);
  }
  if (asked) return mappings;
  for (const auto* entry : index_.ofKind(kind)) mappings.push_back(entry->mapping);
  return mappings;
}

std::optional<String> StaticRestMapper::findSingular(std::string_view resource) const {
  return index_.singularOf(resource);
}

}  // namespace kube
