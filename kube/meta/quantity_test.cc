#include "kube/meta/quantity.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace kube {
namespace {

constexpr std::int64_t kMaxInt64 = std::numeric_limits<std::int64_t>::max();

struct Case {
  const char* in;
  const char* text;
};

void expectTexts(std::initializer_list<Case> cases) {
  for (const auto& [in, text] : cases) {
    const Quantity parsed(in);
    EXPECT_EQ(parsed.text(), text) << in;
    EXPECT_EQ(Quantity(parsed.text()).text(), text) << in << ": the text must parse to itself";
    EXPECT_TRUE(Quantity::isCanonical(parsed.text())) << in;
    EXPECT_EQ(Quantity::isCanonical(in), parsed.text() == in) << in;
  }
}

std::string whyNot(std::string_view text) {
  Quantity out("7");
  std::string_view why;
  EXPECT_FALSE(Quantity::tryParse(text, out, &why)) << text;
  EXPECT_EQ(out.text(), "7") << "a failed parse must not touch its result";
  return std::string(why);
}

TEST(QuantityTest, ZeroedMemoryIsTheUnsetZero) {
  const Quantity unset;
  char zeros[sizeof unset] = {};
  EXPECT_EQ(std::memcmp(&unset, zeros, sizeof unset), 0);
  EXPECT_EQ(unset.text(), "0");
  EXPECT_TRUE(unset.isZero());
  EXPECT_TRUE(unset.isUnset());
  EXPECT_FALSE(Quantity("0").isUnset()) << "an explicit zero has to survive a round trip";
  EXPECT_EQ(unset, Quantity("0"));
}

TEST(QuantityTest, CanonicalTextIsKept) {
  expectTexts({{"0", "0"},
               {"1", "1"},
               {"100m", "100m"},
               {"-100m", "-100m"},
               {"1234567", "1234567"},
               {"1Ki", "1Ki"},
               {"8Ki", "8Ki"},
               {"512Mi", "512Mi"},
               {"1001Gi", "1001Gi"},
               {"3Ei", "3Ei"},
               {"5n", "5n"},
               {"50k", "50k"},
               {"300T", "300T"},
               {"1E", "1E"},
               {"12E", "12E"},
               {"1e3", "1e3"},
               {"80e-3", "80e-3"}});
}

TEST(QuantityTest, TextBecomesTheLargestSuffixWithoutFraction) {
  expectTexts({{"1024Mi", "1Gi"},
               {"307200Ki", "300Mi"},
               {"1025024Ki", "1001Mi"},
               {"1000M", "1G"},
               {"0.001T", "1G"},
               {"5000m", "5"},
               {"0.5", "500m"},
               {".5", "500m"},
               {"-0.1", "-100m"},
               {"1.5Gi", "1536Mi"},
               {"1.08", "1080m"},
               {"1080000000n", "1080m"},
               {"9.01", "9010m"},
               {"0.05Gi", "53687091200m"},
               {"100.035Ki", "102435840m"},
               {"8.1k", "8100"},
               {"0.0005k", "500m"},
               {"1e2", "100"},
               {"1e14", "100e12"},
               {"0.5e-1", "50e-3"},
               {".001e12", "1e9"},
               {"0.001e0", "1e-3"},
               {"1000e-12", "1e-9"}});
}

TEST(QuantityTest, BinaryAmountsThatNoBinarySuffixFitsAreDecimal) {
  expectTexts({{"0.5Ki", "512"},
               {".001Ki", "1024m"},
               {".000001Ki", "1024u"},
               {".000000001Ki", "1024n"},
               {".000000000001Ki", "2n"},
               {"-.000000000001Ki", "-2n"},
               {"312.5Ki", "320k"}});
}

TEST(QuantityTest, ZeroHasOneText) {
  expectTexts({{"0", "0"},
               {"00", "0"},
               {"-0", "0"},
               {"0.000", "0"},
               {"0Ki", "0"},
               {"0m", "0"},
               {"0e18", "0"},
               {"0.", "0"}});
}

// apimachinery does not rewrite these. If they were printed differently, server-side apply would
// see a change of the object.
TEST(QuantityTest, TextThatApimachineryPassesThroughIsKept) {
  expectTexts({{"+5", "+5"},
               {"005", "005"},
               {"5.", "5."},
               {"1.G", "1.G"},
               {"1.500", "1.500"},
               {"100.035k", "100.035k"},
               {"1E3", "1E3"},
               {"1e+3", "1e+3"},
               {"1e0", "1e0"}});
  EXPECT_EQ(Quantity("1.500").milliValue(), 1500);
  EXPECT_EQ(Quantity("+5") + Quantity("0"), Quantity("5"));
  EXPECT_EQ((Quantity("+5") + Quantity("0")).text(), "5") << "arithmetic prints anew";
}

TEST(QuantityTest, AmountsBelowANanoRoundAwayFromZero) {
  expectTexts({{"0.9n", "1n"},
               {"3.001n", "4n"},
               {"-3.001n", "-4n"},
               {"1.1E-9", "2e-9"},
               {"0.0000000001", "1n"},
               {"0.00000012345", "124n"},
               {"1e-1000", "1e-9"},
               {"1e-9223372036854775808", "1e-9"},
               {"0.000000000000000000000000000000000000000000001", "1n"}});
}

TEST(QuantityTest, HugeAmountsAreCapped) {
  expectTexts({{"9Ei", "9223372036854775807"},
               {"-9Ei", "-9223372036854775807"},
               {"9223372036854775807Ki", "9223372036854775807"},
               {"99999999999999999999999999999999999999999999Mi", "9223372036854775807"},
               {"1000E", "1000E"},
               {"1e28", "10e27"},
               {"1e29", "10e27"},
               {"-1e9223372036854775807", "-10e27"},
               {"99999999999E", "10000000000E"},
               {"9999999999999999999999999999999999999", "10000000000E"}});
}

TEST(QuantityTest, LongDigitStringsAreReadExactly) {
  const std::string zeros(60, '0');
  EXPECT_EQ(Quantity("1" + zeros + "e-57").text(), "1e3");
  EXPECT_EQ(Quantity("0." + zeros + "1e61").text(), "1");
  EXPECT_EQ(Quantity("1." + zeros + "1").text(), "1000000001n");
  EXPECT_EQ(Quantity("1." + zeros + "1Ki").text(), "1024000000001n");
}

TEST(QuantityTest, ErrorsCarryApimachinerysMessages) {
  const std::string format =
      "quantities must match the regular expression "
      "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  for (const char* text :
       {"", " 1", "1 ", "aoeu", "1.1.M", "1+1.0M", "0.1am", "+", "m", "Ki", "1\n"}) {
    EXPECT_EQ(whyNot(text), format) << text;
  }
  for (const char* text : {"0.1mi", ".5i", "1i", "-3.01e-", "1e", "1ee3", "1Ki5", "1K", "1e+",
                           "1e9223372036854775808"}) {
    EXPECT_EQ(whyNot(text), "unable to parse quantity's suffix") << text;
  }
  EXPECT_EQ(whyNot("."), "unable to parse numeric part of quantity");
  EXPECT_FALSE(Quantity::isCanonical(""));
  EXPECT_FALSE(Quantity::isCanonical("1x"));
  try {
    Quantity::parse("1x");
    FAIL();
  } catch (const QuantityError& error) {
    EXPECT_EQ(error.reason(), "\"1x\": " + format);
  }
}

