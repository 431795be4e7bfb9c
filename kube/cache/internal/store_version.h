// The versions that a store has reached, and the waits for later ones. Waits share them with the
// store, and may outlive it.
//
// A store whose namespaces are listed and watched apart has a version for each, and that of the
// whole store is the oldest of them. Namespaces come and go.
//
// Versions may go back: a server that was restored from a backup starts below the ones it had.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
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
  /// Returns whether the version has gone back. `complete`: the store has reached every version.
  bool set(const String& version, bool complete = false);
  /// Returns whether set() has been called: the store has all objects as of some version.
  bool isKnown() const noexcept { return known_.load(std::memory_order_acquire); }
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
  bool complete_ KUBE_GUARDED_BY(versionMutex_) = false;
  std::size_t waiting_ KUBE_GUARDED_BY(versionMutex_) = 0;
  std::atomic<bool> ended_{false};  // set with versionMutex_ held
  std::atomic<bool> known_{false};
};

class StoreVersions {
 public:
  // ---- Setting up, before other threads.

  /// Gives each namespace a version of its own.
  void split() { split_ = true; }
  /// The store has the objects of that namespace alone; of all if it is empty.
  void limitTo(const String& namespaceName) { only_ = namespaceName; }

  // ---- Namespaces. Only of a store that is split.

  void add(const String& namespaceName, std::shared_ptr<StoreVersion> version);
  /// Ends the waits for its version.
  void remove(std::string_view namespaceName);

  /// Notes the version that a part of the store has reached: all() or one that was added. One that
  /// was removed does not count.
  void reached(const std::shared_ptr<StoreVersion>& part, const String& version);
  /// Ends all waits: the store receives nothing more.
  void end();

  /// The version of the whole store.
  const std::shared_ptr<StoreVersion>& all() const noexcept { return all_; }
  /// The version of a namespace, or of all if it is empty; null if the store does not have them.
  std::shared_ptr<StoreVersion> in(std::string_view namespaceName) const;
  /// Returns whether the store has the objects of a namespace, or is about to list them.
  bool cover(std::string_view namespaceName) const { return in(namespaceName) != nullptr; }
  /// Returns whether the store has listed them, too.
  bool know(std::string_view namespaceName) const;

  /// A number that no store has had before, and that changes whenever a version goes back, or a
  /// namespace is added or removed.
  std::uint64_t stamp() const noexcept { return stamp_.load(std::memory_order_acquire); }
  /// How often a version has gone back, and how often a namespace was added.
  struct Changes {
    std::uint64_t back = 0;
    std::uint64_t added = 0;
  };
  Changes changes() const;

  /// As StoreVersion::wait(), for the version of a namespace, or of all that the store has.
  static Task<bool> wait(std::shared_ptr<StoreVersions> of, String version, std::string_view name,
                         Clock::TimePoint deadline, String namespaceName);

 private:
  using Parts = std::map<String, std::shared_ptr<StoreVersion>, std::less<>>;
  bool covers(std::string_view namespaceName) const noexcept {
    return only_.empty() || only_ == namespaceName;
  }
  void setOldest() KUBE_REQUIRES(partsMutex_);
  static std::uint64_t newStamp() noexcept;

  bool split_ = false;
  String only_;
  const std::shared_ptr<StoreVersion> all_ = std::make_shared<StoreVersion>();
  mutable Mutex partsMutex_;  // locked before a version's
  Parts parts_ KUBE_GUARDED_BY(partsMutex_);
  Changes changes_ KUBE_GUARDED_BY(partsMutex_);
  std::atomic<std::uint64_t> stamp_{newStamp()};  // set with partsMutex_ held
};

}  // namespace kube::detail
