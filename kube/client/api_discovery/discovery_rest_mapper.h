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
// async() returns the awaitable form: co_await mapper->async().kindFor(partial).
//
// Errors: those of the Discovery; the next call tries again.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "kube/base/task.h"
#include "kube/client/api_discovery/discovery.h"
#include "kube/client/api_discovery/discovery_client.h"
#include "kube/meta/mapping/deferred_rest_mapper.h"
#include "kube/meta/mapping/rest_mapper.h"
#include "kube/meta/mapping/shortcut_expander.h"

namespace kube {

/// The awaitable form of a DiscoveryRestMapper, with the lookups and errors of RestMapper and
/// CategoryExpander. A cheap handle, whose tasks keep the mapper.
class AsyncDiscoveryRestMapper {
 public:
  AsyncDiscoveryRestMapper(std::shared_ptr<const DeferredRestMapper> deferred,
                           NameWarningHandler warn)
      : deferred_(std::move(deferred)), warn_(std::move(warn)) {}

  Task<GroupVersionKind> kindFor(GroupVersionResource partial) const;
  Task<std::vector<GroupVersionKind>> kindsFor(GroupVersionResource partial) const;
  Task<GroupVersionResource> resourceFor(GroupVersionResource partial) const;
  Task<std::vector<GroupVersionResource>> resourcesFor(GroupVersionResource partial) const;
  Task<RestMapping> restMapping(GroupKind kind, VersionList versions = {}) const;
  Task<std::vector<RestMapping>> restMappings(GroupKind kind, VersionList versions = {}) const;
  Task<String> resourceSingularizer(std::string_view resource) const;

  Task<std::optional<GroupVersionKind>> findKind(GroupVersionResource partial) const;
  Task<std::vector<GroupVersionKind>> findKinds(GroupVersionResource partial) const;
  Task<std::optional<GroupVersionResource>> findResource(GroupVersionResource partial) const;
  Task<std::vector<GroupVersionResource>> findResources(GroupVersionResource partial) const;
  Task<std::optional<RestMapping>> findMapping(GroupKind kind, VersionList versions) const;
  Task<std::vector<RestMapping>> findMappings(GroupKind kind, VersionList versions) const;
  Task<std::optional<String>> findSingular(std::string_view resource) const;

  Task<std::optional<std::vector<GroupResource>>> expand(std::string_view category) const;
  void reset() const { deferred_->reset(); }

  /// Any other lookup: the function is called with a mapper of what is known, and again with a
  /// newer one if the answer is empty or there is no match.
  template <class Look>
  Task<std::invoke_result_t<Look&, const RestMapper&>> lookUp(Look look) const {
    return lookUpTask(deferred_, warn_, std::move(look));
  }

 private:
  template <class Look>
  static Task<std::invoke_result_t<Look&, const RestMapper&>> lookUpTask(
      std::shared_ptr<const DeferredRestMapper> deferred, NameWarningHandler warn, Look look) {
    const auto named = [&](const DiscoverySnapshot& known) {
      return look(ShortcutExpander(known.mapper, known.shortNames, warn));
    };
    co_return co_await deferred->lookUp(named);
  }

  std::shared_ptr<const DeferredRestMapper> deferred_;
  NameWarningHandler warn_;
};

/// See mappingFor() of a RestMapper.
Task<RestMapping> mappingFor(const AsyncDiscoveryRestMapper& mapper,
                             std::string_view resourceOrKind);

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

  AsyncDiscoveryRestMapper async() const { return AsyncDiscoveryRestMapper(deferred_, warn_); }

 private:
  std::shared_ptr<const DeferredRestMapper> deferred_;
  NameWarningHandler warn_;
};

std::shared_ptr<const DiscoveryRestMapper> discoveryRestMapper(DiscoveryPtr discovery,
                                                               NameWarningHandler warn = {});
/// Uses a cache in memory in between.
std::shared_ptr<const DiscoveryRestMapper> discoveryRestMapper(DiscoveryClient client,
                                                               NameWarningHandler warn = {});

}  // namespace kube
