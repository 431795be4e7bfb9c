#include "kube/client/api_discovery/discovery_rest_mapper.h"

#include "kube/base/log.h"
#include "kube/client/api_discovery/cached_discovery_client.h"

namespace kube {

namespace {

class Source final : public DiscoverySource {
 public:
  explicit Source(DiscoveryPtr discovery) : discovery_(std::move(discovery)) {}

  std::vector<ApiGroupResources> fetch() override {
    const ServerResources served = discovery_->serverGroupsAndResources();
    for (const DiscoveryFailure& failure : served.failed) {
      log_.warning("the resources of {} could not be read: {}", failure.version, failure.message);
    }
    return joinGroupResources(served.groups, served.resources);
  }
  bool fresh() override { return discovery_->fresh(); }
  void invalidate() override { discovery_->invalidate(); }

 private:
  const DiscoveryPtr discovery_;
  const Logger log_{"discovery"};
};

}  // namespace

DiscoveryRestMapper::DiscoveryRestMapper(DiscoveryPtr discovery, NameWarningHandler warn)
    : deferred_(std::make_shared<const DeferredRestMapper>(
          std::make_shared<Source>(std::move(discovery)))),
      expander_(
          deferred_, [mapper = deferred_] { return mapper->snapshot()->shortNames; },
          std::move(warn)) {}

std::optional<GroupVersionKind> DiscoveryRestMapper::findKind(
    const GroupVersionResource& partial) const {
  return expander_.findKind(partial);
}

std::vector<GroupVersionKind> DiscoveryRestMapper::findKinds(
    const GroupVersionResource& partial) const {
  return expander_.findKinds(partial);
}

std::optional<GroupVersionResource> DiscoveryRestMapper::findResource(
    const GroupVersionResource& partial) const {
  return expander_.findResource(partial);
}

std::vector<GroupVersionResource> DiscoveryRestMapper::findResources(
    const GroupVersionResource& partial) const {
  return expander_.findResources(partial);
}

std::optional<RestMapping> DiscoveryRestMapper::findMapping(const GroupKind& kind,
                                                            VersionList versions) const {
  return expander_.findMapping(kind, versions);
}

std::vector<RestMapping> DiscoveryRestMapper::findMappings(const GroupKind& kind,
                                                           VersionList versions) const {
  return expander_.findMappings(kind, versions);
}

std::optional<String> DiscoveryRestMapper::findSingular(std::string_view resource) const {
  return expander_.findSingular(resource);
}

std::optional<std::vector<GroupResource>> DiscoveryRestMapper::expand(
    std::string_view category) const {
  return deferred_->snapshot()->categories->expand(category);
}

std::shared_ptr<const DiscoveryRestMapper> discoveryRestMapper(DiscoveryPtr discovery,
                                                               NameWarningHandler warn) {
  return std::make_shared<const DiscoveryRestMapper>(std::move(discovery), std::move(warn));
}

std::shared_ptr<const DiscoveryRestMapper> discoveryRestMapper(DiscoveryClient client,
                                                               NameWarningHandler warn) {
  return discoveryRestMapper(std::make_shared<const CachedDiscoveryClient>(std::move(client)),
                             std::move(warn));
}

}  // namespace kube
