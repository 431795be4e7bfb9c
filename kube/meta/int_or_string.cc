#include "kube/meta/int_or_string.h"

#include <fmt/core.h>

#include <charconv>
#include <limits>
#include <optional>
#include <ostream>

#include "kube/base/error.h"

namespace kube {
namespace {

/// Reads a decimal number with an optional sign and nothing else; saturates at the bounds of int64.
std::optional<std::int64_t> readInt(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc::invalid_argument || stop != end) return std::nullopt;
  if (error == std::errc()) return number;
  using Limits = std::numeric_limits<std::int64_t>;
  return text.starts_with('-') ? Limits::min() : Limits::max();
}

[[noreturn]] void throwInvalid(const std::string& why) {
  throw DecodeError({}, "invalid value for IntOrString: " + why);
}

}  // namespace

IntOrString IntOrString::parse(std::string_view text) {
  const std::optional<std::int64_t> number = readInt(text);
  if (!number || static_cast<std::int32_t>(*number) != *number) return text;
  return static_cast<std::int32_t>(*number);
}

std::int64_t IntOrString::intValue() const noexcept {
  return isString_ ? readInt(text_).value_or(0) : number_;
}

std::int64_t IntOrString::scaledValue(std::int64_t total, bool roundUp) const {
  if (!isString_) return number_;
  std::string_view digits = text_;
  if (!digits.ends_with('%')) throwInvalid(fmt::format("\"{}\" is not a percentage", text_));
  digits.remove_suffix(1);
  const std::optional<std::int64_t> percent = readInt(digits);
  if (!percent) throwInvalid(fmt::format("\"{}\" does not start with a number", text_));

  const __int128 product = static_cast<__int128>(*percent) * total;
  __int128 share = product / 100;
  if (product % 100 > 0 && roundUp) ++share;
  if (product % 100 < 0 && !roundUp) --share;
  using Limits = std::numeric_limits<std::int64_t>;
  if (share > Limits::max()) return Limits::max();
  if (share < Limits::min()) return Limits::min();
  return static_cast<std::int64_t>(share);
}

std::string IntOrString::str() const { return isString_ ? text_.str() : std::to_string(number_); }

std::ostream& operator<<(std::ostream& out, const IntOrString& value) {
  if (value.isString_) return out << value.text_;
  return out << value.number_;
}

}  // namespace kube
