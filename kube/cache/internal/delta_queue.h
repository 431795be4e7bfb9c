// A DeltaFifo without its objects' C++ type, so that it is compiled once. An informer uses it
// directly; DeltaFifo<T>, which documents the methods, is a thin front of it.
//
// Invariants: a key is in the queue at most once; its changes are never empty. One consumer's
// function runs at a time.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kube/base/internal/condition.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/task.h"
#include "kube/cache/delta.h"
#include "kube/cache/internal/object_access.h"
#include "kube/cache/internal/object_type.h"
#include "kube/cache/internal/untyped_store.h"
#include "kube/cache/reflector_store.h"
#include "kube/meta/object_key.h"

namespace kube::detail {

class DeltaQueue final : public ReflectorStore<void> {
 public:
  using Object = std::shared_ptr<const void>;
  using Process = std::function<void(const Deltas<void>& deltas)>;

  /// `known` may be null.
  DeltaQueue(const ObjectType& type, const UntypedStore* known);
  ~DeltaQueue() override;

  void add(Object object) override { change(DeltaType::Added, std::move(object)); }
  void update(Object object) override { change(DeltaType::Updated, std::move(object)); }
  void remove(Object object) override;
  void replace(std::vector<Object> objects, const String& resourceVersion) override;
  Object held(const ObjectKey& key) const override;
  void resync() override;

  bool pop(const std::stop_token& stop, const Process& process);
  bool tryPop(const Process& process);

  bool hasSynced() const;
  /// The queue outlives the task.
  Task<bool> waitForSync() const;
  std::size_t size() const;
  void close();
  void abandon() noexcept { abandoned_ = true; }
  bool isClosed() const;

 private:
  using Changes = std::vector<Delta<void>>;

  bool synced() const noexcept KUBE_REQUIRES(itemsMutex_) { return populated_ && initial_ == 0; }
  void setPopulated(std::size_t initial) KUBE_REQUIRES(itemsMutex_);
  void change(DeltaType type, Object object);
  void enqueue(const ObjectKey& key, Delta<void> delta) KUBE_REQUIRES(itemsMutex_);
  const Delta<void>* newest(const ObjectKey& key) const KUBE_REQUIRES(itemsMutex_);
  bool vanish(const ObjectKey& key) KUBE_REQUIRES(itemsMutex_);
  const Deltas<void>* take() KUBE_REQUIRES(itemsMutex_);
  void handOver(const Deltas<void>& taken, const Process& process);
  void finish();

  const ObjectType& type_;
  const UntypedStore* const known_;

  mutable Mutex itemsMutex_;
  std::condition_variable_any changed_;           // for consumers
  mutable Condition syncedChanged_{itemsMutex_};  // for callers of waitForSync()
  std::unordered_map<ObjectKey, Changes, KeyHash> items_ KUBE_GUARDED_BY(itemsMutex_);
  std::deque<ObjectKey> queue_ KUBE_GUARDED_BY(itemsMutex_);  // the keys of `items_`
  // The changes that a consumer is processing. Only finish() removes them.
  std::optional<Deltas<void>> inHand_ KUBE_GUARDED_BY(itemsMutex_);
  bool populated_ KUBE_GUARDED_BY(itemsMutex_) = false;   // something has been queued
  std::size_t initial_ KUBE_GUARDED_BY(itemsMutex_) = 0;  // left to process of the first replace()
  bool closed_ KUBE_GUARDED_BY(itemsMutex_) = false;
  std::atomic<bool> abandoned_{false};
};

}  // namespace kube::detail
