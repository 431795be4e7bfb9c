// What tests of tables share.
#pragma once

#include <chrono>

#include "kube/base/clock.h"

namespace kube::apiserver {

/// 2024-01-11T12:00:00Z, the time at which objects are printed.
inline constexpr Clock::WallTime kTableTime{std::chrono::seconds{1704974400}};

}  // namespace kube::apiserver
