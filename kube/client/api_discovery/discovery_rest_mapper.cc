#include "kube/client/api_discovery/discovery_rest_mapper.h"

#include <span>
#include <string>

#include "kube/base/log.h"
#include "kube/client/api_discovery/cached_discovery_client.h"

namespace kube {

namespace {

class Source final : public DiscoverySource {
 public:
  explicit Source(DiscoveryPtr discovery) : discovery_(std::move(discovery)) {}

  Task<std::vector<ApiGroupResources>> fetch() override {
    const ServerResources served = co_await AsyncDiscovery(discovery_).serverGroupsAndResources();
    for (const DiscoveryFailure& failure : served.failed) {
      log_.warning("the resources of {} could not be read: {}", failure.version, failure.message);
    }
    co_return joinGroupResources(served.groups, served.resources);
  }
  bool fresh() override { return discovery_->fresh(); }
  void invalidate() override { discovery_->invalidate(); }

 private:
  const DiscoveryPtr discovery_;
  const Logger log_{"discovery"};
};

// A list of versions that is not a view.
struct OwnVersions {
  explicit OwnVersions(VersionList versions) : texts(versions.begin(), versions.end()) {}
  template <class Use>
  auto view(Use use) const {
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    return use(VersionList(std::span(views)));
  }
  std::vector<std::string> texts;
};

}  // namespace

Task<GroupVersionKind> AsyncDiscoveryRestMapper::kindFor(GroupVersionResource partial) const {
  return lookUp([partial](const RestMapper& mapper) { return mapper.kindFor(partial); });
}
Task<std::vector<GroupVersionKind>> AsyncDiscoveryRestMapper::kindsFor(
    GroupVersionResource partial) const {
  return lookUp([partial](const RestMapper& mapper) { return mapper.kindsFor(partial); });
}
Task<GroupVersionResource> AsyncDiscoveryRestMapper::resourceFor(
    GroupVersionResource partial) const {
  return lookUp([partial](const RestMapper& mapper) { return mapper.resourceFor(partial); });
}
Task<std::vector<GroupVersionResource>> AsyncDiscoveryRestMapper::resourcesFor(
    GroupVersionResource partial) const {
  return lookUp([partial](const RestMapper& mapper) { return mapper.resourcesFor(partial); });
}
Task<RestMapping> AsyncDiscoveryRestMapper::restMapping(GroupKind kind,
                                                        VersionList versions) const {
  return lookUp([kind, own = OwnVersions(versions)](const RestMapper& mapper) {
    return own.view([&](VersionList all) { return mapper.restMapping(kind, all); });
  });
}
Task<std::vector<RestMapping>> AsyncDiscoveryRestMapper::restMappings(GroupKind kind,
                                                                      VersionList versions) const {
  return lookUp([kind, own = OwnVersions(versions)](const RestMapper& mapper) {
    return own.view([&](VersionList all) { return mapper.restMappings(kind, all); });
  });
}
Task<String> AsyncDiscoveryRestMapper::resourceSingularizer(std::string_view resource) const {
  return lookUp([name = std::string(resource)](const RestMapper& mapper) {
    return mapper.resourceSingularizer(name);
  });
}
Task<std::optional<GroupVersionKind>> AsyncDiscoveryRestMapper::findKind(
    GroupVersionResource partial) const {
  return lookUp([partial](const RestMapper& mapper) { return mapper.findKind(partial); });
}
Task<std::vector<GroupVersionKind>> AsyncDiscoveryRestMapper::findKinds(
    GroupVersionResource partial) const {
  return lookUp([partial](const RestMapper& mapper) { return mapper.findKinds(partial); });
}
Task<std::optional<GroupVersionResource>> AsyncDiscoveryRestMapper::findResource(
    GroupVersionResource partial) const {
  return lookUp([partial](const RestMapper& mapper) { return mapper.findResource(partial); });
}
Task<std::vector<GroupVersionResource>> AsyncDiscoveryRestMapper::findResources(
    GroupVersionResource partial) const {
  return lookUp([partial](const RestMapper& mapper) { return mapper.findResources(partial); });
}
Task<std::optional<RestMapping>> AsyncDiscoveryRestMapper::findMapping(GroupKind kind,
                                                                       VersionList versions) const {
  return lookUp([kind, own = OwnVersions(versions)](const RestMapper& mapper) {
    return own.view([&](VersionList all) { return mapper.findMapping(kind, all); });
  });
}
Task<std::vector<RestMapping>> AsyncDiscoveryRestMapper::findMappings(GroupKind kind,
                                                                      VersionList versions) const {
  return lookUp([kind, own = OwnVersions(versions)](const RestMapper& mapper) {
    return own.view([&](VersionList all) { return mapper.findMappings(kind, all); });
  });
}
Task<std::optional<String>> AsyncDiscoveryRestMapper::findSingular(
    std::string_view resource) const {
  return lookUp([name = std::string(resource)](const RestMapper& mapper) {
    return mapper.findSingular(name);
  });
}

Task<RestMapping> mappingFor(const AsyncDiscoveryRestMapper& mapper,
                             std::string_view resourceOrKind) {
  return mapper.lookUp([text = std::string(resourceOrKind)](const RestMapper& known) {
    return mappingFor(known, text);
  });
}

namespace {

Task<std::optional<std::vector<GroupResource>>> expandTask(
    std::shared_ptr<const DeferredRestMapper> deferred, std::string category) {
  const auto known = co_await deferred->snapshotAsync();
  co_return known->categories->expand(category);
}

}  // namespace

Task<std::optional<std::vector<GroupResource>>> AsyncDiscoveryRestMapper::expand(
    std::string_view category) const {
  return expandTask(deferred_, std::string(category));
}

// --- The blocking form.

DiscoveryRestMapper::DiscoveryRestMapper(DiscoveryPtr discovery, NameWarningHandler warn)
    : deferred_(std::make_shared<const DeferredRestMapper>(
          std::make_shared<Source>(std::move(discovery)))),
      warn_(std::move(warn)) {}

std::optional<GroupVersionKind> DiscoveryRestMapper::findKind(
    const GroupVersionResource& partial) const {
  return detail::runBlocking(async().findKind(partial), {});
}
std::vector<GroupVersionKind> DiscoveryRestMapper::findKinds(
    const GroupVersionResource& partial) const {
  return detail::runBlocking(async().findKinds(partial), {});
}
std::optional<GroupVersionResource> DiscoveryRestMapper::findResource(
    const GroupVersionResource& partial) const {
  return detail::runBlocking(async().findResource(partial), {});
}
std::vector<GroupVersionResource> DiscoveryRestMapper::findResources(
    const GroupVersionResource& partial) const {
  return detail::runBlocking(async().findResources(partial), {});
}
std::optional<RestMapping> DiscoveryRestMapper::findMapping(const GroupKind& kind,
                                                            VersionList versions) const {
  return detail::runBlocking(async().findMapping(kind, versions), {});
}
std::vector<RestMapping> DiscoveryRestMapper::findMappings(const GroupKind& kind,
                                                           VersionList versions) const {
  return detail::runBlocking(async().findMappings(kind, versions), {});
}
std::optional<String> DiscoveryRestMapper::findSingular(std::string_view resource) const {
  return detail::runBlocking(async().findSingular(resource), {});
}
std::optional<std::vector<GroupResource>> DiscoveryRestMapper::expand(
    std::string_view category) const {
  return detail::runBlocking(async().expand(category), {});
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
