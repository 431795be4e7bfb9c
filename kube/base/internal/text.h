// Small text functions, independent of the locale: kinds of characters, case, numbers, pieces.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace kube::detail {

constexpr bool isDigit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool isLower(char c) noexcept { return c >= 'a' && c <= 'z'; }
constexpr bool isUpper(char c) noexcept { return c >= 'A' && c <= 'Z'; }
constexpr bool isLetter(char c) noexcept { return isLower(c) || isUpper(c); }
constexpr bool isAlphanumeric(char c) noexcept { return isLetter(c) || isDigit(c); }

/// White space as JSON defines it.
constexpr bool isSpace(char c) noexcept { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

/// The value of a hexadecimal digit, or -1.
constexpr int hexValue(char c) noexcept {
  if (isDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

constexpr char lower(char c) noexcept { return isUpper(c) ? static_cast<char>(c - 'A' + 'a') : c; }
constexpr char upper(char c) noexcept { return isLower(c) ? static_cast<char>(c - 'a' + 'A') : c; }
std::string lower(std::string_view text);
std::string upper(std::string_view text);

/// Compares as if both were in lower case.
bool equalIgnoringCase(std::string_view a, std::string_view b) noexcept;

/// The text without blanks, tabs, line breaks and form feeds around it.
std::string_view trim(std::string_view text) noexcept;

/// The whole text as a number, or nothing if it is not a number or does not fit. The only sign
/// allowed is '-'.
template <std::integral Number>
std::optional<Number> parseNumber(std::string_view text, int base = 10) noexcept {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Removes the first piece and the separator after it from `rest`. Without a separator, the piece
/// is all of `rest`.
constexpr std::string_view cut(std::string_view& rest, char separator) noexcept {
  const std::size_t end = rest.find(separator);
  const std::string_view piece = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return piece;
}

/// All pieces, including empty ones: "" has one, "a," two.
std::vector<std::string_view> split(std::string_view text, char separator);

}  // namespace kube::detail
