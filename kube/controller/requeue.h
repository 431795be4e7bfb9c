// Tells whether an object is reconciled again without a change, and when.
//
//   return {};                          // when the object changes
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

  /// Again as soon as the rate limiter allows: soon the first time, and later each time in a row,
  /// so that a function that always returns this does not keep a processor busy. Does not count as
  /// a failure.
  static constexpr Requeue now() noexcept { return Requeue(When::Now, {}); }
  /// Again after this time, or earlier if the object changes.
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
