#include "kube/rest/server_url.h"

#include <fmt/core.h>

#include <algorithm>
#include <ostream>

#include "kube/base/error.h"
#include "kube/base/internal/text.h"

namespace kube {
namespace {

using detail::isAlphanumeric;
using detail::isDigit;

/// Returns the scheme before "://", in lower case; empty if there is none.
std::string schemeOf(std::string_view url) {
  const auto end = url.find("://");
  if (end == std::string_view::npos || end == 0) return {};
  const std::string_view scheme = url.substr(0, end);
  if (isDigit(scheme.front())) return {};
  for (const char c : scheme) {
    if (!isAlphanumeric(c) && c != '+' && c != '-' && c != '.') return {};
  }
  return detail::lower(scheme);
}

std::string_view authorityOf(std::string_view afterScheme) {
  return afterScheme.substr(0, afterScheme.find_first_of("/?#"));
}

bool isPort(std::string_view port) {
  if (!std::all_of(port.begin(), port.end(), isDigit)) return false;
  while (!port.empty() && port.front() == '0') port.remove_prefix(1);
  return port.size() < 5 || (port.size() == 5 && port <= "65535");
}

bool isHost(std::string_view host) {
  return !host.empty() && std::all_of(host.begin(), host.end(), [](char c) {
    return isAlphanumeric(c) || c == '-' || c == '.' || c == '_' || (c & 0x80) != 0;
  });
}

bool isBracketed(std::string_view host) {
  if (host.size() < 4 || host.front() != '[' || host.back() != ']') return false;
  host = host.substr(1, host.size() - 2);
  return std::all_of(host.begin(), host.end(), [](char c) {
    return isAlphanumeric(c) || c == ':' || c == '.' || c == '%' || c == '-' || c == '_';
  });
}

/// Normalises "host:" to "host". Returns an empty text for a malformed authority.
std::string_view checkAuthority(std::string_view authority) {
  const auto bracket = authority.rfind(']');
  const auto colon = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
  const std::string_view host = authority.substr(0, colon);
  if (!(bracket == std::string_view::npos ? isHost(host) : isBracketed(host))) return {};
  if (colon == std::string_view::npos) return authority;
  const std::string_view port = authority.substr(colon + 1);
  if (!isPort(port)) return {};
  return port.empty() ? host : authority;
}

bool hasBlanks(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == 0x7f; });
}

constexpr std::string_view kExpected =
    "expected a URL such as https://example.com:6443, or host:port";

}  // namespace

bool ServerUrl::isLoopback() const noexcept {
  const std::string_view host = std::string_view(authority).substr(0, authority.rfind(':'));
  return host == "localhost" || authority.starts_with("127.") || authority.starts_with("[::1]");
}

ServerUrl parseServerUrl(std::string_view host, bool defaultTls) {
  ServerUrl url{.scheme = schemeOf(host), .authority = {}, .path = {}};
  const bool complete = !url.scheme.empty();
  const std::string_view rest = complete ? host.substr(url.scheme.size() + 3) : host;
  if (!complete) url.scheme = defaultTls ? "https" : "http";

  const std::string_view authority = authorityOf(rest);
  if (authority.find('@') != std::string_view::npos) {
    throw ConfigError(
        "the server's address contains a user name: set it with the credentials instead");
  }
  if (hasBlanks(host)) {
    throw ConfigError("the server's address contains blanks or control characters");
  }
  if (url.scheme != "http" && url.scheme != "https") {
    throw ConfigError(
        fmt::format("the server's address \"{}\": {}", detail::withoutUserInfo(host), kExpected));
  }
  url.authority = checkAuthority(authority);
  if (url.authority.empty()) {
    throw ConfigError(fmt::format("the server's address \"{}\": {} (IPv6 in brackets)",
                                  detail::withoutUserInfo(host), kExpected));
  }

  std::string_view path = rest.substr(authority.size());
  path = path.substr(0, path.find_first_of("?#"));
  while (path.ends_with('/')) path.remove_suffix(1);
  if (!path.empty() && !complete) {
    throw ConfigError(
        fmt::format("the server's address \"{}\": {}", detail::withoutUserInfo(host), kExpected));
  }
  url.path = path;
  return url;
}

std::ostream& operator<<(std::ostream& out, const ServerUrl& url) { return out << url.str(); }

std::string detail::proxyProblem(std::string_view url) {
  const std::string scheme = schemeOf(url);
  if (scheme != "http" && scheme != "https" && scheme != "socks5") {
    return "the scheme must be http, https or socks5";
  }
  std::string_view authority = authorityOf(url.substr(scheme.size() + 3));
  if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
    authority.remove_prefix(at + 1);
  }
  if (hasBlanks(url) || checkAuthority(authority).empty()) {
    return "expected a URL such as http://example.com:3128";
  }
  return {};
}

std::string detail::withoutUserInfo(std::string_view url) {
  const auto scheme = url.find("://");
  const std::size_t start = scheme == std::string_view::npos ? 0 : scheme + 3;
  // The last @ ends the user part, wherever it is: passwords are not always escaped as they should
  // be.
  const auto at = url.rfind('@');
  if (at == std::string_view::npos || at < start) return std::string(url);
  return fmt::format("{}REDACTED{}", url.substr(0, start), url.substr(at));
}

}  // namespace kube
