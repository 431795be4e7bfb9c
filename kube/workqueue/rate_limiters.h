// Rate limiters say how long an item that failed waits before the next try.
//
//   auto limiter = kube::defaultControllerRateLimiter<kube::ObjectKey>();
//   kube::RateLimitingQueue<kube::ObjectKey> queue(limiter);
//
// They are client-go's: a bucket for all items, a delay that doubles with each failure of an item,
// some fast tries and then slow ones, the longest delay of several limiters, and an upper bound for
// another limiter.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kube/base/backoff.h"
#include "kube/base/clock.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/rate_limiter.h"
#include "kube/workqueue/internal/item_hash.h"

namespace kube {

template <class T>
class ItemRateLimiter {
 public:
  virtual ~ItemRateLimiter() = default;

  /// Counts a failure of the item, and returns the delay before the next try.
  virtual Clock::Duration when(const T& item) = 0;
  /// Resets the failures of an item that has succeeded or is given up.
  virtual void forget(const T& item) = 0;
  /// The number of calls of when() since forget().
  virtual int numRequeues(const T& item) const = 0;
};

namespace detail {

/// Counts the failures of items.
template <class T>
class ItemFailures {
 public:
  /// Counts one more. Returns the number before.
  int add(const T& item) {
    const Lock lock(countsMutex_);
    int& count = counts_[item];
    if (count == 0) size_.store(counts_.size(), std::memory_order_relaxed);
    const int before = count;
    if (count < std::numeric_limits<int>::max()) ++count;
    return before;
  }
  void forget(const T& item) {
    if (empty()) return;
    const Lock lock(countsMutex_);
    counts_.erase(item);
    size_.store(counts_.size(), std::memory_order_relaxed);
  }
  int count(const T& item) const {
    if (empty()) return 0;
    const Lock lock(countsMutex_);
    const auto found = counts_.find(item);
    return found == counts_.end() ? 0 : found->second;
  }

 private:
  // Needs no lock: a thread that knows of a failure also sees the size that belongs to it. Mostly,
  // nothing fails, and every item is forgotten.
  bool empty() const noexcept { return size_.load(std::memory_order_relaxed) == 0; }

  mutable Mutex countsMutex_;
  std::unordered_map<T, int, ItemHash<T>> counts_ KUBE_GUARDED_BY(countsMutex_);
  std::atomic<std::size_t> size_ = 0;  // of counts_
};

}  // namespace detail

/// Limits all items together to a number of tries per second.
template <class T>
class BucketRateLimiter final : public ItemRateLimiter<T> {
 public:
  /// Throws ConfigError if qps or burst is zero or negative.
  explicit BucketRateLimiter(TokenBucketOptions options, Clock& clock = realClock())
      : bucket_(options, clock) {}

  Clock::Duration when(const T& /*item*/) override { return bucket_.reserve(); }
  void forget(const T& /*item*/) override {}
  int numRequeues(const T& /*item*/) const override { return 0; }

 private:
  TokenBucket bucket_;
};

/// Doubles the delay of an item with each failure.
template <class T>
class ItemExponentialFailureRateLimiter final : public ItemRateLimiter<T> {
 public:
  /// Throws ConfigError if a duration is negative.
  ItemExponentialFailureRateLimiter(Clock::Duration base, Clock::Duration max)
      : max_(max), backoff_{.initial = base, .factor = 2, .cap = max} {
    (void)backoffWait(backoff_, 0);  // checks the options
  }

  Clock::Duration when(const T& item) override {
    const int failures = failures_.add(item);
    return max_ > Clock::Duration::zero() ? backoffWait(backoff_, failures) : max_;
  }
  void forget(const T& item) override { failures_.forget(item); }
  int numRequeues(const T& item) const override { return failures_.count(item); }

 private:
  Clock::Duration max_;
  BackoffOptions backoff_;
  detail::ItemFailures<T> failures_;
};

/// Gives an item a short delay for the first tries, and a long one after that.
template <class T>
class ItemFastSlowRateLimiter final : public ItemRateLimiter<T> {
 public:
  ItemFastSlowRateLimiter(Clock::Duration fast, Clock::Duration slow, int maxFastAttempts)
      : fast_(fast), slow_(slow), maxFastAttempts_(maxFastAttempts) {}

  Clock::Duration when(const T& item) override {
    return failures_.add(item) < maxFastAttempts_ ? fast_ : slow_;
  }
  void forget(const T& item) override { failures_.forget(item); }
  int numRequeues(const T& item) const override { return failures_.count(item); }

 private:
  Clock::Duration fast_;
  Clock::Duration slow_;
  int maxFastAttempts_;
  detail::ItemFailures<T> failures_;
};

/// Gives the longest delay of several limiters. Each of them counts every failure.
template <class T>
class MaxOfRateLimiter final : public ItemRateLimiter<T> {
 public:
  explicit MaxOfRateLimiter(std::vector<std::shared_ptr<ItemRateLimiter<T>>> limiters)
      : limiters_(std::move(limiters)) {}

  Clock::Duration when(const T& item) override {
    Clock::Duration longest{};
    for (const auto& limiter : limiters_) longest = std::max(longest, limiter->when(item));
    return longest;
  }
  void forget(const T& item) override {
    for (const auto& limiter : limiters_) limiter->forget(item);
  }
  int numRequeues(const T& item) const override {
    int most = 0;
    for (const auto& limiter : limiters_) most = std::max(most, limiter->numRequeues(item));
    return most;
  }

 private:
  std::vector<std::shared_ptr<ItemRateLimiter<T>>> limiters_;
};

/// Gives the delay of another limiter, up to a maximum.
template <class T>
class WithMaxWaitRateLimiter final : public ItemRateLimiter<T> {
 public:
  WithMaxWaitRateLimiter(std::shared_ptr<ItemRateLimiter<T>> limiter, Clock::Duration max)
      : limiter_(std::move(limiter)), max_(max) {}

  Clock::Duration when(const T& item) override { return std::min(limiter_->when(item), max_); }
  void forget(const T& item) override { limiter_->forget(item); }
  int numRequeues(const T& item) const override { return limiter_->numRequeues(item); }

 private:
  std::shared_ptr<ItemRateLimiter<T>> limiter_;
  Clock::Duration max_;
};

/// The limiter of controllers. The delay of an item doubles from 5 ms to 1000 s; all items together
/// have 10 tries a second, with bursts of 100.
template <class T>
std::shared_ptr<ItemRateLimiter<T>> defaultControllerRateLimiter(Clock& clock = realClock()) {
  using namespace std::chrono_literals;
  return std::make_shared<MaxOfRateLimiter<T>>(std::vector<std::shared_ptr<ItemRateLimiter<T>>>{
      std::make_shared<ItemExponentialFailureRateLimiter<T>>(5ms, 1000s),
      std::make_shared<BucketRateLimiter<T>>(TokenBucketOptions{.qps = 10, .burst = 100}, clock)});
}

/// The delay of an item doubles from 1 ms to 1000 s.
template <class T>
std::shared_ptr<ItemRateLimiter<T>> defaultItemBasedRateLimiter() {
  using namespace std::chrono_literals;
  return std::make_shared<ItemExponentialFailureRateLimiter<T>>(1ms, 1000s);
}

}  // namespace kube
