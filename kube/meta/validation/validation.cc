#include "kube/meta/validation/validation.h"

#include <fmt/core.h>

#include <algorithm>
#include <initializer_list>
#include <limits>

#include "kube/base/internal/text.h"
#include "kube/base/joined.h"

namespace kube::validation {
namespace {

using detail::isDigit;

constexpr bool isLower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool isLetter(char c) { return isLower(c) || (c >= 'A' && c <= 'Z'); }
constexpr bool isLowerAlnum(char c) { return isLower(c) || isDigit(c); }
constexpr bool isAlnum(char c) { return isLetter(c) || isDigit(c); }
constexpr bool isOneOf(char c, std::string_view set) {
  return set.find(c) != std::string_view::npos;
}

// The formats as they appear in upstream's messages. The code below matches them by hand.
#define KUBE_DNS1123_LABEL "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define KUBE_DNS1123_LABEL_UNDERSCORE "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
#define KUBE_DNS1123_SUBDOMAIN KUBE_DNS1123_LABEL "(\\." KUBE_DNS1123_LABEL ")*"
#define KUBE_LABEL_KEY "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"

std::string tooManyCharacters(std::size_t length) {
  return fmt::format("must be no more than {} characters", length);
}
// Upstream's newer rules say bytes. All rules count bytes.
std::string tooManyBytes(std::size_t length) {
  return fmt::format("must be no more than {} bytes", length);
}
constexpr std::string_view kEmpty = "must be non-empty";

std::string mismatch(std::string_view rule, std::string_view format,
                     std::initializer_list<std::string_view> examples) {
  std::string text(rule);
  text += " (";
  const char* separator = "e.g. ";
  for (const std::string_view example : examples) {
    text.append(separator).append("'").append(example).append("', ");
    separator = " or ";
  }
  return text.append("regex used for validation is '").append(format).append("')");
}

std::string outOfRange(std::int64_t min, std::int64_t max) {
  return fmt::format("must be between {} and {}, inclusive", min, max);
}

template <class Ends, class Middle>
bool consistsOf(std::string_view text, Ends isEnd, Middle isMiddle) {
  return !text.empty() && isEnd(text.front()) && isEnd(text.back()) &&
         std::ranges::all_of(text, isMiddle);
}

template <class Character>
bool allAre(std::string_view text, Character isAllowed) {
  return !text.empty() && std::ranges::all_of(text, isAllowed);
}

bool isDnsLabel(std::string_view text) {
  return consistsOf(text, isLowerAlnum, [](char c) { return isLowerAlnum(c) || c == '-'; });
}

bool isDnsLabelWithUnderscore(std::string_view text) {
  if (text.starts_with('_')) text.remove_prefix(1);
  return consistsOf(text, isLowerAlnum,
                    [](char c) { return isLowerAlnum(c) || c == '-' || c == '_'; });
}

/// True if every part between dots is valid.
template <class Label>
bool allLabels(std::string_view text, Label isValid) {
  for (;;) {
    const std::size_t dot = text.find('.');
    if (!isValid(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool isSubdomain(std::string_view text) { return allLabels(text, isDnsLabel); }

bool isLabelName(std::string_view text) {
  return consistsOf(text, isAlnum, [](char c) { return isAlnum(c) || isOneOf(c, "-_."); });
}

std::string subdomainMismatch() {
  return mismatch(
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
      "'.', and must start and end with an alphanumeric character",
      KUBE_DNS1123_SUBDOMAIN, {"example.com"});
}

std::string labelKeyMismatch() {
  return mismatch(
      "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
      "alphanumeric character",
      KUBE_LABEL_KEY, {"MyName", "my.name", "123-abc"});
}

/// Reports file names that would lead out of a mounted volume.
void checkChangesFolder(std::string_view text, Reasons& reasons) {
  if (text == ".") {
    reasons.emplace_back("must not be '.'");
  } else if (text == "..") {
    reasons.emplace_back("must not be '..'");
  } else if (text.starts_with("..")) {
    reasons.emplace_back("must not start with '..'");
  }
}

constexpr std::int64_t kMaxId = std::numeric_limits<std::int32_t>::max();

}  // namespace

Reasons isQualifiedName(std::string_view text) {
  Reasons reasons;
  const std::size_t slash = text.find('/');
  std::string_view name = text;
  if (slash != std::string_view::npos) {
    const std::string_view prefix = text.substr(0, slash);
    name = text.substr(slash + 1);
    if (name.find('/') != std::string_view::npos) {
      return {
          fmt::format("a valid label key {} with an optional DNS subdomain prefix and '/' (e.g. "
                      "'example.com/MyName')",
                      labelKeyMismatch())};
    }
    if (prefix.empty()) {
      reasons.push_back(fmt::format("prefix part {}", kEmpty));
    } else {
      if (prefix.size() > kDNS1123SubdomainMaxLength) {
        reasons.push_back("prefix part " + tooManyBytes(kDNS1123SubdomainMaxLength));
      }
      if (!isSubdomain(prefix)) reasons.push_back("prefix part " + subdomainMismatch());
    }
  }
  if (name.empty()) {
    reasons.push_back(fmt::format("name part {}", kEmpty));
  } else if (name.size() > kLabelValueMaxLength) {
    reasons.push_back("name part " + tooManyBytes(kLabelValueMaxLength));
  }
  if (!isLabelName(name)) reasons.push_back("name part " + labelKeyMismatch());
  return reasons;
}

Reasons isValidLabelValue(std::string_view text) {
  Reasons reasons;
  if (text.size() > kLabelValueMaxLength) reasons.push_back(tooManyBytes(kLabelValueMaxLength));
  if (!text.empty() && !isLabelName(text)) {
    reasons.push_back(mismatch(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
        "'.', and must start and end with an alphanumeric character",
        "(" KUBE_LABEL_KEY ")?", {"MyValue", "my_value", "12345"}));
  }
  return reasons;
}

Reasons isDNS1123Label(std::string_view text) {
  Reasons reasons;
  if (text.size() > kDNS1123LabelMaxLength) {
    reasons.push_back(tooManyCharacters(kDNS1123LabelMaxLength));
  }
  if (isDnsLabel(text)) return reasons;
  if (isSubdomain(text)) {
    reasons.emplace_back("must not contain dots");
  } else {
    reasons.push_back(mismatch(
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
        "must start and end with an alphanumeric character",
        KUBE_DNS1123_LABEL, {"my-name", "123-abc"}));
  }
  return reasons;
}

Reasons isDNS1123Subdomain(std::string_view text) {
  Reasons reasons;
  if (text.size() > kDNS1123SubdomainMaxLength) {
    reasons.push_back(tooManyCharacters(kDNS1123SubdomainMaxLength));
  }
  if (!isSubdomain(text)) reasons.push_back(subdomainMismatch());
  return reasons;
}

Reasons isDNS1123SubdomainWithUnderscore(std::string_view text) {
  Reasons reasons;
  if (text.size() > kDNS1123SubdomainMaxLength) {
    reasons.push_back(tooManyCharacters(kDNS1123SubdomainMaxLength));
  }
  if (!allLabels(text, isDnsLabelWithUnderscore)) {
    reasons.push_back(mismatch(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', "
        "'-' or '.', and must start and end with an alphanumeric character",
        KUBE_DNS1123_LABEL_UNDERSCORE "(\\." KUBE_DNS1123_LABEL_UNDERSCORE ")*", {"example.com"}));
  }
  return reasons;
}

Reasons isWildcardDNS1123Subdomain(std::string_view text) {
  Reasons reasons;
  if (text.size() > kDNS1123SubdomainMaxLength) {
    reasons.push_back(tooManyCharacters(kDNS1123SubdomainMaxLength));
  }
  if (!text.starts_with("*.") || !isSubdomain(text.substr(2))) {
    reasons.push_back(mismatch(
        "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, "
        "which must consist of lower case alphanumeric characters, '-' or '.' and end with an "
        "alphanumeric character",
        "\\*\\." KUBE_DNS1123_SUBDOMAIN, {"*.example.com"}));
  }
  return reasons;
}

Reasons isDNS1035Label(std::string_view text) {
  Reasons reasons;
  if (text.size() > kDNS1035LabelMaxLength) {
    reasons.push_back(tooManyCharacters(kDNS1035LabelMaxLength));
  }
  if (!isDnsLabel(text) || !isLower(text.front())) {
    reasons.push_back(mismatch(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
        "alphabetic character, and end with an alphanumeric character",
        "[a-z]([-a-z0-9]*[a-z0-9])?", {"my-name", "abc-123"}));
  }
  return reasons;
}

Reasons isPathSegmentName(std::string_view text) {
  if (text == "." || text == "..") return {fmt::format("may not be '{}'", text)};
  return isPathSegmentPrefix(text);
}

Reasons isPathSegmentPrefix(std::string_view text) {
  Reasons reasons;
  for (const char c : {'/', '%'}) {
    if (isOneOf(c, text)) reasons.push_back(fmt::format("may not contain '{}'", c));
  }
  return reasons;
}

Reasons isValidPortNum(std::int64_t port) { return isInRange(port, 1, 65535); }

Reasons isValidPortName(std::string_view text) {
  Reasons reasons;
  if (text.size() > 15) reasons.push_back(tooManyCharacters(15));
  if (!allAre(text, [](char c) { return isLowerAlnum(c) || c == '-'; })) {
    reasons.emplace_back("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (std::ranges::none_of(text, isLower)) {
    reasons.emplace_back("must contain at least one letter (a-z)");
  }
  if (text.find("--") != std::string_view::npos) {
    reasons.emplace_back("must not contain consecutive hyphens");
  }
  if (text.starts_with('-') || text.ends_with('-')) {
    reasons.emplace_back("must not begin or end with a hyphen");
  }
  return reasons;
}

Reasons isInRange(std::int64_t value, std::int64_t min, std::int64_t max) {
  if (value >= min && value <= max) return {};
  return {outOfRange(min, max)};
}

Reasons isValidUserID(std::int64_t id) { return isInRange(id, 0, kMaxId); }
Reasons isValidGroupID(std::int64_t id) { return isInRange(id, 0, kMaxId); }

Reasons isValidPercent(std::string_view text) {
  if (text.ends_with('%') && allAre(text.substr(0, text.size() - 1), isDigit)) return {};
  return {mismatch("a valid percent string must be a numeric string followed by an ending '%'",
                   "[0-9]+%", {"1%", "93%"})};
}

Reasons isCIdentifier(std::string_view text) {
  const auto isAllowed = [](char c) { return isAlnum(c) || c == '_'; };
  if (allAre(text, isAllowed) && !isDigit(text.front())) return {};
  return {mismatch(
      "a valid C identifier must start with alphabetic character or '_', followed by a string of "
      "alphanumeric characters or '_'",
      "[A-Za-z_][A-Za-z0-9_]*", {"my_name", "MY_NAME", "MyName"})};
}

Reasons isEnvVarName(std::string_view text) {
  Reasons reasons;
  const auto isAllowed = [](char c) { return isAlnum(c) || isOneOf(c, "-._"); };
  if (!allAre(text, isAllowed) || isDigit(text.front())) {
    reasons.push_back(mismatch(
        "a valid environment variable name must consist of alphabetic characters, digits, '_', "
        "'-', or '.', and must not start with a digit",
        "[-._a-zA-Z][-._a-zA-Z0-9]*", {"my.env-name", "MY_ENV.NAME", "MyEnvName1"}));
  }
  checkChangesFolder(text, reasons);
  return reasons;
}

Reasons isRelaxedEnvVarName(std::string_view text) {
  if (text.empty()) return {fmt::format("environment variable name {}", kEmpty)};
  if (std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~' && c != '='; })) return {};
  return {
      "a valid environment variable name must consist only of printable ASCII characters other "
      "than '='"};
}

Reasons isConfigMapKey(std::string_view text) {
  Reasons reasons;
  if (text.size() > kDNS1123SubdomainMaxLength) {
    reasons.push_back(tooManyCharacters(kDNS1123SubdomainMaxLength));
  }
  if (!allAre(text, [](char c) { return isAlnum(c) || isOneOf(c, "-._"); })) {
    reasons.push_back(
        mismatch("a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
                 "[-._a-zA-Z0-9]+", {"key.name", "KEY_NAME", "key-name"}));
  }
  checkChangesFolder(text, reasons);
  return reasons;
}

Reasons isHTTPHeaderName(std::string_view text) {
  if (allAre(text, [](char c) { return isAlnum(c) || c == '-'; })) return {};
  return {mismatch("a valid HTTP header must consist of alphanumeric characters or '-'",
                   "[-A-Za-z0-9]+", {"X-Header-Name"})};
}

FieldErrors isFullyQualifiedDomainName(const ErrorPath& path, std::string_view text) {
  if (text.empty()) return {FieldError::required(path)};
  if (text.ends_with('.')) text.remove_suffix(1);
  if (const Reasons reasons = isDNS1123Subdomain(text); !reasons.empty()) {
    return {FieldError::invalid(path, text, joined(reasons, ","))};
  }
  if (!isOneOf('.', text)) {
    return {FieldError::invalid(path, text,
                                "should be a domain with at least two segments separated by dots")};
  }
  FieldErrors errors;
  allLabels(text, [&](std::string_view label) {
    const Reasons reasons = isDNS1123Label(label);
    if (!reasons.empty()) errors.push_back(FieldError::invalid(path, label, joined(reasons, ",")));
    return reasons.empty();
  });
  return errors;
}

FieldErrors isFullyQualifiedName(const ErrorPath& path, std::string_view text) {
  if (text.empty()) return {FieldError::required(path)};
  if (const Reasons reasons = isDNS1123Subdomain(text); !reasons.empty()) {
    return {FieldError::invalid(path, text, joined(reasons, ","))};
  }
  if (std::ranges::count(text, '.') < 2) {
    return {FieldError::invalid(
        path, text, "should be a domain with at least three segments separated by dots")};
  }
  return {};
}

FieldErrors isDomainPrefixedPath(const ErrorPath& path, std::string_view text) {
  if (text.empty()) return {FieldError::required(path)};
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == text.size()) {
    return {FieldError::invalid(path, text,
                                "must be a domain-prefixed path (such as \"acme.io/foo\")")};
  }
  FieldErrors errors;
  const std::string_view host = text.substr(0, slash);
  for (const std::string& reason : isDNS1123Subdomain(host)) {
    errors.push_back(FieldError::invalid(path, host, reason));
  }
  const std::string_view rest = text.substr(slash + 1);
  if (!allAre(rest, [](char c) { return isAlnum(c) || isOneOf(c, "/-._~%!$&'()*+,;=:"); })) {
    errors.push_back(FieldError::invalid(
        path, rest,
        R"(Invalid path (regex used for validation is '[A-Za-z0-9/\-._~%!$&'()*+,;=:]+'))"));
  }
  return errors;
}

FieldErrors isDomainPrefixedKey(const ErrorPath& path, std::string_view text) {
  if (text.empty()) return {FieldError::required(path)};
  FieldErrors errors;
  for (const std::string& reason : isQualifiedName(text)) {
    errors.push_back(FieldError::invalid(path, text, reason));
  }
  if (errors.empty() && !isOneOf('/', text)) {
    errors.push_back(
        FieldError::invalid(path, text, "must be a domain-prefixed key (such as \"acme.io/foo\")"));
  }
  return errors;
}

}  // namespace kube::validation
