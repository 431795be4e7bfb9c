// A queue of changes, by object: what lies between a Reflector and the Store of an informer.
//
//   kube::DeltaFifo<Pod> queue({.known = &store});
//   // one thread: a reflector calls add, update, remove, replace, resync
//   // another:
//   while (queue.pop(stop, [&](const kube::Deltas<Pod>& changes) { ... })) {}
//
// A consumer gets everything that happened to one object since it last looked, in order, and
// objects in the order in which they first changed. Nothing is lost and nothing merged, but for two
// deletions in a row, which are one.
//
// `known` is what the consumer has stored so far. With it, replace() also finds what has vanished
// while nobody watched, and resync() has something to repeat. The consumer brings it up to date in
// its function; what is in its hands meanwhile counts as still queued, so that a deletion that
// arrives just then is not taken for one of an unknown object.
//
// Invariants: a key is in the queue once, or not at all; its changes are never empty. One
// consumer's function runs at a time.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <iosfwd>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "kube/base/error.h"
#include "kube/cache/reflector_store.h"
#include "kube/cache/store.h"
#include "kube/meta/object_key.h"

namespace kube {

enum class DeltaType : std::uint8_t {
  Added,
  Updated,
  Deleted,
  Replaced,  // it was in a new list; whether it has changed is not known
  Sync,      // nothing has changed: a resync
};

std::string_view toString(DeltaType type) noexcept;
std::ostream& operator<<(std::ostream& out, DeltaType type);

/// One change of an object.
template <class T>
struct Delta {
  DeltaType type = DeltaType::Added;
  /// The state after it; of what was deleted, the last one known, which may be none at all.
  std::shared_ptr<const T> object = {};
  /// Deleted while nobody watched: found missing from a list, and `object` may be outdated.
  /// (client-go's DeletedFinalStateUnknown.)
  bool finalStateUnknown = false;

  bool operator==(const Delta&) const = default;
};

/// What has happened to one object, in order. Never empty.
template <class T>
struct Deltas {
  ObjectKey key = {};
  std::vector<Delta<T>> changes = {};
  /// Whether the consumer has not seen all of the first list before it.
  bool inInitialList = false;

  const Delta<T>& oldest() const noexcept { return changes.front(); }
  const Delta<T>& newest() const noexcept { return changes.back(); }
};

template <class T>
struct DeltaFifoOptions {
  /// What the consumer has; null if it can do without deletions that replace() finds. It must
  /// outlive the queue.
  const Store<T>* known = nullptr;
};

template <Cacheable T>
class DeltaFifo final : public ReflectorStore<T> {
 public:
  using Object = std::shared_ptr<const T>;
  using Options = DeltaFifoOptions<T>;

  explicit DeltaFifo(Options options = {}) : known_(options.known) {}

  void add(Object object) override { change(DeltaType::Added, std::move(object)); }
  void update(Object object) override { change(DeltaType::Updated, std::move(object)); }
  /// Nothing, if neither the queue nor the consumer know the object.
  void remove(Object object) override;
  /// Every object of the list is Replaced; what is known or queued and not in the list is Deleted,
  /// with its last known state.
  void replace(std::vector<Object> objects, const String& resourceVersion = {}) override;
  /// Sync for every object that the consumer knows, unless something is queued for it anyway.
  void resync() override;

  /// Blocks until something has changed, and calls `process` with all that has happened to the
  /// first object in line, without a lock. What `process` throws passes through, and the changes
  /// count as processed. False when nothing will come any more: when the queue is closed and empty,
  /// or a stop is requested.
  template <class Process>
  bool pop(const std::stop_token& stop, Process&& process);
  /// The same without waiting: false also where nothing has changed, or another consumer is at
  /// work, which then goes on with what is queued.
  template <class Process>
  bool tryPop(Process&& process);

