// A RestMapper that asks for a server's resources when they are first needed, and once more when a
// resource is not found and the answer may be out of date.
//
//   auto mapper = std::make_shared<const DeferredRestMapper>(source);   // a DiscoverySource
//   ShortcutExpander named(mapper, [mapper] { return mapper->snapshot()->shortNames; });
//   named.kindFor({.resource = "networks"});   // fetches; the next question does not
//
// What the source throws, the question throws; the next one tries again.
//
// Thread safety: any thread may ask at any time. Of the threads that need a fetch one does it and
// the others wait for its outcome. No lock is held during it; a source must not ask the mapper that
// is waiting for it.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "kube/base/internal/shared_fetch.h"
#include "kube/meta/mapping/rest_mapper.h"
#include "kube/meta/mapping/shortcut_expander.h"
#include "kube/meta/mapping/static_rest_mapper.h"

namespace kube {

/// Where resources are learnt from: a discovery client with a cache, most likely. Its members may
/// be called on any thread, also at the same time.
class DiscoverySource {
 public:
  virtual ~DiscoverySource();

  /// The groups in the order of the server's preference. May be answered from a cache.
  virtual std::vector<ApiGroupResources> fetch() = 0;
  /// Whether everything fetched since the start, or since the last invalidate(), came from the
  /// server itself: fetching again would not help.
  virtual bool fresh() = 0;
  /// Makes the next fetch() ask the server.
  virtual void invalidate() = 0;
};

/// What one fetch told.
struct DiscoverySnapshot {
  std::shared_ptr<const StaticRestMapper> mapper;
  std::shared_ptr<const ShortNames> shortNames;
  std::shared_ptr<const SimpleCategoryExpander> categories;

  explicit DiscoverySnapshot(std::span<const ApiGroupResources> groups);
};

class DeferredRestMapper final : public RestMapper {
 public:
  explicit DeferredRestMapper(std::shared_ptr<DiscoverySource> source);

  /// What is known, fetched if nothing is.
  std::shared_ptr<const DiscoverySnapshot> snapshot() const;
  /// Invalidates the source, too.
  void reset() const override;

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
  using Snapshot = std::shared_ptr<const DiscoverySnapshot>;

  template <class Ask>
  auto asked(Ask ask) const;
  /// Another snapshot than this one, which lacks something; null if there is no use in fetching.
  Snapshot newerThan(const Snapshot& old) const;

  std::shared_ptr<DiscoverySource> source_;
  mutable SharedFetch<DiscoverySnapshot> known_;
};

}  // namespace kube
