// The objects that a program has written and its cache has not received yet: an overlay, by which
// reads of the cache show the program's own writes at once.
//
// It keeps each written object until the store has reached the object's version, and each deleted
// object's uid until the store no longer shows it. Entries are dropped by the version of the store,
// or of its part for the namespace, not of the object: so nothing stays that the store has seen and
// forgotten. Another store, and a namespace that is added, may begin with an older list: then reads
// ask the server until it has reached all own writes.
//
// Memory is bounded: if there are too many entries, or an entry has waited for too long because the
// watch is broken, it is dropped, and the store is "behind" until it has reached the dropped
// version. A read of a store that is behind has to ask the server.
//
// Invariants: a uid never comes back, so a deleted one is hidden whatever the store shows.
//
// Thread safety: every method may be called from any thread. No lock is held while an index
// function runs.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "kube/base/clock.h"
#include "kube/base/internal/lru_map.h"
#include "kube/base/internal/mutex.h"
#include "kube/cache/internal/untyped_store.h"

namespace kube::detail {

/// The objects that a list asks for.
struct Which {
  std::string_view namespace_ = {};  // empty: all
  const labels::Selector& selector;
  std::string_view index = {};  // with a name, only the objects that have the value
  std::string_view value = {};
};

/// Reads the objects from the store alone.
template <class T>
std::vector<std::shared_ptr<const T>> listOf(const UntypedStore& store, const Which& which);

class OwnWrites {
 public:
  using Object = UntypedStore::Object;
  struct Options {
    std::size_t capacity = 4096;  // of written objects, and of deleted ones
    Clock::Duration patience = std::chrono::minutes(5);
    Clock* clock = nullptr;  // null: the real one
    bool forgets = false;    // dropped entries are forgotten; the store is never behind
  };

  OwnWrites(const ObjectType& type, const Options& options);

  // ---- Writing. `store` may be null: there is none yet.

  /// Notes an object as the server has stored it.
  void wrote(Object object, const UntypedStore* store);
  /// Notes a deletion that is complete. `version` is one at which the object existed, or that of
  /// the deletion; empty: unknown.
  void removed(const ObjectKey& key, const String& uid, String version, const UntypedStore* store);
  /// Notes a write up to that version whose objects are not known.
  void wroteAt(const String& version);
  /// Notes a write of which neither objects nor version are known.
  void wroteSomething();

  // ---- Reading.

  /// Returns whether reads have to look here. If not, the store has everything, as long as its
  /// versions have this stamp.
  bool matter(std::uint64_t stamp) const noexcept {
    const bool seen = stamp_.load(std::memory_order_acquire) == stamp;  // before any_
    return any_.load(std::memory_order_acquire) || (!seen && ever_.load(std::memory_order_acquire));
  }
  struct Read {
    Object object = {};   // null: there is none
    bool behind = false;  // nothing is known: ask the server
  };
  Read find(const UntypedStore& store, KeyView key);
  /// Returns none if the store is behind.
  std::optional<std::vector<Object>> list(const UntypedStore& store, const Which& which);

  // ---- The version of a write of which it is not known. A caller that finds unknown() asks the
  // server for its current version, and passes it on.

  using Question = std::uint64_t;
  std::optional<Question> unknown();
  void answer(Question question, const String& version);

  /// The number of entries.
  std::size_t size() const;

 private:
  struct Written {
    Object object;
    Clock::TimePoint expires;
  };
  struct Removed {
    ObjectKey key;
    String version;
    Clock::TimePoint expires;
  };
  using ByKey = LruMap<ObjectKey, Written, KeyHash>;
  using ByUid = LruMap<String, Removed>;

  const String& versionOf(const Object& object) const {
    return type_.resourceVersionOf(object.get());
  }
  bool isSame(const UntypedStore& store) const KUBE_REQUIRES(entriesMutex_);
  bool isRemoved(const Object& object) const KUBE_REQUIRES(entriesMutex_);
  bool behind(const UntypedStore& store, std::string_view namespaceName)
      KUBE_REQUIRES(entriesMutex_);
  void noteChanges(const StoreVersions& versions) KUBE_REQUIRES(entriesMutex_);
  void startAgain() KUBE_REQUIRES(entriesMutex_);
  void noteLatest(const String& version) KUBE_REQUIRES(entriesMutex_);
  void dropWritten(const UntypedStore& store) KUBE_REQUIRES(entriesMutex_);
  void dropRemoved(const UntypedStore& store) KUBE_REQUIRES(entriesMutex_);
  void lose(const String& version) KUBE_REQUIRES(entriesMutex_);
  void loseUnknown() KUBE_REQUIRES(entriesMutex_);
  void noteWhetherAny() KUBE_REQUIRES(entriesMutex_);

  const ObjectType& type_;
  const Clock::Duration patience_;
  const bool forgets_;
  Clock& clock_;
  std::atomic<bool> any_{false};
  std::atomic<bool> ever_{false};        // something was written
  std::atomic<std::uint64_t> stamp_{0};  // of the store that was read last
  mutable Mutex entriesMutex_;
  ByKey written_ KUBE_GUARDED_BY(entriesMutex_);
  ByUid removed_ KUBE_GUARDED_BY(entriesMutex_);
  String lost_ KUBE_GUARDED_BY(entriesMutex_);    // the latest version of a dropped entry
  String latest_ KUBE_GUARDED_BY(entriesMutex_);  // the latest known version of all own writes
  bool unknown_ KUBE_GUARDED_BY(entriesMutex_) = false;
  // There was a write of which the version is not known: a deletion, mostly.
  bool everUnknown_ KUBE_GUARDED_BY(entriesMutex_) = false;
  bool incomparable_ KUBE_GUARDED_BY(entriesMutex_) =
      false;  // the server's versions are no numbers
  Question question_ KUBE_GUARDED_BY(entriesMutex_) = 0;
  String reachedThen_ KUBE_GUARDED_BY(entriesMutex_);  // by the store at the last question
  // The store that was read last.
  std::shared_ptr<const StoreVersions> of_ KUBE_GUARDED_BY(entriesMutex_);
  StoreVersions::Changes changes_ KUBE_GUARDED_BY(entriesMutex_);
  std::uint64_t stampRead_ KUBE_GUARDED_BY(entriesMutex_) = 0;
};

// ---- Implementation.

template <class T>
std::vector<std::shared_ptr<const T>> listOf(const UntypedStore& store, const Which& which) {
  const bool byNamespace = !which.namespace_.empty();
  if (which.index.empty() && byNamespace && store.hasIndex("namespace")) {
    return store.byIndex<T>("namespace", which.namespace_, which.selector);
  }
  auto objects = which.index.empty() ? store.list<T>(which.selector)
                                     : store.byIndex<T>(which.index, which.value, which.selector);
  if (byNamespace) {
    std::erase_if(objects, [&](const auto& object) {
      return store.type().namespaceOf(object.get()) != which.namespace_;
    });
  }
  return objects;
}

}  // namespace kube::detail