TEST(QuantityTest, ADecodersCanonicalStringIsSharedNotCopied) {
  for (const char* text : {"512Mi", "100m", "0", "1.500", "3Ei", "1e3"}) {
    const String pooled(text);
    Quantity quantity;
    ASSERT_TRUE(Quantity::tryAdopt(pooled, quantity));
    EXPECT_TRUE(quantity.text().sharesWith(pooled)) << text;
    EXPECT_TRUE(Quantity::fromCanonical(pooled).text().sharesWith(pooled)) << text;
  }
  Quantity quantity;
  ASSERT_TRUE(Quantity::tryAdopt("1024Mi", quantity));
  EXPECT_EQ(quantity.text(), "1Gi");
  EXPECT_FALSE(Quantity::tryAdopt("Mi", quantity));
}

TEST(QuantityTest, TheTextDeterminesTheFormat) {
  EXPECT_EQ(Quantity().format(), Quantity::DecimalSI);
  EXPECT_EQ(Quantity("1E").format(), Quantity::DecimalSI);
  EXPECT_EQ(Quantity("500m").format(), Quantity::DecimalSI);
  EXPECT_EQ(Quantity("1Ki").format(), Quantity::BinarySI);
  EXPECT_EQ(Quantity("1e3").format(), Quantity::DecimalExponent);
  EXPECT_EQ(Quantity("1E3").format(), Quantity::DecimalExponent);
}

