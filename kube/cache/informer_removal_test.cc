// Informers that end while their factory goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <iterator>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "kube/cache/core/v1.h"
#include "kube/cache/internal/seen_testing.h"
#include "kube/cache/resource_informer_factory.h"
#include "kube/cache/shared_informer_factory.h"
#include "kube/testing/api_server_testing.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using corev1::ConfigMap;
using testing::eventually;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Seen;
using testing::WatchFault;

class InformerRemovalTest : public testing::ApiServerTest {
 protected:
  InformerRemovalTest() { maps().create(map("a")); }
  // Returns whether the factory has forgotten the informers of ConfigMaps: their handlers have
  // returned.
  bool gone() {
    return eventually([&] { return factory.describe().find("configmaps") == std::string::npos; });
  }
  std::size_t watches() { return server.failWatches(WatchFault::Silence, "configmaps"); }

  SharedInformerFactory factory{clients};
  Seen seen;
};

TEST_F(InformerRemovalTest, EndsTheWatchAndFreesTheObjects) {
  std::optional informer = factory.coreV1().configMaps();
  const auto secrets = factory.coreV1().secrets();
  informer->addHandler(seen.handler());
  factory.start();
  ASSERT_TRUE(factory.waitForSync());
  std::weak_ptr<const ConfigMap> object = informer->store().list()[0];
  ASSERT_TRUE(seen.waitUntil([&] { return seen.added == 1; }));
  factory.remove(*informer);
  EXPECT_TRUE(informer->isStopped());
  EXPECT_FALSE(secrets.isStopped());
  EXPECT_THAT(factory.describe(), Not(HasSubstr("configmaps")));
  EXPECT_TRUE(eventually([&] { return watches() == 0; }));
  EXPECT_EQ(informer->store().size(), 1U) << "handles read the last state";
  factory.remove(*informer);  // once more
  informer.reset();
  EXPECT_TRUE(eventually([&] { return object.expired(); }));
}

TEST_F(InformerRemovalTest, ARemovedInformerMayBeRequestedAgain) {
  const auto before = factory.coreV1().configMaps();
  factory.start();
  ASSERT_TRUE(factory.waitForSync());
  factory.remove(before);
  const auto after = factory.coreV1().configMaps();
  EXPECT_NE(&before.store(), &after.store());
  after.addHandler(seen.handler());
  factory.start();
  EXPECT_TRUE(factory.waitForSync());
  EXPECT_TRUE(seen.waitUntil([&] { return seen.added == 1; }));
}

TEST_F(InformerRemovalTest, BeforeItHasStarted) {
  const auto informer = factory.coreV1().configMaps();
  factory.remove(informer);
  factory.start();
  EXPECT_TRUE(factory.waitForSync());
  EXPECT_TRUE(informer.isStopped());
  EXPECT_FALSE(informer.waitForSync());
}

TEST_F(InformerRemovalTest, WaitsForHandlers) {
  const auto informer = factory.coreV1().configMaps();
  std::latch begun(1), mayEnd(1);
  std::atomic<bool> returned = false;
  informer.addHandler({.onAdd = [&](auto) {
    begun.count_down();
    mayEnd.wait();
    returned = true;
  }});
  factory.start();
  begun.wait();
  std::jthread remover([&] {
    factory.remove(informer);
    EXPECT_TRUE(returned);
  });
  EXPECT_TRUE(eventually([&] { return informer.isStopped(); }));
  // The factory waits for it, too.
  std::jthread ender([&] {
    factory.shutdown();
    EXPECT_TRUE(returned);
  });
  mayEnd.count_down();
}

TEST_F(InformerRemovalTest, ByAHandlerOfItsOwnOrAQuickOneOfAnother) {
  for (const bool quick : {false, true}) {
    const auto informer = factory.coreV1().configMaps();
    std::atomic<bool> removed = false;
    informer.addHandler({.onAdd =
                             [&](auto) {
                               factory.remove(informer);
                               removed = true;
                             }},
                        {.quick = quick});
    factory.start();
    EXPECT_TRUE(eventually([&] { return removed.load(); }));
    EXPECT_TRUE(gone());
    EXPECT_TRUE(informer.isStopped());
  }
  const auto informer = factory.coreV1().configMaps();
  std::latch begun(1), mayEnd(1);
  std::atomic<bool> called = false;
  informer.addHandler({.onAdd = [&](auto) {
    begun.count_down();
    mayEnd.wait();
  }});
  factory.start();
  begun.wait();
  factory.coreV1().namespaces().addHandler({.onAdd =
                                                [&](auto) {
                                                  factory.remove(informer);
                                                  called = true;
                                                }},
                                           {.quick = true});
  factory.start();
  EXPECT_TRUE(eventually([&] { return called.load(); }));
  mayEnd.count_down();
  EXPECT_TRUE(gone());
}

