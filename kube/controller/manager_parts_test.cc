// Tests of the parts that a manager owns: clusters, events, its description and its time limits.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <memory>
#include <string>
#include <thread>

#include "kube/base/internal/error_of_testing.h"
#include "kube/base/internal/logged_testing.h"
#include "kube/cache/core/v1.h"
#include "kube/client/core/v1.h"
#include "kube/client/events/v1.h"
#include "kube/controller/manager.h"
#include "kube/controller/reconcile_log_testing.h"
#include "kube/testing/api_server_testing.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using corev1::ConfigMap;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Notes;
using testing::Running;

class ManagerPartsTest : public testing::ApiServerTest {
 protected:
  std::unique_ptr<Running> start(Manager& manager) {
    return std::make_unique<Running>([&](const std::stop_token& stop) { manager.run(stop); });
  }
  // Waits until the description has this text.
  static void waitUntilDescribed(const Manager& manager, const std::string& text) {
    const auto end = std::chrono::steady_clock::now() + 1min;
    while (manager.describe().find(text) == std::string::npos) {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << text << "\n" << manager.describe();
      std::this_thread::yield();
    }
  }

  FakeClock clock;
  Metrics metrics;
  Notes notes;
};

TEST_F(ManagerPartsTest, InformersThatDoNotSyncInTimeAreNamedWithTheirErrors) {
  server.inject({.resource = "configmaps", .status = 503});
  Manager manager(server.config(), {.clock = &clock, .metrics = &metrics});
  manager.controller<ConfigMap>("maps").reconcile([](const ObjectKey&) {});
  manager.controller<corev1::Secret>("secrets").reconcile([](const ObjectKey&) {});
  const auto running = start(manager);
  waitUntilDescribed(manager, "the last: ");
  waitUntilDescribed(manager, "secrets: synced");
  EXPECT_THAT(manager.describe(), AllOf(HasSubstr("manager: waiting for informers\n"),
                                        HasSubstr("controller \"maps\": does not run\n"),
                                        HasSubstr("configmaps: not synced yet")));
  clock.waitForWaiters(1);
  clock.advance(2min);
  const std::string error = errorOf<TimeoutError>([&] { running->wait(); });
  EXPECT_THAT(error, AllOf(HasSubstr("manager: informers have not synced in 120 s: configmaps: "),
                           HasSubstr("this server fails on purpose"), Not(HasSubstr("secrets"))));
  EXPECT_THAT(manager.describe(), HasSubstr("manager: ended\n"));
}

TEST_F(ManagerPartsTest, ItsDescriptionNamesTheKeysAndTheWorkThatAStopWaitsFor) {
  maps().create(map("a"));
  Manager manager(server.config(), {.clock = &clock, .metrics = &metrics});
  std::latch goOn(1);
  manager.controller<ConfigMap>("maps").reconcile([&](const ObjectKey& key) {
    if (key.name != "a") return;
    notes.add("begun");
    goOn.wait();
  });
  manager.add("stubborn", [&] { goOn.wait(); });
  manager.add("short", [] {});
  EXPECT_THAT(manager.describe(), HasSubstr("manager: not started\n"));
  const auto running = start(manager);
  notes.waitFor("begun");
  waitUntilDescribed(manager, "work \"short\": ended");
  clock.advance(12s);
  running->requestStop();
  waitUntilDescribed(manager, "manager: ending");
  EXPECT_THAT(manager.describe(),
              AllOf(HasSubstr("controller \"maps\": reconciles 1 of at most 1 keys: default/a for "
                              "12 s; "),
                    HasSubstr("work \"stubborn\": running\n")));
  goOn.count_down();
  running->wait();
  EXPECT_THAT(manager.describe(), HasSubstr("work \"stubborn\": ended\n"));
}

