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

void StoreVersion::set(const String& version) {
  const Lock lock(versionMutex_);
  version_ = version;
  if (waiting_ != 0) changed_.notifyAll();
}

void StoreVersion::end() {
  const Lock lock(versionMutex_);
  ended_.store(true, std::memory_order_release);
  changed_.notifyAll();
}

// An empty version is that of a store without a list.
bool StoreVersion::reached(std::string_view version) const {
  return !version_.empty() && compareResourceVersions(version_, version) >= 0;
}

Task<bool> StoreVersion::wait(std::shared_ptr<StoreVersion> of, String version,
                              std::string_view name, Clock::TimePoint deadline) {
  compareResourceVersions(version, version);  // throws for other texts
  const std::string what(name);
  StoreVersion& self = *of;
  // A store whose versions cannot be compared ends the wait, too: reached() throws below.
  const auto over = [&self, &version]() KUBE_REQUIRES(self.versionMutex_) {
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

}  // namespace kube::detail
