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
                                     : std::make_shared<const detail::DiscoveryFiles>(
                                           options_.folder, options_.ttl, clock)) {}

CachedDiscoveryClient::CachedDiscoveryClient(DiscoveryClient client, DiscoveryCacheOptions options,
                                             Clock& clock)
    : CachedDiscoveryClient(std::make_shared<const DiscoveryClient>(std::move(client)),
                            std::move(options), clock) {}

CachedDiscoveryClient::~CachedDiscoveryClient() = default;

Task<CachedDiscoveryClient::Known> CachedDiscoveryClient::known() const {
  const Known current = snapshot_.current();
  if (current != nullptr && clock_.now() < current->expires) co_return current;
  const auto fetch = [this] { return load(); };
  co_return co_await snapshot_.getNewer(current, fetch);
}

Task<CachedDiscoveryClient::Known> CachedDiscoveryClient::load() const {
  if (files_ != nullptr && !invalidated_) {
    const Known found = co_await fromFiles();
    if (found != nullptr) co_return found;
  }
  auto result = std::make_shared<Snapshot>();
  result->read = clock_.now();
  result->expires = clock_.deadlineAfter(options_.ttl);
  result->served = co_await server().serverGroupsAndResources();
  result->fromServer = discovery_->fresh();
  co_await write(result->served);
  co_return result;
}

namespace {

struct FromFiles {
  ServerResources served = {};
  Clock::Duration oldest = {};
  std::vector<GroupVersion> missing = {};
};

// Returns none if there is no file of groups.
std::optional<FromFiles> readAll(const detail::DiscoveryFiles& files) {
  auto groups = files.groups();
  if (!groups) return std::nullopt;
  FromFiles result;
  result.oldest = groups->age;
  result.served.groups = std::move(groups->value.groups);
  for (const GroupVersion& version : detail::versionsOf(result.served.groups)) {
    auto list = files.resources(version);
    if (!list) {
      result.missing.push_back(version);
      continue;
    }
    result.oldest = std::max(result.oldest, list->age);
    result.served.resources.push_back(std::move(list->value));
  }
  return result;
}

void writeAll(const detail::DiscoveryFiles& files, const ServerResources& served) {
  for (const metav1::APIResourceList& list : served.resources) {
    if (const auto version = GroupVersion::tryParse(list.groupVersion)) {
      files.write(*version, list);
    }
  }
  // Groups do not contain their stale versions: a file of such groups would hide these for `ttl`.
  if (std::ranges::any_of(served.failed, &DiscoveryFailure::stale)) return;
  files.write({.groups = served.groups});
}

}  // namespace

Task<CachedDiscoveryClient::Known> CachedDiscoveryClient::fromFiles() const {
  auto read = [files = files_](const std::stop_token&) { return readAll(*files); };
  auto found = co_await detail::onThread(std::move(read));
  if (!found) co_return nullptr;
  auto result = std::make_shared<Snapshot>();
  result->served = std::move(found->served);
  if (!found->missing.empty()) {
    ServerResources rest = co_await detail::fetchVersions(server(), std::move(found->missing));
    co_await write(rest);
    detail::append(result->served, std::move(rest));
    order(result->served);
  }
  result->read = clock_.now();
  result->expires = clock_.deadlineAfter(options_.ttl - std::max(found->oldest, Clock::Duration{}));
  co_return result;
}

Task<CachedDiscoveryClient::Known> CachedDiscoveryClient::retried(
    Known before, std::vector<GroupVersion> versions) const {
  auto result = std::make_shared<Snapshot>(*before);
  std::erase_if(result->served.failed, [&](const DiscoveryFailure& failure) {
    return std::ranges::find(versions, failure.version) != versions.end();
  });
  ServerResources again = co_await detail::fetchVersions(server(), std::move(versions));
  co_await write(again);
  detail::append(result->served, std::move(again));
  order(result->served);
  co_return result;
}

Task<void> CachedDiscoveryClient::write(ServerResources served) const {
  if (files_ == nullptr) co_return;
  auto writing = [files = files_, served](const std::stop_token&) { writeAll(*files, served); };
  co_await detail::onThread(std::move(writing));
}

Task<ServerVersion> CachedDiscoveryClient::fetchVersion() const { return server().serverVersion(); }

Task<metav1::APIGroupList> CachedDiscoveryClient::fetchGroups() const {
  const Known current = co_await known();
  metav1::APIGroupList list;
  list.groups = current->served.groups;
  co_return list;
}

Task<metav1::APIResourceList> CachedDiscoveryClient::fetchResources(GroupVersion version) const {
  Known current = co_await known();
  const DiscoveryFailure* failure = failureOf(current->served, version);
  if (failure != nullptr && isTransient(*failure)) {
    const auto again = [this, current, version] {
      return retried(current, std::vector<GroupVersion>{version});
    };
    current = co_await snapshot_.getNewer(current, again);
    failure = failureOf(current->served, version);
  }
  if (failure != nullptr) std::rethrow_exception(failure->error);
  if (const metav1::APIResourceList* list = current->served.find(version)) co_return *list;
  if (version == GroupVersion{"", "v1"}) {
    metav1::APIResourceList none;
    none.groupVersion = version.str();
    co_return none;
  }
  throw ApiError(status::notFound({"", "groupversions"}, version.str()),
                 fmt::format("get the resources of {} from the discovery cache", version));
}

Task<ServerResources> CachedDiscoveryClient::fetchAll() const {
  const Known current = co_await known();
  std::vector<GroupVersion> failed;
  for (const DiscoveryFailure& failure : current->served.failed) {
    if (isTransient(failure)) failed.push_back(failure.version);
  }
  if (failed.empty()) co_return current->served;
  const auto again = [this, current, failed] { return retried(current, failed); };
  const Known now = co_await snapshot_.getNewer(current, again);
  co_return now->served;
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
