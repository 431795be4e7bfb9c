// A map of bounded size: a new entry replaces the least recently used one.
//
//   LruMap<std::string, Record> records(4096);
//   records.put(key, {});
//   if (Record* record = records.find(key)) ++record->count;
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <optional>
#include <unordered_map>
#include <utility>

namespace kube {

template <class Key, class Value, class Hash = std::hash<Key>>
class LruMap {
 public:
  /// A capacity of 0 counts as 1.
  explicit LruMap(std::size_t capacity) : capacity_(capacity > 0 ? capacity : 1) {}

  std::size_t size() const noexcept { return places_.size(); }

  /// Null if the key is missing. The pointer is valid until the map changes. Counts as a use.
  Value* find(const Key& key) {
    const auto found = places_.find(key);
    if (found == places_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return &found->second->second;
  }

  /// The same, but does not count as a use.
  const Value* peek(const Key& key) const {
    const auto found = places_.find(key);
    return found == places_.end() ? nullptr : &found->second->second;
  }
  /// The least recently used entry; null if the map is empty. Valid until the map changes.
  const std::pair<Key, Value>* oldest() const {
    return entries_.empty() ? nullptr : &entries_.back();
  }

  /// Inserts or replaces an entry. Returns the entry that was removed to make room.
  std::optional<std::pair<Key, Value>> put(const Key& key, Value value) {
    if (Value* existing = find(key)) {
      *existing = std::move(value);
      return std::nullopt;
    }
    entries_.emplace_front(key, std::move(value));
    places_.emplace(key, entries_.begin());
    if (places_.size() <= capacity_) return std::nullopt;
    std::pair<Key, Value> oldest = std::move(entries_.back());
    places_.erase(oldest.first);
    entries_.pop_back();
    return oldest;
  }

  bool erase(const Key& key) {
    const auto found = places_.find(key);
    if (found == places_.end()) return false;
    entries_.erase(found->second);
    places_.erase(found);
    return true;
  }

  /// Calls `visit` with each key and Value&, the most recently used first, and removes entries for
  /// which it returns false. Does not count as a use.
  template <class Visit>
  void filter(Visit visit) {
    for (auto at = entries_.begin(); at != entries_.end();) {
      const auto here = at++;
      if (visit(std::as_const(here->first), here->second)) continue;
      places_.erase(here->first);
      entries_.erase(here);
    }
  }

  /// The entries, as pairs of key and value, the most recently used first.
  auto begin() const noexcept { return entries_.begin(); }
  auto end() const noexcept { return entries_.end(); }

  void clear() noexcept {
    places_.clear();
    entries_.clear();
  }

 private:
  using Entries = std::list<std::pair<Key, Value>>;

  std::size_t capacity_;
  Entries entries_;  // the most recently used first
  std::unordered_map<Key, typename Entries::iterator, Hash> places_;
};

}  // namespace kube
