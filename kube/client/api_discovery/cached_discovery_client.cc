#include "kube/client/api_discovery/cached_discovery_client.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>

#include "kube/base/internal/text.h"
#include "kube/client/api_discovery/internal/discovery_files.h"
#include "kube/http/internal/files.h"
#include "kube/meta/api_error.h"

namespace kube {

namespace {

// Returns whether another request may well succeed.
bool isTransient(const DiscoveryFailure& failure) {
  try {
    std::rethrow_exception(failure.error);
  } catch (const ApiError& error) {
    return error.code() >= 500 || isTooManyRequests(error);
  } catch (const Error& error) {
    return error.kind() == ErrorKind::Transport || error.kind() == ErrorKind::Timeout;
  } catch (...) {
    return false;
  }
}

// Sorts the lists in the order of the groups.
void order(ServerResources& served) {
  std::unordered_map<std::string, std::size_t> places;
  for (const GroupVersion& version : detail::versionsOf(served.groups)) {
    places.emplace(version.str(), places.size());
  }
  std::vector<metav1::APIResourceList> lists;
  for (metav1::APIResourceList& list : served.resources) lists.push_back(std::move(list));
  const auto place = [&](const metav1::APIResourceList& list) {
    const auto found = places.find(list.groupVersion.str());
    return found != places.end() ? found->second : places.size();
  };
  std::ranges::stable_sort(lists, {}, place);
  served.resources.assign(lists.begin(), lists.end());
}

const DiscoveryFailure* failureOf(const ServerResources& served, const GroupVersion& version) {
  const auto found = std::ranges::find(served.failed, version, &DiscoveryFailure::version);
  return found != served.failed.end() ? &*found : nullptr;
}

}  // namespace

std::string discoveryCacheFolder(const Config& config) {
  std::string folder = detail::environment("KUBECACHEDIR");
  if (folder.empty()) {
    folder = detail::homeFolder();
    if (folder.empty()) return {};
    folder += "/.kube/cache";
  }
  const ServerUrl server = config.serverUrl();
  std::string name = server.authority + server.path;
  for (char& c : name) {
    const bool keep =
        detail::isAlphanumeric(c) || c == '_' || c == '/' || c == '.' || c == '(' || c == ')';
    if (!keep) c = '_';
  }
  // A path in the address must not lead out of the folder.
  for (std::size_t at; (at = name.find("..")) != std::string::npos;) name.replace(at, 2, "__");
  return folder + "/discovery/" + name;
}

struct CachedDiscoveryClient::Snapshot {
  ServerResources served;
  Clock::TimePoint read;     // when the snapshot was made
  Clock::TimePoint expires;  // when it must not be used any more
  bool fromServer = false;   // all of it comes from the server
};

CachedDiscoveryClient::CachedDiscoveryClient(DiscoveryPtr discovery, DiscoveryCacheOptions options,
                                             Clock& clock)
    : discovery_(std::move(discovery)),
      options_(std::move(options)),
      clock_(clock),
      files_(options_.folder.empty() ? nullptr
                                     : std::make_unique<const detail::DiscoveryFiles>(
                                           options_.folder, options_.ttl, clock)) {}

CachedDiscoveryClient::CachedDiscoveryClient(DiscoveryClient client, DiscoveryCacheOptions options,
                                             Clock& clock)
    : CachedDiscoveryClient(std::make_shared<const DiscoveryClient>(std::move(client)),
                            std::move(options), clock) {}

CachedDiscoveryClient::~CachedDiscoveryClient() = default;

CachedDiscoveryClient::Known CachedDiscoveryClient::known(const std::stop_token& stop) const {
  const Known current = snapshot_.current();
  if (current != nullptr && clock_.now() < current->expires) return current;
  return snapshot_.getNewer(
      current, [&] { return load(stop); }, stop);
}

CachedDiscoveryClient::Known CachedDiscoveryClient::load(const std::stop_token& stop) const {
  if (files_ != nullptr && !invalidated_) {
    if (Known found = fromFiles(stop)) return found;
  }
  auto result = std::make_shared<Snapshot>();
  result->read = clock_.now();
  result->expires = clock_.deadlineAfter(options_.ttl);
  result->served = discovery_->serverGroupsAndResources(stop);
  result->fromServer = discovery_->fresh();
  write(result->served);
  return result;
}

CachedDiscoveryClient::Known CachedDiscoveryClient::fromFiles(const std::stop_token& stop) const {
  auto groups = files_->groups();
  if (!groups) return nullptr;
  auto result = std::make_shared<Snapshot>();
  Clock::Duration oldest = groups->age;
  result->served.groups = std::move(groups->value.groups);
  std::vector<GroupVersion> missing;
  for (const GroupVersion& version : detail::versionsOf(result->served.groups)) {
    auto list = files_->resources(version);
    if (!list) {
      missing.push_back(version);
      continue;
    }
    oldest = std::max(oldest, list->age);
    result->served.resources.push_back(std::move(list->value));
  }
  if (!missing.empty()) {
    ServerResources rest;
    detail::fetchVersions(*discovery_, missing, rest, stop);
    write(rest);
    for (auto& list : rest.resources) result->served.resources.push_back(std::move(list));
    result->served.failed = std::move(rest.failed);
    order(result->served);
  }
  result->read = clock_.now();
  result->expires = clock_.deadlineAfter(options_.ttl - std::max(oldest, Clock::Duration{}));
  return result;
}

CachedDiscoveryClient::Known CachedDiscoveryClient::retried(const Known& before,
                                                            std::span<const GroupVersion> versions,
                                                            const std::stop_token& stop) const {
  auto result = std::make_shared<Snapshot>(*before);
  std::erase_if(result->served.failed, [&](const DiscoveryFailure& failure) {
    return std::ranges::find(versions, failure.version) != versions.end();
  });
  ServerResources again;
  detail::fetchVersions(*discovery_, versions, again, stop);
  write(again);
  for (auto& list : again.resources) result->served.resources.push_back(std::move(list));
  for (auto& failure : again.failed) result->served.failed.push_back(std::move(failure));
  order(result->served);
  return result;
}

void CachedDiscoveryClient::write(const ServerResources& served) const {
  if (files_ == nullptr) return;
  for (const metav1::APIResourceList& list : served.resources) {
    if (const auto version = GroupVersion::tryParse(list.groupVersion)) {
      files_->write(*version, list);
    }
  }
  // Groups do not contain their stale versions: a file of such groups would hide these for `ttl`.
  if (std::ranges::any_of(served.failed, &DiscoveryFailure::stale)) return;
  files_->write({.groups = served.groups});
}

ServerVersion CachedDiscoveryClient::serverVersion(const std::stop_token& stop) const {
  return discovery_->serverVersion(stop);
}

metav1::APIGroupList CachedDiscoveryClient::serverGroups(const std::stop_token& stop) const {
  return {.groups = known(stop)->served.groups};
}

metav1::APIResourceList CachedDiscoveryClient::serverResourcesForGroupVersion(
    const GroupVersion& version, const std::stop_token& stop) const {
  Known current = known(stop);
  const DiscoveryFailure* failure = failureOf(current->served, version);
  if (failure != nullptr && isTransient(*failure)) {
    current = snapshot_.getNewer(
        current,
        [&] {
          return retried(current, {&version, 1}, stop);
        },
        stop);
    failure = failureOf(current->served, version);
  }
  if (failure != nullptr) std::rethrow_exception(failure->error);
  if (const metav1::APIResourceList* list = current->served.find(version)) return *list;
  if (version == GroupVersion{"", "v1"}) return {.groupVersion = version.str()};
  throw ApiError(status::notFound({"", "groupversions"}, version.str()),
                 fmt::format("get the resources of {} from the discovery cache", version));
}

ServerResources CachedDiscoveryClient::serverGroupsAndResources(const std::stop_token& stop) const {
  const Known current = known(stop);
  std::vector<GroupVersion> again;
  for (const DiscoveryFailure& failure : current->served.failed) {
    if (isTransient(failure)) again.push_back(failure.version);
  }
  if (again.empty()) return current->served;
  return snapshot_
      .getNewer(
          current, [&] { return retried(current, again, stop); }, stop)
      ->served;
}

bool CachedDiscoveryClient::fresh() const {
  const Known current = snapshot_.current();
  return current != nullptr && current->fromServer &&
         clock_.now() - current->read < options_.freshFor;
}

void CachedDiscoveryClient::invalidate() const {
  // In this order: everything that is read from now on is new.
  invalidated_ = true;
  discovery_->invalidate();
  snapshot_.forget();
}

}  // namespace kube
