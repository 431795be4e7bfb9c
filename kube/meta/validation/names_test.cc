#include "kube/meta/validation/names.h"

#include <gtest/gtest.h>

#include <set>

#include "kube/meta/validation/validation.h"

namespace kube {
namespace {

TEST(GenerateNameTest, AppendsFiveCharacters) {
  const std::string name = generateName("web-");
  EXPECT_EQ(name.size(), 9U);
  EXPECT_TRUE(name.starts_with("web-"));
  EXPECT_EQ(name.find_first_not_of("bcdfghjklmnpqrstvwxz2456789", 4), std::string::npos) << name;
}

TEST(GenerateNameTest, CutsTheBaseSoThatTheNameIsALabel) {
  const std::string base(58, 'a');
  EXPECT_EQ(generateName(base).size(), 63U);
  const std::string name = generateName(base + std::string(200, 'b'));
  EXPECT_EQ(name.size(), 63U);
  EXPECT_TRUE(name.starts_with(base));
  EXPECT_TRUE(validation::isDNS1123Label(name).empty());
}

TEST(GenerateNameTest, GivesDifferentNames) {
  std::set<std::string> names;
  for (int i = 0; i < 50; ++i) names.insert(generateName(""));
  EXPECT_GT(names.size(), 45U);
}

TEST(SimpleNameGeneratorTest, TakesItsRandomnessFromASource) {
  EXPECT_EQ(SimpleNameGenerator([] { return 0.0; }).generateName("a-"), "a-bbbbb");
  EXPECT_EQ(SimpleNameGenerator([] { return 0.9999999; }).generateName("a-"), "a-99999");
  double next = 0;
  SimpleNameGenerator names([&] { return (next += 1) / 27; });
  NameGenerator& any = names;
  EXPECT_EQ(any.generateName(""), "cdfgh");
}

TEST(RandomStringTest, UsesEveryCharacter) {
  EXPECT_EQ(randomString(0), "");
  const std::string text = randomString(5000);
  EXPECT_EQ(std::set<char>(text.begin(), text.end()).size(), 27U);
}

TEST(SafeEncodeStringTest, IsUpstreams) {
  EXPECT_EQ(safeEncodeString(""), "");
  // '0' is 48, and 48 modulo 27 is 21.
  EXPECT_EQ(safeEncodeString("0123456789"), "456789bcdf");
  EXPECT_EQ(safeEncodeString("6d8b9f"), safeEncodeString("6d8b9f"));
}

}  // namespace
}  // namespace kube
