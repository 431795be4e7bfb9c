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
// Errors: if reconcile throws anything, its key is retried after a delay that grows from 5 ms to
// 1000 s. With maxRetries(), the controller gives the key up after that many retries, calls
// onGiveUp(), and waits for the next change of the object. Other keys are not affected.
//
// Stopping: reconcile receives the stop token; it passes the token to its calls, or finishes its
// work. What a coroutine awaits sees the token by itself. run() returns when all workers have
// ended. Keys that are left in the queue are dropped: the
// next start reconciles every object again.
//
// Metrics: controller_runtime_reconcile_total (result: success, error, requeue, requeue_after),
// controller_runtime_reconcile_errors_total, controller_runtime_terminal_reconcile_errors_total
// (given up), controller_runtime_reconcile_panics_total (exceptions that are not a std::exception),
// controller_runtime_reconcile_time_seconds, controller_runtime_max_concurrent_reconciles and
// controller_runtime_active_workers, with the label `controller`; and the metrics of the queue,
// which has the name of the controller (kube/workqueue/internal/queue_metrics.h).
//
// Thread safety: one thread sets the controller up, before run(). run() is called by one thread at
// a time, enqueue() and lister() by any thread. Each worker calls reconcile on its own thread, and
// coroutines run on any of the threads, each on one at a time.
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
#include "kube/controller/internal/controller_base.h"
#include "kube/controller/predicates.h"
#include "kube/controller/requeue.h"
#include "kube/meta/mapping/rest_mapper.h"
#include "kube/meta/owner.h"

namespace kube {

/// Returns the keys to reconcile when another object changes.
template <Cacheable U>
using MapFunction = std::function<std::vector<ObjectKey>(const U& object)>;

template <Cacheable T>
class Controller final : public detail::ControllerBase {
 public:
  using Object = std::shared_ptr<const T>;

  /// The factory must outlive the controller. The name appears in metrics and in the log.
  Controller(std::string name, const SharedInformerFactory& factory,
             ControllerOptions options = {}) requires NamedObject<T>
      : Controller(std::move(name), factory, factory.informerFor<T>(), kindOfType(),
                   TypeOf<T>::info.resource->namespaced, std::move(options)) {}
  /// For a kind that is known by its name only; a RestMapper provides its mapping.
  Controller(std::string name, const SharedInformerFactory& factory, const RestMapping& mapping,
             ControllerOptions options = {}) requires std::same_as<T, Unstructured>
      : Controller(std::move(name), factory, factory.forResource(mapping.gvr),
                   mapping.gvk.groupKind(), mapping.scope != RestScope::Root, std::move(options)) {}

  // ---- Setting up. All throw Error while the controller runs.

  /// Sets which changes of the controller's own objects matter; all by default.
  Controller& when(Predicate<T> predicate) {
    expectIdle("predicates cannot be set");
    own_->when = std::move(predicate);
    return *this;
  }

  /// Watches objects with an owner reference to an object of the controller's kind: their changes
  /// count as changes of the owner.
  template <NamedObject U>
  Controller& owns(Predicate<U> when = {}, OwnerMatch match = OwnerMatch::Controller) {
    return owns(factory_.template informerFor<U>(), std::move(when), match);
  }
  /// The same with an informer of the caller: for a selection of objects, or for Unstructured.
  template <Cacheable U>
  Controller& owns(SharedInformer<U> informer, std::type_identity_t<Predicate<U>> when = {},
                   OwnerMatch match = OwnerMatch::Controller) {
    return listen<U>(informer, std::move(when), Adding::IsQuick, [this, match](const U& object) {
      return ownersOf(detail::ownershipOf(object), match);
    });
  }

  /// Watches other objects. The function returns the keys to reconcile when one changes; for an
  /// update it is called with both states.
  template <NamedObject U>
  Controller& watches(MapFunction<U> map, Predicate<U> when = {}) {
    return watches(factory_.template informerFor<U>(), std::move(map), std::move(when));
  }
  template <Cacheable U>
  Controller& watches(SharedInformer<U> informer, std::type_identity_t<MapFunction<U>> map,
                      std::type_identity_t<Predicate<U>> when = {}) {
    return listen<U>(informer, std::move(when), Adding::TakesTime, std::move(map));
  }

