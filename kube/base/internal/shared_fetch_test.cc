#include "kube/base/internal/shared_fetch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

namespace kube {
namespace {

using Number = SharedFetch<int>;

auto giving(int number) {
  return [number] { return std::make_shared<const int>(number); };
}

TEST(SharedFetchTest, FetchesOnceUntilForgotten) {
  Number number;
  EXPECT_EQ(number.current(), nullptr);
  EXPECT_EQ(*number.get(giving(1)), 1);
  EXPECT_EQ(*number.get(giving(2)), 1);
  number.forget();
  EXPECT_EQ(number.current(), nullptr);
  EXPECT_EQ(*number.get(giving(3)), 3);
}

TEST(SharedFetchTest, ANewerOneIsFetchedOnlyIfNobodyHas) {
  Number number;
  const auto old = number.get(giving(1));
  EXPECT_EQ(*number.getNewer(old, giving(2)), 2);
  EXPECT_EQ(*number.getNewer(old, giving(3)), 2);
  EXPECT_EQ(*number.getNewer(nullptr, giving(3)), 2);
}

TEST(SharedFetchTest, AFailureIsTriedAgain) {
  Number number;
  EXPECT_THROW(number.get([]() -> Number::Ptr { throw TransportError("away"); }), TransportError);
  EXPECT_EQ(*number.get(giving(1)), 1);
}

TEST(SharedFetchTest, AFetchUnderWayWhenForgottenIsNotKept) {
  Number number;
  EXPECT_EQ(*number.get([&] {
    number.forget();
    return std::make_shared<const int>(1);
  }),
            1);
  EXPECT_EQ(*number.get(giving(2)), 2);
}

TEST(SharedFetchTest, AWaiterMayLeave) {
  Number number;
  std::latch begun(1);
  std::latch go(1);
  std::jthread first([&] {
    number.get([&] {
      begun.count_down();
      go.wait();
      return std::make_shared<const int>(1);
    });
  });
  begun.wait();
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(number.get(giving(2), stop.get_token()), CanceledError);
  go.count_down();
}

TEST(SharedFetchTest, AWaiterFetchesInsteadOfAStoppedCaller) {
  Number number;
  std::latch begun(1);
  std::latch go(1);
  std::stop_source stop;
  std::jthread first([&] {
    EXPECT_THROW(number.get(
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
  for (int i = 0; i < 4; ++i) others.emplace_back([&] { sum += *number.get(giving(5)); });
  go.count_down();
  others.clear();
  EXPECT_EQ(sum, 20);
}

}  // namespace
}  // namespace kube
