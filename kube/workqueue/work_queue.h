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
// A named queue counts what it does: see kube/workqueue/internal/queue_metrics.h. The options'
// clock and metrics outlive the queue.
//
// Thread safety: every method may be called from any thread. A queue is destroyed when nobody is
// in any of them, and after its WorkItems.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
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
#include "kube/workqueue/internal/item_table.h"
#include "kube/workqueue/internal/queue_metrics.h"
#include "kube/workqueue/internal/spin_mutex.h"

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
  std::size_t len() const;

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
  struct Arrival {
    T key;
    std::uint32_t hash;
    Clock::TimePoint added;  // for metrics alone
  };
  struct Level {
    int priority;
    detail::EntryList<Entry> waiting;
  };

  // How many items may come in before they are put in their places, how often a worker looks for
  // one before it goes to sleep, and how many may wait for a worker that is about to be up. All
  // measured.
  static constexpr std::size_t kArrivals = 128;
  static constexpr int kLooks = 100;
  static constexpr std::size_t kItemsPerWake = 512;
  // How long a worker dozes, how many items others have to take at least in that time, and how many
  // are enough, however many wait.
  static constexpr std::chrono::microseconds kDoze{100};
  static constexpr std::size_t kFlow = 4;
  static constexpr std::size_t kSwift = 100;

  void finish(Entry& entry, std::uint32_t generation) noexcept;

  Arrival arrival(const T& item) const;
  // Puts what has come in where it belongs.
  void admit();
  void place(Arrival& arrival, int priority);
  void noteAdded(Entry& entry, Clock::TimePoint added);
  void enqueue(Entry& entry);
  // Unlocks. `dropped` goes before it waits.
  Entry* take(Lock& lock, const std::stop_token& stop, T& dropped);
  Entry& pop() noexcept;
  // Returns the key, if nothing is left of the entry.
  T finishLocked(Entry& entry) noexcept;
  void waitForItem(Lock& lock, const std::stop_token& stop, T& dropped);
  void lookOut(Lock& lock, const std::stop_token& stop, T& dropped);
  // Leaves the work to others, if they do it swiftly.
  void stepBack(Lock& lock, const std::stop_token& stop, T& dropped);
  // Returns whether it was woken.
  bool sleep(Lock& lock, const std::stop_token& stop,
             std::chrono::microseconds longest = std::chrono::microseconds::max());
  // Whether a worker will see what has come in without being woken.
  bool othersCome() const noexcept {
    return wakes_ > 0 || (lookers_ > 0 && (!dozing_ || processing_.first != nullptr));
  }
  // Says whether the next item has to wake a worker. Returns whether some have come in before.
  bool call(bool calling) noexcept;
  bool shouldWake() noexcept;
  void unlockAndWake(Lock& lock) noexcept;
  void close();
  void updateMetrics();

  Clock& clock_;

  // How items come in. add() only notes its item, under a lock of its own, so adding and working
  // disturb each other little. Everybody else begins with putting what has come in where it
  // belongs, so nobody can tell; and so does who adds the last that there is room for.
  //
  // How workers wait. At most one looks out for new items for a moment; all others sleep. Whoever
  // puts an item in wakes a sleeper only if nobody looks and nobody is on the way already, and who
  // takes one and leaves others behind does the same: a chain of wakes instead of one for every
  // item. So: if items are there and workers sleep, then somebody looks or is on the way, or holds
  // the lock, or is about to take it since `calling` is set. The one that looks out dozes as long
  // as those at work keep up with what comes in: what they do takes less time than waking another.
  struct alignas(64) Arrivals {
    detail::SpinMutex mutex;  // guards all of it; taken after the queue's, if with it
    bool closed = false;      // the queue is shut down
    bool calling = false;     // the next item has to wake a worker
    std::vector<Arrival> items;
    std::atomic<std::size_t> count = 0;  // of the items, for a look without the lock
  };
  Arrivals arrivals_;

  alignas(64) mutable detail::SpinMutex mutex_;  // guards all that follows
  bool shuttingDown_ = false;
  bool draining_ = false;
  bool calling_ = false;  // what was last said to the arrivals
  std::uint32_t sleepers_ = 0;
  std::uint32_t lookers_ = 0;  // at most 1
  bool dozing_ = false;        // the one that looks out, which then counts as a sleeper as well
  std::uint32_t wakes_ = 0;    // sleepers that were called and are not up yet
  std::size_t ready_ = 0;      // how many wait
  std::uint64_t taken_ = 0;    // how many were taken, ever
  std::vector<Level> levels_;  // by descending priority; none is empty, except a sole one
  detail::EntryList<Entry> processing_;
  detail::ItemTable<Entry> table_;  // all items that wait or are worked on
  std::vector<Arrival> admitted_;   // those of the arrivals that are on their way into the table,
  std::size_t admittedUpTo_ = 0;    // up to here
  std::condition_variable_any itemReady_;
  std::condition_variable_any drained_;

  std::unique_ptr<detail::QueueMetrics> metrics_;  // null without a name
};

