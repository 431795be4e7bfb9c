#include "kube/cache/internal/store_version.h"

#include <fmt/core.h>

#include <string>
#include <utility>

#include "kube/base/error.h"
#include "kube/meta/resource_version.h"

namespace kube::detail {

// Counts a wait, so that changes that nobody waits for wake nobody.
class StoreVersion::Waiting {
 public:
  explicit Waiting(StoreVersion& of) : of_(of) { add(1); }
  ~Waiting() { add(-1); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  void add(int n) {
    const Lock lock(of_.versionMutex_);
    of_.waiting_ += static_cast<std::size_t>(n);
  }
  StoreVersion& of_;
};

bool StoreVersion::set(const String& version, bool complete) {
  const Lock lock(versionMutex_);
  const auto order = tryCompareResourceVersions(version, version_);
  version_ = version;
  complete_ = complete;
  known_.store(true, std::memory_order_release);
  if (waiting_ != 0) changed_.notifyAll();
  return order && *order < 0;
}

void StoreVersion::end() {
  const Lock lock(versionMutex_);
  ended_.store(true, std::memory_order_release);
  changed_.notifyAll();
}

// An empty version is that of a store without a list.
bool StoreVersion::reached(std::string_view version) const {
  if (complete_) return true;
  return !version_.empty() && compareResourceVersions(version_, version) >= 0;
}

Task<bool> StoreVersion::wait(std::shared_ptr<StoreVersion> of, String version,
                              std::string_view name, Clock::TimePoint deadline) {
  compareResourceVersions(version, version);  // throws for other texts
  const std::string what(name);
  StoreVersion& self = *of;
  // A store whose versions cannot be compared ends the wait, too: reached() throws below.
  const auto over = [&self, &version]() KUBE_REQUIRES(self.versionMutex_) {
    if (self.complete_) return true;
    if (self.ended_ || self.version_.empty()) return self.ended_.load();
    const auto order = tryCompareResourceVersions(self.version_, version);
    return !order || *order >= 0;
  };
  const Waiting waiting(self);
  const bool decided = co_await self.changed_.waitUntil(over, realClock(), deadline);
  if (!decided) co_return false;
  String at;
  {
    const Lock lock(self.versionMutex_);
    if (self.reached(version)) co_return true;
    at = self.version_;
  }
  throw Error(fmt::format("store of {}: it will not reach version {}: its informer has ended at {}",
                          what, version, at.empty() ? "no version" : "version " + at.str()));
}

// ---- The versions of namespaces.

std::uint64_t StoreVersions::newStamp() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

void StoreVersions::add(const String& namespaceName, std::shared_ptr<StoreVersion> version) {
  const Lock lock(partsMutex_);
  parts_[namespaceName] = std::move(version);
  ++changes_.added;
  stamp_ = newStamp();
  setOldest();
}

void StoreVersions::remove(std::string_view namespaceName) {
  const Lock lock(partsMutex_);
  const auto part = parts_.find(namespaceName);
  if (part == parts_.end()) return;
  part->second->end();
  parts_.erase(part);
  stamp_ = newStamp();
  setOldest();
}

void StoreVersions::reached(const std::shared_ptr<StoreVersion>& part, const String& version) {
  const Lock lock(partsMutex_);
  const bool oldest = split_ && part->get() == all_->get();
  if (part->set(version)) {
    ++changes_.back;
    stamp_ = newStamp();
  }
  if (!split_ || part == all_) return;
  // Only a version that was the oldest, or is now, changes that of the whole store.
  const auto order = tryCompareResourceVersions(all_->get(), version);
  if (oldest || !order || *order > 0) setOldest();
}

// Without namespaces, the store has all objects that it should have.
void StoreVersions::setOldest() {
  std::optional<String> oldest;
  for (const auto& [name, part] : parts_) {
    const String version = part->get();
    const auto order = oldest ? tryCompareResourceVersions(version, *oldest) : std::nullopt;
    if (!oldest || version.empty() || (order && *order < 0)) oldest = version;
    if (version.empty()) break;
  }
  all_->set(oldest.value_or(String()), parts_.empty());
}

void StoreVersions::end() {
  const Lock lock(partsMutex_);
  for (const auto& [name, part] : parts_) part->end();
  all_->end();
}

std::shared_ptr<StoreVersion> StoreVersions::in(std::string_view namespaceName) const {
  if (!split_) return covers(namespaceName) ? all_ : nullptr;
  const Lock lock(partsMutex_);
  const auto part = parts_.find(namespaceName);
  return part != parts_.end() ? part->second : nullptr;
}

bool StoreVersions::know(std::string_view namespaceName) const {
  if (!split_) return covers(namespaceName) && all_->isKnown();
  const auto part = in(namespaceName);
  return part != nullptr && part->isKnown();
}

StoreVersions::Changes StoreVersions::changes() const {
  const Lock lock(partsMutex_);
  return changes_;
}

Task<bool> StoreVersions::wait(std::shared_ptr<StoreVersions> of, String version,
                               std::string_view name, Clock::TimePoint deadline,
                               String namespaceName) {
  auto which = namespaceName.empty() ? of->all() : of->in(namespaceName);
  if (which == nullptr) {
    throw Error(
        fmt::format("store of {}: it will not reach version {}: it does not have the "
                    "namespace {}",
                    name, version, namespaceName));
  }
  co_return co_await StoreVersion::wait(std::move(which), std::move(version), name, deadline);
}

}  // namespace kube::detail
