// Finds the end of a JSON value without decoding it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kube::detail {

/// Finds the end of one JSON value, across any number of pieces.
class JsonValueScanner {
 public:
  void start(char first) noexcept;
  /// Takes the text behind the value's first character, or behind the last piece. Returns how many
  /// bytes of it belong to the value, and whether the value is complete.
  std::size_t scan(std::string_view piece, bool& complete) noexcept;

 private:
  enum class Kind : std::uint8_t { Scalar, String, Nested };
  Kind kind_ = Kind::Scalar;
  std::uint64_t depth_ = 0;
  std::uint64_t inString_ = 0;    // all ones inside a string
  std::uint64_t escapeNext_ = 0;  // 1 if the next character is escaped
};

}  // namespace kube::detail
