#include "kube/controller/leader_election.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "kube/base/internal/error_of_testing.h"
#include "kube/base/internal/no_threads_testing.h"
#include "kube/client/coordination/v1.h"
#include "kube/controller/event_recorder.h"
#include "kube/testing/api_server_testing.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using coordinationv1::Lease;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Longer than any pause between two tries of a candidate.
constexpr auto kLongestWait = 4400ms;

// A copy of a program, with its own clock.
class Candidate {
 public:
  Candidate(const RestClient& rest, std::string identity, LeaderElectionOptions options = {},
            std::atomic<int>* atWork = nullptr)
      : atWork_(atWork) {
    options.namespace_ = "default";
    options.name = "lock";
    options.identity = identity;
    options.clock = &clock;
    options.metrics = &metrics;
    if (!options.onStartedLeading) {
      options.onStartedLeading = [this](const std::stop_token& stop) {
        if (atWork_ != nullptr && ++*atWork_ > 1) ADD_FAILURE() << "two candidates are at work";
        ++started;
        started.notify_all();
        realClock().sleepUntil(Clock::noDeadline, stop);
        if (atWork_ != nullptr) --*atWork_;
      };
    }
    if (!options.onStoppedLeading) options.onStoppedLeading = [this] { ++stopped; };
    if (!options.onNewLeader) {
      options.onNewLeader = [this](const String& leader) { leaders.push_back(leader); };
    }
    elector = std::make_unique<LeaderElector>(rest, std::move(options));
  }
  ~Candidate() {
    stop.request_stop();
    if (result.valid()) result.wait();
  }

  void start() {
    result = std::async(std::launch::async, [this] { return elector->run(stop.get_token()); });
  }
  // Blocks until the candidate waits for its next try; a leader has a timer besides.
  void settle() { clock.waitForWaiters(elector->isLeader() ? 2 : 1); }
  void tick(Clock::Duration d) {
    settle();
    clock.advance(d);
  }
  void waitUntilWorking(int times = 1) {
    for (int now; (now = started.load()) < times;) started.wait(now);
  }
  bool finish() {
    stop.request_stop();
    return result.get();
  }

  FakeClock clock;
  Metrics metrics;
  std::stop_source stop;
  std::atomic<int> started = 0;
  std::atomic<int> stopped = 0;
  std::vector<String> leaders;  // used by the thread in run()
  std::unique_ptr<LeaderElector> elector;
  std::future<bool> result;

 private:
  std::atomic<int>* atWork_;
};

class LeaderElectionTest : public testing::ApiServerTest {
 protected:
  ResourceClient<Lease> leases() const { return clients.coordinationV1().leases("default"); }
  Lease lease() const { return leases().get("lock"); }
  String holder() const { return lease().spec.read().holderIdentity.value_or("nobody's"); }

  // Creates a lease of another holder.
  void makeLease(std::int32_t seconds = 15, MicroTime renewed = MicroTime::fromUnix(1700000000)) {
    Lease lease;
    lease.metadata.name = "lock";
    lease.spec->holderIdentity = "other";
    lease.spec->leaseDurationSeconds = seconds;
    lease.spec->acquireTime = lease.spec->renewTime = renewed;
    lease.spec->leaseTransitions = 4;
    leases().create(lease);
  }
  std::unique_ptr<Candidate> candidate(std::string identity, LeaderElectionOptions options = {}) {
    return std::make_unique<Candidate>(clients.rest(), std::move(identity), std::move(options),
                                       &atWork);
  }

  std::atomic<int> atWork = 0;
};

