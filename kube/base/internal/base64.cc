#include "kube/base/internal/base64.h"

#include <array>
#include <cstdint>

namespace kube::detail {

namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<std::int8_t, 256> kDigits = [] {
  std::array<std::int8_t, 256> digits{};
  digits.fill(-1);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    digits[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::int8_t>(i);
  }
  return digits;
}();

}  // namespace

void base64Encode(std::string_view bytes, std::string& out) {
  out.reserve(out.size() + (bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      const bool padding = i + k > bytes.size();
      out += padding ? '=' : kAlphabet[group >> (18 - 6 * k) & 63];
    }
  }
}

bool base64Decode(std::string_view text, std::string& out) {
  out.clear();
  out.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  int digits = 0;
  int padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r') continue;
    if (c == '=') {
      if (digits < 2 || digits + ++padding > 4) return false;
      continue;
    }
    const int digit = kDigits[static_cast<unsigned char>(c)];
    if (digit < 0 || padding > 0) return false;
    group = group << 6 | static_cast<std::uint32_t>(digit);
    if (++digits == 4) {
      out += static_cast<char>(group >> 16);
      out += static_cast<char>(group >> 8);
      out += static_cast<char>(group);
      group = 0;
      digits = 0;
    }
  }
  if (digits == 0) return padding == 0;
  if (digits + padding != 4) return false;
  group <<= 6 * padding;
  out += static_cast<char>(group >> 16);
  if (digits == 3) out += static_cast<char>(group >> 8);
  return true;
}

}  // namespace kube::detail
