#include "kube/base/task_scope.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "kube/base/error.h"
#include "kube/base/internal/error_of_testing.h"
#include "kube/base/internal/logged_testing.h"
#include "kube/base/internal/sanitizer.h"
#include "kube/base/internal/test_loop_testing.h"
#include "kube/base/task_threads.h"
#include "kube/base/when.h"

namespace kube {
namespace {

using testing::Begun;
using ::testing::HasSubstr;
using testing::Logged;
using testing::TestLoop;
using namespace std::chrono_literals;

Task<int> sleeper(Clock& clock, Clock::Duration time, std::shared_ptr<int> life = nullptr) {
  const bool slept = co_await sleepFor(time, clock);
  if (!slept) throw CanceledError("sleeper: canceled");
  co_return life ? *life : 0;
}
Task<> throwing() {
  throw Error("no luck");
  co_return;
}
Task<> throwingCanceled() {
  throw CanceledError("the transport was shut down");
  co_return;
}

TEST(TaskScopeTest, RunsTasksOnItsExecutor) {
  FakeClock clock;
  TestLoop loop;
  TaskScope scope(loop.executor());
  scope.start(sleeper(clock, 1s));
  scope.start(sleeper(clock, 2s));
  EXPECT_EQ(clock.waiters(), 0U);
  EXPECT_EQ(scope.size(), 2U);
  loop.runAll();
  EXPECT_EQ(clock.waiters(), 2U);
  clock.advance(1s);
  loop.runAll();
  EXPECT_EQ(scope.size(), 1U);
  clock.advance(1s);
  loop.runAll();
  EXPECT_EQ(scope.size(), 0U);
}

TEST(TaskScopeTest, LogsExceptionsWithTheName) {
  const Logged logged;
  TestLoop loop;
  TaskScope scope(loop.executor());
  scope.start(throwing(), "connection 7");
  scope.start(throwingCanceled());
  loop.runAll();
  EXPECT_EQ(scope.size(), 0U);
  EXPECT_THAT(logged.text(), HasSubstr("connection 7 threw: no luck"));
  EXPECT_THAT(logged.text(), HasSubstr("a task threw: the transport was shut down"));
}

TEST(TaskScopeTest, StopsItsTasksWithoutALine) {
  const Logged logged;
  FakeClock clock;
  TestLoop loop;
  std::stop_source outer;
  TaskScope scope(loop.executor(), outer.get_token());
  scope.start(sleeper(clock, 1s));
  loop.runAll();
  outer.request_stop();
  EXPECT_TRUE(scope.stopToken().stop_requested());
  loop.runAll();
  EXPECT_EQ(scope.size(), 0U);
  scope.start(sleeper(clock, 1s));  // ends at once
  loop.runAll();
  EXPECT_EQ(scope.size(), 0U);
  EXPECT_EQ(logged.text(), "");
}

TEST(TaskScopeTest, JoinWaitsForAllTasks) {
  FakeClock clock;
  TestLoop loop;
  TaskScope scope(loop.executor());
  Begun<void> none(scope.join(), loop.executor());
  EXPECT_TRUE(none.over());
  scope.start(sleeper(clock, 1s));
  scope.start(sleeper(clock, 2s));
  loop.runAll();
  Begun<void> joined(scope.join(), loop.executor());
  Begun<void> givenUp(scope.join(), loop.executor());
  givenUp.destroy();
  clock.advance(1s);
  loop.runAll();
  EXPECT_FALSE(joined.over());
  clock.advance(1s);
  loop.runAll();
  ASSERT_TRUE(joined.over());
  joined.result();
}

TEST(TaskScopeTest, JoinEndsOnAStop) {
  FakeClock clock;
  TestLoop loop;
  std::stop_source stop;
  TaskScope scope(loop.executor());
  scope.start(sleeper(clock, 1s));
  loop.runAll();
  Begun<void> joined(scope.join(), loop.executor(), stop.get_token());
  stop.request_stop();
  loop.runAll();
  ASSERT_TRUE(joined.over());
  EXPECT_THAT(errorOf<CanceledError>([&] { joined.result(); }), HasSubstr("canceled"));
}

TEST(TaskScopeTest, JoinMayOutliveTheScope) {
  FakeClock clock;
  TestLoop loop;
  std::optional<TaskScope> scope(std::in_place, loop.executor());
  scope->start(sleeper(clock, 1s));
  loop.runAll();
  Begun<void> joined(scope->join(), loop.executor());
  scope.reset();
  loop.runAll();
  ASSERT_TRUE(joined.over());
  joined.result();
}

TEST(TaskScopeTest, DestroyingItGivesEverythingUp) {
  const Logged logged;
  FakeClock clock;
  TestLoop loop;
  const auto life = std::make_shared<int>(1);
  {
    TaskScope scope(loop.executor());
    scope.start(sleeper(clock, 1s, life));
    scope.start(sleeper(clock, 2s, life));
    loop.runAll();
    clock.advance(1s);                      // one is in the executor,
    scope.start(sleeper(clock, 2s, life));  // and one has not begun
  }
  EXPECT_EQ(life.use_count(), 1);
  EXPECT_EQ(clock.waiters(), 0U);
  loop.runAll();
  EXPECT_EQ(logged.text(), "");
}

Task<> destroys(std::unique_ptr<TaskScope>& scope, std::shared_future<void> release) {
  scope.reset();
  const std::stop_token stop = co_await taskStop();
  EXPECT_TRUE(stop.stop_requested());
  auto work = [release](const std::stop_token&) { release.wait(); };
  co_await detail::onThread(std::move(work));
  ADD_FAILURE() << "went on without its scope";
}

TEST(TaskScopeTest, ATaskMayDestroyItsScope) {
  FakeClock clock;
  TestLoop loop;
  std::promise<void> release;
  const auto life = std::make_shared<int>(1);
  auto scope = std::make_unique<TaskScope>(loop.executor());
  scope->start(sleeper(clock, 1h, life));
  loop.runAll();
  scope->start(destroys(scope, release.get_future().share()));
  loop.runOne();  // the sleeper is stopped, and has not gone on
  EXPECT_EQ(life.use_count(), 1);
  EXPECT_EQ(clock.waiters(), 0U);
  release.set_value();
  loop.runAll();
}

Task<> waitsForItself(TaskScope& scope, std::string& error) {
  error = errorOf<Error>([&] { scope.wait(); });
  co_return;
}

TEST(TaskScopeTest, WaitingForItselfIsAnError) {
  TestLoop loop;
  TaskScope scope(loop.executor());
  std::string error;
  scope.start(waitsForItself(scope, error));
  loop.runAll();
  EXPECT_THAT(error, HasSubstr("must not wait for the scope that it belongs to"));
}

TEST(TaskScopeTest, TellsThatItsExecutorIsEmpty) {
  TaskScope scope{Executor()};
  EXPECT_THAT(errorOf<Error>([&] { scope.start(throwing()); }), HasSubstr("executor"));
  EXPECT_EQ(scope.size(), 0U);
}

TEST(TaskScopeTest, UsesTheTimersOfItsExecutor) {
  TestLoop loop;
  Executor::Work later;
  const Executor executor(
      [post = loop.executor()](Executor::Work work) { post.post(std::move(work)); },
      [&](Clock::Duration, Executor::Work work) { later = std::move(work); });
  TaskScope scope(executor);
  scope.start(sleeper(realClock(), 1h));
  loop.runAll();
  later();
  loop.runAll();
  EXPECT_EQ(scope.size(), 0U);
}

Task<> startsMore(Clock& clock) {
  const Executor executor = co_await taskExecutor();
  TaskScope scope(executor);
  for (int i = 0; i < 10; ++i) scope.start(sleeper(clock, 0s));
  co_await scope.join();
  scope.start(sleeper(clock, 1h));
}

TEST(TaskScopeTest, RunsOnTheExecutorOfBlockOn) {
  FakeClock clock;
  blockOn(startsMore(clock));
  EXPECT_EQ(clock.waiters(), 0U);
}

// --- Executors with several threads.

Task<int> hops(std::atomic<int>& count) {
  for (int i = 0; i < 5; ++i) {
    auto work = [](const std::stop_token&) { return 1; };
    count += co_await detail::onThread(std::move(work));
  }
  co_return 0;
}

Task<> hopsInPairs(std::atomic<int>& count) { co_await whenAll(hops(count), hops(count)); }

TEST(TaskScopeTest, RunsTasksOnSeveralThreads) {
  const auto threads = std::make_shared<TaskThreads>();
  const Executor executor([threads](Executor::Work work) { threads->run(std::move(work)); });
  std::atomic<int> count = 0;
  TaskScope scope(executor);
  for (int i = 0; i < 50; ++i) scope.start(hopsInPairs(count));
  scope.wait();
  EXPECT_EQ(count, 500);
}

TEST(TaskScopeTest, IsDestroyedWhileOtherThreadsRunItsTasks) {
  const auto threads = std::make_shared<TaskThreads>();
  const Executor executor([threads](Executor::Work work) { threads->run(std::move(work)); });
  for (int round = 0; round < detail::testAmount(200); ++round) {
    std::atomic<int> count = 0;
    TaskScope scope(executor);
    for (int i = 0; i < 8; ++i) scope.start(hopsInPairs(count));
    while (count < round % 40) std::this_thread::yield();
  }
}

}  // namespace
}  // namespace kube
