// How long things may take before they count as failed: generous, for machines under load and for
// sanitizers, since nothing waits that long unless it is broken.
#pragma once

#include <chrono>

#include "kube/base/clock.h"
#include "kube/base/internal/sanitizer.h"

namespace kube::soak {

using detail::kSanitized;

inline constexpr std::chrono::seconds kPatience{kSanitized ? 120 : 40};

/// Waits until a condition holds that nobody tells of; false if that takes too long.
template <class Condition>
bool eventually(Condition condition, const std::stop_token& stop = {}) {
  Clock& clock = realClock();
  const auto deadline = clock.deadlineAfter(kPatience);
  while (!condition()) {
    if (clock.now() >= deadline || !clock.sleepFor(std::chrono::milliseconds(2), stop)) {
      return condition();
    }
  }
  return true;
}

}  // namespace kube::soak