TEST_F(LeaderElectionTest, ACandidateCreatesAMissingLeaseAndLeads) {
  auto a = candidate("a", {.labels = {{"team", "net"}}});
  EXPECT_FALSE(a->elector->isLeader());
  EXPECT_EQ(a->elector->leader(), "");
  a->start();
  a->waitUntilWorking();
  EXPECT_TRUE(a->elector->isLeader());
  EXPECT_EQ(a->elector->leader(), "a");
  const Lease made = lease();
  EXPECT_EQ(made.spec->holderIdentity, "a");
  EXPECT_EQ(made.spec->leaseDurationSeconds, 15);
  EXPECT_EQ(made.spec->leaseTransitions, 0);
  EXPECT_EQ(made.spec->acquireTime, MicroTime(a->clock.wallNow()));
  EXPECT_EQ(made.spec->renewTime, made.spec->acquireTime);
  EXPECT_EQ(made.metadata.labels["team"], "net");
  EXPECT_THAT(a->metrics.text(), HasSubstr("leader_election_master_status{name=\"lock\"} 1\n"));
  EXPECT_TRUE(a->finish());
  EXPECT_FALSE(a->elector->isLeader());
  EXPECT_EQ(a->stopped, 1);
  EXPECT_THAT(a->leaders, ElementsAre("a"));
  EXPECT_THAT(a->metrics.text(), HasSubstr("leader_election_master_status{name=\"lock\"} 0\n"));
}

TEST_F(LeaderElectionTest, TheLeaderRenewsEveryPeriod) {
  auto a = candidate("a");
  a->start();
  a->waitUntilWorking();
  const Lease first = lease();
  for (int i = 1; i <= 20; ++i) {
    a->tick(2s);
    a->settle();
    const Lease now = lease();
    EXPECT_EQ(now.spec->renewTime, first.spec->renewTime + i * 2s);
    EXPECT_EQ(now.spec->acquireTime, first.spec->acquireTime);
    EXPECT_EQ(now.spec->leaseTransitions, 0);
  }
  EXPECT_TRUE(a->elector->isLeader());
  EXPECT_THAT(a->metrics.text(), HasSubstr("leader_election_slowpath_total{name=\"lock\"} 0\n"));
}

TEST_F(LeaderElectionTest, ALeaseIsTakenWhenItHasNotChangedForItsDuration) {
  // The lease's times do not matter: they come from another clock.
  for (const int year : {1990, 2024, 2100}) {
    makeLease(15, MicroTime::fromUnix((year - 1970LL) * 365 * 24 * 3600));
    auto b = candidate("b");
    b->start();
    for (int i = 0; i < 3; ++i) b->tick(kLongestWait);
    b->settle();
    EXPECT_EQ(b->started, 0);
    EXPECT_EQ(b->elector->leader(), "other");
    b->tick(kLongestWait);
    b->waitUntilWorking();
    EXPECT_EQ(holder(), "b");
    EXPECT_EQ(lease().spec.read().leaseTransitions, 5);
    EXPECT_EQ(lease().spec.read().acquireTime, MicroTime(b->clock.wallNow()));
    EXPECT_TRUE(b->finish());
    EXPECT_THAT(b->leaders, ElementsAre("other", "b"));
    leases().remove("lock");
  }
}

TEST_F(LeaderElectionTest, ALeaseThatIsRenewedIsNotTaken) {
  makeLease();
  auto b = candidate("b");
  b->start();
  for (int i = 0; i < 10; ++i) {
    b->settle();
    Lease renewed = lease();
    renewed.spec->renewTime = renewed.spec->renewTime + 1s;
    leases().update(renewed);
    b->tick(kLongestWait);
  }
  b->settle();
  EXPECT_FALSE(b->elector->isLeader());
  EXPECT_EQ(b->started, 0);
  EXPECT_TRUE(b->finish());
  EXPECT_EQ(b->started, 0);
  EXPECT_EQ(b->stopped, 0);
}

TEST_F(LeaderElectionTest, ALeaseWithoutAHolderIsTakenAtOnce) {
  makeLease();
  Lease free = lease();
  free.spec->holderIdentity = "";
  leases().update(free);
  auto b = candidate("b");
  b->start();
  b->waitUntilWorking();
  EXPECT_EQ(lease().spec.read().leaseTransitions, 5);
}

