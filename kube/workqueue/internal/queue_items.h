// The items of a queue: those that wait, those in work, and of these the ones that were added
// again.
//
// The rules of client-go's queue, without threads: the queue's lock is held in every call.
//
// Invariants: an item has one entry. The entry is in ready_ or, while a worker has the item, in
// inWork_. An entry that is in work and was added again returns to ready_ when the work is done.
//
// Thread safety: none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kube/base/clock.h"
#include "kube/workqueue/internal/arrivals.h"
#include "kube/workqueue/internal/item_table.h"
#include "kube/workqueue/internal/queue_metrics.h"
#include "kube/workqueue/internal/ready_list.h"

namespace kube::detail {

template <class T>
struct QueueEntry {
  T key = {};
  TableSlot slot = {};
  // The number of times that a worker has taken the entry, which tells an old WorkItem from the
  // present one.
  std::uint32_t generation = 0;
  int priority = 0;       // the one it waits with; in work, the one it was added again with
  int takenPriority = 0;  // the one it was taken with
  bool inWork = false;
  bool again = false;  // added while in work
  QueueEntry* next = nullptr;
  QueueEntry* prev = nullptr;
  Clock::TimePoint added = {};  // both times are set only for metrics
  Clock::TimePoint started = {};
};

template <class T>
class QueueItems {
 public:
  using Entry = QueueEntry<T>;

  explicit QueueItems(Clock& clock) : clock_(clock) { admitted_.reserve(Arrivals<T>::kMost); }

  /// From now on, `metrics` counts what happens.
  void countIn(QueueMetrics& metrics) noexcept { metrics_ = &metrics; }

  /// Adds the arrivals. If memory runs out, those that are left are added by the next call.
  void admit(Arrivals<T>& arrivals) {
    if (admitted_.empty()) arrivals.moveTo(admitted_);
    for (; nextAdmitted_ < admitted_.size(); ++nextAdmitted_) add(admitted_[nextAdmitted_], 0);
    admitted_.clear();
    nextAdmitted_ = 0;
  }

  /// Takes the key, unless it is there already. If it throws, nothing has changed.
  void add(Arrival<T>& arrival, int priority) {
    ready_.reserve(again_ + 1);  // for this item, and for those that finish() returns
    Entry* entry = table_.find(arrival.key, arrival.hash);
    if (entry == nullptr) {
      entry = &table_.insert(std::move(arrival.key), arrival.hash);
      entry->priority = priority;
      noteAdded(*entry, arrival.added);
      ready_.append(*entry);
    } else if (!entry->inWork) {
      if (priority <= entry->priority) return;
      ready_.remove(*entry);
      entry->priority = priority;
      ready_.append(*entry);
    } else if (!entry->again) {
      entry->again = true;
      ++again_;
      entry->priority = priority;
      noteAdded(*entry, arrival.added);
    } else {
      entry->priority = std::max(entry->priority, priority);
    }
  }

  /// Gives the next item to a worker. There must be one: waiting() > 0.
  Entry& take() noexcept {
    Entry& entry = ready_.popFirst();
    ++taken_;
    entry.inWork = true;
    entry.takenPriority = entry.priority;
    ++entry.generation;
    inWork_.append(entry);
    if (metrics_ != nullptr) {
      entry.started = clock_.now();
      metrics_->depth.add(-1);
      metrics_->queueDuration.observe(secondsOf(entry.started - entry.added));
    }
    return entry;
  }

  /// Ends the work on an entry. Returns its key if the entry is free now, and an empty key if it
  /// waits again.
  T finish(Entry& entry) noexcept {
    inWork_.remove(entry);
    entry.inWork = false;
    if (metrics_ != nullptr) {
      metrics_->workDuration.observe(secondsOf(clock_.now() - entry.started));
    }
    if (!std::exchange(entry.again, false)) return table_.erase(entry);
    --again_;
    ready_.append(entry);
    return T();
  }

  /// The entry of an item that a worker has; null if no worker has it.
  Entry* inWork(const T& item, std::uint32_t hash) noexcept {
    Entry* const entry = table_.find(item, hash);
    return entry != nullptr && entry->inWork ? entry : nullptr;
  }

  std::size_t waiting() const noexcept { return ready_.size(); }
  std::size_t addedAgain() const noexcept { return again_; }
  /// Arrivals that admit() had no memory for.
  std::size_t unadmitted() const noexcept { return admitted_.size() - nextAdmitted_; }
  std::uint64_t taken() const noexcept { return taken_; }
  bool anyInWork() const noexcept { return !inWork_.empty(); }
  /// True if no item waits or is in work.
  bool empty() const noexcept { return table_.size() == 0; }

  struct WorkTimes {
    Clock::Duration sum = {};
    Clock::Duration longest = {};
  };
  /// The time so far that the items in work have taken.
  WorkTimes workTimes() const {
    WorkTimes times;
    const auto now = clock_.now();
    for (const Entry* entry = inWork_.first; entry != nullptr; entry = entry->next) {
      times.sum += now - entry->started;
      times.longest = std::max(times.longest, now - entry->started);
    }
    return times;
  }

 private:
  void noteAdded(Entry& entry, Clock::TimePoint added) {
    if (metrics_ == nullptr) return;
    metrics_->adds.add();
    metrics_->depth.add(1);
    entry.added = added;
  }

  Clock& clock_;
  QueueMetrics* metrics_ = nullptr;
  ItemTable<Entry> table_;  // of all entries
  ReadyList<Entry> ready_;
  EntryList<Entry> inWork_;
  std::size_t again_ = 0;  // entries in work that were added again
  std::uint64_t taken_ = 0;
  std::vector<Arrival<T>> admitted_;  // on their way into the table,
  std::size_t nextAdmitted_ = 0;      // from here on
};

}  // namespace kube::detail
