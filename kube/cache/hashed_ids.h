// A hash table of small numbers: which row of some other table has this key.
//
//   HashedIds rows;
//   rows.insert(hash, row);
//   rows.find(hash, [&](std::uint32_t row) { return names[row] == name; });
//
// The keys themselves stay where they are, so an entry takes 8 bytes. Open addressing with linear
// probing; what is erased leaves no trace, since later entries move up. The caller gives the hash,
// which should be keyed where names come from outside.
//
// Thread safety: none.
#pragma once

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
  static constexpr Id kNone = ~Id{0};

  std::size_t size() const noexcept { return count_; }

  /// kNone where there is none.
  template <class Same>
  Id find(std::uint64_t hash, Same same) const {
    if (count_ == 0) return kNone;
    const auto mark = static_cast<std::uint32_t>(hash);
    for (std::size_t at = mark & mask(); entries_[at].idPlus1 != 0; at = (at + 1) & mask()) {
      const Entry& entry = entries_[at];
      if (entry.mark == mark && same(entry.idPlus1 - 1)) return entry.idPlus1 - 1;
    }
    return kNone;
  }

  /// The id must not be in it.
  void insert(std::uint64_t hash, Id id) {
    reserve(count_ + 1);
    place({static_cast<std::uint32_t>(hash), id + 1});
    ++count_;
  }
  /// The id must be in it, under that hash.
  void erase(std::uint64_t hash, Id id) {
    std::size_t hole = slotOf(hash, id);
    // What comes behind moves up, unless that were before the place where a search for it starts.
    for (std::size_t at = (hole + 1) & mask(); entries_[at].idPlus1 != 0; at = (at + 1) & mask()) {
      const std::size_t home = entries_[at].mark & mask();
      if (((at - home) & mask()) < ((at - hole) & mask())) continue;
      entries_[hole] = entries_[at];
      hole = at;
    }
    entries_[hole] = {};
    --count_;
    if (count_ * 8 < entries_.size() && entries_.size() > kLeast) resize(entries_.size() / 2);
  }
  /// What was at one row is at another now.
  void renumber(std::uint64_t hash, Id from, Id to) noexcept {
    entries_[slotOf(hash, from)].idPlus1 = to + 1;
  }
  /// Makes room for so many.
  void reserve(std::size_t n) {
    std::size_t room = entries_.size() == 0 ? kLeast : entries_.size();
    while (n * 4 > room * 3) room *= 2;
    if (room != entries_.size()) resize(room);
  }

 private:
  static constexpr std::size_t kLeast = 8;
  struct Entry {
    std::uint32_t mark;     // the low half of the hash
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
  void place(Entry entry) noexcept {
    std::size_t at = entry.mark & mask();
    while (entries_[at].idPlus1 != 0) at = (at + 1) & mask();
    entries_[at] = entry;
  }
  std::size_t slotOf(std::uint64_t hash, Id id) const noexcept {
    std::size_t at = static_cast<std::uint32_t>(hash) & mask();
    while (entries_[at].idPlus1 != id + 1) at = (at + 1) & mask();
    return at;
  }

  ZeroedTable<Entry> entries_;  // a power of two
  std::size_t count_ = 0;
};

}  // namespace kube::detail
