// The path and query of a request's URL.
#pragma once

#include <string>
#include <string_view>

#include "kube/meta/type_info.h"

namespace kube::detail {

/// Percent-encodes all but letters, digits and -._~.
void appendEscaped(std::string& out, std::string_view text);

/// Appends "&name=value", both escaped, or "?name=value" if there is no query in it yet.
void appendParam(std::string& url, std::string_view name, std::string_view value);

/// One parameter for every field that is set of an options struct, lists repeated: the way in which
/// ListOptions and their like travel.
void appendOptions(std::string& url, const TypeInfo& type, const void* options);

/// What keeps a name from being one segment of a path; empty if nothing does.
std::string_view pathSegmentProblem(std::string_view name) noexcept;

}  // namespace kube::detail
