// Handlers that are called on the thread where events arrive.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "kube/cache/shared_informer.h"
#include "kube/client/clientset.h"
#include "kube/client/core/v1.h"
#include "kube/testing/api_server.h"

namespace kube {
namespace {

using corev1::ConfigMap;
using ::testing::ElementsAre;

struct QuickHandlerTest : ::testing::Test {
  testing::ApiServer server;
  Clientset clients{server.config()};
  ResourceClient<ConfigMap> maps = clients.coreV1().configMaps("default");
  SharedInformer<ConfigMap> informer{ListWatch<ConfigMap>::fromClient(maps)};

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> names;
  std::vector<std::thread::id> threads;

  std::jthread runner;  // joined before the handlers' data is destroyed

  EventHandler<ConfigMap> recorder() {
    return {.onAdd = [this](auto object) {
      const std::lock_guard lock(mutex);
      names.push_back(object->metadata.name.str());
      threads.push_back(std::this_thread::get_id());
      changed.notify_all();
    }};
  }
  void create(const char* name) {
    ConfigMap map;
    map.metadata.name = name;
    maps.create(map);
  }
  void start() {
    runner = std::jthread([this](const std::stop_token& stop) { informer.run(stop); });
    ASSERT_TRUE(informer.waitForSync());
  }
  void waitFor(std::size_t count) {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, std::chrono::seconds(30), [&] { return names.size() >= count; });
  }
};

TEST_F(QuickHandlerTest, AreCalledOnTheInformersThread) {
  create("a");
  const auto registration = informer.addHandler(recorder(), {.quick = true});
  start();
  EXPECT_TRUE(registration.waitForSync());
  create("b");
  create("c");
  waitFor(3);
  EXPECT_THAT(names, ElementsAre("a", "b", "c"));
  EXPECT_EQ(threads.back(), runner.get_id());
}

TEST_F(QuickHandlerTest, ALateOneIsToldEverythingInOrder) {
  create("a");
  start();
  const auto registration = informer.addHandler(recorder(), {.quick = true});
  EXPECT_TRUE(registration.waitForSync());
  create("b");
  waitFor(2);
  EXPECT_THAT(names, ElementsAre("a", "b"));
  EXPECT_EQ(threads.back(), runner.get_id());
}

TEST_F(QuickHandlerTest, WhatTheyThrowHurtsNobody) {
  informer.addHandler({.onAdd = [](auto) { throw 1; }}, {.quick = true});
  informer.addHandler(recorder(), {.quick = true});
  start();
  create("a");
  create("b");
  waitFor(2);
  EXPECT_THAT(names, ElementsAre("a", "b"));
  EXPECT_EQ(informer.stats().handlerFailures, 2U);
}

TEST_F(QuickHandlerTest, MayRemoveThemselvesAndAddOthers) {
  std::optional<HandlerRegistration> registration;
  registration = informer.addHandler({.onAdd =
                                          [&](auto) {
                                            registration->remove();
                                            informer.addHandler(recorder(), {.quick = true});
                                          }},
                                     {.quick = true});
  start();
  create("a");
  waitFor(1);
  create("b");
  waitFor(2);
  EXPECT_THAT(names, ElementsAre("a", "b"));
}

}  // namespace
}  // namespace kube
