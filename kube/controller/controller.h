// A controller drives the cluster towards the state that objects of one kind describe, and keeps it
// there.
//
//   kube::SharedInformerFactory factory(clients);
//   kube::Controller<samplev1::Network> networks("networks", factory);
//   networks.when(kube::generationChanged)               // not when only the status changes
//       .owns<corev1::ConfigMap>()                       // their changes count for their owner
//       .watches<corev1::Namespace>([&](const corev1::Namespace& space) { return keysIn(space); })
//       .workers(4)
//       .reconcile([&](const kube::ObjectKey& key, std::stop_token stop) -> kube::Requeue {
//         auto network = networks.lister().get(key);
//         if (!network) return {};                       // it was deleted
//         ...
//         return kube::Requeue::after(10min);
//       });
//   factory.start(stop);
//   networks.run(stop);
//
// Changes of objects become keys in a queue. An object that changes while its key waits is
// reconciled once, in its latest state; an object that changes during its reconcile is reconciled
// once more. No two workers have the same key at a time. Workers start when all caches have synced.
// All existing objects are then reconciled; changes that happen meanwhile are handled first.
// kube::Manager runs several controllers, with leader election, health checks and metrics.
//
// Reconcile may be a coroutine, which holds no thread while it waits:
//
//   networks.workers(2).inFlight(1000).reconcile(
//       [&](kube::ObjectKey key) -> kube::Task<kube::Requeue> {
//         auto pod = co_await pods.get(key.name);
//         ...
//         co_return kube::Requeue::after(10min);
//       });
//
// Up to a thousand keys are then reconciled at a time, on two threads, or on an Executor of the
// program. Everything else is the same for both kinds of functions. `co_await
// networks.async().run()` runs the controller without a thread that waits.
//
// Reconcile may take a ReconcileContext, before the key: the reasons why it is called, the number
// of the attempt, a logger and a deadline. See kube/controller/reconcile_context.h.
//
// Sources: owns() and watches() follow other objects, and source() and every() take keys of the
// program's own: from a KeyChannel, from a function, from time to time. addOwns() and the like
// return a handle, by which the source is dropped; all of them may also be called while the
// controller runs. filter() selects the changes of all objects, when() those of the controller's
// own kind.
//
// Keys are ObjectKeys, unless the controller has another type of keys:
//
//   #include <kube/controller/keyed_controller.h>
//   kube::Controller<corev1::Pod, kube::String> nodes("nodes", factory);
//   nodes.keyedBy([](const corev1::Pod& pod) { return std::vector{pod.spec->nodeName}; })
//       .reconcile([&](const kube::String& node) { ... });
//
// Errors: if reconcile throws anything, its key is retried after a delay that grows from 5 ms to
// 1000 s. With maxRetries(), the controller gives the key up after that many retries, calls
// onGiveUp(), and waits for the next change of the object. A TerminalError is not retried at all.
// Other keys are not affected.
//
// Time: reconcileTimeout() limits each call of reconcile. When it is over, the log names the key,
// and the stop token of the call stops: its awaited or blocking calls throw, and the key is
// retried.
//
// Stopping: reconcile receives the stop token; it passes the token to its calls, or finishes its
// work. What a coroutine awaits sees the token by itself. run() returns when all workers have
// ended. Keys that are left in the queue are dropped: the
// next start reconciles every object again.
//
// Metrics: controller_runtime_reconcile_total (result: success, error, requeue, requeue_after),
// controller_runtime_reconcile_errors_total, controller_runtime_terminal_reconcile_errors_total
// (given up), controller_runtime_reconcile_panics_total (exceptions that are not a std::exception),
// controller_runtime_reconcile_timeouts_total,
// controller_runtime_reconcile_time_seconds, controller_runtime_max_concurrent_reconciles and
// controller_runtime_active_workers, with the label `controller`; and the metrics of the queue,
// which has the name of the controller (kube/workqueue/internal/queue_metrics.h).
//
// Thread safety: one thread sets the controller up, before run(). run() is called by one thread at
// a time; enqueue(), lister() and the functions that add sources by any thread. Each worker calls
// reconcile on its own thread, and coroutines run on any of the threads, each on one at a time.
// Predicates must be quick, and must not call the server: the thread that all informers share calls
// those of when() and owns(). Threads for handlers call those of watches(), and its map functions.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kube/base/executor.h"
#include "kube/base/task.h"
#include "kube/cache/shared_informer_factory.h"
#include "kube/controller/controller_source.h"
#include "kube/controller/internal/function_source.h"
#include "kube/controller/internal/informer_source.h"
#include "kube/controller/internal/keyed_controller.h"
#include "kube/controller/internal/kind_source.h"
#include "kube/controller/key_channel.h"
#include "kube/controller/object_view.h"
#include "kube/controller/predicates.h"
#include "kube/controller/reconcile_context.h"
#include "kube/controller/requeue.h"
#include "kube/meta/mapping/rest_mapper.h"
#include "kube/meta/owner.h"

