// Which kubexx this is.
#pragma once

#include <string_view>

namespace kube {

// The release, such as "0.1.0".
std::string_view version() noexcept;

// The git commit it was built from, abbreviated, or "unknown" when built outside a checkout.
std::string_view gitCommit() noexcept;

}  // namespace kube
