#include "kube/meta/selectors/label_selector.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace kube::labels {
namespace {

using enum SelectorOperator;
using testing::ElementsAre;
using testing::HasSubstr;
using Labels = Map<String>;

Requirement need(String key, SelectorOperator op, List<String> values = {}) {
  return Requirement(std::move(key), op, std::move(values));
}

TEST(LabelSelectorParseTest, ReadsBackAsItWasPrinted) {
  for (std::string text :
       {"x=a,y=b,z=c", "", "x!=a,y=b", "x=", "x= ", "x=,z= ", "x= ,z= ", "!x", "x>1", "x>1,z<5"}) {
    const std::string printed = Selector::parse(text).str();
    std::erase(text, ' ');
    EXPECT_EQ(printed, text);
  }
}

struct Reading {
  std::string_view text;
  Selector selector;
};

TEST(LabelSelectorParseTest, TakesSets) {
  const Reading readings[] = {
      {"", {}},
      {" \t\r\n", {}},
      {"\rx", {need("x", Exists)}},
      {"a ", {need("a", Exists)}},
      {"! x", {need("x", DoesNotExist)}},
      {"this-is-a-dns.domain.com/key-with-dash",
       {need("this-is-a-dns.domain.com/key-with-dash", Exists)}},
      {"this-is-another-dns.domain.com/key-with-dash in (so,what)",
       {need("this-is-another-dns.domain.com/key-with-dash", In, {"so", "what"})}},
      {"0.1.2.domain/99 notin (10.10.100.1, tick.tack.clock)",
       {need("0.1.2.domain/99", NotIn, {"10.10.100.1", "tick.tack.clock"})}},
      {"foo  in\t (abc)", {need("foo", In, {"abc"})}},
      {"x notin\n (abc)", {need("x", NotIn, {"abc"})}},
      {"x  notin\t\t\t(abc,def)", {need("x", NotIn, {"abc", "def"})}},
      {"x in(abc)", {need("x", In, {"abc"})}},
      {"x in (def,abc)", {need("x", In, {"abc", "def"})}},
      {"x in (abc,)", {need("x", In, {"", "abc"})}},
      {"x in (abc,abc)", {need("x", In, {"abc"})}},
      {"x in ()", {need("x", In, {""})}},
      {"x in (,)", {need("x", In, {""})}},
      {"x in (a,,)", {need("x", In, {"", "a"})}},
      {"x in (a,,,,,,)", {need("x", In, {"", "a"})}},
      {"x in (a,,a,,a,,a,,)", {need("x", In, {"", "a"})}},
      {"x notin (abc,,def),bar,z in (),w",
       {need("bar", Exists), need("w", Exists), need("x", NotIn, {"", "abc", "def"}),
        need("z", In, {""})}},
      {"x,y in (a)", {need("x", Exists), need("y", In, {"a"})}},
      {"x=a", {need("x", Equals, {"a"})}},
      {"x = a", {need("x", Equals, {"a"})}},
      {"x == a", {need("x", DoubleEquals, {"a"})}},
      {"x>1", {need("x", GreaterThan, {"1"})}},
      {"x<7", {need("x", LessThan, {"7"})}},
      {"x=a,y!=b", {need("x", Equals, {"a"}), need("y", NotEquals, {"b"})}},
      {"x=a,y!=b,z in (h,i,j)",
       {need("x", Equals, {"a"}), need("y", NotEquals, {"b"}), need("z", In, {"h", "i", "j"})}},
      {"x notin ( )", {need("x", NotIn, {""})}},
      {"x notin (, a)", {need("x", NotIn, {"", "a"})}},
      // Operators are words in places where no operator is allowed.
      {"a in (x,y,notin, z,in)", {need("a", In, {"in", "notin", "x", "y", "z"})}},
      {"in in (in)", {need("in", In, {"in"})}},
      {"notin=in", {need("notin", Equals, {"in"})}},
      {"in,!notin", {need("in", Exists), need("notin", DoesNotExist)}},
  };
  for (const auto& [text, selector] : readings) {
    EXPECT_EQ(Selector::parse(text), selector) << text;
    EXPECT_EQ(Selector::parse(selector.str()), selector) << text;
  }
}

TEST(LabelSelectorParseTest, IsTheSameInAnyOrder) {
  EXPECT_EQ(Selector::parse("x=a,a=x"), Selector::parse("a=x,x=a"));
  EXPECT_EQ(Selector::parse("x=a,a=x").str(), "a=x,x=a");
  // Requirements of one key keep their order.
  EXPECT_EQ(Selector::parse("x,b,x!=a").str(), "b,x,x!=a");
}

/// The reason and the offset of the error, or "".
std::string errorOf(std::string_view text) {
  try {
    Selector::parse(text);
    return "";
  } catch (const DecodeError& e) {
    EXPECT_EQ(e.format(), "label selector");
    return fmt::format("{} {}", e.offset().value(), e.reason());
  }
}

TEST(LabelSelectorParseTest, ReportsTheFoundTextAndItsPosition) {
  EXPECT_EQ(errorOf("x,,y"), "2 found ',', expected: identifier after ','");
  EXPECT_EQ(errorOf(",x,y"), "0 found ',', expected: !, identifier, or 'end of string'");
  EXPECT_EQ(errorOf("("), "0 found '(', expected: !, identifier, or 'end of string'");
  EXPECT_EQ(errorOf("a in (xyz),"), "11 found '', expected: identifier after ','");
  EXPECT_EQ(errorOf("a in (xyz)b notin ()"), "10 found 'b', expected: ',' or 'end of string'");
  EXPECT_EQ(errorOf("!x=a"), "2 found '=', expected: ',' or 'end of string'");
  EXPECT_EQ(errorOf("x==a==b"), "4 found '==', expected: ',' or 'end of string'");
  const std::string_view kOperators = "expected: in, notin, =, ==, !=, gt, lt";
  EXPECT_EQ(errorOf("x nott in (y)"),
            fmt::format("2 unable to parse requirement: found 'nott', {}", kOperators));
  EXPECT_EQ(errorOf("a ("),
            fmt::format("2 unable to parse requirement: found '(', {}", kOperators));
  EXPECT_EQ(errorOf("a !"),
            fmt::format("2 unable to parse requirement: found '!', {}", kOperators));
  EXPECT_EQ(errorOf("a exists"),
            fmt::format("2 unable to parse requirement: found 'exists', {}", kOperators));
  EXPECT_EQ(errorOf("!"), "1 unable to parse requirement: found '', expected: identifier");
  EXPECT_EQ(errorOf("!!x"), "1 unable to parse requirement: found '!', expected: identifier");
  EXPECT_EQ(errorOf("x=="), "");
  EXPECT_EQ(errorOf("x=(a)"), "2 unable to parse requirement: found '(', expected: identifier");
  EXPECT_EQ(errorOf("x=!a"), "2 unable to parse requirement: found '!', expected: identifier");
  EXPECT_EQ(errorOf("a in b"), "5 unable to parse requirement: found 'b' expected: '('");
  EXPECT_EQ(errorOf("a in (xyz abc)"),
            "10 unable to parse requirement: found 'abc', expected: ',' or ')'");
  EXPECT_EQ(errorOf("a notin("),
            "8 unable to parse requirement: found '', expected: ',', ')' or identifier");
  EXPECT_EQ(errorOf("a in (b,"),
            "8 unable to parse requirement: found '', expected: ',', ')' or identifier");
}

TEST(LabelSelectorParseTest, ChecksKeysAndValues) {
  EXPECT_THAT(errorOf("x=a||y=b"), HasSubstr("values[0][x]: Invalid value: \"a||y\""));
  EXPECT_THAT(errorOf("x<a"), HasSubstr("unable to parse requirement: values[0]: Invalid value: "
                                        "\"a\": for 'Gt', 'Lt' operators, the value must be an "
                                        "integer"));
  EXPECT_THAT(errorOf("x>"), HasSubstr("the value must be an integer"));
  EXPECT_THAT(errorOf("x/y/z=a"),
              HasSubstr("0 unable to parse requirement: <nil>: Invalid value: \"x/y/z\": a valid "
                        "label key must consist of"));
  EXPECT_THAT(
      errorOf("b,x=-"),
      HasSubstr("2 unable to parse requirement: values[0][x]: Invalid value: \"-\": a valid "
                "label must be an empty string"));
  EXPECT_THAT(errorOf(std::string_view("a=b \0c", 6)), HasSubstr("found '"));
  EXPECT_THAT(errorOf(std::string_view("a\0", 2)), HasSubstr("Invalid value: \"a\\x00\""));
  try {
    Selector::parse("-", ErrorPath("spec").child("selector"));
    FAIL();
  } catch (const DecodeError& e) {
    EXPECT_THAT(e.what(), HasSubstr("label selector: offset 0: unable to parse requirement: "
                                    "spec.selector: Invalid value: \"-\""));
  }
}

void expectMatch(std::string_view selector, const Labels& labels, bool matches = true) {
  const Selector parsed = Selector::parse(selector);
  EXPECT_EQ(parsed.matches(labels), matches) << selector;
  const auto lookup = [&](std::string_view key) -> std::optional<std::string_view> {
    const auto at = labels.find(key);
    return at != labels.end() ? std::optional(at->value.view()) : std::nullopt;
  };
  EXPECT_EQ(parsed.matches(lookup), matches) << selector;
}
void expectNoMatch(std::string_view selector, const Labels& labels) {
  expectMatch(selector, labels, false);
}

TEST(LabelSelectorTest, Matches) {
  expectMatch("", {{"x", "y"}});
  expectMatch("x=y", {{"x", "y"}});
  expectMatch("x==y", {{"x", "y"}});
  expectMatch("x=y,z=w", {{"x", "y"}, {"z", "w"}});
  expectMatch("x!=y,z!=w", {{"x", "z"}, {"z", "a"}});
  expectMatch("x!=y", {});
  expectMatch("notin=in", {{"notin", "in"}});
  expectMatch("x", {{"x", "z"}});
  expectMatch("x", {{"x", ""}});
  expectMatch("!x", {{"y", "z"}});
  expectMatch("x=", {{"x", ""}});
  expectNoMatch("x=", {});
  expectMatch("x in ()", {{"x", ""}});
  expectMatch("x notin (a,b)", {{"x", "c"}});
  expectMatch("x notin (a,b)", {});
  expectNoMatch("x notin (a,b)", {{"x", "b"}});
  expectNoMatch("x=z", {});
  expectNoMatch("x=y", {{"x", "z"}});
  expectNoMatch("x=y,z=w", {{"x", "w"}, {"z", "w"}});
  expectNoMatch("x!=y,z!=w", {{"x", "z"}, {"z", "w"}});
  expectNoMatch("x", {{"y", "z"}});
  expectNoMatch("!x", {{"x", "z"}});
  const Labels labels{{"foo", "bar"}, {"baz", "blah"}};
  expectMatch("foo=bar", labels);
  expectMatch("foo=bar,baz=blah", labels);
  expectMatch("foo in (bar,x),baz notin (x)", labels);
  expectNoMatch("foo=blah", labels);
  expectNoMatch("foo in (bar),baz in (alpha)", labels);
  expectNoMatch("foo=bar,foobar=bar,baz=blah", labels);
}

TEST(LabelSelectorTest, ComparesIntegers) {
  expectMatch("x>1", {{"x", "2"}});
  expectMatch("x<1", {{"x", "0"}});
  expectMatch("x<1", {{"x", "-5"}});
  expectMatch("x>9", {{"x", "+10"}});
  expectMatch("x>9223372036854775806", {{"x", "9223372036854775807"}});
  expectNoMatch("x>1", {{"x", "0"}});
  expectNoMatch("x>1", {{"x", "1"}});
  expectNoMatch("x<1", {{"x", "2"}});
  expectNoMatch("x>1", {{"x", "v2"}});
  expectNoMatch("x>1", {{"x", "2 "}});
  expectNoMatch("x>1", {{"x", ""}});
  expectNoMatch("x>1", {{"x", "9223372036854775808"}});
  expectNoMatch("x>1", {});
  expectNoMatch("x<1", {});
}

TEST(LabelSelectorTest, EverythingAndNothingAreOpposites) {
  const Selector everything = Selector::everything();
  EXPECT_TRUE(everything.matches(Labels{{"x", "y"}}));
  EXPECT_TRUE(everything.empty());
  EXPECT_FALSE(everything.matchesNothing());
  Selector nothing = Selector::nothing();
  EXPECT_FALSE(nothing.matches(Labels{}));
  EXPECT_FALSE(nothing.matches([](std::string_view) { return std::optional("a"); }));
  EXPECT_FALSE(nothing.empty());
  EXPECT_TRUE(nothing.matchesNothing());
  EXPECT_EQ(nothing.str(), "");
  EXPECT_NE(nothing, everything);
  nothing.add(need("x", Exists));
  EXPECT_EQ(nothing, Selector::nothing());
  // Contradictions are not detected.
  EXPECT_FALSE(Selector::parse("a,!a").matchesNothing());
}

TEST(LabelSelectorTest, FromASetMatchesThoseLabels) {
  const Labels labels{{"foo", "bar"}, {"baz", "blah"}};
  EXPECT_TRUE(Selector::fromSet({}).empty());
  EXPECT_TRUE(Selector::fromSet({}).matches(labels));
  EXPECT_TRUE(Selector::fromSet({{"foo", "bar"}}).matches(labels));
  EXPECT_TRUE(Selector::fromSet(labels).matches(labels));
  EXPECT_FALSE(Selector::fromSet({{"foo", "x"}}).matches(labels));
  EXPECT_EQ(Selector::fromSet({{"app", "foo"}, {"a", "b"}}).str(), "a=b,app=foo");
  EXPECT_NO_THROW(Selector::fromSet({{"-", "-"}}));
}

TEST(LabelSelectorTest, AValidatedSetIsChecked) {
  EXPECT_EQ(Selector::validatedFromSet({{"key", "val"}}), Selector({need("key", Equals, {"val"})}));
  try {
    Selector::validatedFromSet({{"Key", std::string(64, 'a')}});
    FAIL();
  } catch (const ValidationError& e) {
    ASSERT_EQ(e.errors().size(), 1U);
    EXPECT_EQ(e.errors()[0].field, "values[0][Key]");
  }
}

TEST(LabelSelectorTest, RequirementsAreAddedInOrderOfKeys) {
  Selector selector{need("key", In, {"value"})};
  selector.add(need("key2", Equals, {"value2"}));
  selector.add(need("a", Exists));
  selector.add(need("key", Exists));
  EXPECT_EQ(selector.str(), "a,key in (value),key,key2=value2");
  EXPECT_THAT(selector.requirements(),
              ElementsAre(need("a", Exists), need("key", In, {"value"}), need("key", Exists),
                          need("key2", Equals, {"value2"})));
}

TEST(LabelSelectorTest, CopiesAreIndependent) {
  const Selector original = Selector::parse("a=b");
  Selector copy = original;
  copy.add(need("c", Exists));
  EXPECT_EQ(original.str(), "a=b");
  EXPECT_EQ(copy.str(), "a=b,c");
}

TEST(LabelSelectorTest, Prints) {
  EXPECT_EQ(
      Selector({need("x", In, {"abc", "def"}), need("y", NotIn, {"jkl"}), need("z", Exists)}).str(),
      "x in (abc,def),y notin (jkl),z");
  EXPECT_EQ(Selector({need("x", NotIn, {"def", "abc"}), need("y", NotEquals, {"jkl"}),
                      need("z", DoesNotExist)})
                .str(),
            "x notin (abc,def),y!=jkl,!z");
  EXPECT_EQ(Selector({need("x", Equals, {"abc"}), need("y", DoubleEquals, {"jkl"}),
                      need("z", NotEquals, {"a"}), need("z", Exists)})
                .str(),
            "x=abc,y==jkl,z!=a,z");
  EXPECT_EQ(Selector({need("x", GreaterThan, {"2"}), need("y", LessThan, {"8"})}).str(), "x>2,y<8");
  EXPECT_EQ(need("z", NotIn, {""}).str(), "z notin ()");
  std::ostringstream out;
  out << Selector::parse("a") << ' ' << need("b", DoesNotExist) << ' ' << NotIn;
  EXPECT_EQ(out.str(), "a !b notin");
  EXPECT_EQ(fmt::format("{} {}", Selector::parse("a"), need("b", Exists)), "a b");
}

TEST(LabelSelectorTest, ReturnsTheOnlyValueThatALabelMayHave) {
  const auto of = [](Selector selector, std::string_view key) {
    return selector.requiresExactMatch(key);
  };
  EXPECT_EQ(of({need("key", In, {"value"})}, "key"), "value");
  EXPECT_EQ(of({need("key", In, {"value", "value2"})}, "key"), std::nullopt);
  EXPECT_EQ(of({need("key", In, {"a", "b"}), need("key2", In, {"value2"})}, "key2"), "value2");
  EXPECT_EQ(of({need("key", Equals, {"value"})}, "key"), "value");
  EXPECT_EQ(of({need("key", DoubleEquals, {"value"})}, "key"), "value");
  EXPECT_EQ(of({need("key", NotEquals, {"value"})}, "key"), std::nullopt);
  EXPECT_EQ(of({need("key", GreaterThan, {"1"})}, "key"), std::nullopt);
  EXPECT_EQ(of({need("key", Exists)}, "key"), std::nullopt);
  EXPECT_EQ(of({need("key", Exists)}, "other"), std::nullopt);
  EXPECT_EQ(of(Selector::nothing(), "key"), std::nullopt);
}

struct Construction {
  std::string key;
  SelectorOperator op;
  List<String> values;
  std::string_view field = {};  // of the only error; "" for none
};

TEST(LabelRequirementTest, IsCheckedWhenMade) {
  const std::string longText(254, 'a');
  const Construction constructions[] = {
      {"x1", In, {}, "values"},
      {"x2", NotIn, {}, "values"},
      {"x3", In, {"foo"}},
      {"x4", NotIn, {"foo"}},
      {"x5", Equals, {"foo", "bar"}, "values"},
      {"x6", Exists, {}},
      {"x7", DoesNotExist, {}},
      {"x8", Exists, {"foo"}, "values"},
      {"x9", DoubleEquals, {}, "values"},
      {"x11", GreaterThan, {"1"}},
      {"x12", LessThan, {"6"}},
      {"x13", GreaterThan, {}, "values"},
      {"x14", GreaterThan, {"bar"}, "values[0]"},
      {"x15", LessThan, {"bar"}, "values[0]"},
      {longText, Exists, {}, "key"},
      {"x16", Equals, {longText}, "values[0][x16]"},
      {"x17", Equals, {"a b"}, "values[0][x17]"},
      {"x18", static_cast<SelectorOperator>(99), {}, "operator"},
  };
  for (const auto& [key, op, values, field] : constructions) {
    const FieldErrors errors = Requirement::validate(key, op, values);
    if (field.empty()) {
      EXPECT_TRUE(errors.empty()) << key << ": " << toString(errors);
      EXPECT_NO_THROW(Requirement(key, op, values));
    } else {
      ASSERT_EQ(errors.size(), 1U) << key;
      EXPECT_EQ(errors[0].field, field);
      EXPECT_THROW(Requirement(key, op, values), ValidationError);
    }
  }
  EXPECT_EQ(toString(Requirement::validate("x", In, {})),
            "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty");
  EXPECT_EQ(toString(Requirement::validate("x", Equals, {"b", "a"}, ErrorPath("spec"))),
            "spec.values: Invalid value: [\"b\",\"a\"]: exact-match compatibility requires one "
            "single value");
}

TEST(LabelRequirementTest, EqualsOneOfTheSameKeyOperatorAndValues) {
  EXPECT_EQ(need("key", In, {"foo", "bar"}), need("key", In, {"foo", "bar"}));
  EXPECT_NE(need("key", In, {"foo"}), need("key1", In, {"foo"}));
  EXPECT_NE(need("key", In, {"foo"}), need("key", Equals, {"foo"}));
  EXPECT_NE(need("key", In, {"foo"}), need("key", In, {"foo", "bar"}));
  EXPECT_FALSE(Requirement().matches({{"", ""}}));
}

using metav1::LabelSelector;

TEST(LabelSelectorOfApiTest, IsRead) {
  const Map<String> matchLabels{{"foo", "bar"}};
  const List<metav1::LabelSelectorRequirement> expressions{
      {.key = "baz", .operator_ = "In", .values = {"qux", "norf"}}};
  EXPECT_EQ(Selector::from(nullptr), Selector::nothing());
  EXPECT_EQ(Selector::from(Shared<LabelSelector>()), Selector::nothing());
  EXPECT_EQ(Selector::from(LabelSelector{}), Selector::everything());
  EXPECT_EQ(Selector::from(Shared(LabelSelector{})), Selector::everything());
  EXPECT_EQ(Selector::from(LabelSelector{.matchLabels = matchLabels}).str(), "foo=bar");
  EXPECT_EQ(Selector::from(LabelSelector{.matchExpressions = expressions}).str(),
            "baz in (norf,qux)");
  EXPECT_EQ(
      Selector::from(LabelSelector{.matchLabels = matchLabels, .matchExpressions = expressions})
          .str(),
      "baz in (norf,qux),foo=bar");
  EXPECT_EQ(
      Selector::from(
          LabelSelector{.matchExpressions = {{.key = "a", .operator_ = "Exists"},
                                             {.key = "b", .operator_ = "DoesNotExist"},
                                             {.key = "c", .operator_ = "NotIn", .values = {"d"}}}})
          .str(),
      "a,!b,c notin (d)");
}

TEST(LabelSelectorOfApiTest, IsChecked) {
  EXPECT_THROW(Selector::from(LabelSelector{
                   .matchExpressions = {{.key = "baz", .operator_ = "Exists", .values = {"qux"}}}}),
               ValidationError);
  EXPECT_THROW(Selector::from(LabelSelector{.matchLabels = {{"-", ""}}}), ValidationError);
  try {
    Selector::from(LabelSelector{.matchExpressions = {{.key = "baz", .operator_ = "Is"}}});
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("\"Is\" is not a valid label selector operator"));
  }
}

