#include "kube/codec/json.h"
#include "kube/codec/internal/json_document.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kube/base/error.h"
#include "kube/base/pool.h"
#include "kube/codec/internal/every_kind_testing.h"

namespace kube {
namespace {

using everykind::Big;
using everykind::Every;
using everykind::Random;
using everykind::Small;
using everykind::Tree;
using everykind::Widget;
using everykind::WidgetList;

/// The text of an object after decoding and encoding.
template <class T>
std::string again(std::string_view text, int indent = 0) {
  return toJson(fromJson<T>(text), indent);
}

// ---- Kinds ----

TEST(JsonTest, ReadsPlainFieldsOfEveryKind) {
  const auto all = fromJson<Every>(R"({
    "plainBool": true, "plainInt32": -7, "plainInt64": 9007199254740993, "plainDouble": 2.5,
    "plainString": "text", "plainBytes": "AP+A", "plainTime": "2024-05-06T07:08:09Z",
    "plainMicroTime": "2024-05-06T07:08:09.123456Z", "plainDuration": "1h30m",
    "plainQuantity": "1536Mi", "plainIntOrString": "25%", "plainRaw": {"a": [1, 2]},
    "plainStrings": ["x", "y"], "plainValue": {"any": [true, null]},
    "plainMessage": {"name": "n", "number": 3, "words": ["w"]}})");
  EXPECT_TRUE(all.plainBool);
  EXPECT_EQ(all.plainInt32, -7);
  EXPECT_EQ(all.plainInt64, 9007199254740993);
  EXPECT_EQ(all.plainDouble, 2.5);
  EXPECT_EQ(all.plainString, "text");
  EXPECT_EQ(all.plainBytes.view(), std::string_view("\0\xFF\x80", 3));
  EXPECT_EQ(all.plainTime, Time::fromUnix(1714979289));
  EXPECT_EQ(all.plainMicroTime, MicroTime::fromUnix(1714979289, 123'456'000));
  EXPECT_EQ(all.plainDuration, Duration(std::chrono::minutes(90)));
  EXPECT_EQ(all.plainQuantity.text(), "1536Mi");
  EXPECT_EQ(all.plainIntOrString, IntOrString("25%"));
  EXPECT_EQ(all.plainRaw.raw, R"({"a":[1,2]})");
  EXPECT_EQ(all.plainStrings, (Strings{"x", "y"}));
  EXPECT_EQ(all.plainValue, Value(Value::Object{{"any", Value::Array{true, nullptr}}}));
  EXPECT_EQ(all.plainMessage, (Small{.name = "n", .number = 3, .words = {"w"}}));
}

TEST(JsonTest, WritesPlainFieldsOfEveryKind) {
  constexpr std::string_view kText =
      R"({"plainBool":true,"plainInt32":-7,"plainInt64":9007199254740993,"plainDouble":2.5,)"
      R"("plainString":"text","plainBytes":"AP+A","plainTime":"2024-05-06T07:08:09Z",)"
      R"("plainMicroTime":"2024-05-06T07:08:09.123456Z","plainDuration":"1h30m0s",)"
      R"("plainQuantity":"1536Mi","plainIntOrString":"25%","plainRaw":{"a":[1,2]},)"
      R"("plainStrings":["x","y"],"plainValue":{"any":[true,null]},)"
      R"("plainMessage":{"name":"n","number":3,"words":["w"]}})";
  EXPECT_EQ(again<Every>(kText), kText);
}

// Zeros are written for optional fields, and left out for plain ones.
TEST(JsonTest, OptionalFieldsTellZeroFromAbsent) {
  const auto all = fromJson<Every>(R"({
    "optionalBool": false, "optionalInt32": 0, "optionalInt64": 0, "optionalDouble": 0,
    "optionalString": "", "optionalBytes": "", "optionalDuration": "0s", "optionalQuantity": "0",
    "optionalIntOrString": 0, "optionalStrings": [], "optionalMessage": {},
    "plainBool": false, "plainInt32": 0, "plainString": "", "plainBytes": "",
    "plainQuantity": "0", "plainStrings": []})");
  EXPECT_EQ(toJson(all),
            R"({"plainIntOrString":0,"plainMessage":{},)"
            R"("optionalBool":false,"optionalInt32":0,"optionalInt64":0,"optionalDouble":0,)"
            R"("optionalString":"","optionalBytes":"","optionalDuration":"0s",)"
            R"("optionalQuantity":"0","optionalIntOrString":0,"optionalStrings":[],)"
            R"("optionalMessage":{}})");
  EXPECT_TRUE(all.optionalMessage.has_value() && all.optionalInt32.has_value());
  EXPECT_FALSE(all.optionalTime.has_value() || all.optionalRaw.has_value());
}

