// Reports a wait that takes long.
//
//   const SlowWait slow(clock, [&](Clock::Duration waited) { log.warning("waits for ..."); });
//   thread.join();
//
// The clock's thread calls the function after 5 s, after 10 s, and so on, each time after twice as
// long. The function must be quick, and must not wait for anything that the waiting thread holds.
// The destructor ends the calls, and waits for a call under way. If the clock cannot start its
// thread, nothing is reported.
//
// Thread safety: none needed.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "kube/base/clock.h"

namespace kube::detail {

class SlowWait {
 public:
  using Report = std::function<void(Clock::Duration waited)>;

  static constexpr Clock::Duration kFirst = std::chrono::seconds(5);

  /// The clock must outlive it.
  SlowWait(Clock& clock, Report report);
  ~SlowWait();
  SlowWait(const SlowWait&) = delete;
  SlowWait& operator=(const SlowWait&) = delete;

 private:
  class State;
  const std::shared_ptr<State> state_;
};

/// "12 s", for people.
std::string inSeconds(Clock::Duration time);

}  // namespace kube::detail
