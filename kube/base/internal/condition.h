// A condition variable for threads and for coroutines.
//
//   Mutex itemsMutex_;
//   Condition changed_{itemsMutex_};
//
//   { const Lock lock(itemsMutex_); items_.push_back(item); changed_.notifyAll(); }
//
//   const auto ready = [this] { return !items_.empty(); };   // called with the lock
//   const bool there = co_await changed_.wait(ready);         // false: a stop was requested
//   const bool soon = co_await changed_.waitUntil(ready, clock_, deadline);
//
// In a task that may block, the wait blocks its thread; in others, it suspends the coroutine. The
// mutex must not be held then. After the wait it is free again, so another reader may have been
// faster. A function that holds the mutex waits by `threads`, as with any condition variable.
//
// Thread safety: every method may be called from any thread. A condition outlives all waits.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

#include "kube/base/clock.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/task.h"

namespace kube::detail {

class Condition {
 public:
  using Ready = std::function<bool()>;

  /// The mutex guards the data that the conditions are about.
  explicit Condition(Mutex& mutex) : mutex_(mutex) {}
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  /// Lets all waits look again. The caller holds the lock; the compiler knows it by another name.
  void notifyAll() noexcept KUBE_NOT_CHECKED;

  /// Returns true once ready() is true, and false if a stop is requested before. Throws Error if
  /// it would block an I/O thread of the library.
  Task<bool> wait(Ready ready) {
    return waitUntil(std::move(ready), realClock(), Clock::noDeadline);
  }
  /// Returns false at the deadline, too. The clock outlives the wait. Throws Error if the clock
  /// cannot start its thread.
  Task<bool> waitUntil(Ready ready, Clock& clock, Clock::TimePoint deadline);

  std::condition_variable_any threads;

 private:
  class Change;
  bool block(const std::stop_token& stop, const Ready& ready, Clock& clock,
             Clock::TimePoint deadline);
  /// Completes at the next notifyAll(). Returns false if ready() is true.
  bool completeOnChange(const std::shared_ptr<Completion>& completion, const Ready& ready);

  Mutex& mutex_;
  std::vector<std::shared_ptr<Completion>> suspended_ KUBE_GUARDED_BY(mutex_);
};

}  // namespace kube::detail
