#include "kube/controller/manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "kube/base/internal/error_of_testing.h"
#include "kube/base/internal/logged_testing.h"
#include "kube/cache/core/v1.h"
#include "kube/client/coordination/v1.h"
#include "kube/controller/reconcile_log_testing.h"
#include "kube/testing/api_server_testing.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using corev1::ConfigMap;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Notes;
using testing::Running;

class ManagerTest : public testing::ApiServerTest {
 protected:
  // Options for an election, with this identity.
  ManagerOptions leading(std::string_view identity) {
    return {.leaderElection = {.name = "lock", .identity = identity, .releaseOnCancel = true},
            .metrics = &metrics};
  }
  ManagerOptions serving() { return {.http = HttpServerOptions{}, .metrics = &metrics}; }

  std::unique_ptr<Running> start(Manager& manager) {
    return std::make_unique<Running>([&](const std::stop_token& stop) { manager.run(stop); });
  }
  // Returns work that notes its beginning and its end.
  std::function<void(std::stop_token)> work(const std::string& name) {
    return [this, name](const std::stop_token& stop) {
      notes.add(name + " begins");
      realClock().sleepUntil(Clock::noDeadline, stop);
      notes.add(name + " ends");
    };
  }
  HttpResponse ask(const Manager& manager, std::string_view target,
                   std::string method = "GET") const {
    return transport.send(
        {.method = std::move(method), .url = manager.url() + std::string(target)});
  }
  String holder() const {
    return clients.coordinationV1()
        .leases("default")
        .get("lock")
        .spec.read()
        .holderIdentity.value_or("");
  }

  Metrics metrics;
  Notes notes;
};

TEST_F(ManagerTest, RunsControllersOverSharedInformers) {
  maps().create(map("a"));
  Manager manager(server.config(), {.metrics = &metrics});
  for (const char* name : {"one", "two"}) {
    auto& controller = manager.controller<ConfigMap>(name);
    controller.reconcile([this, &controller, name](const ObjectKey& key) {
      EXPECT_NE(controller.lister().get(key), nullptr);
      notes.add(std::string(name) + " " + key.str());
    });
  }
  manager.controller("dynamic", {.gvr = {"", "v1", "configmaps"}, .gvk = {"", "v1", "ConfigMap"}})
      .reconcile([&](const ObjectKey& key) { notes.add("dynamic " + key.str()); });
  EXPECT_TRUE(manager.isLeader());
  EXPECT_EQ(manager.url(), "");
  const auto running = start(manager);
  notes.waitFor("one default/a");
  notes.waitFor("two default/a");
  notes.waitFor("dynamic default/a");
  running->finish();
  EXPECT_THROW(manager.run({}), Error);  // once
}

TEST_F(ManagerTest, OneCopyWorksAndTheNextFollowsWhenItEnds) {
  Manager a(server.config(), leading("a"));
  Manager b(server.config(), leading("b"));
  for (Manager* manager : {&a, &b}) {
    const std::string name = manager->identity().str();
    manager->add(name, work(name));
    manager->add(name + " everywhere", work(name + " everywhere"), RunsOn::Every);
  }
  const auto first = start(a);
  notes.waitFor("a begins");
  EXPECT_TRUE(a.isLeader());
  const auto second = start(b);
  notes.waitFor("b everywhere begins");
  EXPECT_FALSE(b.isLeader());
  EXPECT_EQ(notes.count("b begins"), 0);
  first->finish();
  EXPECT_EQ(notes.count("a ends"), 1);
  notes.waitFor("b begins");
  EXPECT_EQ(holder(), "b");
}

