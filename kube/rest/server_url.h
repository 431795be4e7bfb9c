// The address of an API server, taken apart and put into one form.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "kube/base/internal/text_formatter.h"

namespace kube {

struct ServerUrl {
  std::string scheme;     // "https" or "http"
  std::string authority;  // "10.0.0.1:6443", "[::1]", "example.com"
  std::string path;       // before every request's own; empty, or from a slash on: "/clusters/a"

  bool tls() const noexcept { return scheme == "https"; }
  /// By its address, on this machine (or at the other end of a tunnel).
  bool isLoopback() const noexcept;
  std::string origin() const { return scheme + "://" + authority; }
  std::string str() const { return origin() + path; }

  bool operator==(const ServerUrl&) const = default;
};

/// A URL, a host or host:port. The last two get https if `defaultTls`, else http, and have no path.
/// What follows a path is dropped. Throws ConfigError.
ServerUrl parseServerUrl(std::string_view host, bool defaultTls);

std::ostream& operator<<(std::ostream& out, const ServerUrl& url);

namespace detail {

/// What is wrong with the URL of a proxy; empty if nothing.
std::string proxyProblem(std::string_view url);

/// The URL without a user's name and password in it.
std::string withoutUserInfo(std::string_view url);

}  // namespace detail
}  // namespace kube

template <>
struct fmt::formatter<kube::ServerUrl> : kube::detail::TextFormatter {
  auto format(const kube::ServerUrl& url, fmt::format_context& context) const {
    return text(url.str(), context);
  }
};
