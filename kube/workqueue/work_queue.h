// A queue of keys between the two halves of a controller: handlers of informers add keys, and
// workers take them.
//
//   kube::WorkQueue<kube::ObjectKey> queue({.name = "networks"});
//   queue.add(key);                                   // in handlers, on any thread
//
//   for (kube::WorkItem<kube::ObjectKey> item; queue.next(item, stop);) {   // in each worker
//     reconcile(*item);
//   }
//
// - An item that is added again while it waits is in the queue once.
// - An item that is added while a worker has it waits again when that work is done. So no change is
//   missed.
// - No two workers have the same item at the same time.
// - Items are taken in the order in which they were added, those with a higher priority first. An
//   item that is added again with a higher priority moves to the end of that priority; with a lower
//   one, nothing changes.
//
// next() finishes the previous item of the worker and takes another; leaving the loop finishes the
// last. get() and done() are the same by hand.
//
// Coroutines are workers as well, beside threads or instead of them: async_work_queue.h.
//
// A named queue has metrics, which kube/workqueue/internal/queue_metrics.h lists. The clock and the
// metrics of the options must outlive the queue.
//
// Thread safety: every method may be called from any thread. Before a queue is destroyed, all calls
// of its methods have returned, and its WorkItems are gone.
#pragma once

#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>

#include "kube/base/clock.h"
#include "kube/base/metrics.h"
#include "kube/workqueue/internal/arrivals.h"
#include "kube/workqueue/internal/queue_items.h"
#include "kube/workqueue/internal/queue_metrics.h"
#include "kube/workqueue/internal/spin_mutex.h"
#include "kube/workqueue/internal/worker_parking.h"

namespace kube {

struct QueueOptions {
  std::string name = {};       // in the metrics; a queue without a name has none
  Clock* clock = nullptr;      // null: the real one
  Metrics* metrics = nullptr;  // null: defaultMetrics()
};

/// The type of a queue's items: it compares and hashes, and is best cheap to copy, as kube::String
/// is.
template <class T>
concept QueueKey = std::copyable<T> && std::default_initializable<T> && std::equality_comparable<T>;

template <QueueKey T>
class WorkQueue;
template <QueueKey T>
class AsyncWorkQueue;

/// An item that a worker has taken. Its end finishes the work on it.
template <QueueKey T>
class WorkItem {
 public:
  WorkItem() = default;
  WorkItem(WorkItem&& other) noexcept
      : queue_(std::exchange(other.queue_, nullptr)),
        entry_(other.entry_),
        generation_(other.generation_),
        priority_(other.priority_) {}
  WorkItem& operator=(WorkItem&& other) noexcept {
    if (this == &other) return *this;
    done();
    queue_ = std::exchange(other.queue_, nullptr);
    entry_ = other.entry_;
    generation_ = other.generation_;
    priority_ = other.priority_;
    return *this;
  }
  ~WorkItem() { done(); }

  /// True if there is an item, which `*` and `->` need.
  explicit operator bool() const noexcept { return queue_ != nullptr; }
  const T& operator*() const noexcept { return entry_->key; }
  const T* operator->() const noexcept { return &entry_->key; }
  /// The priority that the item was taken with, for adding it again.
  int priority() const noexcept { return priority_; }

  void done() noexcept {
    if (auto* queue = std::exchange(queue_, nullptr)) queue->finish(*entry_, generation_);
  }

 private:
  friend class WorkQueue<T>;
  friend class AsyncWorkQueue<T>;

  WorkQueue<T>* queue_ = nullptr;  // null: there is no item
  detail::QueueEntry<T>* entry_ = nullptr;
  std::uint32_t generation_ = 0;
  int priority_ = 0;
};

template <QueueKey T>
class WorkQueue {
 public:
  using Item = T;

  explicit WorkQueue(const QueueOptions& options = {});
  virtual ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  /// Does nothing after a shutdown.
  void add(const T& item, int priority = 0);

  /// The number of waiting items, without those that workers have.
  std::size_t len() const;

  /// Finishes the item in `item`, and waits for the next. Returns false, with no item, when a stop
  /// is requested, or the queue is shut down and empty.
  bool next(WorkItem<T>& item, const std::stop_token& stop = {});

  /// Waits for the next item, for which done() must be called. Returns nothing where next() returns
  /// false.
  std::optional<T> get(const std::stop_token& stop = {});
  /// Does nothing if no worker has the item.
  void done(const T& item);
  /// The awaitable forms of next() and get(), which async_work_queue.h defines.
  AsyncWorkQueue<T> async() noexcept { return AsyncWorkQueue<T>(*this); }

  /// Takes no more items. Workers get the items that wait, and then none.
  virtual void shutDown();
  /// The same, and waits until all items are done, a stop is requested, or shutDown() is called.
  virtual void shutDownWithDrain(const std::stop_token& stop = {});
  bool shuttingDown() const;

 protected:
  Clock& clock() const noexcept { return clock_; }
  detail::QueueMetrics* metrics() const noexcept { return metrics_.get(); }

