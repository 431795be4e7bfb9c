// Time that a test can control.
//
// Code that waits or reads the time (work queues, the reflector's backoff, leader election) uses
// the Clock that it was given: realClock() in a program, and in a test a FakeClock, which stands
// still until the test advances it.
//
// Deadlines are absolute points of steady time, so a late waiter recomputes nothing. Wall time is
// for data that leaves the process (lease times, event times), never for waiting. Clock::noDeadline
// means: for ever.
//
// Thread safety: every method of every clock may be called from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

#include "kube/base/internal/mutex.h"

namespace kube {

namespace detail {
class TimerQueue;
}

/// A function that will run once, later. Destroying or cancelling the timer prevents the run; if
/// the function is just running on another thread, both wait for its end. The function may cancel
/// or destroy its own timer.
class [[nodiscard]] Timer {
 public:
  Timer() = default;
  Timer(Timer&& other) noexcept = default;
  Timer& operator=(Timer&& other) noexcept;
  ~Timer() { cancel(); }

  /// Returns whether the cancellation prevented the run. The function is not running when cancel()
  /// returns, unless the function itself called cancel().
  bool cancel();

 private:
  friend class Clock;
  Timer(std::shared_ptr<detail::TimerQueue> queue, std::uint64_t id)
      : queue_(std::move(queue)), id_(id) {}

  std::shared_ptr<detail::TimerQueue> queue_;  // null if empty or cancelled
  std::uint64_t id_ = 0;
};

class Clock {
 public:
  using Duration = std::chrono::nanoseconds;
  using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;
  using WallTime = std::chrono::sys_time<Duration>;

  static constexpr TimePoint noDeadline = TimePoint::max();

  virtual ~Clock();
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;

  virtual TimePoint now() const = 0;
  virtual WallTime wallNow() const = 0;

  /// now() + d, or noDeadline if that is out of range.
  TimePoint deadlineAfter(Duration d) const;

  /// Waits until the predicate holds, the deadline has passed or a stop is requested, as
  /// std::condition_variable_any::wait_until does, and returns the predicate's last value. The
  /// predicate is called with the lock held. The thread that makes it true must notify `changed`.
  // Not checked: the predicate may require the caller's mutex, which has no name here.
  template <class Predicate>
  bool waitUntil(std::condition_variable_any& changed, std::unique_lock<std::mutex>& lock,
                 const std::stop_token& stop, TimePoint deadline,
                 Predicate predicate) KUBE_NOT_CHECKED {
    while (!predicate()) {
      if (stop.stop_requested() || now() >= deadline) return false;
      waitOnce(changed, lock, stop, deadline);
    }
    return true;
  }

  template <class Predicate>
  bool waitFor(std::condition_variable_any& changed, std::unique_lock<std::mutex>& lock,
               const std::stop_token& stop, Duration timeout, Predicate predicate) {
    return waitUntil(changed, lock, stop, deadlineAfter(timeout), std::move(predicate));
  }

  /// Both return whether the full time has passed: false means that a stop was requested.
  bool sleepUntil(TimePoint deadline, const std::stop_token& stop = {});
  bool sleepFor(Duration d, const std::stop_token& stop = {});

  /// Runs a function at the given time, or soon if that is past. The functions of a clock run one
  /// after the other: on one thread of the real clock, or on the thread that advances a fake one.
  /// So they must be short and must not wait. Exceptions that a function throws are logged and
  /// dropped.
  Timer callAt(TimePoint when, std::function<void()> function);
  Timer callAfter(Duration d, std::function<void()> function);

 protected:
  Clock();

  // Waits once: returns on a notification, at the deadline, on a stop, or for no reason.
  virtual void waitOnce(std::condition_variable_any& changed, std::unique_lock<std::mutex>& lock,
                        const std::stop_token& stop, TimePoint deadline) = 0;

  // Called when a timer was added; `first` is true if no other timer is due before it.
  virtual void timerAdded(bool first) = 0;

  const std::shared_ptr<detail::TimerQueue> timers_;
};

/// The machine's clock. It lives until the process ends.
Clock& realClock();
/// `clock`, or the machine's clock if that is null.
inline Clock& orReal(Clock* clock) { return clock != nullptr ? *clock : realClock(); }

/// A clock that stands still until advance() is called.
///
/// A test of code that waits has three steps: let the code start to wait (waitForWaiters),
/// advance(), observe. Waiters are waits whose deadline is ahead, and timers that have not run. A
/// wait that an advance() has made due is no longer a waiter, even before its thread has run again.
class FakeClock final : public Clock {
 public:
  /// The default wall time is 2024-01-01T00:00:00Z.
  explicit FakeClock(WallTime wallStart = WallTime{std::chrono::seconds{1704067200}});
  ~FakeClock() override;

  TimePoint now() const override;
  WallTime wallNow() const override;

  /// Advances the time and wakes the waiters that are due. Due timers run before advance() returns,
  /// in order of time; now() returns each timer's own time while it runs. A timer that such a
  /// function sets also runs if it is due; one set for a past time runs at the next advance(), even
  /// by 0. The caller must not hold a lock that a waiter waits with.
  void advance(Duration d);

  std::size_t waiters() const;

  /// Blocks until there are at least n waiters. Throws TimeoutError if that takes longer than
  /// `patience` by the real clock, because the test would hang otherwise.
  void waitForWaiters(std::size_t n, Duration patience = std::chrono::seconds{30}) const;

 private:
  struct Waiter;

  void waitOnce(std::condition_variable_any& changed, std::unique_lock<std::mutex>& lock,
                const std::stop_token& stop, TimePoint deadline) override;
  void timerAdded(bool first) override;
  void moveTo(TimePoint time);
  std::size_t waitersLocked() const KUBE_REQUIRES(timeMutex_);

  mutable detail::Mutex timeMutex_;  // taken after a waiter's own mutex, never before it
  mutable std::condition_variable waitersChanged_;
  std::condition_variable waiterReleased_;
  TimePoint now_ KUBE_GUARDED_BY(timeMutex_);
  const WallTime wallStart_;
  std::vector<Waiter*> waiting_ KUBE_GUARDED_BY(timeMutex_);
};

}  // namespace kube
