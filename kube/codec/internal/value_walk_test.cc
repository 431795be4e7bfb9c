// Typed objects to dynamic values and back without text, with the same result as by way of JSON.
#include <gtest/gtest.h>

#include <limits>

#include "kube/base/error.h"
#include "kube/base/internal/error_of_testing.h"
#include "kube/base/pool.h"
#include "kube/codec/internal/every_kind_testing.h"
#include "kube/codec/json.h"
#include "kube/codec/unstructured.h"

namespace kube {
namespace {

using namespace everykind;

template <class T>
Value viaText(const T& object) {
  return parseJson(toJson(object));
}

TEST(ValueWalkTest, EncodingEqualsParsingTheJson) {
  Random random(11);
  for (int i = 0; i < 300; ++i) {
    const Widget widget = random.widget(i % 2 == 0);
    ASSERT_EQ(toUnstructured(widget).object, viaText(widget));
    ASSERT_EQ(toUnstructured(widget.metadata).object, viaText(widget.metadata));
  }
  EXPECT_EQ(toUnstructured(Widget()).object, viaText(Widget()));
  EXPECT_EQ(toUnstructured(WidgetList()).object, viaText(WidgetList()));
}

TEST(ValueWalkTest, DecodingEqualsDecodingTheJson) {
  Random random(12);
  for (int i = 0; i < 300; ++i) {
    const Widget widget = random.widget(i % 2 == 0);
    const Value value = viaText(widget);
    ASSERT_EQ(fromUnstructured<Widget>(Unstructured(value)), fromJson<Widget>(toJson(value)));
  }
}

TEST(ValueWalkTest, StringsAreSharedInBothDirections) {
  Widget widget;
  widget.metadata.name = "a name that is long enough to have memory";
  const Unstructured object = toUnstructured(widget);
  EXPECT_TRUE(object.object["metadata"]["name"].asString().sharesWith(widget.metadata.name));
  const Widget again = fromUnstructured<Widget>(object);
  EXPECT_TRUE(again.metadata.name.sharesWith(widget.metadata.name));
  const Unstructured other = toUnstructured(widget);
  EXPECT_TRUE(
      other.object.asObject().begin()->key.sharesWith(object.object.asObject().begin()->key));
}

TEST(ValueWalkTest, APoolMakesEqualStringsOne) {
  Pool pool;
  const auto named = [&] {
    return fromUnstructured<Widget>(
        Unstructured(parseJson(R"({"metadata":{"name":"n","labels":{"k":"v"}}})")),
        {.pool = &pool});
  };
  const Widget a = named();
  const Widget b = named();
  EXPECT_TRUE(a.metadata.name.sharesWith(b.metadata.name));
  EXPECT_TRUE(a.metadata.labels.begin()->key.sharesWith(b.metadata.labels.begin()->key));
}

// The result of `decode(object)`, or its error without the place in a text.
template <class T, class Decode>
std::string outcome(const Decode& decode, int& refused) {
  T object{};
  try {
    decode(object);
  } catch (const DecodeError& error) {
    ++refused;
    return error.withWhere({.path = error.path()}).what();
  }
  return toJson(object);
}

// Tries every field of a type with values that fit it and values that do not.
template <class T>
int refusedLikeText() {
  const char* const values[] = {"true",         "1",
                                "-1",           "1.5",
                                "3000000000",   "1e30",
                                "\"x\"",        "[]",
                                "{}",           "[1]",
                                "[[]]",         "[{}]",
                                "null",         "[null]",
                                "2.0",          "[{}]",
                                "\"1Qi\"",      "[\"x\"]",
                                "{\"a\":{}}",   "{\"a\":1}",
                                "\"AAAA\"",     "\"2024-01-01T00:00:00Z\"",
                                "{\"a\":null}", "{\"a\":[1,2]}"};
  int refused = 0;
  for (const FieldInfo& field : TypeOf<T>::info.fields) {
    for (const char* text : values) {
      const Value value = Value::Object{{String(field.name), parseJson(text)}};
      EXPECT_EQ(outcome<T>([&](T& object) { object = fromUnstructured<T>(Unstructured(value)); },
                           refused),
                outcome<T>([&](T& object) { object = fromJson<T>(toJson(value)); }, refused))
          << field.name << ": " << text;
    }
  }
  return refused;
}

TEST(ValueWalkTest, ErrorsAreTheSameAsForText) {
  EXPECT_GT(refusedLikeText<Every>(), 500);
  EXPECT_GT(refusedLikeText<Big>(), 50);
  EXPECT_GT(refusedLikeText<Tree>(), 50);
  EXPECT_GT(refusedLikeText<Widget>(), 50);
}

TEST(ValueWalkTest, UnknownFieldsAreNotedWithTheirPaths) {
  const Value value = parseJson(
      R"({"bigs":[{"nme":1},{"first":{"x":{}}}],"metadata":{"labels":{"any":"v"}},"more":null})");
  std::vector<std::string> problems;
  fromUnstructured<Widget>(Unstructured(value), {.problems = &problems});
  std::vector<std::string> inText;
  fromJson<Widget>(toJson(value), {.problems = &inText});
  EXPECT_EQ(problems, inText);
  EXPECT_EQ(problems.size(), 3u);
}

TEST(ValueWalkTest, ValuesWithoutAJsonFormAreRefused) {
  Tree tree;
  tree.raw.raw = "{no json";
  EXPECT_THROW(toUnstructured(tree), Error);
  EXPECT_THROW(fromUnstructured<Big>(Unstructured(Value(1))), DecodeError);
  Value number = Value::Object{{"plainDouble", std::numeric_limits<double>::infinity()}};
  EXPECT_EQ(errorOf([&] { fromUnstructured<Every>(Unstructured(number)); }),
            "plainDouble: infinity and NaN have no JSON form");
}

TEST(ValueWalkTest, DeepNestingIsRefused) {
  Value value = Value::Object{};
  for (int i = 0; i < 1100; ++i) value = Value::Object{{"next", value}};
  EXPECT_NE(errorOf([&] { fromUnstructured<Tree>(Unstructured(value)); }).find("nested too deeply"),
            std::string::npos);
}

}  // namespace
}  // namespace kube
