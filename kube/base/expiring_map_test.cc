#include "kube/base/expiring_map.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace kube {
namespace {

using namespace std::chrono_literals;

TEST(ExpiringMapTest, AnEntryIsFoundUntilItsTimeIsOver) {
  FakeClock clock;
  ExpiringMap<std::string, int> map(10, clock);
  map.put("short", 1, 1s);
  map.put("long", 2, 1min);
  EXPECT_EQ(map.find("short"), 1);
  clock.advance(1s);
  EXPECT_EQ(map.find("short"), std::nullopt);
  EXPECT_EQ(map.find("long"), 2);
  EXPECT_EQ(map.size(), 1U) << "a lookup removes what has expired";
}

TEST(ExpiringMapTest, AnEntryThatIsPutAgainBeginsAnew) {
  FakeClock clock;
  ExpiringMap<std::string, int> map(10, clock);
  map.put("a", 1, 1s);
  clock.advance(900ms);
  map.put("a", 2, 1s);
  clock.advance(900ms);
  EXPECT_EQ(map.find("a"), 2);
}

TEST(ExpiringMapTest, TheLeastRecentlyUsedEntryMakesRoom) {
  FakeClock clock;
  ExpiringMap<std::string, int> map(2, clock);
  map.put("a", 1, 1min);
  map.put("b", 2, 1min);
  EXPECT_EQ(map.find("a"), 1);
  map.put("c", 3, 1min);
  EXPECT_EQ(map.find("b"), std::nullopt);
  EXPECT_EQ(map.find("a"), 1);
}

TEST(ExpiringMapTest, EntriesAreRemovedByKeyAndByChoice) {
  ExpiringMap<int, int> map(10);
  for (int i = 0; i < 6; ++i) map.put(i, i, 1h);
  EXPECT_TRUE(map.erase(0));
  EXPECT_FALSE(map.erase(0));
  map.eraseIf([](int key) { return key % 2 == 1; });
  EXPECT_EQ(map.size(), 2U);
}

TEST(ExpiringMapTest, SeveralThreadsUseIt) {
  ExpiringMap<int, int> map(50);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&map, t] {
      for (int i = 0; i < 1000; ++i) {
        map.put(i % 100, t, 1h);
        const auto found = map.find((i + t) % 100);
        if (found) {
          EXPECT_LT(*found, 4);
        }
      }
    });
  }
  threads.clear();
  EXPECT_LE(map.size(), 50U);
}

}  // namespace
}  // namespace kube
