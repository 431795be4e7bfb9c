// The difference of two texts, line by line, as `diff -u` shows it.
#pragma once

#include <string>
#include <string_view>

namespace kube::cmd {

/// Empty where they are the same. With colours, it is for a terminal: control characters are in
/// words then. Texts of more than some ten thousand lines are shown as all
/// removed and all added.
std::string unifiedDiff(std::string_view before, std::string_view after,
                        std::string_view beforeName, std::string_view afterName,
                        bool colours = false);

}  // namespace kube::cmd
