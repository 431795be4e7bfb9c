// Protobuf's varints: seven bits of a number per byte, the lowest first. Reading them is
// wire_reader.h's.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace kube::detail {

/// The number of bytes that a number takes, 1 to 10.
constexpr std::size_t varintLength(std::uint64_t value) noexcept {
  return (static_cast<std::size_t>(std::bit_width(value | 1)) + 6) / 7;
}

/// Writes varintLength() bytes.
constexpr void writeVarint(char* to, std::uint64_t value) noexcept {
  for (; value > 0x7f; value >>= 7) *to++ = static_cast<char>(value | 0x80);
  *to = static_cast<char>(value);
}

}  // namespace kube::detail
