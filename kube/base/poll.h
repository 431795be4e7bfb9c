// Calls a function repeatedly: for ever, or until it succeeds.
//
//   kube::until(30s, stop, [&] { refreshCertificates(); });
//   kube::poll({.interval = 200ms, .timeout = 1min}, stop, [&] { return isUp(); });
//
// To wait for a state of an API object, use kube/client/wait.h, which watches instead of polling.
//
// Thread safety: as safe as the called function.
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
  bool sliding = true;  // true: the period begins when the function ends; false: when it begins
};

/// Calls the function at once and then every period, until a stop is requested. Exceptions that it
/// throws are logged, and it is called again.
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
  Clock::Duration timeout = {};  // 0 for no timeout
  bool immediate = true;         // checks the condition before the first interval, too
  double factor = 1;             // each interval is this many times the previous one
  Clock::Duration cap = {};      // the longest interval; 0 for no cap
  double jitter = 0;             // adds up to this share of an interval, at random
};

/// Checks the condition until it holds. An exception of the condition ends the call. Throws
/// TimeoutError after the timeout, CanceledError on a stop.
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
      throw TimeoutError("poll: the condition did not become true before the timeout");
    }
    clock.sleepUntil(next, stop);
  }
}

}  // namespace kube