  /// The number of threads; 1 by default. Unless inFlight() says otherwise, also the number of keys
  /// that are reconciled at the same time.
  Controller& workers(int count) {
    expectIdle("the number of workers cannot be set");
    if (count < 1) throw Error("controller \"" + name() + "\": needs at least one worker");
    workers_ = count;
    return *this;
  }
  /// The number of keys that are reconciled at the same time, for a coroutine.
  Controller& inFlight(int count) {
    expectIdle("the number of keys in flight cannot be set");
    if (count < 1) throw Error("controller \"" + name() + "\": needs at least one key in flight");
    inFlight_ = count;
    return *this;
  }
  /// Runs the coroutines on this executor instead of threads of the controller. The executor has to
  /// run until run() has returned; the blocking run() must be called on another thread than its.
  Controller& executor(Executor executor) {
    expectIdle("the executor cannot be set");
    executor_ = std::move(executor);
    return *this;
  }
  /// The number of retries after a failure; unlimited by default.
  Controller& maxRetries(int count) {
    expectIdle("retries cannot be set");
    maxRetries_ = count;
    return *this;
  }
  Controller& onGiveUp(GiveUpFunction function) {
    expectIdle("onGiveUp cannot be set");
    onGiveUp_ = std::move(function);
    return *this;
  }
  /// Sets a function that every run() calls when the caches have synced, before the first key. An
  /// exception that it throws ends run().
  Controller& beforeWork(std::function<void(const std::stop_token& stop)> function) {
    expectIdle("beforeWork cannot be set");
    beforeWork_ = std::move(function);
    return *this;
  }

  /// Sets a function that takes a key and, optionally, a stop token. It returns a Requeue or
  /// nothing, or is a coroutine that returns a Task of these.
  template <class Function>
  requires std::invocable<Function&, const ObjectKey&, std::stop_token> ||
      std::invocable<Function&, const ObjectKey&>
          Controller& reconcile(Function function) {
    expectIdle("reconcile cannot be set");
    auto call = [function = std::move(function)](
                    const ObjectKey& key, [[maybe_unused]] const std::stop_token& stop) mutable {
      if constexpr (std::invocable<Function&, const ObjectKey&, std::stop_token>) {
        return function(key, stop);
      } else {
        return function(key);
      }
    };
    using Result = decltype(call(ObjectKey(), std::stop_token()));
    reconcile_ = nullptr;
    reconcileTask_ = nullptr;
    if constexpr (std::is_void_v<Result>) {
      reconcile_ = [call = std::move(call)](const auto& key, const auto& stop) mutable {
        call(key, stop);
        return Requeue();
      };
    } else if constexpr (std::same_as<Result, Task<void>>) {
      reconcileTask_ = [call = std::move(call)](const auto& key, const auto& stop) mutable {
        return thenDone(call(key, stop));
      };
    } else if constexpr (std::same_as<Result, Task<Requeue>>) {
      reconcileTask_ = std::move(call);
    } else {
      reconcile_ = std::move(call);
    }
    return *this;
  }

  // ---- Reading.

  const SharedInformer<T>& informer() const noexcept { return informer_; }
  Lister<T> lister() const { return informer_.lister(); }

 private:
  using InformerAccess = detail::InformerAccess;

  /// Maps an object of the controller's kind to its own key.
  class OwnKeys final : public detail::ChangeKeys {
   public:
    bool matters(const void* before, const void* after) const override {
      return !when || when({static_cast<const T*>(before), static_cast<const T*>(after)});
    }
    std::vector<ObjectKey> keysOf(const void* object) const override {
      return {keyOf(*static_cast<const T*>(object))};
    }

    Predicate<T> when;
  };
  /// Maps another object to the keys that a function returns.
  template <Cacheable U>
  class MappedKeys final : public detail::ChangeKeys {
   public:
    MappedKeys(Predicate<U> when, MapFunction<U> map)
        : when_(std::move(when)), map_(std::move(map)) {}
    bool matters(const void* before, const void* after) const override {
      return !when_ || when_({static_cast<const U*>(before), static_cast<const U*>(after)});
    }
    std::vector<ObjectKey> keysOf(const void* object) const override {
      return map_(*static_cast<const U*>(object));
    }

   private:
    const Predicate<U> when_;
    const MapFunction<U> map_;
  };

  Controller(std::string name, const SharedInformerFactory& factory, SharedInformer<T> informer,
             GroupKind kind, bool namespaced, ControllerOptions options)
      : ControllerBase(std::move(name), std::move(options), std::move(kind), namespaced),
        factory_(factory),
        informer_(std::move(informer)) {
    own_ = new OwnKeys();
    ControllerBase::listen(InformerAccess::coreOf(informer_), BothStates::AreOne, Adding::IsQuick,
                           std::unique_ptr<const detail::ChangeKeys>(own_));
  }

  static Task<Requeue> thenDone(Task<void> task) {
    co_await std::move(task);
    co_return Requeue();
  }
  static GroupKind kindOfType() requires NamedObject<T> { return detail::kindOf(T()).groupKind(); }

  template <Cacheable U>
  Controller& listen(const SharedInformer<U>& informer, Predicate<U> when, Adding adding,
                     MapFunction<U> map) {
    ControllerBase::listen(InformerAccess::coreOf(informer), BothStates::Matter, adding,
                           std::unique_ptr<const detail::ChangeKeys>(
                               new MappedKeys<U>(std::move(when), std::move(map))));
    return *this;
  }

  const SharedInformerFactory& factory_;
  const SharedInformer<T> informer_;
  OwnKeys* own_ = nullptr;  // owned by its source
};

}  // namespace kube
