#include "kube/base/internal/shared_fetch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

#include "kube/base/internal/test_loop_testing.h"

namespace kube {
namespace {

using testing::Begun;
using testing::TestLoop;

class Number : public SharedFetch<int> {
 public:
  template <class Fetch>
  Ptr getHere(Fetch fetch, const std::stop_token& stop = {}) {
    return detail::runBlocking(get(std::move(fetch)), stop);
  }
  template <class Fetch>
  Ptr getNewerHere(Ptr old, Fetch fetch) {
    return detail::runBlocking(getNewer(std::move(old), std::move(fetch)), {});
  }
};

auto giving(int number) {
  return [number] { return std::make_shared<const int>(number); };
}

TEST(SharedFetchTest, FetchesOnceUntilForgotten) {
  Number number;
  EXPECT_EQ(number.current(), nullptr);
  EXPECT_EQ(*number.getHere(giving(1)), 1);
  EXPECT_EQ(*number.getHere(giving(2)), 1);
  number.forget();
  EXPECT_EQ(number.current(), nullptr);
  EXPECT_EQ(*number.getHere(giving(3)), 3);
}

TEST(SharedFetchTest, ANewerOneIsFetchedOnlyIfNobodyHas) {
  Number number;
  const auto old = number.getHere(giving(1));
  EXPECT_EQ(*number.getNewerHere(old, giving(2)), 2);
  EXPECT_EQ(*number.getNewerHere(old, giving(3)), 2);
  EXPECT_EQ(*number.getNewerHere(nullptr, giving(3)), 2);
}

TEST(SharedFetchTest, AFailureIsTriedAgain) {
  Number number;
  EXPECT_THROW(number.getHere([]() -> Number::Ptr { throw TransportError("away"); }),
               TransportError);
  EXPECT_EQ(*number.getHere(giving(1)), 1);
}

TEST(SharedFetchTest, AFetchUnderWayWhenForgottenIsNotKept) {
  Number number;
  EXPECT_EQ(*number.getHere([&] {
    number.forget();
    return std::make_shared<const int>(1);
  }),
            1);
  EXPECT_EQ(*number.getHere(giving(2)), 2);
}

TEST(SharedFetchTest, AWaiterMayLeave) {
  Number number;
  std::latch begun(1);
  std::latch go(1);
  std::jthread first([&] {
    number.getHere([&] {
      begun.count_down();
      go.wait();
      return std::make_shared<const int>(1);
    });
  });
  begun.wait();
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(number.getHere(giving(2), stop.get_token()), CanceledError);
  go.count_down();
}

TEST(SharedFetchTest, AWaiterFetchesInsteadOfAStoppedCaller) {
  Number number;
  std::latch begun(1);
  std::latch go(1);
  std::stop_source stop;
  std::jthread first([&] {
    EXPECT_THROW(number.getHere(
                     [&]() -> Number::Ptr {
                       begun.count_down();
                       go.wait();
                       throw CanceledError("stopped");
                     },
                     stop.get_token()),
                 CanceledError);
  });
  begun.wait();
  stop.request_stop();
  std::atomic<int> sum = 0;
  std::vector<std::jthread> others;
  for (int i = 0; i < 4; ++i) others.emplace_back([&] { sum += *number.getHere(giving(5)); });
  go.count_down();
  others.clear();
  EXPECT_EQ(sum, 20);
}

// --- Tasks.

Task<Number::Ptr> fetched(int number, std::shared_ptr<std::stop_source> arrived, int& fetches) {
  ++fetches;
  co_await withStop(sleepUntil(Clock::noDeadline), arrived->get_token());
  const std::stop_token stop = co_await taskStop();
  if (stop.stop_requested()) throw CanceledError("stopped");
  co_return std::make_shared<const int>(number);
}

class SharedFetchTaskTest : public ::testing::Test {
 protected:
  Begun<Number::Ptr> begin(int n, const std::stop_token& stop = {}) {
    const auto fetch = [this, n] { return fetched(n, arrived_, fetches_); };
    return Begun<Number::Ptr>(number_.get(fetch), loop_.executor(), stop);
  }
  void runUntilOver(Begun<Number::Ptr>& task) {
    loop_.runUntil([&] { return task.over(); });
  }

  Number number_;
  TestLoop loop_;
  std::shared_ptr<std::stop_source> arrived_ = std::make_shared<std::stop_source>();
  int fetches_ = 0;
};

TEST_F(SharedFetchTaskTest, TasksShareAFetchWithEachOtherAndWithThreads) {
  auto first = begin(1);
  auto second = begin(2);
  int ofThread = 0;
  std::jthread thread([&] { ofThread = *number_.getHere(giving(3)); });
  EXPECT_FALSE(second.over());
  arrived_->request_stop();
  runUntilOver(first);
  runUntilOver(second);
  thread.join();
  EXPECT_EQ(*first.result(), 1);
  EXPECT_EQ(*second.result(), 1);
  EXPECT_EQ(ofThread, 1);
  EXPECT_EQ(fetches_, 1);
}

TEST_F(SharedFetchTaskTest, AWaiterFetchesInsteadOfADestroyedTask) {
  auto first = begin(1);
  auto second = begin(2);
  first.destroy();
  loop_.runAll();
  EXPECT_EQ(fetches_, 2);
  arrived_->request_stop();
  runUntilOver(second);
  EXPECT_EQ(*second.result(), 2);
}

TEST_F(SharedFetchTaskTest, AWaiterFetchesInsteadOfAStoppedTask) {
  std::stop_source stop;
  auto first = begin(1, stop.get_token());
  auto second = begin(2);
  stop.request_stop();
  loop_.runAll();
  EXPECT_THROW(first.result(), CanceledError);
  EXPECT_EQ(fetches_, 2);
  arrived_->request_stop();
  runUntilOver(second);
  EXPECT_EQ(*second.result(), 2);
}

TEST_F(SharedFetchTaskTest, AWaiterIsStoppedOrDestroyed) {
  std::stop_source stop;
  auto first = begin(1);
  auto stopped = begin(2, stop.get_token());
  auto destroyed = begin(3);
  stop.request_stop();
  runUntilOver(stopped);
  EXPECT_THROW(stopped.result(), CanceledError);
  destroyed.destroy();
  arrived_->request_stop();
  runUntilOver(first);
  loop_.runAll();
  EXPECT_EQ(*first.result(), 1);
  EXPECT_FALSE(destroyed.over());
  EXPECT_EQ(fetches_, 1);
}

}  // namespace
}  // namespace kube