TEST(QuantityTest, IsMadeOfNumbers) {
  EXPECT_EQ(Quantity::of(1000).text(), "1k");
  EXPECT_EQ(Quantity::of(1234000).text(), "1234k");
  EXPECT_EQ(Quantity::of(1024, Quantity::BinarySI).text(), "1Ki");
  EXPECT_EQ(Quantity::of(1024 * 1024, Quantity::BinarySI).text(), "1Mi");
  EXPECT_EQ(Quantity::of(5, Quantity::BinarySI).text(), "5");
  EXPECT_EQ(Quantity::of(1025, Quantity::BinarySI).text(), "1025");
  EXPECT_EQ(Quantity::of(1000000, Quantity::DecimalExponent).text(), "1e6");
  EXPECT_EQ(Quantity::of(std::numeric_limits<std::int64_t>::min()).text(), "-9223372036854775808");
  EXPECT_EQ(Quantity::ofMilli(1).text(), "1m");
  EXPECT_EQ(Quantity::ofMilli(1024, Quantity::BinarySI).text(), "1024m");
  EXPECT_EQ(Quantity::ofMilli(1024 * 1024, Quantity::BinarySI).text(), "1048576m");
  EXPECT_EQ(Quantity::ofMilli(1000000, Quantity::DecimalExponent).text(), "1e3");
  EXPECT_EQ(Quantity::ofScaled(1, Quantity::Nano).text(), "1n");
  EXPECT_EQ(Quantity::ofScaled(-11, -10).text(), "-2n");
  EXPECT_EQ(Quantity::ofScaled(1, -1000).text(), "1n");
  EXPECT_EQ(Quantity::ofScaled(1, 1000).text(), "10000000000E");
  EXPECT_EQ(Quantity::ofScaled(0, 2000000000).text(), "0");
  EXPECT_EQ(Quantity(3).text(), "3");
  EXPECT_EQ(Quantity(0).text(), "0");
}

TEST(QuantityTest, ValuesRoundAwayFromZero) {
  EXPECT_EQ(Quantity("1500m").value(), 2);
  EXPECT_EQ(Quantity("-1500m").value(), -2);
  EXPECT_EQ(Quantity("1n").value(), 1);
  EXPECT_EQ(Quantity("1n").milliValue(), 1);
  EXPECT_EQ(Quantity("1Gi").value(), 1 << 30);
  EXPECT_EQ(Quantity("1").milliValue(), 1000);
  EXPECT_EQ(Quantity("100").scaledValue(-2), 10000);
  EXPECT_EQ(Quantity("1m").scaledValue(Quantity::Nano), 1000000);
  EXPECT_EQ(Quantity("1").scaledValue(-12), 1000000000000);
  EXPECT_EQ(Quantity("1").scaledValue(1000), 1);
  EXPECT_EQ(Quantity("-1").scaledValue(40), -1);
  EXPECT_EQ(Quantity("0").scaledValue(-2000000000), 0);
}

