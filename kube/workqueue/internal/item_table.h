// The hash table of the queues: finds entries by key, and never moves them in memory.
//
// An Entry has the members `key` and `slot` (a TableSlot), which belong to the table, and `next`,
// an Entry* that the table uses while the entry is free. Entries are in chunks and have numbers;
// HashedIds finds the number that belongs to a key. No memory is given back: a queue that has been
// full is soon full again.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "kube/base/internal/hashed_ids.h"
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

  std::size_t size() const noexcept { return ids_.size(); }

  /// Null if there is none.
  Entry* find(const Key& key, std::uint32_t hash) noexcept {
    const auto number =
        ids_.find(hash, [&](std::uint32_t candidate) { return entryOf(candidate).key == key; });
    return number == HashedIds::kNone ? nullptr : &entryOf(number);
  }

  /// The key must not be in the table. If it throws, nothing has changed.
  template <class K>
  Entry& insert(K&& key, std::uint32_t hash) {
    ids_.reserve(ids_.size() + 1);
    if (free_ == nullptr) addChunk();
    Entry& entry = *free_;
    entry.key = std::forward<K>(key);
    free_ = std::exchange(entry.next, nullptr);
    entry.slot.hash = hash;
    ids_.insert(hash, entry.slot.number);
    return entry;
  }

  /// Returns the key, so that the caller can destroy it without a lock.
  Key erase(Entry& entry) noexcept {
    ids_.erase(entry.slot.hash, entry.slot.number);
    entry.next = std::exchange(free_, &entry);
    return std::exchange(entry.key, Key());
  }

 private:
  static constexpr std::uint32_t kChunk = 128;

  Entry& entryOf(std::uint32_t number) noexcept {
    return chunks_[number / kChunk][number % kChunk];
  }

  void addChunk() {
    chunks_.push_back(std::make_unique<Entry[]>(kChunk));
    auto number = static_cast<std::uint32_t>(chunks_.size() * kChunk);
    for (std::uint32_t i = kChunk; i-- > 0;) {
      Entry& entry = chunks_.back()[i];
      entry.slot.number = --number;
      entry.next = std::exchange(free_, &entry);
    }
  }

  HashedIds ids_{HashedIds::Memory::Kept};  // the entries' numbers
  std::vector<std::unique_ptr<Entry[]>> chunks_;
  Entry* free_ = nullptr;
};

}  // namespace kube::detail
