#include "kube/base/task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <memory>
#include <string>
#include <thread>

#include "kube/base/error.h"
#include "kube/base/internal/error_of_testing.h"
#include "kube/base/internal/test_loop_testing.h"
#include "kube/base/task_threads.h"

namespace kube {
namespace {

using testing::Begun;
using ::testing::HasSubstr;
using testing::TestLoop;
using namespace std::chrono_literals;

Task<int> number(int n) { co_return n; }
Task<> nothing() { co_return; }
Task<int> failing(std::string why) {
  throw Error(why);
  co_return 0;
}
Task<std::unique_ptr<int>> owned(int n) { co_return std::make_unique<int>(n); }

Task<long> sumTo(int n) {
  long sum = 0;
  for (int i = 1; i <= n; ++i) sum += co_await number(i);
  co_return sum;
}

TEST(TaskTest, ReturnsValuesOfAllKinds) {
  EXPECT_EQ(blockOn(number(7)), 7);
  EXPECT_EQ(*blockOn(owned(7)), 7);
  blockOn(nothing());
  EXPECT_EQ(blockOn(sumTo(10)), 55);
}

Task<> setTrue(bool& done) {
  done = true;
  co_return;
}

TEST(TaskTest, DoesNothingBeforeItIsAwaited) {
  bool done = false;
  { const Task<> unused = setTrue(done); }
  EXPECT_FALSE(done);
  blockOn(setTrue(done));
  EXPECT_TRUE(done);
}

Task<std::string> caught() {
  try {
    co_await failing("no luck");
  } catch (const Error& error) {
    co_return error.what();
  }
  co_return "nothing";
}

TEST(TaskTest, PassesExceptionsOn) {
  EXPECT_EQ(errorOf<Error>([] { blockOn(failing("no luck")); }), "no luck");
  EXPECT_EQ(blockOn(caught()), "no luck");
}

Task<int> twice(Task<int> task) {
  const int once = co_await std::move(task);
  const int again = co_await std::move(task);  // NOLINT(bugprone-use-after-move): that is tested
  co_return once + again;
}

TEST(TaskTest, CanBeAwaitedOnce) {
  EXPECT_THAT(errorOf<Error>([] { blockOn(twice(number(1))); }), HasSubstr("await each task once"));
  Task<int> task = number(1);
  EXPECT_EQ(blockOn(std::move(task)), 1);
  // NOLINTNEXTLINE(bugprone-use-after-move): that is tested
  EXPECT_THAT(errorOf<Error>([&] { blockOn(std::move(task)); }), HasSubstr("moved away"));
}

TEST(TaskTest, AssignmentDestroysTheOldOne) {
  const auto life = std::make_shared<int>(1);
  const auto holding = [](std::shared_ptr<int> held) -> Task<int> { co_return *held; };
  Task<int> task = holding(life);
  EXPECT_EQ(life.use_count(), 2);
  task = number(3);
  EXPECT_EQ(life.use_count(), 1);
  EXPECT_EQ(blockOn(std::move(task)), 3);
}

TEST(TaskTest, AMillionAwaitsThatEndAtOnceTakeNoStack) {
  EXPECT_EQ(blockOn(sumTo(1'000'000)), 500000500000L);
}

Task<int> deep(int depth, Clock& clock) {
  if (depth == 0) {
    co_await sleepFor(1s, clock);
    co_return 0;
  }
  const int below = co_await deep(depth - 1, clock);
  co_return below + 1;
}

TEST(TaskTest, LongChainsWaitAndReturn) {
  FakeClock clock;
  TestLoop loop;
  Begun<int> task(deep(2000, clock), loop.executor());
  EXPECT_FALSE(task.over());
  clock.advance(1s);
  loop.runAll();
  ASSERT_TRUE(task.over());
  EXPECT_EQ(task.result(), 2000);
}

TEST(TaskTest, LongChainsAreDestroyedWhileTheyWait) {
  FakeClock clock;
  TestLoop loop;
  Begun<int> task(deep(2000, clock), loop.executor());
  task.destroy();
  EXPECT_EQ(clock.waiters(), 0U);
}

Task<bool> sleeps(Clock::Duration time, Clock& clock) { co_return co_await sleepFor(time, clock); }

TEST(SleepTest, EndsAtItsTime) {
  FakeClock clock;
  TestLoop loop;
  Begun<bool> task(sleeps(5s, clock), loop.executor());
  clock.advance(4s);
  EXPECT_EQ(loop.queued(), 0U);
  clock.advance(1s);
  EXPECT_FALSE(task.over());  // only its executor lets it go on
  loop.runAll();
  ASSERT_TRUE(task.over());
  EXPECT_TRUE(task.result());
}

TEST(SleepTest, EndsOnAStop) {
  FakeClock clock;
  TestLoop loop;
  std::stop_source stop;
  Begun<bool> task(sleeps(5s, clock), loop.executor(), stop.get_token());
  stop.request_stop();
  clock.advance(5s);  // the second reason has no effect
  EXPECT_EQ(loop.queued(), 1U);
  loop.runAll();
  ASSERT_TRUE(task.over());
  EXPECT_FALSE(task.result());
  EXPECT_EQ(clock.waiters(), 0U);
}

TEST(SleepTest, DoesNotBeginAfterAStopOrItsTime) {
  FakeClock clock;
  TestLoop loop;
  std::stop_source stop;
  Begun<bool> past(sleeps(0s, clock), loop.executor());
  EXPECT_TRUE(past.over());
  stop.request_stop();
  Begun<bool> stopped(sleeps(5s, clock), loop.executor(), stop.get_token());
  ASSERT_TRUE(stopped.over());
  EXPECT_FALSE(stopped.result());
}

TEST(SleepTest, IsGivenUpByDestruction) {
  FakeClock clock;
  TestLoop loop;
  std::stop_source stop;
  Begun<bool> waiting(sleeps(5s, clock), loop.executor(), stop.get_token());
  EXPECT_EQ(clock.waiters(), 1U);
  waiting.destroy();
  EXPECT_EQ(clock.waiters(), 0U);

  // The work that would let it go on is in the executor already.
  Begun<bool> due(sleeps(5s, clock), loop.executor(), stop.get_token());
  clock.advance(5s);
  EXPECT_EQ(loop.queued(), 1U);
  due.destroy();
  loop.runAll();
  EXPECT_FALSE(due.over());
  stop.request_stop();
  EXPECT_EQ(loop.queued(), 0U);
}

TEST(SleepTest, UsesTheExecutorsOwnTimer) {
  TestLoop loop;
  Clock::Duration asked{};
  Executor::Work later;
  const Executor executor(
      [post = loop.executor()](Executor::Work work) { post.post(std::move(work)); },
      [&](Clock::Duration delay, Executor::Work work) {
        asked = delay;
        later = std::move(work);
      });
  Begun<bool> task(sleeps(1h, realClock()), executor);
  EXPECT_GT(asked, 59min);
  later();
  loop.runAll();
  ASSERT_TRUE(task.over());

  Begun<bool> givenUp(sleeps(1h, realClock()), executor);
  givenUp.destroy();
  later();  // the executor keeps it until its time
  EXPECT_EQ(loop.queued(), 0U);
}

TEST(BlockOnTest, SleepsByTheRealClock) { EXPECT_TRUE(blockOn(sleeps(1ms, realClock()))); }

TEST(BlockOnTest, StopsAtItsToken) {
  FakeClock clock;
  std::stop_source stop;
  auto slept =
      std::async(std::launch::async, [&] { return blockOn(sleeps(1h, clock), stop.get_token()); });
  clock.waitForWaiters(1);
  stop.request_stop();
  EXPECT_FALSE(slept.get());
}

Task<int> blocksInside() {
  const long inner = blockOn(sumTo(3));
  const bool slept = co_await sleepFor(1ms);
  co_return slept ? static_cast<int>(inner) : 0;
}

TEST(BlockOnTest, WorksInsideBlockOn) { EXPECT_EQ(blockOn(blocksInside()), 6); }

TEST(BlockOnTest, IsAnErrorOnThreadsThatMustNotBlock) {
  auto text = std::async(std::launch::async, [] {
    detail::setMayBlock(false);
    return errorOf<Error>([] { blockOn(number(1)); });
  });
  EXPECT_THAT(text.get(), HasSubstr("blockOn: this is an I/O thread of the library"));
}

Task<Executor> keepsExecutor() { co_return co_await taskExecutor(); }

TEST(BlockOnTest, DropsWorkThatComesAfterItsEnd) {
  const Executor executor = blockOn(keepsExecutor());
  const auto life = std::make_shared<int>(1);
  executor.post([life] {});
  EXPECT_EQ(life.use_count(), 1);
}

// Work that is left when blockOn() ends holds the executor, and must not be held by it.
Task<> leavesWork(std::shared_ptr<int> life) {
  const Executor executor = co_await taskExecutor();
  executor.post([executor, life] {});
}

TEST(BlockOnTest, DropsWorkThatIsLeft) {
  const auto life = std::make_shared<int>(1);
  blockOn(leavesWork(life));
  EXPECT_EQ(life.use_count(), 1);
}

TEST(ExecutorTest, ReportsThatItIsEmpty) {
  EXPECT_THAT(errorOf<Error>([] { Executor().post([] {}); }), HasSubstr("no function to run"));
  const Executor executor([](Executor::Work) {});
  EXPECT_FALSE(executor.canWait());
  EXPECT_THAT(errorOf<Error>([&] { executor.postAfter(1s, [] {}); }),
              HasSubstr("no function to wait"));
}

// --- Stop tokens.

Task<bool> seesStop() {
  const std::stop_token stop = co_await taskStop();
  co_return stop.stop_requested();
}
Task<bool> seesStopBelow(std::stop_token more) { co_return co_await withStop(seesStop(), more); }

TEST(WithStopTest, AddsAToken) {
  std::stop_source outer, inner;
  EXPECT_FALSE(blockOn(seesStopBelow(inner.get_token()), outer.get_token()));
  inner.request_stop();
  EXPECT_TRUE(blockOn(seesStopBelow(inner.get_token()), outer.get_token()));
  outer.request_stop();
  EXPECT_TRUE(blockOn(seesStopBelow({}), outer.get_token()));
}

Task<bool> sleepsWithStop(Clock& clock, std::stop_token more) {
  co_return co_await withStop(sleepFor(1h, clock), more);
}

TEST(WithStopTest, EndsAWait) {
  FakeClock clock;
  TestLoop loop;
  std::stop_source stop;
  Begun<bool> task(sleepsWithStop(clock, stop.get_token()), loop.executor());
  stop.request_stop();
  loop.runAll();
  ASSERT_TRUE(task.over());
  EXPECT_FALSE(task.result());
}

// --- Work on other threads.

Task<int> onOther(std::function<int(const std::stop_token&)> work) {
  co_return co_await detail::onThread(std::move(work));
}

TEST(OnThreadTest, RunsElsewhereAndReturnsHere) {
  const auto here = std::this_thread::get_id();
  std::thread::id there;
  const int result = blockOn(onOther([&](const std::stop_token&) {
    there = std::this_thread::get_id();
    return 5;
  }));
  EXPECT_EQ(result, 5);
  EXPECT_NE(here, there);
  EXPECT_EQ(errorOf<Error>([&] {
              blockOn(onOther([](const std::stop_token&) -> int { throw Error("bad"); }));
            }),
            "bad");
}

TEST(OnThreadTest, PassesAStopOn) {
  std::stop_source stop;
  std::latch begun(1);
  auto result = std::async(std::launch::async, [&] {
    return blockOn(onOther([&](const std::stop_token& mine) {
                     std::promise<void> stopped;
                     const std::stop_callback onStop(mine, [&] { stopped.set_value(); });
                     begun.count_down();
                     stopped.get_future().wait();
                     return 3;
                   }),
                   stop.get_token());
  });
  begun.wait();
  stop.request_stop();
  EXPECT_EQ(result.get(), 3);
}

TEST(OnThreadTest, IsAskedToStopByDestruction) {
  TestLoop loop;
  std::promise<void> stopped;
  auto begun = std::make_shared<std::promise<void>>();
  Begun<int> task(onOther([&stopped, begun](const std::stop_token& stop) {
                    std::promise<void> mine;
                    const std::stop_callback onStop(stop, [&] { mine.set_value(); });
                    begun->set_value();
                    mine.get_future().wait();
                    stopped.set_value();
                    return 0;
                  }),
                  loop.executor());
  begun->get_future().wait();
  task.destroy();
  stopped.get_future().wait();
  loop.runAll();
  EXPECT_FALSE(task.over());
}

Task<std::stop_token> tokenOfThread() {
  auto work = [](const std::stop_token& stop) { return stop; };
  co_return co_await detail::onThread(std::move(work));
}

// A WebSocket that is opened on a thread closes when the stop token does.
TEST(OnThreadTest, DoesNotStopWhatItReturns) {
  const std::stop_token stop = blockOn(tokenOfThread());
  EXPECT_FALSE(stop.stop_requested());
}

// The completing thread may be the last to release the operation, when the loop is gone.
TEST(CompletionTest, KeepsNoExecutorAfterTheEnd) {
  const auto life = std::make_shared<int>(1);
  TestLoop loop;
  const auto make = [&] {
    const Executor executor(
        [life, post = loop.executor()](Executor::Work work) { post.post(std::move(work)); });
    return std::make_shared<detail::Completion>(std::noop_coroutine(), executor);
  };
  const auto completed = make(), abandoned = make(), early = make();
  EXPECT_EQ(life.use_count(), 4);
  EXPECT_TRUE(completed->wait());
  EXPECT_TRUE(completed->complete());
  EXPECT_FALSE(completed->complete());
  EXPECT_TRUE(abandoned->wait());
  abandoned->abandon();
  EXPECT_FALSE(abandoned->complete());
  EXPECT_TRUE(early->complete());
  EXPECT_FALSE(early->wait());
  EXPECT_EQ(life.use_count(), 1);
  EXPECT_EQ(loop.queued(), 1U);
}

// --- Executors with several threads.

Executor manyThreads(const std::shared_ptr<TaskThreads>& threads) {
  return Executor([threads](Executor::Work work) { threads->run(std::move(work)); });
}

Task<int> hops(int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    auto work = [](const std::stop_token&) { return 1; };
    sum += co_await detail::onThread(std::move(work));
  }
  co_return sum;
}

Task<int> hopsBelow(int n) {
  const int sum = co_await hops(n);
  co_return sum;
}

Task<int> manyHops(int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += co_await hopsBelow(2);
  co_return sum;
}

TEST(TaskTest, RunsOnSeveralThreads) {
  const auto threads = std::make_shared<TaskThreads>();
  for (int round = 0; round < 20; ++round) {
    Begun<int> task(manyHops(50), manyThreads(threads));
    task.wait();
    EXPECT_EQ(task.result(), 100);
  }
}

}  // namespace
}  // namespace kube