TEST_F(ManagerTest, EndsInOrder) {
  ManagerOptions options = leading("a");
  options.http = HttpServerOptions{};
  Manager manager(server.config(), options);
  maps().create(map("a"));
  std::latch goOn(1);
  manager.controller<ConfigMap>("maps").reconcile([&](const ObjectKey&) {
    notes.add("begun");
    goOn.wait();
    // Lease and HTTP exist until the work has ended.
    EXPECT_EQ(holder(), "a");
    EXPECT_EQ(ask(manager, "/readyz").status, 200);
    notes.add("ended");
  });
  const auto running = start(manager);
  notes.waitFor("begun");
  running->requestStop();
  EXPECT_FALSE(running->ended());
  goOn.count_down();
  running->wait();
  EXPECT_EQ(holder(), "");
  EXPECT_THAT(notes.lines(), ElementsAre("begun", "ended"));
}

TEST_F(ManagerTest, TheLogNamesWorkThatDoesNotEnd) {
  maps().create(map("a"));
  FakeClock clock;
  std::promise<void> over;
  Manager manager(server.config(), {.gracePeriod = 20s,
                                    .onGraceOver = [&] { over.set_value(); },
                                    .clock = &clock,
                                    .metrics = &metrics});
  std::latch goOn(1);
  manager.controller<ConfigMap>("stuck").reconcile([&](const ObjectKey& key) {
    if (key.name == "a") notes.add("begun");
    if (key.name == "a") goOn.wait();
  });
  manager.add("other", work("other"));
  const auto running = start(manager);
  notes.waitFor("begun");
  notes.waitFor("other begins");
  const testing::Logged logged;
  running->requestStop();
  notes.waitFor("other ends");
  // Timers of the manager, its grace period, and the controller.
  clock.waitForWaiters(3);
  clock.advance(5s);
  EXPECT_THAT(logged.text(), HasSubstr("has been waiting 5 s for \"stuck\""));
  EXPECT_THAT(logged.text(), AllOf(HasSubstr("controller: stopping"),
                                   HasSubstr("controller=stuck object=default/a")));
  clock.advance(15s);
  over.get_future().wait();
  EXPECT_THAT(logged.text(),
              HasSubstr("the grace period of 20 s is over, and these have not ended: \"stuck\" "
                        "(reconciles 1 of at most 1 keys: default/a for 20 s; "));
  EXPECT_FALSE(running->ended());
  goOn.count_down();
  running->wait();
}

TEST_F(ManagerTest, TwoControllersWithOneNameAreRefused) {
  Manager manager(server.config(), {.metrics = &metrics});
  manager.controller<ConfigMap>("maps");
  EXPECT_THAT(errorOf<Error>([&] { manager.controller<ConfigMap>("maps"); }),
              HasSubstr("a controller \"maps\" exists already"));
  EXPECT_THROW(
      manager.controller("maps", {.gvr = {"", "v1", "configmaps"}, .gvk = {"", "v1", "ConfigMap"}}),
      Error);
  manager.controller<ConfigMap>("others");
}

// The stop token does not help here: a process that was suspended and continues has not been asked
// to stop yet.
TEST_F(ManagerTest, TheLeadersClientsWriteNothingAfterTheLeaseIsOver) {
  FakeClock clock;
  ManagerOptions options = leading("a");
  options.leaderElection.clock = &clock;
  Manager manager(server.config(), options);
  const auto mine = [&] { return manager.leaderClients().coreV1().configMaps("default"); };
  EXPECT_THAT(errorOf<Error>([&] { mine().create(map("early")); }),
              AllOf(HasSubstr("create configmaps"), HasSubstr("not sent"),
                    HasSubstr("this copy (\"a\") does not lead"), HasSubstr("default/lock")));
  EXPECT_EQ(manager.fencingToken(), std::nullopt);
  std::latch goOn(1);
  manager.add("work", [&](const std::stop_token&) {
    mine().create(map("in-time"));
    notes.add("written");
    goOn.wait();
    EXPECT_THROW(mine().create(map("late")), Error);
    EXPECT_THROW(mine().remove("in-time"), Error);
    EXPECT_EQ(mine().get("in-time").metadata.name, "in-time");  // reads are not refused
    manager.clients().coreV1().configMaps("default").create(map("by-others"));
    notes.add("refused");
  });
  const auto running = start(manager);
  notes.waitFor("written");
  const auto token = manager.fencingToken();
  ASSERT_TRUE(token);
  EXPECT_EQ(token->holder, "a");
  EXPECT_EQ(token->transitions, 0);
  server.inject({.resource = "leases", .status = 500});
  clock.waitForWaiters(3);
  // The lease is over by the clock, and no thread has had time to react.
  clock.advance(options.leaderElection.renewDeadline);
  goOn.count_down();
  notes.waitFor("refused");
  EXPECT_EQ(manager.fencingToken(), std::nullopt);
  EXPECT_THROW(running->wait(), Error);
  EXPECT_FALSE(maps().find("late"));
}

