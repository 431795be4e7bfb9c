#include "kube/workqueue/async_work_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "kube/base/internal/test_loop_testing.h"
#include "kube/base/task_scope.h"
#include "kube/base/task_threads.h"
#include "kube/base/when.h"
#include "kube/workqueue/rate_limiting_queue.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using testing::Begun;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::TestLoop;

Executor onTaskThreads() {
  return Executor([threads = TaskThreads::shared()](Executor::Work work) {
    threads->run([work = std::move(work)] { work(); });
  });
}

// Takes items until there are none, and notes them. Between two it waits for the clock, if there is
// one.
Task<> worker(WorkQueue<int>& queue, std::vector<int>& taken, Clock* clock = nullptr) {
  for (WorkItem<int> item;;) {
    const bool any = co_await queue.async().next(item);
    if (!any) break;
    taken.push_back(*item);
    if (clock != nullptr) co_await sleepFor(1s, *clock);
  }
}

Task<bool> takeOne(WorkQueue<int>& queue, WorkItem<int>& item) {
  co_return co_await queue.async().next(item);
}

TEST(AsyncWorkQueueTest, ACoroutineTakesWhatIsThereAndThenWaits) {
  TestLoop loop;
  WorkQueue<int> queue;
  std::vector<int> taken;
  queue.add(1);
  queue.add(2);
  Begun<void> task(worker(queue, taken), loop.executor());
  EXPECT_THAT(taken, ElementsAre(1, 2));
  EXPECT_FALSE(task.over());
  queue.add(3);
  loop.runAll();
  EXPECT_THAT(taken, ElementsAre(1, 2, 3));
  queue.add(2, 7);
  queue.add(4);
  loop.runAll();
  EXPECT_THAT(taken, ElementsAre(1, 2, 3, 2, 4));
  EXPECT_EQ(queue.len(), 0U);
}

TEST(AsyncWorkQueueTest, AShutdownEndsTheWaitAndLeavesNoItem) {
  TestLoop loop;
  WorkQueue<int> queue;
  std::vector<int> taken;
  Begun<void> first(worker(queue, taken), loop.executor());
  Begun<void> second(worker(queue, taken), loop.executor());
  queue.add(1);
  queue.shutDown();
  loop.runAll();
  EXPECT_TRUE(first.over());
  EXPECT_TRUE(second.over());
  EXPECT_THAT(taken, ElementsAre(1));
  Begun<void> late(worker(queue, taken), loop.executor());
  EXPECT_TRUE(late.over());
}

TEST(AsyncWorkQueueTest, ADrainWaitsForCoroutines) {
  FakeClock clock;
  WorkQueue<int> queue;
  std::vector<int> taken;
  TaskScope scope(onTaskThreads());
  queue.add(1);
  queue.add(2);
  scope.start(worker(queue, taken, &clock));
  std::atomic<bool> drained = false;
  std::jthread drain([&] {
    queue.shutDownWithDrain();
    drained = true;
  });
  clock.waitForWaiters(1);
  EXPECT_FALSE(drained);
  clock.advance(1s);
  clock.waitForWaiters(1);
  EXPECT_FALSE(drained);
  clock.advance(1s);
  drain.join();
  scope.wait();
  EXPECT_THAT(taken, ElementsAre(1, 2));
}

TEST(AsyncWorkQueueTest, AStopEndsTheWaitAndLeavesTheItemsToOthers) {
  TestLoop loop;
  WorkQueue<int> queue;
  std::vector<int> stopped, taken;
  std::stop_source stop;
  Begun<void> first(worker(queue, stopped), loop.executor(), stop.get_token());
  Begun<void> second(worker(queue, taken), loop.executor());
  queue.add(1);         // calls the first
  stop.request_stop();  // before it is up
  loop.runAll();
  EXPECT_TRUE(first.over());
  EXPECT_THAT(stopped, IsEmpty());
  EXPECT_THAT(taken, ElementsAre(1));
}

TEST(AsyncWorkQueueTest, ADestroyedCoroutineTakesNoItemAndAnotherIsCalled) {
  TestLoop loop;
  WorkQueue<int> queue;
  std::vector<int> gone, taken;
  Begun<void> first(worker(queue, gone), loop.executor());
  Begun<void> second(worker(queue, gone), loop.executor());
  Begun<void> third(worker(queue, taken), loop.executor());
  second.destroy();  // asleep
  queue.add(1);
  first.destroy();  // called
  loop.runAll();
  EXPECT_THAT(gone, IsEmpty());
  EXPECT_THAT(taken, ElementsAre(1));
}

TEST(AsyncWorkQueueTest, ABusyExecutorDelaysNoItem) {
  TestLoop busy, idle;
  WorkQueue<int> queue;
  std::vector<int> late, taken;
  Begun<void> first(worker(queue, late), busy.executor());
  Begun<void> second(worker(queue, taken), idle.executor());
  queue.add(1);  // calls the first
  queue.add(2);  // calls the second, which takes both
  idle.runAll();
  EXPECT_THAT(taken, ElementsAre(1, 2));
  busy.runAll();
  EXPECT_THAT(late, IsEmpty());
  queue.add(3);
  busy.runAll();
  idle.runAll();
  EXPECT_EQ(late.size() + taken.size(), 3U);
}

