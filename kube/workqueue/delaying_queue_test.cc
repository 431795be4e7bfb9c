#include "kube/workqueue/delaying_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "kube/base/internal/sanitizer.h"
#include "kube/base/string.h"
#include "kube/workqueue/queue_round_testing.h"

namespace kube {
namespace {

// A key that calls a function of the test when it is hashed, with which every add begins.
struct SlowKey {
  int number = 0;
  const std::function<void()>* onHash = nullptr;
  bool operator==(const SlowKey& other) const { return number == other.number; }
};

}  // namespace
}  // namespace kube

template <>
struct std::hash<kube::SlowKey> {
  std::size_t operator()(const kube::SlowKey& key) const noexcept {
    if (key.onHash != nullptr && *key.onHash) (*key.onHash)();
    return static_cast<std::size_t>(key.number);
  }
};

namespace kube {
namespace {

using namespace std::chrono_literals;

class DelayingQueueTest : public ::testing::Test {
 protected:
  std::vector<String> takeAll() {
    std::vector<String> items;
    while (queue.len() > 0) {
      items.push_back(*queue.get());
      queue.done(items.back());
    }
    return items;
  }

  FakeClock clock;
  DelayingQueue<String> queue{{.clock = &clock}};
};
using Strings = std::vector<String>;

TEST_F(DelayingQueueTest, AnItemIsAddedAtItsTime) {
  queue.addAfter("a", 50ms);
  EXPECT_EQ(queue.len(), 0U);
  EXPECT_EQ(queue.delayed(), 1U);
  clock.advance(50ms - 1ns);
  EXPECT_EQ(queue.len(), 0U);
  clock.advance(1ns);
  EXPECT_EQ(queue.delayed(), 0U);
  EXPECT_EQ(takeAll(), Strings{"a"});
  clock.advance(10s);
  EXPECT_EQ(queue.len(), 0U);
}

TEST_F(DelayingQueueTest, AnItemWithoutADelayIsAddedAtOnce) {
  queue.addAfter("a", 0s);
  queue.addAfter("b", -1s);
  EXPECT_EQ(queue.delayed(), 0U);
  EXPECT_EQ(takeAll(), (Strings{"a", "b"}));
}

TEST_F(DelayingQueueTest, TheEarliestTimeOfAnItemCounts) {
  queue.addAfter("later", 50ms);
  queue.addAfter("later", 70ms);
  queue.addAfter("sooner", 50ms);
  queue.addAfter("sooner", 30ms);
  EXPECT_EQ(queue.delayed(), 2U);
  clock.advance(30ms);
  EXPECT_EQ(takeAll(), Strings{"sooner"});
  clock.advance(20ms);
  EXPECT_EQ(takeAll(), Strings{"later"});
  clock.advance(1h);
  EXPECT_EQ(takeAll(), Strings{});
}

TEST_F(DelayingQueueTest, ItemsComeInTheOrderOfTheirTimes) {
  queue.addAfter("3", 3s);
  queue.addAfter("1", 1s);
  queue.addAfter("2", 2s);
  queue.addAfter("2 too", 2s);
  clock.advance(5s);
  EXPECT_EQ(takeAll(), (Strings{"1", "2", "2 too", "3"}));
}

TEST_F(DelayingQueueTest, ADelayedItemMayBeInTheQueueToo) {
  queue.addAfter("a", 1s);
  queue.add("a");
  EXPECT_EQ(queue.get(), "a");
  clock.advance(1s);
  EXPECT_EQ(queue.len(), 0U);  // it is in work
  queue.done("a");
  EXPECT_EQ(takeAll(), Strings{"a"});
}

TEST_F(DelayingQueueTest, KeepsTheHighestPriorityGiven) {
  queue.addAfter("a", 1s, 0);
  queue.addAfter("b", 1s, 0);
  queue.addAfter("b", 2s, 7);
  clock.advance(1s);
  EXPECT_EQ(takeAll(), (Strings{"b", "a"}));
}

TEST_F(DelayingQueueTest, AnItemThatFallsDueWakesAWorker) {
  std::jthread worker([&] { EXPECT_EQ(queue.get(), "a"); });
  queue.addAfter("a", 1s);
  clock.advance(1s);
}

TEST_F(DelayingQueueTest, OneTimerIsEnough) {
  queue.addAfter("a", 3s);
  queue.addAfter("b", 2s);
  queue.addAfter("c", 1s);
  queue.addAfter("d", 4s);
  EXPECT_EQ(clock.waiters(), 1U);
  clock.advance(1s);
  EXPECT_EQ(clock.waiters(), 1U);
  clock.advance(10s);
  EXPECT_EQ(clock.waiters(), 0U);
}

TEST_F(DelayingQueueTest, AShutDownDropsDelayedItems) {
  for (const bool drain : {false, true}) {
    DelayingQueue<String> other({.clock = &clock});
    other.addAfter("a", 1s);
    if (drain) {
      other.shutDownWithDrain();
    } else {
      other.shutDown();
    }
    EXPECT_EQ(clock.waiters(), 0U);
    EXPECT_EQ(other.delayed(), 0U);
    other.addAfter("b", 1s);
    other.addAfter("c", 0s);
    EXPECT_EQ(other.delayed(), 0U);
    clock.advance(1s);
    EXPECT_EQ(other.get(), std::nullopt);
  }
}

TEST_F(DelayingQueueTest, CanBeDestroyedWithDelayedItems) {
  {
    DelayingQueue<String> other({.clock = &clock});
    other.addAfter("a", 1s);
    EXPECT_EQ(clock.waiters(), 1U);
  }
  EXPECT_EQ(clock.waiters(), 0U);
  clock.advance(1s);
}

// This is how controllers end: some retries fall due at that moment, and others later.
TEST_F(DelayingQueueTest, ItsEndWaitsUntilDueItemsAreAdded) {
  for (const bool shutDownFirst : {false, true}) {
    std::function<void()> onHash;  // set below
    auto other = std::make_unique<DelayingQueue<SlowKey>>(QueueOptions{.clock = &clock});
    other->addAfter({1, &onHash}, 1s);
    other->addAfter({2, &onHash}, 2s);

    std::mutex mutex;
    std::condition_variable changed;
    bool adding = false, gone = false;
    onHash = [&] {
      std::unique_lock lock(mutex);
      if (std::exchange(adding, true)) return;
      changed.notify_all();
      // Gives the destroyer time to return too early.
      EXPECT_FALSE(changed.wait_for(lock, 100ms, [&] { return gone; }));
    };
    std::jthread destroyer([&] {
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return adding; });
      }
      if (shutDownFirst) {
        other->shutDown();
      } else {
        other.reset();
      }
      const std::lock_guard lock(mutex);
      gone = true;
      changed.notify_all();
    });
    clock.advance(1s);
    destroyer.join();
    EXPECT_EQ(clock.waiters(), 0U);
  }
}

