#include "examples/network-controller/network_controller.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "examples/network-controller/definition.h"
#include "kube/api/rbac/v1.h"
#include "kube/base/internal/sanitizer.h"
#include "kube/base/poll.h"
#include "kube/client/coordination/v1.h"
#include "kube/client/core/v1.h"
#include "kube/client/events/v1.h"
#include "kube/client/retry.h"
#include "kube/codec/yaml.h"
#include "kube/controller/reconcile_log_testing.h"
#include "kube/meta/conditions.h"
#include "kube/meta/finalizers.h"
#include "kube/testing/api_server.h"

namespace network {
namespace {

using namespace std::chrono_literals;
using kube::corev1::ConfigMap;
using kube::testing::Running;
using kube::testing::WatchFault;
using samplecrdv1::Network;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// Defines a user with the rights of deploy/rbac.yaml and no others.
kube::testing::AccessOptions access() {
  kube::testing::AccessOptions access{
      .tokens = {{"controller-token", {.name = "controller", .groups = {"system:authenticated"}}}},
      .allow = {{.users = {"controller"}, .verbs = {"get"}, .paths = {"/readyz"}}}};
  const auto strings = [](const kube::List<kube::String>& list) {
    std::vector<std::string> result;
    for (const kube::String& text : list) result.push_back(text.str());
    return result;
  };
  const auto allow = [&](const auto& role) {
    for (const auto& rule : role.rules) {
      kube::testing::AllowRule allowed{.users = {"controller"},
                                       .verbs = strings(rule.verbs),
                                       .resources = strings(rule.resources),
                                       .apiGroups = strings(rule.apiGroups)};
      if (const auto& space = role.metadata.namespace_; !space.empty()) {
        allowed.namespaces.push_back(space.str());
      }
      access.allow.push_back(allowed);
    }
  };
  std::string rest = readManifest("rbac.yaml");
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find("\n---\n"), rest.size());
    const std::string document = rest.substr(0, end);
    rest.erase(0, std::min(end + 5, rest.size()));
    if (document.find("\nkind: Role\n") != std::string::npos) {
      allow(kube::fromYaml<kube::rbacv1::Role>(document));
    } else if (document.find("\nkind: ClusterRole\n") != std::string::npos) {
      allow(kube::fromYaml<kube::rbacv1::ClusterRole>(document));
    }
  }
  return access;
}

class NetworkControllerTest : public ::testing::Test {
 protected:
  NetworkControllerTest() { start(); }
  ~NetworkControllerTest() override { stop(); }

  // The program without leader election.
  struct Program {
    Program(const kube::Config& config, kube::Metrics& metrics)
        : manager(config, {.informers = {.informer = {.backoff = {.initial = 5ms,
                                                                  .factor = 2,
                                                                  .cap = 100ms,
                                                                  .jitter = 1}}},
                           .metrics = &metrics}),
          networks(manager, {.pool = Ipv4Block::parse("10.0.0.0/16"), .workers = 4}),
          running([this](const std::stop_token& stop) { manager.run(stop); }) {}
    kube::Manager manager;
    NetworkController networks;
    Running running;
  };
  void start() { program_ = std::make_unique<Program>(config(), metrics_); }
  void stop() {
    if (program_) program_->running.finish();
    program_.reset();
  }
  kube::Config config() const {
    kube::Config config = server.config();
    config.qps = -1;
    return config;
  }

