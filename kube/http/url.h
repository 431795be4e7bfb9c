// The parts of an http or https URL.
//
//   const Url url = parseUrl("https://[::1]:6443/api?watch=1");
//   url.host == "::1", url.port == 6443, url.target == "/api?watch=1"
//   url.authority() == "[::1]:6443"
//
// Thread safety: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kube {

struct Url {
  std::string scheme;  // in lower case
  std::string host;    // in lower case; an IPv6 address without its brackets
  std::uint16_t port =
      0;  // the scheme's default port if the text has none; 0 for schemes without one
  std::string userinfo;  // "user:password", still percent-encoded
  std::string target;    // path and query, at least "/"

  /// Host and port for a Host header: without the port if it is the scheme's default.
  std::string authority() const;
  /// Host and port to connect to, always with the port.
  std::string address() const;
  bool sameOrigin(const Url& other) const noexcept {
    return scheme == other.scheme && host == other.host && port == other.port;
  }
};

/// Throws ConfigError, which names the URL (redacted) and the mistake. Drops a fragment. Refuses
/// spaces, control characters and everything else that could end a request line early.
Url parseUrl(std::string_view text);

/// The same for text that must not appear in a message. Returns the mistake, or an empty text and
/// the URL.
std::string_view readUrl(std::string_view text, Url& url);

/// Returns whether the URL leads to this origin ("https://host:port"). False for a host whose name
/// only begins like it, and for a URL that has the origin as its user name.
bool hasOrigin(std::string_view url, std::string_view origin) noexcept;

/// Resolves a Location header against the URL of the request. Throws ConfigError as parseUrl()
/// does.
Url resolveUrl(const Url& base, std::string_view location);

/// The URL for messages. Leaves out user, password, query and fragment, which may hold secrets.
/// Malformed text is cut wherever a password could begin.
std::string redactedUrl(std::string_view text);
std::string redactedUrl(const Url& url);

/// Decodes percent-encoding, as in user and password of a URL. Malformed escapes are kept as they
/// are.
std::string percentDecoded(std::string_view text);

}  // namespace kube
