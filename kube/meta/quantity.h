// A resource amount such as "100m" CPU or "1536Mi" memory, in 8 bytes.
//
// A Quantity is its text: one shared String. So a cache that pools strings holds each distinct
// amount once; the number is computed on demand. The text is what apimachinery prints after
// ParseQuantity: the canonical form ("1024Mi" -> "1Gi", "0.5" -> "500m"). Input that apimachinery
// keeps as written ("+5", "1.500", "1E3") is kept here too, so that reading and writing an object
// changes nothing on the wire.
//
// Invariants: parsing the text gives the same text and number. Amounts are exact multiples of 1n;
// finer ones round away from zero. Magnitudes are capped at 1e28 (2^63-1 if parsed with a binary
// suffix). The text determines the format: an amount without a suffix is DecimalSI.
//
// Comparison is by number: Quantity("1000m") == Quantity("1"). sameText() compares the spelling.
//
// Thread safety: that of String. A Quantity caches nothing.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/internal/text_formatter.h"
#include "kube/base/string.h"

namespace kube {

/// The text is not a quantity; reason() quotes it and gives apimachinery's message.
class QuantityError : public DecodeError {
 public:
  QuantityError(std::string_view text, std::string_view why);
};

class Quantity {
 public:
  enum class Format : unsigned char {
    DecimalSI,        // 12M: n u m "" k M G T P E
    BinarySI,         // 12Mi: Ki Mi Gi Ti Pi Ei
    DecimalExponent,  // 12e6
  };
  using enum Format;

  /// Powers of ten for scaledValue() and ofScaled().
  enum Scale : int {
    Nano = -9,
    Micro = -6,
    Milli = -3,
    Unit = 0,
    Kilo = 3,
    Mega = 6,
    Giga = 9,
    Tera = 12,
    Peta = 15,
    Exa = 18,
  };

  /// Zero. isUnset() distinguishes it from a parsed "0".
  constexpr Quantity() noexcept = default;

  Quantity(const Quantity&) noexcept = default;
  Quantity(Quantity&&) noexcept = default;
  /// By value, as in String: `map["a"] = map["b"]` may move the right side while it creates the
  /// left.
  Quantity& operator=(Quantity other) noexcept {
    text_ = std::move(other.text_);
    return *this;
  }

  /// Parses the text, so that `limits["cpu"] = "500m"` works; throws QuantityError.
  template <std::convertible_to<std::string_view> S>
  Quantity(const S& text) : Quantity(parse(text)) {}  // NOLINT: implicit by design
  template <std::integral I>
  requires(!std::same_as<I, bool> && (std::signed_integral<I> || sizeof(I) < 8)) Quantity(I value)
      : Quantity(ofScaled(value, Unit)) {}  // NOLINT: implicit by design

  /// Accepts the same texts as ParseQuantity if they have a digit; surrounding white space is not
  /// allowed. Throws QuantityError.
  static Quantity parse(std::string_view text);
  /// Does not throw; `why` receives a static message. `out` is unchanged on failure.
  static bool tryParse(std::string_view text, Quantity& out, std::string_view* why = nullptr);
  /// For a decoder that holds a pooled String: if that is canonical, as nearly all are, the
  /// Quantity keeps the handle and allocates nothing. Ignores white space around the text, as
  /// upstream's decoders do.
  static bool tryAdopt(String text, Quantity& out, std::string_view* why = nullptr);
  /// For text that is known to satisfy isCanonical(), which is not checked.
  static Quantity fromCanonical(String text) noexcept {
    Quantity quantity;
    quantity.text_ = std::move(text);
    return quantity;
  }
  /// True if parse(text) succeeds and keeps the text as it is.
  static bool isCanonical(std::string_view text) noexcept;

  static Quantity of(std::int64_t value, Format format = DecimalSI) {
    return ofScaled(value, Unit, format);
  }
  static Quantity ofMilli(std::int64_t value, Format format = DecimalSI) {
    return ofScaled(value, Milli, format);
  }
  /// value * 10^scale, rounded away from zero to a multiple of 1n.
  static Quantity ofScaled(std::int64_t value, int scale, Format format = DecimalSI);

  const String& text() const noexcept;
  std::string str() const { return text().str(); }
  Format format() const noexcept;

  /// True only for a default-constructed Quantity: a field that was not set. "0" is set.
  bool isUnset() const noexcept { return text_.empty(); }
  bool isZero() const noexcept { return sign() == 0; }
  /// -1, 0 or 1.
  int sign() const noexcept;

  /// Rounded away from zero to an integer; saturates at the bounds of int64. The next two do the
  /// same.
  std::int64_t value() const noexcept { return scaledValue(Unit); }
  /// Thousandths, rounded away from zero.
  std::int64_t milliValue() const noexcept { return scaledValue(Milli); }
  /// The amount divided by 10^scale, rounded away from zero.
  std::int64_t scaledValue(int scale) const noexcept;
  /// The amount if it is an integer that fits.
  std::optional<std::int64_t> asInt64() const noexcept;
  double asDouble() const noexcept;

  /// Rounds away from zero to a multiple of 10^scale; returns false if that changed the amount.
  bool roundUp(int scale);

  /// Sums and differences keep the format of the left side, or of the right side if the left is
  /// zero. Results are capped and never wrap around.
  Quantity& operator+=(const Quantity& other);
  Quantity& operator-=(const Quantity& other);
  Quantity& operator*=(std::int64_t factor);
  Quantity operator-() const;
  friend Quantity operator+(Quantity a, const Quantity& b) { return std::move(a += b); }
  friend Quantity operator-(Quantity a, const Quantity& b) { return std::move(a -= b); }
  friend Quantity operator*(Quantity a, std::int64_t factor) { return std::move(a *= factor); }
  friend Quantity operator*(std::int64_t factor, Quantity a) { return std::move(a *= factor); }

  /// Compares numbers: negative, zero or positive.
  int cmp(const Quantity& other) const noexcept;
  friend bool operator==(const Quantity& a, const Quantity& b) noexcept { return a.cmp(b) == 0; }
  friend std::weak_ordering operator<=>(const Quantity& a, const Quantity& b) noexcept {
    return a.cmp(b) <=> 0;
  }
  /// Compares the spelling: false for "1000m" and "1".
  bool sameText(const Quantity& other) const noexcept { return text() == other.text(); }

  friend std::ostream& operator<<(std::ostream& out, const Quantity& quantity);

 private:
  String text_;
};

static_assert(sizeof(Quantity) == 8 && std::is_standard_layout_v<Quantity>);

}  // namespace kube

template <>
struct fmt::formatter<kube::Quantity> : kube::detail::TextFormatter {
  auto format(const kube::Quantity& quantity, fmt::format_context& context) const {
    return text(quantity.text().view(), context);
  }
};
