#include "kube/base/map.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace kube {
namespace {

struct LargeValue {
  String text;
  std::array<char, kBoxedAbove> rest{};
  LargeValue() = default;
  LargeValue(const char* t) : text(t) {}  // NOLINT: implicit
  bool operator==(const LargeValue&) const = default;
};
struct SmallValue {
  String text;
  SmallValue() = default;
  SmallValue(const char* t) : text(t) {}  // NOLINT: implicit
  bool operator==(const SmallValue&) const = default;
};

static_assert(!Map<SmallValue>::boxed() && Map<LargeValue>::boxed());
static_assert(sizeof(Map<SmallValue>) == 8 && sizeof(Map<LargeValue>) == 8 && sizeof(Strings) == 8);
static_assert(std::is_standard_layout_v<Map<SmallValue>> && std::is_standard_layout_v<Strings>);
static_assert(std::is_nothrow_copy_constructible_v<Map<SmallValue>>);
constinit const Map<SmallValue> kConstantMap;

template <class V>
class MapTest : public testing::Test {
 public:
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  static Pairs pairs(const Map<V>& map) {
    Pairs all;
    for (const auto& [key, value] : map) all.emplace_back(key, value.text);
    return all;
  }
};
using MapValues = testing::Types<SmallValue, LargeValue>;
TYPED_TEST_SUITE(MapTest, MapValues);

TEST(MapSlotTest, ReadingAMissingKeyInsertsNothing) {
  Map<String> labels{{"a", "1"}};
  EXPECT_TRUE(labels["x"] == "");
  EXPECT_TRUE(labels["x"].empty());
  EXPECT_TRUE(labels["a"] == "1" && labels["a"] != labels["x"]);
  const String& missing = labels["y"];
  EXPECT_EQ(missing, "");
  EXPECT_EQ(fmt::format("{}{}", labels["a"], labels["x"]), "1");
  EXPECT_EQ(labels["a"] + labels["x"], "1");
  EXPECT_EQ(labels, (Map<String>{{"a", "1"}}));
}

TEST(MapSlotTest, AssigningInsertsAlsoAnEmptyValue) {
  Map<String> labels;
  labels["a"] = "";
  EXPECT_TRUE(labels.contains("a"));
  labels["b"] = labels["missing"];
  EXPECT_TRUE(labels.contains("b"));
  EXPECT_FALSE(labels.contains("missing"));
  labels["c"] = std::string("text");
  labels["a"] = labels["c"];
  EXPECT_EQ(labels, (Map<String>{{"a", "text"}, {"b", ""}, {"c", "text"}}));
}

TEST(MapSlotTest, AnythingElseThanAssigningAtOnceDoesNotCompile) {
  using Slot = decltype(std::declval<Map<SmallValue>&>()["a"]);
  static_assert(std::is_const_v<Slot>);
  static_assert(!std::is_assignable_v<decltype((std::declval<Slot>().text)), String>);
  static_assert(std::is_assignable_v<Slot, SmallValue>);
  static_assert(!std::is_assignable_v<Slot&, SmallValue>, "a slot with a name is a copy");
}

TEST(MapSlotTest, NumbersCanBeAddedTo) {
  Map<int> counts;
  EXPECT_EQ(counts["a"], 0);
  EXPECT_TRUE(counts.empty());
  counts["a"] += 2;
  counts["a"] -= 1;
  EXPECT_EQ(counts["a"], 1);
  counts["b"] = 5;
  EXPECT_EQ(counts["b"] + counts["a"], 6);
}

TEST(MapSlotTest, WriteGivesAPartToChange) {
  Map<SmallValue> map;
  map.write("a").text = "1";
  EXPECT_EQ(map["a"].text, "1");
  EXPECT_EQ(map["b"].text, "");
  EXPECT_EQ(map.size(), 1U);
  map.write("b");
  EXPECT_EQ(map.size(), 2U);
}

TYPED_TEST(MapTest, DefaultIsEmpty) {
  const Map<TypeParam> map;
  EXPECT_TRUE(map.empty());
  EXPECT_EQ(map.size(), 0u);
  EXPECT_EQ(map.begin(), map.end());
  EXPECT_EQ(map, Map<TypeParam>{});
  EXPECT_TRUE(kConstantMap.empty());
}

TYPED_TEST(MapTest, IteratesInOrderOfKeys) {
  const Map<TypeParam> map{{"b", "2"}, {"a", "1"}, {"c", "3"}};
  EXPECT_EQ(this->pairs(map), (typename TestFixture::Pairs{{"a", "1"}, {"b", "2"}, {"c", "3"}}));
}

TYPED_TEST(MapTest, LastOfEqualKeysStays) {
  const Map<TypeParam> map{{"a", "1"}, {"a", "2"}};
  EXPECT_EQ(this->pairs(map), (typename TestFixture::Pairs{{"a", "2"}}));
}

TYPED_TEST(MapTest, ReadingAMissingKeyReadsTheEmptyDefault) {
  const Map<TypeParam> map{{"b", "2"}};
  EXPECT_EQ(map["b"].text, "2");
  EXPECT_EQ(map["a"], TypeParam());
  EXPECT_EQ(map["z"], TypeParam());
  EXPECT_EQ(map.size(), 1u);
  EXPECT_EQ(Map<TypeParam>().find("a"), Map<TypeParam>().end());
}

TYPED_TEST(MapTest, AtThrowsAndNamesTheKey) {
  const Map<TypeParam> map{{"b", "2"}};
  EXPECT_EQ(map.at("b").text, "2");
  try {
    map.at("missing");
    FAIL() << "nothing was thrown";
  } catch (const std::out_of_range& e) {
    EXPECT_NE(std::string(e.what()).find("missing"), std::string::npos);
  }
}

TYPED_TEST(MapTest, FindsByAnyKindOfText) {
  const Map<TypeParam> map{{"a", "1"}, {"b", "2"}};
  EXPECT_TRUE(map.contains("a") && map.contains(std::string("b")) && map.contains(String("b")));
  EXPECT_FALSE(map.contains("") || map.contains("ab"));
  EXPECT_EQ(map.find("b")->value.text, "2");
  EXPECT_EQ(map.find("b") - map.begin(), 1);
  EXPECT_EQ(map.find("c"), map.end());
}

TYPED_TEST(MapTest, WritingAMissingKeyCreatesItInOrder) {
  Map<TypeParam> map;
  map["b"] = "2";
  map["c"] = "3";
  map["a"] = "1";
  map.write("b").text = "22";
  EXPECT_EQ(this->pairs(map), (typename TestFixture::Pairs{{"a", "1"}, {"b", "22"}, {"c", "3"}}));
  map.insert_or_assign("a", "11");
  map.insert_or_assign("d", "4");
  EXPECT_EQ(std::as_const(map)["a"].text, "11");
  EXPECT_EQ(map.size(), 4u);
}

TYPED_TEST(MapTest, EraseSaysWhetherTheKeyWasThere) {
  Map<TypeParam> map{{"a", "1"}, {"b", "2"}};
  EXPECT_FALSE(map.erase("c"));
  EXPECT_TRUE(map.erase("a"));
  EXPECT_FALSE(map.erase("a"));
  EXPECT_EQ(this->pairs(map), (typename TestFixture::Pairs{{"b", "2"}}));
  EXPECT_TRUE(map.erase("b"));
  EXPECT_TRUE(map.empty());
  EXPECT_EQ(map, Map<TypeParam>());
}

TYPED_TEST(MapTest, CopyIsTheSameMemoryUntilOneIsWritten) {
  const Map<TypeParam> original{{"a", "1"}, {"b", "2"}};
  const auto check = [&](auto write, typename TestFixture::Pairs expected) {
    Map<TypeParam> copy = original;
    EXPECT_TRUE(copy.sharesWith(original));
    write(copy);
    EXPECT_FALSE(copy.sharesWith(original));
    EXPECT_EQ(this->pairs(copy), expected);
    EXPECT_EQ(this->pairs(original), (typename TestFixture::Pairs{{"a", "1"}, {"b", "2"}}));
  };
  check([](auto& m) { m["a"] = "9"; }, {{"a", "9"}, {"b", "2"}});
  check([](auto& m) { m.write("a").text = "9"; }, {{"a", "9"}, {"b", "2"}});
  check([](auto& m) { m.write("c"); }, {{"a", "1"}, {"b", "2"}, {"c", ""}});
  check([](auto& m) { m.insert_or_assign("b", "9"); }, {{"a", "1"}, {"b", "9"}});
  check([](auto& m) { m.erase("a"); }, {{"b", "2"}});
  check([](auto& m) { m.clear(); }, {});
}

TYPED_TEST(MapTest, ReadingAndFailedErasingDoNotDetach) {
  const Map<TypeParam> a{{"a", "1"}};
  Map<TypeParam> b = a;
  EXPECT_EQ(std::as_const(b)["a"].text, "1");
  EXPECT_TRUE(b.contains("a"));
  EXPECT_FALSE(b.erase("x"));
  for (const auto& entry : b) EXPECT_EQ(entry.key, "a");
  EXPECT_TRUE(a.sharesWith(b));
}

TYPED_TEST(MapTest, ValueOfOneKeyCanBeGivenToANewOne) {
  Map<TypeParam> map{{"b", "2"}};
  map.insert_or_assign("a", map["b"]);
  map[std::as_const(map)["b"].text] = "key from a value";
  EXPECT_EQ(this->pairs(map),
            (typename TestFixture::Pairs{{"2", "key from a value"}, {"a", "2"}, {"b", "2"}}));
}

TYPED_TEST(MapTest, EqualityIsByKeysAndValues) {
  const Map<TypeParam> map{{"a", "1"}, {"b", "2"}};
  EXPECT_EQ(map, (Map<TypeParam>{{"b", "2"}, {"a", "1"}}));
  EXPECT_NE(map, (Map<TypeParam>{{"a", "1"}}));
  EXPECT_NE(map, (Map<TypeParam>{{"a", "1"}, {"b", "3"}}));
  EXPECT_NE(map, (Map<TypeParam>{{"a", "1"}, {"c", "2"}}));
}

TYPED_TEST(MapTest, BehavesAsAnOrderedMapThroughManyWrites) {
  Map<TypeParam> map;
  std::map<std::string, std::string> expected;
  unsigned state = 1;
  for (int i = 0; i < 2'000; ++i) {
    state = state * 1664525 + 1013904223;
    const std::string key = std::to_string((state >> 16) % 97);
    if (state >> 30 == 0) {
      EXPECT_EQ(map.erase(key), expected.erase(key) == 1);
    } else {
      map.write(key).text = std::to_string(i);
      expected[key] = std::to_string(i);
    }
  }
  EXPECT_EQ(this->pairs(map), (typename TestFixture::Pairs(expected.begin(), expected.end())));
}

TYPED_TEST(MapTest, HandlesOfOneMapAreDetachedOnManyThreads) {
  const Map<TypeParam> shared{{"a", "1"}, {"b", "2"}};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([mine = shared] {
      for (int i = 0; i < 1'000; ++i) {
        Map<TypeParam> copy = mine;
        copy["c"] = "3";
        copy.write("a").text = "changed";
        copy.erase("b");
        ASSERT_EQ(copy.size(), 2u);
        ASSERT_EQ(mine["a"].text, "1");
      }
    });
  }
  threads.clear();
  EXPECT_EQ(shared["b"].text, "2");
}