TEST_F(DelayingQueueTest, AnInfiniteDelayNeverEnds) {
  queue.addAfter("a", Clock::Duration::max());
  queue.addAfter("b", 1s);
  clock.advance(1000h);
  EXPECT_EQ(takeAll(), Strings{"b"});
}

TEST_F(DelayingQueueTest, BehavesAsTheModelDoes) {
  std::mt19937 random(3);
  std::map<int, Clock::TimePoint> model;
  DelayingQueue<int> numbers({.clock = &clock});
  for (int i = 0; i < 5000; ++i) {
    if (random() % 4 != 0) {
      const int item = static_cast<int>(random() % 200);
      const auto delay = std::chrono::milliseconds(1 + random() % 100);
      numbers.addAfter(item, delay);
      const auto when = clock.now() + delay;
      const auto [at, isNew] = model.emplace(item, when);
      if (!isNew) at->second = std::min(at->second, when);
    } else {
      clock.advance(std::chrono::milliseconds(random() % 20));
      std::vector<int> due;
      std::erase_if(model, [&](const auto& entry) {
        if (entry.second > clock.now()) return false;
        due.push_back(entry.first);
        return true;
      });
      ASSERT_EQ(numbers.len(), due.size());
      std::vector<int> taken;
      while (numbers.len() > 0) {
        taken.push_back(*numbers.get());
        numbers.done(taken.back());
      }
      std::ranges::sort(taken);
      ASSERT_EQ(taken, due);
    }
    ASSERT_EQ(numbers.delayed(), model.size());
  }
}

TEST(DelayingQueueThreadsTest, EveryItemIsTakenInTheEnd) {
  constexpr int kItems = 3000;
  DelayingQueue<int> queue;
  std::atomic<int> seen = 0;
  std::vector<std::jthread> workers;
  for (int w = 0; w < 3; ++w) {
    workers.emplace_back([&] {
      for (WorkItem<int> item; queue.next(item);) {
        ++seen;
        seen.notify_all();
      }
    });
  }
  std::vector<std::jthread> producers;
  for (int p = 0; p < 3; ++p) {
    producers.emplace_back([&, p] {
      for (int i = p; i < kItems; i += 3) {
        queue.addAfter(i, std::chrono::microseconds(kItems - i));
      }
    });
  }
  for (int now; (now = seen.load()) < kItems;) seen.wait(now);
  producers.clear();
  queue.shutDown();
  workers.clear();
  EXPECT_EQ(seen, kItems);
  EXPECT_EQ(queue.delayed(), 0U);
}

TEST(DelayingQueueThreadsTest, AQueueMayEndAtAnyMoment) {
  // With --gtest_repeat, every repetition has other seeds.
  static std::uint64_t seed = 0;
  for (int i = 0; i < detail::testAmount(80); ++i) {
    const auto result = testing::QueueRound(++seed).run();
    EXPECT_TRUE(result.problems.empty()) << "seed " << seed << ": " << result.problems.front();
  }
}

}  // namespace
}  // namespace kube
