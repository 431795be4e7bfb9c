#include "kube/workqueue/work_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <future>
#include <limits>
#include <map>
#include <new>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "kube/base/string.h"
#include "kube/meta/object_key.h"

namespace kube {
namespace {

// A key whose copies fail when `copiesLeft` is used up, as if there were no memory.
struct CountedKey {
  static inline int copiesLeft = std::numeric_limits<int>::max();

  int number = 0;

  CountedKey() = default;
  explicit CountedKey(int n) : number(n) {}
  CountedKey(const CountedKey& other) : number(other.number) { count(); }
  CountedKey& operator=(const CountedKey& other) {
    count();
    number = other.number;
    return *this;
  }
  bool operator==(const CountedKey&) const = default;

  static void count() {
    if (copiesLeft == 0) throw std::bad_alloc();
    --copiesLeft;
  }
};

}  // namespace
}  // namespace kube

template <>
struct std::hash<kube::CountedKey> {
  std::size_t operator()(const kube::CountedKey& key) const noexcept {
    return static_cast<std::size_t>(key.number);
  }
};

namespace kube {
namespace {

TEST(WorkQueueTest, ItemsAreTakenInTheOrderInWhichTheyWereAdded) {
  WorkQueue<String> queue;
  for (const char* item : {"c", "a", "b"}) queue.add(item);
  EXPECT_EQ(queue.get(), "c");
  EXPECT_EQ(queue.get(), "a");
  EXPECT_EQ(queue.get(), "b");
}

TEST(WorkQueueTest, AnItemAddedAgainWhileItWaitsIsInTheQueueOnce) {
  WorkQueue<String> queue;
  queue.add("a");
  queue.add("b");
  queue.add("a");
  queue.add("a");
  EXPECT_EQ(queue.len(), 2U);
  EXPECT_EQ(queue.get(), "a");
  EXPECT_EQ(queue.get(), "b");
  EXPECT_EQ(queue.len(), 0U);
}

TEST(WorkQueueTest, AnItemAddedWhileInWorkWaitsAgainWhenDone) {
  WorkQueue<String> queue;
  queue.add("a");
  EXPECT_EQ(queue.get(), "a");
  queue.add("a");
  queue.add("a");
  EXPECT_EQ(queue.len(), 0U);
  queue.add("b");
  queue.done("a");
  EXPECT_EQ(queue.len(), 2U);
  EXPECT_EQ(queue.get(), "b");  // "a" waits only since it was done
  EXPECT_EQ(queue.get(), "a");
  queue.done("a");
  queue.done("b");
  EXPECT_EQ(queue.len(), 0U);
}

TEST(WorkQueueTest, DoneIsIgnoredIfNoWorkerHasTheItem) {
  WorkQueue<String> queue;
  queue.done("never added");
  queue.add("a");
  queue.done("a");
  EXPECT_EQ(queue.len(), 1U);
  EXPECT_EQ(queue.get(), "a");
  queue.done("a");
  queue.done("a");
  queue.add("a");
  EXPECT_EQ(queue.len(), 1U);
}

TEST(WorkQueueTest, KeysMayHaveAnyTypeThatHashes) {
  WorkQueue<ObjectKey> objects;
  objects.add({"book", "web"});
  objects.add({"book", "web"});
  EXPECT_EQ(objects.len(), 1U);
  EXPECT_EQ(objects.get(), (ObjectKey{"book", "web"}));
  WorkQueue<int> numbers;
  for (int i = 0; i < 1000; ++i) numbers.add(i);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(numbers.get(), i);
  WorkQueue<std::string> strings;
  strings.add("");
  EXPECT_EQ(strings.get(), "");
}

TEST(WorkQueueTest, AQueueKeepsNoKeyOfAnItemThatIsDone) {
  WorkQueue<std::shared_ptr<int>> queue;
  auto item = std::make_shared<int>(1);
  queue.add(item);
  queue.add(item);
  EXPECT_EQ(queue.len(), 1U);
  EXPECT_EQ(item.use_count(), 2);
  queue.done(*queue.get());
  EXPECT_EQ(item.use_count(), 1);
}

// --- Priorities.

TEST(WorkQueueTest, HigherPrioritiesComeFirstAndInOrder) {
  WorkQueue<String> queue;
  queue.add("low", -100);
  queue.add("a");
  queue.add("high 1", 5);
  queue.add("b");
  queue.add("high 2", 5);
  queue.add("highest", 6);
  for (const char* item : {"highest", "high 1", "high 2", "a", "b", "low"}) {
    EXPECT_EQ(queue.get(), item);
  }
}

TEST(WorkQueueTest, AHigherPriorityMovesAWaitingItemAndALowerOneDoesNot) {
  WorkQueue<String> queue;
  for (const char* item : {"a", "b", "c"}) queue.add(item);
  queue.add("c", 1);
  queue.add("b", 1);
  queue.add("b", -1);
  EXPECT_EQ(queue.len(), 3U);
  for (const char* item : {"c", "b", "a"}) EXPECT_EQ(queue.get(), item);
}

TEST(WorkQueueTest, AnItemAddedWhileInWorkHasTheHighestPriorityItWasGiven) {
  WorkQueue<String> queue;
  queue.add("a", 9);
  WorkItem<String> item;
  ASSERT_TRUE(queue.next(item));
  EXPECT_EQ(item.priority(), 9);
  queue.add("b", 2);
  queue.add("a", 1);
  queue.add("a", 3);
  queue.add("a", 2);
  ASSERT_TRUE(queue.next(item));
  EXPECT_EQ(*item, "a");
  EXPECT_EQ(item.priority(), 3);
  queue.add("a", 1);  // its earlier priority no longer counts
  ASSERT_TRUE(queue.next(item));
  EXPECT_EQ(*item, "b");
}

// --- WorkItem.

TEST(WorkItemTest, NextFinishesOneAndTakesAnother) {
  WorkQueue<String> queue;
  queue.add("a");
  queue.add("b");
  WorkItem<String> item;
  EXPECT_FALSE(item);
  ASSERT_TRUE(queue.next(item));
  EXPECT_TRUE(item);
  EXPECT_EQ(*item, "a");
  EXPECT_EQ(item->size(), 1U);
  queue.add("a");
  ASSERT_TRUE(queue.next(item));
  EXPECT_EQ(*item, "b");
  EXPECT_EQ(queue.len(), 1U);
  queue.shutDown();
  ASSERT_TRUE(queue.next(item));
  EXPECT_EQ(*item, "a");
  EXPECT_FALSE(queue.next(item));
  EXPECT_FALSE(item);
}

TEST(WorkItemTest, IsDoneWhenDestroyed) {
  WorkQueue<String> queue;
  queue.add("a");
  {
    WorkItem<String> item;
    ASSERT_TRUE(queue.next(item));
    queue.add("a");
    WorkItem<String> moved(std::move(item));
    EXPECT_EQ(queue.len(), 0U);
    WorkItem<String> again;
    again = std::move(moved);
    EXPECT_EQ(queue.len(), 0U);
    EXPECT_EQ(*again, "a");
  }
  EXPECT_EQ(queue.len(), 1U);
}

TEST(WorkItemTest, DoneByHandDoesNotFinishTheWorkOfAnother) {
  WorkQueue<String> queue;
  queue.add("a");
  WorkItem<String> first;
  ASSERT_TRUE(queue.next(first));
  queue.done("a");
  queue.add("a");
  WorkItem<String> second;
  ASSERT_TRUE(queue.next(second));  // in the same entry
  queue.add("a");
  first.done();
  EXPECT_EQ(queue.len(), 0U);
  second.done();
  EXPECT_EQ(queue.len(), 1U);
}

TEST(WorkItemTest, NextOfAnotherQueueFinishesItInItsOwn) {
  WorkQueue<String> one;
  WorkQueue<String> two;
  one.add("a");
  two.add("b");
  WorkItem<String> item;
  ASSERT_TRUE(one.next(item));
  one.add("a");
  ASSERT_TRUE(two.next(item));
  EXPECT_EQ(*item, "b");
  EXPECT_EQ(one.len(), 1U);
}

// --- Ending.

TEST(WorkQueueTest, AStopEndsTheWaiting) {
  WorkQueue<String> queue;
  std::stop_source stop;
  auto first = std::async(std::launch::async, [&] { return queue.get(stop.get_token()); });
  auto second = std::async(std::launch::async, [&] {
    WorkItem<String> item;
    return queue.next(item, stop.get_token());
  });
  stop.request_stop();
  EXPECT_EQ(first.get(), std::nullopt);
  EXPECT_FALSE(second.get());
}

TEST(WorkQueueTest, AfterAStopItemsAreLeftForOthers) {
  WorkQueue<String> queue;
  std::stop_source stop;
  stop.request_stop();
  queue.add("a");
  EXPECT_EQ(queue.get(stop.get_token()), std::nullopt);
  EXPECT_EQ(queue.get(), "a");
}

TEST(WorkQueueTest, AfterShutDownItemsCanBeTakenButNotAdded) {
  WorkQueue<String> queue;
  queue.add("a");
  queue.add("b");
  EXPECT_FALSE(queue.shuttingDown());
  queue.shutDown();
  EXPECT_TRUE(queue.shuttingDown());
  queue.add("c");
  EXPECT_EQ(queue.get(), "a");
  EXPECT_EQ(queue.get(), "b");
  EXPECT_EQ(queue.get(), std::nullopt);
}

TEST(WorkQueueTest, ShutDownEndsAllWorkers) {
  WorkQueue<String> queue;
  std::vector<std::jthread> workers;
  std::atomic<int> ended = 0;
  for (int i = 0; i < 4; ++i) {
    workers.emplace_back([&] {
      if (!queue.get()) ++ended;
    });
  }
  queue.shutDown();
  workers.clear();
  EXPECT_EQ(ended, 4);
}

TEST(WorkQueueTest, AnItemAddedAgainBeforeShutDownIsStillTaken) {
  WorkQueue<String> queue;
  queue.add("a");
  EXPECT_EQ(queue.get(), "a");
  queue.add("a");
  queue.shutDown();
  queue.done("a");
  EXPECT_EQ(queue.get(), "a");
}

TEST(WorkQueueTest, DrainReturnsWhenEverythingIsDone) {
  WorkQueue<String> queue;
  for (const char* item : {"a", "b", "c"}) queue.add(item);
  EXPECT_EQ(queue.get(), "a");
  queue.add("a");
  std::atomic<bool> drained = false;
  std::jthread drain([&] {
    queue.shutDownWithDrain();
    drained = true;
  });
  // "a" waits again only when it is done.
  for (const char* item : {"b", "c"}) {
    EXPECT_EQ(queue.get(), item);
    queue.done(item);
  }
  queue.done("a");
  EXPECT_EQ(queue.get(), "a");
  EXPECT_FALSE(drained);
  queue.done("a");
  drain.join();
  EXPECT_TRUE(drained);
  EXPECT_TRUE(queue.shuttingDown());
}

TEST(WorkQueueTest, DrainOfAnEmptyQueueReturnsAtOnce) {
  WorkQueue<String> queue;
  queue.shutDownWithDrain();
  EXPECT_EQ(queue.get(), std::nullopt);
}

TEST(WorkQueueTest, DrainEndsByShutDownOrAStop) {
  WorkQueue<String> queue;
  queue.add("a");
  EXPECT_EQ(queue.get(), "a");
  std::stop_source stop;
  std::jthread stopped([&] { queue.shutDownWithDrain(stop.get_token()); });
  stop.request_stop();
  stopped.join();
  std::jthread ended([&] { queue.shutDownWithDrain(); });
  // The drain may begin after a call of shutDown(), so this calls it until the drain is over.
  std::atomic<bool> over = false;
  std::jthread ender([&] {
    while (!over) queue.shutDown();
  });
  ended.join();
  over = true;
}

// --- Against a model.

// The rules of the queue in their plainest form.
class ModelQueue {
 public:
  void add(int item, int priority) {
    if (working_.contains(item)) {
      const auto [at, isNew] = again_.emplace(item, priority);
      if (!isNew) at->second = std::max(at->second, priority);
      return;
    }
    for (auto& [level, items] : waiting_) {
      const auto at = std::find(items.begin(), items.end(), item);
      if (at == items.end()) continue;
      if (level >= priority) return;
      items.erase(at);
      break;
    }
    waiting_[priority].push_back(item);
  }
  std::optional<int> get() {
    for (auto& [level, items] : waiting_) {
      if (items.empty()) continue;
      const int item = items.front();
      items.pop_front();
      working_.insert(item);
      return item;
    }
    return std::nullopt;
  }
  void done(int item) {
    if (working_.erase(item) == 0) return;
    const auto at = again_.find(item);
    if (at == again_.end()) return;
    waiting_[at->second].push_back(item);
    again_.erase(at);
  }
  std::size_t len() const {
    std::size_t sum = 0;
    for (const auto& [level, items] : waiting_) sum += items.size();
    return sum;
  }
  const std::set<int>& working() const { return working_; }

