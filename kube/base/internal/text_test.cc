// No threads.
#include "kube/base/internal/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

namespace kube::detail {
namespace {

using ::testing::ElementsAre;

TEST(TextTest, LowerAndUpperChangeOnlyAsciiLetters) {
  EXPECT_EQ(lower("AbZ-9\xC3\x84"), "abz-9\xC3\x84");
  EXPECT_EQ(upper("abz-9\xC3\xA4"), "ABZ-9\xC3\xA4");
  EXPECT_TRUE(equalIgnoringCase("Content-Type", "content-tYPE"));
  EXPECT_FALSE(equalIgnoringCase("a", "ab"));
  EXPECT_FALSE(equalIgnoringCase("[", "{"));  // they differ by the same bit as letters
}

TEST(TextTest, HexDigits) {
  EXPECT_EQ(hexValue('0'), 0);
  EXPECT_EQ(hexValue('a'), 10);
  EXPECT_EQ(hexValue('F'), 15);
  EXPECT_EQ(hexValue('g'), -1);
  EXPECT_EQ(hexValue('\0'), -1);
}

TEST(TextTest, ANumberIsTheWholeTextAndFits) {
  EXPECT_EQ(parseNumber<int>("42"), 42);
  EXPECT_EQ(parseNumber<int>("-1"), -1);
  EXPECT_EQ(parseNumber<int>("ff", 16), 255);
  EXPECT_EQ(parseNumber<std::uint8_t>("255"), 255);
  for (const char* text : {"", " 1", "1 ", "+1", "1x", "0x1", "99999999999"}) {
    EXPECT_EQ(parseNumber<int>(text), std::nullopt) << text;
  }
  EXPECT_EQ(parseNumber<std::uint8_t>("256"), std::nullopt);
  EXPECT_EQ(parseNumber<unsigned>("-1"), std::nullopt);
}

TEST(TextTest, PiecesAreCutOffTheFront) {
  std::string_view rest = "a,,b";
  EXPECT_EQ(cut(rest, ','), "a");
  EXPECT_EQ(cut(rest, ','), "");
  EXPECT_EQ(cut(rest, ','), "b");
  EXPECT_TRUE(rest.empty());
}

TEST(TextTest, SplittingKeepsEmptyPieces) {
  EXPECT_THAT(split("", ','), ElementsAre(""));
  EXPECT_THAT(split("a", ','), ElementsAre("a"));
  EXPECT_THAT(split(",a,", ','), ElementsAre("", "a", ""));
}

TEST(TextTest, Trimming) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
}

}  // namespace
}  // namespace kube::detail