  void create(std::string_view name, std::string_view cidr, std::string_view gateway = {}) const {
    Network network;
    network.metadata.name = name;
    network.spec = samplecrdv1::NetworkSpec{.cidr = cidr, .gateway = gateway};
    networks.create(network);
  }
  void change(std::string_view name, std::string_view cidr, std::string_view gateway = {}) const {
    kube::retryOnConflict([&] {
      Network network = networks.get(name);
      network.spec->cidr = cidr;
      network.spec->gateway = gateway;
      networks.update(network);
    });
  }
  static void eventually(std::string_view what, const std::function<bool()>& holds) {
    try {
      kube::poll({.interval = 2ms, .timeout = 1min}, {}, holds);
    } catch (const kube::TimeoutError&) {
      ADD_FAILURE() << "never: " << what;
    }
  }
  // Waits for a decision about the current spec.
  kube::metav1::Condition verdictOn(std::string_view name) const {
    kube::metav1::Condition verdict;
    eventually(name, [&] {
      const Network network = networks.get(name);
      const auto* ready = kube::findStatusCondition(network.status->conditions, "Ready");
      if (ready == nullptr || ready->observedGeneration != network.metadata.generation) {
        return false;
      }
      verdict = *ready;
      return true;
    });
    return verdict;
  }
  std::optional<ConfigMap> planOf(std::string_view name) const {
    return maps.find(NetworkController::planName({"default", name}));
  }
  void waitForReason(std::string_view name, std::string_view reason) const {
    eventually(fmt::format("{} {}", name, reason),
               [&] { return verdictOn(name).reason == reason; });
  }
  std::vector<std::string> eventsOn(std::string_view name) const {
    std::vector<std::string> notes;
    for (const auto& event : clients.eventsV1().events("default").list().items) {
      if (event.regarding->name == name)
        notes.push_back(event.reason.str() + ": " + event.note.str());
    }
    return notes;
  }

  mutable kube::testing::ApiServer server{
      {.access = access(), .manifests = {readManifest("crd.yaml")}}};
  kube::Metrics metrics_;
  kube::Clientset clients{config()};
  kube::ResourceClient<Network> networks{clients.rest(), "default"};
  kube::ResourceClient<ConfigMap> maps = clients.coreV1().configMaps("default");
  std::unique_ptr<Program> program_;
};

TEST_F(NetworkControllerTest, WritesAPlanForTheRequestedBlock) {
  create("office", "192.168.0.0/16", "192.168.0.254");
  const auto verdict = verdictOn("office");
  EXPECT_EQ(verdict.status, "True");
  EXPECT_EQ(verdict.reason, "Allocated");
  EXPECT_EQ(verdict.message, "192.168.0.0/16 with gateway 192.168.0.254");
  const Network office = networks.get("office");
  EXPECT_EQ(office.status->cidr, "192.168.0.0/16");
  EXPECT_EQ(office.status->gateway, "192.168.0.254");
  EXPECT_TRUE(kube::containsFinalizer(office, kFinalizer));
  const ConfigMap plan = planOf("office").value();
  EXPECT_TRUE(kube::isControlledBy(plan, office));
  EXPECT_EQ(plan.data["cidr"], "192.168.0.0/16");
  EXPECT_EQ(plan.data["first"], "192.168.0.1");
  EXPECT_EQ(plan.data["last"], "192.168.255.254");
  EXPECT_EQ(plan.data["broadcast"], "192.168.255.255");
  EXPECT_EQ(plan.data["netmask"], "255.255.0.0");
  EXPECT_EQ(plan.data["gateway"], "192.168.0.254");
  eventually("an event", [&] {
    return eventsOn("office") ==
           std::vector<std::string>{"Allocated: 192.168.0.0/16 with gateway 192.168.0.254"};
  });
}

TEST_F(NetworkControllerTest, ChoosesABlockOfTheRequestedSize) {
  create("one", "/24");
  create("two", "/24");
  EXPECT_EQ(verdictOn("one").status, "True");
  EXPECT_EQ(verdictOn("two").status, "True");
  const auto one = Ipv4Block::parse(networks.get("one").status.read().cidr);
  const auto two = Ipv4Block::parse(networks.get("two").status.read().cidr);
  EXPECT_FALSE(one.overlaps(two));
  EXPECT_EQ(networks.get("one").status.read().gateway, formatAddress(one.first + 1));
}

