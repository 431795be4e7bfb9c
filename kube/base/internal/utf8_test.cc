// No threads.

#include "kube/base/internal/utf8.h"

#include <gtest/gtest.h>

namespace kube::detail {
namespace {

TEST(QuotedTest, PlainTextIsPutInQuotes) {
  EXPECT_EQ(quoted(""), R"("")");
  EXPECT_EQ(quoted("web-1"), R"("web-1")");
  EXPECT_EQ(quoted("a b"), R"("a b")");
  EXPECT_EQ(quoted("größe 함수 😀"), "\"größe 함수 😀\"");
}

TEST(QuotedTest, QuotesAndUnprintableCharactersAreEscapedAsInGo) {
  EXPECT_EQ(quoted("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(quoted("\a\b\f\n\r\t\v"), R"("\a\b\f\n\r\t\v")");
  EXPECT_EQ(quoted(std::string_view("\0\x1f\x7f", 3)), R"("\x00\x1f\x7f")");
  EXPECT_EQ(quoted("\u0085\u00a0\u00ad\u200b\u2028\ufeff"),
            R"("\u0085\u00a0\u00ad\u200b\u2028\ufeff")");
  EXPECT_EQ(quoted("\U000E0001\U0010FFFF"), R"("\U000e0001\U0010ffff")");
}

TEST(QuotedTest, InvalidUtf8IsShownByteByByte) {
  EXPECT_EQ(quoted("\xff"
                   "a\xe4\xbd"),
            R"("\xffa\xe4\xbd")");
  EXPECT_EQ(quoted("\xed\xa0\x80"), R"("\xed\xa0\x80")");  // a surrogate
}

TEST(PrintableTest, VisibleCharactersAre) {
  for (const char32_t code : U" aZ~é漢\u0301😀\ufffd\ufffc") {
    EXPECT_EQ(isPrintable(code), code != 0) << static_cast<unsigned>(code);
  }
  for (const char32_t code : U"\n\x7f\u00a0\u3000\u200e\ue000\uffff\U0001ffff\U00100000") {
    EXPECT_FALSE(isPrintable(code)) << static_cast<unsigned>(code);
  }
}

TEST(DecodeUtf8Test, ReturnsLengthAndCodePoint) {
  char32_t code = 0;
  EXPECT_EQ(decodeUtf8("aé", 1, code), 2U);
  EXPECT_EQ(code, U'é');
  EXPECT_EQ(decodeUtf8("\xc0\x80", 0, code), 0U);
  EXPECT_EQ(decodeUtf8("\xf4\x90\x80\x80", 0, code), 0U);
  EXPECT_EQ(replaceInvalidUtf8("a\xff"
                               "b"),
            "a\uFFFDb");
}

}  // namespace
}  // namespace kube::detail