namespace kube {

/// Returns the keys to reconcile when an object changes.
template <Cacheable U, ControllerKey Key = ObjectKey>
using MapFunction = std::function<std::vector<Key>(const U& object)>;

template <Cacheable T, ControllerKey Key = ObjectKey>
class Controller final : public detail::KeyedController<Key> {
  using Base = detail::KeyedController<Key>;
  static_assert(sizeof(detail::KeyedControllerHeader<Key>) > 0,
                "include <kube/controller/keyed_controller.h> for this type of keys");

 public:
  using Object = std::shared_ptr<const T>;

  /// The factory must outlive the controller. The name appears in metrics and in the log.
  Controller(std::string name, const SharedInformerFactory& factory,
             ControllerOptionsFor<Key> options = {}) requires NamedObject<T>
      : Controller(std::move(name), factory, factory.informerFor<T>(), kindOfType(),
                   TypeOf<T>::info.resource->namespaced, std::move(options)) {}
  /// For a kind that is known by its name only, or of which only the metadata matter.
  Controller(std::string name, const SharedInformerFactory& factory, const RestMapping& mapping,
             ControllerOptionsFor<Key> options = {}) requires std::same_as<T, Unstructured> ||
      std::same_as<T, metav1::PartialObjectMetadata>
      : Controller(std::move(name), factory, informerOf(factory, mapping.gvr),
                   mapping.gvk.groupKind(), mapping.scope != RestScope::Root, std::move(options)) {}

  // ---- Sources. May be called while the controller runs; a source counts then once it has synced.

  /// Watches objects with an owner reference to an object of the controller's kind: their changes
  /// count as changes of the owner.
  template <NamedObject U>
  Controller& owns(Predicate<U> when = {}, OwnerMatch match = OwnerMatch::Controller) {
    addOwns<U>(std::move(when), match);
    return *this;
  }
  /// The same with an informer of the caller: for a selection of objects, for Unstructured, or for
  /// metadata alone: owns(factory.metadataOf<corev1::Pod>()).
  template <Cacheable U>
  Controller& owns(SharedInformer<U> informer, std::type_identity_t<Predicate<U>> when = {},
                   OwnerMatch match = OwnerMatch::Controller) {
    addOwns(std::move(informer), std::move(when), match);
    return *this;
  }
  template <NamedObject U>
  ControllerSource addOwns(Predicate<U> when = {}, OwnerMatch match = OwnerMatch::Controller) {
    return addOwns(factory_.template informerFor<U>(), std::move(when), match);
  }
  template <Cacheable U>
  ControllerSource addOwns(SharedInformer<U> informer, std::type_identity_t<Predicate<U>> when = {},
                           OwnerMatch match = OwnerMatch::Controller) {
    return listen<U>(informer, std::move(when), Adding::IsQuick, ownerKeys<U>(match));
  }

  /// Watches other objects. The function returns the keys to reconcile when one changes; for an
  /// update it is called with both states.
  template <NamedObject U>
  Controller& watches(MapFunction<U, Key> map, Predicate<U> when = {}) {
    addWatches<U>(std::move(map), std::move(when));
    return *this;
  }
  template <Cacheable U>
  Controller& watches(SharedInformer<U> informer, std::type_identity_t<MapFunction<U, Key>> map,
                      std::type_identity_t<Predicate<U>> when = {}) {
    addWatches(std::move(informer), std::move(map), std::move(when));
    return *this;
  }
  template <NamedObject U>
  ControllerSource addWatches(MapFunction<U, Key> map, Predicate<U> when = {}) {
    return addWatches(factory_.template informerFor<U>(), std::move(map), std::move(when));
  }
  template <Cacheable U>
  ControllerSource addWatches(SharedInformer<U> informer,
                              std::type_identity_t<MapFunction<U, Key>> map,
                              std::type_identity_t<Predicate<U>> when = {}) {
    return listen<U>(informer, std::move(when), Adding::TakesTime, std::move(map));
  }

