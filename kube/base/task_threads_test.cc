#include "kube/base/task_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <latch>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "kube/base/internal/periodic_task.h"

namespace kube {
namespace {

using namespace std::chrono_literals;

TEST(TaskThreadsTest, TasksStartInOrder) {
  TaskThreads threads;
  constexpr int kTasks = 1000;
  std::latch done(kTasks);
  std::mutex mutex;
  std::vector<int> started;
  // One after the other: each task starts the next.
  std::function<void(int)> start = [&](int i) {
    threads.run([&, i] {
      {
        const std::lock_guard lock(mutex);
        started.push_back(i);
      }
      if (i + 1 < kTasks) start(i + 1);
      done.count_down();
    });
  };
  start(0);
  done.wait();
  ASSERT_EQ(started.size(), kTasks);
  for (int i = 0; i < kTasks; ++i) EXPECT_EQ(started[static_cast<std::size_t>(i)], i);
}

TEST(TaskThreadsTest, TasksThatBlockHoldUpNoOther) {
  TaskThreads threads;
  constexpr int kTasks = 100;
  std::latch all(kTasks);  // no task ends before all have started
  std::latch done(kTasks);
  for (int i = 0; i < kTasks; ++i) {
    threads.run([&] {
      all.arrive_and_wait();
      done.count_down();
    });
  }
  done.wait();
  EXPECT_GE(threads.size(), kTasks);
}

TEST(TaskThreadsTest, ShortTasksTakeFewThreads) {
  TaskThreads threads;
  constexpr int kTasks = 10'000;
  std::latch done(kTasks);
  for (int i = 0; i < kTasks; ++i) threads.run([&] { done.count_down(); });
  done.wait();
  EXPECT_LE(threads.size(), 4 * std::max(2U, std::thread::hardware_concurrency()));
}

TEST(TaskThreadsTest, ExceptionsOfTasksAreDropped) {
  TaskThreads threads;
  std::latch done(1);
  threads.run([] { throw std::runtime_error("x"); });
  threads.run([] { throw 7; });
  threads.run([&] { done.count_down(); });
  done.wait();
}

TEST(TaskThreadsTest, TheDestructorWaitsForRunningTasksAndDropsTheRest) {
  std::atomic<int> ended = 0;
  std::latch running(1), go(1);
  std::thread later;
  {
    TaskThreads threads;
    threads.run([&] {
      running.count_down();
      go.wait();
      ++ended;
    });
    running.wait();
    later = std::thread([&] { go.count_down(); });
  }
  EXPECT_EQ(ended, 1);
  later.join();
}

TEST(TaskThreadsTest, ATaskMayBeTheLastToHoldThem) {
  auto threads = std::make_shared<TaskThreads>();
  std::latch go(1), done(1);
  TaskThreads& them = *threads;
  them.run([&go, &done, threads = std::move(threads)]() mutable {
    go.wait();
    threads.reset();
    done.count_down();
  });
  go.count_down();
  done.wait();
}

TEST(TaskThreadsTest, SharedThreadsLiveWhileTheyAreUsed) {
  const auto one = TaskThreads::shared();
  EXPECT_EQ(one, TaskThreads::shared());
}

TEST(PeriodicTaskTest, RunsOncePerPeriod) {
  FakeClock clock;
  std::mutex mutex;
  std::condition_variable changed;
  int calls = 0;
  {
    const PeriodicTask task(clock, 10s, [&] {
      const std::lock_guard lock(mutex);
      ++calls;
      changed.notify_all();
      if (calls == 1) throw std::runtime_error("does no harm");
    });
    clock.advance(9s);
    for (int i = 1; i <= 3; ++i) {
      clock.waitForWaiters(1);
      EXPECT_EQ(calls, i - 1);
      clock.advance(10s);
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return calls == i; });
    }
    clock.waitForWaiters(1);
  }
  EXPECT_EQ(clock.waiters(), 0U);
  clock.advance(100s);
  EXPECT_EQ(calls, 3);
}

TEST(PeriodicTaskTest, TheEndWaitsForACallUnderWay) {
  FakeClock clock;
  std::latch inside(1), go(1);
  std::atomic<bool> ended = false;
  std::optional<PeriodicTask> task;
  task.emplace(clock, 1s, [&] {
    inside.count_down();
    go.wait();
    ended = true;
  });
  clock.advance(1s);
  inside.wait();
  std::thread later([&] { go.count_down(); });
  task.reset();
  EXPECT_TRUE(ended);
  later.join();
}

}  // namespace
}  // namespace kube
