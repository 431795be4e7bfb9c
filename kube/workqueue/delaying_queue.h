// A work queue that adds items after a delay.
//
//   kube::DelayingQueue<kube::String> queue;
//   queue.addAfter("book/web-1", 30s);
//
// A delayed item has one time: the earliest that it was given. When that time comes, it is added as
// by add(). Until then, the same item may also wait in the queue or be in work.
//
// No thread waits for the times: a timer of the clock adds the items that are due. It adds no more
// when shutDown() or the destructor has returned.
//
// Thread safety: as WorkQueue.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kube/base/clock.h"
#include "kube/base/internal/finally.h"
#include "kube/base/internal/mutex.h"
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
  std::uint64_t order = 0;  // of the addition: decides between equal times
  std::size_t place = 0;    // in the heap
  int priority = 0;
};

}  // namespace detail

template <QueueKey T>
class DelayingQueue : public WorkQueue<T> {
 public:
  explicit DelayingQueue(const QueueOptions& options = {}) : WorkQueue<T>(options) {}
  ~DelayingQueue() override { dropDelayed(); }

  /// Adds the item when the delay is over; at once if the delay is zero or negative. Counts as a
  /// retry in the metrics.
  void addAfter(const T& item, Clock::Duration delay, int priority = 0);

  /// The number of delayed items.
  std::size_t delayed() const {
    const detail::Lock lock(heapMutex_);
    return heap_.size();
  }

  /// Drops the delayed items.
  void shutDown() override {
    WorkQueue<T>::shutDown();
    dropDelayed();
  }
  void shutDownWithDrain(const std::stop_token& stop = {}) override {
    dropDelayed();
    WorkQueue<T>::shutDownWithDrain(stop);
  }

 protected:
  using AddDue = void (*)(DelayingQueue& queue, const T& item, int priority);

  /// Sets a function that adds the items whose time has come, before the first item. A class that
  /// sets one shuts the queue down in its destructor. (A virtual function would race with the
  /// destructor.)
  void setAddDue(AddDue function) noexcept { addDue_ = function; }

 private:
  using Entry = detail::DelayedEntry<T>;

  static bool before(const Entry& a, const Entry& b) noexcept {
    return a.when != b.when ? a.when < b.when : a.order < b.order;
  }
  void put(Entry& entry, std::size_t place) noexcept KUBE_REQUIRES(heapMutex_) {
    heap_[place] = &entry;
    entry.place = place;
  }
  void moveUp(Entry& entry) noexcept KUBE_REQUIRES(heapMutex_);
  Entry& popFirst() noexcept KUBE_REQUIRES(heapMutex_);
  // Sets the timer for the earliest time. Returns the timer that it replaces. The caller destroys
  // that without the lock, because the timer's function takes the lock.
  Timer arm() KUBE_REQUIRES(heapMutex_);
  void addDue(const T& item, int priority) {
    addDue_ != nullptr ? addDue_(*this, item, priority) : this->add(item, priority);
  }
  void addAllDue();
  void dropDelayed();

  AddDue addDue_ = nullptr;  // null: add()

  // No lock of the queue is taken while this is held.
  mutable detail::Mutex heapMutex_;
  bool closed_ KUBE_GUARDED_BY(heapMutex_) = false;
  // Running calls of addAllDue(). Cancelling timer_ does not wait for a call that has set the next
  // timer.
  int adding_ KUBE_GUARDED_BY(heapMutex_) = 0;
  std::condition_variable addingEnded_;
  std::uint64_t added_ KUBE_GUARDED_BY(heapMutex_) = 0;
  detail::ItemTable<Entry> table_ KUBE_GUARDED_BY(heapMutex_);
  std::vector<Entry*> heap_ KUBE_GUARDED_BY(heapMutex_);  // the earliest first
  Clock::TimePoint armedFor_ KUBE_GUARDED_BY(heapMutex_) = Clock::noDeadline;
  Timer timer_ KUBE_GUARDED_BY(heapMutex_);
};

template <QueueKey T>
void DelayingQueue<T>::addAfter(const T& item, Clock::Duration delay, int priority) {
  if (this->shuttingDown()) return;
  if (auto* metrics = this->metrics()) metrics->retries.add();
  if (delay <= Clock::Duration::zero()) {
    addDue(item, priority);
    return;
  }
  const Clock::TimePoint when = this->clock().deadlineAfter(delay);
  const std::uint32_t hash = detail::ItemTable<Entry>::hashOf(item);
  Timer replaced;
  const detail::Lock lock(heapMutex_);
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
  return std::exchange(timer_, this->clock().callAt(armedFor_, [this] { addAllDue(); }));
}

template <QueueKey T>
void DelayingQueue<T>::addAllDue() {
  std::vector<std::pair<T, int>> due;
  Timer replaced;
  {
    const detail::Lock lock(heapMutex_);
    if (closed_) return;
    ++adding_;
  }
  // The last step: the queue may be gone as soon as the lock is given back.
  const detail::Finally ending([this] {
    const detail::Lock lock(heapMutex_);
    --adding_;
    addingEnded_.notify_all();
  });
  {
    const detail::Lock lock(heapMutex_);
    if (closed_) return;
    const auto now = this->clock().now();
    while (!heap_.empty() && heap_.front()->when <= now) {
      Entry& entry = popFirst();
      const int priority = entry.priority;
      due.emplace_back(table_.erase(entry), priority);
    }
    // This may be the call of a timer that was replaced too late. Then the present one still comes.
    if (armedFor_ <= now) armedFor_ = Clock::noDeadline;
    replaced = arm();
  }
  for (const auto& [item, priority] : due) addDue(item, priority);
}

template <QueueKey T>
void DelayingQueue<T>::dropDelayed() {
  Timer timer;
  detail::ItemTable<Entry> items;  // destroyed without the lock, as the timer is
  detail::Lock lock(heapMutex_);
  closed_ = true;
  std::swap(timer, timer_);
  std::swap(items, table_);
  heap_.clear();
  addingEnded_.wait(lock, [&]() KUBE_REQUIRES(heapMutex_) { return adding_ == 0; });
  lock.unlock();  // the end of the timer waits for addAllDue(), which takes the lock
}

}  // namespace kube