TEST_F(ManagerTest, ItsClientReadsTheCacheAndItsOwnWrites) {
  maps().create(map("a"));
  Manager manager(server.config(), {.metrics = &metrics});
  const auto cached = manager.client().resource<ConfigMap>("default");
  EXPECT_EQ(cached.get("a").metadata.name, "a") << "from the server";
  manager.controller<ConfigMap>("maps").reconcile([&](const ObjectKey& key) {
    ConfigMap read = cached.get(key.name);
    if (read.data["k"] == "seen") return;
    server.failWatches(testing::WatchFault::Silence);
    read.data["k"] = "seen";
    read = cached.update(read);
    EXPECT_EQ(cached.get(key.name), read);
    const auto live = server.inject({.verb = "get", .resource = "configmaps", .status = 500});
    EXPECT_EQ(manager.client().get<ConfigMap>(key), read);
    server.forget(live);
    notes.add("seen");
  });
  const auto running = start(manager);
  notes.waitFor("seen");
  running->finish();
}

TEST_F(ManagerTest, ItsClientWritesNothingWithoutTheLease) {
  Manager manager(server.config(), leading("one"));
  const auto cached = manager.client().resource<ConfigMap>("default");
  EXPECT_EQ(cached.find("a"), std::nullopt);
  EXPECT_THAT(errorOf<Error>([&] { cached.create(map("a")); }), HasSubstr("does not lead"));
  EXPECT_EQ(maps().find("a"), std::nullopt);
  const CachedClient everywhere = manager.client().by(manager.clients());
  everywhere.resource<ConfigMap>("default").create(map("a"));
  EXPECT_EQ(cached.get("a").metadata.name, "a");
}

TEST_F(ManagerTest, ALostLeaseEndsTheWorkAndTheManager) {
  FakeClock clock;
  ManagerOptions options = leading("a");
  options.leaderElection.clock = &clock;
  Manager manager(server.config(), options);
  manager.add("work", work("work"));
  const auto running = start(manager);
  notes.waitFor("work begins");
  auto lease = clients.coordinationV1().leases("default").get("lock");
  lease.spec->holderIdentity = "b";
  clients.coordinationV1().leases("default").update(lease);
  clock.waitForWaiters(3);  // the next renewal, its deadline, and the watchdog
  clock.advance(options.leaderElection.retryPeriod);
  try {
    running->wait();
    ADD_FAILURE() << "run() must throw";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "manager: the lease default/lock is lost");
  }
  EXPECT_THAT(notes.lines(), ElementsAre("work begins", "work ends"));
  EXPECT_EQ(holder(), "b");
}

TEST_F(ManagerTest, WorkThatOutlivesTheLeaseIsNotedWhileTheLeaseHolds) {
  FakeClock clock;
  ManagerOptions options = leading("a");
  options.leaderElection.clock = &clock;  // 15 s, 10 s, 2 s
  std::atomic<Clock::TimePoint> overrun{};
  options.onOverrun = [&] {
    overrun = clock.now();
    notes.add("overrun");
  };
  Manager manager(server.config(), options);
  std::latch goOn(1);
  manager.add("stubborn", [&](const std::stop_token& stop) {
    notes.add("begins");
    realClock().sleepUntil(Clock::noDeadline, stop);
    notes.add("asked to end");
    goOn.wait();
  });
  const auto begun = clock.now();
  const auto running = start(manager);
  notes.waitFor("begins");
  server.inject({.resource = "leases", .status = 500});
  while (manager.isLeader()) {
    clock.waitForWaiters(1);
    clock.advance(250ms);
  }
  EXPECT_EQ(clock.now() - begun, 10s);
  notes.waitFor("asked to end");
  EXPECT_EQ(notes.count("overrun"), 0);
  for (int i = 0; i < 19; ++i) {
    clock.waitForWaiters(1);
    clock.advance(250ms);
  }
  notes.waitFor("overrun");
  EXPECT_LT(overrun.load() - begun, 15s);
  goOn.count_down();
  EXPECT_THROW(running->wait(), Error);
}

