// Tests of controllers whose reconcile function is a coroutine.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include "kube/base/internal/error_of_testing.h"
#include "kube/base/internal/finally.h"
#include "kube/base/internal/logged_testing.h"
#include "kube/base/internal/no_threads_testing.h"
#include "kube/base/internal/test_loop_testing.h"
#include "kube/cache/core/v1.h"
#include "kube/client/async_resource_client.h"
#include "kube/controller/controller.h"
#include "kube/controller/reconcile_log_testing.h"
#include "kube/testing/api_server_testing.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using corev1::ConfigMap;
using ::testing::HasSubstr;
using testing::Logged;
using testing::Notes;
using testing::Running;

class ControllerTaskTest : public testing::ApiServerTest {
 protected:
  ControllerTaskTest() { makeNamespace("book"); }
  ~ControllerTaskTest() override { factory.shutdown(); }

  std::unique_ptr<Running> start(detail::ControllerBase& controller) {
    factory.start();
    return std::make_unique<Running>(
        [&controller](const std::stop_token& stop) { controller.run(stop); });
  }
  // Waits until the controller works, and so accepts keys.
  void waitUntilAtWork(Controller<ConfigMap>& controller) {
    maps("book").create(map("first"));
    notes.waitFor("begins book/first");
    static_cast<void>(controller);
  }
  static ObjectKey key(int i) { return {"book", "key-" + std::to_string(i)}; }

  // Works for a second of the clock.
  Task<Requeue> work(ObjectKey key) {
    notes.add("begins " + key.str());
    const bool full = co_await sleepFor(1s, clock);
    notes.add((full ? "ends " : "stops ") + key.str());
    co_return {};
  }
  auto working() {
    return [this](const ObjectKey& key) { return work(key); };
  }

  FakeClock clock;
  Metrics metrics;
  Notes notes;
  SharedInformerFactory factory{clients};
  Controller<ConfigMap> controller{"maps", factory, {.clock = &clock, .metrics = &metrics}};
};

TEST_F(ControllerTaskTest, AThousandKeysAreInFlightOnTwoThreads) {
  constexpr int kKeys = 1000;
  std::mutex threadsMutex;
  std::set<std::thread::id> threads;
  const auto noteThread = [&] {
    const std::lock_guard lock(threadsMutex);
    threads.insert(std::this_thread::get_id());
  };
  std::atomic<int> ended = 0;
  controller.workers(2).inFlight(kKeys).reconcile([&](ObjectKey key) -> Task<Requeue> {
    notes.add("begins " + key.str());
    noteThread();
    co_await sleepFor(1s, clock);
    noteThread();
    ++ended;
    ended.notify_all();
    co_return {};
  });
  const auto running = start(controller);
  waitUntilAtWork(controller);
  for (int i = 1; i < kKeys; ++i) controller.enqueue(key(i));
  clock.waitForWaiters(kKeys);
  EXPECT_THAT(metrics.text(), HasSubstr("active_workers{controller=\"maps\"} 1000\n"));
  EXPECT_THAT(metrics.text(), HasSubstr("max_concurrent_reconciles{controller=\"maps\"} 1000\n"));
  clock.advance(1s);
  for (int now; (now = ended.load()) < kKeys;) ended.wait(now);
  running->finish();
  EXPECT_LE(threads.size(), 2U);
  EXPECT_THAT(metrics.text(), HasSubstr("active_workers{controller=\"maps\"} 0\n"));
  EXPECT_THAT(metrics.text(),
              HasSubstr("reconcile_total{controller=\"maps\",result=\"success\"} 1000\n"));
}

TEST_F(ControllerTaskTest, WithoutInFlightAsManyKeysAsThreads) {
  controller.workers(2).reconcile(working());
  const auto running = start(controller);
  waitUntilAtWork(controller);
  controller.enqueue(key(1));
  controller.enqueue(key(2));
  notes.waitFor("begins book/key-1");
  EXPECT_EQ(notes.count("begins book/key-2"), 0);
  clock.waitForWaiters(2);
  clock.advance(1s);
  notes.waitFor("begins book/key-2");
}

