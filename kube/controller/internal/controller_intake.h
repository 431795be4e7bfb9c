// The way into a controller while it runs: its queue, with the reasons why keys are in it.
//
// Sources hold it, and may add keys at any time; after the end of the run that does nothing.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <exception>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kube/base/clock.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/log.h"
#include "kube/controller/internal/key_text.h"
#include "kube/controller/internal/wake_reasons.h"
#include "kube/controller/object_view.h"
#include "kube/workqueue/rate_limiting_queue.h"

namespace kube::detail {

/// Is told of the keys that workers take.
template <class Key>
class TakenKeys {
 public:
  virtual ~TakenKeys() = default;
  virtual void taken(const Key& key) = 0;
};

template <ControllerKey Key>
class ControllerIntake final : private RateLimitingQueue<Key> {
 public:
  using Queue = RateLimitingQueue<Key>;

  ControllerIntake(std::shared_ptr<ItemRateLimiter<Key>> limiter, const QueueOptions& options,
                   Logger log, Predicate<ObjectView> filter, bool withReasons)
      : Queue(std::move(limiter), options),
        name_(options.name),
        log_(std::move(log)),
        filter_(std::move(filter)),
        reasons_(withReasons ? std::make_unique<ReasonTable<Key>>() : nullptr) {
    if (withReasons) this->setAddDue(&noteDue);
  }
  ~ControllerIntake() override { this->shutDown(); }

  // ---- For sources.

  /// `reason` is called if reasons are collected.
  template <std::invocable Reason>
  void wake(const Key& key, int priority, const Reason& reason) {
    // First, since a worker may take the key at once.
    if (reasons_) reasons_->add(key, reason());
    this->add(key, priority);
  }
  void wakeAfter(const Key& key, Clock::Duration delay, int priority) {
    this->addAfter(key, delay, priority);
  }
  const std::string& name() const noexcept { return name_; }
  /// The predicate for the objects of all sources; may be empty.
  const Predicate<ObjectView>& filter() const noexcept { return filter_; }
  Clock& clock() const noexcept { return Queue::clock(); }
  const Logger& log() const noexcept { return log_; }
  /// Stops with the run.
  std::stop_token stopToken() const noexcept { return stop_.get_token(); }
  /// Ends the run with this exception.
  void fail(std::exception_ptr error) {
    {
      const Lock lock(failureMutex_);
      if (!failure_) failure_ = std::move(error);
    }
    stop_.request_stop();
  }
  void tell(std::shared_ptr<TakenKeys<Key>> observer) {
    const Lock lock(observersMutex_);
    observers_.push_back(std::move(observer));
    observed_ = true;
  }
  void tellNoMore(const TakenKeys<Key>* observer) {
    const Lock lock(observersMutex_);
    std::erase_if(observers_, [&](const auto& other) { return other.get() == observer; });
    observed_ = !observers_.empty();
  }

  // ---- For workers.

  Queue& queue() noexcept { return *this; }
  ItemFailures<Key>& failures() noexcept { return failures_; }
  void noteTaken(const Key& key) {
    if (!observed_.load(std::memory_order_relaxed)) return;
    std::vector<std::shared_ptr<TakenKeys<Key>>> observers;
    {
      const Lock lock(observersMutex_);
      observers = observers_;
    }
    for (const auto& observer : observers) observer->taken(key);
  }
  WakeReasons takeReasons(const Key& key) { return reasons_->take(key); }
  void keepReasons(const Key& key, WakeReasons reasons) {
    reasons_->addEarlier(key, std::move(reasons));
  }

  // ---- For the run.

  void requestStop() noexcept { stop_.request_stop(); }
  void rethrow() const {
    const Lock lock(failureMutex_);
    if (failure_) std::rethrow_exception(failure_);
  }
  void close() { this->shutDown(); }

 private:
  static void noteDue(DelayingQueue<Key>& queue, const Key& key, int priority) {
    auto& intake = static_cast<ControllerIntake&>(queue);
    if (intake.failures_.count(key) == 0) {  // otherwise it still has its reasons
      intake.reasons_->add(key, {.source = "requeue", .change = WakeReason::Change::Due});
    }
    intake.add(key, priority);
  }

  const std::string name_;  // of the controller
  const Logger log_;
  const Predicate<ObjectView> filter_;
  const std::unique_ptr<ReasonTable<Key>> reasons_;  // null: not collected
  ItemFailures<Key> failures_;                       // without keys that reconcile asked to requeue
  std::stop_source stop_;
  mutable Mutex failureMutex_;
  std::exception_ptr failure_ KUBE_GUARDED_BY(failureMutex_);
  std::atomic<bool> observed_ = false;
  Mutex observersMutex_;
  std::vector<std::shared_ptr<TakenKeys<Key>>> observers_ KUBE_GUARDED_BY(observersMutex_);
};

extern template class ControllerIntake<ObjectKey>;

}  // namespace kube::detail
