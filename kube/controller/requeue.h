// Tells whether an object is reconciled again without a change, and when.
//
//   return {};                          // when the object changes
//   return kube::Requeue::after(30s);
//   return kube::Requeue::now();
//   return kube::Requeue::after(10min).withPriority(-10);   // behind what changes meanwhile
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

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
  /// The same with another priority than the key had this time. Keys of changes have 0, those of
  /// the first list and of resyncs -100; the highest is first.
  constexpr Requeue withPriority(int priority) const noexcept {
    Requeue result = *this;
    result.priority_ = priority;
    return result;
  }

  constexpr When when() const noexcept { return when_; }
  constexpr Clock::Duration delay() const noexcept { return delay_; }
  constexpr std::optional<int> priority() const noexcept { return priority_; }

  bool operator==(const Requeue&) const = default;

 private:
  constexpr Requeue(When when, Clock::Duration delay) noexcept : when_(when), delay_(delay) {}

  When when_ = When::Done;
  Clock::Duration delay_ = {};
  std::optional<int> priority_ = {};
};

}  // namespace kube