TEST_F(ControllerTaskTest, NoKeyIsReconciledTwiceAtATime) {
  std::array<std::atomic<int>, 10> busy{};
  std::atomic<int> done = 0;
  std::atomic<bool> twice = false;
  controller.workers(3).inFlight(50).reconcile([&](ObjectKey key) -> Task<Requeue> {
    notes.add("begins " + key.str());
    if (key.name == "first") co_return {};
    auto& mine = busy[static_cast<std::size_t>(std::stoi(key.name.str().substr(4)))];
    if (mine.fetch_add(1) != 0) twice = true;
    co_await sleepFor(std::chrono::microseconds(100));
    mine.fetch_sub(1);
    ++done;
    if (done % 7 == 0) throw std::runtime_error("no luck");
    co_return done % 3 == 0 ? Requeue::now() : Requeue();
  });
  const auto running = start(controller);
  waitUntilAtWork(controller);
  for (int i = 0; done < 500; ++i) {
    controller.enqueue(key(i % 10));
    if (i % 100 == 0) clock.advance(10ms);
    std::this_thread::yield();
  }
  running->finish();
  EXPECT_FALSE(twice);
}

TEST_F(ControllerTaskTest, AnExceptionIsRetriedAndCounted) {
  const Logged logged;
  std::atomic<int> tries = 0;
  controller.reconcile([&](ObjectKey key) -> Task<Requeue> {
    co_await sleepFor(0s, clock);
    notes.add("try " + std::to_string(++tries));
    if (tries < 3) throw std::runtime_error("no luck");
    if (tries == 3) throw 3;
    notes.add("done " + key.str());
    co_return {};
  });
  const auto running = start(controller);
  maps("book").create(map("a"));
  notes.waitFor("try 1");
  clock.waitForWaiters(1);
  clock.advance(5ms);
  notes.waitFor("try 2");
  clock.waitForWaiters(1);
  clock.advance(10ms);
  notes.waitFor("try 3");
  clock.waitForWaiters(1);
  clock.advance(20ms);
  notes.waitFor("done book/a");
  running->finish();
  EXPECT_THAT(logged.text(), HasSubstr("reconciling failed and will be retried: no luck"));
  EXPECT_THAT(metrics.text(), HasSubstr("reconcile_errors_total{controller=\"maps\"} 3\n"));
  EXPECT_THAT(metrics.text(), HasSubstr("reconcile_panics_total{controller=\"maps\"} 1\n"));
}

TEST_F(ControllerTaskTest, AStopReachesTheTasksAndRunWaitsForThem) {
  std::atomic<bool> mayEnd = false;
  controller.workers(1).inFlight(2).reconcile([&](ObjectKey key, std::stop_token stop) -> Task<> {
    notes.add("begins " + key.str());
    co_await sleepFor(1h, clock);
    EXPECT_TRUE(stop.stop_requested());
    notes.add("asked to stop " + key.str());
    while (!mayEnd) std::this_thread::yield();
    throw CanceledError("stopped");
  });
  const auto running = start(controller);
  waitUntilAtWork(controller);
  running->requestStop();
  notes.waitFor("asked to stop book/first");
  EXPECT_FALSE(running->ended());
  mayEnd = true;
  running->finish();
  EXPECT_THAT(metrics.text(), HasSubstr("reconcile_errors_total{controller=\"maps\"} 0\n"));
}

TEST_F(ControllerTaskTest, TheLogNamesTheKeysThatAStopWaitsFor) {
  const Logged logged;
  FakeClock theirs;  // which the stop does not reach
  controller.inFlight(30).reconcile([&](ObjectKey key) -> Task<> {
    notes.add("begins " + key.str());
    detail::TaskContext deaf = co_await detail::CurrentContext();
    deaf.stop = {};
    Task<bool> sleep = sleepFor(1s, theirs);
    co_await detail::TaskAccess::inContext(sleep, deaf);
  });
  const auto running = start(controller);
  waitUntilAtWork(controller);
  for (int i = 1; i < 30; ++i) controller.enqueue(key(i));
  theirs.waitForWaiters(30);
  running->requestStop();
  clock.waitForWaiters(1);
  clock.advance(5s);
  EXPECT_THAT(logged.text(), HasSubstr("stopping: waiting for reconcile to return, which has been "
                                       "busy for 5 s"));
  EXPECT_THAT(logged.text(), HasSubstr("object=book/first"));
  EXPECT_THAT(logged.text(), HasSubstr("stopping: waiting for 10 more objects"));
  EXPECT_FALSE(running->ended());
  theirs.advance(1s);
  running->finish();
}

