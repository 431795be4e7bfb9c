// A field that holds a number or a string: a port by number or name, a count or a percentage.
//
// A plain value of 16 bytes; zeroed memory is the number 0. It remembers its type, so 80 and "80"
// are different values and are encoded differently.
//
// Thread safety: that of String.
#pragma once

#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kube/base/internal/text_formatter.h"
#include "kube/base/string.h"

namespace kube {

class IntOrString {
 public:
  constexpr IntOrString() noexcept = default;
  constexpr IntOrString(std::int32_t number) noexcept
      : number_(number) {}  // NOLINT: implicit by design
  template <std::convertible_to<String> S>
  IntOrString(S&& text) : text_(std::forward<S>(text)), isString_(true) {}  // NOLINT: as above

  IntOrString(const IntOrString&) noexcept = default;
  IntOrString(IntOrString&&) noexcept = default;
  /// By value, as in String: `map["a"] = map["b"]` may move the right side while it creates the
  /// left.
  IntOrString& operator=(IntOrString other) noexcept {
    text_ = std::move(other.text_);
    number_ = other.number_;
    isString_ = other.isString_;
    return *this;
  }

  /// The number if `text` as a whole is one that fits int32, else the string.
  static IntOrString parse(std::string_view text);

  bool isString() const noexcept { return isString_; }
  /// The number; for a string, the number that it spells, or 0 if it spells none.
  std::int64_t intValue() const noexcept;
  /// The string; "" for a number. See str() for the text of either.
  const String& stringValue() const noexcept { return text_; }

  /// The number itself, or for a string such as "25%" that share of `total`. Throws DecodeError for
  /// any other string.
  std::int64_t scaledValue(std::int64_t total, bool roundUp) const;

  std::string str() const;

  friend bool operator==(const IntOrString& a, const IntOrString& b) noexcept {
    return a.isString_ == b.isString_ && a.number_ == b.number_ && a.text_ == b.text_;
  }
  friend std::ostream& operator<<(std::ostream& out, const IntOrString& value);

 private:
  String text_;
  std::int32_t number_ = 0;
  bool isString_ = false;
};

static_assert(sizeof(IntOrString) == 16 && std::is_standard_layout_v<IntOrString>);

}  // namespace kube

template <>
struct fmt::formatter<kube::IntOrString> : kube::detail::TextFormatter {
  auto format(const kube::IntOrString& value, fmt::format_context& context) const {
    return text(value.str(), context);
  }
};
