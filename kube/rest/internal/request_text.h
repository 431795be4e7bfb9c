// Requests and answers as they appear in logs: without secrets, and bounded.
//
// Thread safety: functions without state.
#pragma once

#include <string>
#include <string_view>

#include "kube/http/http.h"

namespace kube::detail {

/// The URL with the parameters of Kubernetes' API. The values of others, such as the words of a
/// command or the parameters of a service behind a proxy, may hold secrets: "command=...".
std::string loggedUrl(std::string_view url);

/// The value of a header, with the credentials masked as kubectl does it: "Bearer <masked>".
std::string loggedHeader(const HttpHeader& header);

/// The audit id of an answer; empty if there is none, or if it does not look like one.
std::string_view auditIdOf(const HttpHeaders& headers) noexcept;

/// Returns whether the path leads to secrets or tokens, whose bodies do not belong into a log.
bool holdsSecrets(std::string_view path) noexcept;

}  // namespace kube::detail
