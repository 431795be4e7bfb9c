// No threads.
#include "kube/codec/internal/varint.h"

#include <gtest/gtest.h>

#include <string>

namespace kube::detail {
namespace {

std::string written(std::uint64_t value) {
  std::string bytes(varintLength(value), '?');
  writeVarint(bytes.data(), value);
  return bytes;
}

TEST(VarintTest, HasSevenBitsPerByteTheLowestFirst) {
  EXPECT_EQ(written(0), std::string(1, '\0'));
  EXPECT_EQ(written(0x7f), "\x7f");
  EXPECT_EQ(written(0x80), "\x80\x01");
  EXPECT_EQ(written(300), "\xac\x02");
  EXPECT_EQ(written(~std::uint64_t{0}), "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

TEST(VarintTest, IsAsLongAsItsHighestBitSays) {
  for (unsigned bits = 1; bits <= 64; ++bits) {
    const std::uint64_t highest = std::uint64_t{1} << (bits - 1);
    EXPECT_EQ(varintLength(highest), (bits + 6) / 7) << bits;
    EXPECT_EQ(varintLength(highest + (highest - 1)), (bits + 6) / 7) << bits;
  }
}

}  // namespace
}  // namespace kube::detail
