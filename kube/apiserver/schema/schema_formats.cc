#include "kube/apiserver/schema/schema_formats.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "kube/apiserver/schema/schema_pattern.h"
#include "kube/base/internal/text.h"
#include "kube/meta/time.h"
#include "kube/meta/validation/field_error.h"
#include "kube/meta/validation/validation.h"

namespace kube::apiserver {

namespace {

using kube::detail::isDigit;
using kube::detail::isLetter;
bool isHex(char c) { return kube::detail::hexValue(c) >= 0; }
bool isSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r' && c != '\v'); }

bool allOf(std::string_view text, bool (*holds)(char)) {
  return std::all_of(text.begin(), text.end(), holds);
}

std::string without(std::string_view text, bool (*dropped)(char)) {
  std::string kept;
  std::copy_if(text.begin(), text.end(), std::back_inserter(kept),
               [&](char c) { return !dropped(c); });
  return kept;
}

// --- Times.

int number(std::string_view digits) {
  int value = 0;
  for (const char c : digits) value = value * 10 + (c - '0');
  return value;
}

bool isDate(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  for (const std::string_view part : {text.substr(0, 4), text.substr(5, 2), text.substr(8)}) {
    if (!allOf(part, isDigit)) return false;
  }
  const int year = number(text.substr(0, 4));
  const int month = number(text.substr(5, 2));
  const int day = number(text.substr(8));
  static constexpr std::array<int, 12> kDays = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (month < 1 || month > 12 || day < 1 || day > kDays[static_cast<std::size_t>(month - 1)]) {
    return false;
  }
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return month != 2 || day < 29 || leap;
}

bool isDateTime(std::string_view text) {
  static const Pattern kTime(
      "^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$");
  const std::string lowered = kube::detail::lower(text);
  const std::string_view all = lowered;
  const std::size_t t = all.find('t');
  if (t == std::string_view::npos || !isDate(all.substr(0, t))) return false;
  // As upstream: a second t ends the time, and the rest is ignored.
  std::string_view time = all.substr(t + 1);
  time = time.substr(0, time.find('t'));
  return kTime.matches(time) && time.substr(0, 2) <= "23" && time.substr(3, 2) <= "59" &&
         time.substr(6, 2) <= "59";
}

bool isUnit(std::string_view text) {
  struct Unit {
    std::string_view name;
    bool prefix = false;
  };
  static constexpr Unit kUnits[] = {
      {"ns"}, {"nano", true}, {"us"}, {"µs"},        {"micro", true}, {"ms"}, {"milli", true},
      {"s"},  {"sec", true},  {"m"},  {"min", true}, {"h"},           {"hr"}, {"hour", true},
      {"d"},  {"day", true},  {"w"},  {"wk"},        {"week", true}};
  return std::any_of(std::begin(kUnits), std::end(kUnits), [&](const Unit& unit) {
    return text == unit.name || (unit.prefix && text.starts_with(unit.name));
  });
}

// A duration as Go parses it, or a text that has a number with a unit somewhere: "3 days".
bool isDuration(std::string_view text) {
  if (Duration parsed; Duration::tryParse(text, parsed)) return true;
  bool found = false;
  std::size_t at = 0;
  while (at < text.size()) {
    if (!isDigit(text[at])) {
      ++at;
      continue;
    }
    const std::size_t digits = at;
    while (at < text.size() && isDigit(text[at])) ++at;
    const std::string_view factor = text.substr(digits, at - digits);
    while (at < text.size() && isSpace(text[at])) ++at;
    std::string unit;
    while (at < text.size()) {
      if (isLetter(text[at])) {
        unit += kube::detail::lower(text[at++]);
      } else if (text.substr(at).starts_with("µ")) {
        unit += "µ";
        at += 2;
      } else {
        break;
      }
    }
    if (unit.empty()) continue;
    const std::string_view significant =
        factor.substr(std::min(factor.find_first_not_of('0'), factor.size()));
    if (significant.size() > 19 ||
        (significant.size() == 19 && significant > "9223372036854775807")) {
      return false;
    }
    found = found || isUnit(unit);
  }
  return found;
}

// --- Addresses.

bool isIp(std::string_view text) {
  return validation::isValidIPForLegacyField(ErrorPath(), text, /*strict=*/false).empty();
}
bool isIpv4(std::string_view text) {
  return text.find('.') != std::string_view::npos && isIp(text);
}
bool isIpv6(std::string_view text) {
  return text.find(':') != std::string_view::npos && isIp(text);
}
bool isCidr(std::string_view text) {
  return validation::isValidCIDRForLegacyField(ErrorPath(), text, /*strict=*/false).empty();
}

// A MAC address of 6, 8 or 20 bytes, with two digits between colons or dashes, or four between
// dots.
bool isMac(std::string_view text) {
  if (text.size() < 14) return false;
  const bool dotted = text[4] == '.';
  const std::size_t digits = dotted ? 4 : 2;
  const char separator = dotted ? '.' : text[2];
  if (!dotted && separator != ':' && separator != '-') return false;
  if ((text.size() + 1) % (digits + 1) != 0) return false;
  const std::size_t bytes = (text.size() + 1) / (digits + 1) * digits / 2;
  if (bytes != 6 && bytes != 8 && bytes != 20) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool between = i % (digits + 1) == digits;
    if (between ? text[i] != separator : !isHex(text[i])) return false;
  }
  return true;
}

bool isHostname(std::string_view text) {
  static const Pattern kHostname(
      R"(^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}])"
      R"((([a-zA-Z0-9-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$)");
  if (text.size() > 255) return false;
  for (std::string_view rest = text;;) {
    const std::size_t dot = rest.find('.');
    if (std::min(dot, rest.size()) > 63) return false;
    if (dot == std::string_view::npos) break;
    rest.remove_prefix(dot + 1);
  }
  return kHostname.matches(text);
}

// --- Mail, as net/mail parses one address: with or without a name before it in angle brackets.

bool isAtomChar(char c) {
  return isLetter(c) || isDigit(c) || static_cast<unsigned char>(c) >= 0x80 ||
         std::string_view("!#$%&'*+-/=?^_`{|}~").find(c) != std::string_view::npos;
}
bool isDotAtom(std::string_view text) {
  if (text.empty() || text.front() == '.' || text.back() == '.') return false;
  return text.find("..") == std::string_view::npos &&
         allOf(text, [](char c) { return c == '.' || isAtomChar(c); });
}
// The length of the quoted string at the start of the text, or 0.
std::size_t quotedLength(std::string_view text) {
  if (text.empty() || text.front() != '"') return 0;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') return i + 1;
    if (text[i] == '\\') ++i;
    if (i < text.size() && static_cast<unsigned char>(text[i]) < 0x20 && text[i] != '\t') return 0;
  }
  return 0;
}
std::string_view withoutBlanks(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}
bool isAddrSpec(std::string_view text) {
  std::size_t at = quotedLength(text);
  if (at == 2) return false;  // empty quotes
  if (at == 0) {
    at = std::min(text.find('@'), text.size());
    if (!isDotAtom(text.substr(0, at))) return false;
  }
  if (at >= text.size() || text[at] != '@') return false;
  const std::string_view domain = withoutBlanks(text.substr(at + 1));
  if (domain.starts_with('[') && domain.ends_with(']') && domain.size() > 2) {
    return isIp(domain.substr(1, domain.size() - 2));
  }
  return isDotAtom(domain);
}
bool isPhrase(std::string_view text) {
  for (text = withoutBlanks(text); !text.empty(); text = withoutBlanks(text)) {
    std::size_t length = quotedLength(text);
    if (length == 0) {
      while (length < text.size() && (text[length] == '.' || isAtomChar(text[length]))) ++length;
    }
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}
bool isEmail(std::string_view text) {
  text = withoutBlanks(text);
  if (!text.ends_with('>')) return isAddrSpec(text);
  const std::size_t open = text.rfind('<');
  if (open == std::string_view::npos) return false;
  return isPhrase(text.substr(0, open)) &&
         isAddrSpec(text.substr(open + 1, text.size() - open - 2));
}

// --- URIs, as net/url parses the one of a request: absolute, or a path from the root.

bool hasGoodEscapes(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') continue;
    if (i + 2 >= text.size() || !isHex(text[i + 1]) || !isHex(text[i + 2])) return false;
    i += 2;
  }
  return true;
}
bool isPort(std::string_view text) {
  return text.empty() || (text.front() == ':' && allOf(text.substr(1), isDigit));
}
bool isHost(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t end = text.rfind(']');
    if (end == std::string_view::npos || !isPort(text.substr(end + 1))) return false;
    return isIpv6(text.substr(1, std::min(text.find('%'), end) - 1));
  }
  const std::size_t colon = text.rfind(':');
  if (colon != std::string_view::npos && !isPort(text.substr(colon))) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '%') {  // allowed for non-ASCII characters only
      if (!hasGoodEscapes(text.substr(i, 3)) || (text[i + 1] < '8' && text.substr(i, 3) != "%25")) {
        return false;
      }
    } else if (static_cast<unsigned char>(c) < 0x80 && !isLetter(c) && !isDigit(c) &&
               std::string_view("-_.~!$&'()*+,;=:[]<>\"").find(c) == std::string_view::npos) {
      return false;
    }
  }
  return true;
}
bool isUserInfo(std::string_view text) {
  return hasGoodEscapes(text) && allOf(text, [](char c) {
           return isLetter(c) || isDigit(c) ||
                  std::string_view("-._:~!$&'()*+,;=%@").find(c) != std::string_view::npos;
         });
}
bool isUri(std::string_view text) {
  if (text.empty()) return false;
  if (std::any_of(text.begin(), text.end(),
                  [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; })) {
    return false;
  }
  if (text == "*") return true;
  bool scheme = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (isLetter(c)) continue;
    if (i > 0 && (isDigit(c) || c == '+' || c == '-' || c == '.')) continue;
    if (c != ':') break;
    if (i == 0) return false;
    scheme = true;
    text.remove_prefix(i + 1);
    break;
  }
  text = text.substr(0, text.find('?'));
  if (!text.starts_with('/')) return scheme;  // "mailto:x": opaque
  if (scheme && text.starts_with("//")) {
    const std::string_view authority = text.substr(2, std::min(text.find('/', 2), text.size()) - 2);
    text.remove_prefix(2 + authority.size());
    const std::size_t at = authority.rfind('@');
    if (at != std::string_view::npos && !isUserInfo(authority.substr(0, at))) return false;
    if (!isHost(at == std::string_view::npos ? authority : authority.substr(at + 1))) return false;
  }
  return hasGoodEscapes(text);
}

