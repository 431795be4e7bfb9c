#include "kube/meta/quantity.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>
#include <ostream>
#include <string>

#include "kube/base/internal/text.h"

namespace kube {
namespace {

using Format = Quantity::Format;

// Every amount is a count of at most 10^37 nanos, so that an __int128 can also hold the sum of two
// amounts and ten times an amount.
using Nanos = __int128;
using UNanos = unsigned __int128;

constexpr std::string_view kBadFormat =
    "quantities must match the regular expression "
    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
constexpr std::string_view kBadNumber = "unable to parse numeric part of quantity";
constexpr std::string_view kBadSuffix = "unable to parse quantity's suffix";

constexpr int kNanoDigits = 9;
constexpr int kMaxDigits = 37;

constexpr UNanos pow10(int exponent) {
  UNanos power = 1;
  while (exponent-- > 0) power *= 10;
  return power;
}
constexpr Nanos kUnit = pow10(kNanoDigits);
constexpr Nanos kMax = pow10(kMaxDigits);
constexpr std::int64_t kMaxInt64 = std::numeric_limits<std::int64_t>::max();

using detail::isDigit;

std::size_t digitsFrom(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && isDigit(text[end])) ++end;
  return end - at;
}

Nanos cap(Nanos nanos) { return std::clamp(nanos, -kMax, kMax); }

/// Returns `dividend / divisor`, rounded away from zero.
Nanos divideUp(Nanos dividend, Nanos divisor) {
  const Nanos quotient = dividend / divisor;
  const Nanos rest = dividend % divisor;
  if (rest == 0) return quotient;
  return rest > 0 ? quotient + 1 : quotient - 1;
}

struct Suffix {
  Format format = Format::DecimalSI;
  std::int64_t exponent = 0;  // of 2 for BinarySI, else of 10
};

constexpr char kDecimalSuffixes[] = {'n', 'u', 'm', '\0', 'k', 'M', 'G', 'T', 'P', 'E'};
constexpr char kBinarySuffixes[] = {'\0', 'K', 'M', 'G', 'T', 'P', 'E'};

bool readSuffix(std::string_view text, Suffix& out) {
  if (text.empty()) return true;
  if (text.size() == 1) {
    for (int i = 0; i < 10; ++i) {
      if (kDecimalSuffixes[i] != text[0]) continue;
      out.exponent = 3 * i - kNanoDigits;
      return true;
    }
    return false;
  }
  if (text.size() == 2 && text[1] == 'i') {
    out.format = Format::BinarySI;
    for (int i = 1; i < 7; ++i) {
      if (kBinarySuffixes[i] != text[0]) continue;
      out.exponent = 10 * i;
      return true;
    }
    return false;
  }
  if (text[0] != 'e' && text[0] != 'E') return false;
  std::string_view digits = text.substr(1);
  if (digits[0] == '+') {
    digits.remove_prefix(1);
    if (digits.empty() || !isDigit(digits[0])) return false;
  }
  out.format = Format::DecimalExponent;
  const auto exponent = detail::parseNumber<std::int64_t>(digits);
  out.exponent = exponent.value_or(0);
  return exponent.has_value();
}

/// The parts of a quantity's text, as views into it.
struct Parts {
  bool negative = false;
  std::string_view whole;     // leading zeros removed, so "" for 0
  std::string_view fraction;  // the digits after the point
  Suffix suffix;

