// Text from configuration on its way into headers and messages.
#pragma once

#include <string>
#include <string_view>

#include "kube/base/internal/control_characters.h"
#include "kube/base/internal/text.h"

namespace kube::detail {

/// Throws ConfigError, which names `what` and not the text, if it cannot be the value of a header.
void checkHeaderText(std::string_view text, std::string_view what);

/// "Bearer " and the token, checked so.
std::string bearer(std::string_view token, std::string_view what);

}  // namespace kube::detail
