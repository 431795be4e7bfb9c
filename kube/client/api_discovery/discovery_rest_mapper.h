// A RestMapper of what a server serves.
//
//   auto mapper = kube::discoveryRestMapper(kube::DiscoveryClient(rest));
//   mapper->kindFor({.resource = "deploy"});             // a short name: apps/v1, Kind=Deployment
//   auto mapping = mapper->restMapping({"apps", "Deployment"});
//   dynamic.resource(mapping).inNamespace("book").list();
//   mapper->expand("all");                               // the resources of a category
//
// The server is asked with the first question. What is then not found is looked for once more if
// the discovery is not fresh() any more: resources that are defined while a program runs are found,
// and a name that does not exist costs no request each time. reset() makes the next question ask
// the server in any case. Group-versions that cannot be read are logged and are not mapped.
//
// Errors: what the Discovery throws, the question throws; the next one tries again.
//
// Thread safety: any thread may ask at any time.
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
  /// Best a cache: it is asked for everything whenever something is not found.
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
/// With a cache in memory between them.
std::shared_ptr<const DiscoveryRestMapper> discoveryRestMapper(DiscoveryClient client,
                                                               NameWarningHandler warn = {});

}  // namespace kube
