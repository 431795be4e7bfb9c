// Informers whose server fails in ways that a watch alone does not reveal.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "kube/cache/shared_informer.h"
#include "kube/client/core/v1.h"
#include "kube/testing/api_server.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using corev1::ConfigMap;

struct InformerFaultTest : ::testing::Test {
  testing::ApiServer server;
  ResourceClient<ConfigMap> maps = Clientset(impatient()).coreV1().configMaps("default");
  std::mutex mutex;
  std::condition_variable changed;
  std::set<String> names;  // as the handler saw them
  int errors = 0;
  std::unique_ptr<SharedInformer<ConfigMap>> informer;
  std::jthread runner;

  Config impatient() const {
    Config config = server.config();
    config.tweakTransport = [](TransportOptions& options) {
      options.pingAfter = 100ms;
      options.pingTimeout = 100ms;
    };
    return config;
  }
  void start(SharedInformerOptions options = {}) {
    options.backoff = {.initial = 5ms, .factor = 2, .cap = 100ms};
    start(ListWatch<ConfigMap>::fromClient(maps), std::move(options));
  }
  void start(ListWatch<ConfigMap> source, SharedInformerOptions options) {
    options.onError = [this](const std::exception&) {
      const std::lock_guard lock(mutex);
      ++errors;
      changed.notify_all();
    };
    informer = std::make_unique<SharedInformer<ConfigMap>>(std::move(source), std::move(options));
    informer->addHandler({.onAdd =
                              [this](const auto& object) {
                                const std::lock_guard lock(mutex);
                                names.insert(object->metadata.name);
                                changed.notify_all();
                              },
                          .onDelete =
                              [this](const auto& last) {
                                const std::lock_guard lock(mutex);
                                names.erase(last.key.name);
                                changed.notify_all();
                              }});
    runner = std::jthread([this](const std::stop_token& stop) { informer->run(stop); });
    informer->waitForSync();
  }
  // Creates an object over a connection of its own.
  void create(std::string_view name) const {
    ConfigMap map;
    map.metadata.name = name;
    Clientset(server.config()).coreV1().configMaps("default").create(map);
  }
  template <class Condition>
  bool wait(Condition condition) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, 30s, condition);
  }
  bool waitFor(std::string_view name) {
    return wait([&] { return names.contains(String(name)); });
  }
};

TEST_F(InformerFaultTest, ASilentServerIsNoticed) {
  start();
  create("before");
  EXPECT_TRUE(waitFor("before"));
  server.goSilent(true);
  EXPECT_TRUE(wait([&] { return errors != 0; }));
  server.goSilent(false);
  create("after");
  EXPECT_TRUE(waitFor("after"));
}

// A watch would be accepted, and receive nothing until the new history reaches the old version.
TEST_F(InformerFaultTest, AnotherHistoryIsNoticedByAWatchThatHasSeenSomething) {
  for (int i = 0; i < 20; ++i) create("old-" + std::to_string(i));
  start();
  create("before");
  EXPECT_TRUE(waitFor("before"));
  server.restart(true);
  create("after");
  EXPECT_TRUE(waitFor("after"));
  create("later");
  EXPECT_TRUE(waitFor("later"));
}

// With the default pauses: waiting for them would exceed the test's time limit.
TEST_F(InformerFaultTest, ConnectionsThatBreakCostNoTime) {
  start(ListWatch<ConfigMap>::fromClient(maps), {.backoff = {.initial = 1h}});
  create("first");
  EXPECT_TRUE(waitFor("first"));
  for (int i = 0; i < 8; ++i) {
    server.restart();
    create("after-" + std::to_string(i));
    EXPECT_TRUE(waitFor("after-" + std::to_string(i)));
  }
}

// A list in pages, from a server that no longer has the old version.
TEST_F(InformerFaultTest, AnExpiredVersionIsListedAnewInPages) {
  for (int i = 0; i < 5; ++i) create("old-" + std::to_string(i));
  start({.streamList = false, .pageSize = 2});
  server.inject({.verb = "watch", .times = 1, .status = 410});
  server.restart();
  create("after");
  EXPECT_TRUE(waitFor("after"));
  EXPECT_TRUE(wait([&] { return informer->stats().source.lists == 2; }));
  EXPECT_EQ(informer->stats().objects, 6U);
}

TEST_F(InformerFaultTest, WhetherAVersionWasReachedIsAskedOfTheServer) {
  for (const auto& client : {maps, maps.inNamespace("")}) {
    const auto reached = ListWatch<ConfigMap>::fromClient(client).reached;
    const auto at = [&](std::int64_t ahead) {
      return reached(String(std::to_string(server.revision() + ahead)), {});
    };
    EXPECT_TRUE(at(0));
    EXPECT_FALSE(at(1));
    const auto refusal = server.inject({.verb = "list", .status = 403});
    EXPECT_TRUE(at(1)) << "a client without the permission cannot tell";
    server.forget(refusal);
    server.inject({.verb = "list", .times = 1, .status = 503});
    EXPECT_THROW(at(1), ApiError);
    EXPECT_FALSE(at(1));
  }
}

}  // namespace
}  // namespace kube
