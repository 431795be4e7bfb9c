// The pauses of a reflector: how long it waits after a failure, and after a watch that worked.
//
// The pause depends on what the failure says about the server:
// - The version is too old: the server was probably restarted. The reflector lists soon; later, if
//   that happens again.
// - The server was not reached, or the connection broke: it answers as soon as it is back, and
//   attempts cost it nothing until then. The reflector tries at the short rhythm of
//   ReflectorOptions::reconnect.
// - The server asked for a pause: it gets that.
// - The server answered with a failure: it may be overloaded, and lists are expensive. The pause
//   grows as ReflectorOptions::backoff says.
//   try costs it nothing. So tries go on at the short rhythm of ReflectorOptions::reconnect.
// - It has asked for a time: it gets that.
// - It has answered with a failure: it may be overloaded, and a list is dear. The pause grows by
//   ReflectorOptions::backoff.
//
// A watch that worked (it brought an event, or lasted) resets all pauses, and the next one follows
// at once, unless many such watches end quickly.
//
// Thread safety: one thread at a time. All reflectors of a process share a limit of attempts to
// reach servers.
#pragma once

#include <exception>
#include <stop_token>

#include "kube/base/backoff.h"
#include "kube/base/clock.h"
#include "kube/cache/reflector_options.h"

namespace kube::detail {

class ReflectorPauses {
 public:
  /// The clock must outlive this object.
  ReflectorPauses(const ReflectorOptions& options, Clock& clock);

  /// All three return whether to try again: false if a stop is requested, or the options allow no
  /// more attempts.
  bool afterFailure(const std::exception& error, const std::stop_token& stop);
  bool afterFailure(const std::stop_token& stop) { return backoff_.sleep(stop); }
  bool afterWatchThatWorked(Clock::Duration lasted, const std::stop_token& stop);
  /// For a watch that worked and failed in a way that requires a new list, which is expensive.
  void noteWatchThatWorked(Clock::Duration lasted);

 private:
  bool reconnect(const std::stop_token& stop);

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
