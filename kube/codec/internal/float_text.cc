#include "kube/codec/internal/float_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace kube::detail {

namespace {

// Writes the shortest digits that read back the same, with zeros for the rest: 12300 or 0.00123.
// Numbers with an exponent outside of [low, high) keep it: 1.23e+45.
template <class Real>
std::string formatDigits(Real value, int low, int high) {
  std::array<char, 40> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::scientific)
                       .ptr;
  std::string_view scientific(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  std::string result;
  if (scientific.starts_with('-')) {
    result += '-';
    scientific.remove_prefix(1);
  }
  const std::size_t e = scientific.find('e');
  int exponent = 0;
  std::string_view power = scientific.substr(e + 1);
  if (power.starts_with('+')) power.remove_prefix(1);
  std::from_chars(power.data(), power.data() + power.size(), exponent);
  if (exponent < low || exponent >= high) return result.append(scientific);
  std::string digits(scientific.substr(0, 1));
  if (e > 1) digits += scientific.substr(2, e - 2);
  if (exponent < 0) {
    return result.append("0.").append(static_cast<std::size_t>(-exponent) - 1, '0').append(digits);
  }
  const auto whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() < whole) digits.append(whole - digits.size(), '0');
  result.append(digits, 0, whole);
  if (digits.size() > whole) result.append(1, '.').append(digits, whole);
  return result;
}

template <class Real>
std::string formatReal(Real value) {
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value)) return value < 0 ? "-.inf" : ".inf";
  return formatDigits(value, -4, 6);
}

}  // namespace

bool isBelowOne(std::string_view number) noexcept {
  const std::size_t end = std::min(number.find_first_of("eE"), number.size());
  std::int64_t power = 0;
  if (end < number.size()) {
    std::string_view digits = number.substr(end + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), power);
    if (read.ec != std::errc()) return digits.starts_with('-');
    constexpr std::int64_t kMore = std::int64_t{1} << 40;  // more than the number of digits
    power = std::clamp(power, -kMore, kMore);
  }
  const std::string_view digits = number.substr(0, end);
  const std::size_t first = digits.find_first_of("123456789");
  if (first == std::string_view::npos) return true;
  const std::size_t point = std::min(digits.find('.'), digits.size());
  return power + static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first) <
         (first < point ? 1 : 0);
}

std::string formatJsonFloat(double value) {
  std::string result = formatDigits(value, -6, 21);
  // e-9, not e-09
  if (const auto e = result.find("e-0"); e != std::string::npos) result.erase(e + 2, 1);
  return result;
}

std::string formatYamlFloat(double value) { return formatReal(value); }
std::string formatYamlFloat32(double value) { return formatReal(static_cast<float>(value)); }

}  // namespace kube::detail
