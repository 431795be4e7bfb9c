// Text from configuration on its way into headers and messages.
#pragma once

#include <string>
#include <string_view>

namespace kube::detail {

/// Without blanks and line breaks around it.
std::string_view trim(std::string_view text);

/// Throws ConfigError, which names `what` and not the text, if it cannot be the value of a header.
void checkHeaderText(std::string_view text, std::string_view what);

/// "Bearer " and the token, checked so.
std::string bearer(std::string_view token, std::string_view what);

/// For a terminal: with U+001B and its like in words.
std::string withoutControls(std::string_view text);

}  // namespace kube::detail
