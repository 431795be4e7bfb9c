// The parts that controllers of all kinds and keys share: names, options and metrics. Programs use
// Controller<T>.
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
#include "kube/base/log.h"
#include "kube/base/metrics.h"
#include "kube/base/task.h"
#include "kube/controller/object_view.h"
#include "kube/meta/gvk.h"
#include "kube/meta/object_key.h"
#include "kube/meta/v1.h"

namespace kube {

/// The owners of an object that its changes count for.
enum class OwnerMatch : std::uint8_t { Controller, Every };

namespace detail {

class ControllerBase;

/// The awaitable form of a controller's run().
class AsyncController {
 public:
  explicit AsyncController(ControllerBase& controller) noexcept : controller_(&controller) {}

  /// As run(), with the stop token of the tree. Without executor(), a reconcile function that is a
  /// coroutine runs on the executor of the tree. One that blocks has workers() threads, and
  /// beforeWork() has one. The controller outlives the task. Destroying the task gives coroutines
  /// up, and waits for functions that block.
  Task<void> run() const;

 private:
  ControllerBase* controller_;
};

class ControllerBase {
 public:
  virtual ~ControllerBase();
  ControllerBase(const ControllerBase&) = delete;
  ControllerBase& operator=(const ControllerBase&) = delete;

  const std::string& name() const noexcept { return name_; }

  /// Waits for the caches, works until a stop is requested, and returns when the last reconcile has
  /// ended. May be called again then, and reconciles every object again. Throws Error if there is
  /// no reconcile function or the controller is already running, TimeoutError after syncTimeout(),
  /// and passes on exceptions of beforeWork() and of functions that are sources.
  void run(const std::stop_token& stop);
  AsyncController async() noexcept { return AsyncController(*this); }

  /// One line for people: the keys that are reconciled just now, and for how long, and the number
  /// of those that wait. May be called from any thread.
  virtual std::string describe() const = 0;

 protected:
  ControllerBase(std::string name, Clock* clock, Metrics* metrics, GroupKind kind, bool namespaced);

  /// Returns the keys of an object's owners that are of this controller's kind.
  std::vector<ObjectKey> ownersOf(const metav1::ObjectMeta& object, OwnerMatch match) const;
  std::string nameOfWorker() const;

  // The metrics, with the names of controller-runtime.
  struct Counts;

  const std::string name_;
  Clock& clock_;
  Metrics* const metrics_;
  const GroupKind kind_;
  const bool namespaced_;
  const Logger log_;
  const std::unique_ptr<Counts> counts_;

  std::function<void(const std::stop_token& stop)> beforeWork_;
  Predicate<ObjectView> filter_;
  int workers_ = 1;
  std::optional<int> inFlight_;  // as many as there are workers, if it is not set
  Executor executor_;            // none: threads of the controller run the tasks
  std::optional<int> maxRetries_;
  Clock::Duration reconcileTimeout_{};  // 0: none
  Clock::Duration syncTimeout_{};       // 0: none

 private:
  friend class AsyncController;
  virtual Task<void> runTask() = 0;
};

struct ControllerBase::Counts {
  Counts(Metrics& metrics, const std::string& name);

  MetricFamily<Counter>& totals;
  Counter& success;
  Counter& error;
  Counter& requeue;
  Counter& requeueAfter;
  Counter& errors;
  Counter& givenUp;
  Counter& panics;
  Counter& timeouts;
  Histogram& seconds;
  Gauge& workers;
  Gauge& active;
};

}  // namespace detail

}  // namespace kube
