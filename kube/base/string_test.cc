#include "kube/base/string.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <thread>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kube {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

static_assert(sizeof(String) == 8 && sizeof(Bytes) == 8);
static_assert(std::is_standard_layout_v<String> && std::is_standard_layout_v<Bytes>);
static_assert(std::is_nothrow_copy_constructible_v<String>);
static_assert(std::is_nothrow_move_constructible_v<String>);
// A null pointer is not a text; passing one does not compile.
static_assert(!std::is_constructible_v<String, std::nullptr_t>);
constinit const String kConstantString;

TEST(StringTest, DefaultIsTheEmptyString) {
  const String text;
  EXPECT_TRUE(text.empty());
  EXPECT_EQ(text.size(), 0u);
  EXPECT_NE(text.data(), nullptr);
  EXPECT_EQ(text.begin(), text.end());
  EXPECT_EQ(text.view(), "");
  EXPECT_EQ(text, String(""));
  EXPECT_EQ(text, kConstantString);
  EXPECT_TRUE(text.sharesWith(String("")));
}

TEST(StringTest, IsMadeFromAnyKindOfText) {
  EXPECT_EQ(String("abc").view(), "abc");
  EXPECT_EQ(String("abc"s).view(), "abc");
  EXPECT_EQ(String("abcdef"sv.substr(1, 3)).view(), "bcd");
  const String implicit = "abc";
  EXPECT_EQ(implicit.str(), "abc"s);
  EXPECT_EQ(implicit.size(), 3u);
}

TEST(StringTest, KeepsZerosInside) {
  const String text("a\0b"sv);
  EXPECT_EQ(text.size(), 3u);
  EXPECT_EQ(text, "a\0b"sv);
  EXPECT_NE(text, "a");
}

TEST(StringTest, KeepsItsOwnCopyOfTheText) {
  std::string source = "before";
  const String text(source);
  source = "after!";
  EXPECT_EQ(text, "before");
}

TEST(StringTest, CopyIsTheSameMemory) {
  const String a("a text that is long enough for no small-string trick");
  const String b = a;  // NOLINT: the copy is the point
  EXPECT_TRUE(a.sharesWith(b));
  EXPECT_EQ(a.data(), b.data());
  EXPECT_FALSE(a.sharesWith(String(a.view())));
  EXPECT_EQ(a, String(a.view()));
}

TEST(StringTest, AssigningLeavesOtherHandlesAlone) {
  String a("old");
  const String b = a;
  a = "new";
  EXPECT_EQ(a, "new");
  EXPECT_EQ(b, "old");
}

TEST(StringTest, SurvivesTheHandleItWasCopiedFrom) {
  String kept;
  {
    const String temporary("temporary");
    kept = temporary;
  }
  EXPECT_EQ(kept, "temporary");
}

TEST(StringTest, MovedFromIsEmpty) {
  String a("text");
  const String b = std::move(a);
  EXPECT_EQ(b, "text");
  EXPECT_TRUE(a.empty());  // NOLINT: tested on purpose
  a = "again";
  EXPECT_EQ(a, "again");
}

TEST(StringTest, AssigningToItselfKeepsIt) {
  String a("text");
  const String& same = a;
  a = same;
  EXPECT_EQ(a, "text");
}

TEST(StringTest, ComparesWithAnyKindOfTextOnEitherSide) {
  const String text("b");
  EXPECT_TRUE(text == "b" && "b" == text && text == "b"s && "b"s == text && text == "b"sv);
  EXPECT_TRUE(text != "c" && "c" != text && text != "c"s && text != "c"sv && text != String("c"));
  EXPECT_TRUE(text < "c" && "a" < text && text > "a"s && text <= "b"sv && text >= String("b"));
}

TEST(StringTest, OrdersLikeBytes) {
  EXPECT_LT(String(""), String("a"));
  EXPECT_LT(String("a"), String("ab"));
  EXPECT_LT(String("Z"), String("a"));
  EXPECT_LT(String("z"), String("\xC3\xA4"));
}

TEST(StringTest, ConcatenatesWithAnyKindOfText) {
  const String a("a");
  EXPECT_EQ(a + "-b", "a-b");
  EXPECT_EQ("b-" + a, "b-a");
  EXPECT_EQ(a + "b"s, "ab");
  EXPECT_EQ("b"s + a, "ba");
  EXPECT_EQ(a + "b"sv, "ab");
  EXPECT_EQ(a + a, "aa");
  EXPECT_EQ(Bytes("x") + a, "xa");
}

TEST(StringTest, HashesLikeItsTextSoThatItCanBeAKey) {
  EXPECT_EQ(std::hash<String>{}("abc"), std::hash<std::string_view>{}("abc"));
  EXPECT_EQ(std::hash<Bytes>{}("abc"), std::hash<String>{}("abc"));
  std::unordered_map<String, int> unordered{{"a", 1}, {"b", 2}};
  EXPECT_EQ(unordered.at("b"), 2);
  std::map<String, int, std::less<>> ordered{{"b", 2}, {"a", 1}};
  EXPECT_EQ(ordered.find("a"sv)->second, 1);
}

TEST(StringTest, StreamsAndFormats) {
  std::ostringstream out;
  out << String("pod") << '/' << String();
  EXPECT_EQ(out.str(), "pod/");
  EXPECT_EQ(fmt::format("{}|{:>5}|{}", String("a"), String("b"), Bytes("c")), "a|    b|c");
}

TEST(StringTest, ReadsLikeARangeOfCharacters) {
  const String text("abc");
  EXPECT_EQ(std::count(text.begin(), text.end(), 'b'), 1);
  std::string copy;
  for (const char c : text) copy += c;
  EXPECT_EQ(copy, "abc");
}

TEST(StringTest, BytesNeedNotBeText) {
  const Bytes bytes("\xFF\x00\xFE"sv);
  EXPECT_EQ(bytes.size(), 3u);
  EXPECT_TRUE(bytes == Bytes("\xFF\x00\xFE"sv));
  EXPECT_TRUE(bytes != "\xFF");
  const String same = bytes;
  EXPECT_TRUE(same.sharesWith(bytes));
}

TEST(StringTest, HandlesOfOneBlockAreCopiedAndDroppedOnManyThreads) {
  const String shared("shared by all threads");
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([mine = shared] {
      for (int i = 0; i < 20'000; ++i) {
        String copy = mine;
        String moved = std::move(copy);
        ASSERT_EQ(moved.size(), 21u);
        copy = moved;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(shared, "shared by all threads");
}

TEST(StringTest, LastHandleMayGoOnAnyThread) {
  for (int round = 0; round < 500; ++round) {
    String a(std::to_string(round) + " is dropped by whoever is last");
    std::jthread other([mine = a] { EXPECT_FALSE(mine.empty()); });
    a = String();
  }
}

}  // namespace
}  // namespace kube
