// JSON for text that the library writes without kube/codec: log records and traces.
//
// Thread safety: functions without state.
#pragma once

#include <string>
#include <string_view>

#include "kube/base/log.h"

namespace kube::detail {

/// Appends the text as a JSON string. Bytes that are not UTF-8 become U+FFFD.
void appendJsonString(std::string& out, std::string_view text);

/// Appends a field's value. Numbers that JSON does not have (NaN, infinity) become strings.
void appendJsonValue(std::string& out, const LogField::Value& value);

}  // namespace kube::detail
