// What controllers of all kinds have in common: the queue, its workers, and what becomes of keys
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
#include "kube/base/internal/mutex.h"
#include "kube/base/log.h"
#include "kube/base/metrics.h"
#include "kube/cache/internal/informer_core.h"
#include "kube/controller/requeue.h"
#include "kube/meta/gvk.h"
#include "kube/meta/object_key.h"
#include "kube/meta/v1.h"
#include "kube/workqueue/rate_limiting_queue.h"

namespace kube {

struct ControllerOptions {
  /// How long what fails waits; null: defaultControllerRateLimiter().
  std::shared_ptr<ItemRateLimiter<ObjectKey>> limiter = {};
  Clock* clock = nullptr;      // null: the real one
  Metrics* metrics = nullptr;  // null: defaultMetrics()
};

/// Told of a key that is given up, with what was thrown last.
using GiveUpFunction = std::function<void(const ObjectKey& key, const std::string& error)>;

/// Which owners of an object are told of its changes.
enum class OwnerMatch : std::uint8_t { Controller, Every };

namespace detail {

using ControllerQueue = RateLimitingQueue<ObjectKey>;

/// What changes of the objects of an informer mean to a controller, whatever their type.
class ChangeKeys {
 public:
  virtual ~ChangeKeys() = default;
  /// Whether a change matters. `before` is null for an addition, `after` for a deletion.
  virtual bool matters(const void* before, const void* after) const = 0;
  /// Those that a state of an object means.
  virtual std::vector<ObjectKey> keysOf(const void* object) const = 0;
};

class ControllerBase {
 public:
  virtual ~ControllerBase();
  ControllerBase(const ControllerBase&) = delete;
  ControllerBase& operator=(const ControllerBase&) = delete;

  const std::string& name() const noexcept { return name_; }

  /// Waits for the caches, works until a stop is requested, and returns when the last key that was
  /// being worked on is done. May be called again then: everything is worked on anew. Throws Error
  /// if there is no reconcile function or it runs already, and what beforeWork() throws.
  void run(const std::stop_token& stop);

  /// Has a key looked at, for a reason that no informer knows. Nothing while it does not run: when
  /// it starts, everything is looked at.
  void enqueue(const ObjectKey& key) const;

 protected:
  // An owner, or whatever else a map finds, may have been another one before an update.
  enum class BothStates : bool { AreOne, Matter };
  // A map is the user's, and may take its time.
  enum class Adding : bool { TakesTime, IsQuick };
  using ReconcileFunction =
      std::function<Requeue(const ObjectKey& key, const std::stop_token& stop)>;

  ControllerBase(std::string name, ControllerOptions options, GroupKind kind, bool namespaced);

  /// The keys of those owners of an object that are of this controller's kind.
  std::vector<ObjectKey> ownersOf(const metav1::ObjectMeta& object, OwnerMatch match) const;
  /// Throws Error while it runs.
  void expectIdle(const char* what) const;
  /// Has what happens to the informer's objects feed the queue.
  void listen(std::shared_ptr<InformerCore> informer, BothStates states, Adding adding,
              std::unique_ptr<const ChangeKeys> keys);

  ReconcileFunction reconcile_;
  std::function<void(const std::stop_token& stop)> beforeWork_;
  GiveUpFunction onGiveUp_;
  int workers_ = 1;
  std::optional<int> maxRetries_;

 private:
  class Run;
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
  std::shared_ptr<ControllerQueue> running_ KUBE_GUARDED_BY(runningMutex_);  // while it runs
};

}  // namespace detail

}  // namespace kube