TEST(LabelSelectorOfApiTest, IsMadeFromText) {
  EXPECT_EQ(parseToLabelSelector(""), LabelSelector{});
  EXPECT_EQ(parseToLabelSelector("foo=bar,baz in (qux,norf),a,!b,c notin (d)"),
            (LabelSelector{
                .matchLabels = {{"foo", "bar"}},
                .matchExpressions = {{.key = "a", .operator_ = "Exists"},
                                     {.key = "b", .operator_ = "DoesNotExist"},
                                     {.key = "baz", .operator_ = "In", .values = {"norf", "qux"}},
                                     {.key = "c", .operator_ = "NotIn", .values = {"d"}}}}));
  EXPECT_EQ(parseToLabelSelector("a==b").matchLabels["a"], "b");
  // A requirement that a map cannot hold becomes an expression of the same meaning.
  EXPECT_EQ(
      parseToLabelSelector("a!=b"),
      (LabelSelector{.matchExpressions = {{.key = "a", .operator_ = "NotIn", .values = {"b"}}}}));
  EXPECT_EQ(
      parseToLabelSelector("a=b,a=c"),
      (LabelSelector{.matchLabels = {{"a", "b"}},
                     .matchExpressions = {{.key = "a", .operator_ = "In", .values = {"c"}}}}));
  EXPECT_THROW(parseToLabelSelector("a>1"), Error);
  EXPECT_THROW(parseToLabelSelector("a,,"), DecodeError);
}