TEST_F(LeaderElectionTest, AStopWaitsForTheWorkAndThenReleasesTheLease) {
  std::promise<void> mayEnd;
  std::promise<void> asked;
  auto a = std::make_unique<Candidate>(
      clients.rest(), "a",
      LeaderElectionOptions{.releaseOnCancel = true,
                            .onStartedLeading = [&](const std::stop_token& stop) {
                              realClock().sleepUntil(Clock::noDeadline, stop);
                              asked.set_value();
                              mayEnd.get_future().wait();
                              EXPECT_EQ(holder(), "a");
                            }});
  a->start();
  a->clock.waitForWaiters(2);
  const MicroTime first = lease().spec.read().renewTime;
  a->stop.request_stop();
  asked.get_future().wait();
  // The candidate leads while it works, and renews the lease.
  EXPECT_TRUE(a->elector->isLeader());
  for (int i = 0; i < 10; ++i) a->tick(2s);
  a->settle();
  EXPECT_EQ(lease().spec.read().renewTime, first + 20s);
  EXPECT_EQ(a->stopped, 0);
  mayEnd.set_value();
  EXPECT_TRUE(a->result.get());
  EXPECT_EQ(a->stopped, 1);
  EXPECT_EQ(holder(), "");
  EXPECT_EQ(lease().spec.read().leaseDurationSeconds, 1);
  EXPECT_EQ(a->elector->leader(), "");

  auto b = candidate("b");
  b->start();
  b->waitUntilWorking();
  EXPECT_EQ(lease().spec.read().leaseTransitions, 1);
}

// Imitates a renewal that was given up and is carried out after all.
TEST_F(LeaderElectionTest, ALeaseThatChangesDuringItsReleaseIsReleased) {
  auto a = candidate("a", {.releaseOnCancel = true});
  a->start();
  a->waitUntilWorking();
  a->settle();
  server.inject({.verb = "update", .resource = "leases", .times = 1, .delay = 500ms});
  const auto hit = server.faultsHit();
  a->stop.request_stop();
  while (server.faultsHit() == hit) std::this_thread::yield();
  leases().patch("lock", PatchType::Merge, R"({"metadata":{"labels":{"x":"y"}}})");
  EXPECT_TRUE(a->result.get());
  EXPECT_EQ(holder(), "");
  EXPECT_EQ(lease().metadata.labels["x"], "y");
}

TEST_F(LeaderElectionTest, ATokenTellsTermsApart) {
  auto a = candidate("a", {.releaseOnCancel = true});
  EXPECT_EQ(a->elector->fencingToken(), std::nullopt);
  a->start();
  a->waitUntilWorking();
  const auto first = a->elector->fencingToken();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->str(), lease().metadata.uid.str() + "/0/a");
  EXPECT_TRUE(a->finish());
  EXPECT_EQ(a->elector->fencingToken(), std::nullopt);
  auto b = candidate("b");
  b->start();
  b->waitUntilWorking();
  const auto second = b->elector->fencingToken();
  ASSERT_TRUE(second);
  EXPECT_GT(second->transitions, first->transitions);
  EXPECT_EQ(second->leaseUid, first->leaseUid);
  b->settle();
  server.inject({.resource = "leases", .status = 500});
  b->clock.advance(10s);
  EXPECT_EQ(b->elector->fencingToken(), std::nullopt);
}

TEST_F(LeaderElectionTest, ACandidateWithoutAThreadForItsWorkLetsOthersLead) {
  auto a = candidate("a", {.releaseOnCancel = true});
  {
    const testing::NoThreads none;
    a->start();
    EXPECT_THAT(errorOf<Error>([&] { a->result.get(); }),
                HasSubstr("no thread for the work of the leader (lock)"));
  }
  EXPECT_FALSE(a->elector->isLeader());
  EXPECT_EQ(holder(), "");
}

TEST_F(LeaderElectionTest, WithoutReleaseTheLeaseIsLeftToExpire) {
  auto a = candidate("a");
  a->start();
  a->waitUntilWorking();
  EXPECT_TRUE(a->finish());
  EXPECT_EQ(holder(), "a");
}

TEST_F(LeaderElectionTest, ALeaseOfAnotherHolderIsNotReleased) {
  auto a = std::make_unique<Candidate>(
      clients.rest(), "a",
      LeaderElectionOptions{.releaseOnCancel = true,
                            .onStartedLeading = [&](const std::stop_token& stop) {
                              realClock().sleepUntil(Clock::noDeadline, stop);
                              leases().remove("lock");
                              makeLease();
                            }});
  a->start();
  a->clock.waitForWaiters(2);
  EXPECT_TRUE(a->finish());
  EXPECT_EQ(holder(), "other");
}

// --- Failures.

