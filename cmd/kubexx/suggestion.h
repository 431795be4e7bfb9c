// Which of several words may have been meant by one that is none of them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace kube::cmd {

/// The nearest of `known`, where one is near enough to be a slip of the fingers; else empty.
std::string nearest(std::string_view word, std::span<const std::string> known);

}  // namespace kube::cmd
