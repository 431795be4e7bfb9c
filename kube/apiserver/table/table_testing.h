// Fixtures for tests of tables.
#pragma once

#include <chrono>

#include "kube/base/clock.h"

namespace kube::apiserver {

/// 2024-01-11T12:00:00Z, the time to which ages are relative.
inline constexpr Clock::WallTime kTableTime{std::chrono::seconds{1704974400}};

}  // namespace kube::apiserver
