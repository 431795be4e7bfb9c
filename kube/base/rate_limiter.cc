#include "kube/base/rate_limiter.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "kube/base/error.h"
#include "kube/base/internal/finally.h"

namespace kube {
namespace {

double seconds(Clock::Duration d) { return std::chrono::duration<double>(d).count(); }

}  // namespace

RateLimiter::~RateLimiter() = default;

Task<bool> RateLimiter::acceptAsync(Clock::TimePoint deadline) {
  return detail::onThread([self = shared_from_this(), deadline](const std::stop_token& stop) {
    return self->accept(stop, deadline);
  });
}

TokenBucket::TokenBucket(TokenBucketOptions options, Clock& clock)
    : options_(options),
      clock_(clock),
      tokens_(options.burst),
      refilled_(clock.now()),
      lastTurn_(refilled_) {
  if (!(options.qps > 0) || !std::isfinite(options.qps) || options.burst < 1) {
    throw ConfigError(fmt::format("rate limiter: qps and burst must be above 0, are {} and {}",
                                  options.qps, options.burst));
  }
}

Clock::Duration TokenBucket::timeFor(double tokens) const {
  // Rounded up, so that a caller that waits this long finds a whole token.
  const double nanos = std::ceil(tokens / options_.qps * 1e9);
  constexpr double kMax = 9e18;
  return Clock::Duration(static_cast<Clock::Duration::rep>(std::min(nanos, kMax)));
}

void TokenBucket::refillLocked(Clock::TimePoint now) {
  if (now <= refilled_) return;
  tokens_ = std::min<double>(options_.burst, tokens_ + seconds(now - refilled_) * options_.qps);
  refilled_ = now;
}

bool TokenBucket::tryAccept() {
  const detail::Lock lock(tokensMutex_);
  refillLocked(clock_.now());
  if (tokens_ < 1) return false;
  tokens_ -= 1;
  lastTurn_ = refilled_;
  return true;
}

std::optional<Clock::TimePoint> TokenBucket::takeTurnLocked(Clock::TimePoint now,
                                                            Clock::TimePoint deadline) {
  refillLocked(now);
  const Clock::Duration wait = tokens_ < 1 ? timeFor(1 - tokens_) : Clock::Duration{};
  const auto turn = wait > Clock::noDeadline - now ? Clock::noDeadline : now + wait;
  if (turn > deadline) return std::nullopt;
  tokens_ -= 1;
  lastTurn_ = turn;
  return turn;
}

Clock::Duration TokenBucket::reserve() {
  const detail::Lock lock(tokensMutex_);
  const Clock::TimePoint now = clock_.now();
  return *takeTurnLocked(now, Clock::noDeadline) - now;
}

bool TokenBucket::accept(const std::stop_token& stop, Clock::TimePoint deadline) {
  return detail::runBlocking(acceptAsync(deadline), stop);
}

Task<bool> TokenBucket::acceptAsync(Clock::TimePoint deadline) {
  const std::stop_token stop = co_await taskStop();
  if (stop.stop_requested()) co_return false;
  Clock::TimePoint turn;
  {
    const detail::Lock lock(tokensMutex_);
    const Clock::TimePoint now = clock_.now();
    const auto taken = takeTurnLocked(now, deadline);
    if (!taken) co_return false;
    turn = *taken;
    if (turn <= now) co_return true;
  }
  bool waited = false;
  const detail::Finally unlessWaited([&] {  // also when the coroutine is destroyed
    if (!waited) giveBack(turn);
  });
  waited = co_await sleepUntil(turn, clock_);
  co_return waited;
}

// Returns a token, less the part that is already promised to callers behind this one: their turns
// stay the same.
void TokenBucket::giveBack(Clock::TimePoint turn) {
  const detail::Lock lock(tokensMutex_);
  refillLocked(clock_.now());
  const double promised = seconds(lastTurn_ - turn) * options_.qps;
  if (promised < 1) {
    tokens_ = std::min<double>(options_.burst, tokens_ + 1 - promised);
    if (lastTurn_ == turn) {
      lastTurn_ = std::max(refilled_, turn - timeFor(1));
    }
  }
}

}  // namespace kube
