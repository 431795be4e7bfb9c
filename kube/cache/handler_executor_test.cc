// Handlers that are called by an executor of the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "kube/base/internal/error_of_testing.h"
#include "kube/base/internal/test_loop_testing.h"
#include "kube/cache/core/v1.h"
#include "kube/cache/shared_informer_factory.h"
#include "kube/client/core/v1.h"
#include "kube/testing/api_server.h"

namespace kube {
namespace {

using corev1::ConfigMap;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TestLoop;

struct HandlerExecutorTest : ::testing::Test {
  void create(const std::string& name) {
    ConfigMap map;
    map.metadata.name = name;
    maps.create(map);
  }
  // Belongs to the thread that runs the loop.
  EventHandler<ConfigMap> recorder() {
    return {.onAdd =
                [this](const auto& object) {
                  names.push_back(object->metadata.name.str());
                  EXPECT_EQ(std::this_thread::get_id(), owner);
                },
            .onDelete =
                [this](const DeletedObject<ConfigMap>& last) {
                  names.push_back("-" + keyOf(*last).name.str());
                }};
  }

  const std::thread::id owner = std::this_thread::get_id();
  std::vector<std::string> names;
  testing::ApiServer server;
  Clientset clients{server.config()};
  ResourceClient<ConfigMap> maps = clients.coreV1().configMaps("default");
  TestLoop loop;
  SharedInformerFactory factory{clients, {.namespace_ = "default"}};
  SharedInformer<ConfigMap> informer = factory.coreV1().configMaps();
};

TEST_F(HandlerExecutorTest, AreCalledWhereTheProgramSays) {
  create("a");
  const auto registration = informer.addHandler(recorder(), {.executor = loop.executor()});
  factory.start();
  factory.waitForSync();
  EXPECT_THAT(names, IsEmpty());
  EXPECT_FALSE(registration.hasSynced());
  loop.runUntil([&] { return names.size() == 1; });
  EXPECT_TRUE(registration.hasSynced());
  create("b");
  create("c");
  maps.remove("a");
  loop.runUntil([&] { return names.size() == 4; });
  EXPECT_THAT(names, ElementsAre("a", "b", "c", "-a"));
}

TEST_F(HandlerExecutorTest, ALoopHasOnePieceOfWorkForManyNotifications) {
  constexpr int kObjects = 200;
  for (int i = 0; i < kObjects; ++i) create("object-" + std::to_string(i));
  const auto registration = informer.addHandler(recorder(), {.executor = loop.executor()});
  factory.start();
  factory.waitForSync();
  int turns = 0;
  while (names.size() < kObjects) {
    EXPECT_LE(loop.queued(), 1u);
    const std::size_t before = names.size();
    loop.runOne();
    ++turns;
    EXPECT_LE(names.size() - before, 64u);  // the loop has other work, too
  }
  EXPECT_LT(turns, 20);
}

TEST_F(HandlerExecutorTest, AnInformerEndsThoughTheLoopDoesNotRun) {
  create("a");
  const auto registration = informer.addHandler(recorder(), {.executor = loop.executor()});
  factory.start();
  factory.waitForSync();
  factory.shutdown();
  loop.runAll();
  EXPECT_THAT(names, IsEmpty());
}

TEST_F(HandlerExecutorTest, AHandlerIsRemovedThoughTheLoopDoesNotRun) {
  create("a");
  auto registration = informer.addHandler(recorder(), {.executor = loop.executor()});
  factory.start();
  factory.waitForSync();
  registration.remove();
  create("b");
  loop.runAll();
  EXPECT_THAT(names, IsEmpty());
}

TEST_F(HandlerExecutorTest, TheLoopMayEndWhenTheFactoryHasEnded) {
  create("a");
  {
    TestLoop shortLived;
    SharedInformerFactory other(clients, {.namespace_ = "default"});
    other.coreV1().configMaps().addHandler(recorder(), {.executor = shortLived.executor()});
    other.start();
    other.waitForSync();
    while (shortLived.queued() == 0) std::this_thread::yield();
    other.shutdown();
  }
  EXPECT_THAT(names, IsEmpty());
}

TEST_F(HandlerExecutorTest, WorkThatIsRefusedIsTriedWithTheNextNotification) {
  std::mutex mutex;
  std::condition_variable changed;
  int refused = 0;
  const Executor picky([&](Executor::Work work) {
    {
      const std::lock_guard lock(mutex);
      if (refused == 0) {
        ++refused;
        changed.notify_all();
        throw Error("not now");
      }
    }
    loop.executor().post(std::move(work));
  });
  const auto registration = informer.addHandler(recorder(), {.executor = picky});
  factory.start();
  factory.waitForSync();
  create("a");
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return refused == 1; });
  }
  create("b");
  loop.runUntil([&] { return names.size() == 2; });
  EXPECT_THAT(names, ElementsAre("a", "b"));
}

TEST_F(HandlerExecutorTest, AQuickHandlerHasNone) {
  EXPECT_THAT(errorOf<Error>([&] {
                informer.addHandler(recorder(), {.quick = true, .executor = loop.executor()});
              }),
              HasSubstr("choose one of the two"));
}

}  // namespace
}  // namespace kube