TEST_F(ControllerTaskTest, TasksRunOnTheProgramsExecutor) {
  testing::TestLoop loop;
  std::atomic<std::thread::id> ran;
  controller.inFlight(10).executor(loop.executor()).reconcile([&](ObjectKey key) -> Task<> {
    notes.add("begins " + key.str());
    co_await sleepFor(1s, clock);
    ran = std::this_thread::get_id();
  });
  const auto running = start(controller);
  maps("book").create(map("first"));
  loop.runUntil([&] { return notes.count("begins book/first") == 1 && clock.waiters() == 1; });
  clock.advance(1s);
  loop.runUntil([&] { return ran.load() == std::this_thread::get_id(); });
  running->requestStop();
  while (!running->ended()) {
    loop.runAll();
    std::this_thread::yield();
  }
}

TEST_F(ControllerTaskTest, ReconcileMayCallTheServer) {
  maps("book").create(map("a"));
  const auto async = maps("book").async();
  controller.inFlight(4).reconcile([&](ObjectKey key) -> Task<Requeue> {
    ConfigMap object = co_await async.get(key.name);
    if (object.data["seen"] == "yes") co_return {};
    object.data["seen"] = "yes";
    co_await async.update(object);
    notes.add(key);
    co_return Requeue::after(1h);
  });
  const auto running = start(controller);
  notes.waitFor("book/a");
  EXPECT_EQ(maps("book").get("a").data["seen"], "yes");
}

TEST_F(ControllerTaskTest, OptionsForCoroutinesNeedOne) {
  controller.inFlight(2).reconcile([](const ObjectKey&) {});
  EXPECT_THAT(errorOf<Error>([&] { controller.run({}); }),
              HasSubstr("controller \"maps\": inFlight() needs a reconcile function that is a "
                        "coroutine"));
  EXPECT_THAT(errorOf<Error>([&] { controller.inFlight(0); }), HasSubstr("at least one key"));
  Controller<ConfigMap> other("others", factory, {.metrics = &metrics});
  testing::TestLoop loop;
  other.executor(loop.executor()).reconcile([](const ObjectKey&) {});
  EXPECT_THAT(errorOf<Error>([&] { other.run({}); }), HasSubstr("executor() needs"));
}

TEST_F(ControllerTaskTest, WithoutThreadsRunThrows) {
  controller.workers(2).inFlight(10).reconcile(working());
  factory.start();
  factory.waitForSync();
  const testing::NoThreads none;
  EXPECT_THAT(errorOf<Error>([&] { controller.run({}); }), HasSubstr("controller \"maps\""));
}

TEST_F(ControllerTaskTest, RunsOfManyKeysEndAtAnyTime) {
  std::mt19937 random(1);
  factory.start();
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> busy = 0;
    Controller<ConfigMap> stressed("stressed", factory, {.metrics = &metrics});
    stressed.workers(1 + static_cast<int>(random() % 3))
        .inFlight(1 + static_cast<int>(random() % 100))
        .reconcile([&](ObjectKey key) -> Task<Requeue> {
          ++busy;
          const detail::Finally ended([&] { --busy; });
          notes.add("round " + std::to_string(round));
          const auto i = std::stoi(key.name.str().substr(4));
          if (i % 3 != 0) co_await sleepFor(std::chrono::microseconds(i * 10));
          if (i % 5 == 0) throw std::runtime_error("no luck");
          co_return i % 7 == 0 ? Requeue::after(std::chrono::microseconds(i)) : Requeue();
        });
    const auto running = start(stressed);
    const unsigned adds = 50 + random() % 500;
    maps("book").create(map("key-" + std::to_string(round)));
    notes.waitFor("round " + std::to_string(round));
    for (unsigned i = 0; i < adds; ++i) {
      stressed.enqueue(key(static_cast<int>(random() % 60)));
      if (random() % 16 == 0) std::this_thread::yield();
    }
    running->finish();
    EXPECT_EQ(busy, 0);
  }
}

}  // namespace
}  // namespace kube