TEST_F(ManagerTest, AFailureEndsEverything) {
  for (const RunsOn where : {RunsOn::Leader, RunsOn::Every}) {
    notes.clear();
    Manager manager(server.config(), leading("a"));
    manager.add("fine", work("fine"));
    manager.add(
        "failing",
        [&](const std::stop_token&) {
          notes.waitFor("fine begins");
          throw std::out_of_range("enough");
        },
        where);
    const auto running = start(manager);
    EXPECT_THROW(running->wait(), std::out_of_range);
    EXPECT_THAT(notes.lines(), ElementsAre("fine begins", "fine ends"));
  }
}

TEST_F(ManagerTest, WorkThatEndsEarlyIsNoFailure) {
  Manager manager(server.config(), {.metrics = &metrics});
  manager.add("short", [&](const std::stop_token&) { notes.add("short"); });
  manager.add("long", work("long"));
  const auto running = start(manager);
  notes.waitFor("short");
  notes.waitFor("long begins");
  running->finish();
}

TEST_F(ManagerTest, StopsWhileItWaitsForTheServer) {
  server.inject({.resource = "configmaps", .status = 503});
  Manager manager(server.config(), serving());
  manager.controller<ConfigMap>("maps").reconcile([](const ObjectKey&) {});
  const auto running = start(manager);
  EXPECT_EQ(ask(manager, "/healthz").status, 200);
  const HttpResponse ready = ask(manager, "/readyz");
  EXPECT_EQ(ready.status, 500);
  EXPECT_EQ(ready.body,
            "[-]informers failed: the informers have not synced yet\nreadyz check failed\n");
  running->finish();
}

