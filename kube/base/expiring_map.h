// A map whose entries expire, of bounded size: a new entry replaces the least recently used one.
//
//   kube::ExpiringMap<std::string, Token> tokens(1000);
//   tokens.put(user, token, 10min);
//   if (const auto token = tokens.find(user)) ...       // none if it is missing or has expired
//
// It is apimachinery's LRUExpireCache. Expired entries take memory until they are looked up, or
// others need their place.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>

#include "kube/base/clock.h"
#include "kube/base/internal/lru_map.h"
#include "kube/base/internal/mutex.h"

namespace kube {

template <class Key, class Value, class Hash = std::hash<Key>>
class ExpiringMap {
 public:
  /// The clock outlives the map.
  explicit ExpiringMap(std::size_t capacity, Clock& clock = realClock())
      : clock_(clock), entries_(capacity) {}

  /// Inserts or replaces an entry, which expires after that time.
  void put(const Key& key, Value value, Clock::Duration ttl) {
    const auto expires = clock_.deadlineAfter(ttl);
    const detail::Lock lock(entriesMutex_);
    entries_.put(key, {std::move(value), expires});
  }
  /// Returns a copy. Counts as a use.
  std::optional<Value> find(const Key& key) {
    const auto now = clock_.now();
    const detail::Lock lock(entriesMutex_);
    const Entry* const found = entries_.find(key);
    if (found == nullptr) return std::nullopt;
    if (now < found->expires) return found->value;
    entries_.erase(key);
    return std::nullopt;
  }
  bool erase(const Key& key) {
    const detail::Lock lock(entriesMutex_);
    return entries_.erase(key);
  }
  /// Removes the entries for which `matches(key)` is true. It must not use the map.
  template <class Matches>
  void eraseIf(Matches matches) {
    const detail::Lock lock(entriesMutex_);
    entries_.filter([&](const Key& key, const Entry&) { return !matches(key); });
  }
  /// The number of entries, also of expired ones.
  std::size_t size() const {
    const detail::Lock lock(entriesMutex_);
    return entries_.size();
  }

 private:
  struct Entry {
    Value value;
    Clock::TimePoint expires;
  };

  Clock& clock_;
  mutable detail::Mutex entriesMutex_;
  LruMap<Key, Entry, Hash> entries_ KUBE_GUARDED_BY(entriesMutex_);
};

}  // namespace kube
