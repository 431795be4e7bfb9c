// A wait that says what it waits for when it takes long.
//
//   const SlowWait slow(clock, [&](Clock::Duration waited) { log.warning("waits for ..."); });
//   thread.join();
//
// The function is called after 5 s, after 10 s, and so on, each time after twice as long, by the
// clock's thread: it must be quick, and wait for nothing that the waiting thread holds. Destroying
// this ends that, and waits for a call under way. Where there is no thread for the clock, nothing
// is said.
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
