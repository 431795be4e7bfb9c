// A map of bounded size: what was not used for the longest time makes room for what is new.
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
  /// A capacity of 0 holds one.
  explicit LruMap(std::size_t capacity) : capacity_(capacity > 0 ? capacity : 1) {}

  std::size_t size() const noexcept { return places_.size(); }

  /// Null where it is not there; valid until the map is changed. Counts as a use.
  Value* find(const Key& key) {
    const auto found = places_.find(key);
    if (found == places_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return &found->second->second;
  }

  /// Puts it in or replaces it. Returns what had to go for it.
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

  /// All, the last used first; `visit` takes a key and a Value&, and says whether it stays. This is
  /// no use.
  template <class Visit>
  void filter(Visit visit) {
    for (auto at = entries_.begin(); at != entries_.end();) {
      const auto here = at++;
      if (visit(std::as_const(here->first), here->second)) continue;
      places_.erase(here->first);
      entries_.erase(here);
    }
  }

 private:
  using Entries = std::list<std::pair<Key, Value>>;

  std::size_t capacity_;
  Entries entries_;  // the last used first
  std::unordered_map<Key, typename Entries::iterator, Hash> places_;
};

}  // namespace kube
