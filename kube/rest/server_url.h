// The address of an API server, parsed and normalised.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "kube/base/internal/text_formatter.h"

namespace kube {

struct ServerUrl {
  std::string scheme;     // "https" or "http"
  std::string authority;  // "10.0.0.1:6443", "[::1]", "example.com"
  std::string path;       // prefix of every request's path; empty, or "/clusters/a"

  bool tls() const noexcept { return scheme == "https"; }
  /// Returns whether the address is on this machine (or leads to the other end of a tunnel).
  bool isLoopback() const noexcept;
  std::string origin() const { return scheme + "://" + authority; }
  std::string str() const { return origin() + path; }

  bool operator==(const ServerUrl&) const = default;
};

/// Parses a URL, a host or host:port. A host without scheme uses https if `defaultTls`, else http,
/// and may have no path. Query and fragment are dropped. Throws ConfigError.
ServerUrl parseServerUrl(std::string_view host, bool defaultTls);

std::ostream& operator<<(std::ostream& out, const ServerUrl& url);

namespace detail {

/// Returns the mistake in the URL of a proxy; empty if there is none.
std::string proxyProblem(std::string_view url);

/// Returns the URL without user name and password.
std::string withoutUserInfo(std::string_view url);

}  // namespace detail
}  // namespace kube

template <>
struct fmt::formatter<kube::ServerUrl> : kube::detail::TextFormatter {
  auto format(const kube::ServerUrl& url, fmt::format_context& context) const {
    return text(url.str(), context);
  }
};
