// The expected output comes from kubectl 1.32 and sigs.k8s.io/yaml.
#include <gtest/gtest.h>

#include "kube/codec/json.h"
#include "kube/codec/yaml.h"
#include "kube/codec/yaml_testing.h"
#include "kube/meta/v1.h"

namespace kube {
namespace {

/// A string's YAML, as a document of its own and without the final line break.
std::string yamlOf(const Value& value) {
  std::string text = toYaml(value);
  EXPECT_TRUE(text.ends_with('\n'));
  if (!text.empty()) text.pop_back();
  return text;
}

TEST(YamlOutputTest, QuotesStringsThatWouldReadAsSomethingElse) {
  for (const char* word : {"yes",
                           "y",
                           "N",
                           "on",
                           "OFF",
                           "true",
                           "null",
                           "~",
                           "",
                           "1",
                           "-1",
                           "0644",
                           "0x1F",
                           "0o7",
                           "0b1",
                           "1_000",
                           "1e3",
                           ".5",
                           "1.",
                           ".inf",
                           ".nan",
                           "2001-01-01",
                           "2001-1-1 1:2:3",
                           "2001-01-01T00:00:00.5+01:00",
                           "1:30",
                           "190:20:30.5",
                           "+1",
                           "18446744073709551615"}) {
    EXPECT_EQ(yamlOf(word), '"' + std::string(word) + '"');
  }
  for (const char* word : {"a", "yEs", "0x", "1e999", "-a", "a:b", "a#b", "it's", "a\\b", "=", "<<",
                           "?a", ":a", "2001-02-30", "1:90", "nULL", "a b", "\u00e9", "\u65e5"}) {
    EXPECT_EQ(yamlOf(word), word);
  }
}

TEST(YamlOutputTest, QuotesStringsWithIndicators) {
  for (const char* word : {" a", "a ",  "a: b", "a:", "a #b",  "#a",  "- a",   "-",  "? a", "?",
                           ":",  ": a", "*a",   "&a", "!a",    "%a",  "@a",    "`a", "|",   ">",
                           "[a", "]",   "{}",   ",",  "\"q\"", "---", "--- a", "..."}) {
    EXPECT_EQ(yamlOf(word), "'" + std::string(word) + "'");
  }
  EXPECT_EQ(yamlOf("it's: x"), "'it''s: x'");
}

TEST(YamlOutputTest, EscapesWhatCannotBePrinted) {
  EXPECT_EQ(yamlOf("\x01\x1B\x07"), R"("\x01\e\a")");
  EXPECT_EQ(yamlOf("a\tb\"\\"), R"("a\tb\"\\")");
  EXPECT_EQ(yamlOf("x\r\ny"), R"("x\r\ny")");
  EXPECT_EQ(yamlOf("\U0001F600"), R"("\U0001F600")");
  EXPECT_EQ(yamlOf("\x7F\u0085\uFEFF"), R"("\x7F\N\uFEFF")");
  EXPECT_EQ(yamlOf("a\u2028b"), R"("a\Lb")");
  EXPECT_EQ(yamlOf("a \nb"), R"("a \nb")") << "a space before a line break";
  EXPECT_EQ(yamlOf("a\nb "), R"("a\nb ")");
  EXPECT_EQ(yamlOf("a\xFF"), "a\xEF\xBF\xBD");
}

TEST(YamlOutputTest, WritesLinesAsBlocks) {
  const Value value =
      Value::Object{{"a", "x\ny"}, {"b", "x\ny\n"}, {"c", "x\n\n"},   {"d", "  x\ny"},
                    {"e", "\n"},   {"f", "\nx"},    {"g", "x\n y\n"}, {"h", "x"}};
  EXPECT_EQ(toYaml(value), R"(a: |-
  x
  y
b: |
  x
  y
c: |+
  x

d: |2-
    x
  y
e: |2+

f: |2-

  x
g: |
  x
   y
h: x
)");
}

TEST(YamlOutputTest, FoldsLongLinesAtEightyColumns) {
  const std::string words = repeat("word ", 20) + "end";
  EXPECT_EQ(toYaml(Value::Object{{"aa", words}}),
            "aa: " + repeat("word ", 15) + "word\n  word word word word end\n");
  EXPECT_EQ(toYaml(Value::Object{{"aa", "a: " + words}}),
            "aa: 'a: " + repeat("word ", 14) + "word\n  word word word word word end'\n");
  EXPECT_EQ(toYaml(Value::Object{{"aa", "\t" + words}}),
            "aa: \"\\t" + repeat("word ", 14) + "word\n  word word word word word end\"\n");
  const std::string url = "https://example.com/" + repeat("x", 100);
  EXPECT_EQ(toYaml(Value::Object{{"a", url}}), "a: " + url + "\n");
}

TEST(YamlOutputTest, LaysOutCollectionsAsKubectl) {
  const Value value = parseJson(R"({"b":[1,{"c":[],"d":{"e":null}},[true,[2]],{}],"a":{},"z":{"y":
      ["x"]}})");
  EXPECT_EQ(toYaml(value), R"(a: {}
b:
- 1
- c: []
  d:
    e: null
- - true
  - - 2
- {}
z:
  "y":
  - x
)");
  EXPECT_EQ(toYaml(Value()), "null\n");
  EXPECT_EQ(toYaml(Value(Value::Array{})), "[]\n");
  EXPECT_EQ(toYaml(Value(Value::Object{})), "{}\n");
}

TEST(YamlOutputTest, SortsKeysNaturally) {
  const Value value = parseJson(
      R"({"key-10":1,"key-2":1,"Key":1,"10":1,"9":1,"a.b":1,"a_b":1,"a-b":1,"ab":1,"a":1,"<<":1})");
  EXPECT_EQ(toYaml(value),
            "\"<<\": 1\n\"9\": 1\n\"10\": 1\nKey: 1\na: 1\na-b: 1\na.b: 1\na_b: 1\nab: 1\n"
            "key-2: 1\nkey-10: 1\n");
}

TEST(YamlOutputTest, LongAndMultilineKeysAreExplicit) {
  const std::string key(130, 'k');
  EXPECT_EQ(toYaml(Value::Object{{key, Value::Array{1}}}), "? " + key + "\n: - 1\n");
  EXPECT_EQ(toYaml(Value::Object{{"a\nb", Value::Object{{"c", 1}}}}), "? |-\n  a\n  b\n: c: 1\n");
}

TEST(YamlOutputTest, WritesNumbersAsGoDoes) {
  EXPECT_EQ(
      toYaml(parseJson("[1,-1,9223372036854775807,0.5,1e21,1e-7,123456789.5,1000000.5,1e20]")),
      "- 1\n- -1\n- 9223372036854775807\n- 0.5\n- 1e+21\n- 1e-07\n- 1.234567895e+08\n"
      "- 1.0000005e+06\n- 1e+20\n");
  EXPECT_EQ(yamlOf(2.0), "2");
  EXPECT_EQ(yamlOf(1e19), "10000000000000000000");
  EXPECT_THROW(toYaml(Value(1.0 / 0.0)), Error);
}

TEST(YamlOutputTest, OfDescribedTypesHasSortedKeys) {
  metav1::PartialObjectMetadata object;
  object.metadata.name = "web";
  object.metadata.labels["on"] = "1";
  const std::string text = toYaml(object);
  EXPECT_LT(text.find("apiVersion"), text.find("kind"));
  EXPECT_LT(text.find("labels:\n    \"on\": \"1\""), text.find("name: web"));
}

}  // namespace
}  // namespace kube
