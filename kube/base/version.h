// The version of kubexx.
#pragma once

#include <string_view>

namespace kube {

/// The release, such as "0.2.0".
std::string_view version() noexcept;

/// The git commit of the build, abbreviated, or "unknown" if it was built outside a checkout.
std::string_view gitCommit() noexcept;

}  // namespace kube