TEST_F(LeaderElectionTest, AServerThatFailsForTooLongCostsTheLease) {
  auto a = candidate("a", {.releaseOnCancel = true});
  a->start();
  a->waitUntilWorking();
  a->settle();
  server.inject({.resource = "leases", .status = 500});
  for (int i = 0; i < 4; ++i) {
    a->tick(2s);
    EXPECT_TRUE(a->elector->isLeader());
  }
  a->tick(2s - 1ns);
  EXPECT_TRUE(a->elector->isLeader());
  EXPECT_EQ(atWork, 1);
  a->clock.advance(1ns);  // 10 s after the last renewal
  EXPECT_FALSE(a->elector->isLeader());
  EXPECT_FALSE(a->result.get());
  EXPECT_EQ(a->stopped, 1);
  EXPECT_EQ(atWork, 0);

  // The candidate may run again.
  server.forgetAll();
  a->start();
  a->waitUntilWorking(2);
  EXPECT_TRUE(a->elector->isLeader());
}

TEST_F(LeaderElectionTest, AServerThatDoesNotAnswerCostsTheLeaseToo) {
  auto a = candidate("a");
  a->start();
  a->waitUntilWorking();
  a->settle();
  server.inject({.resource = "leases", .hang = true});
  a->clock.advance(2s);
  a->clock.advance(8s - 1ns);
  EXPECT_TRUE(a->elector->isLeader());
  a->clock.advance(1ns);
  EXPECT_FALSE(a->elector->isLeader());
  EXPECT_FALSE(a->result.get());
  EXPECT_EQ(atWork, 0);
}

TEST_F(LeaderElectionTest, ShortFailuresDoNotCostTheLease) {
  auto a = candidate("a");
  a->start();
  a->waitUntilWorking();
  a->settle();
  server.inject({.verb = "update", .resource = "leases", .times = 3, .status = 503});
  server.inject({.verb = "update", .resource = "leases", .times = 1, .cut = true});
  for (int i = 0; i < 10; ++i) a->tick(2s);
  a->settle();
  EXPECT_TRUE(a->elector->isLeader());
  EXPECT_EQ(a->started, 1);
  EXPECT_EQ(holder(), "a");
}

TEST_F(LeaderElectionTest, ALeaseThatAnotherClientHasChangedIsReadAgain) {
  auto a = candidate("a");
  a->start();
  a->waitUntilWorking();
  a->settle();
  leases().patch("lock", PatchType::Merge, R"({"metadata":{"labels":{"x":"y"}}})");
  a->tick(2s);
  a->settle();
  EXPECT_TRUE(a->elector->isLeader());
  EXPECT_EQ(lease().spec.read().renewTime, MicroTime(a->clock.wallNow()));
  EXPECT_EQ(lease().metadata.labels["x"], "y");
  EXPECT_THAT(a->metrics.text(), HasSubstr("leader_election_slowpath_total{name=\"lock\"} 1\n"));
}

TEST_F(LeaderElectionTest, ADeletedLeaseIsCreatedAgain) {
  auto a = candidate("a");
  a->start();
  a->waitUntilWorking();
  a->settle();
  leases().remove("lock");
  a->tick(2s);
  a->settle();
  EXPECT_TRUE(a->elector->isLeader());
  EXPECT_EQ(holder(), "a");
}

TEST_F(LeaderElectionTest, AnotherHolderInTheLeaseEndsTheTermAtOnce) {
  auto a = candidate("a");
  a->start();
  a->waitUntilWorking();
  a->settle();
  leases().patch("lock", PatchType::Merge, R"({"spec":{"holderIdentity":"thief"}})");
  a->tick(2s);
  EXPECT_FALSE(a->result.get());
  EXPECT_EQ(a->elector->leader(), "thief");
  EXPECT_EQ(a->stopped, 1);
  EXPECT_EQ(holder(), "thief");
  EXPECT_THAT(a->leaders, ElementsAre("a", "thief"));
}