 private:
  friend class WorkItem<T>;
  friend class AsyncWorkQueue<T>;
  class Turn;
  class Waiting;
  using Entry = detail::QueueEntry<T>;

  static std::uint32_t hashOf(const T& item) noexcept {
    return detail::ItemTable<Entry>::hashOf(item);
  }
  void admit() const KUBE_REQUIRES(itemsMutex_) { items_.admit(arrivals_); }
  detail::QueueLoad load() const noexcept KUBE_REQUIRES(itemsMutex_);
  detail::WorkerParking::Look look();
  // Waits for an item and takes it; null if there is none.
  Entry* take(detail::SpinLock& lock, const std::stop_token& stop) KUBE_REQUIRES(itemsMutex_);
  void give(WorkItem<T>& item, Entry& entry) noexcept;
  // Finishes the item, if it is one of this queue. Sets `finished` as finishLocked() returns.
  void finishPrevious(WorkItem<T>& item, T& finished) noexcept KUBE_REQUIRES(itemsMutex_);
  void finish(Entry& entry, std::uint32_t generation) noexcept;
  // Returns the key if no entry needs it any more, to be destroyed without the lock.
  T finishLocked(Entry& entry) noexcept KUBE_REQUIRES(itemsMutex_);
  // Returns the coroutines that go on.
  [[nodiscard]] detail::WorkerParking::Sleepers close() KUBE_REQUIRES(itemsMutex_);
  void updateMetrics();

  Clock& clock_;

  // Mutable as far as len() needs it, which admits arrivals. That changes no answer of any method.
  alignas(64) mutable detail::Arrivals<T> arrivals_;
  alignas(64) mutable detail::SpinMutex itemsMutex_;
  mutable detail::QueueItems<T> items_ KUBE_GUARDED_BY(itemsMutex_);
  detail::WorkerParking parking_ KUBE_GUARDED_BY(itemsMutex_);  // but wake() needs no lock
  bool draining_ KUBE_GUARDED_BY(itemsMutex_) = false;
  std::condition_variable_any drained_;

