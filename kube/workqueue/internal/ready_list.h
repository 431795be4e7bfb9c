// The waiting entries of a queue: by descending priority, and in order of arrival within one.
//
// An Entry has the members `priority`, and `next` and `prev`, which belong to the list that the
// entry is in. The lists own nothing.
//
// Thread safety: none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace kube::detail {

/// A list of entries, linked by their own pointers.
template <class Entry>
struct EntryList {
  Entry* first = nullptr;
  Entry* last = nullptr;

  bool empty() const noexcept { return first == nullptr; }
  void append(Entry& entry) noexcept {
    entry.prev = last;
    entry.next = nullptr;
    (last != nullptr ? last->next : first) = &entry;
    last = &entry;
  }
  void remove(Entry& entry) noexcept {
    (entry.prev != nullptr ? entry.prev->next : first) = entry.next;
    (entry.next != nullptr ? entry.next->prev : last) = entry.prev;
  }
};

template <class Entry>
class ReadyList {
 public:
  ReadyList() : levels_{Level{}} {}

  std::size_t size() const noexcept { return size_; }

  /// Makes room for `n` entries of new priorities. append() takes no memory then.
  void reserve(std::size_t n) {
    if (levels_.capacity() - levels_.size() < n) levels_.reserve(2 * (levels_.size() + n));
  }
  /// reserve() comes before it.
  void append(Entry& entry) noexcept {
    levelFor(entry.priority).append(entry);
    ++size_;
  }
  void remove(Entry& entry) noexcept {
    const auto level = std::ranges::find(levels_, entry.priority, &Level::priority);
    level->waiting.remove(entry);
    if (level->waiting.empty() && levels_.size() > 1) levels_.erase(level);
    --size_;
  }
  /// The list must not be empty.
  Entry& popFirst() noexcept {
    Entry& entry = *levels_.front().waiting.first;
    remove(entry);
    return entry;
  }

 private:
  struct Level {
    int priority = 0;
    EntryList<Entry> waiting = {};
  };

  EntryList<Entry>& levelFor(int priority) noexcept {
    // Most queues have one priority.
    Level& highest = levels_.front();
    if (highest.waiting.empty()) highest.priority = priority;
    if (highest.priority == priority) return highest.waiting;
    auto level =
        std::ranges::find_if(levels_, [&](const Level& l) { return l.priority <= priority; });
    if (level == levels_.end() || level->priority != priority) {
      level = levels_.insert(level, Level{priority, {}});
    }
    return level->waiting;
  }

  std::vector<Level> levels_;  // by descending priority; a level without entries is the only one
  std::size_t size_ = 0;
};

}  // namespace kube::detail
