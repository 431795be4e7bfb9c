// A queue of things to do, each known by a key. It is what is between the watching and the working
// half of a controller.
//
//   kube::WorkQueue<kube::ObjectKey> queue({.name = "networks"});
//   queue.add(key);                                   // from anywhere, as often as one likes
//
//   for (kube::WorkItem<kube::ObjectKey> item; queue.next(item, stop);) {   // in each worker
//     reconcile(*item);
//   }
//
// What it promises:
// - An item that is added again while it waits is there once.
// - An item that is added while it is worked on is queued again when that is done: what happened
//   meanwhile is not lost.
// - No two workers have the same item at the same time.
// - Items come out in the order they went in. One with a higher priority comes before all with a
//   lower one; adding an item again with a higher priority than it waits with moves it up, to the
//   end of those that have it already, and with a lower one changes nothing.
//
// next() finishes the item that it is given and takes another; leaving the loop finishes the last.
// get() and done() are the same by hand.
//
// A named queue counts what it does: see kube/workqueue/queue_metrics.h. The options' clock and
// metrics outlive the queue.
//
// Thread safety: every method may be called from any thread. A queue is destroyed when nobody is
// in any of them, and after its WorkItems.
#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kube/base/clock.h"
#include "kube/base/metrics.h"
#include "kube/workqueue/item_table.h"
#include "kube/workqueue/queue_metrics.h"
#include "kube/workqueue/spin_mutex.h"

namespace kube {

struct QueueOptions {
  std::string name = {};       // for the metrics, of which a queue without a name has none
  Clock* clock = nullptr;      // null: the real one
  Metrics* metrics = nullptr;  // null: defaultMetrics()
};

/// What can be a key: a value that compares and hashes. Copying is best cheap, as of kube::String.
template <class T>
concept QueueKey = std::copyable<T> && std::default_initializable<T> && std::equality_comparable<T>;

template <QueueKey T>
class WorkQueue;

namespace detail {

template <class T>
struct QueueEntry {
  T key = {};
  TableSlot slot = {};
  std::uint32_t generation = 0;  // how often it was taken, so that an old WorkItem is known as such
  int priority = 0;              // of the place where it waits, or is to wait
  int takenPriority = 0;         // of the place where it was taken from
  bool processing = false;       // or else it waits
  bool again = false;            // added while it was worked on
  QueueEntry* next = nullptr;
  QueueEntry* prev = nullptr;
  Clock::TimePoint added = {};  // these are set for metrics alone
  Clock::TimePoint started = {};
};

/// A list of entries, by their own pointers.
template <class Entry>
struct EntryList {
  Entry* first = nullptr;
  Entry* last = nullptr;

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

}  // namespace detail

/// An item that its owner works on, and nobody else. Done when destroyed.
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

  explicit operator bool() const noexcept { return queue_ != nullptr; }
  /// Only while it holds one.
  const T& operator*() const noexcept { return entry_->key; }
  const T* operator->() const noexcept { return &entry_->key; }
  /// What it was added with: for who puts it back.
  int priority() const noexcept { return priority_; }

  void done() noexcept {
    if (auto* queue = std::exchange(queue_, nullptr)) queue->finish(*entry_, generation_);
  }

 private:
  friend class WorkQueue<T>;

  WorkQueue<T>* queue_ = nullptr;  // null: it holds none
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

  /// Nothing happens once the queue is shut down.
  void add(const T& item, int priority = 0);

  /// How many items wait, without those that are worked on.
  std::size_t len() const noexcept { return ready_.load(std::memory_order_relaxed); }

  /// Finishes what `item` holds, and waits for the next. False: there is none any more, since the
  /// queue is shut down and empty or a stop is requested; then `item` holds nothing.
  bool next(WorkItem<T>& item, const std::stop_token& stop = {});

