// Selection of the proxy for a request.
//
// A proxy is set for all requests, or comes from the environment by the rules of Go's net/http:
// $https_proxy or $HTTPS_PROXY for https URLs, $http_proxy or $HTTP_PROXY for http URLs. No proxy
// is used for localhost, loopback addresses and the entries of $no_proxy or $NO_PROXY: host names
// with their subdomains, .suffixes and addresses, each with an optional port; networks such as
// 10.0.0.0/8; or * for everything.
//
// Thread safety: immutable after construction.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/http/url.h"

namespace kube {

struct Proxy {
  enum class Kind : unsigned char { Http, Https, Socks5 };

  Kind kind = Kind::Http;
  std::string host;
  std::uint16_t port = 0;
  std::string user, password;  // decoded; both empty: none

  /// The proxy for messages, without user and password.
  std::string display() const;
};

class ProxyRules {
 public:
  /// Returns the value of a variable; empty if it is not set.
  using Environment = std::function<std::string(const char* name)>;

  ProxyRules() = default;  // no proxy
  static ProxyRules fromEnvironment();
  static ProxyRules fromEnvironment(const Environment& variable);
  /// An http://, https://, socks5:// or socks5h:// URL, with user:password@ if needed. With both
  /// kinds of SOCKS the proxy looks up host names, as in Go. Throws ConfigError for other URLs.
  static ProxyRules always(std::string_view proxyUrl);

  /// The proxy for a URL, or null.
  const Proxy* proxyFor(const Url& url) const;

 private:
  using Address = std::array<unsigned char, 16>;  // IPv4 as ::ffff:a.b.c.d
  struct Exception {
    std::optional<Address> address;  // a network of prefixBits; otherwise a name
    int prefixBits = 128;
    std::string suffix;      // ".example.com"
    bool itself = false;     // also matches "example.com"
    std::uint16_t port = 0;  // 0: any
  };

  static std::optional<Address> parseAddress(std::string_view text);
  void addException(std::string_view entry);
  bool excepted(const Url& url) const;

  std::optional<Proxy> http_, https_;
  bool always_ = false;
  bool exceptAll_ = false;
  std::vector<Exception> exceptions_;
};

}  // namespace kube
