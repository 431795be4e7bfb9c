// A controller drives the cluster towards the state that objects of one kind describe, and keeps it
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
// (kube/workqueue/internal/queue_metrics.h).
//
// Thread safety: it is set up by one thread, before run(); run() is called by one at a time,
// enqueue() and lister() by any. reconcile is called by as many threads as there are workers;
// predicates by those of informers, which they must not hold up; maps by others.
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

#include "kube/cache/shared_informer_factory.h"
#include "kube/controller/internal/controller_base.h"
#include "kube/controller/predicates.h"
#include "kube/controller/requeue.h"
#include "kube/meta/mapping/rest_mapper.h"
#include "kube/meta/owner.h"

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
    own_->when = std::move(predicate);
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
    return listen<U>(informer, std::move(when), Adding::IsQuick, [this, match](const U& object) {
      return ownersOf(detail::ownershipOf(object), match);
    });
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
    return listen<U>(informer, std::move(when), Adding::TakesTime, std::move(map));
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
  using InformerAccess = detail::InformerAccess;

  /// Its own objects mean themselves.
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
  /// Others mean those that a function finds.
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
  OwnKeys* own_ = nullptr;  // the source's
};

}  // namespace kube
