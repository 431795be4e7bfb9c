// An immutable string in 8 bytes, shared by reference count.
//
// Copying costs one increment; equal strings from one Pool are one memory. A String converts to and
// from std::string_view, std::string and literals, compares with all of them, streams, hashes and
// formats. There is no null: a default String is "".
//
// Thread safety: distinct String objects may be used on any threads, even if they share memory.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>

#include "kube/base/internal/block.h"
#include "kube/base/internal/text_formatter.h"

namespace kube {

namespace detail {
/// The block of a new string: null for an empty one. `ascii` is set to whether the text is all
/// ASCII.
Block* copyText(std::string_view text, bool& ascii);
}  // namespace detail

class String {
 public:
  constexpr String() noexcept = default;
  String(std::string_view text);  // NOLINT: implicit by design, like the next two
  String(const char* text) : String(std::string_view(text)) {}
  String(const std::string& text) : String(std::string_view(text)) {}
  String(std::nullptr_t) = delete;
  String(const String& other) noexcept : block_(other.block_) { detail::addRef(block_); }
  String(String&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  String& operator=(String other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~String() {
    if (block_ != nullptr) drop(block_);
  }

  std::size_t size() const noexcept { return block_ != nullptr ? block_->size : 0; }
  bool empty() const noexcept { return block_ == nullptr; }
  const char* data() const noexcept {
    return block_ != nullptr ? static_cast<const char*>(block_->payload()) : "";
  }
  const char* begin() const noexcept { return data(); }
  const char* end() const noexcept { return data() + size(); }
  std::string_view view() const noexcept { return {data(), size()}; }
  operator std::string_view() const noexcept { return view(); }  // NOLINT: implicit by design
  std::string str() const { return std::string(view()); }

  /// True if both are the same memory. Equal strings need not share memory.
  bool sharesWith(const String& other) const noexcept { return block_ == other.block_; }

  friend bool operator==(const String& a, const String& b) noexcept {
    return a.block_ == b.block_ || a.view() == b.view();
  }
  friend std::strong_ordering operator<=>(const String& a, const String& b) noexcept {
    return a.view() <=> b.view();
  }
  template <std::convertible_to<std::string_view> S>
  requires(!std::derived_from<S, String>) friend bool operator==(const String& a,
                                                                 const S& b) noexcept {
    return a.view() == std::string_view(b);
  }
  template <std::convertible_to<std::string_view> S>
  requires(!std::derived_from<S, String>) friend std::strong_ordering operator<=>(
      const String& a, const S& b) noexcept {
    return a.view() <=> std::string_view(b);
  }
  friend std::string operator+(const String& a, const String& b) {
    return a.str().append(b.view());
  }
  // Templates, because a literal would convert to a view as readily as to a String.
  template <std::convertible_to<std::string_view> S>
  requires(!std::derived_from<S, String>) friend std::string operator+(const String& a,
                                                                       const S& b) {
    return a.str().append(std::string_view(b));
  }
  template <std::convertible_to<std::string_view> S>
  requires(!std::derived_from<S, String>) friend std::string operator+(const S& a,
                                                                       const String& b) {
    return std::string(std::string_view(a)).append(b.view());
  }
  friend std::ostream& operator<<(std::ostream& out, const String& text);

  /// Frees the string's memory if this was the last reference.
  static void drop(detail::Block* block) noexcept;

 private:
  detail::Block* block_ = nullptr;
};

/// Raw bytes, base64 in JSON (a Secret's data). Reads like a String; need not be UTF-8.
class Bytes : public String {
 public:
  using String::String;
  // Takes exactly a String: types derived from Bytes are copied.
  template <std::same_as<String> S>
  Bytes(S bytes) noexcept : String(std::move(bytes)) {}  // NOLINT: implicit by design
  Bytes(const Bytes&) noexcept = default;
  Bytes(Bytes&&) noexcept = default;
  // By value, as in String: with `map["new"] = map["old"]` the old value is copied before it moves.
  Bytes& operator=(Bytes other) noexcept {
    String::operator=(std::move(other));
    return *this;
  }
};

}  // namespace kube

template <>
struct std::hash<kube::String> {
  std::size_t operator()(const kube::String& text) const noexcept {
    return std::hash<std::string_view>{}(text.view());
  }
};
template <>
struct std::hash<kube::Bytes> : std::hash<kube::String> {};

template <std::derived_from<kube::String> S>
struct fmt::formatter<S> : kube::detail::TextFormatter {
  auto format(const S& string, fmt::format_context& context) const {
    return text(string.view(), context);
  }
};
