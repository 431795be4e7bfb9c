#include "kube/base/internal/start_thread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

#include "kube/base/internal/error_of_testing.h"
#include "kube/base/internal/no_threads_testing.h"
#include "kube/base/internal/periodic_task.h"
#include "kube/base/task_threads.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::NoThreads;

TEST(StartThreadTest, AThreadThatCannotStartIsAnErrorThatNamesItsPurpose) {
  const NoThreads none;
  EXPECT_THAT(errorOf<Error>([] {
                detail::startingThread("the gardener", [] { return std::thread([] {}); });
              }),
              AllOf(HasSubstr("no thread for the gardener: Resource temporarily unavailable"),
                    HasSubstr("pids.max"), HasSubstr("ulimit -u")));
}

TEST(StartThreadTest, ARefusalOfTheSystemIsSuchAnErrorToo) {
  EXPECT_THAT(errorOf<Error>([] {
                detail::startingThread(
                    "x", [] { throw std::system_error(EAGAIN, std::generic_category()); });
              }),
              HasSubstr("no thread for x"));
}

TEST(StartThreadTest, TasksAreRefusedIfThereIsNoThreadAtAll) {
  TaskThreads threads;
  bool ran = false;
  {
    const NoThreads none;
    EXPECT_THAT(errorOf<Error>([&] { threads.run([&] { ran = true; }); }),
                HasSubstr("no thread for"));
  }
  std::latch done(1);
  threads.run([&] { done.count_down(); });  // the refused task must not run later
  done.wait();
  EXPECT_FALSE(ran);
}

TEST(StartThreadTest, APeriodicTaskSkipsAPeriod) {
  FakeClock clock;
  std::atomic<int> runs = 0;
  const PeriodicTask task(clock, 10s, [&] {
    ++runs;
    runs.notify_all();
  });
  {
    const NoThreads none;
    clock.advance(10s);
    EXPECT_EQ(clock.waiters(), 1U);
  }
  clock.advance(10s);
  runs.wait(0);
  EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace kube
