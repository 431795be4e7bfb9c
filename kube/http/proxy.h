// Which proxy a request goes through.
//
// A proxy is given explicitly, for all requests, or by the environment, with the rules of Go's
// net/http: $https_proxy or $HTTPS_PROXY for https URLs, $http_proxy or $HTTP_PROXY for http URLs,
// none for localhost, loopback addresses and what $no_proxy or $NO_PROXY lists (host names with
// their subdomains, .suffixes, addresses, networks as 10.0.0.0/8, each but the last with an
// optional port, or * for everything).
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

  /// For messages: without user and password.
  std::string display() const;
};

class ProxyRules {
 public:
  /// Reads a variable; "" where it is not set.
  using Environment = std::function<std::string(const char* name)>;

  ProxyRules() = default;  // no proxy
  static ProxyRules fromEnvironment();
  static ProxyRules fromEnvironment(const Environment& variable);
  /// http://, https://, socks5:// or socks5h://, with user:password@ where needed. Both kinds of
  /// SOCKS have the proxy look up names, as Go has. Throws ConfigError for anything else.
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
