// How many requests a client may send, or how often anything may happen: the brake in front of a
// busy program, not the server's own (which answers 429).
//
//   kube::TokenBucket limiter({.qps = 50, .burst = 100});
//   if (!limiter.accept(stop)) return;   // waits for its turn
//
// A bucket holds `burst` tokens at first and at most; every request takes one, and they come back
// `qps` a second. Waiting requests are served in the order they came.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <optional>
#include <stop_token>

#include "kube/base/clock.h"
#include "kube/base/internal/mutex.h"

namespace kube {

class RateLimiter {
 public:
  virtual ~RateLimiter();

  /// Waits for permission to send one request. False if there is none: a stop was requested, or it
  /// would come only after the deadline (which is then not waited for).
  virtual bool accept(const std::stop_token& stop = {},
                      Clock::TimePoint deadline = Clock::noDeadline) = 0;

  /// Takes permission if it is there at once.
  virtual bool tryAccept() = 0;

  /// The rate that it settles at.
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
  bool tryAccept() override;
  double qps() const noexcept override { return options_.qps; }

  /// Takes the next turn, which nobody else gets then, and says how long it is until it comes.
  Clock::Duration reserve();

 private:
  // The caller's turn, its token taken; nothing where it would come after the deadline.
  std::optional<Clock::TimePoint> takeTurnLocked(Clock::TimePoint now, Clock::TimePoint deadline)
      KUBE_REQUIRES(tokensMutex_);
  void refillLocked(Clock::TimePoint now) KUBE_REQUIRES(tokensMutex_);
  Clock::Duration timeFor(double tokens) const;

  const TokenBucketOptions options_;
  Clock& clock_;
  detail::Mutex tokensMutex_;
  double tokens_ KUBE_GUARDED_BY(tokensMutex_);  // below 0: owed to those who wait
  Clock::TimePoint refilled_ KUBE_GUARDED_BY(tokensMutex_);
  Clock::TimePoint lastTurn_
      KUBE_GUARDED_BY(tokensMutex_);  // when the last of those who came may go
};

}  // namespace kube