TEST(JsonTest, ListsAndMapsHoldEveryKind) {
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    const Every all = random.every(3, true);
    const std::string text = toJson(all);
    const auto back = fromJson<Every>(text);
    ASSERT_EQ(back, all) << text;
    ASSERT_EQ(toJson(back), text);
    ASSERT_EQ(fromJson<Every>(toJson(all, 2)), all) << text;
  }
}

TEST(JsonTest, BoxedAndRecursivePartsComeBackEqual) {
  Random random(2);
  for (int i = 0; i < 100; ++i) {
    const Widget widget = random.widget(true);
    const std::string text = toJson(widget);
    ASSERT_EQ(fromJson<Widget>(text), widget) << text;
    ASSERT_EQ(again<Widget>(toJson(widget, 4)), text);
  }
}

TEST(JsonTest, MapsComeOutInOrderOfTheirKeys) {
  EXPECT_EQ(again<metav1::ObjectMeta>(R"({"labels":{"b":"2","a":"1","c":"","B":"0"}})"),
            R"({"labels":{"B":"0","a":"1","b":"2","c":""}})");
}

TEST(JsonTest, NestedMapsOfMessagesKeepTheirParts) {
  const auto tree = fromJson<Tree>(
      R"({"map":{"b":{"name":"x","map":{"z":{},"y":{"list":[{},{"name":"deep"}]}}},"a":{}}})");
  EXPECT_EQ(tree.map["b"].map["y"].list[1].name, "deep");
  EXPECT_EQ(tree.map.size(), 2u);
}

// ---- Absence ----

TEST(JsonTest, NullIsAbsentForEveryField) {
  std::string text = "{";
  for (const FieldInfo& field : TypeOf<Every>::info.fields) {
    text += (text.size() > 1 ? ",\"" : "\"") + std::string(field.name) + "\":null";
  }
  const auto all = fromJson<Every>(text + "}", {.strict = true});
  EXPECT_EQ(all, Every());
  EXPECT_FALSE(all.optionalMessage.has_value());
}

TEST(JsonTest, NullElementsAreEmptyOnes) {
  const auto all = fromJson<Every>(
      R"({"listString":[null,"a"],"listInt32":[null],"mapMessage":{"k":null},"listTime":[null],)"
      R"("listValue":[null],"mapBool":{"t":null},"listMessage":[null,{"name":"b"}]})");
  EXPECT_EQ(all.listString, (List<String>{"", "a"}));
  EXPECT_EQ(all.listInt32, (List<std::int32_t>{0}));
  EXPECT_TRUE(all.mapMessage.contains("k"));
  EXPECT_TRUE(all.mapBool.contains("t"));
  EXPECT_EQ(all.listMessage.size(), 2u);
  EXPECT_EQ(fromJson<Big>(R"({"parts":[null,{"name":"b"}]})").parts[1].name, "b");
}

TEST(JsonTest, RequiredFieldsAreShownEvenWhenEmpty) {
  EXPECT_EQ(toJson(metav1::Condition()),
            R"({"type":"","status":"","lastTransitionTime":null,"reason":"","message":""})");
  EXPECT_EQ(toJson(WidgetList()),
            R"({"kind":"WidgetList","apiVersion":"test.kubexx/v1","metadata":{},"items":[]})");
}

TEST(JsonTest, UnknownFieldsAreIgnored) {
  EXPECT_EQ(again<Small>(R"({"x":{"deep":[1,{"y":null}]},"name":"n","z":"\u0041","w":-1.5e3})"),
            R"({"name":"n"})");
}

TEST(JsonTest, FieldNamesAreCaseSensitive) {
  EXPECT_EQ(again<Small>(R"({"Name":"n","NUMBER":1})"), "{}");
}

