#include "kube/http/url.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "kube/base/error.h"

namespace kube {
namespace {

std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
  return out;
}

bool isScheme(std::string_view text) {
  const auto isLetter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !text.empty() && isLetter(text.front()) &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return isLetter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
         });
}

std::uint16_t standardPort(std::string_view scheme) {
  if (scheme == "https") return 443;
  if (scheme == "http") return 80;
  if (scheme == "socks5" || scheme == "socks5h") return 1080;
  return 0;
}

int hexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The path of `target` up to and with its last slash.
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
  url.scheme = lowered(text.substr(0, colon));
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
    url.host = lowered(authority.substr(1, close - 1));
    std::string_view after = authority.substr(close + 1);
    if (!after.empty() && after[0] != ':') return "expected a port after the address";
    port = after.empty() ? after : after.substr(1);
  } else {
    const std::size_t at = authority.find(':');
    if (at != std::string_view::npos) {
      port = authority.substr(at + 1);
      authority = authority.substr(0, at);
    }
    url.host = lowered(authority);
  }
  if (url.host.empty()) return "has no host";
  if (url.host.find_first_of("\\\"<>^`{}|%") != std::string::npos) return "bad host";

  if (port.empty()) {
    url.port = standardPort(url.scheme);
  } else {
    const auto [end, error] = std::from_chars(port.begin(), port.end(), url.port);
    if (error != std::errc{} || end != port.end() || url.port == 0) {
      return "bad port: expected 1 to 65535";
    }
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
  // Passwords are not always escaped as they should be: without a host to tell it by, the user ends
  // with the last @ wherever that is; and it may be a part of the password itself.
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
    if (text[i] == '%' && i + 2 < text.size() && hexDigit(text[i + 1]) >= 0 &&
        hexDigit(text[i + 2]) >= 0) {
      out += static_cast<char>(hexDigit(text[i + 1]) * 16 + hexDigit(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace kube
