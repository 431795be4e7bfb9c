#include "kube/http/url.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "kube/base/error.h"
#include "kube/base/internal/text.h"

namespace kube {
namespace {

bool isScheme(std::string_view text) {
  return !text.empty() && detail::isLetter(text.front()) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return detail::isAlphanumeric(c) || c == '+' || c == '-' || c == '.';
         });
}

std::uint16_t standardPort(std::string_view scheme) {
  if (scheme == "https") return 443;
  if (scheme == "http") return 80;
  if (scheme == "socks5" || scheme == "socks5h") return 1080;
  return 0;
}

// The path of `target`, up to and including its last slash.
std::string_view folder(std::string_view target) {
  const std::string_view path = target.substr(0, target.find('?'));
  return path.substr(0, path.rfind('/') + 1);
}

}  // namespace

std::string Url::authority() const {
  const bool bracket = host.find(':') != std::string::npos;
  std::string out = bracket ? "[" + host + "]" : host;
  if (port != standardPort(scheme)) fmt::format_to(std::back_inserter(out), ":{}", port);
  return out;
}

std::string Url::address() const {
  return host.find(':') != std::string::npos ? fmt::format("[{}]:{}", host, port)
                                             : fmt::format("{}:{}", host, port);
}

std::string_view readUrl(std::string_view text, Url& url) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= ' ' || byte == 0x7f) return "contains a space or control character";
  }
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos || !isScheme(text.substr(0, colon))) {
    return "has no scheme: expected https://host:port/path";
  }

  url = {};
  url.scheme = detail::lower(text.substr(0, colon));
  std::string_view rest = text.substr(colon + 3);
  rest = rest.substr(0, rest.find('#'));
  const std::size_t pathAt = rest.find_first_of("/?");
  std::string_view authority = rest.substr(0, pathAt);
  if (pathAt == std::string_view::npos) {
    url.target = "/";
  } else {
    url.target = rest[pathAt] == '?' ? "/" : "";
    url.target += rest.substr(pathAt);
  }

  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    url.userinfo = authority.substr(0, at);
    authority.remove_prefix(at + 1);
  }
  std::string_view port;
  if (authority.starts_with('[')) {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos) return "an address in brackets is not closed";
    url.host = detail::lower(authority.substr(1, close - 1));
    if (url.host.find(':') == std::string::npos) return "the address in brackets is not of IPv6";
    std::string_view after = authority.substr(close + 1);
    if (!after.empty() && after[0] != ':') return "expected a port after the address";
    port = after.empty() ? after : after.substr(1);
  } else {
    const std::size_t at = authority.find(':');
    if (at != std::string_view::npos) {
      port = authority.substr(at + 1);
      authority = authority.substr(0, at);
    }
    url.host = detail::lower(authority);
  }
  if (url.host.empty()) return "has no host";
  if (url.host.find_first_of("\\\"<>^`{}|%[]") != std::string::npos) return "bad host";

  if (port.empty()) {
    url.port = standardPort(url.scheme);
  } else {
    url.port = detail::parseNumber<std::uint16_t>(port).value_or(0);
    if (url.port == 0) return "bad port: expected 1 to 65535";
  }
  return {};
}

Url parseUrl(std::string_view text) {
  Url url;
  if (const std::string_view problem = readUrl(text, url); !problem.empty()) {
    throw ConfigError(fmt::format("URL \"{}\": {}", redactedUrl(text), problem));
  }
  return url;
}

bool hasOrigin(std::string_view url, std::string_view origin) noexcept {
  if (!url.starts_with(origin)) return false;
  const std::string_view rest = url.substr(origin.size());
  return rest.empty() || rest[0] == '/' || rest[0] == '?' || rest[0] == '#';
}

Url resolveUrl(const Url& base, std::string_view location) {
  location = location.substr(0, location.find('#'));
  const std::size_t colon = location.find("://");
  if (colon != std::string_view::npos && colon < location.find_first_of("/?")) {
    return parseUrl(location);
  }
  if (location.starts_with("//")) return parseUrl(fmt::format("{}:{}", base.scheme, location));

  std::string target;
  if (location.empty()) {
    target = base.target;
  } else if (location[0] == '/') {
    target = location;
  } else if (location[0] == '?') {
    target = base.target.substr(0, base.target.find('?')).append(location);
  } else {
    target = std::string(folder(base.target)).append(location);
  }
  return parseUrl(fmt::format("{}://{}{}", base.scheme, base.address(), target));
}

std::string redactedUrl(std::string_view text) {
  Url url;
  const bool good = readUrl(text, url).empty();
  const std::size_t colon = text.find("://");
  const std::size_t start = colon == std::string_view::npos ? 0 : colon + 3;
  // Passwords are not always escaped as they should be. If the host cannot be told, the user part
  // ends with the last @, which may itself belong to the password.
  const std::string_view rest = text.substr(start);
  const std::string_view authority = rest.substr(0, good ? rest.find_first_of("/?#") : rest.npos);
  const std::size_t at = authority.rfind('@');
  if (at != std::string_view::npos && at > rest.find_first_of("?#")) {
    return std::string(text.substr(0, start));
  }
  const std::string_view shown = at == std::string_view::npos ? rest : rest.substr(at + 1);
  return std::string(text.substr(0, start)).append(shown.substr(0, shown.find_first_of("?#")));
}

std::string redactedUrl(const Url& url) {
  return fmt::format("{}://{}{}", url.scheme, url.authority(),
                     std::string_view(url.target).substr(0, url.target.find('?')));
}

std::string percentDecoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && detail::hexValue(text[i + 1]) >= 0 &&
        detail::hexValue(text[i + 2]) >= 0) {
      out += static_cast<char>(detail::hexValue(text[i + 1]) * 16 + detail::hexValue(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace kube
