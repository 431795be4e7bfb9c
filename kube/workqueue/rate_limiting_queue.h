// A work queue in which what fails waits longer each time.
//
//   kube::RateLimitingQueue<kube::ObjectKey> queue({.name = "networks"});
//
//   for (kube::WorkItem<kube::ObjectKey> item; queue.next(item, stop);) {
//     try {
//       reconcile(*item);
//       queue.forget(*item);             // it begins anew when it next fails
//     } catch (const std::exception&) {
//       queue.addRateLimited(*item);
//     }
//   }
//
// Call forget(), or the limiter keeps the item forever.
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

  /// Adds it when the limiter lets it.
  void addRateLimited(const T& item, int priority = 0) {
    this->addAfter(item, limiter_->when(item), priority);
  }
  /// The item has succeeded, or is given up. It still has to be done.
  void forget(const T& item) { limiter_->forget(item); }
  int numRequeues(const T& item) const { return limiter_->numRequeues(item); }

 private:
  std::shared_ptr<ItemRateLimiter<T>> limiter_;
};

}  // namespace kube