  std::size_t size() const { return whole.size() + fraction.size(); }
  char digit(std::size_t i) const {
    return i < whole.size() ? whole[i] : fraction[i - whole.size()];
  }
};

/// Returns an empty text on success, else the message.
std::string_view split(std::string_view text, Parts& parts) {
  if (text.empty()) return kBadFormat;
  std::size_t at = 0;
  if (text[0] == '-' || text[0] == '+') {
    parts.negative = text[0] == '-';
    ++at;
  }
  const std::size_t number = at;
  while (at < text.size() && text[at] == '0') ++at;
  parts.whole = text.substr(at, digitsFrom(text, at));
  at += parts.whole.size();
  if (at < text.size() && text[at] == '.') {
    ++at;
    parts.fraction = text.substr(at, digitsFrom(text, at));
    at += parts.fraction.size();
  }
  if (at == number) return kBadFormat;
  const std::string_view suffix = text.substr(at);
  std::size_t letters = suffix.find_first_not_of("eEinumkKMGTP");
  if (letters == std::string_view::npos) letters = suffix.size();
  std::size_t end = letters;
  if (end < suffix.size() && (suffix[end] == '-' || suffix[end] == '+')) ++end;
  if (end + digitsFrom(suffix, end) != suffix.size()) return kBadFormat;
  if (text.substr(number, at - number) == ".") return kBadNumber;
  return readSuffix(suffix, parts.suffix) ? std::string_view() : kBadSuffix;
}

/// The amount without its sign, rounded up to whole nanos.
Nanos decimalNanos(const Parts& parts) {
  const std::size_t size = parts.size();
  std::size_t first = 0;
  while (first < size && parts.digit(first) == '0') ++first;
  if (first == size) return 0;

  constexpr std::int64_t kFar = std::int64_t{1} << 40;  // greater than the length of any text
  const std::int64_t exponent = std::clamp(parts.suffix.exponent, -kFar, kFar) + kNanoDigits;
  const auto significant = static_cast<std::int64_t>(size - first);
  const std::int64_t whole =
      significant + exponent - static_cast<std::int64_t>(parts.fraction.size());
  if (whole <= 0) return 1;
  if (whole > kMaxDigits) return kMax;

  const std::size_t used = first + static_cast<std::size_t>(std::min(whole, significant));
  UNanos nanos = 0;
  for (std::size_t i = first; i < used; ++i) nanos = nanos * 10 + (parts.digit(i) - '0');
  if (whole > significant) return nanos * pow10(static_cast<int>(whole - significant));
  for (std::size_t i = used; i < size; ++i) {
    if (parts.digit(i) != '0') return nanos + 1;
  }
  return nanos;
}

Nanos binaryNanos(const Parts& parts) {
  constexpr Nanos kCap = kMaxInt64 * kUnit;
  if (parts.whole.size() > 19) return kCap;
  const int shift = static_cast<int>(parts.suffix.exponent);
  UNanos whole = 0;
  for (const char c : parts.whole) whole = whole * 10 + (c - '0');
  whole <<= shift;
  if (whole > kMaxInt64) return kCap;

  // Computes 0.fraction * 2^shift in nanos. From the last digit backwards, every division by ten is
  // exact except for its remainder, and of that only "not zero" matters.
  const UNanos scale = static_cast<UNanos>(kUnit) << shift;
  UNanos part = 0;
  bool inexact = false;
  for (std::size_t i = parts.fraction.size(); i-- > 0;) {
    part += scale * (parts.fraction[i] - '0');
    inexact |= part % 10 != 0;
    part /= 10;
  }
  return std::min<Nanos>(whole * kUnit + part + (inexact ? 1 : 0), kCap);
}

/// True if apimachinery keeps such text as written instead of printing the number. Its test is
/// meant to find canonical text without computing the number; this follows it to emit the same
/// bytes.
bool isKept(const Parts& parts) {
  if (parts.whole.empty()) return false;
  if (parts.suffix.format == Format::BinarySI) {
    if (!parts.fraction.empty()) return false;
    const std::int64_t room = 14 - parts.suffix.exponent * 3 / 10;
    if (static_cast<std::int64_t>(parts.whole.size()) > room) return false;
    std::uint64_t value = 0;
    for (const char c : parts.whole) value = value * 10 + (c - '0');
    return value % 8 != 0;
  }
  if (parts.size() > 18) return false;
  const std::int64_t scale =
      parts.suffix.exponent - static_cast<std::int64_t>(parts.fraction.size());
  if (scale < -kNanoDigits || scale % 3 != 0 || scale > kMaxDigits) return false;
  const std::size_t size = parts.size();
  return size < 3 || parts.digit(size - 1) != '0' || parts.digit(size - 2) != '0' ||
         parts.digit(size - 3) != '0';
}

struct Reading {
  Nanos nanos = 0;
  Format format = Format::DecimalSI;
  bool kept = false;
};

std::string_view read(std::string_view text, Reading& out) {
  Parts parts;
  if (const std::string_view why = split(text, parts); !why.empty()) return why;
  out.format = parts.suffix.format;
  out.nanos = out.format == Format::BinarySI ? binaryNanos(parts) : decimalNanos(parts);
  out.kept = out.nanos < kMax && isKept(parts);
  if (parts.negative) out.nanos = -out.nanos;
  return {};
}

/// The canonical text of an amount.
class Printed {
 public:
  Printed(Nanos nanos, Format format) {
    if (nanos == 0) {
      *--begin_ = '0';
      return;
    }
    const bool negative = nanos < 0;
    UNanos rest = negative ? -nanos : nanos;
    if (format != Format::BinarySI || !binary(rest)) {
      decimal(rest, format == Format::DecimalExponent);
    }
    if (negative) *--begin_ = '-';
  }

