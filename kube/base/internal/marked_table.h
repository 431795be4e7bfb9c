// The hash tables of a pool, for kube/base/pool.h.
//
// Open addressing with linear probing, a power of two of slots, at most three quarters full. Each
// slot has a mark, two bytes of its entry's hash. Most misses are detected by marks alone, which
// fit into the processor's caches where the entries do not.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "kube/base/internal/pages.h"

namespace kube::detail {

/// `Entry` is trivial. It has a `block` that is null in a free slot, and `key()`, its 64-bit hash.
template <class Entry>
class MarkedTable {
 public:
  MarkedTable() { rebuild(0); }

  std::size_t count() const noexcept { return count_; }
  std::size_t bytes() const noexcept {
    return entries_.size() * sizeof(Entry) + marks_.size() * sizeof(Mark);
  }

  /// The entry with this key for which `same` holds, or null.
  template <class Same>
  Entry* find(std::uint64_t key, Same same) noexcept {
    const Mark mark = markOf(key);
    for (std::size_t i = slotOf(key);; i = next(i)) {
      if (marks_[i] == 0) return nullptr;
      if (marks_[i] == mark && entries_[i].key() == key && same(entries_[i])) return &entries_[i];
    }
  }

  /// Adds an entry that is not in the table.
  void insert(const Entry& entry) {
    place(entry);
    if (++count_ * 4 >= entries_.size() * 3) rebuild(entries_.size() * kGrowth);
  }

  /// Calls `use` with every entry. Blocks are scattered over the memory, so the next ones are
  /// prefetched meanwhile.
  template <class Use>
  void forEach(Use use) {
    constexpr std::size_t kAhead = 16;
    const std::size_t size = entries_.size();
    for (std::size_t i = 0; i < size; ++i) {
      if (i + kAhead < size) __builtin_prefetch(entries_[i + kAhead].block, 1);
      if (entries_[i].block != nullptr) use(entries_[i]);
    }
  }

  /// Removes the entries for which `gone` holds, and shrinks the table to the remaining ones.
  template <class Gone>
  void removeIf(Gone gone) {
    forEach([&](Entry& entry) {
      if (!gone(entry)) return;
      entry.block = nullptr;
      --count_;
    });
    rebuild(std::bit_ceil(count_ * 2));
  }

 private:
  using Mark = std::uint16_t;  // 0: the slot is free
  static constexpr std::size_t kFirstSize = 256;
  static constexpr std::size_t kGrowth = 4;  // moving entries is expensive

  static Mark markOf(std::uint64_t key) noexcept { return static_cast<Mark>(key >> 48 | 1); }
  std::size_t slotOf(std::uint64_t key) const noexcept {
    return (key >> 8) & (entries_.size() - 1);
  }
  std::size_t next(std::size_t i) const noexcept { return (i + 1) & (entries_.size() - 1); }

  void place(const Entry& entry) noexcept {
    std::size_t i = slotOf(entry.key());
    while (marks_[i] != 0) i = next(i);
    marks_[i] = markOf(entry.key());
    entries_[i] = entry;
  }

  void rebuild(std::size_t size) {
    size = std::max(kFirstSize, size);
    ZeroedTable<Mark> marks(size);
    ZeroedTable<Entry> entries(size);
    std::swap(marks, marks_);
    std::swap(entries, entries_);
    for (const Entry& entry : entries) {
      if (entry.block != nullptr) place(entry);
    }
  }

  ZeroedTable<Mark> marks_;
  ZeroedTable<Entry> entries_;
  std::size_t count_ = 0;
};

}  // namespace kube::detail
