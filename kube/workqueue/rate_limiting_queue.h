// A work queue in which an item that fails waits longer each time.
//
//   kube::RateLimitingQueue<kube::ObjectKey> queue({.name = "networks"});
//
//   for (kube::WorkItem<kube::ObjectKey> item; queue.next(item, stop);) {
//     try {
//       reconcile(*item);
//       queue.forget(*item);             // its next failure counts as the first
//     } catch (const std::exception&) {
//       queue.addRateLimited(*item);
//     }
//   }
//
// The limiter keeps an item until forget() is called.
//
// Thread safety: as WorkQueue.
#pragma once

#include <memory>
#include <utility>

#include "kube/workqueue/delaying_queue.h"
#include "kube/workqueue/rate_limiters.h"

namespace kube {

template <QueueKey T>
class RateLimitingQueue : public DelayingQueue<T> {
 public:
  /// With defaultControllerRateLimiter().
  explicit RateLimitingQueue(const QueueOptions& options = {})
      : RateLimitingQueue(nullptr, options) {}
  /// Null: defaultControllerRateLimiter().
  explicit RateLimitingQueue(std::shared_ptr<ItemRateLimiter<T>> limiter,
                             const QueueOptions& options = {})
      : DelayingQueue<T>(options),
        limiter_(limiter ? std::move(limiter) : defaultControllerRateLimiter<T>(this->clock())) {}

  /// Adds the item after the delay that the limiter gives it.
  void addRateLimited(const T& item, int priority = 0) {
    this->addAfter(item, limiter_->when(item), priority);
  }
  /// Resets the failures of an item that has succeeded or is given up. A worker still has to finish
  /// the item.
  void forget(const T& item) { limiter_->forget(item); }
  /// The number of failures since forget().
  int numRequeues(const T& item) const { return limiter_->numRequeues(item); }

 private:
  std::shared_ptr<ItemRateLimiter<T>> limiter_;
};

}  // namespace kube
