#include "kube/workqueue/work_queue.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "kube/base/string.h"
#include "kube/meta/object_key.h"

namespace kube {
namespace {

TEST(WorkQueueTest, ItemsComeOutInTheOrderTheyWentIn) {
  WorkQueue<String> queue;
  for (const char* item : {"c", "a", "b"}) queue.add(item);
  EXPECT_EQ(queue.get(), "c");
  EXPECT_EQ(queue.get(), "a");
  EXPECT_EQ(queue.get(), "b");
}

TEST(WorkQueueTest, AnItemAddedAgainWhileItWaitsIsOne) {
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

TEST(WorkQueueTest, AnItemAddedWhileWorkedOnIsQueuedAgainWhenDone) {
  WorkQueue<String> queue;
  queue.add("a");
  EXPECT_EQ(queue.get(), "a");
  queue.add("a");
  queue.add("a");
  EXPECT_EQ(queue.len(), 0U);
  queue.add("b");
  queue.done("a");
  EXPECT_EQ(queue.len(), 2U);
  EXPECT_EQ(queue.get(), "b");  // the order is that of being ready
  EXPECT_EQ(queue.get(), "a");
  queue.done("a");
  queue.done("b");
  EXPECT_EQ(queue.len(), 0U);
}

TEST(WorkQueueTest, DoneOfWhatIsNotWorkedOnIsIgnored) {
  WorkQueue<String> queue;
  queue.done("nobody");
  queue.add("a");
  queue.done("a");
  EXPECT_EQ(queue.len(), 1U);
  EXPECT_EQ(queue.get(), "a");
  queue.done("a");
  queue.done("a");
  queue.add("a");
  EXPECT_EQ(queue.len(), 1U);
}

TEST(WorkQueueTest, KeysMayBeOfAnyKindThatHashes) {
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

TEST(WorkQueueTest, NothingIsKeptOfAnItemThatIsDone) {
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

TEST(WorkQueueTest, AHigherPriorityMovesAWaitingItemUpAndALowerOneDoesNothing) {
  WorkQueue<String> queue;
  for (const char* item : {"a", "b", "c"}) queue.add(item);
  queue.add("c", 1);
  queue.add("b", 1);
  queue.add("b", -1);
  EXPECT_EQ(queue.len(), 3U);
  for (const char* item : {"c", "b", "a"}) EXPECT_EQ(queue.get(), item);
}

TEST(WorkQueueTest, AnItemAddedWhileWorkedOnHasTheHighestPriorityItWasGiven) {
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
  queue.add("a", 1);  // what it had when it was taken counts no more
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

TEST(WorkItemTest, IsDoneWhenItGoes) {
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

TEST(WorkItemTest, ThatIsDoneByHandDoesNotFinishAnothersWork) {
  WorkQueue<String> queue;
  queue.add("a");
  WorkItem<String> first;
  ASSERT_TRUE(queue.next(first));
  queue.done("a");
  queue.add("a");
  WorkItem<String> second;
  ASSERT_TRUE(queue.next(second));  // on the same place in memory
  queue.add("a");
  first.done();
  EXPECT_EQ(queue.len(), 0U);
  second.done();
  EXPECT_EQ(queue.len(), 1U);
}

TEST(WorkItemTest, OfAnotherQueueIsFinishedThere) {
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

TEST(WorkQueueTest, ShutDownTakesNothingNewAndGivesOutWhatThereIs) {
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

TEST(WorkQueueTest, ShutDownLetsAllWorkersGo) {
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

TEST(WorkQueueTest, WhatIsAddedAgainBeforeTheShutDownIsStillDone) {
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
  // The last items are only there once the others are done.
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
  // The drain may begin after this, so it is asked for until it is over.
  std::atomic<bool> over = false;
  std::jthread ender([&] {
    while (!over) queue.shutDown();
  });
  ended.join();
  over = true;
}

// --- Against a model.

// The rules, written as plainly as can be.
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
      // Not always: the question puts everything in its place.
      if (seed % 2 == 0 || random() % 200 == 0) {
        ASSERT_EQ(queue.len(), model.len()) << "seed " << seed << " step " << i;
      }
    }
  }
}

TEST(WorkQueueTest, WhatHasComeInKeepsItsOrderBesideOtherPriorities) {
  WorkQueue<String> queue;
  queue.add("low", -1);
  queue.add("a");
  queue.add("b");
  queue.add("high", 1);
  queue.add("c");
  for (const char* item : {"high", "a", "b", "c", "low"}) EXPECT_EQ(queue.get(), item);
}

// --- With many threads.

TEST(WorkQueueTest, WhatIsAddedIsSeenByOneWorkerAtATime) {
  constexpr int kKeys = 50;
  constexpr int kProducers = 3;
  constexpr int kWorkers = 4;
  constexpr int kAdds = 4000;
  WorkQueue<String> queue;
  std::array<std::atomic<int>, kKeys> added{};
  std::array<std::atomic<int>, kKeys> seen{};
  std::array<std::atomic<int>, kKeys> workers{};
  std::atomic<bool> twice = false;
  std::vector<std::jthread> working;
  for (int w = 0; w < kWorkers; ++w) {
    working.emplace_back([&, w] {
      const auto handle = [&](const String& name) {
        const auto key = static_cast<std::size_t>(std::stoi(name.str()));
        if (workers[key].fetch_add(1) != 0) twice = true;
        seen[key].store(added[key].load());
        workers[key].fetch_sub(1);
      };
      if (w % 2 == 0) {
        for (WorkItem<String> item; queue.next(item);) handle(*item);
      } else {
        while (const auto item = queue.get()) {
          handle(*item);
          queue.done(*item);
        }
      }
    });
  }
  std::vector<std::jthread> producers;
  for (int p = 0; p < kProducers; ++p) {
    producers.emplace_back([&, p] {
      std::mt19937 random(static_cast<unsigned>(p));
      for (int i = 0; i < kAdds; ++i) {
        const std::size_t key = random() % kKeys;
        ++added[key];
        queue.add(std::to_string(key), static_cast<int>(random() % 2));
      }
    });
  }
  producers.clear();
  queue.shutDownWithDrain();
  working.clear();
  EXPECT_FALSE(twice);
  // Whatever came last was seen: nothing that was added is forgotten.
  for (std::size_t key = 0; key < kKeys; ++key) EXPECT_EQ(seen[key], added[key]);
}

TEST(WorkQueueTest, NoWakeIsLost) {
  // One item at a time, so that workers fall asleep in between; some of them are stopped, as a
  // wake may be on its way to them.
  WorkQueue<int> queue;
  std::atomic<int> handled = 0;
  const auto work = [&](const std::stop_token& stop) {
    for (WorkItem<int> item; queue.next(item, stop);) {
      ++handled;
      handled.notify_all();
    }
  };
  std::vector<std::jthread> workers;
  for (int w = 0; w < 3; ++w) workers.emplace_back(work);
  for (int i = 0; i < 3000; ++i) {
    if (i % 10 == 0) {
      workers[static_cast<std::size_t>(i / 10 % 2)].request_stop();
      workers[static_cast<std::size_t>(i / 10 % 2)] = std::jthread(work);
    }
    queue.add(i);
    if (i % 3 == 0) queue.add(i + 1'000'000);
    const int expected = i + 1 + i / 3 + 1;
    for (int now; (now = handled.load()) < expected;) handled.wait(now);
  }
}

TEST(WorkQueueTest, AllWorkersComeWhenThereIsWorkForAll) {
  // Many swift items, for which few workers are best; then one for each worker, of which none is
  // done before all are there.
  constexpr int kWorkers = 6;
  constexpr int kRounds = 100;
  constexpr int kSlow = 1'000'000;
  WorkQueue<int> queue;
  std::barrier<> together(kWorkers);
  std::atomic<int> slow = 0;
  std::vector<std::jthread> workers;
  for (int w = 0; w < kWorkers; ++w) {
    workers.emplace_back([&] {
      for (WorkItem<int> item; queue.next(item);) {
        if (*item < kSlow) continue;
        together.arrive_and_wait();
        ++slow;
        slow.notify_all();
      }
    });
  }
  for (int round = 1; round <= kRounds; ++round) {
    for (int i = 0; i < 300 * (round % 4); ++i) queue.add(i);
    for (int i = 0; i < kWorkers; ++i) queue.add(kSlow + i);
    for (int now; (now = slow.load()) < round * kWorkers;) slow.wait(now);
  }
  queue.shutDown();
}

}  // namespace
}  // namespace kube
