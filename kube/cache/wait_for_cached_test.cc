// Waits for objects in an informer's cache.
#include "kube/cache/wait_for_cached.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/base/internal/each_wait_testing.h"
#include "kube/base/internal/error_of_testing.h"
#include "kube/base/internal/test_loop_testing.h"
#include "kube/cache/core/v1.h"
#include "kube/cache/shared_informer_factory.h"
#include "kube/client/conditions.h"
#include "kube/testing/api_server_testing.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using corev1::ConfigMap;
using testing::Begun;
using testing::TestLoop;

class WaitForCachedTest : public testing::ApiServerTest {
 protected:
  using Found = std::shared_ptr<const ConfigMap>;

  WaitForCachedTest() {
    maps().create(map("a"));
    factory.start();
    factory.waitForSync();
  }
  static auto has(std::string_view value) {
    return [value](const ConfigMap* map) { return map != nullptr && map->data["k"] == value; };
  }
  void set(std::string_view value) const {
    maps().patch("a", PatchType::Merge, R"({"data":{"k":")" + std::string(value) + "\"}}");
  }

  const ObjectKey kA{"default", "a"};
  SharedInformerFactory factory{clients};
  SharedInformer<ConfigMap> informer = factory.coreV1().configMaps();
  TestLoop loop;
};

TEST_F(WaitForCachedTest, ReturnsTheCachedObject) {
  const Found now = waitFor(informer, kA, has("v"));
  EXPECT_EQ(now, informer.lister().get(kA)) << "the object itself";
  Begun<Found> wait(waitFor(AsyncInformer(informer), kA, has("new")), loop.executor());
  set("old");
  set("new");
  loop.runUntil([&] { return wait.over(); });
  EXPECT_EQ(wait.result()->data["k"], "new");
}

TEST_F(WaitForCachedTest, AsksNothingOfTheServer) {
  server.forgetRequests();
  waitFor(informer, kA, has("v"));
  EXPECT_TRUE(server.requests().empty());
}

TEST_F(WaitForCachedTest, WaitsForARemoval) {
  Begun<Found> wait(waitFor(AsyncInformer(informer), kA, conditions::deleted()), loop.executor());
  EXPECT_FALSE(wait.over());
  maps().remove("a");
  loop.runUntil([&] { return wait.over(); });
  EXPECT_EQ(wait.result(), nullptr);
}

TEST_F(WaitForCachedTest, WaitsForTheFirstList) {
  SharedInformerFactory later(clients);
  const auto idle = later.coreV1().configMaps();
  server.inject({.verb = "list", .times = 2, .status = 503});
  later.start();
  EXPECT_EQ(waitFor(idle, kA, conditions::exists, {.timeout = 1min})->metadata.name, "a");
}

TEST_F(WaitForCachedTest, EndsAfterItsTimeAndOnAStop) {
  FakeClock clock;
  const WaitOptions options{.timeout = 1h, .clock = &clock};
  Begun<Found> wait(waitFor(AsyncInformer(informer), kA, has("never"), options), loop.executor());
  loop.runAll();
  clock.advance(1h);
  loop.runUntil([&] { return wait.over(); });
  EXPECT_EQ(errorOf<TimeoutError>([&] { wait.result(); }),
            "wait for default/a in the cache: the condition did not become true in time");
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(
      errorOf<CanceledError>([&] { waitFor(informer, kA, has("never"), {}, stop.get_token()); }),
      "wait for default/a in the cache: canceled");
}

TEST_F(WaitForCachedTest, LeavesNoHandlerBehind) {
  waitFor(informer, kA, has("v"));
  const auto fails = [](const ConfigMap*) -> bool { throw Error("no"); };
  EXPECT_THROW(waitFor(informer, kA, fails), Error);
  EXPECT_TRUE(informer.describe().ends_with("; 0 handlers")) << informer.describe();
}

Task<> waitsForAChange(SharedInformer<ConfigMap> informer, AsyncResourceClient<ConfigMap> maps,
                       std::string value) {
  const auto painted = [&](const ConfigMap* map) { return map->data["k"] == value; };
  const std::string patch = R"({"data":{"k":")" + value + "\"}}";
  co_await maps.patch("a", PatchType::Merge, patch);
  const ObjectKey key{"default", "a"};
  co_await waitFor(AsyncInformer(informer), key, painted);
}

TEST_F(WaitForCachedTest, IsStoppedOrDestroyedAtEachWait) {
  int n = 0;
  const auto make = [&] { return waitsForAChange(informer, maps().async(), std::to_string(++n)); };
  testing::stopAtEachWait(make);
  testing::destroyAtEachWait(make);
}

}  // namespace
}  // namespace kube
