// A controller: something that brings the world to what objects of one kind ask for, and keeps it
// there.
//
//   kube::SharedInformerFactory factory(clients);
//   kube::Controller<samplev1::Network> networks("networks", factory);
//   networks.when(kube::generationChanged)               // not when only the status changes
//       .owns<corev1::ConfigMap>()                       // whose changes are their Network's, too
//       .watches<corev1::Namespace>([&](const corev1::Namespace& space) { return keysIn(space); })
//       .workers(4)
//       .reconcile([&](const kube::ObjectKey& key, std::stop_token stop) -> kube::Requeue {
//         auto network = networks.lister().get(key);
//         if (!network) return {};                       // it is gone
//         ...
//         return kube::Requeue::after(10min);
//       });
//   factory.start(stop);
//   networks.run(stop);
//
// What happens to objects becomes keys in a queue: an object that changes while it waits is worked
// on once, as it is then; one that changes while it is worked on, once more. No key is worked on
// by two workers. Workers start when all the caches have synced, and with everything there is;
// that waits for what changes meanwhile. kube::Manager runs several controllers, as a leader and
// with all else that a program needs.
//
// Errors: a reconcile that throws, whatever it throws, is tried again, after a time that grows from
// 5 ms to 1000 s; with maxRetries(), it is given up after so many retries, told to onGiveUp(), and
// waits for the object's next change. All others go on meanwhile.
//
// Stopping: the token is passed to reconcile, which hands it to its calls or finishes what it does;
// run() returns when all have. What waits in the queue is left: it is found again at the next
// start.
//
// Metrics: controller_runtime_reconcile_total (result: success, error, requeue, requeue_after),
// controller_runtime_reconcile_errors_total, controller_runtime_terminal_reconcile_errors_total
// (given up), controller_runtime_reconcile_panics_total (threw no std::exception),
// controller_runtime_reconcile_time_seconds, controller_runtime_max_concurrent_reconciles and
// controller_runtime_active_workers, with the label `controller`; and those of a queue of that name
// (kube/workqueue/queue_metrics.h).
//
// Thread safety: it is set up by one thread, before run(); run() is called by one at a time,
// enqueue() and lister() by any. reconcile is called by as many threads as there are workers;
// predicates by those of informers, which they must not hold up; maps by others.
#pragma once

#include <algorithm>
#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kube/cache/shared_informer_factory.h"
#include "kube/controller/controller_base.h"
#include "kube/controller/predicates.h"
#include "kube/controller/requeue.h"
#include "kube/meta/owner.h"
#include "kube/meta/rest_mapper.h"

namespace kube {

/// Which objects are to be looked at when another changes.
template <Cacheable U>
using MapFunction = std::function<std::vector<ObjectKey>(const U& object)>;

template <Cacheable T>
class Controller final : public detail::ControllerBase {
 public:
  using Object = std::shared_ptr<const T>;

  /// The factory outlives it. The name is for metrics and the log.
  Controller(std::string name, const SharedInformerFactory& factory,
             ControllerOptions options = {}) requires NamedObject<T>
      : Controller(std::move(name), factory, factory.informerFor<T>(), kindOfType(),
                   TypeOf<T>::info.resource->namespaced, std::move(options)) {}
  /// Of a kind that is known by its name only; a RestMapper has its mapping.
  Controller(std::string name, const SharedInformerFactory& factory, const RestMapping& mapping,
             ControllerOptions options = {}) requires std::same_as<T, Unstructured>
      : Controller(std::move(name), factory, factory.forResource(mapping.gvr),
                   mapping.gvk.groupKind(), mapping.scope != RestScope::Root, std::move(options)) {}

  // ---- Setting up. All throw Error while it runs.

  /// Which changes of its objects matter; all, unless this says otherwise.
  Controller& when(Predicate<T> predicate) {
    expectIdle("predicates cannot be set");
    *when_ = std::move(predicate);
    return *this;
  }

  /// Objects that belong to its own, by their owner references: their changes are the owner's.
  template <NamedObject U>
  Controller& owns(Predicate<U> when = {}, OwnerMatch match = OwnerMatch::Controller) {
    return owns(factory_.template informerFor<U>(), std::move(when), match);
  }
  /// The same, of an informer of one's own: of some objects only, or Unstructured.
  template <Cacheable U>
  Controller& owns(SharedInformer<U> informer, std::type_identity_t<Predicate<U>> when = {},
                   OwnerMatch match = OwnerMatch::Controller) {
    return listen<U>(
        std::move(informer), std::move(when), BothStates::Matter, Adding::IsQuick,
        [this, match](const U& object) { return ownersOf(detail::ownershipOf(object), match); });
  }

  /// Other objects, whose changes matter to those that the function names. For an update it is
  /// asked about both states.
  template <NamedObject U>
  Controller& watches(MapFunction<U> map, Predicate<U> when = {}) {
    return watches(factory_.template informerFor<U>(), std::move(map), std::move(when));
  }
  template <Cacheable U>
  Controller& watches(SharedInformer<U> informer, std::type_identity_t<MapFunction<U>> map,
                      std::type_identity_t<Predicate<U>> when = {}) {
    return listen<U>(std::move(informer), std::move(when), BothStates::Matter, Adding::TakesTime,
                     std::move(map));
  }