  /// Whether all objects of the first replace() have been processed, or something else came first.
  bool hasSynced() const {
    const std::lock_guard lock(itemsMutex_);
    return synced();
  }
  /// Blocks until hasSynced(); false if a stop is requested before.
  bool waitForSync(const std::stop_token& stop = {}) const {
    std::unique_lock lock(itemsMutex_);
    return syncedChanged_.wait(lock, stop, [&] { return synced(); });
  }
  std::size_t size() const {
    const std::lock_guard lock(itemsMutex_);
    return items_.size();
  }
  /// What is queued is still popped.
  void close() {
    const std::lock_guard lock(itemsMutex_);
    closed_ = true;
    changed_.notify_all();
  }
  /// Nobody will pop any more: a replace() under way, of however many objects, ends at once.
  void abandon() noexcept { abandoned_ = true; }
  bool isClosed() const {
    const std::lock_guard lock(itemsMutex_);
    return closed_;
  }

 private:
  using Changes = std::vector<Delta<T>>;

  bool synced() const noexcept { return populated_ && initial_ == 0; }
  // If nothing has come before.
  void setPopulated(std::size_t initial) {
    if (std::exchange(populated_, true)) return;
    initial_ = initial;
    if (initial == 0) syncedChanged_.notify_all();
  }
  void change(DeltaType type, Object object);
  void enqueue(const ObjectKey& key, Delta<T> delta);
  // The last that is queued for a key or in the consumer's hands; null if nothing is.
  const Delta<T>* newest(const ObjectKey& key) const;
  bool vanish(const ObjectKey& key);
  template <class Process>
  bool take(std::unique_lock<std::mutex>& lock, Process& process);

  const Store<T>* const known_;

