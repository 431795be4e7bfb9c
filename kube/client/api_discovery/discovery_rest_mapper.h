// A RestMapper for the resources that a server serves.
//
//   auto mapper = kube::discoveryRestMapper(kube::DiscoveryClient(rest));
//   mapper->kindFor({.resource = "deploy"});             // a short name: apps/v1, Kind=Deployment
//   auto mapping = mapper->restMapping({"apps", "Deployment"});
//   dynamic.resource(mapping).inNamespace("book").list();
//   mapper->expand("all");                               // the resources of a category
//
// The first call asks the server. A name that is not found is looked up once more if the discovery
// is not fresh() any more: so resources that are defined while a program runs are found, and a name
// that does not exist does not cost a request each time. After reset(), the next call asks the
// server in any case. Group-versions that cannot be read are logged and not mapped.
//
// Errors: those of the Discovery; the next call tries again.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "kube/client/api_discovery/discovery.h"
#include "kube/client/api_discovery/discovery_client.h"
#include "kube/meta/mapping/deferred_rest_mapper.h"
#include "kube/meta/mapping/rest_mapper.h"
#include "kube/meta/mapping/shortcut_expander.h"

namespace kube {

class DiscoveryRestMapper final : public RestMapper, public CategoryExpander {
 public:
  /// The Discovery should be a cache: everything is requested whenever a name is not found.
  explicit DiscoveryRestMapper(DiscoveryPtr discovery, NameWarningHandler warn = {});

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
  void reset() const override { deferred_->reset(); }

  std::optional<std::vector<GroupResource>> expand(std::string_view category) const override;

 private:
  std::shared_ptr<const DeferredRestMapper> deferred_;
  ShortcutExpander expander_;
};

std::shared_ptr<const DiscoveryRestMapper> discoveryRestMapper(DiscoveryPtr discovery,
                                                               NameWarningHandler warn = {});
/// Uses a cache in memory in between.
std::shared_ptr<const DiscoveryRestMapper> discoveryRestMapper(DiscoveryClient client,
                                                               NameWarningHandler warn = {});

}  // namespace kube
