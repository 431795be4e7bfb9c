// How long to wait before trying again: exponentially longer, with jitter, up to a cap.
//
//   Backoff backoff({.initial = 800ms, .cap = 30s, .jitter = 1.0, .resetAfter = 2min});
//   while (!stop.stop_requested()) {
//     listAndWatch();
//     backoff.sleep(stop);
//   }
//
// It covers what wait.Backoff and its manager do for client-go's retries and reflectors.
//
// Thread safety: none; a Backoff belongs to one loop.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>

#include "kube/base/clock.h"

namespace kube {

// Gives numbers evenly distributed over [0, 1).
using RandomSource = std::function<double()>;

// Seeded by the operating system; every thread has its own generator.
double randomUnit();

struct BackoffOptions {
  Clock::Duration initial = std::chrono::seconds{1};
  double factor = 2.0;              // each wait is this many times the one before; 1 for constant
  Clock::Duration cap = {};         // no wait is longer, before jitter; 0 for no cap
  double jitter = 0.0;              // adds up to this share of the wait, at random
  int steps = 0;                    // how many waits there are; 0 for no limit
  Clock::Duration resetAfter = {};  // starts over if nobody asked for so long; 0 for never
};

// The wait after so many earlier ones, without jitter: for whoever counts the tries himself.
// Throws ConfigError for options that make no sense.
Clock::Duration backoffWait(const BackoffOptions& options, int taken);

class Backoff {
 public:
  // The clock must outlive the Backoff. Throws ConfigError for options that make no sense.
  explicit Backoff(BackoffOptions options, Clock& clock = realClock(),
                   RandomSource random = randomUnit);

  // How long to wait now, or nothing when all steps are used up.
  std::optional<Clock::Duration> next();

  // Takes a step and sleeps. Says whether to try again: false when all steps are used up or a stop
  // was requested.
  bool sleep(const std::stop_token& stop = {});

  // Starts over, as after a success.
  void reset();

  // How many steps were taken since the start.
  int taken() const noexcept { return taken_; }

 private:
  BackoffOptions options_;
  Clock& clock_;
  RandomSource random_;
  int taken_ = 0;
  std::optional<Clock::TimePoint> lastStep_;
};

}  // namespace kube