  std::string_view view() const {
    return {begin_, static_cast<std::size_t>(room_ + sizeof room_ - begin_)};
  }

 private:
  void number(UNanos value) {
    do {
      *--begin_ = static_cast<char>('0' + static_cast<int>(value % 10));
      value /= 10;
    } while (value != 0);
  }

  /// Returns false for amounts that a binary suffix cannot express, or that would not be read back.
  bool binary(UNanos nanos) {
    if (nanos % kUnit != 0 || nanos / kUnit > kMaxInt64) return false;
    std::uint64_t value = static_cast<std::uint64_t>(nanos / kUnit);
    if (value < 1024 || value % 1024 != 0) return false;
    int power = 0;
    for (; value % 1024 == 0; value /= 1024) ++power;
    *--begin_ = 'i';
    *--begin_ = kBinarySuffixes[power];
    number(value);
    return true;
  }

  void decimal(UNanos value, bool asExponent) {
    int power = 0;
    const int most = asExponent ? kMaxDigits : 9;  // there is no suffix above E
    for (; power < most && value % 1000 == 0; value /= 1000) ++power;
    const int exponent = 3 * power - kNanoDigits;
    if (!asExponent) {
      if (exponent != 0) *--begin_ = kDecimalSuffixes[power];
    } else if (exponent != 0) {
      number(exponent < 0 ? -exponent : exponent);
      if (exponent < 0) *--begin_ = '-';
      *--begin_ = 'e';
    }
    number(value);
  }

  char room_[48];
  char* begin_ = room_ + sizeof room_;
};

const String& zeroText() {
  // Never destroyed: quantities with static storage may outlive any static of this file.
  static const String& text = *new String("0");
  return text;
}

Quantity print(Nanos nanos, Format format) {
  nanos = cap(nanos);
  if (nanos == 0) return Quantity::fromCanonical(zeroText());
  return Quantity::fromCanonical(String(Printed(nanos, format).view()));
}

Nanos nanosOf(const Quantity& quantity) {
  Reading reading;
  if (!quantity.isUnset()) read(quantity.text(), reading);
  return reading.nanos;
}

/// True for nearly every quantity in a cluster: an integer without leading zeros and a plain
/// suffix. False means that a full check is needed.
bool isPlainlyCanonical(std::string_view text) {
  std::size_t at = !text.empty() && text[0] == '-' ? 1 : 0;
  const std::size_t digits = digitsFrom(text, at);
  if (digits == 0 || digits > 9 || text[at] == '0') return false;
  std::uint32_t value = 0;
  for (const std::size_t end = at + digits; at < end; ++at) value = value * 10 + (text[at] - '0');
  switch (text.size() - at) {
    case 0:
      return value % 1000 != 0;
    case 1:
      return value % 1000 != 0 &&
             std::string_view("mkMGTPnu").find(text[at]) != std::string_view::npos;
    case 2:
      return text[at + 1] == 'i' && value % 1024 != 0 &&
             std::string_view("KMG").find(text[at]) != std::string_view::npos;
    default:
      return false;
  }
}

}  // namespace

QuantityError::QuantityError(std::string_view text, std::string_view why)
    : DecodeError({.format = "quantity"}, fmt::format("\"{}\": {}", text, why)) {}

Quantity Quantity::parse(std::string_view text) {
  Quantity quantity;
  std::string_view why;
  if (!tryParse(text, quantity, &why)) throw QuantityError(text, why);
  return quantity;
}

bool Quantity::tryParse(std::string_view text, Quantity& out, std::string_view* why) {
  if (isPlainlyCanonical(text)) {
    out.text_ = String(text);
    return true;
  }
  Reading reading;
  if (const std::string_view error = read(text, reading); !error.empty()) {
    if (why != nullptr) *why = error;
    return false;
  }
  out = reading.kept ? fromCanonical(String(text)) : print(reading.nanos, reading.format);
  return true;
}

