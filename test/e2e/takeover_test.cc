// Kills the leader of two copies of a controller again and again: another copy takes over in time,
// and two copies never work at once.
//
// Proof: every write to a server has a revision, of the lease as well as of the plans, and every
// plan names its writer. So the test knows the holder of the lease at the time of each write,
// independent of clocks.

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "examples/network-controller/demo/replica.h"
#include "kube/base/log.h"
#include "kube/client/coordination/v1.h"
#include "kube/client/core/v1.h"
#include "kube/rest/config.h"
#include "test/e2e/cluster.h"
#include "test/e2e/takeover/plan.h"
#include "test/soak/patience.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using coordinationv1::Lease;
using corev1::ConfigMap;
using corev1::Secret;
using network::Replica;
using soak::eventually;

// Fewer kills with a sanitizer, which makes everything slow: the times of leases are real.
constexpr int kKills = soak::kSanitized ? 4 : 20;
constexpr int kSecrets = 8;
constexpr double kLease = soak::kSanitized ? 4 : 1;  // in seconds, like the next three
constexpr double kRenew = kLease * 0.75;
constexpr double kRetry = kLease * 0.15;
// A candidate sees the last renewal up to one wait later, and the end of the lease up to another
// wait later; a wait lasts up to 2.2 periods. The other 3 s are for a busy machine.
constexpr double kTakeover = kLease + 2 * 2.2 * kRetry + 3;

// The writers of all changes to objects of a kind, by revision.
class History {
 public:
  template <class T, class Who>
  void follow(const ResourceClient<T>& client, const std::string& selector, Who who) {
    threads_.emplace_back([this, client, selector, who](const std::stop_token& stop) {
      String version;
      while (!stop.stop_requested()) {
        try {
          if (version.empty()) {
            const auto list = client.list({.labelSelector = selector}, stop);
            for (const T& object : list.items) {
              note(std::stoll(object.metadata.resourceVersion.str()), who(object));
            }
            version = list.metadata.resourceVersion;
          }
          for (const auto& event :
               client.watch({.labelSelector = selector, .resourceVersion = version}, stop)) {
            version = event.object.metadata.resourceVersion;
            if (event.type == EventType::Error) break;  // for example, the version is too old
            if (event.type == EventType::Deleted) continue;
            note(std::stoll(version.str()), who(event.object));
          }
        } catch (const ApiError&) {
          version = {};
        } catch (const Error&) {
          realClock().sleepFor(20ms, stop);
        }
      }
    });
  }
  std::map<long long, std::string> all() const {
    const std::lock_guard lock(mutex_);
    return by_;
  }
  std::string last() const {
    const std::lock_guard lock(mutex_);
    return by_.empty() ? std::string() : by_.rbegin()->second;
  }
  std::size_t countOf(const std::string& who) const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(
        std::ranges::count_if(by_, [&](const auto& entry) { return entry.second == who; }));
  }

 private:
  void note(long long revision, std::string who) {
    const std::lock_guard lock(mutex_);
    by_[revision] = std::move(who);
  }

  mutable std::mutex mutex_;
  std::map<long long, std::string> by_;
  std::vector<std::jthread> threads_;
};

class TakeoverTest : public ::testing::Test {
 protected:
  TakeoverTest()
      : config_(configOf()), clients_(config_), space_(fmt::format("takeover-{}", getpid())) {
    EXPECT_TRUE(e2e::insist(cluster_, [&] {
      if (clients_.coreV1().namespaces().find(space_)) return;
      corev1::Namespace space;
      space.metadata.name = space_;
      clients_.coreV1().namespaces().create(space);
    }));
  }
  ~TakeoverTest() override {
    replicas_.clear();
    e2e::insist(cluster_, [&] {
      if (clients_.coreV1().namespaces().find(space_))
        clients_.coreV1().namespaces().remove(space_);
    });
  }

  static Config configOf() {
    Config config = Config::load();
    config.qps = -1;
    return config;
  }
  ResourceClient<Secret> secrets() const { return clients_.coreV1().secrets(space_); }

