// A RestMapper of kinds that are added one by one.
//
//   DefaultRestMapper mapper{{"samplecrd.k8s.io", "v1"}, {"samplecrd.k8s.io", "v1beta1"}};
//   mapper.add({"samplecrd.k8s.io", "v1", "Network"}, RestScope::Namespace);   // networks, network
//
// The group-versions are preferred in their order: a kind without a version is looked up in these
// only. A resource that is found in several is ambiguous.
//
// Thread safety: add everything first; after that, lookups may be made from any thread.
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include "kube/meta/mapping/internal/rest_index.h"
#include "kube/meta/mapping/rest_mapper.h"

namespace kube {

/// The most likely plural and singular of a kind: "policies" and "policy", "ingresses", "endpoints"
/// and "endpoints". A guess; only a server or a table knows.
std::pair<GroupVersionResource, GroupVersionResource> unsafeGuessKindToResource(
    const GroupVersionKind& kind);

class DefaultRestMapper final : public RestMapper {
 public:
  DefaultRestMapper() = default;
  DefaultRestMapper(std::initializer_list<GroupVersion> preferred) : preferred_(preferred) {}
  explicit DefaultRestMapper(std::vector<GroupVersion> preferred)
      : preferred_(std::move(preferred)) {}

  /// Adds a kind with a guessed plural and singular.
  void add(const GroupVersionKind& kind, RestScope scope);
  /// Replaces earlier entries of the same names.
  void addSpecific(const GroupVersionKind& kind, const GroupVersionResource& plural,
                   const GroupVersionResource& singular, RestScope scope);

  std::vector<GroupVersionKind> findKinds(const GroupVersionResource& partial) const override;
  std::vector<GroupVersionResource> findResources(
      const GroupVersionResource& partial) const override;
  std::optional<RestMapping> findMapping(const GroupKind& kind,
                                         VersionList versions) const override;
  std::vector<RestMapping> findMappings(const GroupKind& kind, VersionList versions) const override;
  std::optional<String> findSingular(std::string_view resource) const override;

 private:
  std::vector<GroupVersion> preferred_;
  detail::RestIndex index_;
};

}  // namespace kube
