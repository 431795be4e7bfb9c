// No threads.

#include "kube/workqueue/internal/ready_list.h"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <random>
#include <vector>

namespace kube::detail {
namespace {

struct ReadyEntry {
  int name = 0;
  int priority = 0;
  bool listed = false;
  ReadyEntry* next = nullptr;
  ReadyEntry* prev = nullptr;
};

class ReadyListTest : public ::testing::Test {
 protected:
  void append(ReadyEntry& entry) {
    ready.reserve(1);
    ready.append(entry);
  }
  std::vector<int> popAll() {
    std::vector<int> names;
    while (ready.size() > 0) names.push_back(ready.popFirst().name);
    return names;
  }

  ReadyList<ReadyEntry> ready;
};
using Names = std::vector<int>;

TEST_F(ReadyListTest, EntriesOfOnePriorityComeInOrder) {
  ReadyEntry a{1}, b{2}, c{3};
  for (ReadyEntry* entry : {&c, &a, &b}) append(*entry);
  EXPECT_EQ(ready.size(), 3U);
  EXPECT_EQ(popAll(), (Names{3, 1, 2}));
}

TEST_F(ReadyListTest, HigherPrioritiesComeFirst) {
  ReadyEntry low{1, -5}, middle{2, 0}, high{3, 7}, highest{4, 8}, alsoHigh{5, 7};
  for (ReadyEntry* entry : {&middle, &high, &low, &highest, &alsoHigh}) append(*entry);
  EXPECT_EQ(popAll(), (Names{4, 3, 5, 2, 1}));
}

TEST_F(ReadyListTest, AnyEntryCanBeRemoved) {
  ReadyEntry a{1, 0}, b{2, 0}, c{3, 0}, alone{4, 3};
  for (ReadyEntry* entry : {&a, &b, &c, &alone}) append(*entry);
  ready.remove(b);
  ready.remove(alone);
  EXPECT_EQ(ready.size(), 2U);
  EXPECT_EQ(popAll(), (Names{1, 3}));
  append(alone);  // as the only one
  append(b);
  EXPECT_EQ(popAll(), (Names{4, 2}));
}

TEST_F(ReadyListTest, HasRoomForAsManyNewPrioritiesAsWereReserved) {
  // The sanitizers and the standard library's assertions would notice a list that grows: append()
  // is noexcept, and the entries of other levels must not move.
  std::vector<ReadyEntry> entries(100);
  ready.reserve(entries.size());
  for (int i = 0; i < 100; ++i) {
    entries[static_cast<std::size_t>(i)] = {i, i * 7 % 100};
    ready.append(entries[static_cast<std::size_t>(i)]);
  }
  for (int priority = 99; priority >= 0; --priority) {
    ASSERT_EQ(ready.popFirst().priority, priority);
  }
}

TEST_F(ReadyListTest, BehavesAsAMapOfQueues) {
  std::mt19937 random(5);
  std::map<int, std::deque<int>, std::greater<>> model;
  std::vector<ReadyEntry> entries(60);
  std::size_t size = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::size_t at = random() % entries.size();
    ReadyEntry& entry = entries[at];
    if (!entry.listed) {
      entry = {static_cast<int>(at), static_cast<int>(random() % 5) - 2, true};
      append(entry);
      model[entry.priority].push_back(entry.name);
      ++size;
    } else if (random() % 2 == 0) {
      ready.remove(entry);
      entry.listed = false;
      std::erase(model[entry.priority], entry.name);
      --size;
    } else {
      std::erase_if(model, [](const auto& level) { return level.second.empty(); });
      ReadyEntry& first = ready.popFirst();
      first.listed = false;
      ASSERT_EQ(first.name, model.begin()->second.front());
      model.begin()->second.pop_front();
      --size;
    }
    ASSERT_EQ(ready.size(), size);
  }
}

}  // namespace
}  // namespace kube::detail
