#include "kube/cache/internal/reflector_pauses.h"

#include <algorithm>
#include <atomic>

#include "kube/base/error.h"
#include "kube/meta/api_error.h"

namespace kube::detail {

namespace {

// Attempts that wait exactly as long as the server asks. After that many in vain, the backoff
// applies too.
constexpr int kMaxAskedPauses = 10;
// Quick attempts after connections broke or credentials were refused, which soon may be others.
constexpr int kMaxQuickTries = 16;
// The longest pause while credentials are refused: nothing tells when there are others, and such a
// request costs the server little.
constexpr Clock::Duration kMaxRefusedPause = std::chrono::seconds(5);
// Quick lists after a version was too old, as after a restart of the server.
constexpr int kMaxQuickLists = 2;
// Watches that work for a moment only and are followed at once.
constexpr int kMaxAtOnce = 5;
constexpr auto kMoment = std::chrono::milliseconds(200);

// A watch that lasted this long before a new list was needed resets the pauses.
constexpr auto kLongWatch = std::chrono::seconds(30);

// Each reflector of the process that waits to reach a server adds this time to the pause, so that
// there are at most 50 attempts a second.
constexpr Clock::Duration kShare = std::chrono::milliseconds(20);
std::atomic<int> reconnecting{0};

enum class Failure { NotReached, MaySoonBeOver, TooOld, Answered };

// True if other credentials, or another certificate of the server, would help.
bool isRefused(const std::exception& error) {
  const auto* transport = dynamic_cast<const TransportError*>(&error);
  return isUnauthorized(error) || (transport != nullptr && transport->permanent());
}

Failure kindOf(const std::exception& error) {
  if (const auto* transport = dynamic_cast<const TransportError*>(&error)) {
    // A refused certificate may soon be replaced, but attempts must not go on at that rhythm for
    // ever.
    return transport->requestSent() || transport->permanent() ? Failure::MaySoonBeOver
                                                              : Failure::NotReached;
  }
  if (isUnauthorized(error)) return Failure::MaySoonBeOver;
  return isResourceExpired(error) || isGone(error) ? Failure::TooOld : Failure::Answered;
}

}  // namespace

ReflectorPauses::ReflectorPauses(const ReflectorOptions& options, Clock& clock)
    : clock_(clock), backoff_(options.backoff, clock), reconnect_(options.reconnect, clock) {}

Task<bool> ReflectorPauses::Pause::wait(Clock& clock) {
  if (!time_) co_return false;
  if (*time_ <= Clock::Duration::zero()) co_return true;
  co_return co_await sleepFor(*time_, clock);
}

ReflectorPauses::Pause ReflectorPauses::afterFailure(const std::exception& error) {
  const auto asked = suggestsClientDelay(error).value_or(std::chrono::seconds(0));
  if (asked.count() > 0 && ++asked_ <= kMaxAskedPauses) {
    // Slightly later, and at random, so that clients do not return all at once.
    const Clock::Duration most =
        std::min<Clock::Duration>(Clock::Duration(asked) / 10, std::chrono::seconds(1));
    const auto more = static_cast<double>(most.count()) * randomUnit();
    return Pause(asked + Clock::Duration(static_cast<Clock::Duration::rep>(more)));
  }
  const Failure kind = kindOf(error);
  if (kind == Failure::NotReached ||
      (kind == Failure::MaySoonBeOver && reconnect_.taken() < kMaxQuickTries) ||
      (kind == Failure::TooOld && ++tooOld_ <= kMaxQuickLists)) {
    return reconnect();
  }
  auto wait = backoff_.next();
  if (!wait) return Pause();
  if (kind == Failure::MaySoonBeOver && isRefused(error)) *wait = std::min(*wait, kMaxRefusedPause);
  return Pause(std::max<Clock::Duration>(*wait, asked));
}

ReflectorPauses::Pause ReflectorPauses::afterWatchThatWorked(Clock::Duration lasted) {
  backoff_.reset();
  asked_ = tooOld_ = 0;
  if (lasted >= kMoment) {
    reconnect_.reset();
    shortOnes_ = 0;
    return Pause(Clock::Duration::zero());
  }
  return ++shortOnes_ <= kMaxAtOnce ? Pause(Clock::Duration::zero()) : reconnect();
}

void ReflectorPauses::noteWatchThatWorked(Clock::Duration lasted) {
  if (lasted < kLongWatch) return;
  backoff_.reset();
  reconnect_.reset();
  asked_ = tooOld_ = 0;
}

ReflectorPauses::Pause ReflectorPauses::reconnect() {
  const auto wait = reconnect_.next();
  if (!wait) return Pause();
  const int others = reconnecting.fetch_add(1, std::memory_order_relaxed);
  Pause pause(std::max(*wait, kShare * others));
  pause.counted_.reset(&reconnecting);
  return pause;
}

}  // namespace kube::detail
