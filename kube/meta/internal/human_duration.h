// Durations as kubectl prints ages: two or three significant figures, "42s", "5m30s", "3h", "5d3h".
//
// Works as apimachinery's duration.HumanDuration. Thread safety: all functions are pure.
#pragma once

#include <chrono>
#include <string>

#include "kube/base/clock.h"
#include "kube/meta/time.h"

namespace kube::detail {

/// A duration up to two seconds below zero is "0s", because clocks may differ; below that
/// "<invalid>".
std::string humanDuration(std::chrono::microseconds duration);

/// The time since an instant; "<unknown>" for the zero time.
std::string humanAge(Time since, Clock::WallTime now);
std::string humanAge(MicroTime since, Clock::WallTime now);

}  // namespace kube::detail
