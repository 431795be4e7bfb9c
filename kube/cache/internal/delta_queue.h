// What a DeltaFifo is without its objects' C++ type, so that it is compiled once. An informer uses
// it as it is; DeltaFifo<T>, which says what it does, is a thin front of it.
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
#include <functional>
#include <iosfwd>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kube/cache/internal/object_access.h"
#include "kube/cache/internal/object_type.h"
#include "kube/cache/internal/untyped_store.h"
#include "kube/cache/reflector_store.h"
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

namespace detail {

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
  bool waitForSync(const std::stop_token& stop) const;
  std::size_t size() const;
  void close();
  void abandon() noexcept { abandoned_ = true; }
  bool isClosed() const;

 private:
  using Changes = std::vector<Delta<void>>;

  bool synced() const noexcept { return populated_ && initial_ == 0; }
  void setPopulated(std::size_t initial);
  void change(DeltaType type, Object object);
  void enqueue(const ObjectKey& key, Delta<void> delta);
  const Delta<void>* newest(const ObjectKey& key) const;
  bool vanish(const ObjectKey& key);
  bool take(std::unique_lock<std::mutex>& lock, const Process& process);

  const ObjectType& type_;
  const UntypedStore* const known_;

  mutable std::mutex itemsMutex_;
  std::condition_variable_any changed_;                // for consumers
  mutable std::condition_variable_any syncedChanged_;  // for those who wait for the first list
  std::unordered_map<ObjectKey, Changes, KeyHash> items_;
  std::deque<ObjectKey> queue_;         // the keys of `items_`
  std::optional<Deltas<void>> inHand_;  // what a consumer processes now
  bool populated_ = false;              // something has come
  std::size_t initial_ = 0;             // of the first replace(), not yet processed
  bool closed_ = false;
  std::atomic<bool> abandoned_{false};
};

}  // namespace detail

}  // namespace kube