TEST(LabelSelectorOfApiTest, MeansTheSameAsASelector) {
  for (const std::string_view text : {"", "a", "!a", "a=b", "a in (b,c),d notin (e)"}) {
    const Selector selector = Selector::parse(text);
    EXPECT_EQ(Selector::from(toLabelSelector(selector)), selector) << text;
  }
  EXPECT_FALSE(toLabelSelector(Selector::nothing()));
  EXPECT_TRUE(toLabelSelector(Selector::everything()));
}

TEST(LabelSelectorOfApiTest, IsFormattedForUsers) {
  EXPECT_EQ(formatLabelSelector(LabelSelector{.matchLabels = {{"a", "b"}}}), "a=b");
  EXPECT_EQ(formatLabelSelector(LabelSelector{}), "<none>");
  EXPECT_EQ(formatLabelSelector(nullptr), "<none>");
  EXPECT_EQ(formatLabelSelector(LabelSelector{.matchLabels = {{"-", ""}}}), "<error>");
  EXPECT_EQ(formatLabels({}), "<none>");
  EXPECT_EQ(formatLabels({{"b", "2"}, {"a", "1"}}), "a=1,b=2");
}

TEST(LabelsTest, AreMergedAndCompared) {
  const Labels first{{"a", "1"}, {"b", "2"}};
  EXPECT_EQ(merge(first, {{"b", "3"}, {"c", "4"}}), (Labels{{"a", "1"}, {"b", "3"}, {"c", "4"}}));
  EXPECT_EQ(merge({}, first), first);
  EXPECT_TRUE(conflicts(first, {{"b", "3"}}));
  EXPECT_FALSE(conflicts(first, {{"b", "2"}, {"c", "4"}}));
  EXPECT_FALSE(conflicts(first, {}));
}

TEST(LabelSelectorOfApiTest, OfEqualityIsAMap) {
  const auto with = [](std::string_view op, List<String> values) {
    return LabelSelector{
        .matchLabels = {{"foo", "bar"}},
        .matchExpressions = {{.key = "baz", .operator_ = op, .values = std::move(values)}}};
  };
  EXPECT_EQ(labelSelectorAsMap({.matchLabels = {{"foo", "bar"}}}), (Labels{{"foo", "bar"}}));
  EXPECT_EQ(labelSelectorAsMap(with("In", {"norf"})), (Labels{{"foo", "bar"}, {"baz", "norf"}}));
  EXPECT_THROW(labelSelectorAsMap(with("In", {"norf", "qux"})), Error);
  EXPECT_THROW(labelSelectorAsMap(with("NotIn", {"norf"})), Error);
  EXPECT_THROW(labelSelectorAsMap(with("Exists", {})), Error);
  EXPECT_THROW(labelSelectorAsMap(with("Foo", {})), Error);
}

}  // namespace
}  // namespace kube::labels
