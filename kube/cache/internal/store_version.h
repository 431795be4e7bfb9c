// The version that a store has reached, and the waits for later ones. Waits share it with the
// store, and may outlive it.
//
// Versions may go back: a server that was restored from a backup starts below the ones it had.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string_view>

#include "kube/base/clock.h"
#include "kube/base/internal/condition.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/string.h"
#include "kube/base/task.h"

namespace kube::detail {

class StoreVersion {
 public:
  String get() const {
    const Lock lock(versionMutex_);
    return version_;
  }
  void set(const String& version);
  /// Ends all waits: the store receives nothing more.
  void end();
  bool ended() const noexcept { return ended_.load(std::memory_order_acquire); }

  /// Waits until the store has reached a version. Returns false at the deadline, and if a stop is
  /// requested. Throws Error once the store has ended below that version, and for texts that are
  /// not versions. `name` is that of the objects.
  static Task<bool> wait(std::shared_ptr<StoreVersion> of, String version, std::string_view name,
                         Clock::TimePoint deadline);

 private:
  class Waiting;
  bool reached(std::string_view version) const KUBE_REQUIRES(versionMutex_);

  mutable Mutex versionMutex_;
  Condition changed_{versionMutex_};
  String version_ KUBE_GUARDED_BY(versionMutex_);
  std::size_t waiting_ KUBE_GUARDED_BY(versionMutex_) = 0;
  std::atomic<bool> ended_{false};  // set with versionMutex_ held
};

}  // namespace kube::detail
