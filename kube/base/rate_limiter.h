// Limits how many requests a client sends, or how often anything else happens. This is the brake of
// a busy client, not the limit of the server (which answers 429).
//
//   kube::TokenBucket limiter({.qps = 50, .burst = 100});
//   if (!limiter.accept(stop)) return;  // waits for its turn
//
// A bucket holds at most `burst` tokens, and that many at first. Each request takes one token;
// `qps` tokens return per second. Waiting requests are served in the order of arrival.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>

#include "kube/base/clock.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/task.h"

namespace kube {

class RateLimiter : public std::enable_shared_from_this<RateLimiter> {
 public:
  virtual ~RateLimiter();

  /// Waits for permission to send one request. Returns false if a stop was requested, or at once if
  /// permission would arrive only after the deadline.
  virtual bool accept(const std::stop_token& stop = {},
                      Clock::TimePoint deadline = Clock::noDeadline) = 0;

  /// The awaitable form of accept(), which also ends with the task's stop token. Unless it is
  /// overridden, it calls accept() on another thread; then the limiter has to be owned by a
  /// std::shared_ptr.
  virtual Task<bool> acceptAsync(Clock::TimePoint deadline = Clock::noDeadline);

  /// Takes permission if it is available now.
  virtual bool tryAccept() = 0;

  /// The rate in the long run.
  virtual double qps() const noexcept = 0;
};

struct TokenBucketOptions {
  double qps = 50;
  int burst = 100;
};

class TokenBucket final : public RateLimiter {
 public:
  /// The clock must outlive the bucket. Throws ConfigError if qps or burst is not above 0.
  explicit TokenBucket(TokenBucketOptions options = {}, Clock& clock = realClock());

  bool accept(const std::stop_token& stop = {},
              Clock::TimePoint deadline = Clock::noDeadline) override;
  Task<bool> acceptAsync(Clock::TimePoint deadline = Clock::noDeadline) override;
  bool tryAccept() override;
  double qps() const noexcept override { return options_.qps; }

  /// Takes the next turn and returns the time until it begins. No other caller gets this turn.
  Clock::Duration reserve();

 private:
  // Takes a token and returns the caller's turn, or nothing if that would begin after the deadline.
  std::optional<Clock::TimePoint> takeTurnLocked(Clock::TimePoint now, Clock::TimePoint deadline)
      KUBE_REQUIRES(tokensMutex_);
  void giveBack(Clock::TimePoint turn);
  void refillLocked(Clock::TimePoint now) KUBE_REQUIRES(tokensMutex_);
  Clock::Duration timeFor(double tokens) const;

  const TokenBucketOptions options_;
  Clock& clock_;
  detail::Mutex tokensMutex_;
  double tokens_ KUBE_GUARDED_BY(tokensMutex_);  // below 0: owed to waiting callers
  Clock::TimePoint refilled_ KUBE_GUARDED_BY(tokensMutex_);
  // The last turn that was given to a caller.
  Clock::TimePoint lastTurn_ KUBE_GUARDED_BY(tokensMutex_);
};

}  // namespace kube