// ---- Strictness ----

TEST(JsonTest, ProblemsNameEveryUnknownAndDuplicateField) {
  std::vector<std::string> problems;
  const auto widget = fromJson<Widget>(
      R"({"kind":"Widget","metadata":{"labels":{"a":"1","a":"2"},"colour":"red"},"extra":1,)"
      R"("spec":{"listMessage":[{},{"nmae":"x","name":"a","name":"b"}],"plainValue":{"v":1,"v":2}},)"
      R"("bigs":[{"parts":[{"first":{"nom":"x"}}]}],"kind":"Widget"})",
      {.problems = &problems});
  EXPECT_EQ(problems, (std::vector<std::string>{
                          R"(duplicate field "metadata.labels.a")",
                          R"(unknown field "metadata.colour")",
                          R"(unknown field "extra")",
                          R"(unknown field "spec.listMessage[1].nmae")",
                          R"(duplicate field "spec.listMessage[1].name")",
                          R"(duplicate field "spec.plainValue.v")",
                          R"(unknown field "bigs[0].parts[0].first.nom")",
                          R"(duplicate field "kind")",
                      }));
  EXPECT_EQ(widget.metadata.labels["a"], "2");  // decoding went on
  EXPECT_EQ(widget.spec->listMessage[1].name, "b");
}

TEST(JsonTest, StrictDecodingThrowsAllProblemsAtOnce) {
  try {
    fromJson<Small>(R"({"a":1,"name":"x","name":"y","b":2})", {.strict = true});
    FAIL();
  } catch (const DecodeError& error) {
    EXPECT_STREQ(error.what(),
                 "json: strict decoding error: unknown field \"a\", duplicate field \"name\", "
                 "unknown field \"b\"");
  }
}

TEST(JsonTest, StrictDecodingLooksIntoListsAndThroughPools) {
  Pool pool;
  const std::string text = R"({"items":[{"metadata":{"name":"a"}},{"metadata":{"nme":"b"}}]})";
  EXPECT_EQ(fromJson<WidgetList>(text, {.pool = &pool}).items.size(), 2u);
  std::vector<std::string> problems;
  fromJson<WidgetList>(text, {.pool = &pool, .problems = &problems});
  EXPECT_EQ(problems, (std::vector<std::string>{R"(unknown field "items[1].metadata.nme")"}));
}

TEST(JsonTest, PartsFromAPoolHaveNoProblems) {
  Pool pool;
  const auto problemsOf = [&](std::string_view labels) {
    std::vector<std::string> problems;
    fromJson<Widget>(R"({"metadata":)" + std::string(labels) + R"(,"tree":{"list":[{"nme":1}]}})",
                     {.pool = &pool, .problems = &problems});
    return problems.size();
  };
  // The same text has the same problems, in any order and every time.
  fromJson<Widget>(R"({"metadata":{"labels":{"a":"1","a":"2"}}})", {.pool = &pool});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(problemsOf(R"({"labels":{"a":"1","a":"2"}})"), 2u);
    EXPECT_EQ(problemsOf(R"({"labels":{"a":"1","b":"2"}})"), 1u);
  }
}

TEST(JsonTest, StrictDecodingSharesWhatIsEqual) {
  Pool pool;
  std::vector<std::string> problems;
  const auto labels = [&] {
    return fromJson<Widget>(R"({"metadata":{"labels":{"a":"1","b":"2"}}})",
                            {.pool = &pool, .problems = &problems})
        .metadata.labels;
  };
  const Map<String> first = labels();
  EXPECT_TRUE(first.sharesWith(labels()));
  EXPECT_TRUE(problems.empty());
}

TEST(JsonDocumentTest, SaysWhatItIsAndIsDecoded) {
  const std::string text =
      R"({"metadata":{"name":"a"},"kind":"Widget","apiVersion":"test.kubexx/v1"})";
  const JsonDocument document(text);
  EXPECT_EQ(document.type().kind, "Widget");
  EXPECT_EQ(document.type().apiVersion, "test.kubexx/v1");
  Widget widget;
  document.decode(TypeOf<Widget>::info, &widget);
  EXPECT_EQ(widget, fromJson<Widget>(text));
}