  /// Waits for the next item, which is to be followed by done().
  std::optional<T> get(const std::stop_token& stop = {});
  /// Of an item that is not being worked on, this is ignored.
  void done(const T& item);

  /// Takes no more items, and lets workers go when those that wait are done.
  virtual void shutDown();
  /// The same, and returns when all items that are there are done. Ends before that on a stop, or
  /// when shutDown() is called.
  virtual void shutDownWithDrain(const std::stop_token& stop = {});
  bool shuttingDown() const;

 protected:
  Clock& clock() const noexcept { return clock_; }
  detail::QueueMetrics* metrics() const noexcept { return metrics_.get(); }

 private:
  friend class WorkItem<T>;
  using Entry = detail::QueueEntry<T>;
  using Lock = std::unique_lock<detail::SpinMutex>;
  struct Level {
    int priority;
    detail::EntryList<Entry> waiting;
  };

  // How often a worker looks for an item before it goes to sleep, and how many items may wait for
  // one that is about to be up. Both measured.
  static constexpr int kLooks = 100;
  static constexpr std::size_t kItemsPerWake = 512;

  void finish(Entry& entry, std::uint32_t generation) noexcept;

  void enqueue(Entry& entry);
  void noteAdded(Entry& entry);
  // Unlocks. `dropped` goes before it waits.
  Entry* take(Lock& lock, const std::stop_token& stop, T& dropped);
  Entry& pop() noexcept;
  // Returns the key, if nothing is left of the entry.
  T finishLocked(Entry& entry) noexcept;
  void waitForItem(Lock& lock, const std::stop_token& stop, T& dropped);
  bool shouldWake() noexcept;
  void unlockAndWake(Lock& lock) noexcept;
  void updateMetrics();

  Clock& clock_;

  // How workers wait. At most one looks out for new items for a moment; all others sleep. Whoever
  // puts an item in wakes a sleeper only if nobody looks and nobody is on the way already, and who
  // takes one and leaves others behind does the same: a chain of wakes instead of one for every
  // item. So: if items wait and workers sleep, then somebody looks or is on the way, or holds the
  // lock.
  mutable detail::SpinMutex mutex_;  // guards all that follows
  bool shuttingDown_ = false;
  bool draining_ = false;
  std::uint32_t sleepers_ = 0;
  std::uint32_t lookers_ = 0;
  std::uint32_t wakes_ = 0;  // sleepers that were called and are not up yet
  std::atomic<std::size_t> ready_ = 0;
  std::vector<Level> levels_;  // by descending priority; none is empty, except a sole one
  detail::EntryList<Entry> processing_;
  detail::ItemTable<Entry> table_;  // all items that wait or are worked on
  std::condition_variable_any itemReady_;
  std::condition_variable_any drained_;