// --- Numbers in writing.

bool isBsonObjectId(std::string_view text) { return text.size() == 24 && allOf(text, isHex); }

bool isIsbn10(std::string_view text) {
  const std::string digits = without(text, [](char c) { return c == '-' || isSpace(c); });
  if (digits.size() != 10 || !allOf(std::string_view(digits).substr(0, 9), isDigit)) return false;
  if (digits[9] != 'X' && !isDigit(digits[9])) return false;
  int sum = 0;
  for (int i = 0; i < 10; ++i) {
    const char c = digits[static_cast<std::size_t>(i)];
    sum += (i + 1) * (c == 'X' ? 10 : c - '0');
  }
  return sum % 11 == 0;
}
bool isIsbn13(std::string_view text) {
  const std::string digits = without(text, [](char c) { return c == '-' || isSpace(c); });
  if (digits.size() != 13 || !allOf(digits, isDigit)) return false;
  int sum = 0;
  for (std::size_t i = 0; i < 13; ++i) sum += (i % 2 == 0 ? 1 : 3) * (digits[i] - '0');
  return sum % 10 == 0;
}
bool isIsbn(std::string_view text) { return isIsbn10(text) || isIsbn13(text); }

bool isCreditCard(std::string_view text) {
  static const Pattern kCard(
      "^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|"
      "3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\\d{3})\\d{11})$");
  const std::string digits = without(text, [](char c) { return !isDigit(c); });
  if (!kCard.matches(digits)) return false;
  int sum = 0;
  bool twice = false;
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, twice = !twice) {
    const int value = (*digit - '0') * (twice ? 2 : 1);
    sum += value / 10 + value % 10;
  }
  return sum % 10 == 0;
}

