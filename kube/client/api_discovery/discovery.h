// What a server serves: its version, groups, their versions, and the resources of each.
//
//   std::shared_ptr<const kube::Discovery> discovery = ...;     // a client, or a cache over one
//   kube::ServerResources served = discovery->serverGroupsAndResources();
//   for (const auto& list : served.resources)
//     for (const auto& resource : list.resources) ... list.groupVersion, resource.name
//   for (const auto& failure : served.failed) ... failure.version, failure.message
//
// A server may be unable to say everything: one group-version is served by another program that is
// down, say. That is no exception: what could be read is there, and the rest is in `failed`. Who
// cannot do with a part calls complete(), which throws GroupDiscoveryError. Exceptions are for when
// nothing could be read: ApiError and those of Request.
//
// DiscoveryClient (discovery_client.h) asks the server each time; CachedDiscoveryClient
// (cached_discovery_client.h) remembers, in memory and on disk. A RestMapper is made of either by
// discoveryRestMapper (discovery_rest_mapper.h).
//
// Thread safety: every method of every Discovery may be called from any thread.
#pragma once

#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/error.h"
#include "kube/base/list.h"
#include "kube/meta/describe.h"
#include "kube/meta/gvk.h"
#include "kube/meta/v1.h"

namespace kube {

/// What /version tells.
struct ServerVersion {
  String major;
  String minor;  // may have a "+" behind the number
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
  /// The server knows the version, and says that what it knows is out of date; `error` is a
  /// StaleGroupVersionError.
  bool stale = false;
};

struct ServerResources {
  /// The core group first, then the others in the order of the server's preference.
  List<metav1::APIGroup> groups = {};
  /// A list for each version of each group, in the order of the groups. Subresources, as
  /// "pods/log", are among them.
  List<metav1::APIResourceList> resources = {};
  /// What is missing.
  std::vector<DiscoveryFailure> failed = {};

  /// The resources of a version; null if there is no such list.
  const metav1::APIResourceList* find(const GroupVersion& version) const;
  /// Itself. Throws GroupDiscoveryError if anything is missing.
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

class Discovery {
 public:
  virtual ~Discovery();

  virtual ServerVersion serverVersion(const std::stop_token& stop = {}) const = 0;
  virtual metav1::APIGroupList serverGroups(const std::stop_token& stop = {}) const = 0;
  /// Throws an ApiError (isNotFound) for a version that is not served. Of the core group, that is
  /// an empty list: servers that extend the API have none.
  virtual metav1::APIResourceList serverResourcesForGroupVersion(
      const GroupVersion& version, const std::stop_token& stop = {}) const = 0;
  virtual ServerResources serverGroupsAndResources(const std::stop_token& stop = {}) const = 0;

  /// Each resource in one version only: its group's preferred one, or the first that has it.
  /// Without subresources.
  ServerResources serverPreferredResources(const std::stop_token& stop = {}) const;
  ServerResources serverPreferredNamespacedResources(const std::stop_token& stop = {}) const;

  /// Whether asking the server again would bring nothing new.
  virtual bool fresh() const { return true; }
  /// From now on nothing is answered that was read from the server before.
  virtual void invalidate() const {}

 protected:
  Discovery() = default;
  Discovery(const Discovery&) = default;
  Discovery& operator=(const Discovery&) = default;
};

/// How those who use one hold it.
using DiscoveryPtr = std::shared_ptr<const Discovery>;

// ---- Questions.

/// Whether the server has this resource in this version.
bool isResourceEnabled(const Discovery& discovery, const GroupVersionResource& resource,
                       const std::stop_token& stop = {});
/// Whether the server has this version of the group. Of a server that names no version at all,
/// because it tells nothing to this user, it is assumed.
bool serverSupportsVersion(const Discovery& discovery, const GroupVersion& version,
                           const std::stop_token& stop = {});

/// Those for which the predicate holds; lists that become empty are left out.
List<metav1::APIResourceList> filteredBy(
    const List<metav1::APIResourceList>& lists,
    const std::function<bool(const GroupVersion&, const metav1::APIResource&)>& predicate);
bool supportsAllVerbs(const metav1::APIResource& resource,
                      std::initializer_list<std::string_view> verbs);
/// One for each resource. Throws DecodeError for a list whose groupVersion is none.
std::vector<GroupVersionResource> groupVersionResources(const List<metav1::APIResourceList>& lists);

namespace detail {

/// Asks for the resources of each version, several at a time, and adds what comes to `served`:
/// lists in the order of `versions`, and failures. Throws CanceledError on a stop.
void fetchVersions(const Discovery& discovery, std::span<const GroupVersion> versions,
                   ServerResources& served, const std::stop_token& stop);

/// The versions of all groups, in order.
std::vector<GroupVersion> versionsOf(const List<metav1::APIGroup>& groups);

}  // namespace detail

}  // namespace kube

KUBE_DESCRIBE(kube::ServerVersion, major, minor, emulationMajor, emulationMinor,
              minCompatibilityMajor, minCompatibilityMinor, gitVersion, gitCommit, gitTreeState,
              buildDate, goVersion, compiler, platform);