TEST(JsonDocumentTest, MalformedTextIsFoundWhenItIsDecoded) {
  for (const char* text : {"{}x", R"({"kind":"Widget" "a"})", R"({"kind"})", R"({1:2})", "[]", "7",
                           R"({"kind":"Widget",})", R"({"kind":"\q"})", R"({"a":[1,,2]})"}) {
    EXPECT_THROW(
        {
          const JsonDocument document(text);
          document.type();
          Widget widget;
          document.decode(TypeOf<Widget>::info, &widget);
        },
        DecodeError)
        << text;
  }
  for (const char* text : {"", "{", "{\"a\":\"\xff\"}", "[}"}) {
    EXPECT_THROW(JsonDocument{text}, DecodeError) << text;
  }
}

TEST(JsonTest, CleanTextPassesStrictDecoding) {
  Random random(3);
  const Widget widget = random.widget(true);
  EXPECT_EQ(fromJson<Widget>(toJson(widget), {.strict = true}), widget);
}

TEST(JsonTest, TheLastOfDuplicateFieldsCounts) {
  EXPECT_EQ(again<Every>(
                R"({"plainInt32":1,"listString":["a","b"],"mapString":{"a":"1"},"plainString":"x",)"
                R"("optionalMessage":{"name":"a","number":1},"plainInt32":2,"listString":["c"],)"
                R"("mapString":{"b":"2"},"plainString":"y","optionalMessage":{"name":"b"},)"
                R"("plainIntOrString":"a","plainIntOrString":7})"),
            R"({"plainInt32":2,"plainString":"y","plainIntOrString":7,"plainMessage":{},)"
            R"("optionalMessage":{"name":"b"},"listString":["c"],"mapString":{"b":"2"}})");
  EXPECT_EQ(again<metav1::ObjectMeta>(R"({"labels":{"b":"1","a":"2","b":"3","b":"4"}})"),
            R"({"labels":{"a":"2","b":"4"}})");
}

TEST(JsonTest, FieldsMayComeInAnyOrder) {
  EXPECT_EQ(again<Small>(R"({"words":["w"],"number":1,"name":"n"})"),
            again<Small>(R"({"name":"n","words":["w"],"number":1})"));
}

// ---- Kind ----

TEST(JsonTest, KindsShowTheirNameAndPartsDoNot) {
  Widget widget;
  widget.metadata.name = "w";
  EXPECT_EQ(toJson(widget),
            R"({"kind":"Widget","apiVersion":"test.kubexx/v1","metadata":{"name":"w"}})");
  EXPECT_EQ(toJson(widget.metadata), R"({"name":"w"})");
  EXPECT_EQ(fromJson<Widget>(R"({"metadata":{"name":"w"}})"), widget);
  EXPECT_EQ(fromJson<Widget>(R"({"kind":"","apiVersion":null,"metadata":{"name":"w"}})"), widget);
}

TEST(JsonTest, StatusIsServedUnderEveryGroupVersion) {
  EXPECT_EQ(
      fromJson<metav1::Status>(R"({"kind":"Status","apiVersion":"meta.k8s.io/v1","code":404})")
          .code,
      404);
}

// ---- Text ----

TEST(JsonTest, EscapesInTextAndInNames) {
  const auto all = fromJson<Small>(
      R"({"n\u0061me":"\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\ud83d\ude00","w\u006frds":["\u0000"]})");
  EXPECT_EQ(all.name, "\"\\/\b\f\n\r\tA\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
  EXPECT_EQ(all.words[0].view(), std::string_view("\0", 1));
  EXPECT_EQ(toJson(all),
            "{\"name\":\"\\\"\\\\/\\u0008\\u000c\\n\\r\\tA\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\","
            "\"words\":[\"\\u0000\"]}");
  EXPECT_EQ(fromJson<metav1::ObjectMeta>(R"({"labels":{"a\"b":"c"}})").labels["a\"b"], "c");
}

TEST(JsonTest, UnpairedSurrogatesBecomeTheReplacementCharacter) {
  EXPECT_EQ(parseJson(R"("\ud800")").asString(), "\xEF\xBF\xBD");
  EXPECT_EQ(parseJson(R"("\udc00x")").asString(), "\xEF\xBF\xBDx");
  EXPECT_EQ(parseJson(R"("\ud800\ud83d\ude00")").asString(), "\xEF\xBF\xBD\xF0\x9F\x98\x80");
  EXPECT_EQ(parseJson(R"("\ud800\u0041")").asString(),
            "\xEF\xBF\xBD"
            "A");
}

