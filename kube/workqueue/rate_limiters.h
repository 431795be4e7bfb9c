// How long an item that failed waits before it is tried again.
//
//   auto limiter = kube::defaultControllerRateLimiter<kube::ObjectKey>();
//   kube::RateLimitingQueue<kube::ObjectKey> queue(limiter);
//
// client-go's limiters: one bucket for all items, exponential failures per item, some fast tries
// and then slow ones, the longest that several say, and a bound for what another says.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kube/base/backoff.h"
#include "kube/base/clock.h"
#include "kube/base/rate_limiter.h"
#include "kube/workqueue/internal/item_hash.h"

namespace kube {

template <class T>
class ItemRateLimiter {
 public:
  virtual ~ItemRateLimiter() = default;

  /// The item is to be tried again: how long it has to wait.
  virtual Clock::Duration when(const T& item) = 0;
  /// The item has succeeded, or is given up: it starts anew.
  virtual void forget(const T& item) = 0;
  /// How often when() was asked since the item was last forgotten.
  virtual int numRequeues(const T& item) const = 0;
};

namespace detail {

/// How often items have failed.
template <class T>
class ItemFailures {
 public:
  /// One more; returns how many there were before.
  int add(const T& item) {
    std::lock_guard lock(mutex_);
    int& count = counts_[item];
    if (count == 0) size_.store(counts_.size(), std::memory_order_relaxed);
    const int before = count;
    if (count < std::numeric_limits<int>::max()) ++count;
    return before;
  }
  void forget(const T& item) {
    if (empty()) return;
    std::lock_guard lock(mutex_);
    counts_.erase(item);
    size_.store(counts_.size(), std::memory_order_relaxed);
  }
  int count(const T& item) const {
    if (empty()) return 0;
    std::lock_guard lock(mutex_);
    const auto found = counts_.find(item);
    return found == counts_.end() ? 0 : found->second;
  }

 private:
  // Most of the time nothing fails. Whoever knows of a failure knows of the size, so this needs no
  // lock.
  bool empty() const noexcept { return size_.load(std::memory_order_relaxed) == 0; }

  mutable std::mutex mutex_;
  std::unordered_map<T, int, ItemHash<T>> counts_;
  std::atomic<std::size_t> size_ = 0;
};

}  // namespace detail

/// So many a second for all items together, whichever they are.
template <class T>
class BucketRateLimiter final : public ItemRateLimiter<T> {
 public:
  /// Throws ConfigError if qps or burst is not above 0.
  explicit BucketRateLimiter(TokenBucketOptions options, Clock& clock = realClock())
      : bucket_(options, clock) {}

  Clock::Duration when(const T& /*item*/) override { return bucket_.reserve(); }
  void forget(const T& /*item*/) override {}
  int numRequeues(const T& /*item*/) const override { return 0; }

 private:
  TokenBucket bucket_;
};

/// Each failure of an item doubles its wait.
template <class T>
class ItemExponentialFailureRateLimiter final : public ItemRateLimiter<T> {
 public:
  ItemExponentialFailureRateLimiter(Clock::Duration base, Clock::Duration max)
      : max_(max), backoff_{.initial = base, .factor = 2, .cap = max} {
    (void)backoffWait(backoff_, 0);  // throws where the options make no sense
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

/// An item is tried again soon for some times, then seldom.
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

/// The longest of what several say. All of them are asked, so each counts every try.
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

/// What another says, but not longer than this.
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

/// For controllers: each item from 5 ms, doubling, to 1000 s; all together 10 a second, with bursts
/// of 100.
template <class T>
std::shared_ptr<ItemRateLimiter<T>> defaultControllerRateLimiter(Clock& clock = realClock()) {
  using namespace std::chrono_literals;
  return std::make_shared<MaxOfRateLimiter<T>>(std::vector<std::shared_ptr<ItemRateLimiter<T>>>{
      std::make_shared<ItemExponentialFailureRateLimiter<T>>(5ms, 1000s),
      std::make_shared<BucketRateLimiter<T>>(TokenBucketOptions{.qps = 10, .burst = 100}, clock)});
}

/// Each item from 1 ms, doubling, to 1000 s.
template <class T>
std::shared_ptr<ItemRateLimiter<T>> defaultItemBasedRateLimiter() {
  using namespace std::chrono_literals;
  return std::make_shared<ItemExponentialFailureRateLimiter<T>>(1ms, 1000s);
}

}  // namespace kube
