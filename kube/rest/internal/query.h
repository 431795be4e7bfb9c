// The path and query of a request's URL.
#pragma once

#include <string>
#include <string_view>

#include "kube/meta/type_info.h"

namespace kube::detail {

/// Appends the text, percent-encoding everything except letters, digits and -._~.
void appendEscaped(std::string& out, std::string_view text);

/// Appends "&name=value", both escaped, or "?name=value" if the URL has no query yet.
void appendParam(std::string& url, std::string_view name, std::string_view value);

/// Appends a parameter for every field of an options struct that is set, and one per element of a
/// list, as ListOptions and similar structs are sent.
void appendOptions(std::string& url, const TypeInfo& type, const void* options);

/// Returns the reason that a name cannot be one segment of a path; empty if it can.
std::string_view pathSegmentProblem(std::string_view name) noexcept;

}  // namespace kube::detail
