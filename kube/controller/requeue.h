// Whether an object that was reconciled is to be looked at again without anything having happened
// to it.
//
//   return {};                          // not until it changes
//   return kube::Requeue::after(30s);
//   return kube::Requeue::now();
#pragma once

#include <algorithm>
#include <cstdint>

#include "kube/base/clock.h"

namespace kube {

class Requeue {
 public:
  enum class When : std::uint8_t { Done, Now, After };

  constexpr Requeue() = default;

  /// As soon as the rate limiter lets it: soon the first time, and longer each time that it follows
  /// itself, so that who always says this does not keep a processor busy. It is no failure.
  static constexpr Requeue now() noexcept { return Requeue(When::Now, {}); }
  /// Not before this time, unless something happens to it.
  static constexpr Requeue after(Clock::Duration delay) noexcept {
    return Requeue(When::After, std::max(delay, Clock::Duration::zero()));
  }

  constexpr When when() const noexcept { return when_; }
  constexpr Clock::Duration delay() const noexcept { return delay_; }

  bool operator==(const Requeue&) const = default;

 private:
  constexpr Requeue(When when, Clock::Duration delay) noexcept : when_(when), delay_(delay) {}

  When when_ = When::Done;
  Clock::Duration delay_ = {};
};

}  // namespace kube
