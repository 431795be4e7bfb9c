// Copies short strings, such as names and values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace kube::detail {

/// memcpy, without a call for up to 32 bytes.
inline void copyBytes(char* to, const char* from, std::size_t n) noexcept {
  struct Sixteen {
    std::uint64_t a, b;
  };
  const auto ends = [&]<class Word>(Word first, Word last) {  // the two words may overlap
    std::memcpy(&first, from, sizeof(Word));
    std::memcpy(&last, from + n - sizeof(Word), sizeof(Word));
    std::memcpy(to, &first, sizeof(Word));
    std::memcpy(to + n - sizeof(Word), &last, sizeof(Word));
  };
  if (n > 32) {
    std::memcpy(to, from, n);
  } else if (n >= 16) {
    ends(Sixteen{}, Sixteen{});
  } else if (n >= 8) {
    ends(std::uint64_t{}, std::uint64_t{});
  } else if (n >= 4) {
    ends(std::uint32_t{}, std::uint32_t{});
  } else if (n != 0) {
    const char middle = from[n / 2];
    const char last = from[n - 1];
    to[0] = from[0];
    to[n / 2] = middle;
    to[n - 1] = last;
  }
}

}  // namespace kube::detail