TEST(JsonTest, WhiteSpaceMayStandBetweenAllTokens) {
  const std::string tokens[] = {"{", "\"name\"",   ":",       "\"n\"", ",",    "\"words\"",
                                ":", "[",          "\"a b\"", ",",     "\"\"", "]",
                                ",", "\"number\"", ":",       "-1",    "}"};
  std::string spaced = " \t\r\n";
  std::string bare;
  for (const std::string& token : tokens) {
    spaced += token + " \n\t\r";
    bare += token;
  }
  EXPECT_EQ(fromJson<Small>(spaced), fromJson<Small>(bare));
  EXPECT_EQ(toJson(fromJson<Small>(spaced)), R"({"name":"n","number":-1,"words":["a b",""]})");
}

TEST(JsonTest, IndentedOutputIsUpstreams) {
  const auto tree =
      fromJson<Tree>(R"({"name":"n","list":[{"name":"a"},{}],"raw":{"x":[1,{}],"y":[]}})");
  EXPECT_EQ(toJson(tree, 2), R"({
  "name": "n",
  "list": [
    {
      "name": "a"
    },
    {}
  ],
  "raw": {
    "x": [
      1,
      {}
    ],
    "y": []
  }
})");
}

TEST(JsonTest, RawValuesAreKeptCompactAndOtherwiseUntouched) {
  const auto raw = [](std::string_view value) {
    return fromJson<Tree>("{\"raw\":" + std::string(value) + "}").raw.raw.str();
  };
  EXPECT_EQ(raw(" { \"b\" : 1.500 , \"a\" : [ 1 , \"x y\\u0041\" ] } "),
            "{\"b\":1.500,\"a\":[1,\"x y\\u0041\"]}");
  EXPECT_EQ(raw("12345678901234567890123"), "12345678901234567890123");
  EXPECT_EQ(raw("\" spaced \""), "\" spaced \"");
  EXPECT_EQ(raw("false"), "false");
  EXPECT_EQ(raw("[]"), "[]");
}

TEST(JsonTest, RawTextThatIsNotJsonCannotBeWritten) {
  Tree tree;
  for (const char* text : {"{", "nope", "{\"a\":1}x", "{1:2}", "\xFF", " ", "[1,]"}) {
    tree.raw.raw = text;
    EXPECT_THROW(toJson(tree), Error) << text;
  }
}

// ---- Numbers ----

