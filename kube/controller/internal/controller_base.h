// The parts that controllers of all kinds share: the queue, its workers, and the handling of keys
// that fail. Programs use Controller<T>.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kube/base/clock.h"
#include "kube/base/executor.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/log.h"
#include "kube/base/metrics.h"
#include "kube/base/task.h"
#include "kube/base/trace.h"
#include "kube/cache/internal/informer_core.h"
#include "kube/controller/requeue.h"
#include "kube/meta/gvk.h"
#include "kube/meta/object_key.h"
#include "kube/meta/v1.h"
#include "kube/workqueue/rate_limiting_queue.h"

namespace kube {

struct ControllerOptions {
  /// The delay of a key that failed; null: defaultControllerRateLimiter().
  std::shared_ptr<ItemRateLimiter<ObjectKey>> limiter = {};
  Clock* clock = nullptr;      // null: the real one
  Metrics* metrics = nullptr;  // null: defaultMetrics()
  /// Makes a span for each reconcile, whose requests are its children. A Manager has its Config's.
  std::shared_ptr<Tracer> tracer = {};
};

/// Called with a key that is given up, and the text of its last exception.
using GiveUpFunction = std::function<void(const ObjectKey& key, const std::string& error)>;

/// The owners of an object that its changes count for.
enum class OwnerMatch : std::uint8_t { Controller, Every };

namespace detail {

using ControllerQueue = RateLimitingQueue<ObjectKey>;

/// Maps changes of an informer's objects to keys of a controller, whatever the type of the objects.
class ChangeKeys {
 public:
  virtual ~ChangeKeys() = default;
  /// Returns whether a change matters. `before` is null for an addition, `after` for a deletion.
  virtual bool matters(const void* before, const void* after) const = 0;
  /// Returns the keys for an object in one state.
  virtual std::vector<ObjectKey> keysOf(const void* object) const = 0;
};

class ControllerBase {
 public:
  virtual ~ControllerBase();
  ControllerBase(const ControllerBase&) = delete;
  ControllerBase& operator=(const ControllerBase&) = delete;

  const std::string& name() const noexcept { return name_; }

  /// Waits for the caches, works until a stop is requested, and returns when the last reconcile has
  /// ended. May be called again then, and reconciles every object again. Throws Error if there is
  /// no reconcile function or the controller is already running, and passes on exceptions of
  /// beforeWork().
  void run(const std::stop_token& stop);

  /// Queues a key, for a reason that no informer knows. Does nothing while the controller does not
  /// run: every object is reconciled when it starts.
  void enqueue(const ObjectKey& key) const;

 protected:
  // Matter if the states before and after an update may have different keys: the owner, or the
  // result of a map, may have changed.
  enum class BothStates : bool { AreOne, Matter };
  // TakesTime for map functions, which users write.
  enum class Adding : bool { TakesTime, IsQuick };
  using ReconcileFunction =
      std::function<Requeue(const ObjectKey& key, const std::stop_token& stop)>;
  using ReconcileTask =
      std::function<Task<Requeue>(const ObjectKey& key, const std::stop_token& stop)>;

  ControllerBase(std::string name, ControllerOptions options, GroupKind kind, bool namespaced);

  /// Returns the keys of an object's owners that are of this controller's kind.
  std::vector<ObjectKey> ownersOf(const metav1::ObjectMeta& object, OwnerMatch match) const;
  /// Throws Error while the controller runs.
  void expectIdle(const char* what) const;
  /// Feeds changes of the informer's objects to the queue.
  void listen(std::shared_ptr<InformerCore> informer, BothStates states, Adding adding,
              std::unique_ptr<const ChangeKeys> keys);

  // One of these, or none.
  ReconcileFunction reconcile_;
  ReconcileTask reconcileTask_;
  std::function<void(const std::stop_token& stop)> beforeWork_;
  GiveUpFunction onGiveUp_;
  int workers_ = 1;
  std::optional<int> inFlight_;  // as many as there are workers, if it is not set
  Executor executor_;            // none: threads of the controller run the tasks
  std::optional<int> maxRetries_;

 private:
  class Run;
  void checkComplete() const;
  std::string nameOfWorker() const;
  int keysAtATime() const { return reconcileTask_ ? inFlight_.value_or(workers_) : workers_; }

  struct Counts;
  struct Source {
    std::shared_ptr<InformerCore> informer;
    BothStates states;
    Adding adding;
    std::shared_ptr<const ChangeKeys> keys;
  };
  class SourceHandler;

  const std::string name_;
  const ControllerOptions options_;
  const GroupKind kind_;
  const bool namespaced_;
  Clock& clock_;
  const Logger log_;
  const std::unique_ptr<Counts> counts_;
  std::vector<Source> sources_;

  mutable Mutex runningMutex_;
  // Null while the controller does not run.
  std::shared_ptr<ControllerQueue> running_ KUBE_GUARDED_BY(runningMutex_);
};

}  // namespace detail

}  // namespace kube
