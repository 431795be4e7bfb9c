// The store of an informer and its handlers, which receive each change together: a handler that is
// added meanwhile sees it exactly once.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kube/base/clock.h"
#include "kube/base/internal/mutex.h"
#include "kube/cache/internal/handlers.h"
#include "kube/cache/internal/untyped_store.h"
#include "kube/meta/object_key.h"

namespace kube::detail {

class InformerCache {
 public:
  using Object = std::shared_ptr<const void>;

  /// Handlers on other threads are told of so many changes in a row at a time. If each change woke
  /// a thread, the thread would be done before the next change, and sleep again.
  static constexpr std::size_t kAtATime = 256;

  /// `name` of the objects: "pods".
  InformerCache(std::unique_ptr<UntypedStore> store, std::string name, Clock::Duration resync,
                Clock& clock)
      : store_(std::move(store)),
        handlers_(std::make_shared<Handlers>(std::move(name), resync, clock)) {}

  const std::shared_ptr<UntypedStore>& store() const noexcept { return store_; }
  const std::shared_ptr<Handlers>& handlers() const noexcept { return handlers_; }
  const ObjectType& type() const noexcept { return store_->type(); }

  /// Notes the thread that brings changes from now on.
  void noteRunner(std::thread::id thread = std::this_thread::get_id()) noexcept {
    runner_.store(thread, std::memory_order_relaxed);
  }
  /// Returns whether this is called where changes are brought, so that none comes meanwhile.
  bool isOnRunner() const noexcept;

  /// Adds and starts a handler between two changes. Objects in the store are reported to it now.
  void addRunning(const std::shared_ptr<HandlerQueue>& queue, Clock::Duration resync);

  // ---- After any number of these calls, Handlers::callOthers() has to follow.

  /// Puts an object into the store, and tells the handlers.
  void apply(Object object, bool inInitialList);
  /// Removes an object from the store, and tells the handlers. `last` is its final state, or null.
  void drop(const ObjectKey& key, Object last, bool finalStateUnknown);

  /// Tells the handlers that are due about all objects, until a stop is requested.
  void resync(const std::stop_token& stop);

 private:
  const std::shared_ptr<UntypedStore> store_;
  const std::shared_ptr<Handlers> handlers_;
  std::atomic<std::thread::id> runner_{};
  // Held while the store and the queues of all handlers receive a change.
  Mutex changesMutex_;
};

}  // namespace kube::detail
