// Checks of text that goes into headers.
#pragma once

#include <string>
#include <string_view>

#include "kube/base/internal/control_characters.h"

namespace kube::detail {

/// Throws ConfigError if the text cannot be the value of a header. The error names `what`, not the
/// text.
void checkHeaderText(std::string_view text, std::string_view what);

/// Returns "Bearer " and the token, which is checked as by checkHeaderText().
std::string bearer(std::string_view token, std::string_view what);

}  // namespace kube::detail