 private:
  std::map<int, std::deque<int>, std::greater<>> waiting_;
  std::set<int> working_;
  std::map<int, int> again_;
};

TEST(WorkQueueTest, BehavesAsTheModelDoes) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    const int keys = 1 + static_cast<int>(random() % 60);
    const int priorities = 1 + static_cast<int>(random() % 4);
    WorkQueue<int> queue;
    ModelQueue model;
    for (int i = 0; i < 3000; ++i) {
      const int item = static_cast<int>(random()) % keys;
      switch (random() % 5) {
        case 0:
        case 1: {
          const int priority = static_cast<int>(random() % priorities) - 1;
          queue.add(item, priority);
          model.add(item, priority);
          break;
        }
        case 2:
        case 3: {
          const auto expected = model.get();
          if (!expected) break;
          ASSERT_EQ(queue.get(), expected) << "seed " << seed << " step " << i;
          break;
        }
        default: {
          int which = item;
          if (!model.working().empty() && random() % 4 != 0) {
            which = *std::next(model.working().begin(),
                               static_cast<long>(random() % model.working().size()));
          }
          queue.done(which);
          model.done(which);
        }
      }
      // Seldom for odd seeds, because len() admits the arrivals.
      if (seed % 2 == 0 || random() % 200 == 0) {
        ASSERT_EQ(queue.len(), model.len()) << "seed " << seed << " step " << i;
      }
    }
  }
}

TEST(WorkQueueTest, ArrivalsKeepTheirOrderBesideOtherPriorities) {
  WorkQueue<String> queue;
  queue.add("low", -1);
  queue.add("a");
  queue.add("b");
  queue.add("high", 1);
  queue.add("c");
  for (const char* item : {"high", "a", "b", "c", "low"}) EXPECT_EQ(queue.get(), item);
}

// --- Running out of memory.

TEST(WorkQueueTest, AnItemWithoutMemoryIsAdmittedLater) {
  WorkQueue<CountedKey> queue;
  for (int i = 1; i <= 3; ++i) queue.add(CountedKey(i));
  CountedKey::copiesLeft = 1;
  EXPECT_THROW(queue.len(), std::bad_alloc);
  EXPECT_THROW(queue.get(), std::bad_alloc);
  CountedKey::copiesLeft = std::numeric_limits<int>::max();
  EXPECT_EQ(queue.len(), 3U);
  for (int i = 1; i <= 3; ++i) EXPECT_EQ(queue.get()->number, i);
}

}  // namespace
}  // namespace kube
