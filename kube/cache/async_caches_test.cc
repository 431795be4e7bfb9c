// Tests of coroutines that wait for informers.

#include "kube/cache/async_caches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <memory>
#include <string>
#include <thread>

#include "kube/base/internal/error_of_testing.h"
#include "kube/base/internal/logged_testing.h"
#include "kube/base/internal/test_loop_testing.h"
#include "kube/base/when.h"
#include "kube/cache/core/v1.h"
#include "kube/cache/shared_informer_factory.h"
#include "kube/client/core/v1.h"
#include "kube/testing/api_server_testing.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using corev1::ConfigMap;
using testing::Begun;
using ::testing::HasSubstr;
using testing::TestLoop;

class AsyncCachesTest : public testing::ApiServerTest {
 protected:
  AsyncCachesTest() { makeNamespace("book"); }

  // Runs the loop until the task is over, as a program's loop would.
  template <class T>
  T finish(Begun<T>& task) {
    loop.runUntil([&] { return task.over(); });
    return task.result();
  }
  // Lists fail until the returned fault is forgotten.
  testing::FaultId noLists() {
    return server.inject({.resource = "configmaps", .delay = 10ms, .status = 503});
  }

  TestLoop loop;
  SharedInformerFactory factory{clients};
};

TEST_F(AsyncCachesTest, AFactoryIsAwaitedWithoutAThread) {
  maps("book").create(map("a"));
  const auto informer = factory.coreV1().configMaps();
  factory.coreV1().secrets();
  const testing::FaultId fault = noLists();
  factory.start();
  Begun<bool> all(factory.async().waitForSync(), loop.executor());
  Begun<bool> one(informer.async().waitForSync(), loop.executor());
  EXPECT_FALSE(all.over());
  EXPECT_FALSE(one.over());
  server.forget(fault);
  EXPECT_TRUE(finish(all));
  EXPECT_TRUE(finish(one));
  EXPECT_NE(informer.lister().inNamespace("book").get("a"), nullptr);
  EXPECT_TRUE(blockOn(factory.async().waitForSync()));  // which is at once
}

TEST_F(AsyncCachesTest, AnInformerThatNothingRunsIsTheSameError) {
  const auto informer = factory.coreV1().configMaps();
  const auto same = [&](const std::string& blocking, Task<bool> task) {
    EXPECT_EQ(errorOf<Error>([&] { blockOn(std::move(task)); }), blocking);
    EXPECT_THAT(blocking, HasSubstr("call start()"));
  };
  same(errorOf<Error>([&] { factory.waitForSync(); }), factory.async().waitForSync());
  same(errorOf<Error>([&] { informer.waitForSync(); }), informer.async().waitForSync());
}

TEST_F(AsyncCachesTest, AStopEndsTheWait) {
  const auto informer = factory.coreV1().configMaps();
  noLists();
  factory.start();
  std::stop_source stop;
  Begun<bool> all(factory.async().waitForSync(), loop.executor(), stop.get_token());
  Begun<bool> one(informer.async().waitForSync(), loop.executor(), stop.get_token());
  Begun<bool> late(within(1ms, informer.async().waitForSync()), loop.executor());
  EXPECT_FALSE(finish(late));
  EXPECT_FALSE(all.over());
  stop.request_stop();
  EXPECT_FALSE(finish(all));
  EXPECT_FALSE(finish(one));
}

TEST_F(AsyncCachesTest, TheEndOfTheFactoryEndsTheWait) {
  noLists();
  auto own = std::make_unique<SharedInformerFactory>(clients);
  const auto informer = own->coreV1().configMaps();
  own->start();
  Begun<bool> all(own->async().waitForSync(), loop.executor());
  Begun<bool> one(informer.async().waitForSync(), loop.executor());
  own.reset();
  EXPECT_FALSE(finish(all));
  EXPECT_FALSE(finish(one));
}

TEST_F(AsyncCachesTest, AWaitIsGivenUpByDestroyingIt) {
  const auto informer = factory.coreV1().configMaps();
  const testing::FaultId fault = noLists();
  factory.start();
  Begun<bool> all(factory.async().waitForSync(), loop.executor());
  Begun<bool> one(informer.async().waitForSync(), loop.executor());
  all.destroy();
  server.forget(fault);
  EXPECT_TRUE(finish(one));
}

TEST_F(AsyncCachesTest, ARegistrationIsAwaitedUntilItsHandlerHasBeenCalled) {
  maps("book").create(map("a"));
  const auto informer = factory.coreV1().configMaps();
  std::latch mayReturn(1);
  const auto handler = informer.addHandler({.onAdd = [&](const auto&) { mayReturn.wait(); }});
  factory.start();
  Begun<bool> delivered(handler.async().waitForSync(), loop.executor());
  Begun<bool> synced(informer.async().waitForSync(), loop.executor());
  EXPECT_TRUE(finish(synced));
  EXPECT_FALSE(delivered.over());
  mayReturn.count_down();
  EXPECT_TRUE(finish(delivered));
}

TEST_F(AsyncCachesTest, ALongWaitForAnInformerThatNothingRunsIsLogged) {
  const testing::Logged logged;
  FakeClock clock;
  const SharedInformer<ConfigMap> informer(
      ListWatch<ConfigMap>::fromClient(clients.coreV1().configMaps()), {.clock = &clock});
  Begun<bool> wait(informer.async().waitForSync(), loop.executor());
  clock.waitForWaiters(1);
  clock.advance(5s);
  EXPECT_THAT(logged.text(), HasSubstr("has waited 5 s for an informer that nothing runs"));
  wait.destroy();
  EXPECT_EQ(clock.waiters(), 0U);
}

}  // namespace
}  // namespace kube
