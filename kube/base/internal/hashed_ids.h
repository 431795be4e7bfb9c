// A hash table of small numbers: it finds the row of another table that has a given key.
//
//   HashedIds rows;
//   rows.insert(hash, row);
//   rows.find(hash, [&](Id row) { return keyOf(row) == key; });
//
// The keys stay in the other table, which compares them. An entry here has 8 bytes: the number, and
// 32 bits of a hash, which must be keyed (kube/base/internal/hash.h). The table of 100,000 objects
// takes 1 MB, so look-ups mostly hit the processor's caches. Open addressing with linear probing;
// erasing leaves no trace, because later entries move up.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "kube/base/internal/pages.h"

namespace kube::detail {

/// Removes the last element, and memory that is no longer needed.
template <class T>
void popAndShrink(std::vector<T>& from) {
  from.pop_back();
  if (from.capacity() > 64 && from.size() * 4 < from.capacity()) from.shrink_to_fit();
}

class HashedIds {
 public:
  using Id = std::uint32_t;
  using Hash = std::uint32_t;
  static constexpr Id kNone = ~Id{0};

  /// Kept: erasing gives no memory back. For a table that is soon as full again.
  enum class Memory : bool { Shrinks, Kept };
  explicit HashedIds(Memory memory = Memory::Shrinks) noexcept : memory_(memory) {}

  std::size_t size() const noexcept { return count_; }

  /// The id with this hash that `matches`; kNone if there is none.
  template <class Matches>
  Id find(Hash hash, const Matches& matches) const {
    if (count_ == 0) return kNone;
    for (std::size_t at = hash & mask();; at = (at + 1) & mask()) {
      const Entry entry = entries_[at];
      if (entry.idPlus1 == 0) return kNone;
      if (entry.hash == hash && matches(entry.idPlus1 - 1)) return entry.idPlus1 - 1;
    }
  }

  /// The id must not be in the table.
  void insert(Hash hash, Id id) {
    reserve(count_ + 1);
    place({hash, id + 1});
    ++count_;
  }
  /// The id must be in the table, with this hash.
  void erase(Hash hash, Id id) noexcept {
    std::size_t hole = slotOf(hash, id);
    // Moves later entries up, unless that would put them before the start of their own search.
    for (std::size_t at = (hole + 1) & mask(); entries_[at].idPlus1 != 0; at = (at + 1) & mask()) {
      const std::size_t home = entries_[at].hash & mask();
      if (((at - home) & mask()) < ((at - hole) & mask())) continue;
      entries_[hole] = entries_[at];
      hole = at;
    }
    entries_[hole] = {};
    --count_;
    if (count_ * 8 < entries_.size() && entries_.size() > kLeast && memory_ == Memory::Shrinks) {
      shrink();
    }
  }
  /// Replaces the id `from`, which has this hash, by `to`.
  void renumber(Hash hash, Id from, Id to) noexcept {
    entries_[slotOf(hash, from)].idPlus1 = to + 1;
  }
  /// Makes room for n ids.
  void reserve(std::size_t n) {
    std::size_t room = entries_.size() == 0 ? kLeast : entries_.size();
    while (n * 5 > room * 4) room *= 2;
    if (room != entries_.size()) resize(room);
  }

 private:
  static constexpr std::size_t kLeast = 8;
  struct Entry {
    Hash hash;
    std::uint32_t idPlus1;  // 0: free
  };

  std::size_t mask() const noexcept { return entries_.size() - 1; }
  void resize(std::size_t room) {
    ZeroedTable<Entry> before(room);
    std::swap(before, entries_);
    for (const Entry& entry : before) {
      if (entry.idPlus1 != 0) place(entry);
    }
  }
  void shrink() noexcept {
    try {
      resize(entries_.size() / 2);
    } catch (const std::bad_alloc&) {
      // There is no memory for a smaller table beside the present one, which therefore stays.
    }
  }
  void place(const Entry& entry) noexcept {
    std::size_t at = entry.hash & mask();
    while (entries_[at].idPlus1 != 0) at = (at + 1) & mask();
    entries_[at] = entry;
  }
  std::size_t slotOf(Hash hash, Id id) const noexcept {
    std::size_t at = hash & mask();
    while (entries_[at].idPlus1 != id + 1) at = (at + 1) & mask();
    return at;
  }

  ZeroedTable<Entry> entries_;  // its size is a power of two
  std::size_t count_ = 0;
  Memory memory_;
};

}  // namespace kube::detail
