#include "examples/network-controller/ipv4_block.h"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <charconv>

#include "kube/base/error.h"

namespace network {

std::uint32_t parseAddress(std::string_view text) {
  in_addr address{};
  if (text.find('\0') != std::string_view::npos ||
      inet_pton(AF_INET, std::string(text).c_str(), &address) != 1) {
    throw kube::Error(
        fmt::format("\"{}\" is not an IPv4 address: expected one such as 10.0.0.1", text));
  }
  return ntohl(address.s_addr);
}

int parsePrefix(std::string_view digits) {
  int prefix = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), prefix);
  if (error != std::errc() || end != digits.data() + digits.size() || prefix < 0 || prefix > 32) {
    throw kube::Error(fmt::format("\"/{}\" is not a prefix length: expected /0 to /32", digits));
  }
  return prefix;
}

Ipv4Block Ipv4Block::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    throw kube::Error(fmt::format("\"{}\" is not a CIDR: expected one such as 10.0.0.0/16", text));
  }
  const std::uint32_t address = parseAddress(text.substr(0, slash));
  const int prefix = parsePrefix(text.substr(slash + 1));
  const Ipv4Block block{address & mask(prefix), prefix};
  if (block.first != address) {
    throw kube::Error(
        fmt::format("\"{}\" is not the first address of its block {}", text, block.str()));
  }
  return block;
}

std::string Ipv4Block::str() const { return fmt::format("{}/{}", formatAddress(first), prefix); }

std::string formatAddress(std::uint32_t address) {
  return fmt::format("{}.{}.{}.{}", address >> 24, (address >> 16) & 255, (address >> 8) & 255,
                     address & 255);
}

}  // namespace network
