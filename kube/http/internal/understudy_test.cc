// Work between the turns of an event loop.
#include "kube/http/internal/understudy.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <latch>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/internal/no_threads_testing.h"
#include "kube/base/task.h"
#include "kube/http/internal/event_loop.h"

namespace kube::detail {
namespace {

class UnderstudyTest : public ::testing::Test {
 protected:
  ~UnderstudyTest() override { stop(); }

  struct Work final : AfterTurn::Work {
    Work(std::function<void()> here, std::function<void()> elsewhere)
        : here(std::move(here)), elsewhere(std::move(elsewhere)) {}
    void runHere() override { here(); }
    void runElsewhere() override { elsewhere(); }
    const std::function<void()> here, elsewhere;
  };
  static void fail() { ADD_FAILURE() << "the work was moved"; }

  void stop() {
    loop.mailbox()->stop();
    if (thread.joinable()) thread.join();
  }
  /// Adds work in a turn of the loop. Returns whether the loop has taken it.
  bool add(std::function<void()> here, std::function<void()> elsewhere = fail) {
    const auto work = std::make_shared<Work>(std::move(here), std::move(elsewhere));
    std::promise<bool> taken;
    loop.mailbox()->post([&] { taken.set_value(AfterTurn::tryAdd(work)); });
    return taken.get_future().get();
  }
  /// The thread that runs the loop now.
  std::thread::id runner() {
    std::promise<std::thread::id> id;
    loop.mailbox()->post([&] { id.set_value(std::this_thread::get_id()); });
    return id.get_future().get();
  }
  void waitForItsThread() {
    while (runner() != thread.get_id()) std::this_thread::yield();
  }

  EventLoop loop;
  std::atomic<int> ends = 0;
  std::thread thread{[this] { loop.run([this] { ++ends; }); }};
};

TEST_F(UnderstudyTest, WorkRunsOnTheLoopsThreadWithoutTheTurn) {
  std::promise<std::thread::id> where;
  EXPECT_TRUE(add([&] {
    EXPECT_TRUE(AfterTurn::isWorking());
    EXPECT_FALSE(loop.isMine());
    EXPECT_FALSE(loop.isRunner());
    EXPECT_NO_THROW(checkMayBlock("a test"));
    EXPECT_FALSE(AfterTurn::tryAdd(std::make_shared<Work>(fail, fail)));
    where.set_value(std::this_thread::get_id());
  }));
  EXPECT_EQ(where.get_future().get(), thread.get_id());
  waitForItsThread();
}

TEST_F(UnderstudyTest, OtherThreadsReceiveNoWork) {
  EXPECT_FALSE(AfterTurn::tryAdd(std::make_shared<Work>(fail, fail)));
}

TEST_F(UnderstudyTest, WhileWorkTakesLongAnotherThreadRunsTheLoop) {
  std::latch release{1};
  ASSERT_TRUE(add([&] { release.wait(); }));
  const std::thread::id other = runner();  // waits until the loop runs
  EXPECT_NE(other, thread.get_id());
  EXPECT_EQ(runner(), other);
  // The other thread passes work on: no one would take over from it.
  EXPECT_FALSE(add([] {}));
  release.count_down();
  stop();
}

TEST_F(UnderstudyTest, TheLoopsThreadReturns) {
  for (int i = 0; i < 3; ++i) {
    std::latch release{1}, done{1};
    ASSERT_TRUE(add([&] {
      release.wait();
      done.count_down();
    }));
    EXPECT_NE(runner(), thread.get_id());
    release.count_down();
    done.wait();
    waitForItsThread();
  }
}

TEST_F(UnderstudyTest, WorkThatAnnouncesAWaitIsTakenOverToo) {
  std::promise<std::thread::id> seen;
  std::promise<void> done;
  ASSERT_TRUE(add([&] {
    checkMayBlock("a test");
    seen.set_value(runner());
    done.set_value();
  }));
  EXPECT_NE(seen.get_future().get(), thread.get_id());
  done.get_future().wait();
}

TEST_F(UnderstudyTest, WorkBehindLongWorkGoesElsewhere) {
  std::latch release{1};
  std::promise<std::thread::id> where;
  loop.mailbox()->post([&] {
    EXPECT_TRUE(AfterTurn::tryAdd(std::make_shared<Work>([&] { release.wait(); }, fail)));
    const auto note = [&] { where.set_value(std::this_thread::get_id()); };
    EXPECT_TRUE(AfterTurn::tryAdd(std::make_shared<Work>(fail, note)));
  });
  EXPECT_NE(where.get_future().get(), thread.get_id());
  release.count_down();
  stop();
}

TEST_F(UnderstudyTest, TheLoopEndsAlthoughWorkBlocks) {
  std::latch release{1};
  ASSERT_TRUE(add([&] { release.wait(); }));
  runner();
  loop.mailbox()->stop();
  while (ends == 0) std::this_thread::yield();
  release.count_down();
  stop();
  EXPECT_EQ(ends, 1);
}

TEST_F(UnderstudyTest, TheLoopEndsRightAfterWork) {
  std::atomic<bool> done = false;
  ASSERT_TRUE(add([&] {
    loop.mailbox()->stop();
    done = true;
  }));
  stop();
  EXPECT_TRUE(done);
  EXPECT_EQ(ends, 1);
}

TEST_F(UnderstudyTest, AThrowEndsOneWorkOnly) {
  std::promise<void> second;
  loop.mailbox()->post([&] {
    const auto throws = [] { throw std::runtime_error("on purpose"); };
    EXPECT_TRUE(AfterTurn::tryAdd(std::make_shared<Work>(throws, fail)));
    EXPECT_TRUE(AfterTurn::tryAdd(std::make_shared<Work>([&] { second.set_value(); }, fail)));
  });
  second.get_future().wait();
  waitForItsThread();
}

TEST_F(UnderstudyTest, WithoutAThreadThereIsNoWork) {
  {
    const testing::NoThreads none;
    EXPECT_FALSE(add([] {}));
  }
  EXPECT_TRUE(add([] {}));
}

// Each work waits for a task of the loop, so the threads change places all the time.
TEST_F(UnderstudyTest, ManyChangesOfPlaces) {
  std::atomic<int> done = 0;
  int taken = 0;
  for (int i = 0; i < 300; ++i) {
    const auto work = [&, i] {
      if (i % 3 == 0) checkMayBlock("a test");
      if (i % 2 == 0) runner();
      ++done;
    };
    if (add(work, [&] { ++done; })) ++taken;
  }
  while (done < taken) std::this_thread::yield();
  EXPECT_GT(taken, 0);
}

}  // namespace
}  // namespace kube::detail
