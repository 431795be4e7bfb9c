#include "kube/cache/internal/reflector_pauses.h"

#include <algorithm>
#include <atomic>

#include "kube/base/error.h"
#include "kube/meta/api_error.h"

namespace kube::detail {

namespace {

// Of a server that is asked in vain, be it by its own wish: no longer is it taken at its word.
constexpr int kAsManyTries = 10;
// Of connections that break, or credentials that are refused, which soon are others.
constexpr int kAsManyQuickTries = 16;
// Lists that are needed since the version is too old, as after a server's start.
constexpr int kAsManyQuickLists = 2;
// Watches that work for a moment only, one right after the other.
constexpr int kAsManyAtOnce = 5;
constexpr auto kMoment = std::chrono::milliseconds(200);

// What lasted so long before a new list was needed has nothing to do with the time before.
constexpr auto kLongWatch = std::chrono::seconds(30);

// All reflectors of the process that wait to reach a server have at least this time each, so that
// there are no more than 50 tries a second.
constexpr Clock::Duration kShare = std::chrono::milliseconds(20);
std::atomic<int> reconnecting{0};

enum class Failure { NotReached, MaySoonBeOver, TooOld, Answered };

Failure kindOf(const std::exception& error) {
  if (const auto* transport = dynamic_cast<const TransportError*>(&error)) {
    // A certificate that is refused may soon be another; trying for ever at that rhythm is too
    // much.
    return transport->requestSent() || transport->permanent() ? Failure::MaySoonBeOver
                                                              : Failure::NotReached;
  }
  if (isUnauthorized(error)) return Failure::MaySoonBeOver;
  return isResourceExpired(error) || isGone(error) ? Failure::TooOld : Failure::Answered;
}

}  // namespace

ReflectorPauses::ReflectorPauses(const ReflectorOptions& options, Clock& clock)
    : clock_(clock), backoff_(options.backoff, clock), reconnect_(options.reconnect, clock) {}

bool ReflectorPauses::afterFailure(const std::exception& error, const std::stop_token& stop) {
  const auto asked = suggestsClientDelay(error).value_or(std::chrono::seconds(0));
  if (asked.count() > 0 && ++asked_ <= kAsManyTries) {
    // A little later, each at another time.
    const Clock::Duration most =
        std::min<Clock::Duration>(Clock::Duration(asked) / 10, std::chrono::seconds(1));
    const auto more = static_cast<double>(most.count()) * randomUnit();
    return clock_.sleepFor(asked + Clock::Duration(static_cast<Clock::Duration::rep>(more)), stop);
  }
  const Failure kind = kindOf(error);
  if (kind == Failure::NotReached ||
      (kind == Failure::MaySoonBeOver && reconnect_.taken() < kAsManyQuickTries) ||
      (kind == Failure::TooOld && ++tooOld_ <= kAsManyQuickLists)) {
    return reconnect(stop);
  }
  const auto wait = backoff_.next();
  return wait && clock_.sleepFor(std::max<Clock::Duration>(*wait, asked), stop);
}

bool ReflectorPauses::afterWatchThatWorked(Clock::Duration lasted, const std::stop_token& stop) {
  backoff_.reset();
  asked_ = tooOld_ = 0;
  if (lasted >= kMoment) {
    reconnect_.reset();
    shortOnes_ = 0;
    return true;
  }
  return ++shortOnes_ <= kAsManyAtOnce || reconnect(stop);
}

void ReflectorPauses::noteWatchThatWorked(Clock::Duration lasted) {
  if (lasted < kLongWatch) return;
  backoff_.reset();
  reconnect_.reset();
  asked_ = tooOld_ = 0;
}

bool ReflectorPauses::reconnect(const std::stop_token& stop) {
  const auto wait = reconnect_.next();
  if (!wait) return false;
  const struct Waiting {
    const int others = reconnecting.fetch_add(1, std::memory_order_relaxed);
    ~Waiting() { reconnecting.fetch_sub(1, std::memory_order_relaxed); }
  } waiting;
  return clock_.sleepFor(std::max(*wait, kShare * waiting.others), stop);
}

}  // namespace kube::detail
