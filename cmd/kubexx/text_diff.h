// The difference of two texts, line by line, in the format of `diff -u`.
#pragma once

#include <string>
#include <string_view>

namespace kube::cmd {

/// Returns an empty string for equal texts. The form with colours is for terminals: it writes
/// control characters as words. If the differing parts of both texts have more than some 8000
/// lines, all of these are shown as removed and added.
std::string unifiedDiff(std::string_view before, std::string_view after,
                        std::string_view beforeName, std::string_view afterName,
                        bool colours = false);

}  // namespace kube::cmd