  /// How many keys are worked on at once; 1, unless this says otherwise.
  Controller& workers(int count) {
    expectIdle("the number of workers cannot be set");
    if (count < 1) throw Error("controller \"" + name() + "\": needs a worker at least");
    workers_ = count;
    return *this;
  }
  /// How often what fails is tried again; for ever, unless this says otherwise.
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
  /// Called in every run(), when the caches have synced and before the first key is worked on. What
  /// it throws ends run().
  Controller& beforeWork(std::function<void(const std::stop_token& stop)> function) {
    expectIdle("beforeWork cannot be set");
    beforeWork_ = std::move(function);
    return *this;
  }

  /// A function of a key and, if it wants, a stop token; it returns a Requeue, or nothing.
  template <class Function>
  requires std::invocable<Function&, const ObjectKey&, std::stop_token> ||
      std::invocable<Function&, const ObjectKey&>
          Controller& reconcile(Function function) {
    expectIdle("reconcile cannot be set");
    reconcile_ = [function = std::move(function)](
                     const ObjectKey& key,
                     [[maybe_unused]] const std::stop_token& stop) mutable -> Requeue {
      const auto call = [&] {
        if constexpr (std::invocable<Function&, const ObjectKey&, std::stop_token>) {
          return function(key, stop);
        } else {
          return function(key);
        }
      };
      if constexpr (std::is_void_v<decltype(call())>) {
        call();
        return {};
      } else {
        return call();
      }
    };
    return *this;
  }

  // ---- Reading.

  const SharedInformer<T>& informer() const noexcept { return informer_; }
  Lister<T> lister() const { return informer_.lister(); }

 private:
  using Queue = detail::ControllerQueue;
  // An owner, or whatever else a map finds, may have been another one before an update.
  enum class BothStates : bool { AreOne, Matter };
  // A map is the user's, and may take its time.
  enum class Adding : bool { TakesTime, IsQuick };

  Controller(std::string name, const SharedInformerFactory& factory, SharedInformer<T> informer,
             GroupKind kind, bool namespaced, ControllerOptions options)
      : ControllerBase(std::move(name), std::move(options), std::move(kind), namespaced),
        factory_(factory),
        informer_(std::move(informer)) {
    listen<T>(
        informer_, [when = when_](const Change<T>& change) { return !*when || (*when)(change); },
        BothStates::AreOne, Adding::IsQuick,
        [](const T& object) { return std::vector{keyOf(object)}; });
  }

  static GroupKind kindOfType() requires NamedObject<T> { return detail::kindOf(T()).groupKind(); }

  static void addAll(Queue& queue, const std::vector<ObjectKey>& keys, int priority) {
    for (const ObjectKey& key : keys) queue.add(key, priority);
  }

  /// `keysOf` are those that a state of an object means.
  template <Cacheable U>
  Controller& listen(SharedInformer<U> informer, Predicate<U> when, BothStates states,
                     Adding adding, MapFunction<U> keysOf) {
    expectIdle("sources cannot be added");
    using Shared = std::shared_ptr<const U>;
    sources_.push_back([informer = std::move(informer), when = std::move(when), states, adding,
                        keysOf = std::move(keysOf), name = this->name()](Queue& queue) {
      const auto wanted = [when](const U* before, const U* after) {
        return !when || when(Change<U>{before, after});
      };
      return informer.addHandler(
          {.onAdd =
               [&queue, wanted, keysOf](const Shared& object, bool initial) {
                 if (!wanted(nullptr, object.get())) return;
                 addAll(queue, keysOf(*object), initial ? kNotUrgent : kUsual);
               },
           .onUpdate =
               [&queue, wanted, states, keysOf](const Shared& before, const Shared& after) {
                 if (!wanted(before.get(), after.get())) return;
                 std::vector<ObjectKey> keys = keysOf(*after);
                 if (detail::resourceVersionIn(*before) == detail::resourceVersionIn(*after)) {
                   return addAll(queue, keys, kNotUrgent);
                 }
                 // Each once: a worker may be done with the first by the time of a second.
                 if (states == BothStates::Matter) {
                   for (ObjectKey& key : keysOf(*before)) {
                     if (std::ranges::find(keys, key) == keys.end()) keys.push_back(std::move(key));
                   }
                 }
                 addAll(queue, keys, kUsual);
               },
           .onDelete =
               [&queue, wanted, keysOf](const DeletedObject<U>& last) {
                 if (wanted(last.object.get(), nullptr)) addAll(queue, keysOf(*last), kUsual);
               }},
          {.name = name, .quick = adding == Adding::IsQuick});
    });
    return *this;
  }

  const SharedInformerFactory& factory_;
  const SharedInformer<T> informer_;
  // Shared with the source, which is made before it is set.
  const std::shared_ptr<Predicate<T>> when_ = std::make_shared<Predicate<T>>();
};

}  // namespace kube