  /// The same for a kind whose definition (CRD) may come, change its version or go while the
  /// controller runs. Of the versions that are served, the one that clients prefer is watched:
  /// v1 rather than v1beta1. While there is no definition, the log says so. Needs the right to
  /// list, watch and get definitions.
  Controller& ownsKind(GroupKind kind, Predicate<Unstructured> when = {},
                       OwnerMatch match = OwnerMatch::Controller) {
    addOwnsKind(std::move(kind), std::move(when), match);
    return *this;
  }
  ControllerSource addOwnsKind(GroupKind kind, Predicate<Unstructured> when = {},
                               OwnerMatch match = OwnerMatch::Controller) {
    return listenToKind<Unstructured>(std::move(kind), Adding::IsQuick, std::move(when),
                                      ownerKeys<Unstructured>(match));
  }
  Controller& watchesKind(GroupKind kind, MapFunction<Unstructured, Key> map,
                          Predicate<Unstructured> when = {}) {
    addWatchesKind(std::move(kind), std::move(map), std::move(when));
    return *this;
  }
  ControllerSource addWatchesKind(GroupKind kind, MapFunction<Unstructured, Key> map,
                                  Predicate<Unstructured> when = {}) {
    return listenToKind<Unstructured>(std::move(kind), Adding::TakesTime, std::move(when),
                                      std::move(map));
  }

  /// Reconciles the keys that are pushed into the channel.
  Controller& source(const KeyChannel<Key>& channel) {
    addSource(channel);
    return *this;
  }
  ControllerSource addSource(const KeyChannel<Key>& channel) {
    return Base::addSource(detail::ChannelAccess::sourceOf(channel));
  }
  /// Calls a function when the controller starts, before the caches have synced. It takes a
  /// SourceQueue, and a stop token if it is not a coroutine; then it has a thread of its own. It
  /// may return before the stop. An exception that it throws ends run().
  template <class Function>
  Controller& source(std::string name, Function function) {
    addSource(std::move(name), std::move(function));
    return *this;
  }
  template <class Function>
  requires std::invocable<Function&, SourceQueue<Key>, std::stop_token> ||
      std::invocable<Function&, SourceQueue<Key>>
          ControllerSource addSource(std::string name, Function function) {
    using Source = detail::FunctionSource<Key>;
    if constexpr (std::invocable<Function&, SourceQueue<Key>, std::stop_token>) {
      return Base::addSource(std::make_unique<const Source>(
          std::move(name), typename Source::Blocking(std::move(function))));
    } else {
      return Base::addSource(std::make_unique<const Source>(
          std::move(name), typename Source::Awaitable(std::move(function))));
    }
  }
  /// Reconciles the keys that the function returns after each period.
  Controller& every(Clock::Duration period, std::function<std::vector<Key>()> keys) {
    addEvery(period, std::move(keys));
    return *this;
  }
  ControllerSource addEvery(Clock::Duration period, std::function<std::vector<Key>()> keys) {
    if (period <= Clock::Duration::zero()) {
      throw Error("controller \"" + this->name() + "\": every() needs a period");
    }
    return addSource(
        "timer", [clock = &this->clock_, period, keys = std::move(keys)](SourceQueue<Key> queue) {
          return repeat(*clock, period, keys, std::move(queue));
        });
  }

  // ---- Setting up. All throw Error while the controller runs.

  /// Sets which changes of the controller's own objects matter; all by default.
  Controller& when(Predicate<T> predicate) {
    this->expectIdle("predicates cannot be set");
    own_->when = std::move(predicate);
    return *this;
  }
  /// Sets which changes of objects matter, whatever their source is, beside its own predicate.
  Controller& filter(Predicate<ObjectView> predicate) {
    this->expectIdle("the filter cannot be set");
    this->filter_ = std::move(predicate);
    return *this;
  }
  /// Sets the keys of the controller's own objects: by default the objects' own, if the keys are
  /// ObjectKeys, and otherwise none.
  Controller& keyedBy(MapFunction<T, Key> map) {
    this->expectIdle("keys cannot be set");
    own_->map = std::move(map);
    return *this;
  }

