// Tests of controllers and managers that coroutines run, on the test's own thread.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "kube/base/internal/error_of_testing.h"
#include "kube/base/internal/finally.h"
#include "kube/base/internal/no_threads_testing.h"
#include "kube/base/internal/test_loop_testing.h"
#include "kube/cache/core/v1.h"
#include "kube/client/async_resource_client.h"
#include "kube/client/coordination/v1.h"
#include "kube/controller/manager.h"
#include "kube/controller/reconcile_log_testing.h"
#include "kube/testing/api_server_testing.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using corev1::ConfigMap;
using testing::Begun;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::Notes;
using testing::Running;
using testing::TestLoop;

class ManagerTaskTest : public testing::ApiServerTest {
 protected:
  ManagerTaskTest() { maps().create(map("a")); }

  ManagerOptions leading(std::string_view identity) {
    return {.leaderElection = {.name = "lock",
                               .identity = identity,
                               .releaseOnCancel = true,
                               .clock = &clock},
            .metrics = &metrics};
  }
  // Notes its beginning and its end.
  Task<> work(std::string name) {
    notes.add(name + " begins");
    const detail::Finally ended([this, name] { notes.add(name + " ends"); });
    co_await sleepUntil(Clock::noDeadline);
    throw CanceledError("asked to end");
  }
  auto working(const std::string& name) {
    return [this, name] { return work(name); };
  }
  Task<> reconcile(ObjectKey key) {
    EXPECT_EQ(std::this_thread::get_id(), self);
    const auto found = co_await maps().async().get(key.name);
    EXPECT_EQ(std::this_thread::get_id(), self);
    notes.add(found.metadata.name.str());
  }
  auto reconciling() {
    return [this](const ObjectKey& key) { return reconcile(key); };
  }
  void runUntilNoted(const std::string& line) {
    loop.runUntil([&] { return notes.count(line) > 0; });
  }
  std::optional<String> holder() const {
    const auto lease = clients.coordinationV1().leases("default").find("lock");
    if (!lease) return std::nullopt;
    return lease->spec.read().holderIdentity;
  }

  const std::thread::id self = std::this_thread::get_id();
  FakeClock clock;
  Metrics metrics;
  Notes notes;
  TestLoop loop;
  std::stop_source stop;
};

TEST_F(ManagerTaskTest, AControllerRunsOnTheLoop) {
  SharedInformerFactory factory(clients);
  Controller<ConfigMap> controller("maps", factory, {.metrics = &metrics});
  controller.inFlight(3).reconcile(reconciling());
  factory.start();
  {
    Begun<void> run(controller.async().run(), loop.executor(), stop.get_token());
    runUntilNoted("a");
    {
      const testing::NoThreads none;
      maps().create(map("b"));
      runUntilNoted("b");
    }
    const auto again = errorOf<Error>([&] { controller.run(stop.get_token()); });
    EXPECT_EQ(again, "controller \"maps\": is already running");
    stop.request_stop();
    loop.runUntil([&] { return run.over(); });
    run.result();
  }
  std::stop_source more;
  Begun<void> run(controller.async().run(), loop.executor(), more.get_token());
  loop.runUntil([&] { return notes.count("a") == 2; });
  run.destroy();
}

TEST_F(ManagerTaskTest, AReconcileThatBlocksHasThreads) {
  SharedInformerFactory factory(clients);
  Controller<ConfigMap> controller("maps", factory, {.metrics = &metrics});
  controller.workers(2)
      .beforeWork([&](const std::stop_token&) {
        EXPECT_NE(std::this_thread::get_id(), self);
        static_cast<void>(maps().list());
      })
      .reconcile([&](const ObjectKey& key) {
        EXPECT_NE(std::this_thread::get_id(), self);
        notes.add(maps().get(key.name).metadata.name.str());
      });
  factory.start();
  Begun<void> run(controller.async().run(), loop.executor(), stop.get_token());
  while (notes.count("a") == 0) {
    if (loop.queued() > 0) loop.runOne();
    std::this_thread::yield();
  }
  stop.request_stop();
  loop.runUntil([&] { return run.over(); });
  run.result();
}

TEST_F(ManagerTaskTest, BeforeWorkThatThrowsEndsTheRun) {
  SharedInformerFactory factory(clients);
  Controller<ConfigMap> controller("maps", factory, {.metrics = &metrics});
  controller.reconcile(reconciling()).beforeWork([](const std::stop_token&) {
    throw std::out_of_range("no");
  });
  factory.start();
  Begun<void> run(controller.async().run(), loop.executor(), stop.get_token());
  loop.runUntil([&] { return run.over(); });
  EXPECT_THROW(run.result(), std::out_of_range);
}

TEST_F(ManagerTaskTest, AManagerRunsOnTheLoop) {
  Manager manager(server.config(), leading("one"));
  manager.controller<ConfigMap>("maps").inFlight(3).reconcile(reconciling());
  manager.add("work", working("work"));
  manager.add("everywhere", working("everywhere"), RunsOn::Every);
  Begun<void> run(manager.async().run(), loop.executor(), stop.get_token());
  runUntilNoted("a");
  runUntilNoted("work begins");
  EXPECT_TRUE(manager.isLeader());
  EXPECT_EQ(holder(), "one");
  stop.request_stop();
  loop.runUntil([&] { return run.over(); });
  run.result();
  EXPECT_EQ(holder(), "");
  EXPECT_THAT(notes.lines(), Contains("work ends"));
  EXPECT_THAT(notes.lines(), Contains("everywhere ends"));
  Begun<void> again(manager.async().run(), loop.executor());
  EXPECT_TRUE(again.over());
  EXPECT_THROW(again.result(), Error);  // once
}