template <QueueKey T>
WorkQueue<T>::WorkQueue(const QueueOptions& options)
    : clock_(orReal(options.clock)), levels_{Level{0, {}}} {
  arrivals_.items.reserve(kArrivals);
  admitted_.reserve(kArrivals);
  if (options.name.empty()) return;
  Metrics& registry = orDefault(options.metrics);
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
typename WorkQueue<T>::Arrival WorkQueue<T>::arrival(const T& item) const {
  return {item, detail::ItemTable<Entry>::hashOf(item),
          metrics_ ? clock_.now() : Clock::TimePoint()};
}

template <QueueKey T>
void WorkQueue<T>::add(const T& item, int priority) {
  Arrival added = arrival(item);
  if (priority != 0) {
    Lock lock(mutex_);
    admit();
    if (shuttingDown_) return;
    place(added, priority);
    unlockAndWake(lock);
    return;
  }
  bool admitNow = false;
  {
    std::lock_guard lock(arrivals_.mutex);
    if (arrivals_.closed) return;
    arrivals_.items.push_back(std::move(added));
    const std::size_t count = arrivals_.items.size();
    arrivals_.count.store(count, std::memory_order_relaxed);
    admitNow = arrivals_.calling || count >= kArrivals;
  }
  if (!admitNow) return;
  Lock lock(mutex_);
  admit();
  unlockAndWake(lock);
}

template <QueueKey T>
void WorkQueue<T>::admit() {
  if (admitted_.empty()) {
    if (arrivals_.count.load(std::memory_order_relaxed) == 0) return;
    std::lock_guard lock(arrivals_.mutex);
    admitted_.swap(arrivals_.items);
    arrivals_.count.store(0, std::memory_order_relaxed);
  }
  // If there is no memory for one of them, it and those behind it are still there the next time.
  for (; admittedUpTo_ < admitted_.size(); ++admittedUpTo_) place(admitted_[admittedUpTo_], 0);
  admitted_.clear();
  admittedUpTo_ = 0;
}

template <QueueKey T>
void WorkQueue<T>::place(Arrival& arrival, int priority) {
  Entry* entry = table_.find(arrival.key, arrival.hash);
  if (entry == nullptr) {
    entry = &table_.insert(std::move(arrival.key), arrival.hash);
    entry->priority = priority;
    noteAdded(*entry, arrival.added);
    enqueue(*entry);
  } else if (!entry->processing) {
    if (priority <= entry->priority) return;
    const auto level =
        std::ranges::find(levels_, entry->priority, [](const Level& l) { return l.priority; });
    level->waiting.remove(*entry);
    if (level->waiting.first == nullptr && levels_.size() > 1) levels_.erase(level);
    --ready_;
    entry->priority = priority;
    enqueue(*entry);
  } else if (!entry->again) {
    entry->again = true;
    entry->priority = priority;
    noteAdded(*entry, arrival.added);
  } else {
    entry->priority = std::max(entry->priority, priority);
  }
}

template <QueueKey T>
std::size_t WorkQueue<T>::len() const {
  std::lock_guard lock(mutex_);
  // What has come in is part of what waits, as far as it was not there already.
  const_cast<WorkQueue*>(this)->admit();
  return ready_;
}

template <QueueKey T>
void WorkQueue<T>::noteAdded(Entry& entry, Clock::TimePoint added) {
  if (!metrics_) return;
  metrics_->adds.add();
  metrics_->depth.add(1);
  entry.added = added;
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
  ++ready_;
}

template <QueueKey T>
typename WorkQueue<T>::Entry& WorkQueue<T>::pop() noexcept {
  Level& level = levels_.front();
  Entry& entry = *level.waiting.first;
  level.waiting.remove(entry);
  if (level.waiting.first == nullptr && levels_.size() > 1) levels_.erase(levels_.begin());
  --ready_;
  ++taken_;
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
  if (ready_ == 0 && !shuttingDown_) waitForItem(lock, stop, dropped);
  Entry* const entry = ready_ == 0 || stop.stop_requested() ? nullptr : &pop();
  unlockAndWake(lock);
  return entry;
}

template <QueueKey T>
void WorkQueue<T>::waitForItem(Lock& lock, const std::stop_token& stop, T& dropped) {
  const auto over = [&] { return shuttingDown_ || stop.stop_requested(); };
  do {
    lookOut(lock, stop, dropped);
    if (ready_ > 0 || over()) return;
    if (othersCome() || !call(true)) sleep(lock, stop);
    admit();
  } while (!over() && (ready_ == 0 || processing_.first != nullptr));
}

template <QueueKey T>
void WorkQueue<T>::lookOut(Lock& lock, const std::stop_token& stop, T& dropped) {
  if (lookers_ > 0 || !detail::worthSpinning()) {
    lock.unlock();
    dropped = T();
    lock.lock();
    return admit();
  }
  ++lookers_;
  call(false);
  std::uint64_t taken = taken_;
  const bool alone = processing_.first == nullptr;
  lock.unlock();
  dropped = T();
  for (int i = 0; i < kLooks; ++i) {
    if (alone && arrivals_.count.load(std::memory_order_relaxed) > 0) break;
    detail::cpuRelax();
  }
  lock.lock();
  admit();
  // While others keep up, or do what they do faster than it can be handed out, one more would only
  // be in their way.
  for (std::size_t waited = 0; taken_ - taken >= std::clamp(waited, kFlow, kSwift);) {
    waited = ready_;
    taken = taken_;
    dozing_ = true;
    const bool woken = sleep(lock, stop, kDoze);
    dozing_ = false;
    admit();
    if (woken || shuttingDown_ || stop.stop_requested()) break;
  }
  --lookers_;
}

template <QueueKey T>
void WorkQueue<T>::stepBack(Lock& lock, const std::stop_token& stop, T& dropped) {
  if (dozing_) {
    sleep(lock, stop);
    admit();
  } else if (lookers_ == 0) {
    lookOut(lock, stop, dropped);
  }
}

template <QueueKey T>
bool WorkQueue<T>::sleep(Lock& lock, const std::stop_token& stop,
                         std::chrono::microseconds longest) {
  const auto over = [&] { return wakes_ > 0 || shuttingDown_; };
  ++sleepers_;
  if (longest == std::chrono::microseconds::max()) {
    itemReady_.wait(lock, stop, over);
  } else {
    itemReady_.wait_for(lock, stop, longest, over);
  }
  --sleepers_;
  if (wakes_ == 0) return false;
  --wakes_;
  return true;
}

template <QueueKey T>
bool WorkQueue<T>::call(bool calling) noexcept {
  std::lock_guard lock(arrivals_.mutex);
  calling_ = arrivals_.calling = calling;
  return !arrivals_.items.empty();
}

template <QueueKey T>
bool WorkQueue<T>::shouldWake() noexcept {
  if (sleepers_ <= wakes_) return false;
  bool any = false;
  if (!othersCome()) {
    any = ready_ > 0 || (!calling_ && call(true));
  } else if (!dozing_) {
    any = ready_ > (lookers_ + wakes_) * kItemsPerWake;
  }
  if (!any) return false;
  ++wakes_;
  if (calling_) call(false);
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
  if (item.queue_ != this) item.done();
  Lock lock(mutex_, std::try_to_lock);
  const bool crowded = !lock.owns_lock();
  if (crowded) lock.lock();
  admit();
  if (std::exchange(item.queue_, nullptr) != nullptr && item.entry_->processing &&
      item.entry_->generation == item.generation_) {
    dropped = finishLocked(*item.entry_);
  }
  if (crowded && processing_.first != nullptr) stepBack(lock, stop, dropped);
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
  admit();
  Entry* const entry = take(lock, stop, dropped);
  if (entry == nullptr) return std::nullopt;
  return entry->key;  // which does not change while it is worked on
}

template <QueueKey T>
void WorkQueue<T>::done(const T& item) {
  const std::uint32_t hash = detail::ItemTable<Entry>::hashOf(item);
  [[maybe_unused]] T dropped;
  Lock lock(mutex_);
  admit();
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
  try {
    admit();
  } catch (const std::exception&) {
    // There is no memory for what has come in: it stays where it is, and is put in its place later.
  }
  dropped = finishLocked(entry);
  unlockAndWake(lock);
}

template <QueueKey T>
void WorkQueue<T>::close() {
  {
    std::lock_guard lock(arrivals_.mutex);
    arrivals_.closed = true;
  }
  shuttingDown_ = true;
  admit();
}

template <QueueKey T>
void WorkQueue<T>::shutDown() {
  std::lock_guard lock(mutex_);
  close();
  draining_ = false;
  itemReady_.notify_all();
  drained_.notify_all();
}

template <QueueKey T>
void WorkQueue<T>::shutDownWithDrain(const std::stop_token& stop) {
  Lock lock(mutex_);
  close();
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
    admit();
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
