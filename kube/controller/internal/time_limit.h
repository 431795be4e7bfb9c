// Limits the time of work that looks at a stop token.
//
//   detail::TimeLimit limit(clock, 30s, stop, [] { log.warning("..."); });
//   work(limit.token());                 // stops when `stop` does, or after 30 s
//   if (limit.over()) ...
//
// The clock's thread calls the function right before the token stops. The destructor waits for a
// call under way.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <atomic>
#include <functional>
#include <stop_token>

#include "kube/base/clock.h"
#include "kube/base/task.h"

namespace kube::detail {

class TimeLimit {
 public:
  /// The clock must outlive it. Throws Error if the clock cannot start its thread.
  TimeLimit(Clock& clock, Clock::Duration limit, const std::stop_token& stop,
            std::function<void()> onOver);
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

  std::stop_token token() const noexcept { return stop_.token(); }
  Clock::TimePoint deadline() const noexcept { return deadline_; }
  bool over() const noexcept { return over_; }

 private:
  const Clock::TimePoint deadline_;
  LinkedStop stop_;
  std::atomic<bool> over_ = false;
  Timer timer_;  // uses the members above, so it is destroyed first
};

}  // namespace kube::detail