  std::unique_ptr<detail::QueueMetrics> metrics_;  // null without a name
};

/// Holds the lock of a queue. Its end wakes workers, if any has to look at the changes.
template <QueueKey T>
class KUBE_SCOPED_LOCK WorkQueue<T>::Turn {
 public:
  explicit Turn(WorkQueue& queue) KUBE_ACQUIRES(queue.itemsMutex_)
      : queue_(queue),
        crowded_(!queue.itemsMutex_.try_lock()),
        lock_(queue.itemsMutex_, std::adopt_lock) {
    if (crowded_) queue.itemsMutex_.lock();
  }
  ~Turn() KUBE_RELEASES() {
    const auto whom = queue_.parking_.requestWake(queue_.load());
    if (whom == Wake::Coroutine) [[unlikely]] {
      endCalling();
    } else {
      lock_.unlock();
      queue_.parking_.wake(whom);
    }
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  /// True if another thread had the lock.
  bool crowded() const noexcept { return crowded_; }
  void unlock() noexcept KUBE_RELEASES() { lock_.unlock(); }
  void lock() noexcept KUBE_ACQUIRES() { lock_.lock(); }
  operator detail::SpinLock&() noexcept { return lock_; }

 private:
  using Wake = detail::WorkerParking::Wake;

  // Apart from the destructor, which compilers put in line.
  __attribute__((noinline)) void endCalling() noexcept KUBE_RELEASES() {
    Wake whom = Wake::Coroutine;
    const auto called = queue_.parking_.callCoroutines(queue_.load(), whom);
    lock_.unlock();
    queue_.parking_.wake(whom);
    detail::WorkerParking::goOn(called);
  }

  WorkQueue& queue_;
  const bool crowded_;
  detail::SpinLock lock_;
};

template <QueueKey T>
WorkQueue<T>::WorkQueue(const QueueOptions& options)
    : clock_(orReal(options.clock)), items_(clock_), parking_(arrivals_) {
  if (options.name.empty()) return;
  Metrics& registry = orDefault(options.metrics);
  metrics_ = std::make_unique<detail::QueueMetrics>(registry, options.name);
  items_.countIn(*metrics_);
  metrics_->update = registry.beforeReading([this] { updateMetrics(); });
}

template <QueueKey T>
WorkQueue<T>::~WorkQueue() {
  if (!metrics_) return;
  metrics_->depth.add(-static_cast<double>(len() + items_.addedAgain()));
}

template <QueueKey T>
void WorkQueue<T>::add(const T& item, int priority) {
  detail::Arrival<T> arrival{item, hashOf(item), metrics_ ? clock_.now() : Clock::TimePoint()};
  if (priority == 0) {
    if (!arrivals_.add(std::move(arrival))) return;
    const Turn turn(*this);
    admit();
  } else {
    const Turn turn(*this);
    admit();
    if (!parking_.closed()) items_.add(arrival, priority);
  }
}

template <QueueKey T>
std::size_t WorkQueue<T>::len() const {
  const detail::SpinLock lock(itemsMutex_);
  admit();
  return items_.waiting();
}

template <QueueKey T>
bool WorkQueue<T>::next(WorkItem<T>& item, const std::stop_token& stop) {
  [[maybe_unused]] T finished;
  if (item.queue_ != this) item.done();
  Turn turn(*this);
  admit();
  finishPrevious(item, finished);
  const bool crowded = turn.crowded() && items_.anyInWork();
  if (crowded || items_.waiting() == 0) {
    const std::uint64_t taken = items_.taken();
    turn.unlock();
    finished = T();
    turn.lock();
    if (crowded) parking_.yieldToOthers(turn, stop, look(), taken);
  }
  Entry* const entry = take(turn, stop);
  if (entry == nullptr) return false;
  give(item, *entry);
  return true;
}

template <QueueKey T>
void WorkQueue<T>::give(WorkItem<T>& item, Entry& entry) noexcept {
  item.queue_ = this;
  item.entry_ = &entry;
  item.generation_ = entry.generation;
  item.priority_ = entry.takenPriority;
}

template <QueueKey T>
void WorkQueue<T>::finishPrevious(WorkItem<T>& item, T& finished) noexcept {
  if (std::exchange(item.queue_, nullptr) != nullptr && item.entry_->inWork &&
      item.entry_->generation == item.generation_) {
    finished = finishLocked(*item.entry_);
  }
}

template <QueueKey T>
std::optional<T> WorkQueue<T>::get(const std::stop_token& stop) {
  Entry* entry = nullptr;
  {
    Turn turn(*this);
    admit();
    entry = take(turn, stop);
  }
  if (entry == nullptr) return std::nullopt;
  return entry->key;  // which does not change while the item is in work
}

template <QueueKey T>
void WorkQueue<T>::done(const T& item) {
  [[maybe_unused]] T finished;
  Turn turn(*this);
  admit();
  if (Entry* const entry = items_.inWork(item, hashOf(item))) finished = finishLocked(*entry);
}

template <QueueKey T>
void WorkQueue<T>::finish(Entry& entry, std::uint32_t generation) noexcept {
  [[maybe_unused]] T finished;
  Turn turn(*this);
  if (!entry.inWork || entry.generation != generation) return;
  try {
    admit();
  } catch (const std::exception&) {
    // There is no memory for the arrivals. The next call admits them.
  }
  finished = finishLocked(entry);
}

template <QueueKey T>
detail::WorkerParking::Look WorkQueue<T>::look() {
  return [this]() KUBE_REQUIRES(itemsMutex_) {
    admit();
    return load();
  };
}

template <QueueKey T>
typename WorkQueue<T>::Entry* WorkQueue<T>::take(detail::SpinLock& lock,
                                                 const std::stop_token& stop) {
  if (items_.waiting() == 0) parking_.waitForItem(lock, stop, look());
  return items_.waiting() == 0 || stop.stop_requested() ? nullptr : &items_.take();
}

template <QueueKey T>
T WorkQueue<T>::finishLocked(Entry& entry) noexcept {
  T key = items_.finish(entry);
  if (draining_ && items_.empty()) drained_.notify_all();
  return key;
}

template <QueueKey T>
detail::QueueLoad WorkQueue<T>::load() const noexcept {
  return {.waiting = items_.waiting() + items_.unadmitted(),
          .taken = items_.taken(),
          .inWork = items_.anyInWork()};
}

template <QueueKey T>
detail::WorkerParking::Sleepers WorkQueue<T>::close() {
  arrivals_.close();
  return parking_.close();
}

template <QueueKey T>
void WorkQueue<T>::shutDown() {
  detail::WorkerParking::Sleepers called;
  {
    const detail::SpinLock lock(itemsMutex_);
    called = close();
    draining_ = false;
    drained_.notify_all();
  }
  detail::WorkerParking::goOn(called);
}

template <QueueKey T>
void WorkQueue<T>::shutDownWithDrain(const std::stop_token& stop) {
  detail::SpinLock lock(itemsMutex_);
  const detail::WorkerParking::Sleepers called = close();
  admit();
  draining_ = true;
  lock.unlock();
  detail::WorkerParking::goOn(called);
  lock.lock();
  drained_.wait(lock, stop,
                [this]() KUBE_REQUIRES(itemsMutex_) { return !draining_ || items_.empty(); });
}

template <QueueKey T>
bool WorkQueue<T>::shuttingDown() const {
  const detail::SpinLock lock(itemsMutex_);
  return parking_.closed();
}

template <QueueKey T>
void WorkQueue<T>::updateMetrics() {
  typename detail::QueueItems<T>::WorkTimes times;
  {
    const detail::SpinLock lock(itemsMutex_);
    admit();
    times = items_.workTimes();
  }
  metrics_->unfinishedWork.set(detail::secondsOf(times.sum));
  metrics_->longestRunning.set(detail::secondsOf(times.longest));
}

}  // namespace kube
