// A controller without the type of its objects: the queue of its keys, the workers, and the
// handling of keys that fail. Programs use Controller<T>.
//
// Compiled once for ObjectKey. For other keys, kube/controller/keyed_controller.h has the
// definitions.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "kube/base/internal/mutex.h"
#include "kube/base/task.h"
#include "kube/base/trace.h"
#include "kube/controller/internal/controller_base.h"
#include "kube/controller/internal/controller_sources.h"
#include "kube/controller/requeue.h"

namespace kube {

template <ControllerKey Key>
struct ControllerOptionsFor {
  /// The delay of a key that failed; null: defaultControllerRateLimiter().
  std::shared_ptr<ItemRateLimiter<Key>> limiter = {};
  Clock* clock = nullptr;      // null: the real one
  Metrics* metrics = nullptr;  // null: defaultMetrics()
  /// Makes a span for each reconcile, whose requests are its children. A Manager has its Config's.
  std::shared_ptr<Tracer> tracer = {};
};
using ControllerOptions = ControllerOptionsFor<ObjectKey>;

namespace detail {

/// The arguments of a reconcile function, beside its key.
struct Attempt {
  const std::stop_token& stop;
  const ReconcileContext* context;  // null, unless the function takes it
};

template <ControllerKey Key>
class KeyedController : public ControllerBase {
 public:
  ~KeyedController() override;

  std::string describe() const override;

  /// Queues a key, for a reason that no source knows. Does nothing while the controller does not
  /// run: every object is reconciled when it starts.
  void enqueue(const Key& key, int priority = 0) const;

 protected:
  using ReconcileFunction = std::function<Requeue(const Key& key, const Attempt& attempt)>;
  using ReconcileTask = std::function<Task<Requeue>(const Key& key, const Attempt& attempt)>;

  KeyedController(std::string name, ControllerOptionsFor<Key> options, GroupKind kind,
                  bool namespaced);

  /// Throws Error while the controller runs.
  void expectIdle(const char* what) const;
  ControllerSource addSource(std::unique_ptr<const KeySource<Key>> source);

  // One of these, or none.
  ReconcileFunction reconcile_;
  ReconcileTask reconcileTask_;
  bool takesContext_ = false;
  std::function<void(const Key& key, const std::string& error)> onGiveUp_;

 private:
  class Run;
  Task<void> runTask() override;
  void checkComplete() const;
  int keysAtATime() const { return reconcileTask_ ? inFlight_.value_or(workers_) : workers_; }

  const std::shared_ptr<ItemRateLimiter<Key>> limiter_;
  const std::shared_ptr<Tracer> tracer_;
  const std::shared_ptr<ControllerSources<Key>> sources_ =
      std::make_shared<ControllerSources<Key>>();

  mutable Mutex runningMutex_;
  // Null while the controller does not run.
  std::shared_ptr<ControllerIntake<Key>> running_ KUBE_GUARDED_BY(runningMutex_);
  const Run* run_ KUBE_GUARDED_BY(runningMutex_) = nullptr;
};

extern template class KeyedController<ObjectKey>;

/// Defined by kube/controller/keyed_controller.h, which has to be included for keys that are no
/// ObjectKey.
template <class Key>
struct KeyedControllerHeader;
template <>
struct KeyedControllerHeader<ObjectKey> {};

}  // namespace detail

}  // namespace kube
