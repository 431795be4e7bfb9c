// A work queue that can be given items for later.
//
//   kube::DelayingQueue<kube::String> queue;
//   queue.addAfter("book/web-1", 30s);
//
// An item that waits for its time is there once, with the earliest time it was given; that it is
// in the queue or being worked on meanwhile does not matter. When its time has come it is added,
// as by add().
//
// No thread waits: the clock's timer puts in what is due. When shutDown() or the destructor
// returns, it has done so for the last time.
//
// Thread safety: as WorkQueue.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "kube/base/clock.h"
#include "kube/workqueue/internal/item_table.h"
#include "kube/workqueue/work_queue.h"

namespace kube {

namespace detail {

template <class T>
struct DelayedEntry {
  T key = {};
  TableSlot slot = {};
  DelayedEntry* next = nullptr;
  Clock::TimePoint when = {};
  std::uint64_t order = 0;  // among those of the same time, as they came
  std::size_t place = 0;    // in the heap
  int priority = 0;
};

}  // namespace detail

template <QueueKey T>
class DelayingQueue : public WorkQueue<T> {
 public:
  explicit DelayingQueue(const QueueOptions& options = {}) : WorkQueue<T>(options) {}
  ~DelayingQueue() override { dropDelayed(); }

  /// At once, if the time is not above 0. Counts as a retry.
  void addAfter(const T& item, Clock::Duration delay, int priority = 0);

  /// How many items wait for their time.
  std::size_t delayed() const {
    std::lock_guard lock(delayMutex_);
    return heap_.size();
  }

  /// Items that wait for their time are dropped.
  void shutDown() override {
    WorkQueue<T>::shutDown();
    dropDelayed();
  }
  void shutDownWithDrain(const std::stop_token& stop = {}) override {
    dropDelayed();
    WorkQueue<T>::shutDownWithDrain(stop);
  }

 private:
  using Entry = detail::DelayedEntry<T>;

  static bool before(const Entry& a, const Entry& b) noexcept {
    return a.when != b.when ? a.when < b.when : a.order < b.order;
  }
  void put(Entry& entry, std::size_t place) noexcept {
    heap_[place] = &entry;
    entry.place = place;
  }
  void moveUp(Entry& entry) noexcept;
  Entry& popFirst() noexcept;
  // Sees to it that the clock calls in time. Returns the timer that it has replaced, which is to be
  // destroyed without the lock, since its function takes it.
  Timer arm();
  void addDue();
  void dropDelayed();

  // Taken before the queue's own lock, if at all with it.
  mutable std::mutex delayMutex_;
  bool closed_ = false;
  // Calls of addDue() under way. Cancelling timer_ does not wait for one that has set the next.
  int adding_ = 0;
  std::condition_variable addingEnded_;
  std::uint64_t added_ = 0;
  detail::ItemTable<Entry> table_;
  std::vector<Entry*> heap_;  // the earliest first
  Clock::TimePoint armedFor_ = Clock::noDeadline;
  Timer timer_;
};

template <QueueKey T>
void DelayingQueue<T>::addAfter(const T& item, Clock::Duration delay, int priority) {
  if (this->shuttingDown()) return;
  if (auto* metrics = this->metrics()) metrics->retries.add();
  if (delay <= Clock::Duration::zero()) {
    this->add(item, priority);
    return;
  }
  const Clock::TimePoint when = this->clock().deadlineAfter(delay);
  const std::uint32_t hash = detail::ItemTable<Entry>::hashOf(item);
  Timer replaced;
  std::lock_guard lock(delayMutex_);
  if (closed_) return;
  if (Entry* entry = table_.find(item, hash)) {
    entry->priority = std::max(entry->priority, priority);
    if (when >= entry->when) return;
    entry->when = when;
    entry->order = ++added_;
    moveUp(*entry);
  } else {
    heap_.push_back(nullptr);
    try {
      entry = &table_.insert(item, hash);
    } catch (...) {
      heap_.pop_back();
      throw;
    }
    entry->when = when;
    entry->order = ++added_;
    entry->priority = priority;
    entry->place = heap_.size() - 1;
    moveUp(*entry);
  }
  replaced = arm();
}

template <QueueKey T>
void DelayingQueue<T>::moveUp(Entry& entry) noexcept {
  std::size_t place = entry.place;
  while (place > 0) {
    const std::size_t parent = (place - 1) / 2;
    if (!before(entry, *heap_[parent])) break;
    put(*heap_[parent], place);
    place = parent;
  }
  put(entry, place);
}

template <QueueKey T>
typename DelayingQueue<T>::Entry& DelayingQueue<T>::popFirst() noexcept {
  Entry& first = *heap_.front();
  Entry& moved = *heap_.back();
  heap_.pop_back();
  if (heap_.empty()) return first;
  std::size_t place = 0;
  for (std::size_t child; (child = 2 * place + 1) < heap_.size(); place = child) {
    if (child + 1 < heap_.size() && before(*heap_[child + 1], *heap_[child])) ++child;
    if (!before(*heap_[child], moved)) break;
    put(*heap_[child], place);
  }
  put(moved, place);
  return first;
}

template <QueueKey T>
Timer DelayingQueue<T>::arm() {
  if (heap_.empty() || heap_.front()->when >= armedFor_) return {};
  armedFor_ = heap_.front()->when;
  return std::exchange(timer_, this->clock().callAt(armedFor_, [this] { addDue(); }));
}

template <QueueKey T>
void DelayingQueue<T>::addDue() {
  std::vector<std::pair<T, int>> due;
  Timer replaced;
  {
    const std::lock_guard lock(delayMutex_);
    if (closed_) return;
    ++adding_;
  }
  // Last of all: the queue may be gone as soon as the lock is given back.
  const struct Ending {
    DelayingQueue& queue;
    ~Ending() {
      const std::lock_guard lock(queue.delayMutex_);
      --queue.adding_;
      queue.addingEnded_.notify_all();
    }
  } ending{*this};
  {
    const std::lock_guard lock(delayMutex_);
    if (closed_) return;
    const auto now = this->clock().now();
    while (!heap_.empty() && heap_.front()->when <= now) {
      Entry& entry = popFirst();
      const int priority = entry.priority;
      due.emplace_back(table_.erase(entry), priority);
    }
    // A timer that was replaced may have come nevertheless; then the present one is still to come.
    if (armedFor_ <= now) armedFor_ = Clock::noDeadline;
    replaced = arm();
  }
  for (const auto& [item, priority] : due) this->add(item, priority);
}

template <QueueKey T>
void DelayingQueue<T>::dropDelayed() {
  Timer dropped;
  std::vector<T> items;
  std::unique_lock lock(delayMutex_);
  closed_ = true;
  dropped = std::move(timer_);
  items.reserve(heap_.size());
  for (Entry* entry : heap_) items.push_back(table_.erase(*entry));
  heap_.clear();
  addingEnded_.wait(lock, [&] { return adding_ == 0; });
  lock.unlock();  // cancelling waits for addDue(), which takes it
}

}  // namespace kube
