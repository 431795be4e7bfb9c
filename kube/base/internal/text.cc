#include "kube/base/internal/text.h"

#include <algorithm>

namespace kube::detail {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = lower(c);
  return result;
}

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = upper(c);
  return result;
}

bool equalIgnoringCase(std::string_view a, std::string_view b) noexcept {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view trim(std::string_view text) noexcept {
  constexpr std::string_view kBlanks = " \t\r\n\v\f";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (bool more = true; more;) {
    more = text.find(separator) != std::string_view::npos;
    pieces.push_back(cut(text, separator));
  }
  return pieces;
}

}  // namespace kube::detail
