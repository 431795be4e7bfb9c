// The pause before another try: it grows exponentially, has jitter, and is limited by a cap.
//
//   Backoff backoff({.initial = 800ms, .cap = 30s, .jitter = 1.0, .resetAfter = 2min});
//   while (!stop.stop_requested()) {
//     listAndWatch();
//     backoff.sleep(stop);
//   }
//
// It covers wait.Backoff and the backoff managers of client-go's retries and reflectors.
//
// Thread safety: none; a Backoff belongs to one loop.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>

#include "kube/base/clock.h"

namespace kube {

/// Returns numbers that are evenly distributed over [0, 1).
using RandomSource = std::function<double()>;

/// Is seeded by the operating system; every thread has its own generator.
double randomUnit();

struct BackoffOptions {
  Clock::Duration initial = std::chrono::seconds{1};
  double factor = 2.0;  // each pause is this many times the previous one; 1 for a constant pause
  Clock::Duration cap = {};         // the longest pause, before jitter; 0 for no cap
  double jitter = 0.0;              // adds up to this share of the pause, at random
  int steps = 0;                    // the number of pauses; 0 for no limit
  Clock::Duration resetAfter = {};  // starts over if next() was not called for so long; 0 for never
};

/// Returns the pause after `taken` earlier ones, without jitter, for callers that count the tries
/// themselves. Throws ConfigError for invalid options.
Clock::Duration backoffWait(const BackoffOptions& options, int taken);

class Backoff {
 public:
  /// The clock must outlive the Backoff. Throws ConfigError for invalid options.
  explicit Backoff(BackoffOptions options, Clock& clock = realClock(),
                   RandomSource random = randomUnit);

  /// Takes a step and returns its pause, or nothing when all steps are used up.
  std::optional<Clock::Duration> next();

  /// Takes a step and sleeps. Returns whether to try again: false when all steps are used up or a
  /// stop was requested.
  bool sleep(const std::stop_token& stop = {});

  /// Starts over, as after a success.
  void reset();

  /// The number of steps since the start.
  int taken() const noexcept { return taken_; }

 private:
  BackoffOptions options_;
  Clock& clock_;
  RandomSource random_;
  int taken_ = 0;
  std::optional<Clock::TimePoint> lastStep_;
};

}  // namespace kube
