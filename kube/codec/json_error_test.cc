// Errors of JSON decoding for malformed, mistyped and hostile text.
#include <gtest/gtest.h>

#include <string>

#include "kube/base/internal/error_of_testing.h"
#include "kube/base/internal/sanitizer.h"
#include "kube/base/pool.h"
#include "kube/codec/internal/every_kind_testing.h"
#include "kube/codec/json.h"

namespace kube {
namespace {

using everykind::Big;
using everykind::Every;
using everykind::Random;
using everykind::Small;
using everykind::Tree;
using everykind::Widget;
using everykind::WidgetList;

template <class T>
std::string jsonError(std::string_view text) {
  return errorOf([&] { fromJson<T>(text); });
}
std::string valueError(std::string_view text) {
  return errorOf([&] { parseJson(text); });
}
std::string repeated(std::string_view text, std::size_t times) {
  std::string result;
  for (; times > 0; --times) result += text;
  return result;
}

TEST(JsonErrorTest, NamesThePlaceAndTheField) {
  EXPECT_EQ(jsonError<Small>(R"({"name":5})"),
            "json: line 1, column 9 (offset 8): name: expected a string, found a number");
  EXPECT_EQ(jsonError<Small>("{\n  \"number\": \"x\"\n}"),
            "json: line 2, column 13 (offset 14): number: expected a number, found a string");
  EXPECT_EQ(jsonError<Widget>("{\"metadata\":{\"labels\":{\"a\":{}}}}"),
            "json: line 1, column 28 (offset 27): metadata.labels.a: expected a string, found an "
            "object");
  EXPECT_EQ(jsonError<Widget>("{\"spec\":{\"listMessage\":[{},\n{\"words\":[\"\",\n 7]}]}}"),
            "json: line 3, column 2 (offset 43): spec.listMessage[1].words[1]: expected a string, "
            "found a number");
  EXPECT_EQ(
      jsonError<Widget>(R"({"bigs":[{"parts":[{"named":{"k":{"first":{"generation":1.5}}}}]}]})"),
      "json: line 1, column 57 (offset 56): bigs[0].parts[0].named.k.first.generation: "
      "expected a whole number, found 1.5");
  EXPECT_EQ(jsonError<Tree>(R"({"next":{"next":{"list":{}}}})"),
            "json: line 1, column 25 (offset 24): next.next.list: expected an array, found an "
            "object");
  EXPECT_EQ(jsonError<Every>(R"({"plainInt32":2147483648})"),
            "json: line 1, column 15 (offset 14): plainInt32: number out of range: 2147483648");
  EXPECT_EQ(jsonError<Every>(R"({"plainBool":"true"})"),
            "json: line 1, column 14 (offset 13): plainBool: expected a boolean, found a string");
  EXPECT_EQ(jsonError<Every>(R"({"plainTime":"yesterday"})"),
            "json: line 1, column 14 (offset 13): plainTime: expected a time such as "
            "2006-01-02T15:04:05Z");
  EXPECT_EQ(jsonError<Every>(R"({"plainMicroTime":"2006-01-02T15:04:05Z"})"),
            "json: line 1, column 19 (offset 18): plainMicroTime: expected a time such as "
            "2006-01-02T15:04:05.000000Z");
  EXPECT_EQ(
      jsonError<Every>(R"({"plainDuration":"5 minutes"})"),
      "json: line 1, column 18 (offset 17): plainDuration: expected a duration such as 1h30m");
  EXPECT_EQ(jsonError<Every>(R"({"mapBytes":{"key":"%%%%"}})"),
            "json: line 1, column 20 (offset 19): mapBytes.key: expected base64 text");
  EXPECT_EQ(jsonError<Small>(R"({"name":"a" "number":1})"),
            "json: line 1, column 13 (offset 12): expected ',' or '}'");
  EXPECT_EQ(jsonError<Small>(R"({"name" "a"})"),
            "json: line 1, column 9 (offset 8): expected ':' after a field name");
  EXPECT_EQ(jsonError<Small>(R"({"words":["a" "b"]})"),
            "json: line 1, column 15 (offset 14): words[0]: expected ',' or ']'");
  EXPECT_EQ(jsonError<Small>(R"({"name":"a"}{)"),
            "json: line 1, column 14 (offset 13): unexpected end: a bracket is not closed");
  EXPECT_EQ(jsonError<Small>(R"({"name":"a"} 1)"),
            "json: line 1, column 14 (offset 13): unexpected text after the value");
  EXPECT_EQ(jsonError<Small>("{\"name\":\"a\xFF\"}"),
            "json: line 1, column 11 (offset 10): not valid UTF-8");
  EXPECT_EQ(
      jsonError<Small>("{\"name\":\n\"a\tb\"}"),
      "json: line 2, column 3 (offset 11): control character in a string: it must be escaped");
  EXPECT_EQ(jsonError<Small>(R"({"name":"\x"})"),
            "json: line 1, column 9 (offset 8): malformed escape in a string");
  EXPECT_EQ(jsonError<Small>(""),
            "json: line 1, column 1 (offset 0): unexpected end: there is no value");
}

TEST(JsonErrorTest, FactsAreMembersToo) {
  try {
    fromJson<Small>("{\n\"words\":[1]}");
    FAIL();
  } catch (const DecodeError& error) {
    EXPECT_EQ(error.format(), "json");
    EXPECT_EQ(error.path(), "words[0]");
    EXPECT_EQ(error.offset(), 11u);
    EXPECT_EQ(error.line(), 2u);
    EXPECT_EQ(error.column(), 10u);
    EXPECT_EQ(error.reason(), "expected a string, found a number");
  }
}

TEST(JsonErrorTest, AnotherKindIsAnError) {
  EXPECT_EQ(jsonError<Widget>(R"({"kind":"Pod","apiVersion":"v1"})"),
            "json: line 1, column 9 (offset 8): kind: expected kind \"Widget\", found \"Pod\"");
  EXPECT_EQ(jsonError<Widget>(R"({"kind":"Widget","apiVersion":"v1"})"),
            "json: line 1, column 31 (offset 30): apiVersion: expected apiVersion "
            "\"test.kubexx/v1\", found \"v1\"");
  EXPECT_EQ(jsonError<Widget>(R"({"kind":5})"),
            "json: line 1, column 9 (offset 8): kind: expected a string, found a number");
  EXPECT_EQ(jsonError<metav1::Status>(R"({"kind":"Pod"})"),
            "json: line 1, column 9 (offset 8): kind: expected kind \"Status\", found \"Pod\"");
}

TEST(JsonErrorTest, TextCutShortAnywhereIsAnError) {
  Random random(1);
  Widget widget;
  do {
    widget = random.widget(true);
  } while (toJson(widget).size() < 1500);
  for (const int indent : {0, 1}) {
    const std::string text = toJson(widget, indent);
    Pool pool;
    for (std::size_t size = 0; size < text.size(); size += detail::kSanitized ? 7 : 1) {
      const auto part = std::string(text, 0, size);  // a copy, so that overruns are detected
      ASSERT_THROW(fromJson<Widget>(part), DecodeError) << part;
      ASSERT_THROW(fromJson<Widget>(part, {.pool = &pool}), DecodeError) << part;
      ASSERT_THROW(parseJson(part), DecodeError) << part;
    }
    EXPECT_EQ(fromJson<Widget>(text, {.pool = &pool}), widget);
  }
}

TEST(JsonErrorTest, ListCutShortAnywhereIsAnError) {
  const std::string text =
      R"({"kind":"WidgetList","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":)"
      R"("a"}},{"metadata":{"labels":{"x":"y"}}}]})";
  for (std::size_t size = 0; size < text.size(); ++size) {
    ASSERT_THROW(fromJson<WidgetList>(std::string(text, 0, size)), DecodeError) << size;
  }
  EXPECT_EQ(fromJson<WidgetList>(text).items.size(), 2u);
}

TEST(JsonErrorTest, MalformedTextIsAnErrorWhereverItStands) {
  const std::string bad[] = {
      "{",
      "}",
      "[",
      "]",
      "[}",
      "{]",
      "[1,]",
      "[,1]",
      "[1,,2]",
      "[1 2]",
      "{\"a\"}",
      "{\"a\":}",
      "{\"a\" 1}",
      "{a:1}",
      "{1:1}",
      "{\"a\":1,}",
      "{,}",
      "{\"a\":1 \"b\":2}",
      "[1}",
      "{\"a\":1]",
      "\"",
      "\"a",
      "\"\\\"",
      "\"a\"b",
      "\"a\"\\\"",
      "\"a\"\"b\"",
      "tru",
      "truee",
      "nul",
      "nulll",
      "none",
      "True",
      "NaN",
      "Infinity",
      "-Infinity",
      "-",
      "+1",
      "01",
      "-01",
      "1.",
      ".5",
      "1e",
      "1e+",
      "1.e5",
      "0x10",
      "1_000",
      "1a",
      "--1",
      "'a'",
      "\"\\u12\"",
      "\"\\u12G4\"",
      "\"\\q\"",
      "\"\\\n\"",
      "\"\x01\"",
      "\"\n\"",
      "// c\n1",
      "/**/1",
      "1 /**/",
      "\xEF\xBB\xBF"
      "1",
      "\"\xC0\xAF\"",
      "\"\xED\xA0\x80\"",
      "\"\xF5\x80\x80\x80\"",
      "\"\xE2\x82\"",
      "\xFF",
      "1\v",
      "\f1",
      "[1]]",
      "{}{}",
      "1,",
      ",",
      ":",
      "{:1}",
      "{\"a\":1:2}",
      "[\"a\":1]",
      std::string("\0", 1),
      std::string("1\0", 2),
      std::string("\"a\0b\"", 5),
      std::string("[1\0,2]", 6),
      "1Gi",
  };
  for (const std::string& text : bad) {
    EXPECT_NE(valueError(text), "") << text;
    EXPECT_NE(valueError("{\"x\":[" + text + "]}"), "") << text;
    EXPECT_NE(jsonError<Every>("{\"unknown\":" + text + "}"), "") << text;
    EXPECT_NE(jsonError<Every>("{\"plainValue\":" + text + "}"), "") << text;
    EXPECT_NE(jsonError<Every>("{\"plainRaw\":" + text + "}"), "") << text;
    EXPECT_NE(jsonError<Every>("{\"plainString\":" + text + "}"), "") << text;
    EXPECT_NE(jsonError<Every>("{\"plainDouble\":" + text + "}"), "") << text;
    EXPECT_NE(jsonError<Every>("{\"plainQuantity\":" + text + "}"), "") << text;
    EXPECT_NE(jsonError<Every>("{\"listInt64\":[" + text + "]}"), "") << text;
    EXPECT_NE(jsonError<WidgetList>("{\"unknown\":" + text + "}"), "") << text;
    EXPECT_NE(jsonError<WidgetList>("{\"items\":" + text + "}"), "") << text;
    EXPECT_NE(jsonError<WidgetList>("{\"items\":[{\"unknown\":" + text + "}]}"), "") << text;
    EXPECT_NE(jsonError<WidgetList>("{\"items\":[{}]," + text + "}"), "") << text;
  }
}

TEST(JsonErrorTest, NoTextIsAnError) {
  for (const char* text : {"", " ", "\n\t\r "}) {
    EXPECT_NE(valueError(text), "");
    EXPECT_NE(jsonError<Every>(text), "");
    EXPECT_NE(jsonError<WidgetList>(text), "");
    EXPECT_NE(jsonError<Every>("{\"plainInt32\":" + std::string(text) + "}"), "");
  }
  EXPECT_NE(errorOf([] { fromJson<Every>(std::string_view()); }), "");
}

TEST(JsonErrorTest, EveryKindRefusesEveryOtherType) {
  const std::string object = "{}", array = "[]", string = "\"?\"", number = "1.5", boolean = "true";
  const std::pair<const char*, std::vector<std::string>> cases[] = {
      {"Bool", {object, array, string, number}},
      {"Int32", {object, array, string, number, boolean, "1e3", "2147483648", "-2147483649"}},
      {"Int64", {object, array, string, number, boolean, "9223372036854775808"}},
      {"Double", {object, array, string, boolean, "1e400", "-1e400"}},
      {"String", {object, array, number, boolean}},
      {"Bytes", {object, array, string, number, boolean}},
      {"Time", {object, array, string, number, boolean, "\"\""}},
      {"MicroTime", {object, array, string, number, boolean, "\"\""}},
      {"Duration", {object, array, string, number, boolean, "\"\"", "\"5\""}},
      {"Quantity", {object, array, string, boolean, "\"\"", "\"1 Gi\""}},
      {"IntOrString", {object, array, number, boolean, "2147483648"}},
      {"Strings", {object, string, number, boolean, "[1]", "[{}]"}},
      {"Message", {array, string, number, boolean}},
  };
  for (const auto& [kind, values] : cases) {
    for (const std::string& value : values) {
      const std::string name(kind);
      EXPECT_NE(jsonError<Every>("{\"plain" + name + "\":" + value + "}"), "") << name << value;
      EXPECT_NE(jsonError<Every>("{\"optional" + name + "\":" + value + "}"), "") << name << value;
      EXPECT_NE(jsonError<Every>("{\"list" + name + "\":[" + value + "]}"), "") << name << value;
      EXPECT_NE(jsonError<Every>("{\"map" + name + "\":{\"k\":" + value + "}}"), "")
          << name << value;
      EXPECT_NE(jsonError<Every>("{\"list" + name + "\":{}}"), "") << name;
      EXPECT_NE(jsonError<Every>("{\"list" + name + "\":" + boolean + "}"), "") << name;
      EXPECT_NE(jsonError<Every>("{\"map" + name + "\":[]}"), "") << name;
      EXPECT_NE(jsonError<Every>("{\"map" + name + "\":" + string + "}"), "") << name;
    }
  }
  for (const char* text : {"[]", "\"x\"", "1", "true", "null"}) {
    EXPECT_NE(jsonError<Every>(text), "") << text;
    EXPECT_NE(jsonError<WidgetList>(text), "") << text;
  }
  EXPECT_NE(jsonError<Big>(R"({"parts":[1]})"), "");
  EXPECT_NE(jsonError<Big>(R"({"parts":["x"]})"), "");
}

TEST(JsonErrorTest, DeepNestingIsRefusedNotFollowed) {
  for (const std::size_t depth : {std::size_t{10'000}, std::size_t{1'000'000}}) {
    const std::string arrays = repeated("[", depth);
    const std::string objects = repeated("{\"next\":", depth);
    for (const std::string& text :
         {arrays, objects, arrays + repeated("]", depth), objects + "{}" + repeated("}", depth)}) {
      EXPECT_NE(valueError(text).find("nested too deeply"), std::string::npos);
      EXPECT_NE(jsonError<Tree>(text).find("nested too deeply"), std::string::npos);
      for (const char* field : {"unknown", "plainRaw", "plainValue", "listValue"}) {
        const auto what = jsonError<Every>("{\"" + std::string(field) + "\":" + text + "}");
        EXPECT_NE(what.find("nested too deeply"), std::string::npos) << field;
      }
      EXPECT_NE(jsonError<WidgetList>("{\"items\":" + text + "}"), "");
      EXPECT_NE(jsonError<WidgetList>("{\"items\":[{\"tree\":" + text + "}]}"), "");
      EXPECT_NE(jsonError<WidgetList>("{\"x\":" + text + "}"), "");
    }
  }
}

TEST(JsonErrorTest, ReasonableNestingIsFollowed) {
  const std::size_t depth = 900;
  auto tree = fromJson<Tree>(repeated("{\"next\":", depth) + "{}" + repeated("}", depth));
  std::size_t levels = 0;
  for (const Tree* at = &tree; at->next; at = &at->next.read()) ++levels;
  EXPECT_EQ(levels, depth);
  EXPECT_EQ(fromJson<Tree>(toJson(tree)), tree);
  const std::string value = repeated("[", depth) + repeated("]", depth);
  EXPECT_EQ(toJson(parseJson(value)), value);
}

TEST(JsonErrorTest, LongInputIsTaken) {
  const std::string name(5 << 20, 'x');
  EXPECT_EQ(fromJson<Small>("{\"name\":\"" + name + "\"}").name, name);
  const auto words = repeated("\"w\",", 300'000) + "\"w\"";
  EXPECT_EQ(fromJson<Small>("{\"words\":[" + words + "]}").words.size(), 300'001u);
  EXPECT_NE(jsonError<Every>("{\"plainInt64\":" + std::string(100'000, '9') + "}"), "");
  EXPECT_NE(valueError(std::string(100'000, '9')), "");
}

TEST(JsonErrorTest, AFailedDecodeLeavesThePoolInOrder) {
  Pool pool;
  Random random(5);
  std::vector<Widget> kept;
  for (int i = 0; i < 200; ++i) {
    const Widget widget = random.widget(true);
    std::string text = toJson(widget);
    text.back() = ']';
    EXPECT_THROW(fromJson<Widget>(text, {.pool = &pool}), DecodeError);
    text.back() = '}';
    text.replace(text.rfind('}', text.size() - 2), 1, "!");
    EXPECT_THROW(fromJson<Widget>(text, {.pool = &pool}), DecodeError);
    kept.push_back(fromJson<Widget>(toJson(widget), {.pool = &pool}));
    ASSERT_EQ(kept.back(), widget);
  }
}

}  // namespace
}  // namespace kube
