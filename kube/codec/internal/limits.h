// Limits that all decoders share.
#pragma once

#include <cstdint>

namespace kube::detail {

/// Deeper nesting is refused, since decoders recurse.
inline constexpr std::uint32_t kMaxDepth = 1000;

}  // namespace kube::detail
