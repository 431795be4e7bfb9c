// A block of IPv4 addresses, such as 10.0.1.0/24. Two blocks are disjoint, or one contains the
// other.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace network {

struct Ipv4Block {
  std::uint32_t first = 0;
  int prefix = 32;  // 0 to 32

  /// Throws kube::Error if the text is not a CIDR, or its address is not the first of the block.
  static Ipv4Block parse(std::string_view text);

  std::uint32_t last() const { return first | ~mask(prefix); }
  bool contains(std::uint32_t address) const { return first <= address && address <= last(); }
  bool overlaps(const Ipv4Block& other) const {
    return first <= other.last() && other.first <= last();
  }
  std::string str() const;

  static std::uint32_t mask(int prefix) {
    return prefix == 0 ? 0 : ~std::uint32_t{0} << (32 - prefix);
  }

  auto operator<=>(const Ipv4Block&) const = default;
};

/// Both throw kube::Error.
std::uint32_t parseAddress(std::string_view text);
int parsePrefix(std::string_view digits);

std::string formatAddress(std::uint32_t address);

}  // namespace network
