// Suggests a known word for a mistyped one.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace kube::cmd {

/// Returns the nearest of the known words if it is near enough to be meant; else an empty string.
std::string nearest(std::string_view word, std::span<const std::string> known);

}  // namespace kube::cmd