  mutable std::mutex itemsMutex_;
  std::condition_variable_any changed_;                // for consumers
  mutable std::condition_variable_any syncedChanged_;  // for those who wait for the first list
  std::unordered_map<ObjectKey, Changes, detail::KeyHash> items_;
  std::deque<ObjectKey> queue_;      // the keys of `items_`
  std::optional<Deltas<T>> inHand_;  // what a consumer processes now
  bool populated_ = false;           // something has come
  std::size_t initial_ = 0;          // of the first replace(), not yet processed
  bool closed_ = false;
  std::atomic<bool> abandoned_{false};
};

// ---- What follows is how it is done.

template <Cacheable T>
void DeltaFifo<T>::enqueue(const ObjectKey& key, Delta<T> delta) {
  const auto [item, fresh] = items_.try_emplace(key);
  Changes& changes = item->second;
  if (fresh) {
    queue_.push_back(key);
    changed_.notify_all();
  } else if (delta.type == DeltaType::Deleted && changes.back().type == DeltaType::Deleted) {
    // One of the two, if possible one that knows the final state.
    if (changes.back().finalStateUnknown) changes.back() = std::move(delta);
    return;
  }
  changes.push_back(std::move(delta));
}

template <Cacheable T>
const Delta<T>* DeltaFifo<T>::newest(const ObjectKey& key) const {
  if (const auto found = items_.find(key); found != items_.end()) return &found->second.back();
  if (inHand_ && inHand_->key == key) return &inHand_->newest();
  return nullptr;
}

template <Cacheable T>
void DeltaFifo<T>::change(DeltaType type, Object object) {
  if (object == nullptr) throw Error("delta queue: an object to be added is null");
  const ObjectKey key = keyOf(*object);
  const std::lock_guard lock(itemsMutex_);
  setPopulated(0);
  enqueue(key, {type, std::move(object)});
}

template <Cacheable T>
void DeltaFifo<T>::remove(Object object) {
  if (object == nullptr) throw Error("delta queue: an object to be removed is null");
  const ObjectKey key = keyOf(*object);
  const std::lock_guard lock(itemsMutex_);
  setPopulated(0);
  const Delta<T>* last = newest(key);
  if (last == nullptr) {
    if (known_ == nullptr || !known_->contains(key)) return;
  } else if (last->type == DeltaType::Deleted && !items_.contains(key)) {
    return;  // that deletion is being processed
  }
  enqueue(key, {DeltaType::Deleted, std::move(object)});
}

// Queues that an object was missing from a list; says whether it did.
template <Cacheable T>
bool DeltaFifo<T>::vanish(const ObjectKey& key) {
  Object last;
  if (const Delta<T>* queued = newest(key)) {
    if (queued->type == DeltaType::Deleted && !items_.contains(key)) return false;
    last = queued->object;
  } else {
    last = known_->getByKey(key);
  }
  enqueue(key, {DeltaType::Deleted, std::move(last), true});
  return true;
}

template <Cacheable T>
void DeltaFifo<T>::replace(std::vector<Object> objects, const String&) {
  for (const Object& object : objects) {
    if (object == nullptr) throw Error("delta queue: an object of a list is null");
  }
  const std::lock_guard lock(itemsMutex_);
  const std::size_t before = queue_.size();
  std::unordered_set<ObjectKey, detail::KeyHash> listed;  // to find what was queued and is not
  items_.reserve(before + objects.size());
  for (Object& object : objects) {
    if (abandoned_.load(std::memory_order_relaxed)) return;
    const ObjectKey key = keyOf(*object);
    enqueue(key, {DeltaType::Replaced, std::move(object)});
    if (before != 0) listed.insert(key);
  }
  const std::size_t queued = items_.size();
  std::vector<ObjectKey> missing;
  for (std::size_t i = 0; i < before; ++i) {
    if (!listed.contains(queue_[i])) missing.push_back(queue_[i]);
  }
  const auto unknown = [&](const ObjectKey& key) { return !items_.contains(key); };
  bool handKnown = false;
  if (known_ != nullptr) {
    for (ObjectKey& key : known_->listKeys()) {
      if (!unknown(key)) continue;
      handKnown = handKnown || (inHand_ && inHand_->key == key);
      missing.push_back(std::move(key));
    }
  }
  if (inHand_ && !handKnown && unknown(inHand_->key)) missing.push_back(inHand_->key);
  std::size_t deletions = 0;
  for (const ObjectKey& key : missing) deletions += vanish(key) ? 1 : 0;
  setPopulated(queued + deletions);
}

template <Cacheable T>
void DeltaFifo<T>::resync() {
  if (known_ == nullptr) return;
  const std::lock_guard lock(itemsMutex_);
  for (Object& object : known_->list()) {
    const ObjectKey key = keyOf(*object);
    // What is under way will tell newer than what is known.
    if (newest(key) == nullptr) enqueue(key, {DeltaType::Sync, std::move(object)});
  }
}

template <Cacheable T>
template <class Process>
bool DeltaFifo<T>::pop(const std::stop_token& stop, Process&& process) {
  std::unique_lock lock(itemsMutex_);
  changed_.wait(lock, stop, [&] { return !inHand_ && (!queue_.empty() || closed_); });
  if (stop.stop_requested()) return false;
  return take(lock, process);
}

template <Cacheable T>
template <class Process>
bool DeltaFifo<T>::tryPop(Process&& process) {
  std::unique_lock lock(itemsMutex_);
  return take(lock, process);
}

template <Cacheable T>
template <class Process>
bool DeltaFifo<T>::take(std::unique_lock<std::mutex>& lock, Process& process) {
  if (inHand_ || queue_.empty()) return false;
  {
    auto item = items_.extract(queue_.front());
    queue_.pop_front();
    inHand_.emplace(Deltas<T>{std::move(item.key()), std::move(item.mapped()), !synced()});
  }
  struct Done {
    DeltaFifo& queue;
    std::unique_lock<std::mutex>& lock;
    ~Done() {
      std::optional<Deltas<T>> processed;  // let go without the lock
      lock.lock();
      if (queue.initial_ > 0 && --queue.initial_ == 0) queue.syncedChanged_.notify_all();
      processed.swap(queue.inHand_);
      queue.changed_.notify_all();
      lock.unlock();
    }
  };
  lock.unlock();
  const Done done{*this, lock};
  process(std::as_const(*inHand_));
  return true;
}

}  // namespace kube