TEST_F(NetworkControllerTest, RefusesInvalidSpecs) {
  const std::vector<std::array<std::string, 3>> wrong{{"10.0.0/8", "", "InvalidCidr"},
                                                      {"", "", "InvalidCidr"},
                                                      {"/", "", "InvalidCidr"},
                                                      {"/33", "", "InvalidCidr"},
                                                      {"/31", "", "InvalidCidr"},
                                                      {"10.0.0.1/24", "", "InvalidCidr"},
                                                      {"fd00::/64", "", "InvalidCidr"},
                                                      {std::string(5000, '9'), "", "InvalidCidr"},
                                                      {"10.9.0.0/24", "10.9.1.1", "InvalidGateway"},
                                                      {"10.9.0.0/24", "10.9.0.0", "InvalidGateway"},
                                                      {"10.9.0.0/24", "nonsense", "InvalidGateway"},
                                                      {"/8", "", "PoolExhausted"}};
  int i = 0;
  for (const auto& [cidr, gateway, reason] : wrong) {
    const std::string name = fmt::format("wrong-{}", i++);
    create(name, cidr, gateway);
    const auto verdict = verdictOn(name);
    EXPECT_EQ(verdict.status, "False") << cidr;
    EXPECT_EQ(verdict.reason, reason) << cidr;
    EXPECT_FALSE(planOf(name));
    eventually("an event", [&] { return eventsOn(name).size() == 1; });
    EXPECT_THAT(eventsOn(name).at(0), StartsWith(reason + ": "));
  }
  create("fine", "10.9.0.0/24");  // still free
  EXPECT_EQ(verdictOn("fine").status, "True");
}

TEST_F(NetworkControllerTest, AnOverlappingNetworkWaitsForItsAddresses) {
  create("first", "172.16.0.0/12");
  EXPECT_EQ(verdictOn("first").status, "True");
  create("second", "172.16.5.0/24");
  const auto refused = verdictOn("second");
  EXPECT_EQ(refused.reason, "Overlap");
  EXPECT_EQ(refused.message, "172.16.5.0/24 overlaps 172.16.0.0/12 of Network default/first");
  EXPECT_FALSE(planOf("second"));
  networks.remove("first");
  waitForReason("second", "Allocated");
  EXPECT_TRUE(planOf("second"));
}

TEST_F(NetworkControllerTest, FollowsChangesOfTheSpec) {
  create("net", "10.1.0.0/16");
  waitForReason("net", "Allocated");
  create("other", "10.1.2.0/24");
  waitForReason("other", "Overlap");
  change("net", "10.2.0.0/16");
  const auto planSays = [&](const char* key, const char* value) {
    eventually("another plan", [&] {
      const auto plan = planOf("net");
      return plan && plan->data[key] == value;
    });
  };
  planSays("cidr", "10.2.0.0/16");
  waitForReason("other", "Allocated");
  change("net", "10.1.2.0/23");  // overlaps "other" now
  waitForReason("net", "Overlap");
  eventually("no plan", [&] { return !planOf("net"); });
  EXPECT_EQ(networks.get("net").status.read().cidr, "");
  change("net", "10.2.0.0/16", "10.2.0.9");
  planSays("gateway", "10.2.0.9");
}

TEST_F(NetworkControllerTest, RepairsPlansThatOthersChange) {
  create("net", "10.1.0.0/16");
  waitForReason("net", "Allocated");
  const ConfigMap before = planOf("net").value();
  ConfigMap changed = before;
  changed.data["cidr"] = "0.0.0.0/0";
  maps.update(changed);
  eventually("the plan is right", [&] { return planOf("net")->data == before.data; });
  maps.remove(before.metadata.name);
  eventually("the plan is there", [&] { return planOf("net").has_value(); });
}

TEST_F(NetworkControllerTest, LeavesConfigMapsOfOtherOwnersAlone) {
  ConfigMap theirs;
  theirs.metadata.name = "network-net";
  theirs.data["cidr"] = "mine";
  maps.create(theirs);
  create("net", "10.1.0.0/16");
  EXPECT_EQ(verdictOn("net").reason, "NameTaken");
  EXPECT_EQ(planOf("net")->data["cidr"], "mine");
  networks.remove("net");
  eventually("it is gone", [&] { return !networks.find("net"); });
  EXPECT_EQ(planOf("net")->data["cidr"], "mine");
}

TEST_F(NetworkControllerTest, CleansUpBeforeANetworkIsDeleted) {
  create("net", "10.1.0.0/16");
  waitForReason("net", "Allocated");
  stop();
  networks.remove("net");
  EXPECT_TRUE(networks.get("net").metadata.deletionTimestamp);  // it waits for its finalizer
  start();
  eventually("it is gone", [&] { return !networks.find("net"); });
  EXPECT_FALSE(planOf("net"));
}