TEST(AsyncWorkQueueTest, AThreadTakesTheItemThatACoroutineWasCalledFor) {
  TestLoop busy;
  WorkQueue<int> queue;
  std::vector<int> late;
  Begun<void> task(worker(queue, late), busy.executor());
  queue.add(1);
  WorkItem<int> item;
  ASSERT_TRUE(queue.next(item));
  EXPECT_EQ(*item, 1);
  busy.runAll();
  EXPECT_THAT(late, IsEmpty());
  queue.add(1);
  busy.runAll();
  EXPECT_THAT(late, IsEmpty());  // the thread still has it
  item.done();
  busy.runAll();
  EXPECT_THAT(late, ElementsAre(1));
}

TEST(AsyncWorkQueueTest, AsManyCoroutinesAreCalledAsThereAreItems) {
  FakeClock clock;
  TestLoop loop;
  WorkQueue<int> queue;
  std::vector<int> taken;
  std::vector<std::unique_ptr<Begun<void>>> tasks;
  for (int i = 0; i < 10; ++i) {
    tasks.push_back(std::make_unique<Begun<void>>(worker(queue, taken, &clock), loop.executor()));
  }
  for (int i = 0; i < 4; ++i) queue.add(i);
  EXPECT_EQ(loop.queued(), 4U);
  loop.runAll();
  EXPECT_EQ(clock.waiters(), 4U);  // all at work at the same time
  EXPECT_THAT(taken, ElementsAre(0, 1, 2, 3));
}

TEST(AsyncWorkQueueTest, GetLeavesTheEndOfTheWorkToDone) {
  WorkQueue<int> queue;
  queue.add(1);
  const auto item = blockOn(queue.async().get());
  EXPECT_EQ(item, 1);
  queue.add(1);
  EXPECT_EQ(queue.len(), 0U);
  queue.done(1);
  EXPECT_EQ(queue.len(), 1U);
  queue.shutDown();
  EXPECT_EQ(blockOn(queue.async().get()), 1);
  EXPECT_EQ(blockOn(queue.async().get()), std::nullopt);
}

TEST(AsyncWorkQueueTest, AnItemOfAnotherQueueIsFinished) {
  TestLoop loop;
  WorkQueue<int> one, other;
  one.add(1);
  WorkItem<int> item;
  ASSERT_TRUE(one.next(item));
  one.add(1);
  Begun<bool> task(takeOne(other, item), loop.executor());
  EXPECT_EQ(one.len(), 1U);
  other.add(2);
  loop.runAll();
  EXPECT_TRUE(task.result());
  EXPECT_EQ(*item, 2);
}

TEST(AsyncWorkQueueTest, TimeLimitsOfTasksApply) {
  FakeClock clock;
  TestLoop loop;
  WorkQueue<int> queue;
  WorkItem<int> item;
  Begun<bool> task(within(1s, takeOne(queue, item), clock), loop.executor());
  clock.advance(1s);
  loop.runAll();
  ASSERT_TRUE(task.over());
  EXPECT_FALSE(task.result());
}

TEST(AsyncWorkQueueTest, DelayedItemsCome) {
  FakeClock clock;
  TestLoop loop;
  RateLimitingQueue<int> queue({.clock = &clock});
  std::vector<int> taken;
  Begun<void> task(worker(queue, taken), loop.executor());
  queue.addAfter(1, 5s);
  queue.addRateLimited(2);
  loop.runAll();
  EXPECT_THAT(taken, IsEmpty());
  clock.advance(5s);
  loop.runAll();
  EXPECT_THAT(taken, ElementsAre(2, 1));
}

TEST(AsyncWorkQueueTest, NoWakeOfThreadsAndCoroutinesIsLost) {
  // One item at a time, so that workers fall asleep in between. Some are stopped or destroyed,
  // maybe while they are being woken.
  WorkQueue<int> queue;
  std::atomic<int> handled = 0;
  const auto note = [&] {
    ++handled;
    handled.notify_all();
  };
  std::jthread thread([&] {
    for (WorkItem<int> item; queue.next(item);) note();
  });
  const auto work = [&]() -> Task<> {
    for (WorkItem<int> item;;) {
      const bool any = co_await queue.async().next(item);
      if (!any) break;
      note();
    }
  };
  std::vector<std::unique_ptr<TaskScope>> scopes(3);
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    if (i % 5 == 0) {
      auto& scope = scopes[random() % scopes.size()];
      if (scope && random() % 2 == 0) scope->requestStop();
      scope = std::make_unique<TaskScope>(onTaskThreads());
      scope->start(work());
      scope->start(work());
    }
    queue.add(i);
    if (i % 3 == 0) queue.add(i + 1'000'000);
    const int expected = i + 1 + i / 3 + 1;
    for (int now; (now = handled.load()) < expected;) handled.wait(now);
  }
  queue.shutDown();
}

}  // namespace
}  // namespace kube