  std::unique_ptr<detail::QueueMetrics> metrics_;  // null without a name
};

template <QueueKey T>
WorkQueue<T>::WorkQueue(const QueueOptions& options)
    : clock_(options.clock != nullptr ? *options.clock : realClock()), levels_{Level{0, {}}} {
  if (options.name.empty()) return;
  Metrics& registry = options.metrics != nullptr ? *options.metrics : defaultMetrics();
  metrics_ = std::make_unique<detail::QueueMetrics>(registry, options.name);
  metrics_->update = registry.beforeReading([this] { updateMetrics(); });
}

template <QueueKey T>
WorkQueue<T>::~WorkQueue() {
  if (!metrics_) return;
  auto left = static_cast<double>(len());
  for (Entry* entry = processing_.first; entry != nullptr; entry = entry->next) {
    if (entry->again) left += 1;
  }
  metrics_->depth.add(-left);
}

template <QueueKey T>
void WorkQueue<T>::add(const T& item, int priority) {
  const std::uint32_t hash = detail::ItemTable<Entry>::hashOf(item);
  Lock lock(mutex_);
  if (shuttingDown_) return;
  Entry* entry = table_.find(item, hash);
  if (entry == nullptr) {
    entry = &table_.insert(item, hash);
    entry->priority = priority;
    noteAdded(*entry);
    enqueue(*entry);
    unlockAndWake(lock);
  } else if (!entry->processing) {
    if (priority <= entry->priority) return;
    const auto level =
        std::ranges::find(levels_, entry->priority, [](const Level& l) { return l.priority; });
    level->waiting.remove(*entry);
    if (level->waiting.first == nullptr && levels_.size() > 1) levels_.erase(level);
    ready_.store(len() - 1, std::memory_order_relaxed);
    entry->priority = priority;
    enqueue(*entry);
  } else if (!entry->again) {
    entry->again = true;
    entry->priority = priority;
    noteAdded(*entry);
  } else {
    entry->priority = std::max(entry->priority, priority);
  }
}

template <QueueKey T>
void WorkQueue<T>::noteAdded(Entry& entry) {
  if (!metrics_) return;
  metrics_->adds.add();
  metrics_->depth.add(1);
  entry.added = clock_.now();
}

template <QueueKey T>
void WorkQueue<T>::enqueue(Entry& entry) {
  auto level = levels_.begin();
  if (level->priority != entry.priority) {
    if (levels_.size() == 1 && level->waiting.first == nullptr) {
      level->priority = entry.priority;
    } else {
      level = std::ranges::find_if(levels_,
                                   [&](const Level& l) { return l.priority <= entry.priority; });
      if (level == levels_.end() || level->priority != entry.priority) {
        level = levels_.insert(level, Level{entry.priority, {}});
      }
    }
  }
  level->waiting.append(entry);
  ready_.store(len() + 1, std::memory_order_relaxed);
}

template <QueueKey T>
typename WorkQueue<T>::Entry& WorkQueue<T>::pop() noexcept {
  Level& level = levels_.front();
  Entry& entry = *level.waiting.first;
  level.waiting.remove(entry);
  if (level.waiting.first == nullptr && levels_.size() > 1) levels_.erase(levels_.begin());
  ready_.store(len() - 1, std::memory_order_relaxed);
  entry.processing = true;
  entry.takenPriority = entry.priority;
  ++entry.generation;
  processing_.append(entry);
  if (metrics_) {
    entry.started = clock_.now();
    metrics_->depth.add(-1);
    metrics_->queueDuration.observe(detail::secondsOf(entry.started - entry.added));
  }
  return entry;
}

template <QueueKey T>
typename WorkQueue<T>::Entry* WorkQueue<T>::take(Lock& lock, const std::stop_token& stop,
                                                 T& dropped) {
  if (len() == 0 && !shuttingDown_) waitForItem(lock, stop, dropped);
  Entry* const entry = len() == 0 || stop.stop_requested() ? nullptr : &pop();
  unlockAndWake(lock);
  return entry;
}

template <QueueKey T>
void WorkQueue<T>::waitForItem(Lock& lock, const std::stop_token& stop, T& dropped) {
  const auto over = [&] { return len() > 0 || shuttingDown_ || stop.stop_requested(); };
  const bool look = lookers_ == 0 && detail::worthSpinning();
  if (look) ++lookers_;
  lock.unlock();
  dropped = T();
  for (int i = 0; look && i < kLooks && len() == 0; ++i) detail::cpuRelax();
  lock.lock();
  if (look) --lookers_;

  while (!over()) {
    ++sleepers_;
    itemReady_.wait(lock, stop, [&] { return wakes_ > 0 || shuttingDown_; });
    --sleepers_;
    if (wakes_ > 0) --wakes_;
  }
}

template <QueueKey T>
bool WorkQueue<T>::shouldWake() noexcept {
  if (sleepers_ <= wakes_) return false;
  const std::size_t waiting = len();
  if (waiting <= (lookers_ + wakes_) * kItemsPerWake) return false;
  ++wakes_;
  return true;
}

template <QueueKey T>
void WorkQueue<T>::unlockAndWake(Lock& lock) noexcept {
  const bool wake = shouldWake();
  lock.unlock();
  if (wake) itemReady_.notify_one();
}

template <QueueKey T>
T WorkQueue<T>::finishLocked(Entry& entry) noexcept {
  processing_.remove(entry);
  entry.processing = false;
  if (metrics_) {
    metrics_->workDuration.observe(detail::secondsOf(clock_.now() - entry.started));
  }
  if (std::exchange(entry.again, false)) {
    enqueue(entry);
    return T();
  }
  T key = table_.erase(entry);
  if (draining_ && table_.size() == 0) drained_.notify_all();
  return key;
}

template <QueueKey T>
bool WorkQueue<T>::next(WorkItem<T>& item, const std::stop_token& stop) {
  [[maybe_unused]] T dropped;  // destroyed without the lock
  Lock lock(mutex_);
  if (auto* queue = std::exchange(item.queue_, nullptr)) {
    if (queue != this) {
      lock.unlock();
      queue->finish(*item.entry_, item.generation_);
      lock.lock();
    } else if (item.entry_->processing && item.entry_->generation == item.generation_) {
      dropped = finishLocked(*item.entry_);
    }
  }
  Entry* const entry = take(lock, stop, dropped);
  if (entry == nullptr) return false;
  item.queue_ = this;
  item.entry_ = entry;
  item.generation_ = entry->generation;
  item.priority_ = entry->takenPriority;
  return true;
}

template <QueueKey T>
std::optional<T> WorkQueue<T>::get(const std::stop_token& stop) {
  [[maybe_unused]] T dropped;
  Lock lock(mutex_);
  Entry* const entry = take(lock, stop, dropped);
  if (entry == nullptr) return std::nullopt;
  return entry->key;  // which does not change while it is worked on
}

template <QueueKey T>
void WorkQueue<T>::done(const T& item) {
  const std::uint32_t hash = detail::ItemTable<Entry>::hashOf(item);
  [[maybe_unused]] T dropped;
  Lock lock(mutex_);
  Entry* const entry = table_.find(item, hash);
  if (entry == nullptr || !entry->processing) return;
  dropped = finishLocked(*entry);
  unlockAndWake(lock);
}

template <QueueKey T>
void WorkQueue<T>::finish(Entry& entry, std::uint32_t generation) noexcept {
  [[maybe_unused]] T dropped;
  Lock lock(mutex_);
  if (!entry.processing || entry.generation != generation) return;
  dropped = finishLocked(entry);
  unlockAndWake(lock);
}

template <QueueKey T>
void WorkQueue<T>::shutDown() {
  std::lock_guard lock(mutex_);
  shuttingDown_ = true;
  draining_ = false;
  itemReady_.notify_all();
  drained_.notify_all();
}

template <QueueKey T>
void WorkQueue<T>::shutDownWithDrain(const std::stop_token& stop) {
  Lock lock(mutex_);
  shuttingDown_ = true;
  draining_ = true;
  itemReady_.notify_all();
  drained_.wait(lock, stop, [&] { return !draining_ || table_.size() == 0; });
}

template <QueueKey T>
bool WorkQueue<T>::shuttingDown() const {
  std::lock_guard lock(mutex_);
  return shuttingDown_;
}

template <QueueKey T>
void WorkQueue<T>::updateMetrics() {
  Clock::Duration sum{};
  Clock::Duration longest{};
  {
    std::lock_guard lock(mutex_);
    const auto now = clock_.now();
    for (const Entry* entry = processing_.first; entry != nullptr; entry = entry->next) {
      const auto running = now - entry->started;
      sum += running;
      longest = std::max(longest, running);
    }
  }
  metrics_->unfinishedWork.set(detail::secondsOf(sum));
  metrics_->longestRunning.set(detail::secondsOf(longest));
}

}  // namespace kube