TEST_F(NetworkControllerTest, ANewLeaderReadsTheExistingPlans) {
  create("old", "/24");
  waitForReason("old", "Allocated");
  stop();
  // Simulates a leader that died between writing the plan and the status.
  Network old = networks.get("old");
  old.status = {};
  networks.updateStatus(old);
  create("aaa", planOf("old")->data["cidr"].view());  // sorts before "old"
  start();
  EXPECT_EQ(verdictOn("aaa").reason, "Overlap");
  waitForReason("old", "Allocated");
}

TEST_F(NetworkControllerTest, NeedsNoMoreRightsThanItsManifestsGive) {
  stop();
  kube::corev1::Namespace space;
  space.metadata.name = "network-controller";
  clients.coreV1().namespaces().create(space);
  kube::Config config = server.config("controller-token");
  config.namespace_ = "network-controller";
  kube::Manager manager(
      config,
      {.leaderElection = {.name = "network-controller", .identity = "me", .releaseOnCancel = true},
       .metrics = &metrics_});
  NetworkController controller(manager);
  Running running([&](const std::stop_token& stop) { manager.run(stop); });
  create("net", "10.1.0.0/16");
  waitForReason("net", "Allocated");
  change("net", "10.2.0.0/16");
  waitForReason("net", "Allocated");
  EXPECT_EQ(planOf("net")->metadata.annotations[kWrittenBy], "me");
  change("net", "nonsense");
  waitForReason("net", "InvalidCidr");
  // The two Allocated events are one series.
  eventually("events", [&] { return eventsOn("net").size() == 2; });
  networks.remove("net");
  eventually("it is gone", [&] { return !networks.find("net"); });
  running.finish();
  const auto lease =
      clients.coordinationV1().leases("network-controller").get("network-controller");
  EXPECT_EQ(lease.spec->holderIdentity, "");
}

// ---- Under faults.

TEST_F(NetworkControllerTest, DoesNotTrustAStaleCacheWhenGivingBack) {
  create("net", "10.1.0.0/16");
  waitForReason("net", "Allocated");
  server.inject({.verb = "watch", .resource = "configmaps", .status = 500});
  server.inject({.verb = "list", .resource = "configmaps", .status = 500});
  server.failWatches(WatchFault::Cut);

  change("net", "10.2.0.0/16");
  waitForReason("net", "Allocated");
  change("net", "10.1.0.0/16");  // the block in the stale cache
  waitForReason("net", "Allocated");
  EXPECT_EQ(planOf("net")->data["cidr"], "10.1.0.0/16");

  create("late", "10.3.0.0/16");  // not in the cache
  waitForReason("late", "Allocated");
  EXPECT_TRUE(planOf("late"));
  change("late", "nonsense");
  waitForReason("late", "InvalidCidr");
  EXPECT_FALSE(planOf("late"));
  server.forgetAll();
}

// Repeats the action until no fault makes it throw.
template <class Act>
void insist(Act act) {
  for (int i = 0; i < 200; ++i) {
    try {
      return act();
    } catch (const kube::Error&) {
      kube::realClock().sleepFor(5ms);
    }
  }
  ADD_FAILURE() << "the action failed 200 times";
}