TEST(MapOfHandlesTest, ValueOfOneKeyCanBeAssignedToANewOne) {
  // The new entry moves the old one, which is the source; handles are copied before that.
  Map<String> strings{{"b", "2"}};
  strings["a"] = strings["b"];
  EXPECT_EQ(std::as_const(strings)["a"], "2");
  Map<Bytes> bytes{{"b", "2"}};
  bytes["a"] = bytes["b"];
  EXPECT_EQ(std::as_const(bytes)["a"], "2");
}

struct Nested {
  Map<Nested> inside;
  int depth = 0;
};

TEST(RecursiveMapTest, TypeMayHoldAMapOfItself) {
  Nested nested;
  nested.inside.write("a").inside.write("b").depth = 2;
  const Nested copy = nested;
  nested.inside.write("a").inside.write("b").depth = 3;
  EXPECT_EQ(copy.inside["a"].inside["b"].depth, 2);
  EXPECT_EQ(copy.inside["x"].inside["y"].depth, 0);
}

TEST(StringsTest, IsAListOfStrings) {
  const Strings strings{"get", "list"};
  EXPECT_EQ(strings.size(), 2u);
  EXPECT_EQ(strings, (Strings{"get", "list"}));
  const List<String> list{"watch"};
  const Strings converted = list;
  EXPECT_TRUE(converted.sharesWith(list));
}

}  // namespace
}  // namespace kube
