#include "kube/base/internal/control_characters.h"

#include <fmt/core.h>

#include <algorithm>

#include "kube/base/internal/utf8.h"

namespace kube::detail {

ControlCharacter findControl(std::string_view text, std::size_t from) noexcept {
  for (std::size_t at = from; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte >= ' ' && byte < 0x7f) {
      ++at;
    } else if (byte < 0x80) {
      const bool lineEnd = byte == '\n' || text.substr(at, 2) == "\r\n";
      if (byte != '\t' && !lineEnd) return {at, 1, byte};
      ++at;
    } else {
      char32_t code = byte;  // the code of a byte that belongs to no character
      const std::size_t length = std::max<std::size_t>(decodeUtf8(text, at, code), 1);
      if (length == 1) code = byte;
      if (code >= 0x80 && code <= 0x9f) return {at, length, static_cast<unsigned char>(code)};
      at += length;
    }
  }
  return {};
}

std::string withoutControls(std::string_view text) {
  std::string clean;
  std::size_t from = 0;
  for (;;) {
    const ControlCharacter found = findControl(text, from);
    if (found.at == std::string_view::npos) break;
    clean += text.substr(from, found.at - from);
    clean += fmt::format("U+{:04X}", found.code);
    from = found.at + found.length;
  }
  return clean += text.substr(from);
}

std::size_t undecidedEnd(std::string_view text) noexcept {
  if (text.ends_with('\r')) return 1;
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    // The lowest and the highest byte that may follow.
    for (const char more : {'\x80', '\xbf'}) {
      char tail[6] = {more, more, more, more, more, more};
      std::ranges::copy(text.substr(text.size() - back), tail);
      char32_t code = 0;
      if (decodeUtf8({tail, sizeof tail}, 0, code) > back) return back;
    }
  }
  return 0;
}

}  // namespace kube::detail
