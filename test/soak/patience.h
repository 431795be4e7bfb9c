// The time limit of conditions in tests. It is generous, for machines under load and for
// sanitizers; only a broken test waits that long.
#pragma once

#include <chrono>

#include "kube/base/clock.h"
#include "kube/base/internal/sanitizer.h"

namespace kube::soak {

using detail::kSanitized;

inline constexpr std::chrono::seconds kPatience{kSanitized ? 120 : 40};

/// Polls until a condition holds. Returns false if it takes too long or a stop is requested.
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
