// When a reflector tries again: how long it waits after a failure, and after a watch that worked.
//
// What tells how long is what the failure says about the server:
// - The version is too old: it has begun anew, most likely, and is listed soon; not so if again.
// - It was not reached, or the connection broke: it answers as soon as it is back, and until then a
//   try costs it nothing. So tries go on at the short rhythm of ReflectorOptions::reconnect.
// - It has asked for a time: it gets that.
// - It has answered with a failure: it may be overloaded, and a list is dear. The pause grows by
//   ReflectorOptions::backoff.
//
// A watch that worked (it brought something, or lasted) makes all pauses begin anew and is followed
// at once, unless such watches come thick and fast.
//
// Thread safety: one thread at a time. All reflectors of a process together keep to a rate of tries
// to reach a server.
#pragma once

#include <exception>
#include <stop_token>

#include "kube/base/backoff.h"
#include "kube/base/clock.h"
#include "kube/cache/reflector_options.h"

namespace kube::detail {

class ReflectorPauses {
 public:
  /// The clock must outlive it.
  ReflectorPauses(const ReflectorOptions& options, Clock& clock);

  /// Each says whether to try again: false if a stop is requested, or the options allow no more.
  bool afterFailure(const std::exception& error, const std::stop_token& stop);
  bool afterFailure(const std::stop_token& stop) { return backoff_.sleep(stop); }
  bool afterWatchThatWorked(Clock::Duration lasted, const std::stop_token& stop);
  /// Of a watch that worked and has failed in a way that means a new list, which is dear.
  void noteWatchThatWorked(Clock::Duration lasted);

 private:
  bool reconnect(const std::stop_token& stop);

  Clock& clock_;
  Backoff backoff_;
  Backoff reconnect_;
  int asked_ = 0;      // times in a row that a server has asked for a time
  int tooOld_ = 0;     // versions in a row that were
  int shortOnes_ = 0;  // watches in a row that worked, and not for long
};

/// A watch that lasted this long has worked, whatever it brought.
inline constexpr Clock::Duration kShortWatch = std::chrono::seconds(1);

}  // namespace kube::detail
