#include "kube/cache/delta_fifo.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "kube/api/core/v1.h"

namespace kube {
namespace {

using corev1::Pod;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using enum DeltaType;

std::shared_ptr<const Pod> pod(std::string_view name, int value) {
  Pod result;
  result.metadata.name = name;
  result.metadata.resourceVersion = std::to_string(value);
  return std::make_shared<const Pod>(std::move(result));
}

// "foo: Added 1, Deleted 2?", the question mark for an unknown final state.
std::string text(const Deltas<Pod>& deltas) {
  std::string result = deltas.key.str() + ":";
  for (const Delta<Pod>& delta : deltas.changes) {
    if (&delta != &deltas.changes.front()) result += ",";
    result += fmt::format(
        " {} {}{}", toString(delta.type),
        delta.object ? std::string_view(delta.object->metadata.resourceVersion) : "none",
        delta.finalStateUnknown ? "?" : "");
  }
  return result;
}

// Without waiting.
std::string pop(DeltaFifo<Pod>& queue) {
  std::string result = "nothing";
  if (queue.size() > 0) {
    queue.pop({}, [&](const Deltas<Pod>& deltas) { result = text(deltas); });
  }
  return result;
}
std::vector<std::string> popAll(DeltaFifo<Pod>& queue) {
  std::vector<std::string> result;
  while (queue.size() > 0) result.push_back(pop(queue));
  return result;
}

// A queue whose consumer knows these pods.
struct Known {
  Store<Pod> store;
  DeltaFifo<Pod> queue{{.known = &store}};
  explicit Known(const std::vector<std::shared_ptr<const Pod>>& objects) {
    for (const auto& object : objects) store.add(object);
  }
};

TEST(DeltaFifoTest, ConsumersGetWhatTwoProducersAddInOrder) {
  DeltaFifo<Pod> queue;
  constexpr int kAmount = 500;
  std::vector<std::thread> producers;
  for (const std::string prefix : {"a", "b"}) {
    producers.emplace_back([&queue, prefix] {
      for (int i = 1; i <= kAmount; ++i) queue.add(pod(prefix + std::to_string(i), i));
    });
  }
  std::map<char, int> last;
  for (int i = 0; i < 2 * kAmount; ++i) {
    queue.pop({}, [&](const Deltas<Pod>& deltas) {
      const int value = std::stoi(deltas.newest().object->metadata.resourceVersion.str());
      EXPECT_EQ(value, last[deltas.key.name.view()[0]] + 1);
      last[deltas.key.name.view()[0]] = value;
    });
  }
  for (auto& producer : producers) producer.join();
  EXPECT_EQ(queue.size(), 0U);
}

TEST(DeltaFifoTest, ChangesOfAnObjectComeTogether) {
  DeltaFifo<Pod> queue;
  queue.add(pod("foo", 10));
  queue.update(pod("foo", 12));
  queue.remove(pod("foo", 15));
  EXPECT_EQ(queue.size(), 1U);
  EXPECT_EQ(pop(queue), "foo: Added 10, Updated 12, Deleted 15");
  EXPECT_EQ(pop(queue), "nothing");
}

TEST(DeltaFifoTest, NobodyJumpsTheLine) {
  DeltaFifo<Pod> queue;
  queue.add(pod("foo", 10));
  queue.add(pod("bar", 1));
  queue.add(pod("foo", 11));
  queue.add(pod("foo", 13));
  queue.add(pod("zab", 30));
  EXPECT_EQ(pop(queue), "foo: Added 10, Added 11, Added 13");
  queue.add(pod("foo", 14));
  EXPECT_THAT(popAll(queue), ElementsAre("bar: Added 1", "zab: Added 30", "foo: Added 14"));
}

TEST(DeltaFifoTest, ADeletionOfTheUnknownIsNoChange) {
  DeltaFifo<Pod> queue;
  queue.add(pod("foo", 10));
  queue.update(pod("bar", 15));
  queue.add(pod("qux", 17));
  queue.remove(pod("qux", 18));
  queue.remove(pod("baz", 20));
  EXPECT_THAT(popAll(queue),
              ElementsAre("foo: Added 10", "bar: Updated 15", "qux: Added 17, Deleted 18"));
}

TEST(DeltaFifoTest, ADeletionOfWhatTheConsumerKnowsIsOne) {
  Known known({pod("foo", 5), pod("bar", 6), pod("baz", 7)});
  known.queue.add(pod("foo", 10));
  known.queue.update(pod("bar", 15));
  known.queue.remove(pod("baz", 20));
  EXPECT_THAT(popAll(known.queue),
              ElementsAre("foo: Added 10", "bar: Updated 15", "baz: Deleted 20"));
}

TEST(DeltaFifoTest, ADeletionIsOneAlsoOfWhatIsOnlyQueued) {
  Known known({});
  known.queue.add(pod("foo", 5));
  known.queue.remove(pod("foo", 6));
  EXPECT_EQ(pop(known.queue), "foo: Added 5, Deleted 6");
}

TEST(DeltaFifoTest, TwoDeletionsAreOneThatKnowsMore) {
  DeltaFifo<Pod> queue;
  queue.add(pod("foo", 1));
  queue.remove(pod("foo", 2));
  queue.remove(pod("foo", 3));
  EXPECT_EQ(pop(queue), "foo: Added 1, Deleted 2");
  queue.add(pod("foo", 1));
  queue.replace({});
  queue.remove(pod("foo", 3));
  EXPECT_EQ(pop(queue), "foo: Added 1, Deleted 3");
  queue.add(pod("foo", 1));
  queue.remove(pod("foo", 3));
  queue.replace({});
  EXPECT_EQ(pop(queue), "foo: Added 1, Deleted 3");
}

TEST(DeltaFifoTest, ReplaceAddsToWhatIsQueued) {
  DeltaFifo<Pod> queue;
  queue.add(pod("foo", 10));
  queue.replace({pod("foo", 15)}, "0");
  EXPECT_EQ(pop(queue), "foo: Added 10, Replaced 15");
  EXPECT_EQ(pop(queue), "nothing");
}

// Otherwise the consumer would miss that the object was created again.
TEST(DeltaFifoTest, ReplaceCountsAfterADeletion) {
  Known known({pod("foo", 1)});
  known.queue.remove(pod("foo", 1));
  known.queue.replace({pod("foo", 2)});
  EXPECT_EQ(pop(known.queue), "foo: Deleted 1, Replaced 2");
}

TEST(DeltaFifoTest, ReplaceFindsWhatIsGoneFromTheQueue) {
  using Queue = DeltaFifo<Pod>;
  struct Case {
    std::function<void(Queue&)> operations;
    std::string expected;
  };
  const Case cases[] = {
      {[](Queue& q) { q.add(pod("foo", 2)), q.replace({}); }, "foo: Added 2, Deleted 2?"},
      {[](Queue& q) { q.add(pod("foo", 2)), q.replace({pod("foo", 2)}), q.replace({}); },
       "foo: Added 2, Replaced 2, Deleted 2?"},
      {[](Queue& q) { q.add(pod("foo", 2)), q.remove(pod("foo", 2)), q.replace({}); },
       "foo: Added 2, Deleted 2"},
      {[](Queue& q) {
         q.add(pod("foo", 2)), q.replace({pod("foo", 2)}), q.replace({pod("foo", 2)}),
             q.replace({});
       },
       "foo: Added 2, Replaced 2, Replaced 2, Deleted 2?"},
      {[](Queue& q) { q.add(pod("foo", 2)), q.replace({}), q.replace({}); },
       "foo: Added 2, Deleted 2?"},
      {[](Queue& q) {
         q.add(pod("foo", 2)), q.remove(pod("foo", 2)), q.add(pod("foo", 3)), q.replace({});
       },
       "foo: Added 2, Deleted 2, Added 3, Deleted 3?"},
  };
  for (const Case& one : cases) {
    Queue alone;
    one.operations(alone);
    EXPECT_THAT(popAll(alone), ElementsAre(one.expected));
    Known known({});
    one.operations(known.queue);
    EXPECT_THAT(popAll(known.queue), ElementsAre(one.expected));
  }
}

TEST(DeltaFifoTest, ReplaceFindsWhatIsGoneFromWhatIsKnown) {
  const auto three = [] { return Known({pod("foo", 5), pod("bar", 6), pod("baz", 7)}); };
  {
    Known known = three();
    known.queue.remove(pod("baz", 10));
    known.queue.replace({pod("foo", 5)}, "0");
    EXPECT_THAT(popAll(known.queue),
                ElementsAre("baz: Deleted 10", "foo: Replaced 5", "bar: Deleted 6?"));
  }
  {
    Known known = three();
    known.queue.add(pod("baz", 10));
    known.queue.replace({pod("foo", 5)}, "0");
    EXPECT_THAT(popAll(known.queue),
                ElementsAre("baz: Added 10, Deleted 10?", "foo: Replaced 5", "bar: Deleted 6?"));
  }
  {
    Known known = three();
    known.queue.remove(pod("bar", 6));
    known.queue.add(pod("bar", 100));
    known.queue.replace({pod("foo", 5)}, "0");
    EXPECT_THAT(popAll(known.queue), ElementsAre("bar: Deleted 6, Added 100, Deleted 100?",
                                                 "foo: Replaced 5", "baz: Deleted 7?"));
  }
  {
    Known known = three();
    known.queue.replace({pod("bar", 100), pod("foo", 5)}, "0");
    known.queue.replace({pod("foo", 5)}, "0");
    EXPECT_THAT(popAll(known.queue), ElementsAre("bar: Replaced 100, Deleted 100?",
                                                 "foo: Replaced 5, Replaced 5", "baz: Deleted 7?"));
  }
}

TEST(DeltaFifoTest, ResyncRepeatsWhatIsKnown) {
  Known known({pod("foo", 5)});
  known.queue.resync();
  EXPECT_EQ(pop(known.queue), "foo: Sync 5");
  DeltaFifo<Pod> alone;
  alone.resync();
  EXPECT_EQ(alone.size(), 0U);
}

TEST(DeltaFifoTest, ResyncLeavesAloneWhatIsQueued) {
  Known known({pod("foo", 5), pod("bar", 1)});
  known.queue.update(pod("foo", 6));
  known.queue.remove(pod("bar", 2));
  known.queue.resync();
  EXPECT_THAT(popAll(known.queue), ElementsAre("foo: Updated 6", "bar: Deleted 2"));
}

TEST(DeltaFifoTest, HasSyncedOnceTheFirstListIsProcessed) {
  DeltaFifo<Pod> queue;
  EXPECT_FALSE(queue.hasSynced());
  queue.replace({pod("a", 1), pod("b", 2)});
  EXPECT_FALSE(queue.hasSynced());
  const auto popOne = [&](bool initial) {
    queue.pop({}, [&](const Deltas<Pod>& deltas) {
      EXPECT_EQ(deltas.inInitialList, initial) << text(deltas);
      EXPECT_EQ(queue.hasSynced(), !initial);  // not while it is in hand
    });
  };
  popOne(true);
  EXPECT_FALSE(queue.hasSynced());
  queue.add(pod("c", 3));
  popOne(true);
  EXPECT_TRUE(queue.hasSynced());
  popOne(false);
  queue.replace({pod("a", 1)});
  EXPECT_TRUE(queue.hasSynced());
  popOne(false);
}

TEST(DeltaFifoTest, HasSyncedAtOnceAfterAnAddOrAnEmptyList) {
  DeltaFifo<Pod> added, empty, updated, removed;
  added.add(pod("a", 1));
  EXPECT_TRUE(added.hasSynced());
  empty.replace({});
  EXPECT_TRUE(empty.hasSynced());
  updated.update(pod("a", 1));
  EXPECT_TRUE(updated.hasSynced());
  removed.remove(pod("a", 1));
  EXPECT_TRUE(removed.hasSynced());
}

TEST(DeltaFifoTest, HasSyncedWhenAListHasAnObjectTwice) {
  DeltaFifo<Pod> queue;
  queue.replace({pod("a", 1), pod("a", 2)});
  EXPECT_EQ(pop(queue), "a: Replaced 1, Replaced 2");
  EXPECT_TRUE(queue.hasSynced());
}

TEST(DeltaFifoTest, HasSyncedCountsDeletions) {
  Known known({pod("foo", 5), pod("bar", 6), pod("baz", 7)});
  known.queue.replace({pod("foo", 5)}, "0");
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(known.queue.hasSynced());
    EXPECT_TRUE(known.queue.pop({}, [](const Deltas<Pod>& d) { EXPECT_TRUE(d.inInitialList); }));
  }
  EXPECT_TRUE(known.queue.hasSynced());
}

// A change in the consumer's hands is neither queued nor known, and must count all the same.
TEST(DeltaFifoTest, WhatIsInHandCountsAsQueued) {
  Known known({pod("old", 1), pod("going", 1)});
  known.queue.add(pod("new", 1));
  known.queue.pop({}, [&](const Deltas<Pod>&) {
    known.queue.remove(pod("new", 2));
    EXPECT_EQ(known.queue.size(), 1U);
  });
  EXPECT_EQ(pop(known.queue), "new: Deleted 2");

  known.queue.add(pod("new", 3));
  known.queue.pop({}, [&](const Deltas<Pod>&) { known.queue.replace({pod("old", 1)}); });
  EXPECT_THAT(popAll(known.queue), ::testing::UnorderedElementsAre(
                                       "old: Replaced 1", "new: Deleted 3?", "going: Deleted 1?"));

  known.queue.update(pod("old", 2));
  known.queue.pop({}, [&](const Deltas<Pod>&) {
    known.queue.resync();  // would bring back the old state
    EXPECT_EQ(known.queue.size(), 1U);
  });
  EXPECT_EQ(pop(known.queue), "going: Sync 1");

  known.queue.remove(pod("going", 2));
  known.queue.pop({}, [&](const Deltas<Pod>&) {
    known.queue.remove(pod("going", 2));  // once is enough
    known.queue.replace({pod("old", 1)});
  });
  EXPECT_THAT(popAll(known.queue), ElementsAre("old: Replaced 1"));
}

TEST(DeltaFifoTest, WhatAConsumerThrowsPassesThrough) {
  DeltaFifo<Pod> queue;
  queue.replace({pod("a", 1)});
  EXPECT_THROW(queue.pop({}, [](const Deltas<Pod>&) { throw std::runtime_error("no"); }),
               std::runtime_error);
  EXPECT_TRUE(queue.hasSynced());
  queue.add(pod("b", 1));
  EXPECT_EQ(pop(queue), "b: Added 1");
}

TEST(DeltaFifoTest, NullIsNoObject) {
  DeltaFifo<Pod> queue;
  EXPECT_THROW(queue.add(nullptr), Error);
  EXPECT_THROW(queue.remove(nullptr), Error);
  EXPECT_THROW(queue.replace({pod("a", 1), nullptr}), Error);
  EXPECT_EQ(queue.size(), 0U);
}

TEST(DeltaFifoTest, ClosingWakesConsumersWhenAllIsPopped) {
  DeltaFifo<Pod> queue;
  queue.add(pod("a", 1));
  std::atomic<int> handled = 0;
  std::vector<std::thread> consumers;
  for (int i = 0; i < 10; ++i) {
    consumers.emplace_back([&] {
      while (queue.pop({}, [&](const Deltas<Pod>&) { ++handled; })) {
      }
    });
  }
  queue.add(pod("b", 1));
  EXPECT_FALSE(queue.isClosed());
  queue.close();
  EXPECT_TRUE(queue.isClosed());
  for (auto& consumer : consumers) consumer.join();
  EXPECT_EQ(handled, 2);
}

TEST(DeltaFifoTest, AStopEndsTheWait) {
  DeltaFifo<Pod> queue;
  std::stop_source stop;
  std::thread consumer(
      [&] { EXPECT_FALSE(queue.pop(stop.get_token(), [](const Deltas<Pod>&) {})); });
  stop.request_stop();
  consumer.join();
  queue.add(pod("a", 1));
  EXPECT_FALSE(queue.pop(stop.get_token(), [](const Deltas<Pod>&) {}));
  EXPECT_EQ(queue.size(), 1U);
}

// The objects of a server change at random, and are listed, or watched with gaps. In the end the
// consumer's store must equal them, and each object's changes must make sense.
TEST(DeltaFifoTest, AConsumerEndsUpWithTheTruth) {
  std::mt19937 random(11);
  for (int round = 0; round < 100; ++round) {
    Store<Pod> store;
    DeltaFifo<Pod> queue({.known = &store});
    std::map<std::string, int> truth;
    std::set<std::string> alive;  // by the changes that the consumer received
    int version = 0;
    const auto consume = [&](const Deltas<Pod>& deltas) {
      for (const Delta<Pod>& delta : deltas.changes) {
        const std::string key = deltas.key.str();
        if (delta.type == Deleted) {
          ASSERT_TRUE(alive.erase(key) == 1) << text(deltas);
          ASSERT_NE(delta.object, nullptr);
          store.removeByKey(deltas.key);
        } else {
          if (delta.type == Sync) {
            ASSERT_TRUE(alive.contains(key));
          }
          alive.insert(key);
          store.add(delta.object);
        }
      }
    };
    const auto relist = [&] {
      std::vector<std::shared_ptr<const Pod>> all;
      for (const auto& [name, value] : truth) all.push_back(pod(name, value));
      queue.replace(std::move(all));
    };
    relist();
    bool watching = true;
    for (int step = 0; step < 200; ++step) {
      const std::string name = "p" + std::to_string(random() % 8);
      switch (random() % 10) {
        case 0:
        case 1:
        case 2:
        case 3: {
          const bool fresh = truth.find(name) == truth.end();
          truth[name] = ++version;
          if (watching) fresh ? queue.add(pod(name, version)) : queue.update(pod(name, version));
          break;
        }
        case 4:
        case 5:
          if (truth.erase(name) != 0 && watching) queue.remove(pod(name, ++version));
          break;
        case 6:
          watching = random() % 2 == 0;
          if (watching) relist();
          break;
        case 7:
          queue.resync();
          break;
        default:
          if (queue.size() > 0) queue.pop({}, consume);
      }
    }
    relist();
    while (queue.size() > 0) queue.pop({}, consume);
    std::map<std::string, int> cached;
    for (const auto& object : store.list()) {
      cached[object->metadata.name.str()] = std::stoi(object->metadata.resourceVersion.str());
    }
    ASSERT_EQ(cached, truth);
  }
}

// The same with the consumer on a thread of its own.
TEST(DeltaFifoTest, AConsumerOnAnotherThreadEndsUpWithTheTruth) {
  Store<Pod> store;
  DeltaFifo<Pod> queue({.known = &store});
  std::thread consumer([&] {
    while (queue.pop({}, [&](const Deltas<Pod>& deltas) {
      for (const Delta<Pod>& delta : deltas.changes) {
        delta.type == Deleted ? store.removeByKey(deltas.key) : store.add(delta.object);
      }
    })) {
    }
  });
  std::mt19937 random(3);
  std::map<std::string, int> truth;
  for (int step = 0; step < 5000; ++step) {
    const std::string name = "p" + std::to_string(random() % 5);
    switch (random() % 8) {
      case 0:
      case 1:
      case 2:
        truth[name] = step;
        queue.add(pod(name, step));
        break;
      case 3:
      case 4:
        truth.erase(name);
        queue.remove(pod(name, step));
        break;
      case 5:
        queue.resync();
        break;
      default: {
        truth.erase(name);
        std::vector<std::shared_ptr<const Pod>> all;
        for (const auto& [key, value] : truth) all.push_back(pod(key, value));
        queue.replace(std::move(all));
      }
    }
  }
  queue.close();
  consumer.join();
  std::map<std::string, int> cached;
  for (const auto& object : store.list()) {
    cached[object->metadata.name.str()] = std::stoi(object->metadata.resourceVersion.str());
  }
  EXPECT_EQ(cached, truth);
}

TEST(DeltaFifoTest, WhatNobodyPopsIsNotReplaced) {
  Store<Pod> store;
  DeltaFifo<Pod> queue({.known = &store});
  queue.abandon();
  queue.replace({pod("a", 1), pod("b", 1)});
  EXPECT_EQ(queue.size(), 0U);
}

}  // namespace
}  // namespace kube