class NetworkControllerFaultTest : public NetworkControllerTest,
                                   public ::testing::WithParamInterface<int> {
 protected:
  // Checks that no two plans overlap, which holds at all times.
  void checkPlans() const {
    kube::List<ConfigMap> plans;
    insist([&] {
      plans = maps.list({.labelSelector = fmt::format("{}={}", kManagedBy, kProgram)}).items;
    });
    std::vector<std::pair<Ipv4Block, const ConfigMap*>> blocks;
    for (const ConfigMap& plan : plans) {
      blocks.emplace_back(Ipv4Block::parse(plan.data["cidr"]), &plan);
    }
    std::ranges::sort(blocks);
    for (std::size_t i = 1; i < blocks.size(); ++i) {
      ASSERT_FALSE(blocks[i - 1].first.overlaps(blocks[i].first))
          << kube::toYaml(*blocks[i - 1].second) << "---\n"
          << kube::toYaml(*blocks[i].second);
    }
  }

  // Does what a random user might do.
  void act(std::mt19937& random) const {
    const std::string name = fmt::format("n-{}", random() % 12);
    const std::vector<std::string> wishes{"/24", "/20", "nonsense",
                                          fmt::format("10.0.{}.0/24", random() % 32),
                                          fmt::format("10.0.{}.0/22", random() % 8 * 4)};
    const std::string& wish = wishes[random() % wishes.size()];
    insist([&] {
      auto found = networks.find(name);
      if (!found) {
        try {
          create(name, wish);
        } catch (const kube::ApiError& error) {
          if (!kube::isAlreadyExists(error)) throw;
        }
      } else if (random() % 3 == 0) {
        try {
          networks.remove(name);
        } catch (const kube::ApiError& error) {
          if (!kube::isNotFound(error)) throw;
        }
      } else if (!found->metadata.deletionTimestamp) {
        found->spec->cidr = wish;
        try {
          networks.update(*found);
        } catch (const kube::ApiError& error) {
          if (!kube::isConflict(error) && !kube::isNotFound(error)) throw;
        }
      }
    });
  }

  void disturb(std::mt19937& random) const {
    const std::vector<WatchFault> ends{WatchFault::End, WatchFault::Cut, WatchFault::CutInFrame,
                                       WatchFault::Garbage, WatchFault::Expire};
    switch (random() % 6) {
      case 0:
        server.restart();
        break;
      case 1:
        server.expireRevisions();
        server.failWatches(WatchFault::Cut);
        break;
      default:
        server.failWatches(ends[random() % ends.size()]);
    }
  }

  // Returns whether every Network has the right status and plan, and there are no other plans.
  bool settled() const {
    const auto all = networks.list().items;
    const auto plans =
        maps.list({.labelSelector = fmt::format("{}={}", kManagedBy, kProgram)}).items;
    std::size_t ready = 0;
    for (const Network& network : all) {
      if (network.metadata.deletionTimestamp) return false;
      const auto* condition = kube::findStatusCondition(network.status->conditions, "Ready");
      if (condition == nullptr || condition->observedGeneration != network.metadata.generation) {
        return false;
      }
      const auto plan = planOf(network.metadata.name);
      if ((condition->status == "True") != plan.has_value()) return false;
      if (!plan) continue;
      ++ready;
      if (!kube::isControlledBy(*plan, network)) return false;
      if (plan->data["cidr"] != network.status->cidr) return false;
    }
    return ready == plans.size();
  }
  // Returns whether no Network waits for addresses that are free.
  bool refusalsHold() const {
    const auto all = networks.list().items;
    for (const Network& network : all) {
      const auto* condition = kube::findStatusCondition(network.status->conditions, "Ready");
      if ((condition->reason == "InvalidCidr") != (network.spec->cidr == "nonsense")) return false;
      if (condition->reason != "Overlap") continue;
      const Ipv4Block wanted = Ipv4Block::parse(network.spec->cidr);
      const bool taken = std::ranges::any_of(all, [&](const Network& other) {
        return !other.status->cidr.empty() && Ipv4Block::parse(other.status->cidr).overlaps(wanted);
      });
      if (!taken) return false;
    }
    return true;
  }
};

TEST_P(NetworkControllerFaultTest, Converges) {
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  server.inject({.probability = 0.05, .status = 500});
  server.inject({.probability = 0.03, .status = 429, .retryAfter = 0});
  server.inject({.probability = 0.03, .cut = true});
  server.inject({.probability = 0.03, .cutInBody = true});
  server.inject({.probability = 0.02, .garbage = true});
  server.inject({.probability = 0.1, .delay = 3ms});
  for (int i = 0; i < 120; ++i) {
    act(random);
    if (i % 10 == 9) disturb(random);
    if (i % 15 == 14) checkPlans();
    if (i % 40 == 39) {  // another leader
      stop();
      start();
    }
  }
  EXPECT_GT(server.faultsHit(), 50U);
  server.forgetAll();
  // A waiting Network is woken a moment after its addresses have become free.
  eventually("everything is settled", [&] { return settled() && refusalsHold(); });
  checkPlans();
  for (const Network& network : networks.list().items) networks.remove(network.metadata.name);
  eventually("nothing is left", [&] { return networks.list().items.empty() && settled(); });
}

INSTANTIATE_TEST_SUITE_P(Seeds, NetworkControllerFaultTest,
                         ::testing::Range(1, kube::detail::kSanitized ? 3 : 6));

}  // namespace
}  // namespace network
