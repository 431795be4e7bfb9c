// No threads.

#include "kube/base/internal/lru_map.h"

#include <gtest/gtest.h>

#include <string>

namespace kube {
namespace {

TEST(LruMapTest, TheLeastRecentlyUsedEntryIsRemoved) {
  LruMap<std::string, int> map(2);
  EXPECT_EQ(map.put("a", 1), std::nullopt);
  EXPECT_EQ(map.put("b", 2), std::nullopt);
  ASSERT_NE(map.find("a"), nullptr);
  const auto gone = map.put("c", 3);
  ASSERT_TRUE(gone);
  EXPECT_EQ(*gone, std::pair(std::string("b"), 2));
  EXPECT_EQ(map.size(), 2U);
  EXPECT_EQ(map.find("b"), nullptr);
  EXPECT_EQ(*map.find("a"), 1);
}

TEST(LruMapTest, PuttingReplacesAndIsAUse) {
  LruMap<std::string, int> map(2);
  map.put("a", 1);
  map.put("b", 2);
  EXPECT_EQ(map.put("a", 5), std::nullopt);
  map.put("c", 3);
  EXPECT_EQ(*map.find("a"), 5);
  EXPECT_EQ(map.find("b"), nullptr);
}

TEST(LruMapTest, AnEntryIsSeenWithoutAUse) {
  LruMap<std::string, int> map(2);
  EXPECT_EQ(map.oldest(), nullptr);
  map.put("a", 1);
  map.put("b", 2);
  EXPECT_EQ(*map.peek("a"), 1);
  EXPECT_EQ(map.peek("c"), nullptr);
  ASSERT_NE(map.oldest(), nullptr);
  EXPECT_EQ(map.oldest()->first, "a");
  map.find("a");
  EXPECT_EQ(map.oldest()->first, "b");
}

TEST(LruMapTest, EntriesAreErasedByKeyAndByChoice) {
  LruMap<int, int> map(10);
  for (int i = 0; i < 6; ++i) map.put(i, i * i);
  EXPECT_TRUE(map.erase(0));
  EXPECT_FALSE(map.erase(0));
  map.filter([](int key, int& value) {
    ++value;
    return key % 2 == 0;
  });
  EXPECT_EQ(map.size(), 2U);
  EXPECT_EQ(*map.find(4), 17);
  EXPECT_EQ(map.find(5), nullptr);
}

}  // namespace
}  // namespace kube