template <std::size_t N>
struct Literal {
  constexpr Literal(const char (&from)[N]) { std::copy_n(from, N, text); }  // NOLINT: implicit
  char text[N];
};
template <Literal P>
bool matches(std::string_view text) {
  static const Pattern kPattern(P.text);
  return kPattern.matches(text);
}
template <Literal P, std::size_t Max>
bool matchesUpTo(std::string_view text) {
  return text.size() <= Max && matches<P>(text);
}

bool isAnything(std::string_view) { return true; }

constexpr StringFormat kFormats[] = {
    {"bsonobjectid", isBsonObjectId},
    {"byte", matches<"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|"
                     "[A-Za-z0-9+/]{4})$">},
    {"cidr", isCidr},
    {"creditcard", isCreditCard},
    {"date", isDate},
    {"datetime", isDateTime},
    {"duration", isDuration},
    {"email", isEmail},
    {"hexcolor", matches<"^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$">},
    {"hostname", isHostname},
    {"ipv4", isIpv4},
    {"ipv6", isIpv6},
    {"isbn", isIsbn},
    {"isbn10", isIsbn10},
    {"isbn13", isIsbn13},
    {"k8slongname",
     matchesUpTo<"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$", 253>},
    {"k8sshortname", matchesUpTo<"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", 63>},
    {"mac", isMac},
    {"password", isAnything},
    {"rgbcolor",
     matches<"^rgb\\(\\s*(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*,\\s*(0|[1-9]\\d?|1\\d\\d?|"
             "2[0-4]\\d|25[0-5])\\s*,\\s*(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*\\)$">},
    {"ssn", matches<"^\\d{3}[- ]\\d{2}[- ]\\d{4}$">},
    {"uri", isUri},
    {"uuid", matches<"(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$">},
    {"uuid3", matches<"(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$">},
    {"uuid4",
     matches<"(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$">},
    {"uuid5",
     matches<"(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$">},
};

}  // namespace

const StringFormat* findStringFormat(std::string_view name) {
  std::string normal;
  std::remove_copy(name.begin(), name.end(), std::back_inserter(normal), '-');
  const auto* at = std::find_if(std::begin(kFormats), std::end(kFormats),
                                [&](const StringFormat& format) { return format.name == normal; });
  return at != std::end(kFormats) ? at : nullptr;
}

}  // namespace kube::apiserver
