#include "kube/client/api_discovery/internal/discovery_files.h"

#include <algorithm>

#include "kube/base/internal/text.h"
#include "kube/base/log.h"
#include "kube/codec/json.h"
#include "kube/http/internal/files.h"

namespace kube::detail {

namespace {

constexpr std::chrono::minutes kClockSkew{1};  // a file from further in the future is not used

const Logger& logger() {
  static const Logger log("discovery");
  return log;
}

// Names come from the server. A name that could lead out of the folder does not become a path.
bool isFileName(std::string_view name) {
  return !name.empty() && name.size() < 256 && name.front() != '.' &&
         std::ranges::all_of(
             name, [](char c) { return isAlphanumeric(c) || c == '.' || c == '-' || c == '_'; });
}

}  // namespace

DiscoveryFiles::DiscoveryFiles(std::string folder, Clock::Duration ttl, Clock& clock)
    : folder_(std::move(folder)), ttl_(ttl), clock_(clock) {}

// Returns an empty path for a version that gets no file.
std::string DiscoveryFiles::pathOf(const GroupVersion& version) const {
  if (!isFileName(version.version)) return {};
  if (!version.group.empty() && !isFileName(version.group)) return {};
  return folder_ + "/" + version.str() + "/serverresources.json";
}

template <class T>
std::optional<DiscoveryFiles::Aged<T>> DiscoveryFiles::read(const std::string& path) const {
  const std::optional<Clock::WallTime> modified = modifiedAt(path);
  if (!modified) return std::nullopt;
  const Clock::Duration age = clock_.wallNow() - *modified;
  if (age >= ttl_ || age < -kClockSkew) return std::nullopt;
  try {
    const std::optional<std::string> text = findFile(path);
    if (!text) return std::nullopt;
    return Aged<T>{fromJson<T>(*text), age};
  } catch (const Error& error) {
    logger().debug("the file {} is not used: {}", path, error.what());
    return std::nullopt;
  }
}

std::optional<DiscoveryFiles::Aged<metav1::APIGroupList>> DiscoveryFiles::groups() const {
  auto found = read<metav1::APIGroupList>(folder_ + "/servergroups.json");
  if (found && found->value.groups.empty()) return std::nullopt;
  return found;
}

std::optional<DiscoveryFiles::Aged<metav1::APIResourceList>> DiscoveryFiles::resources(
    const GroupVersion& version) const {
  const std::string path = pathOf(version);
  if (path.empty()) return std::nullopt;
  auto found = read<metav1::APIResourceList>(path);
  if (found && (found->value.resources.empty() || found->value.groupVersion != version.str())) {
    return std::nullopt;
  }
  return found;
}

void DiscoveryFiles::write(const metav1::APIGroupList& groups) const {
  if (groups.groups.empty()) return;
  write(folder_ + "/servergroups.json", toJson(groups));
}

void DiscoveryFiles::write(const GroupVersion& version,
                           const metav1::APIResourceList& resources) const {
  const std::string path = pathOf(version);
  if (path.empty() || resources.resources.empty()) return;
  write(path, toJson(resources));
}

void DiscoveryFiles::write(const std::string& path, const std::string& content) const {
  if (!writable_) return;
  try {
    // There is no need to wait for the disk: a file that a crash leaves empty is not used.
    replaceFile(path, content,
                {.durable = false, .folderMode = 0750, .modified = clock_.wallNow()});
  } catch (const Error& error) {
    writable_ = false;
    logger().debug("discovery is not kept in files any more: {}", error.what());
  }
}

}  // namespace kube::detail
