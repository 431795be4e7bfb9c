#include "kube/base/list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <ranges>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "kube/base/string.h"

namespace kube {
namespace {

// The same behaviours are tested for elements in the list's block and for boxed ones.
struct SmallElement {
  SmallElement(int n = 0) : number(n), text(n == 0 ? "" : std::to_string(n)) {}  // NOLINT: implicit
  int number;
  String text;
  bool operator==(const SmallElement&) const = default;
};
struct LargeElement {
  LargeElement(int n = 0) : number(n), text(n == 0 ? "" : std::to_string(n)) {}  // NOLINT: implicit
  int number;
  String text;
  std::array<char, kBoxedAbove> rest{};
  bool operator==(const LargeElement&) const = default;
};
static_assert(!List<SmallElement>::boxed() &&
              List<SmallElement>::slotSize() == sizeof(SmallElement));
static_assert(List<LargeElement>::boxed() && List<LargeElement>::slotSize() == 8);

static_assert(sizeof(List<SmallElement>) == 8 && sizeof(List<LargeElement>) == 8);
static_assert(std::is_standard_layout_v<List<SmallElement>>);
static_assert(std::is_nothrow_copy_constructible_v<List<SmallElement>>);
static_assert(std::ranges::contiguous_range<const List<SmallElement>>);
static_assert(std::ranges::random_access_range<const List<LargeElement>>);
static_assert(std::ranges::random_access_range<List<LargeElement>>);
constinit const List<SmallElement> kConstantList;

template <class T>
class ListTest : public testing::Test {
 public:
  static List<T> upTo(int n) {
    List<T> list;
    for (int i = 1; i <= n; ++i) list.push_back(T(i));
    return list;
  }
  static std::vector<int> numbers(const List<T>& list) {
    std::vector<int> all;
    for (const T& item : list) {
      EXPECT_EQ(item.text, item.number == 0 ? "" : std::to_string(item.number));
      all.push_back(item.number);
    }
    EXPECT_EQ(all.size(), list.size());
    return all;
  }
};
using ListElements = testing::Types<SmallElement, LargeElement>;
TYPED_TEST_SUITE(ListTest, ListElements);

using Numbers = std::vector<int>;

TYPED_TEST(ListTest, DefaultIsEmpty) {
  const List<TypeParam> list;
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.size(), 0u);
  EXPECT_EQ(list.begin(), list.end());
  EXPECT_EQ(list, List<TypeParam>{});
  List<TypeParam> writable;
  EXPECT_EQ(writable.begin(), writable.end());
  EXPECT_TRUE(kConstantList.empty());
}

TYPED_TEST(ListTest, IsMadeFromListsAndRanges) {
  EXPECT_EQ(this->numbers({1, 2, 3}), (Numbers{1, 2, 3}));
  const Numbers source{4, 5};
  EXPECT_EQ(this->numbers(List<TypeParam>(source.begin(), source.end())), source);
  List<TypeParam> list{1};
  list.assign(source.begin(), source.end());
  EXPECT_EQ(this->numbers(list), source);
}

TYPED_TEST(ListTest, ReadingPastTheEndReadsTheEmptyDefault) {
  const List<TypeParam> list{1, 2};
  EXPECT_EQ(list[1].number, 2);
  EXPECT_EQ(list[2], TypeParam());
  EXPECT_EQ(list[1'000'000].text, "");
  const List<TypeParam> none;
  EXPECT_EQ(none[0], TypeParam());
  EXPECT_EQ(none.front(), TypeParam());
  EXPECT_EQ(none.back(), TypeParam());
}

TYPED_TEST(ListTest, AtAndWritingPastTheEndThrow) {
  List<TypeParam> list{1};
  EXPECT_EQ(list.at(0).number, 1);
  EXPECT_THROW(list.at(1), std::out_of_range);
  EXPECT_THROW(list[1] = TypeParam(2), std::out_of_range);
  EXPECT_THROW(list.erase(1), std::out_of_range);
  EXPECT_THROW(list.insert(2, TypeParam(2)), std::out_of_range);
  EXPECT_EQ(this->numbers(list), Numbers{1});
  List<TypeParam> none;
  EXPECT_THROW(none.front(), std::out_of_range);
  EXPECT_THROW(none.back(), std::out_of_range);
  EXPECT_THROW(none.pop_back(), std::out_of_range);
}

TYPED_TEST(ListTest, CopyIsTheSameMemoryUntilOneIsWritten) {
  const List<TypeParam> a{1, 2, 3};
  List<TypeParam> b = a;
  EXPECT_TRUE(a.sharesWith(b));
  b[1] = TypeParam(9);
  EXPECT_FALSE(a.sharesWith(b));
  EXPECT_EQ(this->numbers(a), (Numbers{1, 2, 3}));
  EXPECT_EQ(this->numbers(b), (Numbers{1, 9, 3}));
}

TYPED_TEST(ListTest, ConstAccessNeverDetaches) {
  const List<TypeParam> a{1, 2, 3};
  const List<TypeParam> b = a;  // NOLINT: the copy is the point
  for (const TypeParam& item : b) EXPECT_GT(item.number, 0);
  EXPECT_EQ(b[0].number + b.at(1).number + b.back().number + b.front().number, 7);
  EXPECT_TRUE(a.sharesWith(b));
}

TYPED_TEST(ListTest, EveryWayToWriteLeavesTheOtherHandleAlone) {
  const List<TypeParam> original = this->upTo(5);
  const auto check = [&](auto write, Numbers expected) {
    List<TypeParam> copy = original;
    write(copy);
    EXPECT_EQ(this->numbers(copy), expected);
    EXPECT_EQ(this->numbers(original), (Numbers{1, 2, 3, 4, 5}));
  };
  check([](auto& l) { l.push_back(6); }, {1, 2, 3, 4, 5, 6});
  check([](auto& l) { l.emplace_back(6).number += 0; }, {1, 2, 3, 4, 5, 6});
  check([](auto& l) { l.pop_back(); }, {1, 2, 3, 4});
  check([](auto& l) { l.insert(0, 9); }, {9, 1, 2, 3, 4, 5});
  check([](auto& l) { l.insert(2, 9); }, {1, 2, 9, 3, 4, 5});
  check([](auto& l) { l.insert(5, 9); }, {1, 2, 3, 4, 5, 9});
  check([](auto& l) { l.erase(0); }, {2, 3, 4, 5});
  check([](auto& l) { l.erase(4); }, {1, 2, 3, 4});
  check([](auto& l) { l.resize(2); }, {1, 2});
  check([](auto& l) { l.resize(0); }, {});
  check([](auto& l) { l.resize(7); }, {1, 2, 3, 4, 5, 0, 0});
  check([](auto& l) { l.resize(5); }, {1, 2, 3, 4, 5});
  check([](auto& l) { l.reserve(100); }, {1, 2, 3, 4, 5});
  check([](auto& l) { l.reserve(1); }, {1, 2, 3, 4, 5});
  check([](auto& l) { l.clear(); }, {});
  check([](auto& l) { l.front() = 9; }, {9, 2, 3, 4, 5});
  check([](auto& l) { l.back() = 9; }, {1, 2, 3, 4, 9});
  check([](auto& l) { *l.begin() = 9; }, {9, 2, 3, 4, 5});
  check([](auto& l) { *(l.end() - 1) = 9; }, {1, 2, 3, 4, 9});
  check(
      [](auto& l) {
        for (auto& item : l) item = item.number * 2;
      },
      {2, 4, 6, 8, 10});
  check([](auto& l) { std::reverse(l.begin(), l.end()); }, {5, 4, 3, 2, 1});
  check([](auto& l) { erase_if(l, [](const auto& i) { return i.number % 2 == 1; }); }, {2, 4});
}

TYPED_TEST(ListTest, SameWritesOnAnUnsharedList) {
  List<TypeParam> list = this->upTo(3);
  list.insert(1, 9);
  EXPECT_EQ(this->numbers(list), (Numbers{1, 9, 2, 3}));
  list.erase(0);
  EXPECT_EQ(this->numbers(list), (Numbers{9, 2, 3}));
  list.resize(5);
  EXPECT_EQ(this->numbers(list), (Numbers{9, 2, 3, 0, 0}));
  EXPECT_EQ(erase_if(list, [](const TypeParam& item) { return item.number == 0; }), 2u);
  EXPECT_EQ(erase_if(list, [](const TypeParam&) { return false; }), 0u);
  list.pop_back();
  EXPECT_EQ(this->numbers(list), (Numbers{9, 2}));
  EXPECT_EQ(erase_if(list, [](const TypeParam&) { return true; }), 2u);
  EXPECT_TRUE(list.empty());
  list.push_back(1);
  EXPECT_EQ(this->numbers(list), Numbers{1});
}

TYPED_TEST(ListTest, WritesWorkOnABlockThatFitsExactly) {
  // A detached copy has room for its elements only.
  const auto exact = [&](int n) {
    const List<TypeParam> shared = this->upTo(n);
    List<TypeParam> copy = shared;
    if (n > 0) copy[0] = TypeParam(1);
    return copy;
  };
  for (int n = 1; n <= 9; ++n) {
    Numbers expected(static_cast<std::size_t>(n));
    std::iota(expected.begin(), expected.end(), 1);
    List<TypeParam> shorter = exact(n);
    shorter.pop_back();
    EXPECT_EQ(this->numbers(shorter), Numbers(expected.begin(), expected.end() - 1));
    List<TypeParam> erased = exact(n);
    erased.erase(0);
    EXPECT_EQ(this->numbers(erased), Numbers(expected.begin() + 1, expected.end()));
    List<TypeParam> longer = exact(n);
    longer.push_back(n + 1);
    expected.push_back(n + 1);
    EXPECT_EQ(this->numbers(longer), expected);
  }
}

TYPED_TEST(ListTest, GrowsAndShrinksThroughManySizes) {
  List<TypeParam> list;
  Numbers expected;
  for (int i = 1; i <= 300; ++i) {
    list.push_back(i);
    expected.push_back(i);
    if (i % 7 == 0) {
      list.erase(static_cast<std::size_t>(i % 3));
      expected.erase(expected.begin() + i % 3);
    }
    if (i % 50 == 0) {
      ASSERT_EQ(this->numbers(list), expected);
    }
  }
  while (!list.empty()) list.pop_back();
  EXPECT_EQ(this->numbers(list), Numbers{});
}

TYPED_TEST(ListTest, AppendingWithSpareCapacityMovesNothing) {
  List<TypeParam> list{1};
  list.reserve(10);
  const TypeParam* first = &std::as_const(list)[0];
  for (int i = 2; i <= 10; ++i) list.push_back(i);
  EXPECT_EQ(&std::as_const(list)[0], first);
}

TYPED_TEST(ListTest, ElementsOfAListCanBeAddedToIt) {
  List<TypeParam> list{1, 2, 3, 4};
  for (int i = 0; i < 5; ++i) list.push_back(list[0]);
  list.insert(0, list.back());
  list.insert(0, std::as_const(list)[2]);
  EXPECT_EQ(this->numbers(list), (Numbers{2, 1, 1, 2, 3, 4, 1, 1, 1, 1, 1}));
}

TYPED_TEST(ListTest, ElementsMadeByResizingAreOrdinaryOnes) {
  List<TypeParam> list;
  list.resize(3);
  EXPECT_EQ(list, (List<TypeParam>{0, 0, 0}));
  EXPECT_EQ((List<TypeParam>{0, 0, 0}), list);
  list[1] = TypeParam(5);
  EXPECT_EQ(this->numbers(list), (Numbers{0, 5, 0}));
}

TYPED_TEST(ListTest, EqualityIsByElements) {
  const List<TypeParam> a{1, 2};
  EXPECT_EQ(a, (List<TypeParam>{1, 2}));
  EXPECT_NE(a, (List<TypeParam>{2, 1}));
  EXPECT_NE(a, (List<TypeParam>{1}));
  EXPECT_NE(a, (List<TypeParam>{1, 2, 3}));
  List<TypeParam> emptied{1};
  emptied.pop_back();
  EXPECT_EQ(emptied, List<TypeParam>());
}

TYPED_TEST(ListTest, MovedFromIsEmpty) {
  List<TypeParam> a{1, 2};
  const List<TypeParam> b = std::move(a);
  EXPECT_TRUE(a.empty());  // NOLINT: tested on purpose
  EXPECT_EQ(this->numbers(b), (Numbers{1, 2}));
  a.push_back(3);
  EXPECT_EQ(this->numbers(a), Numbers{3});
}

TYPED_TEST(ListTest, WorksWithAlgorithms) {
  List<TypeParam> list{3, 1, 2};
  std::sort(list.begin(), list.end(), [](auto& a, auto& b) { return a.number < b.number; });
  EXPECT_EQ(this->numbers(list), (Numbers{1, 2, 3}));
  const auto at = std::ranges::find(std::as_const(list), 2, &TypeParam::number);
  EXPECT_EQ(at - std::as_const(list).begin(), 1);
  EXPECT_EQ(std::ranges::max_element(std::as_const(list), {}, &TypeParam::number)->number, 3);
}

TYPED_TEST(ListTest, HandlesOfOneListAreDetachedOnManyThreads) {
  const List<TypeParam> shared = this->upTo(8);
  std::vector<std::jthread> threads;
  for (int t = 1; t <= 4; ++t) {
    threads.emplace_back([t, mine = shared] {
      for (int i = 0; i < 1'000; ++i) {
        List<TypeParam> copy = mine;
        copy[static_cast<std::size_t>(i % 8)] = TypeParam(-t);
        copy.push_back(i);
        ASSERT_EQ(std::as_const(copy)[static_cast<std::size_t>(i % 8)].number, -t);
        ASSERT_EQ(mine.size(), 8u);
      }
    });
  }
  threads.clear();
  EXPECT_EQ(shared, this->upTo(8));
}

TEST(BoxedListTest, DetachingCopiesHandlesAndOnlyTheWrittenElement) {
  const List<LargeElement> a{1, 2};
  List<LargeElement> b = a;
  b.push_back(3);
  EXPECT_EQ(&a[0], &std::as_const(b)[0]);
  b[0].number = 9;
  EXPECT_NE(&a[0], &std::as_const(b)[0]);
  EXPECT_EQ(&a[1], &std::as_const(b)[1]);
  EXPECT_EQ(a[0].number, 1);
}

struct Tree {
  String name;
  List<Tree> children;
  bool operator==(const Tree&) const = default;
};

TEST(RecursiveListTest, TypeMayHoldAListOfItself) {
  Tree tree{"root", {{"a", {}}, {"b", {{"c", {}}}}}};
  const Tree copy = tree;
  tree.children[1].children[0].name = "changed";
  EXPECT_EQ(copy.children[1].children[0].name, "c");
  EXPECT_NE(tree, copy);
  EXPECT_EQ(copy.children[5].children[3].name, "");
  tree.children.push_back(tree);
  EXPECT_EQ(std::as_const(tree).children[2].children.size(), 2u);
}

struct LargeTree {
  String name;
  std::array<char, kBoxedAbove> rest{};
  List<LargeTree> children;
  bool operator==(const LargeTree&) const = default;
};

TEST(RecursiveListTest, BoxedTypeMayHoldAListOfItself) {
  LargeTree tree;
  tree.children.resize(2);
  tree.children[1].children.emplace_back().name = "deep";
  const LargeTree copy = tree;
  tree.children[1].children[0].name = "changed";
  EXPECT_EQ(copy.children[1].children[0].name, "deep");
}

// Counts its instances, so that an element destroyed twice or never is detected.
struct Counted {
  static inline int alive = 0;
  Counted() { ++alive; }
  Counted(const Counted&) { ++alive; }
  Counted& operator=(const Counted&) = default;
  ~Counted() { --alive; }
};

TEST(ListLifetimeTest, EveryElementIsDestroyedOnce) {
  {
    List<Counted> list;
    list.resize(5);
    List<Counted> copy = list;
    copy.erase(2);
    copy.insert(1, Counted());
    copy.resize(2);
    copy.push_back(Counted());
    erase_if(copy, [i = 0](const Counted&) mutable { return i++ == 0; });
    EXPECT_EQ(Counted::alive, 7);
    list.clear();
    EXPECT_EQ(Counted::alive, 2);
  }
  EXPECT_EQ(Counted::alive, 0);
}

}  // namespace
}  // namespace kube
