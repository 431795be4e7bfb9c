// A Discovery that remembers: what a server serves changes rarely, and is asked for often.
//
//   auto cached = std::make_shared<const kube::CachedDiscoveryClient>(kube::DiscoveryClient(rest));
//   auto mapper = kube::discoveryRestMapper(cached);
//
//   // For a program that is started again and again, as kubectl: in files, too.
//   kube::CachedDiscoveryClient cached(client, {.folder = kube::discoveryCacheFolder(config)});
//
// The first question reads everything: from files that are not older than `ttl`, where there are
// such; otherwise from the server. What is read from the server is written to the files. Later
// questions are answered from memory, until `ttl` is over or invalidate() is called, after which
// this process reads no files any more.
//
// Of group-versions that could not be read, those whose error may pass (no connection, 5xx, 429)
// are asked for again with every question about them; others, and those that the server calls
// stale, are not. Answers with stale parts are not written to files.
//
// The files are those of kubectl, made for their owner alone (mode 0600, folders 0750). Broken ones
// are read anew from the server. Where they cannot be written, memory has to do.
//
// Errors: those of the Discovery it asks. A question about a group-version that is not known is an
// ApiError (isNotFound); the server is not asked.
//
// Thread safety: every method may be called from any thread. Of the threads that need what is not
// there one asks the server, and the others wait for it.
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
  /// Where the files are, a folder for each server; empty for none.
  std::string folder = {};
  /// What is older is read anew.
  Clock::Duration ttl = std::chrono::hours{6};
  /// For how long what came from the server counts as fresh(). A RestMapper that misses something
  /// asks again after that, and so learns of new resources. (With client-go it is for ever.)
  Clock::Duration freshFor = std::chrono::seconds{10};
};

/// Where kubectl keeps the files of this server: in $KUBECACHEDIR, or else ~/.kube/cache. Empty if
/// there is no home.
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

  /// Not remembered.
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
  /// The same with these versions asked for again.
  Known retried(const Known& before, std::span<const GroupVersion> versions,
                const std::stop_token& stop) const;
  void write(const ServerResources& served) const;

  const DiscoveryPtr discovery_;
  const DiscoveryCacheOptions options_;
  Clock& clock_;
  const std::unique_ptr<const detail::DiscoveryFiles> files_;  // null: none
  mutable std::atomic<bool> invalidated_ = false;
  mutable SharedFetch<Snapshot> snapshot_;
};

}  // namespace kube
