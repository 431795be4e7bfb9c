// No threads.

#include "examples/network-controller/ipv4_block.h"

#include <gtest/gtest.h>

#include "kube/base/error.h"

namespace network {
namespace {

TEST(Ipv4BlockTest, ParsesAndFormats) {
  const Ipv4Block block = Ipv4Block::parse("10.1.16.0/20");
  EXPECT_EQ(block.str(), "10.1.16.0/20");
  EXPECT_EQ(formatAddress(block.last()), "10.1.31.255");
  EXPECT_EQ(Ipv4Block::parse("0.0.0.0/0").last(), ~std::uint32_t{0});
  EXPECT_EQ(Ipv4Block::parse("255.255.255.255/32").first, ~std::uint32_t{0});
}

TEST(Ipv4BlockTest, DetectsOverlaps) {
  const Ipv4Block block = Ipv4Block::parse("10.1.0.0/16");
  EXPECT_TRUE(block.overlaps(Ipv4Block::parse("10.1.255.0/24")));
  EXPECT_TRUE(Ipv4Block::parse("10.1.255.0/24").overlaps(block));
  EXPECT_TRUE(block.overlaps(block));
  EXPECT_FALSE(block.overlaps(Ipv4Block::parse("10.2.0.0/16")));
  EXPECT_TRUE(block.contains(parseAddress("10.1.2.3")));
  EXPECT_FALSE(block.contains(parseAddress("10.2.2.3")));
}

TEST(Ipv4BlockTest, RefusesWrongText) {
  const auto refusal = [](std::string_view text) -> std::string {
    try {
      Ipv4Block::parse(text);
    } catch (const kube::Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal("10.0.0.0"), "\"10.0.0.0\" is not a CIDR: expected one such as 10.0.0.0/16");
  EXPECT_EQ(refusal("10.0.0/8"),
            "\"10.0.0\" is not an IPv4 address: expected one such as 10.0.0.1");
  EXPECT_EQ(refusal("10.0.0.1/8"),
            "\"10.0.0.1/8\" is not the first address of its block 10.0.0.0/8");
  EXPECT_EQ(refusal("10.0.0.0/33"), "\"/33\" is not a prefix length: expected /0 to /32");
  for (const char* text :
       {"", "/", "x", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8x", "10.0.0.0/ 8", "fd00::/8",
        "10.0.0.256/8", "010.0.0.0/8", " 10.0.0.0/8", "10.0.0.0/99999999999999999999"}) {
    EXPECT_NE(refusal(text), "") << text;
  }
  EXPECT_NE(refusal(std::string_view("10.0.0.0\0/8", 11)), "");
}

}  // namespace
}  // namespace network
