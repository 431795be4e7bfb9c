// A map from String to V in 8 bytes: a sorted flat list, shared by reference count, with
// copy-on-write.
//
//   if (pod.metadata.labels["tier"] == "web")   reads; a missing key reads as the empty default,
//                                               and is not inserted, whether `pod` is const or not
//   pod.metadata.labels["tier"] = "web"         inserts or assigns, also an empty value
//   schema.properties.write("size").type = "integer"   changes a part of a value, which is inserted
//                                               if it is missing
//
// Labels, annotations and the like are small and read far more often than written; a sorted array
// is best at that. Iteration is const and in order of the keys. Adding an entry moves the others,
// so references that `write` returned before are no longer valid then.
//
// Thread safety: distinct handles may be used on any threads, even if they share memory.
#pragma once

#include <algorithm>
#include <concepts>
#include <initializer_list>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kube/base/list.h"
#include "kube/base/string.h"

namespace kube {

template <class V>
class Map;

namespace detail {

/// Values that know that `[]` made them and that nothing was assigned yet (kube::Value). A map
/// hides them.
template <class V>
concept HasPlaceholders = requires(const V& value) {
  value.isPlaceholder();
};

// The base of a slot. A class is a base itself, so that its const members can be called.
template <class V>
struct Scalar {
  Scalar(V scalar) : value(scalar) {}          // NOLINT: implicit, as a V is
  operator const V&() const { return value; }  // NOLINT
  V value;
};

/// The entry of one key in a map, for `map[key]`. It reads as the value of the key, or as the empty
/// default, and inserts when it is assigned to. Always const, so that no member can be changed in
/// it: the change would be lost.
template <class V>
class MapSlot : public std::conditional_t<std::is_class_v<V>, V, Scalar<V>> {
  using Read = std::conditional_t<std::is_class_v<V>, V, Scalar<V>>;

 public:
  MapSlot(Map<V>& map, std::string_view key, const V& value) : Read(value), map_(&map), key_(key) {}
  MapSlot(const MapSlot&) = default;
  MapSlot& operator=(const MapSlot&) = delete;

  /// Works only on a temporary: a slot with a name is a copy.
  const V& operator=(V value) const&& { return map_->write(key_) = std::move(value); }
  template <class Other>
  requires requires(V& value, const Other& other) { value += other; }
  const V& operator+=(const Other& other) const&& { return map_->write(key_) += other; }
  template <class Other>
  requires requires(V& value, const Other& other) { value -= other; }
  const V& operator-=(const Other& other) const&& { return map_->write(key_) -= other; }

 private:
  Map<V>* map_;
  std::string_view key_;
};

/// Walks the entries of a map, and skips placeholders.
template <class Raw>
class VisibleIterator {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = typename std::iterator_traits<Raw>::value_type;
  using difference_type = std::ptrdiff_t;
  using pointer = const value_type*;
  using reference = const value_type&;

  VisibleIterator() = default;
  VisibleIterator(Raw at, Raw end) : at_(at), end_(end) { skip(); }
  reference operator*() const { return *at_; }
  pointer operator->() const { return &*at_; }
  VisibleIterator& operator++() { return ++at_, skip(), *this; }
  VisibleIterator operator++(int) {
    VisibleIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const VisibleIterator& a, const VisibleIterator& b) {
    return a.at_ == b.at_;
  }

 private:
  void skip() {
    while (at_ != end_ && at_->value.isPlaceholder()) ++at_;
  }

  Raw at_{};
  Raw end_{};
};

}  // namespace detail

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

  std::size_t size() const noexcept {
    if constexpr (detail::HasPlaceholders<V>) {
      return static_cast<std::size_t>(std::distance(begin(), end()));
    } else {
      return entries_.size();
    }
  }
  bool empty() const noexcept { return begin() == end(); }
  auto begin() const noexcept { return visible(entries_.begin()); }
  auto end() const noexcept { return visible(entries_.end()); }

  auto find(std::string_view key) const noexcept {
    const auto at = lowerBound(key);
    if (at == entries_.end() || at->key != key) return end();
    if constexpr (detail::HasPlaceholders<V>) {
      if (at->value.isPlaceholder()) return end();
    }
    return visible(at);
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

  /// Reads or, when assigned to, inserts. For a Map<Value>, returns a reference to a value that
  /// stays invisible until it is assigned.
  decltype(auto) operator[](std::string_view key) {
    if constexpr (detail::HasPlaceholders<V>) {
      return (place(key, V::placeholder()).value);  // the parentheses make it a reference
    } else {
      return static_cast<const detail::MapSlot<V>>(
          detail::MapSlot<V>(*this, key, std::as_const(*this)[key]));
    }
  }
  /// The key's value for changing; inserted if the key is missing.
  V& write(std::string_view key) { return place(key, V{}).value; }
  void insert_or_assign(std::string_view key, V value) { write(key) = std::move(value); }
  /// Returns whether the key existed.
  bool erase(std::string_view key) {
    const bool found = contains(key);
    const auto at = lowerBound(key);
    if (at != std::as_const(entries_).end() && at->key == key) entries_.erase(indexOf(at));
    return found;
  }
  void clear() noexcept { entries_.clear(); }

  /// True if both are the same memory.
  bool sharesWith(const Map& other) const noexcept { return entries_.sharesWith(other.entries_); }

  bool operator==(const Map& other) const {
    if constexpr (detail::HasPlaceholders<V>) {
      return entries_.sharesWith(other.entries_) ||
             std::equal(begin(), end(), other.begin(), other.end());
    } else {
      return entries_ == other.entries_;
    }
  }

  static void drop(detail::Block* block) noexcept { List<Entry>::drop(block); }
  static constexpr bool boxed() { return List<Entry>::boxed(); }
  static constexpr std::size_t slotSize() { return List<Entry>::slotSize(); }

 private:
  template <class Raw>
  auto visible(Raw at) const noexcept {
    if constexpr (detail::HasPlaceholders<V>) {
      return detail::VisibleIterator<Raw>(at, entries_.end());
    } else {
      return at;
    }
  }
  auto lowerBound(std::string_view key) const noexcept {
    return std::lower_bound(
        entries_.begin(), entries_.end(), key,
        [](const Entry& entry, std::string_view wanted) { return entry.key.view() < wanted; });
  }
  template <class Raw>
  std::size_t indexOf(Raw at) const noexcept {
    return static_cast<std::size_t>(at - entries_.begin());
  }
  Entry& place(std::string_view key, V fresh) {
    const auto at = lowerBound(key);
    const std::size_t i = indexOf(at);
    if (at == std::as_const(entries_).end() || at->key != key) {
      entries_.insert(i, Entry{String(key), std::move(fresh)});
    }
    return entries_[i];
  }
  static const V& absent() noexcept {
    static const V value{};
    return value;
  }

  List<Entry> entries_;
};

/// A list of strings that is a message of its own in protobuf (ExtraValue, Verbs).
class Strings : public List<String> {
 public:
  using List<String>::List;
  Strings() = default;
  Strings(List<String> list) noexcept : List<String>(std::move(list)) {}  // NOLINT: implicit
};

}  // namespace kube

template <class V>
requires(!std::derived_from<V, kube::String>) struct fmt::formatter<kube::detail::MapSlot<V>>
    : fmt::formatter<V> {
};
