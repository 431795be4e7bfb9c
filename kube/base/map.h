// A map from String to V in 8 bytes: a sorted flat list, shared by reference count, with
// copy-on-write.
//
// Labels, annotations and the like are small and read far more often than written, which is what
// a sorted array is best at. Iteration goes by key and is const; write through operator[],
// insert_or_assign and erase. A const operator[] of a missing key reads as the empty default.
// Adding an entry moves the others: to give a struct of one key to a new one, write
// `map.insert_or_assign("new", map["old"])`.
//
// Thread safety: distinct handles may be used on any threads, also when they share memory.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "kube/base/list.h"
#include "kube/base/string.h"

namespace kube {

template <class V>
struct MapEntry {
  String key;
  V value{};
  bool operator==(const MapEntry&) const = default;
};

template <class V>
class Map {
 public:
  using Entry = MapEntry<V>;
  using key_type = String;
  using mapped_type = V;

  constexpr Map() noexcept = default;
  Map(std::initializer_list<Entry> entries) {
    for (const Entry& entry : entries) insert_or_assign(entry.key, entry.value);
  }

  std::size_t size() const noexcept { return entries_.size(); }
  bool empty() const noexcept { return entries_.empty(); }
  auto begin() const noexcept { return entries_.begin(); }
  auto end() const noexcept { return entries_.end(); }

  auto find(std::string_view key) const noexcept {
    auto at = lowerBound(key);
    return at != end() && at->key == key ? at : end();
  }
  bool contains(std::string_view key) const noexcept { return find(key) != end(); }
  const V& operator[](std::string_view key) const noexcept {
    auto at = find(key);
    return at != end() ? at->value : absent();
  }
  const V& at(std::string_view key) const {
    auto at = find(key);
    if (at == end()) throw std::out_of_range("kube::Map: no such key: " + std::string(key));
    return at->value;
  }

  V& operator[](std::string_view key) {
    const auto i = static_cast<std::size_t>(lowerBound(key) - std::as_const(entries_).begin());
    if (i == size() || std::as_const(entries_)[i].key != key) {
      entries_.insert(i, Entry{String(key), V{}});
    }
    return entries_[i].value;
  }
  void insert_or_assign(std::string_view key, V value) { (*this)[key] = std::move(value); }
  /// Says whether there was such a key.
  bool erase(std::string_view key) {
    auto at = find(key);
    if (at == end()) return false;
    entries_.erase(static_cast<std::size_t>(at - std::as_const(entries_).begin()));
    return true;
  }
  void clear() noexcept { entries_.clear(); }

  /// True when both are the same memory.
  bool sharesWith(const Map& other) const noexcept { return entries_.sharesWith(other.entries_); }

  bool operator==(const Map& other) const { return entries_ == other.entries_; }

  static void drop(detail::Block* block) noexcept { List<Entry>::drop(block); }
  static constexpr bool boxed() { return List<Entry>::boxed(); }
  static constexpr std::size_t slotSize() { return List<Entry>::slotSize(); }

 private:
  auto lowerBound(std::string_view key) const noexcept {
    return std::lower_bound(begin(), end(), key, [](const Entry& entry, std::string_view wanted) {
      return entry.key.view() < wanted;
    });
  }
  static const V& absent() noexcept {
    static const V value{};
    return value;
  }

  List<Entry> entries_;
};

/// A list of strings that is a message of its own on the protobuf wire (an ExtraValue, Verbs).
class Strings : public List<String> {
 public:
  using List<String>::List;
  Strings() = default;
  Strings(List<String> list) noexcept : List<String>(std::move(list)) {}  // NOLINT: implicit
};

}  // namespace kube