TEST_F(ManagerPartsTest, AControllerMayRunOnEveryCopy) {
  maps().create(map("a"));
  const auto options = [&](const char* identity) {
    return ManagerOptions{.leaderElection = {.name = "lock", .identity = identity},
                          .metrics = &metrics};
  };
  Manager one(server.config(), options("one"));
  Manager two(server.config(), options("two"));
  for (Manager* manager : {&one, &two}) {
    const std::string name = manager->identity().str();
    manager->controller<ConfigMap>("everywhere", RunsOn::Every)
        .reconcile([this, name](const ObjectKey&) { notes.add(name + " everywhere"); });
    manager->controller<ConfigMap>("leader").reconcile(
        [this, name](const ObjectKey&) { notes.add(name + " leader"); });
  }
  const auto first = start(one);
  notes.waitFor("one leader");
  const auto second = start(two);
  notes.waitFor("two everywhere");
  EXPECT_FALSE(two.isLeader());
  waitUntilDescribed(two, "manager: working, the leader is \"one\"\n");
  EXPECT_THAT(two.describe(), HasSubstr("controller \"leader\": does not run\n"));
  EXPECT_EQ(notes.count("two leader"), 0);
}

TEST_F(ManagerPartsTest, ItsEventsAreSentBeforeItEnds) {
  maps().create(map("a"));
  Manager manager(server.config(), {.metrics = &metrics});
  EventRecorder& events = manager.events("tester");
  EXPECT_EQ(&manager.events("tester"), &events);
  EXPECT_NE(&manager.events("other"), &events);
  manager.add("work", [&](const std::stop_token& stop) {
    notes.add("begun");
    realClock().sleepUntil(Clock::noDeadline, stop);
    events.normal(maps().get("a"), "Ending", "the very last words");
  });
  const auto running = start(manager);
  notes.waitFor("begun");
  running->finish();
  const auto sent = clients.eventsV1().events("default").list();
  ASSERT_EQ(sent.items.size(), 1U);
  EXPECT_EQ(sent.items[0].note, "the very last words");
  EXPECT_EQ(sent.items[0].reportingController, "tester");
  events.normal(maps().get("a"), "Late", "nobody hears this");
  EXPECT_EQ(events.dropped(), 1U);
}

TEST_F(ManagerPartsTest, AControllerWatchesAnotherCluster) {
  testing::ApiServer other;
  const Clientset others(other.config());
  const auto theirs = others.coreV1().configMaps("default");
  maps().create(map("a"));
  Manager manager(server.config(), {.metrics = &metrics});
  Cluster& west = manager.addCluster("west", other.config());
  EXPECT_THAT(errorOf<Error>([&] { manager.addCluster("west", other.config()); }),
              HasSubstr("a cluster \"west\" exists already"));
  manager.controller<ConfigMap>("both")
      .watches(west.informers().informerFor<corev1::Secret>(),
               [](const corev1::Secret& secret) {
                 return std::vector{ObjectKey{"default", "for " + secret.metadata.name.str()}};
               })
      .reconcile([&](const ObjectKey& key) { notes.add("both " + key.name.str()); });
  auto& far = manager.controller<ConfigMap>("far", west);
  far.reconcile([&](const ObjectKey& key) {
    EXPECT_NE(far.lister().get(key), nullptr);
    notes.add("far " + key.name.str());
  });
  const auto running = start(manager);
  notes.waitFor("both a");
  corev1::Secret secret;
  secret.metadata.name = "s";
  others.coreV1().secrets("default").create(secret);
  notes.waitFor("both for s");
  theirs.create(map("b"));
  notes.waitFor("far b");
  EXPECT_EQ(notes.count("far a"), 0);
  EXPECT_THAT(manager.describe(), HasSubstr("informers of cluster \"west\":\nsecrets: synced"));
  running->finish();
}

TEST_F(ManagerPartsTest, WaitsForTheInformersOfItsClusters) {
  testing::ApiServer other;
  other.inject({.resource = "configmaps", .status = 503});
  Manager manager(
      server.config(),
      {.http = HttpServerOptions{}, .cacheSyncTimeout = 10s, .clock = &clock, .metrics = &metrics});
  const Cluster& west = manager.addCluster("west", other.config());
  manager.controller<ConfigMap>("far", west).reconcile([](const ObjectKey&) {});
  const auto running = start(manager);
  waitUntilDescribed(manager, "the last: ");
  EXPECT_EQ(transport.send({.url = manager.url() + "/readyz"}).status, 500);
  clock.waitForWaiters(1);
  clock.advance(10s);
  EXPECT_THAT(errorOf<TimeoutError>([&] { running->wait(); }),
              HasSubstr("have not synced in 10 s: cluster \"west\": configmaps: not synced yet"));
}

}  // namespace
}  // namespace kube