bool Quantity::tryAdopt(String text, Quantity& out, std::string_view* why) {
  if (!isCanonical(text)) {
    constexpr std::string_view kBlanks = " \t\n\v\f\r";
    std::string_view content = text;
    content.remove_prefix(std::min(content.find_first_not_of(kBlanks), content.size()));
    content = content.substr(0, content.find_last_not_of(kBlanks) + 1);
    return tryParse(content, out, why);
  }
  out.text_ = std::move(text);
  return true;
}

bool Quantity::isCanonical(std::string_view text) noexcept {
  if (isPlainlyCanonical(text)) return true;
  Reading reading;
  if (!read(text, reading).empty()) return false;
  return reading.kept || Printed(reading.nanos, reading.format).view() == text;
}

Quantity Quantity::ofScaled(std::int64_t value, int scale, Format format) {
  if (scale < -kNanoDigits) {
    const int down = std::min(-kNanoDigits - scale, 20);
    return print(divideUp(value, pow10(down)), format);
  }
  Nanos nanos = value;
  for (int i = -kNanoDigits; i < scale && nanos != 0 && cap(nanos) == nanos; ++i) nanos *= 10;
  return print(nanos, format);
}

const String& Quantity::text() const noexcept { return text_.empty() ? zeroText() : text_; }

Quantity::Format Quantity::format() const noexcept {
  const std::string_view text = text_;
  if (text.ends_with('i')) return BinarySI;
  const std::size_t exponent = text.find_first_of("eE");
  return exponent == std::string_view::npos || exponent + 1 == text.size() ? DecimalSI
                                                                           : DecimalExponent;
}

int Quantity::sign() const noexcept {
  const Nanos nanos = nanosOf(*this);
  return (nanos > 0) - (nanos < 0);
}

std::int64_t Quantity::scaledValue(int scale) const noexcept {
  Nanos scaled = nanosOf(*this);
  if (scale >= -kNanoDigits) {
    scaled = divideUp(scaled, pow10(std::min(scale, kMaxDigits - kNanoDigits) + kNanoDigits));
  }
  for (; scale < -kNanoDigits && scaled != 0 && cap(scaled) == scaled; ++scale) scaled *= 10;
  return static_cast<std::int64_t>(
      std::clamp<Nanos>(scaled, std::numeric_limits<std::int64_t>::min(), kMaxInt64));
}

std::optional<std::int64_t> Quantity::asInt64() const noexcept {
  const Nanos nanos = nanosOf(*this);
  const Nanos value = nanos / kUnit;
  if (nanos % kUnit != 0 || static_cast<std::int64_t>(value) != value) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

double Quantity::asDouble() const noexcept {
  const Nanos nanos = nanosOf(*this);
  if (nanos % kUnit == 0) return static_cast<double>(nanos / kUnit);
  return static_cast<double>(static_cast<long double>(nanos) / static_cast<long double>(kUnit));
}

bool Quantity::roundUp(int scale) {
  if (scale <= -kNanoDigits) return true;
  const Nanos step = pow10(std::min(scale, kMaxDigits - kNanoDigits) + kNanoDigits);
  const Nanos nanos = nanosOf(*this);
  if (nanos % step == 0) return true;
  *this = print(divideUp(nanos, step) * step, format());
  return false;
}

Quantity& Quantity::operator+=(const Quantity& other) {
  const Nanos mine = nanosOf(*this);
  const Format kept = mine == 0 ? other.format() : format();
  return *this = print(mine + nanosOf(other), kept);
}

Quantity& Quantity::operator-=(const Quantity& other) {
  const Nanos mine = nanosOf(*this);
  const Format kept = mine == 0 ? other.format() : format();
  return *this = print(mine - nanosOf(other), kept);
}

Quantity& Quantity::operator*=(std::int64_t factor) {
  const Nanos mine = nanosOf(*this);
  Nanos product = 0;
  if (__builtin_mul_overflow(mine, static_cast<Nanos>(factor), &product)) {
    product = (mine < 0) == (factor < 0) ? kMax : -kMax;
  }
  return *this = print(product, format());
}

Quantity Quantity::operator-() const { return print(-nanosOf(*this), format()); }

int Quantity::cmp(const Quantity& other) const noexcept {
  if (text_ == other.text_) return 0;
  const Nanos a = nanosOf(*this);
  const Nanos b = nanosOf(other);
  return (a > b) - (a < b);
}

std::ostream& operator<<(std::ostream& out, const Quantity& quantity) {
  return out << quantity.text();
}

}  // namespace kube