  void startReplica() {
    const std::string identity = fmt::format("copy-{}", ++started_);
    replicas_.push_back(
        std::make_unique<Replica>(network::ReplicaOptions{.program = "takeover-manager",
                                                          .identity = identity,
                                                          .kubeconfig = std::getenv("KUBECONFIG"),
                                                          .namespace_ = space_,
                                                          .leaseDuration = kLease,
                                                          .renewDeadline = kRenew,
                                                          .retryPeriod = kRetry}));
  }
  // Starts copies again that have ended because they lost their lease, like Kubernetes.
  void keepTwo() {
    std::erase_if(replicas_, [](const auto& replica) { return !replica->runs(); });
    while (replicas_.size() < 2) startReplica();
  }
  Replica* replicaOf(const std::string& identity) const {
    for (const auto& replica : replicas_) {
      if (replica->identity() == identity) return replica.get();
    }
    return nullptr;
  }

  const e2e::Cluster cluster_{};
  const Config config_;
  const Clientset clients_;
  const std::string space_;
  int started_ = 0;
  std::vector<std::unique_ptr<Replica>> replicas_;
};

TEST_F(TakeoverTest, TwoCopiesNeverWorkAtOnceWhileLeadersAreKilled) {
  setLogLevel(LogLevel::Error);
  History leases;
  leases.follow(clients_.coordinationV1().leases(space_), "",
                [](const Lease& lease) { return lease.spec->holderIdentity.value_or("").str(); });
  History plans;
  plans.follow(clients_.coreV1().configMaps(space_), std::string(takeover::kPlan),
               [](const ConfigMap& map) {
                 return std::string(map.metadata.annotations[takeover::kWrittenBy]);
               });

  // There is always work, so that two working copies would meet.
  std::jthread writer([&](const std::stop_token& stop) {
    for (int i = 0; !stop.stop_requested(); ++i) {
      Secret secret;
      secret.metadata.name = fmt::format("s-{}", i % kSecrets);
      try {
        if (auto found = secrets().find(secret.metadata.name, {}, stop)) secret = *found;
        secret.data["i"] = Bytes(std::to_string(i));
        if (secret.metadata.uid.empty()) {
          secrets().create(secret, {}, stop);
        } else {
          secrets().update(secret, {}, stop);
        }
      } catch (const Error&) {  // a conflict, or the server is down
      }
      realClock().sleepFor(5ms, stop);
    }
  });

  std::vector<double> took;
  int again = 0;
  for (int kills = 0; kills < kKills && again < kKills;) {
    Replica* leader = nullptr;
    const auto leads = [&] {
      keepTwo();
      leader = replicaOf(leases.last());
      return leader != nullptr && plans.countOf(leader->identity()) >= 20;
    };
    if (!eventually(leads)) {
      ASSERT_TRUE(e2e::Cluster::isThere())
          << "no copy leads; the lease is held by " << leases.last();
      cluster_.start();  // the server has crashed
      ++again;
      continue;
    }
    const std::string killed = leader->identity();
    const auto begun = std::chrono::steady_clock::now();
    leader->kill();
    keepTwo();
    const auto seconds = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    };
    while (leases.last() == killed && seconds() < kTakeover) realClock().sleepFor(2ms);
    const double passed = seconds();
    if (leases.last() == killed && e2e::Cluster::isThere()) {
      cluster_.start();  // the server may have crashed; such a round does not count
      ++again;
      continue;
    }
    ASSERT_NE(leases.last(), killed) << "no copy took over within " << kTakeover << " s";
    took.push_back(passed);
    ++kills;
  }
  ASSERT_EQ(took.size(), static_cast<std::size_t>(kKills));
  writer.request_stop();
  writer.join();

  // Each plan was written by the holder of the lease at that time.
  const auto holders = leases.all();
  const auto writes = plans.all();
  EXPECT_GT(writes.size(), static_cast<std::size_t>(kKills));
  for (const auto& [revision, who] : writes) {
    const auto after = holders.upper_bound(revision);
    if (after == holders.begin()) continue;  // written before the watch of leases had started
    EXPECT_EQ(std::prev(after)->second, who) << "at revision " << revision;
  }
  std::ranges::sort(took);
  fmt::print(
      "takeover after {} kills: median {:.2f} s, longest {:.2f} s (lease {} s, retry {} s); "
      "{} plans written, each by the leader\n",
      kKills, took[took.size() / 2], took.back(), kLease, kRetry, writes.size());
}

}  // namespace
}  // namespace kube
