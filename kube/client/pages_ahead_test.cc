#include "kube/client/pages_ahead.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "kube/base/internal/each_wait_testing.h"
#include "kube/testing/api_server_testing.h"

namespace kube {
namespace {

using ::testing::SizeIs;

class PagesAheadTest : public testing::ApiServerTest {
 protected:
  PagesAheadTest() {
    for (int i = 0; i < 9; ++i) maps().create(map("m" + std::to_string(i)));
    server.forgetRequests();
  }
  std::size_t lists() const { return server.requests({.verb = "list"}).size(); }
  void waitForLists(std::size_t n) const {
    while (lists() < n) std::this_thread::yield();
  }
};

TEST_F(PagesAheadTest, AreAllPagesInTheirOrder) {
  std::string names;
  for (const auto& page : pagesAhead(maps(), {.limit = 2})) {
    for (const auto& item : page.items) names += item.metadata.name;
  }
  EXPECT_EQ(names, "m0m1m2m3m4m5m6m7m8");
  EXPECT_EQ(lists(), 5U);
}

TEST_F(PagesAheadTest, AreRequestedBeforeTheyAreNeeded) {
  auto pages = pagesAhead(maps(), {.limit = 2}, {.pages = 2});
  waitForLists(2);
  EXPECT_THAT(pages.next()->items, SizeIs(2));
  waitForLists(3);
  EXPECT_EQ(lists(), 3U) << "two are held, no more are requested";
}

TEST_F(PagesAheadTest, AnErrorStandsForItsPage) {
  server.inject({.verb = "list", .times = 1, .status = 403});
  auto pages = pagesAhead(maps(), {.limit = 2});
  EXPECT_EQ(testing::refusalOf([&] { pages.next(); }).code, 403);
  EXPECT_FALSE(pages.next()) << "the list has ended";
  auto late = pagesAhead(maps(), {.limit = 2}, {.pages = 1});
  waitForLists(2);
  server.inject({.verb = "list", .times = 1, .status = 403});
  EXPECT_THAT(late.next()->items, SizeIs(2));
  EXPECT_EQ(testing::refusalOf([&] { late.next(); }).code, 403);
}

TEST_F(PagesAheadTest, AStopEndsTheWaitAndDestroyingTheRequests) {
  server.inject({.verb = "list", .hang = true});
  std::stop_source stop;
  auto pages = pagesAhead(maps(), {.limit = 2}, {}, stop.get_token());
  std::jthread stopper([&] {
    waitForLists(1);
    stop.request_stop();
  });
  EXPECT_THROW(pages.next(), CanceledError);
}

Task<> reads(AsyncResourceClient<corev1::ConfigMap> maps) {
  const metav1::ListOptions list{.limit = 4};
  auto pages = pagesAhead(maps, list);
  std::size_t items = 0;
  for (;;) {
    const auto page = co_await pages.next();
    if (!page) break;
    items += page->items.size();
  }
  EXPECT_EQ(items, 9U);
}

TEST_F(PagesAheadTest, IsStoppedOrDestroyedAtEachWait) {
  const auto make = [this] { return reads(maps().async()); };
  testing::stopAtEachWait(make);
  testing::destroyAtEachWait(make);
}

}  // namespace
}  // namespace kube