TEST_F(InformerRemovalTest, OfASourceOfOnesOwnJoinsItsThread) {
  const auto make = [&] {
    return SharedInformer<ConfigMap>(ListWatch<ConfigMap>::fromClient(maps()));
  };
  const auto one = factory.informerFor<ConfigMap>(make);
  factory.start();
  ASSERT_TRUE(factory.waitForSync());
  factory.remove(one);
  EXPECT_TRUE(one.isStopped());
  const auto two = factory.informerFor<ConfigMap>(make);
  std::atomic<bool> removed = false;
  two.addHandler({.onAdd =
                      [&](auto) {
                        factory.remove(two);
                        removed = true;
                      }},
                 {.quick = true});  // on that very thread
  factory.start();
  EXPECT_TRUE(eventually([&] { return removed.load(); }));
  EXPECT_TRUE(gone());
}

TEST_F(InformerRemovalTest, EndsTheWaitForItAlone) {
  server.inject({.resource = "secrets", .delay = 10ms, .status = 503});
  const auto informer = factory.coreV1().configMaps();
  const auto secrets = factory.coreV1().secrets();
  factory.start();
  auto waits = std::async(std::launch::async, [&] { return factory.waitForSync(); });
  EXPECT_TRUE(eventually([&] { return secrets.stats().source.errors > 0; }));
  factory.remove(secrets);
  EXPECT_TRUE(waits.get());
  EXPECT_FALSE(secrets.waitForSync());
}

TEST_F(InformerRemovalTest, TheLastUserEndsAnInformer) {
  auto one = factory.use<ConfigMap>({.labelSelector = "!tier"});
  auto two = factory.use<ConfigMap>({.labelSelector = "!tier"});
  const SharedInformer<ConfigMap> informer = *one;
  EXPECT_EQ(&informer.store(), &two->store());
  factory.start();
  ASSERT_TRUE(factory.waitForSync());
  one.release();
  EXPECT_FALSE(informer.isStopped());
  two = factory.use<ConfigMap>();  // of another selection
  EXPECT_TRUE(informer.isStopped());
  factory.start();
  ASSERT_TRUE(factory.waitForSync());
  EXPECT_EQ(two->store().size(), 1U);
  // One that is also requested without being counted stays.
  const auto kept = factory.coreV1().configMaps();
  EXPECT_EQ(&kept.store(), &two->store());
  two.release();
  EXPECT_FALSE(kept.isStopped());
}

TEST_F(InformerRemovalTest, AUserMayOutliveTheFactory) {
  auto own = std::make_unique<SharedInformerFactory>(clients);
  auto user = own->use<ConfigMap>();
  const auto dynamic = own->use({"", "v1", "configmaps"});
  MetadataInformerFactory names{MetadataClient(clients.rest())};
  const auto name = names.use({"", "v1", "configmaps"});
  own->start();
  ASSERT_TRUE(own->waitForSync());
  own.reset();
  EXPECT_TRUE(user->isStopped());
  EXPECT_EQ(user->store().size(), 1U);
}

TEST_F(InformerRemovalTest, WhileTheFactoryStartsAndEnds) {
  for (int i = 0; i < 10; ++i) {
    auto own = std::make_unique<SharedInformerFactory>(clients);
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&, t](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          try {
            const auto user = own->use<ConfigMap>();
            user->addHandler(EventHandler<ConfigMap>{.onAdd = [](auto) {}}, {.quick = t == 0});
            own->start();
            user->waitForSync();
            if (t == 1) own->remove(*user);
          } catch (const Error& error) {  // another thread has removed it, or shut the factory down
            EXPECT_THAT(error.what(),
                        ::testing::AnyOf(HasSubstr("has stopped"), HasSubstr("nothing runs it")));
          }
        }
      });
    }
    EXPECT_TRUE(
        eventually([&] { return server.stats().requests > 100U * static_cast<unsigned>(i); }));
    if (i % 2 == 0) own->shutdown();
    threads.clear();
    own.reset();
  }
}

// Threads and descriptors of this process.
std::pair<std::ptrdiff_t, std::ptrdiff_t> resources() {
  const auto count = [](const char* folder) {
    return std::distance(std::filesystem::directory_iterator(folder), {});
  };
  return {count("/proc/self/task"), count("/proc/self/fd")};
}

TEST_F(InformerRemovalTest, GivesThreadsAndDescriptorsBack) {
  const auto round = [&] {
    const auto informer = factory.informerFor<ConfigMap>(
        [&] { return SharedInformer<ConfigMap>(ListWatch<ConfigMap>::fromClient(maps())); });
    factory.start();
    EXPECT_TRUE(factory.waitForSync());
    factory.remove(informer);
  };
  round();
  const auto before = resources();
  for (int i = 0; i < 30; ++i) round();
  EXPECT_TRUE(eventually([&] {
    const auto now = resources();
    return now.first <= before.first + 1 && now.second <= before.second + 1;
  }));
}

}  // namespace
}  // namespace kube
