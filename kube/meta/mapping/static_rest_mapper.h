// A RestMapper of a fixed set of resources, from type tables or from a server's discovery.
//
//   StaticRestMapper mine(types);                     // span of TypeInfo pointers
//   StaticRestMapper served(groupResources);          // read by the discovery client
//
// A resource is never ambiguous: of several, the preferred one is chosen. With tables, the order of
// preference is: resources that current releases still serve, then the earlier group, then the
// later version. With discovery: v1 of the core group, then the server's order of groups, and in a
// group its preferred version.
//
// With discovery, kinds are also found in lower case, and lists ("PodList", "List") by the resource
// name that they would have, as in upstream's mapper.
//
// Thread safety: lookups may be made from any thread at any time.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "kube/base/list.h"
#include "kube/base/map.h"
#include "kube/meta/mapping/internal/rest_index.h"
#include "kube/meta/mapping/rest_mapper.h"
#include "kube/meta/type_info.h"
#include "kube/meta/v1.h"

namespace kube {

/// An API group as a server describes it, and the resources of each version that could be read.
struct ApiGroupResources {
  metav1::APIGroup group = {};
  Map<List<metav1::APIResource>> versionedResources = {};

  bool operator==(const ApiGroupResources&) const = default;
};

/// Combines discovery's two answers. A version without a list of resources is omitted.
std::vector<ApiGroupResources> joinGroupResources(const List<metav1::APIGroup>& groups,
                                                  const List<metav1::APIResourceList>& resources);

/// The resources of these types, the preferred first. Groups that are not in `groups` follow in the
/// order of their first type.
std::vector<const ResourceInfo*> servedResources(std::span<const TypeInfo* const> types,
                                                 std::span<const std::string_view> groups = {});

class StaticRestMapper final : public RestMapper {
 public:
  explicit StaticRestMapper(std::span<const TypeInfo* const> types,
                            std::span<const std::string_view> groups = {});
  explicit StaticRestMapper(std::span<const ApiGroupResources> groups);

  std::optional<GroupVersionKind> findKind(const GroupVersionResource& partial) const override;
  std::vector<GroupVersionKind> findKinds(const GroupVersionResource& partial) const override;
  std::optional<GroupVersionResource> findResource(
      const GroupVersionResource& partial) const override;
  std::vector<GroupVersionResource> findResources(
      const GroupVersionResource& partial) const override;
  std::optional<RestMapping> findMapping(const GroupKind& kind,
                                         VersionList versions) const override;
  std::vector<RestMapping> findMappings(const GroupKind& kind, VersionList versions) const override;
  std::optional<String> findSingular(std::string_view resource) const override;

 private:
  void addVersion(const GroupVersion& version, const List<metav1::APIResource>& resources,
                  detail::RestRank rank);

  detail::RestIndex index_;
};

}  // namespace kube
