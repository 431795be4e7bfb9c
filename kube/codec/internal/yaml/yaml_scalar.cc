#include "kube/codec/internal/yaml/yaml_scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "kube/base/internal/text.h"
#include "kube/codec/internal/float_text.h"

namespace kube::detail {

namespace {

using Type = YamlScalar::Type;

bool isSign(char c) noexcept { return c == '+' || c == '-'; }

template <class... Words>
bool isOneOf(std::string_view text, Words... words) {
  return ((text == words) || ...);
}

std::size_t countDigits(std::string_view text) noexcept {
  std::size_t i = 0;
  while (i < text.size() && isDigit(text[i])) ++i;
  return i;
}

std::optional<YamlScalar> resolveWord(std::string_view text) {
  const auto boolean = [](bool value) { return YamlScalar{Type::Bool, value}; };
  const auto real = [](double value) { return YamlScalar{.type = Type::Float, .real = value}; };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (isOneOf(text, "", "~", "null", "Null", "NULL")) return YamlScalar{Type::Null};
  if (isOneOf(text, "true", "True", "TRUE", "y", "Y", "yes", "Yes", "YES", "on", "On", "ON")) {
    return boolean(true);
  }
  if (isOneOf(text, "false", "False", "FALSE", "n", "N", "no", "No", "NO", "off", "Off", "OFF")) {
    return boolean(false);
  }
  if (isOneOf(text, ".nan", ".NaN", ".NAN")) return real(std::nan(""));
  if (isOneOf(text, ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF")) return real(kInfinity);
  if (isOneOf(text, "-.inf", "-.Inf", "-.INF")) return real(-kInfinity);
  return std::nullopt;
}

std::optional<YamlScalar> makeInteger(bool negative, std::optional<std::uint64_t> magnitude) {
  if (!magnitude || (negative && *magnitude > std::uint64_t{1} << 63)) return std::nullopt;
  return YamlScalar{
      .type = Type::Int, .negative = negative && *magnitude != 0, .magnitude = *magnitude};
}

// Parses as Go's ParseInt and ParseUint with base 0 do, and then go-yaml's own "0b". Only a number
// without a sign may exceed int64.
std::optional<YamlScalar> parseInteger(std::string_view text) {
  const bool isSigned = !text.empty() && isSign(text[0]);
  const bool negative = isSigned && text[0] == '-';
  std::string_view digits = text.substr(isSigned ? 1 : 0);
  int base = 10;
  if (digits.size() > 1 && digits[0] == '0') {
    const char letter = static_cast<char>(digits[1] | 0x20);
    base = letter == 'x' ? 16 : letter == 'b' ? 2 : 8;
    digits.remove_prefix(letter == 'x' || letter == 'b' || letter == 'o' ? 2 : 1);
  }
  if (base == 2 && text.starts_with("0b") && !digits.empty() && isSign(digits[0])) {
    return makeInteger(digits[0] == '-', parseNumber<std::uint64_t>(digits.substr(1), 2));
  }
  if (!digits.empty() && isSign(digits[0])) return std::nullopt;  // from_chars takes a '-'
  const auto magnitude = parseNumber<std::uint64_t>(digits, base);
  constexpr auto kInt64Max = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (magnitude && isSigned && !negative && *magnitude > kInt64Max) return std::nullopt;
  return makeInteger(negative, magnitude);
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
std::optional<YamlScalar> parseFloat(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (!text.empty() && isSign(text[0])) text.remove_prefix(1);
  std::size_t at = countDigits(text);
  const std::size_t whole = at;
  std::size_t fraction = 0;
  if (at < text.size() && text[at] == '.') {
    fraction = countDigits(text.substr(++at));
    at += fraction;
  }
  if (whole + fraction == 0) return std::nullopt;
  if (at < text.size() && (text[at] | 0x20) == 'e') {
    ++at;
    if (at < text.size() && isSign(text[at])) ++at;
    const std::size_t exponent = countDigits(text.substr(at));
    if (exponent == 0) return std::nullopt;
    at += exponent;
  }
  if (at != text.size()) return std::nullopt;

  YamlScalar result{.type = Type::Float};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), result.real);
  if (parsed.ec == std::errc::result_out_of_range) {
    // In Go, a number that is too large is no number, and one that is too small is zero.
    if (!isBelowOne(text)) return std::nullopt;
    result.real = 0;
  }
  if (std::isinf(result.real)) return std::nullopt;
  if (negative) result.real = -result.real;
  return result;
}

// Underscores are ignored anywhere in a number that starts with a digit or sign; in one that starts
// with a dot they must stand between digits.
bool underscoresBetweenDigits(std::string_view text) {
  for (std::size_t i = text.find('_'); i != std::string_view::npos; i = text.find('_', i + 1)) {
    if (i == 0 || i + 1 == text.size() || !isDigit(text[i - 1]) || !isDigit(text[i + 1])) {
      return false;
    }
  }
  return true;
}

// Takes a number of one or two digits off the front.
std::optional<int> takeNumber(std::string_view& text, int low, int high) {
  const std::size_t digits = std::min<std::size_t>(countDigits(text), 2);
  if (digits == 0) return std::nullopt;
  const int value = digits == 1 ? text[0] - '0' : (text[0] - '0') * 10 + (text[1] - '0');
  text.remove_prefix(digits);
  if (value < low || value > high) return std::nullopt;
  return value;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

int daysIn(int year, int month) {
  constexpr std::array<int, 12> kDays{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return month == 2 && leap ? 29 : kDays[static_cast<std::size_t>(month) - 1];
}

// True for Z or +07:00 with nothing behind it.
bool isZone(std::string_view text) {
  if (text == "Z") return true;
  if (text.size() != 6 || !isSign(text[0]) || text[3] != ':') return false;
  std::string_view hours = text.substr(1, 2);
  std::string_view minutes = text.substr(4, 2);
  if (countDigits(hours) != 2 || countDigits(minutes) != 2) return false;
  return takeNumber(hours, 0, 24) && takeNumber(minutes, 0, 60);
}

}  // namespace

YamlScalar resolveYamlScalar(std::string_view text) {
  if (auto word = resolveWord(text)) return *word;
  if (text.empty() || !(isDigit(text[0]) || isSign(text[0]) || text[0] == '.')) return {};
  if (isYamlTimestamp(text)) return {Type::Timestamp};
  if (text[0] == '.' && !underscoresBetweenDigits(text)) return {};
  std::string stripped;
  if (text.find('_') != std::string_view::npos) {
    std::copy_if(text.begin(), text.end(), std::back_inserter(stripped),
                 [](char c) { return c != '_'; });
    text = stripped;
  }
  if (text[0] != '.') {
    if (auto integer = parseInteger(text)) return *integer;
  }
  return parseFloat(text).value_or(YamlScalar{});
}

bool isYamlTimestamp(std::string_view text) noexcept {
  if (countDigits(text) != 4) return false;
  int year = 0;
  std::from_chars(text.data(), text.data() + 4, year);
  text.remove_prefix(4);
  if (!take(text, '-')) return false;
  const auto month = takeNumber(text, 1, 12);
  if (!month || !take(text, '-')) return false;
  const auto day = takeNumber(text, 1, daysIn(year, *month));
  if (!day) return false;
  if (text.empty()) return true;
  const bool zoned = text[0] != ' ';
  if (!take(text, 'T') && !take(text, 't') && !take(text, ' ')) return false;
  if (!takeNumber(text, 0, 23) || !take(text, ':')) return false;
  if (!takeNumber(text, 0, 59) || !take(text, ':')) return false;
  if (!takeNumber(text, 0, 59)) return false;
  if (text.size() > 1 && (text[0] == '.' || text[0] == ',') && isDigit(text[1])) {
    text.remove_prefix(1 + countDigits(text.substr(1)));
  }
  return zoned ? isZone(text) : text.empty();
}

bool isBase60Float(std::string_view text) noexcept {
  if (!text.empty() && isSign(text[0])) text.remove_prefix(1);
  if (text.empty() || !isDigit(text[0])) return false;
  const auto skip = [&] {
    text.remove_prefix(std::min(text.find_first_not_of("0123456789_"), text.size()));
  };
  skip();
  if (!text.starts_with(':')) return false;
  while (take(text, ':')) {
    const std::size_t digits = countDigits(text);
    if (digits == 0 || digits > 2 || (digits == 2 && text[0] > '5')) return false;
    text.remove_prefix(digits);
  }
  if (take(text, '.')) skip();
  return text.empty();
}

}  // namespace kube::detail