TEST(JsonTest, IntegersAreExactToTheirExtremes) {
  constexpr std::string_view kText =
      R"({"listInt32":[-2147483648,2147483647,0],)"
      R"("listInt64":[-9223372036854775808,9223372036854775807,-1]})";
  EXPECT_EQ(again<Every>(kText), std::string(R"({"plainIntOrString":0,"plainMessage":{},)") +
                                     std::string(kText.substr(1)));
  EXPECT_EQ(parseJson("9223372036854775807").asInt(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parseJson("-9223372036854775808").asInt(), std::numeric_limits<std::int64_t>::min());
}

TEST(JsonTest, DoublesTakeTheShortestFormThatReadsBackTheSame) {
  const std::pair<double, const char*> cases[] = {
      {0.1, "0.1"},
      {1.0 / 3, "0.3333333333333333"},
      {100, "100"},
      {-2.5, "-2.5"},
      {1e20, "100000000000000000000"},
      {1e21, "1e+21"},
      {1e-6, "0.000001"},
      {1e-7, "1e-7"},
      {1.5e-10, "1.5e-10"},
      {5e-324, "5e-324"},
      {1.7976931348623157e308, "1.7976931348623157e+308"},
      {9007199254740993.0, "9007199254740992"},
      {1.8446744073709552e19, "18446744073709552000"},
      {-123456789012345678.0, "-123456789012345680"},
  };
  for (const auto& [value, text] : cases) {
    EXPECT_EQ(toJson(Value(value)), text);
    EXPECT_EQ(fromJson<Every>("{\"plainDouble\":" + std::string(text) + "}").plainDouble, value);
  }
  EXPECT_THROW(toJson(Value(std::nan(""))), Error);
  EXPECT_THROW(toJson(Value(HUGE_VAL)), Error);
}

TEST(JsonTest, NumbersInValuesAreIntegersWhereTheyFit) {
  EXPECT_TRUE(parseJson("7").isInt());
  EXPECT_TRUE(parseJson("-0").isNumber());
  EXPECT_TRUE(parseJson("7.0").isDouble());
  EXPECT_TRUE(parseJson("7e0").isDouble());
  const Value big = parseJson("18446744073709551615");
  EXPECT_TRUE(big.isDouble());
  EXPECT_EQ(big.asDouble(), 18446744073709551615.0);
  EXPECT_TRUE(parseJson("9223372036854775808").isDouble());
}

TEST(JsonTest, QuantitiesMayBeBareNumbers) {
  EXPECT_EQ(again<Every>(R"({"mapQuantity":{"a":5,"b":"5","c":0.5,"d":1e3}})"),
            R"({"plainIntOrString":0,"plainMessage":{},)"
            R"("mapQuantity":{"a":"5","b":"5","c":"500m","d":"1e3"}})");
}

TEST(JsonTest, IntOrStringKeepsWhichItWas) {
  EXPECT_EQ(again<Every>(R"({"listIntOrString":[80,"80","http",-1]})"),
            R"({"plainIntOrString":0,"plainMessage":{},"listIntOrString":[80,"80","http",-1]})");
}

TEST(JsonTest, Base64IsReadWithLineBreaksAndNeedsItsPadding) {
  const auto bytes = [](std::string_view text) {
    return fromJson<Every>("{\"plainBytes\":\"" + std::string(text) + "\"}").plainBytes.str();
  };
  EXPECT_EQ(bytes("aGVsbG8="), "hello");
  EXPECT_EQ(bytes("aGVs\\nbG8=\\r\\n"), "hello");
  EXPECT_EQ(bytes("aA=="), "h");
  EXPECT_EQ(bytes(""), "");
  for (const char* text : {"a", "aA", "aA=", "aGVsbG8", "aA===", "=", "aGVsbG8=x", "a GVs", "a-_b",
                           "aG=s", "====", "aGVsbG8=aGVs"}) {
    EXPECT_THROW(bytes(text), DecodeError) << text;
  }
}

// ---- Values ----

TEST(JsonTest, ValuesHoldAnything) {
  constexpr std::string_view kText =
      R"({"array":[1,-2.5,"x",null,true,false,[],{}],"empty":"","nested":{"a":{"b":[[["deep"]]]}}})";
  const Value value = parseJson(kText);
  EXPECT_EQ(toJson(value), kText);
  EXPECT_EQ(value["nested"]["a"]["b"][0][0][0].asString(), "deep");
  for (const char* text : {"null", "true", "false", "0", "\"\"", "[]", "{}", "-1"}) {
    EXPECT_EQ(toJson(parseJson(text)), text);
    EXPECT_EQ(toJson(parseJson(std::string(" ") + text + "\n")), text);
  }
}

TEST(JsonTest, RandomValuesComeBackEqual) {
  Random random(4);
  for (int i = 0; i < 500; ++i) {
    const Value value = random.value(5);
    ASSERT_EQ(parseJson(toJson(value)), value);
    ASSERT_EQ(parseJson(toJson(value, 3)), value);
  }
}

TEST(JsonTest, NumbersTooNearToZeroAreZero) {
  const std::string zeros(400, '0');
  EXPECT_EQ(parseJson("[1e-400,-2.5e-400,1e-99999999999999999999,0." + zeros + "1,0e9999]"),
            parseJson("[0.0,-0.0,0.0,0.0,0.0]"));
  EXPECT_EQ(parseJson("[1" + zeros + "e-399,0." + zeros + "1e402]"), parseJson("[10.0,10.0]"));
  for (const char* large : {"1e400", "-1e400", "1e99999999999999999999"}) {
    EXPECT_THROW(parseJson(large), DecodeError) << large;
  }
  EXPECT_THROW(parseJson("1" + zeros + "e-5"), DecodeError);
}

}  // namespace
}  // namespace kube
