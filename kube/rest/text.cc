#include "kube/rest/text.h"

#include <fmt/core.h>

#include <algorithm>

#include "kube/base/error.h"

namespace kube::detail {
namespace {

bool isControl(char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; }

}  // namespace

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\v\f";
  const auto start = text.find_first_not_of(kBlanks);
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(kBlanks) - start + 1);
}

void checkHeaderText(std::string_view text, std::string_view what) {
  if (std::none_of(text.begin(), text.end(), isControl)) return;
  throw ConfigError(fmt::format("{}: line breaks and control characters are not allowed", what));
}

std::string bearer(std::string_view token, std::string_view what) {
  checkHeaderText(token, what);
  return std::string("Bearer ").append(token);
}

std::string withoutControls(std::string_view text) {
  std::string clean;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool isBlank = c >= '\t' && c <= '\r';
    // U+0080 to U+009F control terminals too.
    const bool isLateControl = c == 0xc2 && i + 1 < text.size() &&
                               static_cast<unsigned char>(text[i + 1]) >= 0x80 &&
                               static_cast<unsigned char>(text[i + 1]) <= 0x9f;
    if (isLateControl) {
      clean += fmt::format("U+{:04X}", static_cast<unsigned char>(text[++i]));
    } else if (isControl(text[i]) && !isBlank) {
      clean += fmt::format("U+{:04X}", c);
    } else {
      clean += text[i];
    }
  }
  return clean;
}

}  // namespace kube::detail
