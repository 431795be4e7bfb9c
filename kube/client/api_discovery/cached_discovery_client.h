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
// async() returns the awaitable form. In coroutines, files are read and written on another thread.
// A program with an event loop uses only that form on the loop's thread: a blocking call there
// would wait for ever if a task of the loop is reading.
//
// Thread safety: every method may be called from any thread. If several threads or tasks need the
// same missing answer, one asks the server, and the others wait for it.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kube/base/clock.h"
#include "kube/base/internal/shared_fetch.h"
#include "kube/base/task.h"
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
  /// The clock must outlive it, and file accesses that destroyed tasks have begun.
  explicit CachedDiscoveryClient(DiscoveryPtr discovery, DiscoveryCacheOptions options = {},
                                 Clock& clock = realClock());
  explicit CachedDiscoveryClient(DiscoveryClient client, DiscoveryCacheOptions options = {},
                                 Clock& clock = realClock());
  ~CachedDiscoveryClient() override;
  CachedDiscoveryClient(const CachedDiscoveryClient&) = delete;
  CachedDiscoveryClient& operator=(const CachedDiscoveryClient&) = delete;

  bool fresh() const override;
  void invalidate() const override;

 private:
  struct Snapshot;
  using Known = std::shared_ptr<const Snapshot>;

  /// Not cached.
  Task<ServerVersion> fetchVersion() const override;
  Task<metav1::APIGroupList> fetchGroups() const override;
  Task<metav1::APIResourceList> fetchResources(GroupVersion version) const override;
  Task<ServerResources> fetchAll() const override;

  AsyncDiscovery server() const { return AsyncDiscovery(discovery_); }
  Task<Known> known() const;
  Task<Known> load() const;
  /// Returns null if there are no files.
  Task<Known> fromFiles() const;
  /// Returns the snapshot after another request for these versions.
  Task<Known> retried(Known before, std::vector<GroupVersion> versions) const;
  Task<void> write(ServerResources served) const;

  const DiscoveryPtr discovery_;
  const DiscoveryCacheOptions options_;
  Clock& clock_;
  const std::shared_ptr<const detail::DiscoveryFiles> files_;  // null: no files
  mutable std::atomic<bool> invalidated_ = false;
  mutable SharedFetch<Snapshot> snapshot_;
};

}  // namespace kube
