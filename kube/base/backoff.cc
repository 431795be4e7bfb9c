#include "kube/base/backoff.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "kube/base/error.h"

namespace kube {
namespace {

// A century. Without a cap, growth ends here, well before durations overflow.
constexpr double longest = 100.0 * 365 * 24 * 3600 * 1e9;

double nanoseconds(Clock::Duration d) { return static_cast<double>(d.count()); }

void check(const BackoffOptions& options) {
  if (options.initial < Clock::Duration::zero()) throw ConfigError("backoff: initial is negative");
  if (options.cap < Clock::Duration::zero()) throw ConfigError("backoff: cap is negative");
  if (options.resetAfter < Clock::Duration::zero()) {
    throw ConfigError("backoff: resetAfter is negative");
  }
  if (options.steps < 0) throw ConfigError("backoff: steps is negative");
  if (!std::isfinite(options.factor) || options.factor < 1) {
    throw ConfigError("backoff: factor is below 1");
  }
  if (!std::isfinite(options.jitter) || options.jitter < 0) {
    throw ConfigError("backoff: jitter is negative");
  }
}

// Returns nanoseconds.
double waitAfter(const BackoffOptions& options, int taken) {
  const bool capped = options.cap > Clock::Duration::zero();
  const double limit = capped ? std::min(nanoseconds(options.cap), longest) : longest;
  // The power may be infinite, and infinity times an initial pause of 0 would be NaN.
  if (options.initial == Clock::Duration::zero()) return 0;
  return std::min(nanoseconds(options.initial) * std::pow(options.factor, taken), limit);
}

}  // namespace

Clock::Duration backoffWait(const BackoffOptions& options, int taken) {
  check(options);
  return Clock::Duration(static_cast<Clock::Duration::rep>(waitAfter(options, taken)));
}

double randomUnit() {
  thread_local std::mt19937_64 generator{std::random_device{}()};
  return std::generate_canonical<double, std::numeric_limits<double>::digits>(generator);
}

Backoff::Backoff(BackoffOptions options, Clock& clock, RandomSource random)
    : options_(options), clock_(clock), random_(std::move(random)) {
  check(options_);
  reset();
}

void Backoff::reset() {
  taken_ = 0;
  lastStep_.reset();
}

std::optional<Clock::Duration> Backoff::next() {
  const auto now = clock_.now();
  const bool idle = lastStep_ && options_.resetAfter > Clock::Duration::zero() &&
                    now - *lastStep_ > options_.resetAfter;
  if (idle) reset();
  if (options_.steps > 0 && taken_ >= options_.steps) return std::nullopt;

  const double wait = waitAfter(options_, taken_);
  if (taken_ < std::numeric_limits<int>::max()) ++taken_;
  lastStep_ = now;

  const double jitter = options_.jitter > 0 ? wait * options_.jitter * random_() : 0;
  const double total = std::min(wait + jitter, longest);
  return Clock::Duration(static_cast<Clock::Duration::rep>(total));
}

bool Backoff::sleep(const std::stop_token& stop) {
  const auto wait = next();
  return wait && clock_.sleepFor(*wait, stop);
}

}  // namespace kube
