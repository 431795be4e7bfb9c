// A hash table of small numbers: which row of some other table has this key.
//
//   HashedIds rows;
//   rows.insert(hash, row);
//   rows.find(hash);
//
// It knows keys by their hashes only: 96 bits, so they must be of a keyed hash, as the caller's are
// (kube/base/hash.h). Then different keys never meet, and a look-up touches one place in memory.
// Open addressing with linear probing, 16 bytes an entry; what is erased leaves no trace, since
// later entries move up.
//
// Thread safety: none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kube/base/pages.h"

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
  using Hash = std::array<std::uint64_t, 2>;
  static constexpr Id kNone = ~Id{0};

  std::size_t size() const noexcept { return count_; }

  /// kNone where there is none.
  Id find(const Hash& hash) const noexcept {
    if (count_ == 0) return kNone;
    for (std::size_t at = hash[0] & mask();; at = (at + 1) & mask()) {
      const Entry& entry = entries_[at];
      if (entry.is(hash) || entry.idPlus1 == 0) return entry.idPlus1 - 1;  // kNone: free
    }
  }

  /// The hash must not be in it.
  void insert(const Hash& hash, Id id) {
    reserve(count_ + 1);
    place({hash[0], static_cast<std::uint32_t>(hash[1]), id + 1});
    ++count_;
  }
  /// The hash must be in it.
  void erase(const Hash& hash) {
    std::size_t hole = slotOf(hash);
    // What comes behind moves up, unless that were before the place where a search for it starts.
    for (std::size_t at = (hole + 1) & mask(); entries_[at].idPlus1 != 0; at = (at + 1) & mask()) {
      const std::size_t home = entries_[at].low & mask();
      if (((at - home) & mask()) < ((at - hole) & mask())) continue;
      entries_[hole] = entries_[at];
      hole = at;
    }
    entries_[hole] = {};
    --count_;
    if (count_ * 8 < entries_.size() && entries_.size() > kLeast) resize(entries_.size() / 2);
  }
  /// What is there is at another row now.
  void renumber(const Hash& hash, Id to) noexcept { entries_[slotOf(hash)].idPlus1 = to + 1; }
  /// Makes room for so many.
  void reserve(std::size_t n) {
    std::size_t room = entries_.size() == 0 ? kLeast : entries_.size();
    while (n * 4 > room * 3) room *= 2;
    if (room != entries_.size()) resize(room);
  }

 private:
  static constexpr std::size_t kLeast = 8;
  struct Entry {
    std::uint64_t low;      // of the hash
    std::uint32_t high;     // likewise, of the other half
    std::uint32_t idPlus1;  // 0: free

    bool is(const Hash& hash) const noexcept {
      return low == hash[0] && high == static_cast<std::uint32_t>(hash[1]) && idPlus1 != 0;
    }
  };

  std::size_t mask() const noexcept { return entries_.size() - 1; }
  void resize(std::size_t room) {
    ZeroedTable<Entry> before(room);
    std::swap(before, entries_);
    for (const Entry& entry : before) {
      if (entry.idPlus1 != 0) place(entry);
    }
  }
  void place(const Entry& entry) noexcept {
    std::size_t at = entry.low & mask();
    while (entries_[at].idPlus1 != 0) at = (at + 1) & mask();
    entries_[at] = entry;
  }
  std::size_t slotOf(const Hash& hash) const noexcept {
    std::size_t at = hash[0] & mask();
    while (!entries_[at].is(hash)) at = (at + 1) & mask();
    return at;
  }

  ZeroedTable<Entry> entries_;  // a power of two
  std::size_t count_ = 0;
};

}  // namespace kube::detail