  /// The number of threads; 1 by default. Unless inFlight() says otherwise, also the number of keys
  /// that are reconciled at the same time.
  Controller& workers(int count) {
    this->expectIdle("the number of workers cannot be set");
    if (count < 1) throw Error("controller \"" + this->name() + "\": needs at least one worker");
    this->workers_ = count;
    return *this;
  }
  /// The number of keys that are reconciled at the same time, for a coroutine.
  Controller& inFlight(int count) {
    this->expectIdle("the number of keys in flight cannot be set");
    if (count < 1) {
      throw Error("controller \"" + this->name() + "\": needs at least one key in flight");
    }
    this->inFlight_ = count;
    return *this;
  }
  /// Runs the coroutines on this executor instead of threads of the controller. The executor has to
  /// run until run() has returned; the blocking run() must be called on another thread than its.
  Controller& executor(Executor executor) {
    this->expectIdle("the executor cannot be set");
    this->executor_ = std::move(executor);
    return *this;
  }
  /// The number of retries after a failure; unlimited by default.
  Controller& maxRetries(int count) {
    this->expectIdle("retries cannot be set");
    this->maxRetries_ = count;
    return *this;
  }
  /// Sets a function that is called with a key that is given up, and the text of its last
  /// exception.
  Controller& onGiveUp(std::function<void(const Key& key, const std::string& error)> function) {
    this->expectIdle("onGiveUp cannot be set");
    this->onGiveUp_ = std::move(function);
    return *this;
  }
  /// Limits the time of each call of reconcile; 0, the default: no limit. Reconcile has to look at
  /// its stop token, or pass it on; what a coroutine awaits does so by itself.
  Controller& reconcileTimeout(Clock::Duration limit) {
    this->expectIdle("the time of reconcile cannot be set");
    this->reconcileTimeout_ = limit;
    return *this;
  }
  /// Limits the time that run() waits for caches; 0, the default: no limit. Then run() throws
  /// TimeoutError, which names the cache and its last error.
  Controller& syncTimeout(Clock::Duration limit) {
    this->expectIdle("the time of the sync cannot be set");
    this->syncTimeout_ = limit;
    return *this;
  }
  /// Sets a function that every run() calls when the caches have synced, before the first key. An
  /// exception that it throws ends run().
  Controller& beforeWork(std::function<void(const std::stop_token& stop)> function) {
    this->expectIdle("beforeWork cannot be set");
    this->beforeWork_ = std::move(function);
    return *this;
  }

  /// Sets a function that takes a key and, optionally, a stop token after it or a ReconcileContext
  /// before it. It returns a Requeue or nothing, or is a coroutine that returns a Task of these.
  template <class Function>
  requires std::invocable<Function&, const Key&, std::stop_token> ||
      std::invocable<Function&, const ReconcileContext&, const Key&> ||
      std::invocable<Function&, const Key&>
          Controller& reconcile(Function function) {
    this->expectIdle("reconcile cannot be set");
    constexpr bool kTakesStop = std::invocable<Function&, const Key&, std::stop_token>;
    constexpr bool kTakesContext =
        !kTakesStop && std::invocable<Function&, const ReconcileContext&, const Key&>;
    auto call = [function = std::move(function)](
                    const Key& key, [[maybe_unused]] const detail::Attempt& attempt) mutable {
      if constexpr (kTakesStop) {
        return function(key, attempt.stop);
      } else if constexpr (kTakesContext) {
        return function(*attempt.context, key);
      } else {
        return function(key);
      }
    };
    using Result = decltype(call(Key(), std::declval<const detail::Attempt&>()));
    this->takesContext_ = kTakesContext;
    this->reconcile_ = nullptr;
    this->reconcileTask_ = nullptr;
    if constexpr (std::is_void_v<Result>) {
      this->reconcile_ = [call = std::move(call)](const auto& key, const auto& attempt) mutable {
        call(key, attempt);
        return Requeue();
      };
    } else if constexpr (std::same_as<Result, Task<void>>) {
      this->reconcileTask_ = [call = std::move(call)](const auto& key,
                                                      const auto& attempt) mutable {
        return thenDone(call(key, attempt));
      };
    } else if constexpr (std::same_as<Result, Task<Requeue>>) {
      this->reconcileTask_ = std::move(call);
    } else {
      this->reconcile_ = std::move(call);
    }
    return *this;
  }

  // ---- Reading.

  const SharedInformer<T>& informer() const noexcept { return informer_; }
  Lister<T> lister() const { return informer_.lister(); }

 private:
  using InformerAccess = detail::InformerAccess;
  using Adding = detail::Adding;