TEST_F(ManagerTest, ServesHealthAndMetrics) {
  maps().create(map("a"));
  Manager manager(server.config(), serving());
  std::atomic<bool> broken = false;
  manager.addReadyCheck("disk", [&] {
    if (broken) throw Error("the disk is full");
  });
  manager.addHealthCheck("pulse", [] {});
  EXPECT_THROW(manager.addHealthCheck("pulse", [] {}), Error);
  manager.controller<ConfigMap>("maps").reconcile([&](const ObjectKey& key) { notes.add(key); });
  const auto running = start(manager);
  notes.waitFor("default/a");

  EXPECT_EQ(ask(manager, "/readyz").body, "ok");
  EXPECT_EQ(ask(manager, "/readyz?verbose").body,
            "[+]informers ok\n[+]disk ok\nreadyz check passed\n");
  EXPECT_EQ(ask(manager, "/healthz?verbose=1").body, "[+]pulse ok\nhealthz check passed\n");
  broken = true;
  EXPECT_EQ(ask(manager, "/readyz").status, 500);
  EXPECT_EQ(ask(manager, "/readyz/disk").body, "disk: the disk is full\n");
  EXPECT_EQ(ask(manager, "/readyz/informers").status, 200);
  EXPECT_EQ(ask(manager, "/readyz/none").status, 404);
  EXPECT_EQ(ask(manager, "/readyz?exclude=disk").status, 200);
  EXPECT_EQ(ask(manager, "/healthz").status, 200);

  const HttpResponse page = ask(manager, "/metrics");
  EXPECT_EQ(page.headers.get("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_THAT(page.body, HasSubstr("controller_runtime_max_concurrent_reconciles{"
                                   "controller=\"maps\"} 1\n"));
  EXPECT_EQ(ask(manager, "/metrics", "POST").status, 405);
  EXPECT_EQ(ask(manager, "/readyzzz").status, 404);
  EXPECT_EQ(ask(manager, "/").status, 404);
}

TEST_F(ManagerTest, IsNotReadyWithoutTheServerIfReadyNeedsServer) {
  for (const bool needed : {true, false}) {
    FakeClock clock;
    ManagerOptions options = serving();
    options.readyNeedsServer = needed;
    options.clock = &clock;
    Manager manager(server.config(), options);
    manager.add("work", work("work"));
    const auto running = start(manager);
    notes.waitFor("work begins");
    EXPECT_EQ(ask(manager, "/readyz").status, 200);
    const testing::FaultId gone = server.inject({.path = "/readyz", .status = 503});
    EXPECT_EQ(ask(manager, "/readyz").status, 200) << "the server's last answer holds for a second";
    clock.advance(1s);
    EXPECT_EQ(ask(manager, "/readyz").status, needed ? 500 : 200);
    EXPECT_EQ(ask(manager, "/healthz").status, 200);
    server.forget(gone);
    clock.advance(1s);
    EXPECT_EQ(ask(manager, "/readyz").status, 200);
    notes.clear();
  }
}

TEST_F(ManagerTest, AsksAServerThatHangsOnceForAllProbes) {
  ManagerOptions options = serving();
  options.readyNeedsServer = true;
  Manager manager(server.config(), options);
  manager.add("work", work("work"));
  const auto running = start(manager);
  notes.waitFor("work begins");
  server.inject({.path = "/readyz", .hang = true});
  std::vector<std::future<int>> answers;
  for (int i = 0; i < 60; ++i) {
    answers.push_back(
        std::async(std::launch::async, [&] { return ask(manager, "/readyz").status; }));
  }
  EXPECT_EQ(ask(manager, "/healthz").status, 200) << "the other probes do not delay it";
  for (auto& answer : answers) EXPECT_EQ(answer.get(), 500);
  EXPECT_LE(server.faultsHit(), 2u);
}

TEST_F(ManagerTest, ItsHttpServerRefusesBodies) {
  Manager manager(server.config(), serving());
  EXPECT_EQ(ask(manager, "/healthz", "DELETE").status, 405);
  EXPECT_EQ(
      transport.send({.method = "POST", .url = manager.url() + "/healthz", .body = "x"}).status,
      413);
  EXPECT_EQ(ask(manager, "/healthz?" + std::string(20'000, 'x')).status, 431);
}

TEST(HealthCheckTest, ItsResultIsKeptForAWhile) {
  FakeClock clock;
  int asked = 0;
  const HealthCheck check = keptFor(1s, clock, [&] {
    if (++asked == 2) throw Error("not well");
  });
  check();
  clock.advance(999ms);
  check();
  EXPECT_EQ(asked, 1);
  clock.advance(1ms);
  EXPECT_THROW(check(), Error);
  EXPECT_THROW(check(), Error);
  EXPECT_EQ(asked, 2);
  clock.advance(1s);
  check();
}

TEST_F(ManagerTest, RefusesInvalidOptions) {
  ManagerOptions own = leading("a");
  own.leaderElection.onStartedLeading = [](const std::stop_token&) {};
  EXPECT_THROW(Manager(server.config(), own), ConfigError);
  ManagerOptions times = leading("a");
  times.leaderElection.renewDeadline = 1h;
  EXPECT_THROW(Manager(server.config(), times), ConfigError);
  EXPECT_THROW(Manager(server.config(), {.http = HttpServerOptions{.address = "nowhere"}}),
               ConfigError);
}

TEST_F(ManagerTest, ChoosesAnIdentityIfNoneIsGiven) {
  Manager a(server.config(), leading(""));
  Manager b(server.config(), leading(""));
  EXPECT_NE(a.identity(), b.identity());
  EXPECT_NE(a.identity(), "");
}

}  // namespace
}  // namespace kube
