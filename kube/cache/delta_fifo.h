// A queue of changes, grouped by object: it lies between a Reflector and the Store of an informer.
//
//   kube::DeltaFifo<Pod> queue({.known = &store});
//   // one thread: a reflector calls add, update, remove, replace, resync
//   // another:
//   while (queue.pop(stop, [&](const kube::Deltas<Pod>& changes) { ... })) {}
//
// A consumer receives all changes of one object since it last looked, in order. Objects come in the
// order in which they first changed. No change is lost or merged, except that two deletions in a
// row become one.
//
// `known` holds the objects that the consumer has stored so far. With it, replace() also finds the
// objects that vanished while nothing was watched, and resync() has objects to repeat. The consumer
// updates `known` in its function. The object in its hands counts as still queued meanwhile, so a
// deletion that arrives then is not mistaken for one of an unknown object.
//
// Invariants: a key is in the queue at most once; its changes are never empty. One consumer's
// function runs at a time.
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
  /// The objects that the consumer has. Null if it does not need the deletions that replace()
  /// finds. Must outlive the queue.
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
  /// Does nothing if neither the queue nor the consumer knows the object.
  void remove(Object object) override { queue_.remove(std::move(object)); }
  /// Queues every object of the list as Replaced. Queues every known or queued object that is not
  /// in the list as Deleted, with its last known state.
  void replace(std::vector<Object> objects, const String& resourceVersion = {}) override {
    queue_.replace(detail::untypedObjects<T>(std::move(objects)), resourceVersion);
  }
  Object held(const ObjectKey& key) const override {
    return std::static_pointer_cast<const T>(queue_.held(key));
  }
  /// Queues a Sync for every object that the consumer knows and that has no change queued.
  void resync() override { queue_.resync(); }

  /// Blocks until an object has changed, and calls `process` with all changes of the first object
  /// in line, without holding a lock. An exception of `process` passes through, and the changes
  /// count as processed. Returns false if no more changes will come: the queue is closed and empty,
  /// or a stop is requested.
  template <class Process>
  bool pop(const std::stop_token& stop, Process&& process) {
    return queue_.pop(stop, [&](const Deltas<void>& deltas) { process(typed(deltas)); });
  }
  /// The same without waiting. Returns false if no object has changed, or if another consumer is at
  /// work, which then continues with what is queued.
  template <class Process>
  bool tryPop(Process&& process) {
    return queue_.tryPop([&](const Deltas<void>& deltas) { process(typed(deltas)); });
  }

  /// Returns whether all objects of the first replace() have been processed, or another change came
  /// first.
  bool hasSynced() const { return queue_.hasSynced(); }
  /// Blocks until hasSynced(). Returns false if a stop is requested first.
  bool waitForSync(const std::stop_token& stop = {}) const {
    return detail::runBlocking(queue_.waitForSync(), stop);
  }
  std::size_t size() const { return queue_.size(); }
  /// Closes the queue: pop() still returns what is queued, and false after that.
  void close() { queue_.close(); }
  /// Ends a replace() under way at once, however long its list is. For queues that will not be
  /// popped any more.
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
