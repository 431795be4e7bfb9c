// Discovery: the version of a server, its groups, their versions, and the resources of each.
//
//   std::shared_ptr<const kube::Discovery> discovery = ...;     // a client, or a cache over one
//   kube::ServerResources served = discovery->serverGroupsAndResources();
//   for (const auto& list : served.resources)
//     for (const auto& resource : list.resources) ... list.groupVersion, resource.name
//   for (const auto& failure : served.failed) ... failure.version, failure.message
//
// A server may be unable to answer for all group-versions: for example, one is served by another
// program that is down. That is no exception: the readable part is returned, and the rest is listed
// in `failed`. A caller that needs everything calls complete(), which throws GroupDiscoveryError.
// An exception means that nothing could be read: ApiError and the errors of Request.
//
// AsyncDiscovery has the same functions for coroutines: co_await discovery->async().serverGroups().
//
// DiscoveryClient (discovery_client.h) asks the server each time; CachedDiscoveryClient
// (cached_discovery_client.h) keeps answers in memory and on disk. discoveryRestMapper
// (discovery_rest_mapper.h) makes a RestMapper from either.
//
// Thread safety: every method of every Discovery may be called from any thread.
#pragma once

#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/base/error.h"
#include "kube/base/list.h"
#include "kube/base/task.h"
#include "kube/meta/describe.h"
#include "kube/meta/gvk.h"
#include "kube/meta/v1.h"

namespace kube {

/// The answer of /version.
struct ServerVersion {
  String major;
  String minor;  // may have a "+" after the number
  String emulationMajor;
  String emulationMinor;
  String minCompatibilityMajor;
  String minCompatibilityMinor;
  String gitVersion;  // v1.34.1
  String gitCommit;
  String gitTreeState;
  String buildDate;
  String goVersion;
  String compiler;
  String platform;

  bool operator==(const ServerVersion&) const = default;
};

/// A group-version whose resources could not be read.
struct DiscoveryFailure {
  GroupVersion version;
  std::string message;
  std::exception_ptr error;  // never null
  /// The server says that its knowledge of the version is out of date; `error` is a
  /// StaleGroupVersionError.
  bool stale = false;
};

struct ServerResources {
  /// The core group first, then the others in the order of the server's preference.
  List<metav1::APIGroup> groups = {};
  /// A list for each version of each group, in the order of the groups. Contains subresources, such
  /// as "pods/log".
  List<metav1::APIResourceList> resources = {};
  /// The group-versions that are missing.
  std::vector<DiscoveryFailure> failed = {};

  /// Returns the resources of a version; null if there is no such list.
  const metav1::APIResourceList* find(const GroupVersion& version) const;
  /// Returns this object. Throws GroupDiscoveryError if anything is missing.
  const ServerResources& complete() const;
};

/// Some group-versions could not be read.
class GroupDiscoveryError : public Error {
 public:
  explicit GroupDiscoveryError(std::vector<DiscoveryFailure> failures);
  ~GroupDiscoveryError() override;

  const std::vector<DiscoveryFailure>& failures() const noexcept { return *failures_; }

 private:
  std::shared_ptr<const std::vector<DiscoveryFailure>> failures_;
};
bool isGroupDiscoveryFailed(const std::exception& error) noexcept;

class StaleGroupVersionError : public Error {
 public:
  explicit StaleGroupVersionError(const GroupVersion& version);
};

class AsyncDiscovery;

class Discovery {
 public:
  virtual ~Discovery();

  ServerVersion serverVersion(const std::stop_token& stop = {}) const;
  metav1::APIGroupList serverGroups(const std::stop_token& stop = {}) const;
  /// Throws an ApiError (isNotFound) for a version that is not served. For the core group the
  /// result is an empty list instead: servers that extend the API have no core group.
  metav1::APIResourceList serverResourcesForGroupVersion(const GroupVersion& version,
                                                         const std::stop_token& stop = {}) const;
  ServerResources serverGroupsAndResources(const std::stop_token& stop = {}) const;

