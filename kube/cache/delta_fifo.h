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

#include <cstddef>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

#include "kube/cache/delta.h"
#include "kube/cache/internal/delta_queue.h"
#include "kube/cache/reflector_store.h"
#include "kube/cache/store.h"

namespace kube {

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

  explicit DeltaFifo(Options options = {})
      : queue_(detail::kObjectType<T>, detail::StoreAccess::untyped(options.known)) {}

  void add(Object object) override { queue_.add(std::move(object)); }
  void update(Object object) override { queue_.update(std::move(object)); }
  /// Nothing, if neither the queue nor the consumer know the object.
  void remove(Object object) override { queue_.remove(std::move(object)); }
  /// Every object of the list is Replaced; what is known or queued and not in the list is Deleted,
  /// with its last known state.
  void replace(std::vector<Object> objects, const String& resourceVersion = {}) override {
    queue_.replace(detail::untypedObjects<T>(std::move(objects)), resourceVersion);
  }
  Object held(const ObjectKey& key) const override {
    return std::static_pointer_cast<const T>(queue_.held(key));
  }
  /// Sync for every object that the consumer knows, unless something is queued for it anyway.
  void resync() override { queue_.resync(); }

  /// Blocks until something has changed, and calls `process` with all that has happened to the
  /// first object in line, without a lock. What `process` throws passes through, and the changes
  /// count as processed. False when nothing will come any more: when the queue is closed and empty,
  /// or a stop is requested.
  template <class Process>
  bool pop(const std::stop_token& stop, Process&& process) {
    return queue_.pop(stop, [&](const Deltas<void>& deltas) { process(typed(deltas)); });
  }
  /// The same without waiting: false also where nothing has changed, or another consumer is at
  /// work, which then goes on with what is queued.
  template <class Process>
  bool tryPop(Process&& process) {
    return queue_.tryPop([&](const Deltas<void>& deltas) { process(typed(deltas)); });
  }

  /// Whether all objects of the first replace() have been processed, or something else came first.
  bool hasSynced() const { return queue_.hasSynced(); }
  /// Blocks until hasSynced(); false if a stop is requested before.
  bool waitForSync(const std::stop_token& stop = {}) const { return queue_.waitForSync(stop); }
  std::size_t size() const { return queue_.size(); }
  /// What is queued is still popped.
  void close() { queue_.close(); }
  /// Nobody will pop any more: a replace() under way, of however many objects, ends at once.
  void abandon() noexcept { queue_.abandon(); }
  bool isClosed() const { return queue_.isClosed(); }

 private:
  static Deltas<T> typed(const Deltas<void>& deltas) {
    Deltas<T> result{deltas.key, {}, deltas.inInitialList};
    result.changes.reserve(deltas.changes.size());
    for (const Delta<void>& delta : deltas.changes) {
      result.changes.push_back(
          {delta.type, std::static_pointer_cast<const T>(delta.object), delta.finalStateUnknown});
    }
    return result;
  }

  detail::DeltaQueue queue_;
};

}  // namespace kube
