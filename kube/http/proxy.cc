#include "kube/http/proxy.h"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "kube/base/error.h"
#include "kube/base/internal/text.h"

namespace kube {
namespace {

// `source` names the setting in messages. For a malformed URL they show nothing else: any part of
// it may be the password.
Proxy parseProxy(std::string_view text, std::string_view source) {
  const bool hasScheme = text.find("://") != std::string_view::npos;
  const std::string whole = hasScheme ? std::string(text) : fmt::format("http://{}", text);
  const auto refuse = [&](std::string_view problem) {
    throw ConfigError(
        fmt::format("{}: not the URL of a proxy, such as http://user:password@example.com:3128: {}",
                    source, problem));
  };
  Url url;
  if (const std::string_view problem = readUrl(whole, url); !problem.empty()) refuse(problem);
  if (whole.find('@', whole.find_first_of("/?#", whole.find("://") + 3)) != std::string::npos) {
    refuse("has a '@' after the host: in a password, write '/' as %2F, '?' as %3F and '#' as %23");
  }
  Proxy proxy;
  if (url.scheme == "http") {
    proxy.kind = Proxy::Kind::Http;
  } else if (url.scheme == "https") {
    proxy.kind = Proxy::Kind::Https;
  } else if (url.scheme == "socks5" || url.scheme == "socks5h") {
    proxy.kind = Proxy::Kind::Socks5;
  } else {
    throw ConfigError(fmt::format(
        "proxy \"{}\": expected http://, https://, socks5:// or socks5h://", redactedUrl(url)));
  }
  proxy.host = url.host;
  proxy.port = url.port;
  const std::string_view userinfo = url.userinfo;
  const std::size_t colon = userinfo.find(':');
  proxy.user = percentDecoded(userinfo.substr(0, colon));
  if (colon != std::string_view::npos) proxy.password = percentDecoded(userinfo.substr(colon + 1));
  if (proxy.user.size() > 255 || proxy.password.size() > 255) {
    throw ConfigError(fmt::format("proxy \"{}\": user or password is longer than 255 characters",
                                  redactedUrl(url)));
  }
  return proxy;
}

}  // namespace

std::string Proxy::display() const {
  const char* scheme = kind == Kind::Http ? "http" : kind == Kind::Https ? "https" : "socks5";
  const bool bracket = host.find(':') != std::string::npos;
  return fmt::format("{}://{}{}{}:{}", scheme, bracket ? "[" : "", host, bracket ? "]" : "", port);
}

ProxyRules ProxyRules::always(std::string_view proxyUrl) {
  ProxyRules rules;
  rules.http_ = rules.https_ = parseProxy(proxyUrl, "the proxy");
  rules.always_ = true;
  return rules;
}

ProxyRules ProxyRules::fromEnvironment() {
  return fromEnvironment([](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value != nullptr ? value : "");
  });
}

ProxyRules ProxyRules::fromEnvironment(const Environment& variable) {
  const auto either = [&](const char* small, const char* large) {
    std::string value = variable(small);
    return value.empty() ? variable(large) : value;
  };
  ProxyRules rules;
  if (const std::string proxy = either("https_proxy", "HTTPS_PROXY"); !proxy.empty()) {
    rules.https_ = parseProxy(proxy, "$HTTPS_PROXY");
  }
  // In a CGI program HTTP_PROXY is the client's header "Proxy", not a setting of this process.
  const bool cgi = !variable("REQUEST_METHOD").empty();
  if (const std::string proxy = either("http_proxy", "HTTP_PROXY"); !proxy.empty() && !cgi) {
    rules.http_ = parseProxy(proxy, "$HTTP_PROXY");
  }
  const std::string exceptions = either("no_proxy", "NO_PROXY");
  std::string_view rest = exceptions;
  while (!rest.empty()) rules.addException(detail::trim(detail::cut(rest, ',')));
  return rules;
}

std::optional<ProxyRules::Address> ProxyRules::parseAddress(std::string_view text) {
  const std::string zeroEnded(text);
  Address address{};
  if (inet_pton(AF_INET6, zeroEnded.c_str(), address.data()) == 1) return address;
  address = {};
  address[10] = address[11] = 0xff;
  if (inet_pton(AF_INET, zeroEnded.c_str(), address.data() + 12) == 1) return address;
  return std::nullopt;
}

void ProxyRules::addException(std::string_view entry) {
  if (entry.empty()) return;
  if (entry == "*") {
    exceptAll_ = true;
    return;
  }
  Exception exception;

  if (const std::size_t slash = entry.find('/'); slash != std::string_view::npos) {
    const std::string_view address = entry.substr(0, slash);
    const std::string_view bits = entry.substr(slash + 1);
    exception.address = parseAddress(address);
    const int most = address.find(':') == std::string_view::npos ? 32 : 128;
    const auto prefix = detail::parseNumber<int>(bits);
    if (!exception.address || !prefix || *prefix < 0 || *prefix > most) {
      return;  // as in Go, a malformed entry has no effect
    }
    exception.prefixBits = *prefix + 128 - most;
    exceptions_.push_back(std::move(exception));
    return;
  }

  std::string_view host = entry;
  const std::size_t colon = entry.rfind(':');
  const bool bracketed = entry.starts_with('[');
  // A single colon separates host and port; several belong to an IPv6 address, unless that is in
  // brackets.
  if (colon != std::string_view::npos &&
      (bracketed ? colon > entry.rfind(']') : entry.find(':') == colon)) {
    const std::string_view port = entry.substr(colon + 1);
    const auto number = detail::parseNumber<std::uint16_t>(port);
    if (!number) return;
    exception.port = *number;
    host = entry.substr(0, colon);
  }
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty()) return;

  exception.address = parseAddress(host);
  if (!exception.address) {
    if (host.starts_with("*.")) host.remove_prefix(1);
    exception.itself = host[0] != '.';
    if (exception.itself) exception.suffix += '.';
    exception.suffix += detail::lower(host);
  }
  exceptions_.push_back(std::move(exception));
}

bool ProxyRules::excepted(const Url& url) const {
  if (url.host == "localhost") return true;
  const std::optional<Address> address = parseAddress(url.host);
  if (address) {
    const Address v4 = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127};
    const Address v6 = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    if (*address == v6 || std::equal(v4.begin(), v4.begin() + 13, address->begin())) return true;
  }
  if (exceptAll_) return true;

  const auto inNetwork = [&](const Exception& exception) {
    for (int bit = 0; bit < exception.prefixBits; bit += 8) {
      const int left = std::min(8, exception.prefixBits - bit);
      const int difference = (*address)[bit / 8] ^ (*exception.address)[bit / 8];
      if ((difference >> (8 - left)) != 0) return false;
    }
    return true;
  };
  return std::any_of(exceptions_.begin(), exceptions_.end(), [&](const Exception& exception) {
    if (exception.port != 0 && exception.port != url.port) return false;
    if (exception.address || address) return exception.address && address && inNetwork(exception);
    return url.host.ends_with(exception.suffix) ||
           (exception.itself && url.host == std::string_view(exception.suffix).substr(1));
  });
}

const Proxy* ProxyRules::proxyFor(const Url& url) const {
  const std::optional<Proxy>& proxy = url.scheme == "https" ? https_ : http_;
  if (!proxy || (!always_ && excepted(url))) return nullptr;
  return &*proxy;
}

}  // namespace kube