TEST_F(LeaderElectionTest, WorkThatDoesNotEndIsReported) {
  std::promise<void> mayEnd;
  auto a = std::make_unique<Candidate>(
      clients.rest(), "a", LeaderElectionOptions{.onStartedLeading = [&](const std::stop_token&) {
        mayEnd.get_future().wait();
      }});
  a->start();
  a->clock.waitForWaiters(2);
  server.inject({.resource = "leases", .status = 500});
  a->clock.advance(10s);
  EXPECT_FALSE(a->elector->isLeader());
  a->clock.advance(5s);
  EXPECT_NO_THROW(a->elector->check());
  a->clock.advance(1s);
  EXPECT_THROW(a->elector->check(), Error);
  EXPECT_NO_THROW(a->elector->check(1s));
  mayEnd.set_value();
  EXPECT_FALSE(a->result.get());
  EXPECT_NO_THROW(a->elector->check());
}

TEST_F(LeaderElectionTest, WorkThatThrowsEndsTheTerm) {
  auto a = std::make_unique<Candidate>(
      clients.rest(), "a",
      LeaderElectionOptions{
          .releaseOnCancel = true,
          .onStartedLeading = [](const std::stop_token&) { throw std::out_of_range("work"); }});
  a->start();
  EXPECT_THROW(a->result.get(), std::out_of_range);
  EXPECT_EQ(holder(), "");
  EXPECT_EQ(a->stopped, 1);
}

TEST_F(LeaderElectionTest, ALeaderWhoseWorkReturnsEarlyKeepsLeading) {
  auto a = std::make_unique<Candidate>(
      clients.rest(), "a",
      LeaderElectionOptions{.releaseOnCancel = true,
                            .onStartedLeading = [](const std::stop_token&) {}});
  a->start();
  a->clock.waitForWaiters(2);
  for (int i = 0; i < 8; ++i) a->tick(2s);
  a->settle();
  EXPECT_TRUE(a->elector->isLeader());
  EXPECT_TRUE(a->finish());
  EXPECT_EQ(holder(), "");
}

TEST_F(LeaderElectionTest, CallbacksThatThrowAreHarmless) {
  auto a = std::make_unique<Candidate>(
      clients.rest(), "a",
      LeaderElectionOptions{.onStoppedLeading = [] { throw Error("stopped"); },
                            .onNewLeader = [](const String&) { throw 7; }});  // NOLINT
  a->start();
  a->waitUntilWorking();
  EXPECT_TRUE(a->finish());
}

TEST_F(LeaderElectionTest, RecordsEventsAboutTheLeader) {
  EventRecorder events(clients.rest(), {.component = "test"});
  auto a = candidate("a", {.events = &events});
  a->start();
  a->waitUntilWorking();
  a->finish();
  events.flush();
  const auto found = clients.coreV1().events("default").list().items;
  ASSERT_EQ(found.size(), 1U);  // the second event made it a series
  EXPECT_EQ(found[0].message, "a became leader");
  EXPECT_EQ(found[0].reason, "LeaderElection");
  EXPECT_EQ(found[0].involvedObject->kind, "Lease");
  EXPECT_EQ(found[0].involvedObject->uid, lease().metadata.uid);
}

// --- Several candidates.

TEST_F(LeaderElectionTest, TwoCandidatesTakeTurns) {
  auto a = candidate("a", {.releaseOnCancel = true});
  auto b = candidate("b", {.releaseOnCancel = true});
  a->start();
  a->waitUntilWorking();
  b->start();
  for (int i = 0; i < 10; ++i) {
    a->tick(2s);
    a->settle();
    b->tick(kLongestWait);
    b->settle();
    EXPECT_TRUE(a->elector->isLeader());
    EXPECT_FALSE(b->elector->isLeader());
  }
  EXPECT_TRUE(a->finish());
  b->tick(kLongestWait);
  b->waitUntilWorking();
  EXPECT_FALSE(a->elector->isLeader());
  EXPECT_EQ(holder(), "b");
}

