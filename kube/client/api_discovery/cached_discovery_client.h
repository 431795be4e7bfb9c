// A Discovery with a cache: the resources of a server change rarely, and are needed often.
//
//   auto cached = std::make_shared<const kube::CachedDiscoveryClient>(kube::DiscoveryClient(rest));
//   auto mapper = kube::discoveryRestMapper(cached);
//
//   // With files, for a program that is started again and again, like kubectl.
//   kube::CachedDiscoveryClient cached(client, {.folder = kube::discoveryCacheFolder(config)});
//
// The first call reads everything: from files that are not older than `ttl`, if they exist;
// otherwise from the server. Answers of the server are written to the files. Later calls are
// answered from memory until `ttl` is over or invalidate() is called. After invalidate(), this
// process does not read the files any more.
//
// A group-version that could not be read is requested again with every call that concerns it, if
// its error may pass (no connection, 5xx, 429). For other errors, and for group-versions that the
// server calls stale, it is not. Answers with stale parts are not written to files.
//
// The files are those of kubectl. Only their owner has access (mode 0600, folders 0750). Broken
// files are replaced by new answers of the server. If files cannot be written, only memory is used.
//
// Errors: those of the underlying Discovery. For an unknown group-version it is an ApiError
// (isNotFound); the server is not asked.
//
// Thread safety: every method may be called from any thread. If several threads need the same
// missing answer, one asks the server, and the others wait for it.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

#include "kube/base/clock.h"
#include "kube/base/internal/shared_fetch.h"
#include "kube/client/api_discovery/discovery.h"
#include "kube/client/api_discovery/discovery_client.h"

namespace kube {

namespace detail {
class DiscoveryFiles;
}

struct DiscoveryCacheOptions {
  /// The folder of the files, one for each server; empty for no files.
  std::string folder = {};
  /// The age from which answers are read again.
  Clock::Duration ttl = std::chrono::hours{6};
  /// The time for which an answer of the server counts as fresh(). A RestMapper that misses a name
  /// asks again after that, and so finds new resources. (In client-go this time is unlimited.)
  Clock::Duration freshFor = std::chrono::seconds{10};
};

/// The folder in which kubectl keeps the files of this server: in $KUBECACHEDIR, or else in
/// ~/.kube/cache. Empty if there is no home.
std::string discoveryCacheFolder(const Config& config);

class CachedDiscoveryClient final : public Discovery {
 public:
  /// The clock must outlive it.
  explicit CachedDiscoveryClient(DiscoveryPtr discovery, DiscoveryCacheOptions options = {},
                                 Clock& clock = realClock());
  explicit CachedDiscoveryClient(DiscoveryClient client, DiscoveryCacheOptions options = {},
                                 Clock& clock = realClock());
  ~CachedDiscoveryClient() override;
  CachedDiscoveryClient(const CachedDiscoveryClient&) = delete;
  CachedDiscoveryClient& operator=(const CachedDiscoveryClient&) = delete;

  /// Not cached.
  ServerVersion serverVersion(const std::stop_token& stop = {}) const override;
  metav1::APIGroupList serverGroups(const std::stop_token& stop = {}) const override;
  metav1::APIResourceList serverResourcesForGroupVersion(
      const GroupVersion& version, const std::stop_token& stop = {}) const override;
  ServerResources serverGroupsAndResources(const std::stop_token& stop = {}) const override;

  bool fresh() const override;
  void invalidate() const override;

 private:
  struct Snapshot;
  using Known = std::shared_ptr<const Snapshot>;

  Known known(const std::stop_token& stop) const;
  Known load(const std::stop_token& stop) const;
  Known fromFiles(const std::stop_token& stop) const;
  /// Returns the snapshot after another request for these versions.
  Known retried(const Known& before, std::span<const GroupVersion> versions,
                const std::stop_token& stop) const;
  void write(const ServerResources& served) const;

  const DiscoveryPtr discovery_;
  const DiscoveryCacheOptions options_;
  Clock& clock_;
  const std::unique_ptr<const detail::DiscoveryFiles> files_;  // null: no files
  mutable std::atomic<bool> invalidated_ = false;
  mutable SharedFetch<Snapshot> snapshot_;
};

}  // namespace kube
