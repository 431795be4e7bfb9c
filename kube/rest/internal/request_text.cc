#include "kube/rest/internal/request_text.h"

#include <algorithm>
#include <array>

#include "kube/base/internal/text.h"
#include "kube/http/url.h"

namespace kube::detail {
namespace {

constexpr std::array<std::string_view, 37> kShownParameters = {"allowWatchBookmarks",
                                                               "container",
                                                               "continue",
                                                               "dryRun",
                                                               "exact",
                                                               "export",
                                                               "fieldManager",
                                                               "fieldSelector",
                                                               "fieldValidation",
                                                               "follow",
                                                               "force",
                                                               "gracePeriodSeconds",
                                                               "includeUninitialized",
                                                               "insecureSkipTLSVerifyBackend",
                                                               "labelSelector",
                                                               "limit",
                                                               "limitBytes",
                                                               "orphanDependents",
                                                               "ports",
                                                               "pretty",
                                                               "previous",
                                                               "propagationPolicy",
                                                               "resourceVersion",
                                                               "resourceVersionMatch",
                                                               "sendInitialEvents",
                                                               "shardSelector",
                                                               "sinceSeconds",
                                                               "sinceTime",
                                                               "stderr",
                                                               "stdin",
                                                               "stdout",
                                                               "tailLines",
                                                               "timeout",
                                                               "timeoutSeconds",
                                                               "timestamps",
                                                               "tty",
                                                               "watch"};
static_assert(std::ranges::is_sorted(kShownParameters));

constexpr std::size_t kMaxUrl = 2048;
constexpr std::size_t kMaxAuditId = 128;

}  // namespace

std::string loggedUrl(std::string_view url) {
  const std::size_t mark = std::min(url.find('?'), url.size());
  std::string text = redactedUrl(url.substr(0, mark));
  if (mark == url.size()) return text;
  // Parameters of a service behind the server's proxy belong to that service.
  const bool proxied = url.substr(0, mark).find("/proxy") != std::string_view::npos;
  char before = '?';
  for (std::string_view rest = url.substr(mark + 1); !rest.empty();) {
    if (text.size() > kMaxUrl) return text + "...";
    const std::string_view parameter = cut(rest, '&');
    const std::string_view name = parameter.substr(0, parameter.find('='));
    const bool shown = !proxied && std::ranges::binary_search(kShownParameters, name);
    text += std::exchange(before, '&');
    text.append(shown ? parameter : name);
    if (!shown) text += "=...";
  }
  return text;
}

std::string loggedHeader(const HttpHeader& header) {
  const std::string& value = header.value;
  if (equalIgnoringCase(header.name, "Cookie") || equalIgnoringCase(header.name, "Set-Cookie")) {
    return "<masked>";
  }
  if (!equalIgnoringCase(header.name, "Authorization") &&
      !equalIgnoringCase(header.name, "Proxy-Authorization")) {
    return value;
  }
  const std::string_view scheme = std::string_view(value).substr(0, value.find(' '));
  for (const std::string_view known : {"bearer", "basic", "negotiate"}) {
    if (!equalIgnoringCase(scheme, known)) continue;
    return value.size() > scheme.size() ? std::string(scheme) + " <masked>" : std::string(scheme);
  }
  return value.empty() ? "" : "<masked>";
}

std::string_view auditIdOf(const HttpHeaders& headers) noexcept {
  const std::string_view id = headers.get("Audit-Id");
  const bool plain = std::ranges::all_of(id, [](char c) {
    return isAlphanumeric(c) || c == '-' || c == '_' || c == '.' || c == ':' || c == '/';
  });
  return plain && id.size() <= kMaxAuditId ? id : std::string_view();
}

bool holdsSecrets(std::string_view path) noexcept {
  path = path.substr(0, path.find('?'));
  const std::size_t secrets = path.find("/secrets");
  const bool ofSecrets =
      secrets != path.npos && (secrets + 8 == path.size() || path[secrets + 8] == '/');
  return ofSecrets || path.ends_with("/token") || path.ends_with("/tokenreviews");
}

}  // namespace kube::detail