TEST_F(LeaderElectionTest, NoTwoCandidatesWorkAtTheSameTime) {
  // Three candidates on one clock that runs far faster than the server answers, and a server that
  // often fails: leases are lost all the time.
  FakeClock clock;
  std::atomic<int> working = 0;
  std::atomic<bool> two = false;
  std::atomic<int> terms = 0;
  struct Copy {
    std::mutex mutex;
    std::optional<std::stop_token> term;  // set while the copy works
    std::jthread thread;
  };
  std::array<Copy, 3> copies;
  Metrics metrics;
  server.inject({.resource = "leases", .probability = 0.3, .status = 500});
  for (std::size_t i = 0; i < copies.size(); ++i) {
    Copy& copy = copies[i];
    copy.thread = std::jthread([&, i](const std::stop_token& stop) {
      const auto work = [&](const std::stop_token& term) {
        {
          std::lock_guard lock(copy.mutex);
          if (term.stop_requested()) return;
          if (++working > 1) two = true;
          ++terms;
          copy.term = term;
        }
        realClock().sleepUntil(Clock::noDeadline, term);
        --working;
        std::lock_guard lock(copy.mutex);
        copy.term.reset();
      };
      LeaderElector elector(clients.rest(), {.namespace_ = "default",
                                             .name = "lock",
                                             .identity = "copy-" + std::to_string(i),
                                             .releaseOnCancel = true,
                                             .onStartedLeading = work,
                                             .clock = &clock,
                                             .metrics = &metrics});
      while (!stop.stop_requested()) elector.run(stop);
    });
  }
  // Time advances only when every copy that was asked to end its work has done so. That stands for
  // the condition that work ends within the difference of lease duration and renew deadline.
  const auto ending = [](Copy& copy) {
    std::lock_guard lock(copy.mutex);
    return copy.term && copy.term->stop_requested();
  };
  for (int i = 0; terms < 12 && i < 200'000; ++i) {
    clock.waitForWaiters(1);
    {
      std::scoped_lock nobodyBegins(copies[0].mutex, copies[1].mutex, copies[2].mutex);
      clock.advance(500ms);
    }
    for (Copy& copy : copies) {
      while (ending(copy)) std::this_thread::yield();
    }
  }
  for (Copy& copy : copies) copy.thread.request_stop();
  for (Copy& copy : copies) copy.thread.join();
  EXPECT_FALSE(two);
  EXPECT_GE(terms, 12);
}

// --- Options.

TEST_F(LeaderElectionTest, OptionsAreChecked) {
  const LeaderElectionOptions good{.namespace_ = "default",
                                   .name = "lock",
                                   .identity = "a",
                                   .onStartedLeading = [](const std::stop_token&) {}};
  const auto problem = [&](auto change) -> std::string {
    LeaderElectionOptions options = good;
    change(options);
    try {
      LeaderElector elector(clients.rest(), options);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(problem([](auto&) {}), "");
  EXPECT_THAT(problem([](auto& o) { o.renewDeadline = 15s; }),
              HasSubstr("leaseDuration must be greater than renewDeadline"));
  EXPECT_THAT(problem([](auto& o) { o.retryPeriod = 8400ms; }),
              HasSubstr("renewDeadline must be greater than 1.2 times retryPeriod"));
  EXPECT_EQ(problem([](auto& o) { o.retryPeriod = 8300ms; }), "");
  EXPECT_THAT(problem([](auto& o) { o.retryPeriod = 0s; }), HasSubstr("retryPeriod"));
  EXPECT_THAT(problem([](auto& o) { o.renewDeadline = -1s; }), HasSubstr("renewDeadline"));
  EXPECT_THAT(problem([](auto& o) { o.leaseDuration = 0s; }), HasSubstr("leaseDuration"));
  EXPECT_THAT(problem([](auto& o) { o.name = ""; }), HasSubstr("name is empty"));
  EXPECT_THAT(problem([](auto& o) { o.namespace_ = ""; }), HasSubstr("namespace is empty"));
  EXPECT_THAT(problem([](auto& o) { o.identity = ""; }), HasSubstr("identity is empty"));
  EXPECT_THAT(problem([](auto& o) { o.onStartedLeading = nullptr; }),
              HasSubstr("onStartedLeading is missing"));
  EXPECT_NE(uniqueIdentity(), uniqueIdentity());
}

TEST_F(LeaderElectionTest, DurationsAreRoundedUpInTheLease) {
  auto a = candidate("a", {.leaseDuration = 1500ms, .renewDeadline = 1s, .retryPeriod = 500ms});
  a->start();
  a->waitUntilWorking();
  EXPECT_EQ(lease().spec.read().leaseDurationSeconds, 2);
}

}  // namespace
}  // namespace kube
