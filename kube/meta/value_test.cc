#include "kube/meta/value.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace kube {
namespace {

static_assert(sizeof(Value) == 16 && std::is_standard_layout_v<Value>);
static_assert(std::is_nothrow_copy_constructible_v<Value>);
static_assert(std::is_nothrow_move_constructible_v<Value>);

Value sample() {
  return Value::Object{{"text", "t"},
                       {"number", 3},
                       {"list", Value::Array{1, "two", nullptr}},
                       {"object", Value::Object{{"inner", true}}}};
}

TEST(ValueTest, ReadingThroughANonConstValueChangesNothing) {
  Value value = Value::Object{{"a", 1}, {"list", Value::Array{1}}, {"none", nullptr}};
  const Value before = value;
  EXPECT_TRUE(value["spec"]["replicas"].isNull());
  EXPECT_TRUE(value["none"]["deep"]["deeper"].isNull());
  EXPECT_EQ(value["missing"][3].asInt(), 0);
  EXPECT_TRUE(value["list"][2]["name"].isNull());
  EXPECT_EQ(value, before);
  EXPECT_EQ(before, value);
  EXPECT_FALSE(value.asObject().contains("spec"));
  EXPECT_TRUE(value.asObject().find("spec") == value.asObject().end());
  EXPECT_TRUE(value.asObject().contains("none")) << "an explicit null is there";
  EXPECT_TRUE(value["none"].isNull() && !value["none"].isObject());
  EXPECT_EQ(value.asObject().size(), 3U);
  std::string keys;
  for (const auto& [key, member] : value.asObject()) keys += key.str() + ' ';
  EXPECT_EQ(keys, "a list none ");

  Value root;
  EXPECT_TRUE(root["a"]["b"].isNull());
  EXPECT_TRUE(root.isNull());
}

TEST(ValueTest, AssignedValuesArePresent) {
  Value value;
  value["spec"]["replicas"] = 3;
  EXPECT_EQ(value, (Value::Object{{"spec", Value::Object{{"replicas", 3}}}}));
  value["explicit"] = nullptr;
  EXPECT_TRUE(value.asObject().contains("explicit"));
  value["object"].object();
  EXPECT_TRUE(value["object"].isObject());
  value["array"].array();
  EXPECT_TRUE(value["array"].isArray());
  EXPECT_TRUE(value["read"].isNull());
  value["copy"] = value["missing"];
  EXPECT_FALSE(value.asObject().contains("copy") || value.asObject().contains("missing"));
  value["list"][1] = "b";
  EXPECT_EQ(value["list"], (Value::Array{nullptr, "b"}));
}

TEST(ValueTest, MissingValuesAreMissingInACopyToo) {
  Value value = Value::Object{{"a", 1}};
  const Value missing = value["x"];
  EXPECT_TRUE(missing.isNull());
  EXPECT_EQ(Value(Value::Object{{"x", missing}}), Value(Value::Object()));
  Value array = Value::Array{1};
  array.array().push_back(missing);
  EXPECT_EQ(array, (Value::Array{1, nullptr})) << "an element that was added is there";
  Value copy = value;
  copy["a"] = 2;  // detaches its object from the other
  EXPECT_EQ(copy.asObject().size(), 1U);
  EXPECT_TRUE(copy.object().erase("a"));
  EXPECT_FALSE(copy.object().erase("x"));
  EXPECT_TRUE(copy.asObject().empty());
}

TEST(ValueTest, TypeFollowsWhatItIsMadeFrom) {
  EXPECT_EQ(Value().type(), Value::Type::Null);
  EXPECT_EQ(Value(nullptr).type(), Value::Type::Null);
  EXPECT_EQ(Value(true).type(), Value::Type::Bool);
  EXPECT_EQ(Value(0).type(), Value::Type::Int);
  EXPECT_EQ(Value(std::int64_t{1} << 60).asInt(), std::int64_t{1} << 60);
  EXPECT_EQ(Value(std::uint8_t{200}).asInt(), 200);
  EXPECT_EQ(Value(1.5).type(), Value::Type::Double);
  EXPECT_EQ(Value(1.5F).asDouble(), 1.5);
  EXPECT_EQ(Value("literal").type(), Value::Type::String);
  EXPECT_EQ(Value(std::string("s")).type(), Value::Type::String);
  EXPECT_EQ(Value(std::string_view("s")).type(), Value::Type::String);
  EXPECT_EQ(Value(String("s")).type(), Value::Type::String);
  EXPECT_EQ(Value(Value::Array{}).type(), Value::Type::Array);
  EXPECT_EQ(Value(Value::Object{}).type(), Value::Type::Object);
}

TEST(ValueTest, IntegerPastInt64BecomesADouble) {
  const Value large(std::numeric_limits<std::uint64_t>::max());
  EXPECT_TRUE(large.isDouble());
  EXPECT_EQ(large.asDouble(), 18446744073709551616.0);
  EXPECT_TRUE(Value(std::uint64_t{std::numeric_limits<std::int64_t>::max()}).isInt());
}

TEST(ValueTest, TypeTestsHoldForOneTypeOnly) {
  const Value v(1);
  EXPECT_TRUE(v.isInt() && v.isNumber());
  EXPECT_FALSE(v.isNull() || v.isBool() || v.isDouble() || v.isString() || v.isArray() ||
               v.isObject());
}

TEST(ValueTest, ReadingAnotherTypeReadsTheEmptyDefault) {
  const Value text("7");
  EXPECT_EQ(text.asInt(), 0);
  EXPECT_EQ(text.asDouble(), 0);
  EXPECT_FALSE(text.asBool());
  EXPECT_TRUE(text.asArray().empty());
  EXPECT_TRUE(text.asObject().empty());
  EXPECT_TRUE(Value(1).asString().empty());
  EXPECT_FALSE(Value(1).asBool());
}

TEST(ValueTest, NumbersConvertWhereTheyFit) {
  EXPECT_EQ(Value(3).asDouble(), 3.0);
  EXPECT_EQ(Value(3.9).asInt(), 3);
  EXPECT_EQ(Value(-3.9).asInt(), -3);
  EXPECT_EQ(Value(1e19).asInt(), 0);
  EXPECT_EQ(Value(-1e19).asInt(), 0);
  EXPECT_EQ(Value(-9223372036854775808.0).asInt(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(Value(std::numeric_limits<double>::quiet_NaN()).asInt(), 0);
}

TEST(ValueTest, ReadingAMissingValueReturnsNull) {
  const Value v = sample();
  EXPECT_EQ(v["object"]["inner"], Value(true));
  EXPECT_EQ(v["list"][1].asString(), "two");
  EXPECT_TRUE(v["no"]["such"]["path"].isNull());
  EXPECT_TRUE(v["list"][17].isNull());
  EXPECT_TRUE(v["list"][-1].isNull());
  EXPECT_TRUE(v["text"]["key"].isNull());
  EXPECT_TRUE(v[0].isNull());
}

TEST(ValueTest, ElementsAreFoundByAnyIntegerAndMembersByAnyText) {
  const Value v = sample();
  EXPECT_EQ(v["list"][0U].asInt(), 1);
  EXPECT_EQ(v["list"][std::int64_t{0}].asInt(), 1);
  EXPECT_EQ(v["list"][std::size_t{0}].asInt(), 1);
  EXPECT_EQ(v[String("text")].asString(), "t");
  EXPECT_EQ(v[std::string("text")].asString(), "t");
  EXPECT_EQ(v[std::string_view("text")].asString(), "t");
}

TEST(ValueTest, WritingCreatesMissingValues) {
  Value v;
  v["spec"]["replicas"] = 3;
  v["spec"]["args"][2] = "c";
  EXPECT_EQ(v, (Value::Object{
                   {"spec", Value::Object{{"replicas", 3}, {"args", Value::Array{{}, {}, "c"}}}}}));
}

TEST(ValueTest, WritingReplacesValuesOfAnotherType) {
  Value v("text");
  v["key"] = 1;
  EXPECT_EQ(v, Value(Value::Object{{"key", 1}}));
  v.array().push_back(2);
  EXPECT_EQ(v, Value(Value::Array{2}));
  v.object();
  EXPECT_EQ(v, Value(Value::Object{}));
}

TEST(ValueTest, WritingANegativeIndexThrowsAndChangesNothing) {
  Value v = Value::Array{1, 2};
  EXPECT_THROW(v[-1] = 3, std::out_of_range);
  EXPECT_EQ(v, Value(Value::Array{1, 2}));
}

TEST(ValueTest, WritingACopyLeavesTheOriginalAlone) {
  const Value original = sample();
  Value copy = original;
  copy["object"]["inner"] = false;
  copy["list"].array().push_back(4);
  copy["new"] = 1;
  EXPECT_EQ(original, sample());
  EXPECT_FALSE(std::as_const(copy)["object"]["inner"].asBool());
  EXPECT_NE(copy, original);
}

TEST(ValueTest, CopySharesMemory) {
  const Value original = sample();
  const Value copy = original;  // NOLINT: the copy is the point
  EXPECT_TRUE(copy.asObject().sharesWith(original.asObject()));
  EXPECT_TRUE(copy["list"].asArray().sharesWith(original["list"].asArray()));
}

TEST(ValueTest, AssigningAPartOfItself) {
  Value v = sample();
  v = v["object"];
  EXPECT_EQ(v, Value(Value::Object{{"inner", true}}));
  v["self"] = v;
  EXPECT_EQ(std::as_const(v)["self"], Value(Value::Object{{"inner", true}}));
  v["again"] = v["self"];
  EXPECT_EQ(std::as_const(v)["again"]["inner"], Value(true));
  const Value& same = v;
  v = same;
  EXPECT_TRUE(v.isObject());
}

TEST(ValueTest, AssigningChangesTheType) {
  Value v("text");
  v = 1;
  EXPECT_EQ(v.asInt(), 1);
  v = Value::Array{1};
  v = "text";
  EXPECT_EQ(v.asString(), "text");
  v = nullptr;
  EXPECT_TRUE(v.isNull());
}

TEST(ValueTest, MovingEmptiesTheSource) {
  Value a = sample();
  const Value b = std::move(a);
  EXPECT_EQ(b, sample());
  EXPECT_TRUE(a.asObject().empty());  // NOLINT: tested on purpose
}

TEST(ValueTest, EqualityIsByTypeAndContent) {
  EXPECT_EQ(Value(1), Value(1));
  EXPECT_NE(Value(1), Value(2));
  EXPECT_NE(Value(1), Value(1.0));
  EXPECT_NE(Value(1), Value(true));
  EXPECT_NE(Value(0), Value());
  EXPECT_NE(Value(false), Value());
  EXPECT_NE(Value(""), Value());
  EXPECT_NE(Value(Value::Array{}), Value(Value::Object{}));
  EXPECT_EQ(Value(0.5), Value(0.5));
  EXPECT_EQ(Value("a"), Value(String("a")));
}

TEST(ValueTest, NamesOfTypesAreThoseOfJson) {
  EXPECT_EQ(toString(Value::Type::Null), "null");
  EXPECT_EQ(toString(Value::Type::Object), "object");
  std::ostringstream out;
  out << Value::Type::Int << ' ' << Value::Type::Double;
  EXPECT_EQ(out.str(), "integer number");
}

TEST(ValueTest, CopiesAreWrittenOnManyThreads) {
  const Value shared = sample();
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t, mine = shared] {
      for (int i = 0; i < 1'000; ++i) {
        Value copy = mine;
        copy["list"][0] = t;
        copy["object"]["inner"] = i;
        ASSERT_EQ(std::as_const(copy)["list"][0].asInt(), t);
        ASSERT_EQ(mine["list"][0].asInt(), 1);
      }
    });
  }
  threads.clear();
  EXPECT_EQ(shared, sample());
}

}  // namespace
}  // namespace kube
