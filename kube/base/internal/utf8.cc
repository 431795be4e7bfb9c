#include "kube/base/internal/utf8.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

namespace kube::detail {
namespace {

struct Range {
  char32_t first, last;
};
// Controls, spaces, format characters, surrogates, private use and noncharacters, in order.
constexpr Range kUnprintable[] = {
    {0x00, 0x1F},       {0x7F, 0xA0},       {0xAD, 0xAD},       {0x600, 0x605},
    {0x61C, 0x61C},     {0x6DD, 0x6DD},     {0x70F, 0x70F},     {0x890, 0x891},
    {0x8E2, 0x8E2},     {0x1680, 0x1680},   {0x180E, 0x180E},   {0x2000, 0x200F},
    {0x2028, 0x202F},   {0x205F, 0x206F},   {0x3000, 0x3000},   {0xD800, 0xF8FF},
    {0xFDD0, 0xFDEF},   {0xFEFF, 0xFEFF},   {0xFFF0, 0xFFFB},   {0xFFFE, 0xFFFF},
    {0x110BD, 0x110BD}, {0x110CD, 0x110CD}, {0x13430, 0x1343F}, {0x1BCA0, 0x1BCA3},
    {0x1D173, 0x1D17A}, {0x1FFFE, 0x1FFFF}, {0xE0000, 0xE00FF}, {0xE01F0, 0xFFFFFFFF},
};

}  // namespace

std::size_t decodeUtf8(std::string_view text, std::size_t at, char32_t& code) noexcept {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) {
    code = first;
    return 1;
  }
  const std::size_t length = first < 0xC2   ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF5 ? 4
                                            : 0;
  if (length == 0 || text.size() - at < length) return 0;
  code = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[at + i]);
    if ((next & 0xC0) != 0x80) return 0;
    code = code << 6 | (next & 0x3F);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  return overlong || surrogate || code > 0x10FFFF ? 0 : length;
}

std::string replaceInvalidUtf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    char32_t code = 0;
    const std::size_t length = decodeUtf8(text, i, code);
    if (length == 0) {
      result += "\xEF\xBF\xBD";
      ++i;
    } else {
      result.append(text, i, length);
      i += length;
    }
  }
  return result;
}

bool isPrintable(char32_t code) noexcept {
  const auto* range = std::ranges::lower_bound(kUnprintable, code, {}, &Range::last);
  return range == std::end(kUnprintable) || code < range->first;
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  const auto out = std::back_inserter(result);
  for (std::size_t i = 0; i < text.size();) {
    char32_t code = 0;
    const std::size_t length = decodeUtf8(text, i, code);
    if (length == 0) {
      fmt::format_to(out, "\\x{:02x}", static_cast<unsigned char>(text[i++]));
      continue;
    }
    constexpr std::string_view kNamed = "\a\b\f\n\r\t\v";
    if (code == '"' || code == '\\') {
      result += '\\';
      result += text[i];
    } else if (isPrintable(code)) {
      result.append(text, i, length);
    } else if (const auto named = kNamed.find(text[i]);
               length == 1 && named != std::string_view::npos) {
      result += '\\';
      result += "abfnrtv"[named];
    } else if (code < 0x80) {
      fmt::format_to(out, "\\x{:02x}", static_cast<unsigned>(code));
    } else if (code < 0x10000) {
      fmt::format_to(out, "\\u{:04x}", static_cast<unsigned>(code));
    } else {
      fmt::format_to(out, "\\U{:08x}", static_cast<unsigned>(code));
    }
    i += length;
  }
  return result += '"';
}

}  // namespace kube::detail
