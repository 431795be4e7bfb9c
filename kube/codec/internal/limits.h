// Limits that all decoders share.
#pragma once

#include <cstdint>

namespace kube::detail {

/// Deeper nesting than this is refused; what decodes it recurses.
inline constexpr std::uint32_t kMaxDepth = 1000;

}  // namespace kube::detail
