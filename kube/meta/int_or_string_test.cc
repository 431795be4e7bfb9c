#include "kube/meta/int_or_string.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <sstream>
#include <string>

#include "kube/base/error.h"

namespace kube {
namespace {

TEST(IntOrStringTest, ZeroedMemoryIsTheNumberZero) {
  alignas(IntOrString) char zeros[sizeof(IntOrString)] = {};
  const auto& value = *reinterpret_cast<const IntOrString*>(zeros);
  EXPECT_EQ(value, IntOrString());
  EXPECT_EQ(value, 0);
  EXPECT_FALSE(value.isString());
}

TEST(IntOrStringTest, RemembersWhetherItIsANumberOrAString) {
  const IntOrString number = 80;
  const IntOrString text = "80";
  EXPECT_FALSE(number.isString());
  EXPECT_TRUE(text.isString());
  EXPECT_NE(number, text);
  EXPECT_EQ(number.str(), "80");
  EXPECT_EQ(text.str(), "80");
  EXPECT_EQ(number.stringValue(), "");
  EXPECT_EQ(text.stringValue(), "80");
  EXPECT_NE(IntOrString(""), IntOrString(0));
}

TEST(IntOrStringTest, SharesTheStringItIsMadeOf) {
  const String pooled("http");
  EXPECT_TRUE(IntOrString(pooled).stringValue().sharesWith(pooled));
  EXPECT_EQ(IntOrString(std::string("http")), IntOrString(std::string_view("http")));
}

TEST(IntOrStringTest, TakesTheNumberOutOfAString) {
  EXPECT_EQ(IntOrString(-7).intValue(), -7);
  EXPECT_EQ(IntOrString("123").intValue(), 123);
  EXPECT_EQ(IntOrString("+123").intValue(), 123);
  EXPECT_EQ(IntOrString("http").intValue(), 0);
  EXPECT_EQ(IntOrString("12x").intValue(), 0);
  EXPECT_EQ(IntOrString("+-1").intValue(), 0);
  EXPECT_EQ(IntOrString("").intValue(), 0);
  EXPECT_EQ(IntOrString("99999999999999999999").intValue(),
            std::numeric_limits<std::int64_t>::max());
}

TEST(IntOrStringTest, ParsesToANumberOnlyWhatFitsInt32) {
  EXPECT_EQ(IntOrString::parse("0"), 0);
  EXPECT_EQ(IntOrString::parse("+5"), 5);
  EXPECT_EQ(IntOrString::parse("2147483647"), 2147483647);
  EXPECT_EQ(IntOrString::parse("-2147483648"), std::numeric_limits<std::int32_t>::min());
  for (const char* text :
       {"2147483648", "-2147483649", "9223372036854775807", "9223372036854775808",
        "-9223372036854775809", "", "http", "50%", "1.5", " 1"}) {
    EXPECT_EQ(IntOrString::parse(text), IntOrString(text)) << text;
  }
}

TEST(IntOrStringTest, ScalesPercentages) {
  EXPECT_EQ(IntOrString(123).scaledValue(7, true), 123);
  EXPECT_EQ(IntOrString("90%").scaledValue(100, true), 90);
  EXPECT_EQ(IntOrString("90%").scaledValue(95, true), 86);
  EXPECT_EQ(IntOrString("90%").scaledValue(95, false), 85);
  EXPECT_EQ(IntOrString("-90%").scaledValue(95, true), -85);
  EXPECT_EQ(IntOrString("-90%").scaledValue(95, false), -86);
  EXPECT_EQ(IntOrString("25%").scaledValue(0, true), 0);
  EXPECT_EQ(IntOrString("200%").scaledValue(std::numeric_limits<std::int64_t>::max(), true),
            std::numeric_limits<std::int64_t>::max());
}

TEST(IntOrStringTest, OnlyPercentagesScale) {
  for (const char* text : {"%", "90#", "#%", "90", "a", "30%0", "40%%", ""}) {
    EXPECT_THROW(IntOrString(text).scaledValue(100, true), DecodeError) << text;
  }
}

TEST(IntOrStringTest, StreamsAndFormats) {
  std::ostringstream out;
  out << IntOrString(80) << ' ' << IntOrString("http");
  EXPECT_EQ(out.str(), "80 http");
  EXPECT_EQ(fmt::format("{} {}", IntOrString(80), IntOrString("http")), "80 http");
}

}  // namespace
}  // namespace kube