TEST(QuantityTest, ValuesSaturate) {
  EXPECT_EQ(Quantity("12E").value(), kMaxInt64);
  EXPECT_EQ(Quantity("-12E").value(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(Quantity("1E").milliValue(), kMaxInt64);
  EXPECT_EQ(Quantity("1e28").scaledValue(-1000), kMaxInt64);
}

TEST(QuantityTest, IntegersAreExactOrNone) {
  EXPECT_EQ(Quantity("9223372036854775807").asInt64(), kMaxInt64);
  EXPECT_EQ(Quantity("9223372036854775808").asInt64(), std::nullopt);
  EXPECT_EQ(Quantity("1000m").asInt64(), 1);
  EXPECT_EQ(Quantity("1500m").asInt64(), std::nullopt);
}

TEST(QuantityTest, ConvertsToDouble) {
  EXPECT_EQ(Quantity("2Ki").asDouble(), 2048);
  EXPECT_EQ(Quantity("1.1Ki").asDouble(), 1126.4);
  EXPECT_EQ(Quantity("100m").asDouble(), 0.1);
  EXPECT_EQ(Quantity("12E").asDouble(), 1.2e19);
  EXPECT_EQ(Quantity("1n").asDouble(), 1e-9);
  EXPECT_EQ(Quantity("-9223372036854775807").asDouble(), -9223372036854775807.0);
}

TEST(QuantityTest, ComparesByNumberAndSpellingOnRequest) {
  EXPECT_EQ(Quantity("1000m"), Quantity("1"));
  EXPECT_EQ(Quantity("1.500"), Quantity("1500m"));
  EXPECT_FALSE(Quantity("1.500").sameText(Quantity("1500m")));
  EXPECT_EQ(Quantity("1Ki"), Quantity("1024"));
  EXPECT_FALSE(Quantity("1Ki").sameText(Quantity("1024")));
  EXPECT_TRUE(Quantity("1000m").sameText(Quantity("1")));
  EXPECT_LT(Quantity("50m"), Quantity("100m"));
  EXPECT_GT(Quantity("10000T"), Quantity("100Gi"));
  EXPECT_LT(Quantity("-1"), Quantity());
  EXPECT_EQ(Quantity("2").cmp("1"), 1);
  EXPECT_TRUE(Quantity("2k") == "2000" && Quantity("2k") > 1999);
  EXPECT_EQ(Quantity("-1n").sign(), -1);
}

TEST(QuantityTest, SumsKeepTheLeftFormatOrTakeTheRightWhenLeftIsZero) {
  EXPECT_EQ((Quantity("1Gi") + Quantity("1Gi")).text(), "2Gi");
  EXPECT_EQ((Quantity("1Gi") + Quantity("1024")).text(), "1048577Ki");
  EXPECT_EQ((Quantity("1024") + Quantity("1Ki")).text(), "2048");
  EXPECT_EQ((Quantity("0") + Quantity("1Gi")).text(), "1Gi");
  EXPECT_EQ((Quantity() + Quantity("1e3")).text(), "1e3");
  EXPECT_EQ((Quantity("1Gi") + Quantity()).text(), "1Gi");
  EXPECT_EQ((Quantity("0") - Quantity("1Gi")).text(), "-1Gi");
  EXPECT_EQ((Quantity("100m") - Quantity("0")).text(), "100m");
  EXPECT_EQ((Quantity("1e3") + Quantity("1")).text(), "1001");
  EXPECT_EQ((Quantity("100m") + Quantity("900m")).text(), "1");
  EXPECT_EQ((Quantity("1Mi") - Quantity("1Mi")).text(), "0");
  EXPECT_EQ((-Quantity("9.01")).text(), "-9010m");
  EXPECT_EQ((-Quantity()).text(), "0");
  EXPECT_EQ((Quantity("250m") * 4).text(), "1");
  EXPECT_EQ((-3 * Quantity("1Gi")).text(), "-3Gi");
}

TEST(QuantityTest, ABinarySumBeyondWhatParsingAllowsStaysExact) {
  const Quantity sum = Quantity("7Ei") + Quantity("7Ei");
  EXPECT_EQ(sum.text(), "16140901064495857664");
  EXPECT_EQ(sum - Quantity("7Ei"), Quantity("7Ei"));
}

TEST(QuantityTest, ArithmeticIsCapped) {
  const Quantity most("1e28");
  EXPECT_EQ(most + most, most);
  EXPECT_EQ(-most - most, -most);
  EXPECT_EQ(most * kMaxInt64, most);
  EXPECT_EQ(most * -kMaxInt64, -most);
  EXPECT_EQ(-most * -2, most);
}

TEST(QuantityTest, AddingAndSubtractingCancel) {
  std::mt19937_64 random(1);
  Quantity sum;
  std::vector<Quantity> added;
  for (int i = 0; i < 200; ++i) {
    const auto value = static_cast<std::int64_t>(random() >> 8);
    added.push_back(Quantity::ofScaled(value, static_cast<int>(random() % 15) - 9));
    sum += added.back();
  }
  for (const Quantity& quantity : added) sum -= quantity;
  EXPECT_TRUE(sum.isZero()) << sum;
}

TEST(QuantityTest, RoundsUpToAScale) {
  const auto rounded = [](const char* text, int scale, bool exact) {
    Quantity quantity(text);
    EXPECT_EQ(quantity.roundUp(scale), exact) << text << ' ' << scale;
    return quantity;
  };
  EXPECT_EQ(rounded("9.01", -2, true), Quantity("9.01"));
  EXPECT_EQ(rounded("9.01", -1, false), Quantity("9.1"));
  EXPECT_EQ(rounded("9.01", 0, false), Quantity("10"));
  EXPECT_EQ(rounded("9.01", 2, false), Quantity("100"));
  EXPECT_EQ(rounded("-9.01", 1, false), Quantity("-10"));
  EXPECT_EQ(rounded("1n", -100, true), Quantity("1n"));
  EXPECT_EQ(rounded("1", 100, false), Quantity("1e28"));
}

TEST(QuantityTest, ReadsNaturallyInResourceLists) {
  std::map<std::string, Quantity> limits;
  limits["cpu"] = "500m";
  limits["memory"] = std::string("1024Mi");
  limits["pods"] = 110;
  EXPECT_EQ(limits["memory"].text(), "1Gi");
  std::ostringstream out;
  out << limits["cpu"] << ' ' << limits["nothing"];
  EXPECT_EQ(out.str(), "500m 0");
  EXPECT_EQ(fmt::format("[{:>5}]", limits["pods"]), "[  110]");
}

}  // namespace
}  // namespace kube
