#include "kube/meta/semantic_version.h"

#include <fmt/core.h>

#include <algorithm>

#include "kube/base/error.h"
#include "kube/base/internal/text.h"

namespace kube {

namespace {

bool isNumber(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, detail::isDigit);
}

// Dot-separated words of letters, digits and hyphens.
bool areIdentifiers(std::string_view text, bool numbersAreCanonical) {
  if (text.empty() || text.back() == '.') return false;
  while (!text.empty()) {
    const std::string_view word = detail::cut(text, '.');
    const auto fits = [](char c) { return detail::isAlphanumeric(c) || c == '-'; };
    if (word.empty() || !std::ranges::all_of(word, fits)) return false;
    if (numbersAreCanonical && word.size() > 1 && word[0] == '0' && isNumber(word)) return false;
  }
  return true;
}

std::weak_ordering compareWords(std::string_view a, std::string_view b) {
  if (isNumber(a) != isNumber(b)) {
    return isNumber(a) ? std::weak_ordering::less : std::weak_ordering::greater;
  }
  if (isNumber(a) && a.size() != b.size()) return a.size() <=> b.size();
  return a.compare(b) <=> 0;
}

}  // namespace

std::optional<SemanticVersion> SemanticVersion::tryParse(std::string_view text) {
  SemanticVersion version;
  if (text.starts_with('v')) text.remove_prefix(1);
  if (const std::size_t plus = text.find('+'); plus != text.npos) {
    version.build = text.substr(plus + 1);
    if (!areIdentifiers(version.build, false)) return std::nullopt;
    text = text.substr(0, plus);
  }
  if (const std::size_t hyphen = text.find('-'); hyphen != text.npos) {
    version.preRelease = text.substr(hyphen + 1);
    if (!areIdentifiers(version.preRelease, true)) return std::nullopt;
    text = text.substr(0, hyphen);
  }
  const auto dots = std::ranges::count(text, '.');
  if (dots < 1 || dots > 2 || text.back() == '.') return std::nullopt;
  std::uint32_t* const parts[] = {&version.major, &version.minor, &version.patch};
  for (std::uint32_t* part : parts) {
    if (text.empty()) break;
    const std::string_view word = detail::cut(text, '.');
    const auto number = detail::parseNumber<std::uint32_t>(word);
    if (!number || !isNumber(word) || (word.size() > 1 && word[0] == '0')) return std::nullopt;
    *part = *number;
  }
  return version;
}

SemanticVersion SemanticVersion::parse(std::string_view text) {
  if (auto version = tryParse(text)) return *std::move(version);
  throw Error(fmt::format("\"{}\" is not a version such as 1.37.0 or v1.37.0-rc.1", text));
}

std::string SemanticVersion::str() const {
  std::string text = fmt::format("{}.{}.{}", major, minor, patch);
  if (!preRelease.empty()) text.append("-").append(preRelease);
  if (!build.empty()) text.append("+").append(build);
  return text;
}

std::weak_ordering operator<=>(const SemanticVersion& a, const SemanticVersion& b) {
  if (const auto order = a.major <=> b.major; order != 0) return order;
  if (const auto order = a.minor <=> b.minor; order != 0) return order;
  if (const auto order = a.patch <=> b.patch; order != 0) return order;
  if (a.preRelease.empty() || b.preRelease.empty()) {
    return b.preRelease.empty()
               ? (a.preRelease.empty() ? std::weak_ordering::equivalent : std::weak_ordering::less)
               : std::weak_ordering::greater;
  }
  std::string_view left = a.preRelease, right = b.preRelease;
  while (!left.empty() && !right.empty()) {
    const auto order = compareWords(detail::cut(left, '.'), detail::cut(right, '.'));
    if (order != 0) return order;
  }
  return left.size() <=> right.size();
}

}  // namespace kube
