// The pauses of a reflector: how long it waits after a failure, and after a watch that worked.
//
// The pause depends on what the failure says about the server:
// - The version is too old: the server was probably restarted. The reflector lists soon; later, if
//   that happens again.
// - The server was not reached, or the connection broke: it answers as soon as it is back, and
//   attempts cost it nothing until then. The reflector tries at the short rhythm of
//   ReflectorOptions::reconnect.
// - Credentials or a certificate were refused: others may soon be there. The same rhythm, and after
//   some attempts at most 5 seconds.
// - The server asked for a pause: it gets that.
// - The server answered with a failure: it may be overloaded, and lists are expensive. The pause
//   grows as ReflectorOptions::backoff says.
//
// A watch that worked (it brought an event, or lasted) resets all pauses, and the next one follows
// at once, unless many such watches end quickly.
//
// Thread safety: one thread at a time. All reflectors of a process share a limit of attempts to
// reach servers.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <optional>

#include "kube/base/backoff.h"
#include "kube/base/clock.h"
#include "kube/base/task.h"
#include "kube/cache/reflector_options.h"

namespace kube::detail {

class ReflectorPauses {
 public:
  /// The clock must outlive this object.
  ReflectorPauses(const ReflectorOptions& options, Clock& clock);

  /// A pause, which begins when it is made.
  class Pause {
   public:
    /// No pause: the options allow no more attempts.
    Pause() = default;
    explicit Pause(std::optional<Clock::Duration> time) : time_(time) {}

    /// Waits. Returns whether to try again: false if a stop is requested, or no more attempts are
    /// allowed.
    Task<bool> wait(Clock& clock);

   private:
    friend class ReflectorPauses;
    struct Uncount {
      void operator()(std::atomic<int>* counter) const noexcept { counter->fetch_sub(1); }
    };
    std::optional<Clock::Duration> time_;
    std::unique_ptr<std::atomic<int>, Uncount> counted_;
  };

  /// After a failure of an attempt, and after one that is not a std::exception.
  Pause afterFailure(const std::exception& error);
  Pause afterFailure() { return Pause(backoff_.next()); }
  Pause afterWatchThatWorked(Clock::Duration lasted);
  /// For a watch that worked and failed in a way that requires a new list, which is expensive.
  void noteWatchThatWorked(Clock::Duration lasted);

 private:
  Pause reconnect();

  Clock& clock_;
  Backoff backoff_;
  Backoff reconnect_;
  int asked_ = 0;      // times in a row that the server asked for a pause
  int tooOld_ = 0;     // times in a row that the version was too old
  int shortOnes_ = 0;  // watches in a row that worked, but not for long
};

/// A watch that lasted this long has worked, even without an event.
inline constexpr Clock::Duration kShortWatch = std::chrono::seconds(1);

}  // namespace kube::detail
