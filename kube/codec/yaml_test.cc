// The expected scalars come from kubectl 1.32 and sigs.k8s.io/yaml.
#include "kube/codec/yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>

#include "kube/base/error.h"
#include "kube/base/internal/sanitizer.h"
#include "kube/codec/json.h"
#include "kube/codec/yaml_testing.h"
#include "kube/meta/v1.h"

namespace kube {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::string jsonOf(std::string_view yaml) { return toJson(parseYaml(yaml)); }

/// The document's JSON before it becomes a Value, which keeps integers beyond int64 exact.
std::string rawJsonOf(std::string_view yaml) {
  const auto documents = splitYaml(yaml);
  return documents.size() == 1 ? documents[0].json : "not one document";
}

std::optional<DecodeError> errorOf(const std::function<void()>& decode) {
  try {
    decode();
  } catch (const DecodeError& e) {
    return e;
  }
  return std::nullopt;
}

/// "line:column reason" of the error for a text.
std::string problemOf(std::string_view yaml) {
  const auto error = errorOf([&] { splitYaml(yaml); });
  if (!error) return "no error";
  EXPECT_EQ(error->format(), "yaml");
  EXPECT_TRUE(error->offset().has_value());
  return std::to_string(error->line()) + ":" + std::to_string(error->column()) + " " +
         error->reason();
}

// --- Scalars.

TEST(YamlScalarsTest, WordsAreBooleansInThreeSpellings) {
  EXPECT_EQ(jsonOf("[y, Y, yes, Yes, YES, true, True, TRUE, on, On, ON]"),
            "[true,true,true,true,true,true,true,true,true,true,true]");
  EXPECT_EQ(jsonOf("[n, N, no, No, NO, false, False, FALSE, off, Off, OFF]"),
            "[false,false,false,false,false,false,false,false,false,false,false]");
  EXPECT_EQ(jsonOf("[tRUE, yEs, oN, nO]"), R"(["tRUE","yEs","oN","nO"])");
}

TEST(YamlScalarsTest, NothingAndItsWordsAreNull) {
  EXPECT_EQ(jsonOf("a:\nb: ~\nc: null\nd: Null\ne: NULL\nf: nULL\n"),
            R"({"a":null,"b":null,"c":null,"d":null,"e":null,"f":"nULL"})");
  EXPECT_EQ(jsonOf("-\n- # comment\n- x"), R"([null,null,"x"])");
}

TEST(YamlScalarsTest, IntegersHaveFourBasesAndUnderscores) {
  EXPECT_EQ(jsonOf("[0, 7, -7, +7, 0x1F, 0X1f, -0x10, 0o17, 0644, 0b101, 0B1, 1_000, 0x_f, 1_]"),
            "[0,7,-7,7,31,31,-16,15,420,5,1,1000,15,1]");
  EXPECT_EQ(jsonOf("[0x, 0b12, 0o8, _1, +, 0xg]"), R"(["0x","0b12","0o8","_1","+","0xg"])");
  EXPECT_EQ(jsonOf("089"), "89") << "not octal, so a float, as in Go";
}

TEST(YamlScalarsTest, LargeIntegersAreExactUpTo64Bits) {
  EXPECT_EQ(rawJsonOf("[9223372036854775807, -9223372036854775808]"),
            "[9223372036854775807,-9223372036854775808]");
  EXPECT_EQ(rawJsonOf("[9223372036854775808, 18446744073709551615, 0xffffffffffffffff]"),
            "[9223372036854775808,18446744073709551615,18446744073709551615]");
  EXPECT_EQ(rawJsonOf("18446744073709551616"), "18446744073709552000");
  EXPECT_EQ(rawJsonOf("-9223372036854775809"), "-9223372036854776000");
  EXPECT_EQ(parseYaml("9223372036854775807").asInt(), 9223372036854775807);
}

TEST(YamlScalarsTest, FloatsAreWrittenAsGoWritesThem) {
  EXPECT_EQ(rawJsonOf("[.5, 1.5, 1e3, 1E3, 1., 1.e3, -2.5e-3, +.5, .5_0, -0.0]"),
            "[0.5,1.5,1000,1000,1,1000,-0.0025,0.5,0.5,-0]");
  EXPECT_EQ(rawJsonOf("[1e20, 1e21, 1e-6, 1e-7, 12345678901234567890.5, 1e-999, 0." +
                      repeat("0", 400) + "1]"),
            "[100000000000000000000,1e+21,0.000001,1e-7,12345678901234567000,0,0]");
  EXPECT_EQ(rawJsonOf("[1e999, .e3, 1e, 0x1p4, ._5]"), R"(["1e999",".e3","1e","0x1p4","._5"])");
}

TEST(YamlScalarsTest, InfinityAndNanAreErrorsAtTheirPlace) {
  for (const char* word : {".inf", "+.Inf", "-.INF", ".nan", ".NaN"}) {
    const auto error = errorOf([&] { parseYaml(std::string("a:\n  b: [1, ") + word + "]"); });
    ASSERT_TRUE(error) << word;
    EXPECT_EQ(error->line(), 2U);
    EXPECT_EQ(error->column(), 10U);
    EXPECT_EQ(error->path(), "a.b[1]");
    EXPECT_EQ(error->reason(), "infinity and NaN have no JSON form");
  }
}

TEST(YamlScalarsTest, TimesAndBase60StayStrings) {
  EXPECT_EQ(jsonOf("[2001-01-01, 2001-12-14t21:59:43.10-05:00, 1:30, 190:20:30]"),
            R"(["2001-01-01","2001-12-14t21:59:43.10-05:00","1:30","190:20:30"])");
}

TEST(YamlScalarsTest, QuotedAndBlockScalarsAreStrings) {
  EXPECT_EQ(jsonOf(R"(["1", 'yes', "null", '~', "0x10", ""])"),
            R"(["1","yes","null","~","0x10",""])");
  EXPECT_EQ(jsonOf("a: |-\n  1\nb: >-\n  yes\n"), R"({"a":"1","b":"yes"})");
}

TEST(YamlScalarsTest, TagsDecideOverTheText) {
  EXPECT_EQ(jsonOf("[!!str 1, !!int '12', !!float '1.5', !!bool 'yes', !!null '', !!str]"),
            R"(["1",12,1.5,true,null,""])");
  EXPECT_EQ(jsonOf("[!custom 7, ! 7, !!binary aGVsbG8=, !!timestamp 2001-01-01]"),
            R"(["7","7","hello","2001-01-01"])");
  EXPECT_EQ(jsonOf("!!binary /w=="), "\"\xEF\xBF\xBD\"") << "as Go's JSON has invalid UTF-8";
  EXPECT_EQ(jsonOf("{a: !!map {b: c}, d: !!seq [1]}"), R"({"a":{"b":"c"},"d":[1]})");
  EXPECT_EQ(problemOf("a: 1\nb: !!int x"), "2:4 cannot decode `x` as a !!int");
  EXPECT_EQ(problemOf("!!timestamp x"), "1:1 cannot decode `x` as a !!timestamp");
  EXPECT_EQ(problemOf("!!binary '!'"), "1:1 not valid base64 in a !!binary value");
}

TEST(YamlScalarsTest, ATagMayBeAllThereIs) {
  EXPECT_EQ(jsonOf("a: !!str\n\"b\": 1"), R"({"a":"","b":1})");
  EXPECT_EQ(jsonOf("- a: !  # nothing\n\n  'b': 1"), R"([{"a":"","b":1}])");
  EXPECT_EQ(jsonOf("a: !!str\n  \"b\""), R"({"a":"b"})");
  EXPECT_EQ(jsonOf("!!str\n\"b\""), R"("b")");
  EXPECT_EQ(jsonOf("!\"\\N b\""), "\"\u0085 b\"");
  EXPECT_EQ(jsonOf("a: !!str >+\n\n\nb: 1"), R"({"a":"\n\n","b":1})");
  EXPECT_EQ(jsonOf("{a: !!str\n\"b\", c: !!str , \"d\": 1}"), R"({"a":"b","c":"","d":1})");
}

// The behaviour of go-yaml, which differs from YAML 1.2.
TEST(YamlScalarsTest, InFlowAColonEndsAKeyOnlyBeforeABlank) {
  EXPECT_EQ(jsonOf("[--from, host:]"), R"(["--from","host:"])");
  EXPECT_EQ(jsonOf("[a:, b: , {c:}, {n:, d: 1, e: }]"),
            R"(["a:",{"b":null},{"c:":null},{"d":1,"e":null,"n:":null}])");
  EXPECT_EQ(jsonOf("[&x a: , *x]"), R"([{"a":null},"a"])");
  EXPECT_EQ(jsonOf("[\"a\":, 'b':]"), R"([{"a":null},{"b":null}])");
}

TEST(YamlScalarsTest, EscapesInDoubleQuotesAreDecoded) {
  EXPECT_EQ(jsonOf(R"("\x41\u00e9\U0001F600\e\N\_\L\P\ \"\\\n\t\0")"),
            "\"A\u00e9\U0001F600\\u001b\u0085\u00a0\u2028\u2029 \\\"\\\\\\n\\t\\u0000\"");
  EXPECT_EQ(jsonOf("'it''s \\n'"), R"("it's \\n")");
}

TEST(YamlScalarsTest, LinesFoldAsInYaml11) {
  EXPECT_EQ(jsonOf("a: b\n  c\n\n  d\n"), R"({"a":"b c\nd"})");
  EXPECT_EQ(jsonOf("\"a\n  b\\\n  c\n\n\n  d\""), R"("a bc\n\nd")");
  EXPECT_EQ(jsonOf("'a\n\n\n'"), R"("a\n\n")");
  EXPECT_EQ(jsonOf("a: |\n  x\n    y\n\n  z\n\n"), R"({"a":"x\n  y\n\nz\n"})");
  EXPECT_EQ(jsonOf("a: |+\n  x\n\n\nb: |2-\n     x\n"), R"({"a":"x\n\n\n","b":"   x"})");
  EXPECT_EQ(jsonOf("a: >\n  x\n  y\n\n  z\n    code\n  w\n"), R"({"a":"x y\nz\n  code\nw\n"})");
  EXPECT_EQ(jsonOf("a: >+\n  x\n\n\nb: >-\n  x\n  "), R"({"a":"x\n\n\n","b":"x"})");
  EXPECT_EQ(jsonOf("a: |\r\n  x\r\n  y\r\nb: c\r\n"), R"({"a":"x\ny\n","b":"c"})");
  EXPECT_EQ(jsonOf("a: 1\rb: 2\r"), R"({"a":1,"b":2})");
}

// --- Keys, anchors and merging.

TEST(YamlKeysTest, BecomeStrings) {
  EXPECT_EQ(jsonOf("1: a\n0x10: b\ntrue: c\nno: d\n1.5: e\n1e30: f\n2001-01-01: g\n"),
            R"({"1":"a","1.5":"e","16":"b","1e+30":"f","2001-01-01":"g","false":"d","true":"c"})");
  EXPECT_EQ(jsonOf("{a: 1, \"b\":2, 'c': 3, d}"), R"({"a":1,"b":2,"c":3,"d":null})");
  EXPECT_EQ(jsonOf("? a\n: b\n? |\n  k\n: - 1\n"), R"({"a":"b","k\n":[1]})");
}

TEST(YamlKeysTest, ThatAreNullOrCollectionsAreErrors) {
  EXPECT_EQ(problemOf("a: 1\n~: x"), "2:1 a key must not be null");
  EXPECT_EQ(problemOf("? [a]\n: x"), "1:3 a key must be a scalar");
}

TEST(YamlKeysTest, WithoutAColonAreErrors) {
  EXPECT_EQ(problemOf("a: 1\nb\n"), "2:1 expected ':' after a key");
  EXPECT_EQ(problemOf("a:\n  name\n  b: c\n"), "3:4 illegal map value");
}

TEST(YamlKeysTest, SetTwiceTheLastWins) {
  EXPECT_EQ(jsonOf("a: 1\nb: 2\na: 3\n"), R"({"a":3,"b":2})");
}

TEST(YamlKeysTest, SetTwiceAreErrorsInStrictDecoding) {
  const std::string_view text = "a: 1\nb:\n  c: 1\n  c: 2\na: 3\na: 4\n";
  const auto error = errorOf([&] { parseYaml(text, {.strict = true}); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->format(), "yaml");
  EXPECT_THAT(error->reason(), HasSubstr("line 4: key \"c\" already set in map"));
  EXPECT_THAT(error->reason(), HasSubstr("line 5: key \"a\" already set in map"));
  EXPECT_THAT(error->reason(), HasSubstr("line 6: key \"a\" already set in map"));

  std::vector<std::string> problems = {"earlier"};
  const Value value = parseYaml("a: 1\na: 2\n", {.problems = &problems});
  EXPECT_EQ(toJson(value), R"({"a":2})");
  EXPECT_THAT(problems, ElementsAre("earlier", "line 2: key \"a\" already set in map"));
}

TEST(YamlAliasesTest, StandForTheAnchorsValue) {
  EXPECT_EQ(jsonOf("a: &x {b: [1]}\nc: *x\nd: &y text\ne: [*y, *y]\n*y : key\n"),
            R"({"a":{"b":[1]},"c":{"b":[1]},"d":"text","e":["text","text"],"text":"key"})");
  EXPECT_EQ(jsonOf("- &x 1\n- &x 2\n- *x\n"), "[1,2,2]");
  EXPECT_EQ(jsonOf("a: &x\nb: *x\n"), R"({"a":null,"b":null})");
}

TEST(YamlAliasesTest, OfNothingOrOfThemselvesAreErrors) {
  EXPECT_THAT(problemOf("a: *x"), StartsWith("1:4 the referenced anchor is not defined"));
  EXPECT_EQ(problemOf("a: &x [1, *x]"), "1:11 the value of an anchor contains itself");
  EXPECT_THAT(problemOf("a: &x 1\n---\nb: *x"),
              StartsWith("3:4 the referenced anchor is not defined"));
}

TEST(YamlMergeTest, AddsWhatIsNotWrittenOut) {
  EXPECT_EQ(jsonOf("a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  c: 3\n"),
            R"({"a":{"b":1,"c":2},"d":{"b":1,"c":3}})");
  EXPECT_EQ(jsonOf("c: 3\n<<: {b: 1, c: 2}\n"), R"({"b":1,"c":3})");
  EXPECT_EQ(jsonOf("<<: [{a: 1}, {a: 2, b: 2}]\n"), R"({"a":1,"b":2})");
  EXPECT_EQ(jsonOf("<<: {a: 1, <<: {a: 2, b: 2}}\n"), R"({"a":1,"b":2})");
  EXPECT_EQ(jsonOf("'<<': 1\n"), R"({"<<":1})");
}

TEST(YamlMergeTest, OverridingIsNotADuplicate) {
  EXPECT_EQ(toJson(parseYaml("<<: {a: 1}\na: 2\n", {.strict = true})), R"({"a":2})");
}

TEST(YamlMergeTest, NeedsMappings) {
  const std::string reason = "a merge key needs a mapping or a sequence of mappings";
  EXPECT_EQ(problemOf("a: 1\n<<: 1"), "2:5 " + reason);
  EXPECT_EQ(problemOf("<<: [{a: 1}, b]"), "1:14 " + reason);
  EXPECT_EQ(problemOf("<<: [[{a: 1}]]"), "1:6 " + reason);
}

// --- Documents.

TEST(YamlDocumentsTest, AreSplitAndEmptyOnesLeftOut) {
  const auto documents = splitYaml(
      "\xEF\xBB\xBF# comment\n---\n---\n# only a comment\n---\na: 1\n---\nnull\n...\n---\nb: 2\n"
      "...\nc: 3\n--- d\n");
  ASSERT_EQ(documents.size(), 4U);
  EXPECT_EQ(documents[0].json, R"({"a":1})");
  EXPECT_EQ(documents[0].line, 6U);
  EXPECT_EQ(documents[1].json, R"({"b":2})");
  EXPECT_EQ(documents[1].line, 11U);
  EXPECT_EQ(documents[2].json, R"({"c":3})");
  EXPECT_EQ(documents[3].json, R"("d")");
  EXPECT_EQ(documents[3].column, 5U);
  EXPECT_TRUE(splitYaml("").empty());
  EXPECT_TRUE(splitYaml("# nothing\n---\n").empty());
}

TEST(YamlDocumentsTest, OnlyOneIsTakenWhereOneIsAskedFor) {
  EXPECT_EQ(jsonOf("---\n---\na: 1\n---\n# end\n"), R"({"a":1})");
  EXPECT_EQ(jsonOf("null"), "null");
  const auto two = errorOf([] { parseYaml("a: 1\n---\nb: 2\n"); });
  ASSERT_TRUE(two);
  EXPECT_EQ(two->line(), 3U);
  EXPECT_EQ(two->reason(), "expected one document, found another");
  const auto none = errorOf([] { parseYaml("# nothing\n"); });
  ASSERT_TRUE(none);
  EXPECT_EQ(none->reason(), "there is no document");
}

constexpr std::string_view kList = R"(apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: PartialObjectMetadata
  metadata: {name: a}
- null
- apiVersion: v1
  kind: List
  items:
  - kind: PartialObjectMetadata
    metadata: {name: 7}
- kind: Other
)";

TEST(YamlDocumentsTest, ListsAreExpandedWhenAsked) {
  EXPECT_EQ(splitYaml(kList).size(), 1U);
  const auto items = splitYaml(kList, {.expandLists = true});
  ASSERT_EQ(items.size(), 3U);
  EXPECT_EQ(items[0].line, 4U);
  EXPECT_EQ(items[0].value()["metadata"]["name"].asString(), "a");
  EXPECT_EQ(items[1].line, 11U);
  EXPECT_EQ(items[2].json, R"({"kind":"Other"})");
  EXPECT_EQ(splitYaml("kind: List\napiVersion: v2\nitems: [1]", {.expandLists = true}).size(), 1U);
}

TEST(YamlDocumentsTest, SayWhichTheyAre) {
  const auto documents =
      splitYaml("# a\n---\na: 1\n---\n---\nnull\n---\n" + std::string(kList) + "---\nb: 2\n",
                {.expandLists = true});
  std::vector<std::size_t> numbers;
  for (const auto& document : documents) numbers.push_back(document.number);
  EXPECT_EQ(numbers, (std::vector<std::size_t>{1, 4, 4, 4, 5}));
}

TEST(YamlDocumentsTest, ListsInJsonAreExpandedToo) {
  const std::string json = toJson(parseYaml(kList), 2);
  const auto items = splitYaml(json, {.expandLists = true});
  ASSERT_EQ(items.size(), 3U);
  EXPECT_EQ(items[2].value()["kind"].asString(), "Other");
  const auto error = errorOf([&] { items[1].as<metav1::PartialObjectMetadata>(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->format(), "yaml");
  EXPECT_EQ(error->path(), "metadata.name");
  ASSERT_TRUE(error->offset());
  EXPECT_EQ(json.substr(*error->offset(), 1), "7");
  const std::string before = json.substr(0, *error->offset());
  EXPECT_EQ(error->line(), std::count(before.begin(), before.end(), '\n') + 1U);
  EXPECT_EQ(error->column(), before.size() - before.rfind('\n'));
}

TEST(YamlDocumentsTest, TellTheirType) {
  const auto documents =
      splitYaml("apiVersion: apps/v1\nkind: Deployment\n---\nkind: 7\n---\n[1]\n");
  ASSERT_EQ(documents.size(), 3U);
  EXPECT_EQ(documents[0].type().apiVersion, "apps/v1");
  EXPECT_EQ(documents[0].type().kind, "Deployment");
  EXPECT_EQ(documents[1].type().kind, "");
  EXPECT_EQ(documents[2].type().kind, "");
}

TEST(YamlDocumentsTest, ThatAreJsonAreTakenAsJson) {
  EXPECT_EQ(jsonOf("{\"a\":\"\\ud83d\\ude00\\/\"}"), "{\"a\":\"\U0001F600/\"}");
  EXPECT_EQ(jsonOf(repeat("{\"a\":", 900) + "1" + repeat("}", 900)),
            repeat("{\"a\":", 900) + "1" + repeat("}", 900));
}

TEST(YamlDocumentsTest, JsonObjectsMayJustFollowEachOther) {
  const std::string text =
      "\xEF\xBB\xBF{\"a\":\"}{\"}{\"b\":2}\n\n  " + toJson(parseYaml(kList)) + "\n";
  const auto documents = splitYaml(text);
  ASSERT_EQ(documents.size(), 3U);
  EXPECT_EQ(documents[0].json, R"({"a":"}{"})");
  EXPECT_EQ(documents[1].json, R"({"b":2})");
  EXPECT_EQ(documents[1].number, 2U);
  EXPECT_EQ(documents[1].offset, 13U);
  EXPECT_EQ(documents[2].line, 3U);
  EXPECT_EQ(documents[2].column, 3U);
  EXPECT_EQ(splitYaml(text, {.expandLists = true}).size(), 5U);
  EXPECT_THAT(problemOf("{\"a\":1}{\"b\":}"), HasSubstr("unexpected text after the document"));
  EXPECT_NE(problemOf("{\"a\":1} b: 2"), "no error");
}

TEST(YamlDocumentsTest, AreSeparatedAtTheStartOfALineOnly) {
  EXPECT_EQ(problemOf("{\"a\":1}---\n"), "1:8 unexpected text after the document");
  EXPECT_THAT(problemOf("{\"a\":1}\n---x\n"), HasSubstr("unexpected text after the document"));
  EXPECT_EQ(splitYaml("{\"a\":1}\n---\n{\"b\":2}\n--- {c: 3}\n").size(), 3U);
}

// --- Typed decoding.

TEST(YamlTypedTest, ReadsDescribedTypes) {
  const auto object = fromYaml<metav1::PartialObjectMetadata>(R"(metadata:
  name: web
  labels: &labels {app: web, tier: "1"}
  annotations:
    <<: *labels
    note: |-
      two
      lines
  creationTimestamp: 2020-01-02T03:04:05Z
  generation: 0x10
  finalizers: [a, "yes"]
)");
  EXPECT_EQ(object.metadata.name, "web");
  EXPECT_EQ(object.metadata.labels["tier"], "1");
  EXPECT_EQ(object.metadata.annotations["app"], "web");
  EXPECT_EQ(object.metadata.annotations["note"], "two\nlines");
  EXPECT_EQ(object.metadata.generation, 16);
  EXPECT_EQ(object.metadata.finalizers[1], "yes");
  EXPECT_EQ(fromYaml<metav1::PartialObjectMetadata>(toYaml(object)), object);
}

TEST(YamlTypedTest, ANumberIsNoStringAsInKubectl) {
  const auto error = errorOf([] {
    fromYaml<metav1::PartialObjectMetadata>("metadata:\n  labels:\n    app: x\n    on: 1\n");
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->format(), "yaml");
  EXPECT_EQ(error->line(), 4U);
  EXPECT_EQ(error->column(), 9U);
  EXPECT_EQ(error->offset(), 39U);
  EXPECT_EQ(error->path(), "metadata.labels.true");
  EXPECT_THAT(error->what(), HasSubstr("yaml: line 4, column 9 (offset 39): metadata.labels.true"));
}

TEST(YamlTypedTest, ErrorsInLaterDocumentsAndItemsHaveTheirPlace) {
  const auto documents =
      splitYaml("a: 1\n---\nitems:\n- metadata: {name: a}\n- metadata: {name: 2}");
  ASSERT_EQ(documents.size(), 2U);
  const auto error = errorOf([&] { documents[1].as<metav1::PartialObjectMetadataList>(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->line(), 5U);
  EXPECT_EQ(error->column(), 20U);
  EXPECT_EQ(error->path(), "items[1].metadata.name");
}

TEST(YamlTypedTest, AnErrorInAnAliasIsAtItsAnchor) {
  const auto error =
      errorOf([] { fromYaml<metav1::PartialObjectMetadata>("x: &x 1\nmetadata:\n  name: *x\n"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->line(), 1U);
  EXPECT_EQ(error->path(), "metadata.name");
}

TEST(YamlTypedTest, StrictDecodingNamesUnknownAndDuplicateFields) {
  const std::string_view text = "metadata:\n  name: a\n  nane: b\n  name: c\n";
  EXPECT_EQ(fromYaml<metav1::PartialObjectMetadata>(text).metadata.name, "c");
  const auto error =
      errorOf([&] { fromYaml<metav1::PartialObjectMetadata>(text, {.strict = true}); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->reason(),
            "strict decoding error: line 4: key \"name\" already set in map, "
            "unknown field \"metadata.nane\"");
}

TEST(YamlTypedTest, TheWrongKindIsAnError) {
  const auto error = errorOf([] { fromYaml<metav1::Status>("apiVersion: v1\nkind: Pod\n"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->line(), 2U);
}

// --- Bad input.

TEST(YamlBadInputTest, IsAnErrorWithItsPlace) {
  EXPECT_EQ(problemOf("a: b: c"), "1:5 illegal map value");
  EXPECT_EQ(problemOf("a: [1, 2"), "1:9 end of sequence flow not found");
  EXPECT_EQ(problemOf("a: {b: 1"), "1:9 end of map flow not found");
  EXPECT_EQ(problemOf("a: ]"), "1:4 illegal flow end");
  EXPECT_EQ(problemOf("[a,,b]"), "1:4 expected an item of the sequence");
  EXPECT_EQ(problemOf("a: 1\n- b"), "2:1 end of map not found");
  EXPECT_EQ(problemOf("a: @b"), "1:4 unknown token");
  EXPECT_EQ(problemOf("a:\n\tb: c"), "2:3 illegal map value");
  EXPECT_EQ(problemOf("a: \"\\q\""), "1:7 unknown escape character: q");
  EXPECT_THAT(problemOf("'a' b"), StartsWith("1:5 unexpected"));
  EXPECT_EQ(problemOf("}"), "1:1 illegal flow end");
}

TEST(YamlBadInputTest, TruncatedQuotesAreErrors) {
  EXPECT_EQ(problemOf("a: 'b"), "1:6 illegal EOF in scalar");
  for (const char* text : {"'", "\"", "a: 'b\n", "a: \"b\n\n  ", "a: &x !!str \"b\n", "- \"\\\n"}) {
    EXPECT_NE(problemOf(text), "no error") << text;
  }
}

TEST(YamlBadInputTest, MustBeUtf8WithoutControlCharacters) {
  EXPECT_EQ(problemOf("a: b\nc: \xFF"), "2:4 not valid UTF-8");
  EXPECT_EQ(problemOf("a: \xED\xA0\x80"), "1:4 not valid UTF-8");
  EXPECT_EQ(problemOf("a: \xE2\x82"), "1:4 not valid UTF-8");
  EXPECT_EQ(problemOf("a: b\x01"), "1:5 control characters are not allowed");
  EXPECT_EQ(problemOf(std::string_view("a\0b", 3)), "1:2 control characters are not allowed");
  EXPECT_EQ(problemOf("a: \x04"), "1:4 control characters are not allowed");
}

TEST(YamlBadInputTest, DeepNestingIsAnError) {
  for (const char* open : {"[", "{", "- ", "? ", "[a,", "[a: ", "{a: ", "!!seq [", "&a [", "[\n"}) {
    EXPECT_THAT(problemOf(repeat(open, 10'000)), HasSubstr("nested too deeply")) << open;
  }
  std::string block;
  for (int i = 0; i < 1'000; ++i) block += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  EXPECT_THAT(problemOf(block), HasSubstr("nested too deeply"));
  EXPECT_EQ(jsonOf(repeat("[", 400) + repeat("]", 400)), repeat("[", 400) + repeat("]", 400));
}

TEST(YamlBadInputTest, DeepNestingByAliasesIsAnError) {
  for (const std::string_view shape : {"[*a", "{<<: *a", "{k: *a"}) {
    std::string text = "- &a0 {x: y}\n";
    for (int i = 1; i < 1'500; ++i) {
      text += "- &a" + std::to_string(i) + " " + std::string(shape) + std::to_string(i - 1) +
              (shape[0] == '[' ? "]\n" : "}\n");
    }
    EXPECT_THAT(problemOf(text), AnyOf(HasSubstr("nested too deeply"), HasSubstr("too much")))
        << shape;
  }
}

TEST(YamlBadInputTest, AliasesCannotMultiplyWithoutEnd) {
  for (const bool merge : {false, true}) {
    if (detail::kSanitized && merge) continue;  // takes long
    std::string text = "- &a0 {k: lol}\n";
    for (int i = 1; i < 30; ++i) {
      const std::string alias = "*a" + std::to_string(i - 1);
      text += "- &a" + std::to_string(i) + (merge ? " {<<: [" : " [") + alias + "," + alias + "," +
              alias + "," + alias + (merge ? "]}\n" : "]\n");
    }
    EXPECT_THAT(problemOf(text), HasSubstr("aliases expand to too much"));
  }
}

TEST(YamlBadInputTest, StrayTokensDoNotMakeDocumentsWithoutEnd) {
  for (const char* text :
       {",", "}", "]", "a\n}", "...\n}", "'a':1", ": ,", "- a\n]\n", "!,", "? ]"}) {
    EXPECT_NE(problemOf(text), "") << text;
  }
}

TEST(YamlBadInputTest, HugeFlowCollectionsAreRefused) {
  EXPECT_THAT(problemOf(repeat("[", 1'100'000)), HasSubstr("nested too deeply"));
  if (detail::kSanitized) GTEST_SKIP() << "takes long";
  EXPECT_THAT(problemOf("[" + repeat("a,", 1'100'000) + "a]"), HasSubstr("too many items"));
}

// --- Upstream's golden objects.

std::string readFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(YamlGoldenTest, EveryObjectIsWrittenAndReadLikeUpstream) {
  const char* set = std::getenv("KUBEXX_GOLDEN_DIR");
  const auto folder = std::filesystem::path(set != nullptr ? set : "../shared/golden") / "v1.37";
  if (!std::filesystem::is_directory(folder)) {
    GTEST_SKIP() << "no golden objects: set KUBEXX_GOLDEN_DIR to the folder that holds v1.37";
  }
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".yaml") continue;
    auto jsonPath = entry.path();
    const Value value = parseJson(readFile(jsonPath.replace_extension(".json")));
    const std::string yaml = readFile(entry.path());
    EXPECT_EQ(toYaml(value), yaml) << entry.path();
    EXPECT_EQ(parseYaml(yaml), value) << entry.path();
    ++count;
  }
  EXPECT_GT(count, 100);
}

}  // namespace
}  // namespace kube
