#include "kube/meta/selectors/field_selector.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "kube/base/error.h"

namespace kube::fields {
namespace {

using enum SelectorOperator;
using testing::ElementsAre;
using Fields = Map<String>;

TEST(FieldSelectorParseTest, ReadsBackAsItWasPrinted) {
  for (const std::string_view text :
       {"x=a,y=b,z=c", "", "x!=a,y=b", R"(x=a||y\=b)", R"(x=a\=\=b)", "x=", "x!=", "=a", "함=수",
        R"(k=\,,l=v2)", R"(k=\\,l=v2)", R"(k=\\\,,l=v2)", R"(a\,b=c)", R"(a\=b)", "a!!=b",
        "metadata.name=web 1"}) {
    const Selector selector = Selector::parse(text);
    EXPECT_EQ(selector.str(), text);
    EXPECT_EQ(Selector::parse(selector.str()), selector);
  }
}

TEST(FieldSelectorParseTest, SplitsTerms) {
  EXPECT_THAT(Selector::parse("a=avalue,b==bvalue,c!=cvalue").requirements(),
              ElementsAre(Requirement{"a", Equals, "avalue"}, Requirement{"b", Equals, "bvalue"},
                          Requirement{"c", NotEquals, "cvalue"}));
  EXPECT_THAT(Selector::parse(R"(k=\\\=\,,l=v2)").requirements(),
              ElementsAre(Requirement{"k", Equals, R"(\=,)"}, Requirement{"l", Equals, "v2"}));
  EXPECT_THAT(Selector::parse(R"(a\=b)").requirements(),
              ElementsAre(Requirement{"a\\", Equals, "b"}));
}

TEST(FieldSelectorParseTest, IgnoresEmptyTerms) {
  EXPECT_EQ(Selector::parse("a=a,"), Selector::parse("a=a"));
  EXPECT_EQ(Selector::parse(",a=a"), Selector::parse("a=a"));
  EXPECT_EQ(Selector::parse(",,"), Selector());
  EXPECT_EQ(Selector::parse("=,!=,=="), Selector());
}

TEST(FieldSelectorParseTest, IsTheSameInAnyOrder) {
  EXPECT_EQ(Selector::parse("x=a,a=x"), Selector::parse("a=x,x=a"));
  EXPECT_EQ(Selector::parse("a==z,a=b"), Selector::parse("a=b,a=z"));
  EXPECT_EQ(Selector::parse("b=1,a!=2,a=1").str(), "a!=2,a=1,b=1");
}

std::string errorOf(std::string_view text) {
  try {
    Selector::parse(text);
    return "";
  } catch (const DecodeError& e) {
    EXPECT_EQ(e.format(), "field selector");
    return fmt::format("{} {}", e.offset().value(), e.reason());
  }
}

TEST(FieldSelectorParseTest, ReportsErrorsWithTheirPosition) {
  EXPECT_EQ(errorOf("x=a||y=b"), R"(6 unescaped character in value: '=': write \= for it)");
  EXPECT_EQ(errorOf("x==a==b"), R"(4 unescaped character in value: '=': write \= for it)");
  EXPECT_EQ(errorOf("x!==b"), R"(3 unescaped character in value: '=': write \= for it)");
  EXPECT_EQ(errorOf("x=a,b"), "4 can't understand 'b': expected a field, =, == or != and a value");
  EXPECT_EQ(errorOf("x in (a,b)"),
            "0 can't understand 'x in (a': expected a field, =, == or != and a value");
  EXPECT_EQ(errorOf("x"), "0 can't understand 'x': expected a field, =, == or != and a value");
  EXPECT_EQ(errorOf(R"(x=a\)"), R"(3 invalid escape sequence: \)");
  EXPECT_EQ(errorOf(R"(x=\a)"), R"(2 invalid escape sequence: \a)");
  EXPECT_EQ(errorOf("y=1,x=\\함"), "6 invalid escape sequence: \\함");
}

TEST(FieldSelectorValueTest, IsEscaped) {
  const std::pair<std::string_view, std::string_view> pairs[] = {
      {"", ""},       {"a", "a"},      {"=", R"(\=)"},
      {",", R"(\,)"}, {"\\", R"(\\)"}, {R"(\=\,\)", R"(\\\=\\\,\\)"}};
  for (const auto& [value, escaped] : pairs) {
    EXPECT_EQ(escapeValue(value), escaped);
    EXPECT_EQ(unescapeValue(escaped), value);
  }
  for (const std::string_view bad : {R"(\)", R"(\\\)", R"(\a)", ",", "="}) {
    EXPECT_THROW(unescapeValue(bad), DecodeError) << bad;
  }
}

void expectMatch(std::string_view text, const Fields& fields, bool matches = true) {
  const Selector selector = Selector::parse(text);
  EXPECT_EQ(selector.matches(fields), matches) << text;
  EXPECT_EQ(selector.matches([&](std::string_view field) { return fields[field]; }), matches);
  EXPECT_EQ(selector.matches([&](std::string_view field) { return fields[field].str(); }), matches);
  EXPECT_EQ(selector.matches([&](std::string_view field) {
    return fields.contains(field) ? std::optional(fields[field].view()) : std::nullopt;
  }),
            matches);
}

TEST(FieldSelectorTest, Matches) {
  expectMatch("", {{"x", "y"}});
  expectMatch("x=y", {{"x", "y"}});
  expectMatch("x=y,z=w", {{"x", "y"}, {"z", "w"}});
  expectMatch("x!=y,z!=w", {{"x", "z"}, {"z", "a"}});
  expectMatch("notin=in", {{"notin", "in"}});
  expectMatch("x=", {});
  expectMatch("x!=y", {});
  expectMatch("x!=", {}, false);
  expectMatch("x=y", {{"x", "z"}}, false);
  expectMatch("x=y,z=w", {{"x", "w"}, {"z", "w"}}, false);
  expectMatch("x!=y,z!=w", {{"x", "z"}, {"z", "w"}}, false);
  const Fields fields{{"foo", "bar"}, {"baz", "blah"}, {"complex", R"(=value\,\)"}};
  expectMatch(R"(foo=bar,baz=blah,complex=\=value\\\,\\)", fields);
  expectMatch("foo=blah", fields, false);
  expectMatch("foo=bar,foobar=bar,baz=blah", fields, false);
}

TEST(FieldSelectorTest, IsMadeFromTerms) {
  EXPECT_TRUE(Selector::oneTermEqual("x", "y").matches(Fields{{"x", "y"}}));
  EXPECT_FALSE(Selector::oneTermEqual("x", "y").matches(Fields{{"x", "z"}}));
  EXPECT_FALSE(Selector::oneTermNotEqual("x", "y").matches(Fields{{"x", "y"}}));
  EXPECT_EQ(Selector::oneTermEqual("metadata.name", "a,b").str(), R"(metadata.name=a\,b)");
  EXPECT_EQ(Selector::oneTermNotEqual("a", "b").str(), "a!=b");
  EXPECT_FALSE(Selector::oneTermEqual("", "").empty());
}

TEST(FieldSelectorTest, FromASetMatchesThoseFields) {
  const Fields fields{{"foo", "bar"}, {"baz", "blah"}};
  EXPECT_TRUE(Selector::fromSet({}).empty());
  EXPECT_TRUE(Selector::fromSet(fields).matches(fields));
  EXPECT_TRUE(Selector::fromSet({{"foo", "bar"}}).matches(fields));
  EXPECT_FALSE(Selector::fromSet({{"foo", "=blah"}}).matches(fields));
  EXPECT_EQ(Selector::fromSet(fields).str(), "baz=blah,foo=bar");
}

TEST(FieldSelectorTest, OfSeveralMatchesIfAllMatch) {
  const Selector both = Selector::andSelectors(
      {Selector::oneTermEqual("a", "1"), Selector(), Selector::oneTermNotEqual("b", "2")});
  EXPECT_EQ(both.str(), "a=1,b!=2");
  EXPECT_TRUE(Selector::andSelectors({Selector(), Selector()}).empty());
  EXPECT_EQ(Selector::andSelectors({both, Selector::nothing()}), Selector::nothing());
}

TEST(FieldSelectorTest, EverythingAndNothingAreOpposites) {
  EXPECT_TRUE(Selector::everything().matches(Fields{}));
  EXPECT_TRUE(Selector::everything().empty());
  EXPECT_FALSE(Selector::nothing().matches(Fields{}));
  EXPECT_FALSE(Selector::nothing().matches([](std::string_view) { return ""; }));
  EXPECT_FALSE(Selector::nothing().empty());
  EXPECT_TRUE(Selector::nothing().matchesNothing());
  EXPECT_NE(Selector::nothing(), Selector::everything());
}

TEST(FieldSelectorTest, ReturnsTheOnlyValueThatAFieldMayHave) {
  EXPECT_EQ(Selector().requiresExactMatch("test"), std::nullopt);
  EXPECT_EQ(Selector::oneTermEqual("a", "b").requiresExactMatch("test"), std::nullopt);
  EXPECT_EQ(Selector::oneTermEqual("test", "b").requiresExactMatch("test"), "b");
  EXPECT_EQ(Selector::oneTermEqual("test", "").requiresExactMatch("test"), "");
  EXPECT_EQ(Selector::oneTermNotEqual("test", "b").requiresExactMatch("test"), std::nullopt);
  EXPECT_EQ(Selector::parse("a=b,test!=a,test=b").requiresExactMatch("test"), "b");
}

TEST(FieldSelectorTest, IsTransformed) {
  const auto keep = [](const String& field, const String& value) {
    return std::pair(field, value);
  };
  EXPECT_EQ(Selector::parseAndTransform("", keep).str(), "");
  EXPECT_EQ(Selector::parseAndTransform("a=b,c=d", keep).str(), "a=b,c=d");
  EXPECT_EQ(Selector::parseAndTransform("a=b,c!=d",
                                        [](const String& field, const String& value) {
                                          return field == "a" ? std::pair<String, String>("e", "f")
                                                              : std::pair(field, value);
                                        })
                .str(),
            "e=f,c!=d");
  const auto drop = [](const String&, const String&) { return std::pair<String, String>(); };
  EXPECT_TRUE(Selector::parseAndTransform("a=b", drop).empty());
  EXPECT_EQ(Selector::parseAndTransform("a=b,c=d,e=f",
                                        [](const String& field, const String& value) {
                                          return field == "c" ? std::pair<String, String>()
                                                              : std::pair(field, value);
                                        })
                .str(),
            "a=b,e=f");
  EXPECT_THROW(Selector::parse("a=b").transform(
                   [](const String&, const String&) -> std::pair<String, String> {
                     throw Error("field label not supported: a");
                   }),
               Error);
  EXPECT_EQ(Selector::nothing().transform(keep), Selector::nothing());
}

TEST(FieldSelectorTest, StreamsAndFormats) {
  std::ostringstream out;
  out << Selector::parse("b==1");
  EXPECT_EQ(out.str(), "b=1");
  EXPECT_EQ(fmt::format("{}", Selector::parse("b==1")), "b=1");
}

}  // namespace
}  // namespace kube::fields
