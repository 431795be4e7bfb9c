// The parts of an http or https URL.
//
//   const Url url = parseUrl("https://[::1]:6443/api?watch=1");
//   url.host == "::1", url.port == 6443, url.target == "/api?watch=1", url.authority() ==
//   "[::1]:6443"
//
// Thread safety: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kube {

struct Url {
  std::string scheme;      // in small letters
  std::string host;        // in small letters, an IPv6 address without its brackets
  std::uint16_t port = 0;  // the scheme's own where the text has none; 0 where that has none
  std::string userinfo;    // "user:password" as it stands
  std::string target;      // path and query, at least "/"

  /// Host and port as a Host header has them: without the port if it is the scheme's own.
  std::string authority() const;
  /// Host and port as one dials them, the port always there.
  std::string address() const;
  bool sameOrigin(const Url& other) const noexcept {
    return scheme == other.scheme && host == other.host && port == other.port;
  }
};

/// Throws ConfigError naming the URL (redacted) and what is wrong with it. A fragment is dropped.
/// Spaces, control characters and whatever else could end a request line early are refused.
Url parseUrl(std::string_view text);

/// The same for text that no message may show: returns what is wrong, or nothing and the URL.
std::string_view readUrl(std::string_view text, Url& url);

/// Whether the URL leads to this origin ("https://host:port"), and not to one whose name only
/// begins like it, or has it as the name of a user.
bool hasOrigin(std::string_view url, std::string_view origin) noexcept;

/// What a Location header means, seen from `base`. Throws ConfigError as parseUrl().
Url resolveUrl(const Url& base, std::string_view location);

/// The URL for a message: user, password, query and fragment can hold secrets and are left out. Of
/// what is no URL, so is all that may be part of a password.
std::string redactedUrl(std::string_view text);
std::string redactedUrl(const Url& url);

/// Percent-decoding, as user and password of a URL need it. What is not an escape stays.
std::string percentDecoded(std::string_view text);

}  // namespace kube