  /// Returns each resource in one version only: the preferred version of its group, or the first
  /// that has it. Without subresources.
  ServerResources serverPreferredResources(const std::stop_token& stop = {}) const;
  ServerResources serverPreferredNamespacedResources(const std::stop_token& stop = {}) const;

  /// Returns whether another request to the server would bring nothing new.
  virtual bool fresh() const { return true; }
  /// From now on, answers that were read from the server before are not used any more.
  virtual void invalidate() const {}

  /// The awaitable form. This object outlives its tasks; AsyncDiscovery(DiscoveryPtr) makes tasks
  /// that keep it.
  AsyncDiscovery async() const;

 protected:
  friend class AsyncDiscovery;
  Discovery() = default;
  Discovery(const Discovery&) = default;
  Discovery& operator=(const Discovery&) = default;

  // ---- Both forms of the functions above are made of these. The object outlives the tasks.

  virtual Task<ServerVersion> fetchVersion() const = 0;
  virtual Task<metav1::APIGroupList> fetchGroups() const = 0;
  virtual Task<metav1::APIResourceList> fetchResources(GroupVersion version) const = 0;
  virtual Task<ServerResources> fetchAll() const = 0;
};

/// The handle that users of a Discovery hold.
using DiscoveryPtr = std::shared_ptr<const Discovery>;

/// The awaitable form of a Discovery: a cheap handle. See Discovery for the functions.
class AsyncDiscovery {
 public:
  explicit AsyncDiscovery(DiscoveryPtr discovery) : discovery_(std::move(discovery)) {}

  Task<ServerVersion> serverVersion() const;
  Task<metav1::APIGroupList> serverGroups() const;
  Task<metav1::APIResourceList> serverResourcesForGroupVersion(const GroupVersion& version) const;
  Task<ServerResources> serverGroupsAndResources() const;
  Task<ServerResources> serverPreferredResources() const;
  Task<ServerResources> serverPreferredNamespacedResources() const;

  bool fresh() const { return discovery_->fresh(); }
  void invalidate() const { discovery_->invalidate(); }

 private:
  DiscoveryPtr discovery_;
};

// ---- Questions.

/// Returns whether the server has this resource in this version.
bool isResourceEnabled(const Discovery& discovery, const GroupVersionResource& resource,
                       const std::stop_token& stop = {});
Task<bool> isResourceEnabled(AsyncDiscovery discovery, GroupVersionResource resource);
/// Returns whether the server has this version of the group. True if the server names no version at
/// all, because this user may not see any.
bool serverSupportsVersion(const Discovery& discovery, const GroupVersion& version,
                           const std::stop_token& stop = {});
Task<bool> serverSupportsVersion(AsyncDiscovery discovery, GroupVersion version);

/// Returns the resources for which the predicate is true; lists that become empty are left out.
List<metav1::APIResourceList> filteredBy(
    const List<metav1::APIResourceList>& lists,
    const std::function<bool(const GroupVersion&, const metav1::APIResource&)>& predicate);
bool supportsAllVerbs(const metav1::APIResource& resource,
                      std::initializer_list<std::string_view> verbs);
/// Returns one element for each resource. Throws DecodeError for a list with an invalid
/// groupVersion.
std::vector<GroupVersionResource> groupVersionResources(const List<metav1::APIResourceList>& lists);

namespace detail {

/// Reads the resources of each version, several at a time: lists in the order of `versions`, and
/// failures. Throws CanceledError on a stop.
Task<ServerResources> fetchVersions(AsyncDiscovery discovery, std::vector<GroupVersion> versions);
/// Moves the resources and failures of `more` to the end of those of `all`.
void append(ServerResources& all, ServerResources&& more);

/// Returns the versions of all groups, in order.
std::vector<GroupVersion> versionsOf(const List<metav1::APIGroup>& groups);

}  // namespace detail

}  // namespace kube

KUBE_DESCRIBE(kube::ServerVersion, major, minor, emulationMajor, emulationMinor,
              minCompatibilityMajor, minCompatibilityMinor, gitVersion, gitCommit, gitTreeState,
              buildDate, goVersion, compiler, platform);
