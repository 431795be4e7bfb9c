// Waits until an object in an informer's cache fulfils a condition, without a request of its own.
//
//   auto pods = factory.coreV1().pods();
//   auto ready = kube::waitFor(pods, {"book", "web"}, kube::conditions::podReady, {.timeout =
//   1min}); co_await kube::waitFor(kube::AsyncInformer(pods), key, kube::conditions::podReady);
//
// It waits for the first list of the informer, then looks at the object after each of its changes;
// states that follow each other quickly may be seen as one. The informer has to run. The condition
// is called with the object, or null if it is not in the cache, and may return a task.
//
// Thread safety: any number of threads and tasks may wait for one informer.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <utility>

#include "kube/base/internal/condition.h"
#include "kube/base/internal/finally.h"
#include "kube/base/internal/task_call.h"
#include "kube/cache/shared_informer.h"
#include "kube/client/wait.h"

namespace kube {

/// Asks for the awaitable form of a wait for an informer.
template <Cacheable T>
class AsyncInformer {
 public:
  explicit AsyncInformer(SharedInformer<T> informer) : informer_(std::move(informer)) {}
  const SharedInformer<T>& informer() const noexcept { return informer_; }

 private:
  SharedInformer<T> informer_;
};

namespace detail {

/// The changes of one object so far.
struct CachedChanges {
  Mutex countMutex_;
  Condition changed_{countMutex_};
  std::uint64_t count_ KUBE_GUARDED_BY(countMutex_) = 0;

  void note() {
    const Lock lock(countMutex_);
    ++count_;
    changed_.notifyAll();
  }
  std::uint64_t count() {
    const Lock lock(countMutex_);
    return count_;
  }
};

template <Cacheable T, class Condition>
Task<std::shared_ptr<const T>> waitForCached(SharedInformer<T> informer, ObjectKey key,
                                             Condition condition) {
  const auto changes = std::make_shared<CachedChanges>();
  const auto note = [changes, key](const T& object) {
    if (keyOf(object) == key) changes->note();
  };
  EventHandler<T> handler;
  handler.onAdd = [note](const std::shared_ptr<const T>& object) { note(*object); };
  handler.onUpdate = [note](const auto&, const std::shared_ptr<const T>& object) { note(*object); };
  handler.onDelete = [changes, key](const DeletedObject<T>& last) {
    if (last.key == key) changes->note();
  };
  HandlerOptions quick;
  quick.name = "wait";
  quick.quick = true;
  const HandlerRegistration registration = informer.addHandler(std::move(handler), quick);
  const Finally remove([&] { registration.remove(); });
  const bool synced = co_await informer.async().waitForSync();
  if (!synced) throw CanceledError("the informer has ended, or a stop was requested");
  for (;;) {
    const std::uint64_t seen = changes->count();
    const std::shared_ptr<const T> object = informer.lister().get(key);
    const auto holds = static_cast<bool>(co_await callTask(condition, object.get()));
    if (holds) co_return object;
    const auto changed = [&]() KUBE_NOT_CHECKED { return changes->count_ != seen; };
    const bool more = co_await changes->changed_.wait(changed);
    if (!more) throw CanceledError("a stop was requested");
  }
}

}  // namespace detail

/// Returns the object for which the condition was true, or null if it was true without an object.
/// Throws TimeoutError when the time is over, CanceledError on a stop, and Error if the informer
/// was stopped before.
template <Cacheable T, class Condition>
Task<std::shared_ptr<const T>> waitFor(const AsyncInformer<T>& async, ObjectKey key,
                                       Condition condition,
                                       const WaitOptions& options = WaitOptions()) {
  const std::string what = "wait for " + key.str() + " in the cache";
  return detail::limitedWait(
      what, detail::waitForCached(async.informer(), std::move(key), std::move(condition)), options);
}
template <Cacheable T, class Condition>
std::shared_ptr<const T> waitFor(const SharedInformer<T>& informer, ObjectKey key,
                                 Condition condition, const WaitOptions& options = WaitOptions(),
                                 const std::stop_token& stop = {}) {
  return detail::runBlocking(
      waitFor(AsyncInformer<T>(informer), std::move(key), std::move(condition), options), stop);
}

}  // namespace kube
