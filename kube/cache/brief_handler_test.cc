// Handlers without options: called between the turns of the informers' loop while they are brief,
// and never in the way of others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "kube/base/internal/finally.h"
#include "kube/cache/core/v1.h"
#include "kube/cache/shared_informer_factory.h"
#include "kube/client/clientset.h"
#include "kube/client/core/v1.h"
#include "kube/testing/api_server.h"

namespace kube {
namespace {

using corev1::ConfigMap;
using corev1::Secret;

class BriefHandlerTest : public ::testing::Test {
 protected:
  void createMap(const char* name) {
    ConfigMap map;
    map.metadata.name = name;
    clients.coreV1().configMaps("default").create(map);
  }
  void createSecret(const char* name) {
    Secret secret;
    secret.metadata.name = name;
    clients.coreV1().secrets("default").create(secret);
  }
  /// A handler that blocks until `release` is set.
  EventHandler<ConfigMap> blocker() {
    return {.onAdd = [this](const auto&) {
      blocked.release();
      released.wait();
    }};
  }
  /// Notes the call of a handler, and the thread.
  void note(const String& name) {
    const std::lock_guard lock(mutex);
    names.push_back(name.str());
    threads.push_back(std::this_thread::get_id());
    changed.notify_all();
  }
  void waitFor(std::size_t count) {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(
        changed.wait_for(lock, std::chrono::seconds(30), [&] { return names.size() >= count; }));
  }

  testing::ApiServer server;
  Clientset clients{server.config()};

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> names;
  std::vector<std::thread::id> threads;
  std::thread::id loop;

  std::promise<void> release;
  std::shared_future<void> released{release.get_future()};
  std::counting_semaphore<> blocked{0};

  // Ends before the handlers' data is destroyed.
  std::unique_ptr<SharedInformerFactory> other = std::make_unique<SharedInformerFactory>(clients);
  std::unique_ptr<SharedInformerFactory> factory = std::make_unique<SharedInformerFactory>(clients);
};

TEST_F(BriefHandlerTest, AreCalledWhereEventsArrive) {
  factory->coreV1().configMaps().addHandler(
      {.onAdd = [&](const auto& map) { note(map->metadata.name); }});
  factory->coreV1().configMaps().addHandler(
      {.onAdd = [&](const auto&) { loop = std::this_thread::get_id(); }}, {.quick = true});
  factory->start();
  ASSERT_TRUE(factory->waitForSync());
  for (int i = 0; i < 3; ++i) {
    createMap(("map-" + std::to_string(i)).c_str());
    waitFor(static_cast<std::size_t>(i) + 1);
  }
  factory->shutdown();
  EXPECT_EQ(names.size(), 3U);
  EXPECT_THAT(threads, ::testing::Contains(loop));
}

TEST_F(BriefHandlerTest, OneThatBlocksDelaysNoOther) {
  factory->coreV1().configMaps().addHandler(blocker());
  factory->coreV1().secrets().addHandler(
      {.onAdd = [&](const auto& secret) { note(secret->metadata.name); }});
  factory->start();
  ASSERT_TRUE(factory->waitForSync());
  const detail::Finally always([&] { release.set_value(); });
  createMap("a");
  blocked.acquire();
  createSecret("b");
  waitFor(1);
  createSecret("c");
  waitFor(2);
  EXPECT_EQ(names, (std::vector<std::string>{"b", "c"}));
}

TEST_F(BriefHandlerTest, SeveralThatBlockDelayNoOther) {
  for (int i = 0; i < 3; ++i) factory->coreV1().configMaps().addHandler(blocker());
  factory->coreV1().secrets().addHandler(
      {.onAdd = [&](const auto& secret) { note(secret->metadata.name); }});
  factory->start();
  ASSERT_TRUE(factory->waitForSync());
  const detail::Finally always([&] { release.set_value(); });
  createMap("a");
  createSecret("b");
  waitFor(1);
  for (int i = 0; i < 3; ++i) blocked.acquire();
}

TEST_F(BriefHandlerTest, MayCallTheServer) {
  factory->coreV1().configMaps().addHandler({.onAdd = [&](const auto& map) {
    const auto maps = clients.coreV1().configMaps("default");
    note(maps.get(map->metadata.name.str()).metadata.name);
  }});
  factory->start();
  ASSERT_TRUE(factory->waitForSync());
  for (int i = 0; i < 40; ++i) createMap(("map-" + std::to_string(i)).c_str());
  waitFor(40);
}

TEST_F(BriefHandlerTest, OneThatTookLongIsCalledElsewhere) {
  factory->coreV1().configMaps().addHandler(
      {.onAdd = [&](const auto&) { loop = std::this_thread::get_id(); }}, {.quick = true});
  factory->coreV1().configMaps().addHandler({.onAdd = [&](const auto& map) {
    if (map->metadata.name == "long") {
      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
      while (std::chrono::steady_clock::now() < end) std::this_thread::yield();
    }
    note(map->metadata.name);
  }});
  factory->start();
  ASSERT_TRUE(factory->waitForSync());
  createMap("long");
  waitFor(1);
  createMap("brief");
  waitFor(2);
  factory->shutdown();
  EXPECT_NE(threads[1], loop);
}

TEST_F(BriefHandlerTest, MayDestroyTheFactory) {
  const auto done = std::make_shared<std::promise<void>>();
  factory->coreV1().configMaps().addHandler({.onAdd = [this, done](const auto&) {
    factory.reset();
    done->set_value();
  }});
  factory->start();
  ASSERT_TRUE(factory->waitForSync());
  createMap("a");
  ASSERT_EQ(done->get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
}

// Two factories share the loop of their transport.
TEST_F(BriefHandlerTest, MayShutDownAnotherFactory) {
  other->coreV1().secrets();
  other->start();
  ASSERT_TRUE(other->waitForSync());
  factory->coreV1().configMaps().addHandler({.onAdd = [&](const auto& map) {
    other->shutdown();
    note(map->metadata.name);
  }});
  factory->start();
  ASSERT_TRUE(factory->waitForSync());
  createMap("a");
  waitFor(1);
}

}  // namespace
}  // namespace kube
