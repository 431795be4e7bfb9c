#include "kube/client/api_discovery/discovery.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <unordered_map>

#include "kube/base/joined.h"
#include "kube/base/when.h"
#include "kube/meta/api_error.h"

namespace kube {

namespace {

constexpr std::size_t kFetchers = 8;  // requests at a time, to servers that need one per version

std::string failuresText(const std::vector<DiscoveryFailure>& failures) {
  std::vector<std::string> texts;
  for (const DiscoveryFailure& failure : failures) {
    texts.push_back(fmt::format("{}: {}", failure.version, failure.message));
  }
  std::ranges::sort(texts);
  return fmt::format("unable to retrieve the complete list of server APIs: {}",
                     joined(texts, ", "));
}

bool isSubresource(const metav1::APIResource& resource) {
  return resource.name.view().find('/') != std::string_view::npos;
}

/// A task of an object, which it keeps.
template <class T>
Task<T> keeping(DiscoveryPtr discovery, Task<T> task) {
  const DiscoveryPtr kept = std::move(discovery);
  Task<T> own = std::move(task);  // destroyed before the other
  co_return co_await std::move(own);
}

}  // namespace

const metav1::APIResourceList* ServerResources::find(const GroupVersion& version) const {
  const std::string name = version.str();
  for (const metav1::APIResourceList& list : resources) {
    if (list.groupVersion == name) return &list;
  }
  return nullptr;
}

const ServerResources& ServerResources::complete() const {
  if (!failed.empty()) throw GroupDiscoveryError(failed);
  return *this;
}

GroupDiscoveryError::GroupDiscoveryError(std::vector<DiscoveryFailure> failures)
    : Error(failuresText(failures)),
      failures_(std::make_shared<const std::vector<DiscoveryFailure>>(std::move(failures))) {}

GroupDiscoveryError::~GroupDiscoveryError() = default;

bool isGroupDiscoveryFailed(const std::exception& error) noexcept {
  return dynamic_cast<const GroupDiscoveryError*>(&error) != nullptr;
}

StaleGroupVersionError::StaleGroupVersionError(const GroupVersion& version)
    : Error(fmt::format("stale GroupVersion discovery: {}", version)) {}

Discovery::~Discovery() = default;

AsyncDiscovery Discovery::async() const {
  return AsyncDiscovery(DiscoveryPtr(DiscoveryPtr(), this));
}

ServerVersion Discovery::serverVersion(const std::stop_token& stop) const {
  return detail::runBlocking(fetchVersion(), stop);
}
metav1::APIGroupList Discovery::serverGroups(const std::stop_token& stop) const {
  return detail::runBlocking(fetchGroups(), stop);
}
metav1::APIResourceList Discovery::serverResourcesForGroupVersion(
    const GroupVersion& version, const std::stop_token& stop) const {
  return detail::runBlocking(fetchResources(version), stop);
}
ServerResources Discovery::serverGroupsAndResources(const std::stop_token& stop) const {
  return detail::runBlocking(fetchAll(), stop);
}
ServerResources Discovery::serverPreferredResources(const std::stop_token& stop) const {
  return detail::runBlocking(async().serverPreferredResources(), stop);
}
ServerResources Discovery::serverPreferredNamespacedResources(const std::stop_token& stop) const {
  return detail::runBlocking(async().serverPreferredNamespacedResources(), stop);
}

Task<ServerVersion> AsyncDiscovery::serverVersion() const {
  return keeping(discovery_, discovery_->fetchVersion());
}
Task<metav1::APIGroupList> AsyncDiscovery::serverGroups() const {
  return keeping(discovery_, discovery_->fetchGroups());
}
Task<metav1::APIResourceList> AsyncDiscovery::serverResourcesForGroupVersion(
    const GroupVersion& version) const {
  return keeping(discovery_, discovery_->fetchResources(version));
}
Task<ServerResources> AsyncDiscovery::serverGroupsAndResources() const {
  return keeping(discovery_, discovery_->fetchAll());
}

namespace {

Task<ServerResources> preferredOf(Task<ServerResources> all) {
  ServerResources served = co_await std::move(all);
  std::unordered_map<std::string_view, const metav1::APIResourceList*> byVersion;
  for (const metav1::APIResourceList& list : std::as_const(served.resources)) {
    byVersion.emplace(list.groupVersion.view(), &list);
  }
  List<metav1::APIResourceList> preferred;
  for (const metav1::APIGroup& group : std::as_const(served.groups)) {
    // The version that each resource is taken from: the first, unless the preferred one has the
    // resource.
    std::unordered_map<std::string_view, std::string_view> chosen;
    const auto forEach = [&](auto use) {
      for (const metav1::GroupVersionForDiscovery& version : group.versions) {
        const auto known = byVersion.find(version.groupVersion.view());
        if (known != byVersion.end()) use(version.version.view(), *known->second);
      }
    };
    forEach([&](std::string_view version, const metav1::APIResourceList& list) {
      for (const metav1::APIResource& resource : list.resources) {
        if (isSubresource(resource)) continue;
        const auto [at, isNew] = chosen.emplace(resource.name.view(), version);
        if (!isNew && version == group.preferredVersion->version) at->second = version;
      }
    });
    forEach([&](std::string_view version, const metav1::APIResourceList& list) {
      metav1::APIResourceList kept{.groupVersion = list.groupVersion};
      for (const metav1::APIResource& resource : list.resources) {
        if (isSubresource(resource) || chosen[resource.name.view()] != version) continue;
        kept.resources.push_back(resource);
      }
      if (!kept.resources.empty()) preferred.push_back(std::move(kept));
    });
  }
  served.resources = std::move(preferred);
  co_return served;
}

Task<ServerResources> namespacedOf(Task<ServerResources> all) {
  ServerResources served = co_await std::move(all);
  served.resources = filteredBy(
      served.resources,
      [](const GroupVersion&, const metav1::APIResource& resource) { return resource.namespaced; });
  co_return served;
}

}  // namespace

Task<ServerResources> AsyncDiscovery::serverPreferredResources() const {
  return preferredOf(serverGroupsAndResources());
}
Task<ServerResources> AsyncDiscovery::serverPreferredNamespacedResources() const {
  return namespacedOf(serverPreferredResources());
}

Task<bool> isResourceEnabled(AsyncDiscovery discovery, GroupVersionResource resource) {
  try {
    const metav1::APIResourceList list =
        co_await discovery.serverResourcesForGroupVersion(resource.groupVersion());
    co_return std::ranges::any_of(list.resources, [&](const metav1::APIResource& served) {
      return served.name == resource.resource;
    });
  } catch (const ApiError& error) {
    if (!isNotFound(error)) throw;
  }
  co_return false;
}
bool isResourceEnabled(const Discovery& discovery, const GroupVersionResource& resource,
                       const std::stop_token& stop) {
  return detail::runBlocking(isResourceEnabled(discovery.async(), resource), stop);
}

Task<bool> serverSupportsVersion(AsyncDiscovery discovery, GroupVersion version) {
  const metav1::APIGroupList groups = co_await discovery.serverGroups();
  const std::vector<GroupVersion> served = detail::versionsOf(groups.groups);
  co_return served.empty() || std::ranges::find(served, version) != served.end();
}
bool serverSupportsVersion(const Discovery& discovery, const GroupVersion& version,
                           const std::stop_token& stop) {
  return detail::runBlocking(serverSupportsVersion(discovery.async(), version), stop);
}

List<metav1::APIResourceList> filteredBy(
    const List<metav1::APIResourceList>& lists,
    const std::function<bool(const GroupVersion&, const metav1::APIResource&)>& predicate) {
  List<metav1::APIResourceList> result;
  for (const metav1::APIResourceList& list : lists) {
    const GroupVersion version = GroupVersion::tryParse(list.groupVersion).value_or(GroupVersion{});
    metav1::APIResourceList kept{.groupVersion = list.groupVersion};
    for (const metav1::APIResource& resource : list.resources) {
      if (predicate(version, resource)) kept.resources.push_back(resource);
    }
    if (!kept.resources.empty()) result.push_back(std::move(kept));
  }
  return result;
}

bool supportsAllVerbs(const metav1::APIResource& resource,
                      std::initializer_list<std::string_view> verbs) {
  return std::ranges::all_of(verbs, [&](std::string_view verb) {
    return std::ranges::any_of(resource.verbs, [&](const String& has) { return has == verb; });
  });
}

std::vector<GroupVersionResource> groupVersionResources(
    const List<metav1::APIResourceList>& lists) {
  std::vector<GroupVersionResource> result;
  for (const metav1::APIResourceList& list : lists) {
    const GroupVersion version = GroupVersion::parse(list.groupVersion);
    for (const metav1::APIResource& resource : list.resources) {
      result.push_back(version.withResource(resource.name));
    }
  }
  return result;
}

namespace detail {

std::vector<GroupVersion> versionsOf(const List<metav1::APIGroup>& groups) {
  std::vector<GroupVersion> versions;
  for (const metav1::APIGroup& group : groups) {
    for (const metav1::GroupVersionForDiscovery& version : group.versions) {
      versions.push_back({group.name, version.version});
    }
  }
  return versions;
}

namespace {

struct VersionAnswer {
  std::optional<metav1::APIResourceList> list = {};
  DiscoveryFailure failure = {};
};

// Old servers need a request for each version; a few tasks share them.
Task<> fetchNext(const AsyncDiscovery& discovery, const std::vector<GroupVersion>& versions,
                 std::vector<VersionAnswer>& answers, std::atomic<std::size_t>& next) {
  for (std::size_t i = next++; i < versions.size(); i = next++) {
    try {
      answers[i].list = co_await discovery.serverResourcesForGroupVersion(versions[i]);
    } catch (const std::exception& error) {
      answers[i].failure = {versions[i], error.what(), std::current_exception(), false};
    }
  }
}

}  // namespace

Task<ServerResources> fetchVersions(AsyncDiscovery discovery, std::vector<GroupVersion> versions) {
  std::vector<VersionAnswer> answers(versions.size());
  std::atomic<std::size_t> next = 0;
  std::vector<Task<>> fetchers;
  for (std::size_t i = 0; i < std::min(kFetchers, versions.size()); ++i) {
    fetchers.push_back(fetchNext(discovery, versions, answers, next));
  }
  co_await whenAll(std::move(fetchers));
  const std::stop_token stop = co_await taskStop();
  if (stop.stop_requested()) throw CanceledError("discovery: canceled");
  ServerResources result;
  for (VersionAnswer& answer : answers) {
    if (answer.list) {
      result.resources.push_back(*std::move(answer.list));
    } else {
      result.failed.push_back(std::move(answer.failure));
    }
  }
  co_return result;
}

void append(ServerResources& all, ServerResources&& more) {
  for (auto& list : more.resources) all.resources.push_back(std::move(list));
  for (auto& failure : more.failed) all.failed.push_back(std::move(failure));
}

}  // namespace detail

}  // namespace kube
