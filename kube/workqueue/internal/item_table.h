// The hash table of the queues: entries found by key, which stay where they are in memory.
//
// An Entry has the members `key` and `slot` (a TableSlot), which belong to the table, and `next`,
// an Entry* that it uses while the entry is free. The index is flat: four bytes of hash and four of
// the entry's number, probed linearly, so that a lookup touches one line of it and then the entry
// itself. Erasing moves back what follows, so there are no tombstones; memory is kept for the next
// entries, up to the most that ever were there at a time.
//
// Thread safety: none, that is its owner's.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "kube/workqueue/internal/item_hash.h"

namespace kube::detail {

struct TableSlot {
  std::uint32_t hash = 0;
  std::uint32_t number = 0;
};

template <class Entry>
class ItemTable {
 public:
  using Key = decltype(Entry::key);

  static std::uint32_t hashOf(const Key& key) noexcept {
    const std::uint64_t hash = ItemHash<Key>{}(key);
    return static_cast<std::uint32_t>(hash ^ (hash >> 32));
  }

  std::size_t size() const noexcept { return size_; }

  Entry* find(const Key& key, std::uint32_t hash) noexcept {
    if (size_ == 0) return nullptr;
    for (std::size_t at = hash & mask_;; at = (at + 1) & mask_) {
      const TableSlot& slot = index_[at];
      if (slot.number == 0) return nullptr;
      if (slot.hash != hash) continue;
      Entry& entry = entryOf(slot.number);
      if (entry.key == key) return &entry;
    }
  }

  /// The key must not be there.
  template <class K>
  Entry& insert(K&& key, std::uint32_t hash) {
    if ((size_ + 1) * 8 > index_.size() * 5) grow();
    if (free_ == nullptr) addChunk();
    Entry& entry = *free_;
    entry.key = std::forward<K>(key);  // may throw: nothing has changed
    free_ = std::exchange(entry.next, nullptr);
    entry.slot.hash = hash;
    place(entry.slot);
    ++size_;
    return entry;
  }

  /// Returns the key, for the caller to drop where that is convenient.
  Key erase(Entry& entry) noexcept {
    std::size_t gap = entry.slot.hash & mask_;
    while (index_[gap].number != entry.slot.number) gap = (gap + 1) & mask_;
    for (std::size_t at = (gap + 1) & mask_; index_[at].number != 0; at = (at + 1) & mask_) {
      const std::size_t home = index_[at].hash & mask_;
      // What is at home behind the gap cannot move before its home.
      if (((at - home) & mask_) < ((at - gap) & mask_)) continue;
      index_[gap] = index_[at];
      gap = at;
    }
    index_[gap] = {};
    entry.next = std::exchange(free_, &entry);
    --size_;
    return std::exchange(entry.key, Key());
  }

 private:
  static constexpr std::uint32_t kChunk = 128;

  // Numbers begin at 1: 0 is an empty place of the index.
  Entry& entryOf(std::uint32_t number) noexcept {
    return chunks_[(number - 1) / kChunk][(number - 1) % kChunk];
  }

  void place(TableSlot slot) noexcept {
    std::size_t at = slot.hash & mask_;
    while (index_[at].number != 0) at = (at + 1) & mask_;
    index_[at] = slot;
  }

  void grow() {
    std::vector<TableSlot> bigger(index_.empty() ? 64 : index_.size() * 2);
    index_.swap(bigger);
    mask_ = index_.size() - 1;
    for (const TableSlot& slot : bigger) {
      if (slot.number != 0) place(slot);
    }
  }

  void addChunk() {
    chunks_.push_back(std::make_unique<Entry[]>(kChunk));
    auto number = static_cast<std::uint32_t>(chunks_.size() * kChunk);
    for (std::uint32_t i = kChunk; i-- > 0; --number) {
      Entry& entry = chunks_.back()[i];
      entry.slot.number = number;
      entry.next = std::exchange(free_, &entry);
    }
  }

  std::vector<TableSlot> index_;  // a power of two, at most 5/8 full
  std::size_t mask_ = 0;
  std::size_t size_ = 0;
  Entry* free_ = nullptr;
  std::vector<std::unique_ptr<Entry[]>> chunks_;
};

}  // namespace kube::detail