TEST_F(ManagerTaskTest, AFailureEndsEverything) {
  for (const RunsOn where : {RunsOn::Leader, RunsOn::Every}) {
    notes.clear();
    Manager manager(server.config(), leading("one"));
    manager.add("fine", working("fine"));
    const auto fail = [&]() -> Task<> {
      while (notes.count("fine begins") == 0) co_await sleepFor(1ms);
      throw std::out_of_range("enough");
    };
    manager.add("failing", fail, where);
    Begun<void> run(manager.async().run(), loop.executor(), stop.get_token());
    loop.runUntil([&] { return run.over(); });
    EXPECT_THROW(run.result(), std::out_of_range);
    EXPECT_THAT(notes.lines(), ElementsAre("fine begins", "fine ends"));
  }
}

TEST_F(ManagerTaskTest, ALostLeaseEndsTheWorkAndTheManager) {
  Manager manager(server.config(), leading("one"));
  manager.add("work", working("work"));
  Begun<void> run(manager.async().run(), loop.executor(), stop.get_token());
  // The next renewal, its deadline, and the watchdog.
  loop.runUntil([&] { return notes.count("work begins") > 0 && clock.waiters() == 3; });
  auto lease = clients.coordinationV1().leases("default").get("lock");
  lease.spec->holderIdentity = "other";
  clients.coordinationV1().leases("default").update(lease);
  clock.advance(2s);
  loop.runUntil([&] { return run.over(); });
  EXPECT_EQ(errorOf<Error>([&] { run.result(); }), "manager: the lease default/lock is lost");
  EXPECT_THAT(notes.lines(), ElementsAre("work begins", "work ends"));
  EXPECT_EQ(holder(), "other");
}

// A loop that is stuck does not renew the lease, and its work stops being the leader's in time.
TEST_F(ManagerTaskTest, ALoopThatIsStuckLosesTheLeaseInTime) {
  Manager manager(server.config(), leading("one"));
  manager.add("work", working("work"));
  Begun<void> run(manager.async().run(), loop.executor(), stop.get_token());
  loop.runUntil([&] { return notes.count("work begins") > 0 && clock.waiters() == 3; });
  EXPECT_TRUE(manager.isLeader());
  clock.advance(10s);  // nothing runs the loop
  EXPECT_FALSE(manager.isLeader());
  loop.runUntil([&] { return run.over(); });
  EXPECT_THROW(run.result(), Error);
}

TEST_F(ManagerTaskTest, WorkThatBlocksHasAThread) {
  Manager manager(server.config(), {.metrics = &metrics});
  manager.add("thread", [&](const std::stop_token& token) {
    EXPECT_NE(std::this_thread::get_id(), self);
    notes.add("thread begins");
    realClock().sleepUntil(Clock::noDeadline, token);
    notes.add("thread ends");
  });
  manager.add("coroutine", working("coroutine"));
  Begun<void> run(manager.async().run(), loop.executor(), stop.get_token());
  runUntilNoted("coroutine begins");
  notes.waitFor("thread begins");
  run.destroy();  // waits for the thread
  EXPECT_EQ(notes.count("thread ends"), 1);
  EXPECT_EQ(notes.count("coroutine ends"), 1);
}

TEST_F(ManagerTaskTest, CoroutinesHaveThreadsIfRunBlocks) {
  Manager manager(server.config(), leading("one"));
  manager.controller<ConfigMap>("maps").reconcile([this](const ObjectKey& key) -> Task<> {
    const auto found = co_await maps().async().get(key.name);
    notes.add(found.metadata.name.str());
  });
  manager.add("work", working("work"));
  Running running([&](const std::stop_token& token) { manager.run(token); });
  notes.waitFor("a");
  notes.waitFor("work begins");
  running.finish();
  EXPECT_EQ(notes.count("work ends"), 1);
  EXPECT_EQ(holder(), "");
}

// The task is stopped, or destroyed, after each number of steps.
class ManagerStepsTest : public ManagerTaskTest, public ::testing::WithParamInterface<int> {
 protected:
  void begin() {
    manager.emplace(server.config(), leading("one"));
    manager->controller<ConfigMap>("maps").inFlight(2).reconcile(reconciling());
    manager->add("work", working("work"));
    manager->add("thread", [&](const std::stop_token& token) {
      realClock().sleepUntil(Clock::noDeadline, token);
    });
    manager->add("everywhere", working("everywhere"), RunsOn::Every);
    run.emplace(manager->async().run(), loop.executor(), stop.get_token());
    for (int i = 0; i < GetParam() && !atWork(); ++i) loop.runOne();
  }
  bool atWork() const { return notes.count("a") > 0 && notes.count("work begins") > 0; }
  void expectBalance() const {
    for (const char* name : {"work", "everywhere"}) {
      EXPECT_EQ(notes.count(std::string(name) + " begins"),
                notes.count(std::string(name) + " ends"));
    }
  }

  std::optional<Manager> manager;
  std::optional<Begun<void>> run;
};

TEST_P(ManagerStepsTest, AStopEndsItInOrder) {
  begin();
  stop.request_stop();
  loop.runUntil([&] { return run->over(); });
  run->result();
  expectBalance();
}

TEST_P(ManagerStepsTest, DestroyingItEndsIt) {
  begin();
  run.reset();
  expectBalance();
  manager.reset();
  loop.runAll();
}

INSTANTIATE_TEST_SUITE_P(Steps, ManagerStepsTest, ::testing::Range(0, 40, 3));

}  // namespace
}  // namespace kube
