#include "kube/base/when.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "kube/base/error.h"
#include "kube/base/internal/error_of_testing.h"
#include "kube/base/internal/sanitizer.h"
#include "kube/base/internal/test_loop_testing.h"
#include "kube/base/task_threads.h"

namespace kube {
namespace {

using testing::Begun;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TestLoop;
using namespace std::chrono_literals;

// Returns the number after the time; throws CanceledError on a stop.
Task<int> later(Clock& clock, Clock::Duration time, int n) {
  const bool slept = co_await sleepFor(time, clock);
  if (!slept) throw CanceledError("later: canceled");
  co_return n;
}
Task<int> failsLater(Clock& clock, Clock::Duration time, std::string why) {
  co_await sleepFor(time, clock);
  throw Error(why);
}
Task<std::unique_ptr<int>> ownedNow(int n) { co_return std::make_unique<int>(n); }
Task<> emptyLater(Clock& clock, Clock::Duration time) { co_await sleepFor(time, clock); }

std::vector<Task<int>> threeTasks(Clock& clock) {
  std::vector<Task<int>> tasks;
  for (int i = 3; i > 0; --i) tasks.push_back(later(clock, i * 1s, i));
  return tasks;
}

TEST(WhenAllTest, ReturnsResultsInTheOrderOfTheTasks) {
  FakeClock clock;
  TestLoop loop;
  Begun<std::vector<int>> task(whenAll(threeTasks(clock)), loop.executor());
  EXPECT_EQ(clock.waiters(), 3U);
  clock.advance(2s);
  loop.runAll();
  EXPECT_FALSE(task.over());
  clock.advance(1s);
  loop.runAll();
  ASSERT_TRUE(task.over());
  EXPECT_THAT(task.result(), ElementsAre(3, 2, 1));
}

TEST(WhenAllTest, ReturnsATupleOfSeveralTypes) {
  FakeClock clock;
  TestLoop loop;
  using Result = std::tuple<int, std::unique_ptr<int>, std::monostate>;
  Begun<Result> task(whenAll(later(clock, 1s, 4), ownedNow(5), emptyLater(clock, 2s)),
                     loop.executor());
  clock.advance(2s);
  loop.runAll();
  ASSERT_TRUE(task.over());
  const auto [four, five, none] = task.result();
  EXPECT_EQ(four, 4);
  EXPECT_EQ(*five, 5);
}

TEST(WhenAllTest, TakesNoTasksAndTasksThatEndAtOnce) {
  EXPECT_TRUE(blockOn(whenAll(std::vector<Task<int>>())).empty());
  EXPECT_EQ(blockOn(whenAll()), std::tuple<>());
  std::vector<Task<std::unique_ptr<int>>> tasks;
  for (int i = 0; i < 1000; ++i) tasks.push_back(ownedNow(i));
  const auto results = blockOn(whenAll(std::move(tasks)));
  ASSERT_EQ(results.size(), 1000U);
  EXPECT_EQ(*results[999], 999);
}

TEST(WhenAllTest, StopsTheOthersWhenOneFails) {
  FakeClock clock;
  TestLoop loop;
  std::vector<Task<int>> tasks = threeTasks(clock);
  tasks.push_back(failsLater(clock, 1500ms, "no luck"));
  Begun<std::vector<int>> task(whenAll(std::move(tasks)), loop.executor());
  clock.advance(1s);
  loop.runAll();
  clock.advance(500ms);
  loop.runAll();
  ASSERT_TRUE(task.over());
  EXPECT_EQ(clock.waiters(), 0U);
  EXPECT_EQ(errorOf<Error>([&] { task.result(); }), "no luck");
}

TEST(WhenAllTest, ThrowsTheFirstFailureOfATuple) {
  FakeClock clock;
  TestLoop loop;
  using Result = std::tuple<int, int>;
  Begun<Result> task(whenAll(failsLater(clock, 2s, "second"), failsLater(clock, 1s, "first")),
                     loop.executor());
  clock.advance(2s);
  loop.runAll();
  ASSERT_TRUE(task.over());
  EXPECT_EQ(errorOf<Error>([&] { task.result(); }), "first");
}

TEST(WhenAllTest, StopsWithItsTree) {
  FakeClock clock;
  TestLoop loop;
  std::stop_source stop;
  Begun<std::vector<int>> task(whenAll(threeTasks(clock)), loop.executor(), stop.get_token());
  stop.request_stop();
  loop.runAll();
  ASSERT_TRUE(task.over());
  EXPECT_EQ(errorOf<CanceledError>([&] { task.result(); }), "later: canceled");
}

TEST(WhenAllTest, IsDestroyedAtAnyTime) {
  FakeClock clock;
  TestLoop loop;
  std::stop_source stop;
  { Begun<std::vector<int>> task(whenAll(threeTasks(clock)), loop.executor(), stop.get_token()); }
  EXPECT_EQ(clock.waiters(), 0U);
  {
    Begun<std::vector<int>> task(whenAll(threeTasks(clock)), loop.executor(), stop.get_token());
    clock.advance(1s);
    loop.runAll();      // one has ended
    clock.advance(1s);  // one is in the executor
  }
  EXPECT_EQ(clock.waiters(), 0U);
  loop.runAll();
  stop.request_stop();
  EXPECT_EQ(loop.queued(), 0U);
}

TEST(WhenAnyTest, ReturnsTheFirstAndStopsTheOthers) {
  FakeClock clock;
  TestLoop loop;
  Begun<First<int>> task(whenAny(threeTasks(clock)), loop.executor());
  clock.advance(1s);
  loop.runAll();
  ASSERT_TRUE(task.over());
  const First<int> first = task.result();
  EXPECT_EQ(first.index, 2U);
  EXPECT_EQ(first.value, 1);
  EXPECT_EQ(clock.waiters(), 0U);
}

TEST(WhenAnyTest, ThrowsTheFirstException) {
  FakeClock clock;
  TestLoop loop;
  std::vector<Task<int>> tasks = threeTasks(clock);
  tasks.push_back(failsLater(clock, 500ms, "no luck"));
  Begun<First<int>> task(whenAny(std::move(tasks)), loop.executor());
  clock.advance(500ms);
  loop.runAll();
  ASSERT_TRUE(task.over());
  EXPECT_EQ(errorOf<Error>([&] { task.result(); }), "no luck");
  EXPECT_THAT(errorOf<Error>([] { blockOn(whenAny(std::vector<Task<int>>())); }),
              HasSubstr("there is no task"));
}

TEST(WhenAnyTest, ReturnsAVariantOfSeveralTypes) {
  FakeClock clock;
  TestLoop loop;
  using Result = std::variant<int, std::monostate, bool>;
  Begun<Result> task(whenAny(later(clock, 2s, 1), emptyLater(clock, 1s), sleepFor(3s, clock)),
                     loop.executor());
  clock.advance(1s);
  loop.runAll();
  ASSERT_TRUE(task.over());
  EXPECT_EQ(task.result().index(), 1U);
}

TEST(WhenAnyTest, IsDestroyedWhileItWaits) {
  FakeClock clock;
  TestLoop loop;
  {
    Begun<First<int>> task(whenAny(threeTasks(clock)), loop.executor());
    clock.advance(1s);
    loop.runOne();  // the others are stopped, and have not gone on yet
    EXPECT_FALSE(task.over());
  }
  loop.runAll();
  EXPECT_EQ(clock.waiters(), 0U);
}

TEST(WithinTest, ReturnsInTime) {
  FakeClock clock;
  TestLoop loop;
  Begun<int> task(within(2s, later(clock, 1s, 5), clock), loop.executor());
  clock.advance(1s);
  loop.runAll();
  ASSERT_TRUE(task.over());
  EXPECT_EQ(task.result(), 5);
  EXPECT_EQ(clock.waiters(), 0U);
  blockOn(within(1h, emptyLater(clock, 0s)));
}

TEST(WithinTest, ThrowsTimeoutErrorAfterTheTime) {
  FakeClock clock;
  TestLoop loop;
  Begun<int> task(within(1s, later(clock, 2s, 5), clock), loop.executor());
  clock.advance(1s);
  loop.runAll();
  ASSERT_TRUE(task.over());
  EXPECT_EQ(errorOf<TimeoutError>([&] { task.result(); }), "later: canceled: it took too long");
}

TEST(WithinTest, PassesAStopOnAsSuch) {
  FakeClock clock;
  TestLoop loop;
  std::stop_source stop;
  Begun<int> task(within(1s, later(clock, 2s, 5), clock), loop.executor(), stop.get_token());
  stop.request_stop();
  loop.runAll();
  ASSERT_TRUE(task.over());
  EXPECT_EQ(errorOf<CanceledError>([&] { task.result(); }), "later: canceled");
}

TEST(WithinTest, IsDestroyedWhileItWaits) {
  FakeClock clock;
  TestLoop loop;
  {
    Begun<int> task(within(1s, later(clock, 2s, 5), clock), loop.executor());
    EXPECT_EQ(clock.waiters(), 2U);
  }
  EXPECT_EQ(clock.waiters(), 0U);
  {
    Begun<int> task(within(1s, later(clock, 2s, 5), clock), loop.executor());
    clock.advance(1s);  // the timeout is in the executor
  }
  loop.runAll();
  EXPECT_EQ(clock.waiters(), 0U);
}

// --- Trees that block their thread.

Task<int> waitsForTheOther(std::stop_source own, std::stop_token other) {
  own.request_stop();
  co_await withStop(sleepUntil(Clock::noDeadline), other);
  co_return 1;
}

TEST(WhenAllTest, RunsTasksSideBySideInABlockingCall) {
  std::stop_source a;
  std::stop_source b;
  auto both = whenAll(waitsForTheOther(a, b.get_token()), waitsForTheOther(b, a.get_token()));
  EXPECT_EQ(detail::runBlocking(std::move(both), {}), std::make_tuple(1, 1));

  std::stop_source stop;
  stop.request_stop();
  FakeClock clock;
  auto late = whenAll(threeTasks(clock));
  EXPECT_EQ(errorOf<CanceledError>([&] { detail::runBlocking(std::move(late), stop.get_token()); }),
            "later: canceled");
}

// --- Executors with several threads.

Task<int> hop(int n) {
  auto work = [n](const std::stop_token&) { return n; };
  co_return co_await detail::onThread(std::move(work));
}

TEST(WhenAllTest, RunsTasksInParallel) {
  const auto threads = std::make_shared<TaskThreads>();
  const Executor executor([threads](Executor::Work work) { threads->run(std::move(work)); });
  for (int round = 0; round < detail::testAmount(200); ++round) {
    std::vector<Task<int>> tasks;
    for (int i = 0; i < 20; ++i) tasks.push_back(hop(1));
    Begun<std::vector<int>> all(whenAll(std::move(tasks)), executor);
    all.wait();
    EXPECT_THAT(all.result(), ::testing::Each(1));

    std::vector<Task<int>> more;
    for (int i = 0; i < 5; ++i) more.push_back(hop(i));
    Begun<First<int>> any(whenAny(std::move(more)), executor);
    any.wait();
    const First<int> first = any.result();
    EXPECT_EQ(static_cast<int>(first.index), first.value);
  }
}

}  // namespace
}  // namespace kube
