// What controllers of all kinds have in common: the queue, its workers, and what becomes of keys
// that fail. Programs use Controller<T>.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kube/base/clock.h"
#include "kube/base/log.h"
#include "kube/base/metrics.h"
#include "kube/cache/shared_informer.h"
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
  /// Adds a handler to an informer, which feeds the queue.
  using Source = std::function<HandlerRegistration(ControllerQueue& queue)>;
  using ReconcileFunction =
      std::function<Requeue(const ObjectKey& key, const std::stop_token& stop)>;

  // What is there at the start, and told again at resyncs, waits for what has just happened.
  static constexpr int kUsual = 0;
  static constexpr int kNotUrgent = -100;

  ControllerBase(std::string name, ControllerOptions options, GroupKind kind, bool namespaced);

  /// The keys of those owners of an object that are of this controller's kind.
  std::vector<ObjectKey> ownersOf(const metav1::ObjectMeta& object, OwnerMatch match) const;
  /// Throws Error while it runs.
  void expectIdle(const char* what) const;

  std::vector<Source> sources_;
  ReconcileFunction reconcile_;
  std::function<void(const std::stop_token& stop)> beforeWork_;
  GiveUpFunction onGiveUp_;
  int workers_ = 1;
  std::optional<int> maxRetries_;

 private:
  class Run;
  struct Counts;

  const std::string name_;
  const ControllerOptions options_;
  const GroupKind kind_;
  const bool namespaced_;
  Clock& clock_;
  const Logger log_;
  const std::unique_ptr<Counts> counts_;

  mutable std::mutex runningMutex_;
  std::shared_ptr<ControllerQueue> running_;  // while it runs
};

}  // namespace detail

}  // namespace kube
