// Doing something again and again: for ever, or until it succeeds.
//
//   kube::until(30s, stop, [&] { refreshCertificates(); });
//   kube::poll({.interval = 200ms, .timeout = 1min}, stop, [&] { return isUp(); });
//
// To wait until an API object is as one wants it, kube/client/wait.h watches instead of asking
// again.
//
// Thread safety: as safe as what is called.
#pragma once

#include <chrono>
#include <exception>
#include <stop_token>
#include <utility>

#include "kube/base/backoff.h"
#include "kube/base/clock.h"
#include "kube/base/error.h"
#include "kube/base/internal/guarded.h"

namespace kube {

struct UntilOptions {
  double jitter = 0;    // adds up to this share of the period, at random
  bool sliding = true;  // whether the period begins when the function ends, or when it begins
};

/// Calls the function at once and then every period, until a stop is requested. What it throws is
/// logged, and it is called again.
template <class Function>
void until(Clock::Duration period, const std::stop_token& stop, Function function,
           const UntilOptions& options = {}, Clock& clock = realClock()) {
  Backoff waits({.initial = period, .factor = 1, .jitter = options.jitter}, clock);
  while (!stop.stop_requested()) {
    Clock::TimePoint next = clock.deadlineAfter(*waits.next());
    detail::guarded("until", "the function", function);
    if (options.sliding) next = clock.deadlineAfter(*waits.next());
    clock.sleepUntil(next, stop);
  }
}

struct PollOptions {
  Clock::Duration interval = std::chrono::seconds{1};
  Clock::Duration timeout = {};  // 0: never
  bool immediate = true;         // whether to ask before the first interval is over
  double factor = 1;             // each interval is this many times the one before
  Clock::Duration cap = {};      // no interval is longer; 0 for no cap
  double jitter = 0;             // adds up to this share of an interval, at random
};

/// Asks until the condition holds. What that throws ends it. Throws TimeoutError when the time is
/// over, CanceledError on a stop.
template <class Condition>
void poll(const PollOptions& options, const std::stop_token& stop, Condition condition,
          Clock& clock = realClock()) {
  Backoff waits({.initial = options.interval,
                 .factor = options.factor,
                 .cap = options.cap,
                 .jitter = options.jitter},
                clock);
  const auto deadline = options.timeout > Clock::Duration::zero()
                            ? clock.deadlineAfter(options.timeout)
                            : Clock::noDeadline;
  for (bool ask = options.immediate;; ask = true) {
    if (stop.stop_requested()) throw CanceledError("poll: canceled");
    if (ask && condition()) return;
    const auto next = clock.deadlineAfter(*waits.next());
    if (next >= deadline) {
      if (!clock.sleepUntil(deadline, stop)) throw CanceledError("poll: canceled");
      throw TimeoutError("poll: the condition did not come true in time");
    }
    clock.sleepUntil(next, stop);
  }
}

}  // namespace kube
