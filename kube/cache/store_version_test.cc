// Waits for the version that a store has reached.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "kube/base/internal/error_of_testing.h"
#include "kube/base/internal/test_loop_testing.h"
#include "kube/base/when.h"
#include "kube/cache/core/v1.h"
#include "kube/cache/shared_informer_factory.h"
#include "kube/client/core/v1.h"
#include "kube/meta/resource_version.h"
#include "kube/testing/api_server_testing.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using corev1::ConfigMap;
using testing::Begun;
using ::testing::HasSubstr;
using testing::TestLoop;

TEST(StoreVersionTest, AWaitEndsWhenTheVersionIsReached) {
  Store<ConfigMap> store;
  TestLoop loop;
  Begun<bool> wait(store.async().waitForVersion("9"), loop.executor());
  store.replace({}, "8");
  EXPECT_FALSE(wait.over());
  store.bookmark("10");
  loop.runUntil([&] { return wait.over(); });
  EXPECT_TRUE(wait.result());
  EXPECT_TRUE(store.waitForVersion("10")) << "at once";
}

TEST(StoreVersionTest, AWaitingThreadIsWoken) {
  Store<ConfigMap> store;
  std::jthread other([&] { EXPECT_TRUE(store.waitForVersion("3")); });
  store.bookmark("2");
  store.bookmark("3");
}

TEST(StoreVersionTest, AStopAndADeadlineEndTheWait) {
  const Store<ConfigMap> store;
  std::stop_source stop;
  TestLoop loop;
  Begun<bool> wait(store.async().waitForVersion("1"), loop.executor(), stop.get_token());
  stop.request_stop();
  loop.runUntil([&] { return wait.over(); });
  EXPECT_FALSE(wait.result());
  EXPECT_FALSE(store.waitForVersion("1", stop.get_token()));
  EXPECT_FALSE(store.waitForVersion("1", {}, realClock().now()));
}

TEST(StoreVersionTest, ATextThatIsNoVersionIsAnError) {
  Store<ConfigMap> store;
  EXPECT_THROW(store.waitForVersion(""), Error);
  EXPECT_THROW(store.waitForVersion("0"), Error);
  store.bookmark("abc");
  EXPECT_THROW(store.waitForVersion("1"), Error) << "such a store can never be compared";
}

TEST(StoreVersionTest, TheEndOfTheStoreEndsTheWait) {
  auto store = std::make_unique<Store<ConfigMap>>();
  TestLoop loop;
  Begun<bool> wait(store->async().waitForVersion("1"), loop.executor());
  store.reset();
  loop.runUntil([&] { return wait.over(); });
  EXPECT_THAT(errorOf<Error>([&] { wait.result(); }), HasSubstr("will not reach version 1"));
}

TEST(StoreVersionTest, AWaitIsGivenUpByDestroyingIt) {
  Store<ConfigMap> store;
  TestLoop loop;
  Begun<bool> wait(store.async().waitForVersion("1"), loop.executor());
  wait.destroy();
  store.bookmark("1");
}

struct InformerVersionTest : testing::ApiServerTest {
  SharedInformerFactory factory{clients};
  SharedInformer<ConfigMap> informer = factory.coreV1().configMaps();

  InformerVersionTest() { server.settle(); }
};

TEST_F(InformerVersionTest, ListsAndEventsAreCounted) {
  const String first = maps().create(map("a")).metadata.resourceVersion;
  factory.start();
  EXPECT_TRUE(informer.store().waitForVersion(first));
  EXPECT_TRUE(informer.store().contains({"default", "a"}));
  const String second = maps().create(map("b")).metadata.resourceVersion;
  EXPECT_TRUE(informer.store().waitForVersion(second));
  EXPECT_TRUE(informer.store().contains({"default", "b"}));
  const String last = informer.store().resourceVersion();
  maps().remove("b");
  EXPECT_FALSE(last.empty());
  EXPECT_TRUE(informer.store().waitForVersion(std::to_string(std::stoll(last.str()) + 1)));
  EXPECT_FALSE(informer.store().contains({"default", "b"}));
}

TEST_F(InformerVersionTest, AnInformerThatHasEndedIsAnError) {
  factory.start();
  factory.waitForSync();
  TestLoop loop;
  Begun<bool> wait(informer.store().async().waitForVersion("999999"), loop.executor());
  factory.shutdown();
  loop.runUntil([&] { return wait.over(); });
  EXPECT_THAT(errorOf<Error>([&] { wait.result(); }),
              HasSubstr("store of ConfigMap: it will not reach version 999999: its informer has "
                        "ended at version "));
  EXPECT_THROW(informer.store().waitForVersion("999999"), Error);
  EXPECT_TRUE(informer.store().waitForVersion("1"));
}

struct BookmarkTest : testing::ApiServerTest {
  BookmarkTest() : ApiServerTest({.bookmarkPeriod = 20ms}) {}
};

TEST_F(BookmarkTest, BookmarksAreCounted) {
  SharedInformerFactory factory(clients);
  const auto informer = factory.coreV1().configMaps();
  factory.start();
  factory.waitForSync();
  makeNamespace("other");  // another resource
  const String version = clients.coreV1().namespaces().get("other").metadata.resourceVersion;
  EXPECT_TRUE(informer.store().waitForVersion(version));
}

}  // namespace
}  // namespace kube
