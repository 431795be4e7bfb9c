// URLs and their parts under arbitrary bytes: no URL leads to another server, no part leaves its
// place in the URL, and no message shows a password.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kube/base/error.h"
#include "kube/http/proxy.h"
#include "kube/http/url.h"
#include "kube/meta/validation/validation.h"
#include "kube/rest/internal/query.h"
#include "kube/rest/server_url.h"

namespace url_fuzz {

using namespace kube;

void check(bool holds) {
  if (!holds) std::abort();
}

// The address of an API server with the text as a request's path: the server stays the same.
void checkOrigin(std::string_view text) {
  for (const std::string base : {"https://host:6443", "http://[::1]", "https://host/prefix"}) {
    const Url own = parseUrl(base);
    const std::string origin = own.scheme + "://" + own.authority();
    const std::string whole = base + std::string(text);
    Url url;
    if (!readUrl(whole, url).empty()) continue;
    check(!text.starts_with('/') || hasOrigin(whole, origin));
    check(!hasOrigin(whole, origin) || url.sameOrigin(own));
    check(!hasOrigin(whole, origin) || url.userinfo.empty());
  }
}

void checkUrl(std::string_view text) {
  redactedUrl(text);
  Url url;
  if (!readUrl(text, url).empty()) return;
  check(!url.host.empty() && !url.scheme.empty());
  check(url.target.starts_with('/'));
  for (const char c : url.target) check(static_cast<unsigned char>(c) > ' ' && c != 0x7f);
  // Parsing and reassembling gives the same URL.
  const Url again = parseUrl(url.scheme + "://" + url.authority() + url.target);
  check(again.sameOrigin(url) && again.target == url.target && again.userinfo.empty());
  for (const std::string& shown : {redactedUrl(url), redactedUrl(text)}) {
    check(shown.find_first_of("?#") == std::string::npos);
    const Url seen = parseUrl(shown);
    check(seen.sameOrigin(url) && seen.userinfo.empty());
  }
}

void checkSegments(std::string_view text) {
  std::string escaped;
  kube::detail::appendEscaped(escaped, text);
  check(percentDecoded(escaped) == text);
  check(escaped.find_first_of("/?#&=@:\r\n ") == std::string::npos);
  if (!text.empty() && kube::detail::pathSegmentProblem(text).empty()) {
    const Url url = parseUrl("https://host/a/" + escaped + "/b?c=d");
    check(url.target == "/a/" + escaped + "/b?c=d");
  }
  if (validation::isDNS1123Subdomain(text).empty()) {
    check(escaped == text && kube::detail::pathSegmentProblem(text).empty());
  }
}

void checkProxy(std::string_view text) {
  const std::string secret = "S3CRET";
  for (const std::string& proxy :
       {"http://user:" + secret + std::string(text) + "@host:1",
        "user:" + std::string(text) + secret + "@host", "socks5://" + secret + std::string(text)}) {
    try {
      const ProxyRules rules = ProxyRules::always(proxy);
      if (proxy.find('@') != std::string::npos && !proxy.starts_with("socks5")) {
        const std::string shown = rules.proxyFor(parseUrl("http://example.com"))->display();
        check(shown.find(secret) == std::string::npos);
      }
    } catch (const ConfigError& error) {
      check(std::string_view(error.what()).find(secret) == std::string_view::npos);
    }
  }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4096) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  checkOrigin(text);
  checkUrl(text);
  checkSegments(text);
  checkProxy(text);
  try {
    const Url next = resolveUrl(parseUrl("https://host:6443/api/v1?x"), text);
    check(!next.host.empty());
  } catch (const ConfigError&) {
  }
  try {
    // The server of a Config is one address without a user.
    const ServerUrl server = parseServerUrl(text, true);
    check(hasOrigin(server.str(), server.origin()));
    Url url;
    if (readUrl(server.str(), url).empty()) check(url.userinfo.empty());
  } catch (const ConfigError&) {
  }
  return 0;
}

}  // namespace url_fuzz