  /// Maps an object of the controller's kind to its own key, or to those of a function.
  class OwnKeys final : public detail::ChangeKeys<Key> {
   public:
    bool matters(const void* before, const void* after) const override {
      return !when || when({static_cast<const T*>(before), static_cast<const T*>(after)});
    }
    std::vector<Key> keysOf(const void* object) const override {
      const T& typed = *static_cast<const T*>(object);
      if (map) return map(typed);
      if constexpr (std::same_as<Key, ObjectKey>) return {keyOf(typed)};
      return {};
    }
    bool mayChange() const override { return static_cast<bool>(map); }

    Predicate<T> when;
    MapFunction<T, Key> map;
  };
  /// Maps another object to the keys that a function returns.
  template <Cacheable U>
  class MappedKeys final : public detail::ChangeKeys<Key> {
   public:
    MappedKeys(Predicate<U> when, MapFunction<U, Key> map)
        : when_(std::move(when)), map_(std::move(map)) {}
    bool matters(const void* before, const void* after) const override {
      return !when_ || when_({static_cast<const U*>(before), static_cast<const U*>(after)});
    }
    std::vector<Key> keysOf(const void* object) const override {
      return map_(*static_cast<const U*>(object));
    }

   private:
    const Predicate<U> when_;
    const MapFunction<U, Key> map_;
  };

  Controller(std::string name, const SharedInformerFactory& factory, SharedInformer<T> informer,
             GroupKind kind, bool namespaced, ControllerOptionsFor<Key> options)
      : Base(std::move(name), std::move(options), std::move(kind), namespaced),
        factory_(factory),
        informer_(std::move(informer)) {
    auto own = std::make_unique<OwnKeys>();
    own_ = own.get();
    Base::addSource(sourceOf(informer_, Adding::IsQuick, std::move(own)));
  }

  static SharedInformer<T> informerOf(const SharedInformerFactory& factory,
                                      const GroupVersionResource& gvr) {
    if constexpr (std::same_as<T, Unstructured>) {
      return factory.forResource(gvr);
    } else {
      return factory.metadataOf(gvr);
    }
  }
  static Task<Requeue> thenDone(Task<void> task) {
    co_await std::move(task);
    co_return Requeue();
  }
  static Task<void> repeat(Clock& clock, Clock::Duration period,
                           std::function<std::vector<Key>()> keys, SourceQueue<Key> queue) {
    for (;;) {
      const bool due = co_await sleepFor(period, clock);
      if (!due) co_return;
      for (const Key& key : keys()) queue.add(key);
    }
  }
  static GroupKind kindOfType() requires NamedObject<T> { return detail::kindOf(T()).groupKind(); }

  template <Cacheable U>
  MapFunction<U, Key> ownerKeys(OwnerMatch match) const {
    static_assert(std::same_as<Key, ObjectKey>, "owners have ObjectKeys: use watches()");
    return [this, match](const U& object) {
      return this->ownersOf(detail::ownershipOf(object), match);
    };
  }
  template <Cacheable U>
  ControllerSource listen(const SharedInformer<U>& informer, Predicate<U> when, Adding adding,
                          MapFunction<U, Key> map) {
    return Base::addSource(sourceOf(
        informer, adding, std::make_unique<const MappedKeys<U>>(std::move(when), std::move(map))));
  }
  // A template, because clang 14 fails for a MappedKeys of a type that is known here.
  template <Cacheable U>
  ControllerSource listenToKind(GroupKind kind, Adding adding, Predicate<U> when,
                                MapFunction<U, Key> map) {
    return Base::addSource(std::make_unique<const detail::KindSource<Key>>(
        factory_, std::move(kind), adding,
        std::make_shared<const MappedKeys<U>>(std::move(when), std::move(map)), beforeLate()));
  }
  template <Cacheable U>
  auto sourceOf(const SharedInformer<U>& informer, Adding adding,
                std::unique_ptr<const detail::ChangeKeys<Key>> keys) const {
    return std::make_unique<const detail::InformerSource<Key>>(
        InformerAccess::coreOf(informer), adding, std::move(keys), beforeLate());
  }
  // Runs informers that the factory has made for a source of a running controller.
  std::function<void()> beforeLate() const {
    return [this] {
      if (informer_.hasStarted()) factory_.startMore();
    };
  }

  const SharedInformerFactory& factory_;
  const SharedInformer<T> informer_;
  OwnKeys* own_ = nullptr;  // owned by its source
};

}  // namespace kube
