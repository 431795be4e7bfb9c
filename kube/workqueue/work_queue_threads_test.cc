// Tests of WorkQueue with several workers and producers.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "kube/base/string.h"
#include "kube/workqueue/work_queue.h"

namespace kube {
namespace {

TEST(WorkQueueTest, EveryAddedItemIsTakenByOneWorkerAtATime) {
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
  // The last add of each key was seen, so none is lost.
  for (std::size_t key = 0; key < kKeys; ++key) EXPECT_EQ(seen[key], added[key]);
}

TEST(WorkQueueTest, NoWakeIsLost) {
  // Adds one item at a time, so that workers fall asleep in between. Some are stopped, maybe while
  // they are being woken.
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

TEST(WorkQueueTest, AllWorkersAreWokenIfThereIsWorkForAll) {
  // Many small items, for which few workers are best, and then one item for each worker. None of
  // these is done before each has its worker.
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
