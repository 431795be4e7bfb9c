// Tests of leader election in coroutines, on the test's own thread.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "kube/base/internal/error_of_testing.h"
#include "kube/base/internal/finally.h"
#include "kube/base/internal/no_threads_testing.h"
#include "kube/base/internal/test_loop_testing.h"
#include "kube/client/coordination/v1.h"
#include "kube/controller/leader_election.h"
#include "kube/testing/api_server_testing.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using testing::Begun;
using ::testing::HasSubstr;
using testing::TestLoop;

class LeaderElectionTaskTest : public testing::ApiServerTest {
 protected:
  // Works until the stop.
  Task<> work(bool* busy) {
    *busy = true;
    const detail::Finally ended([busy] { *busy = false; });
    co_await sleepUntil(Clock::noDeadline, clock);
    throw CanceledError("asked to end");
  }
  std::unique_ptr<LeaderElector> elector(const char* identity, LeaderElectionOptions options) {
    options.namespace_ = "default";
    options.name = "lock";
    options.identity = identity;
    options.releaseOnCancel = true;
    options.clock = &clock;
    options.metrics = &metrics;
    return std::make_unique<LeaderElector>(clients.rest(), std::move(options));
  }
  std::unique_ptr<LeaderElector> elector(const char* identity, bool* busy) {
    return elector(identity, LeaderElectionOptions{.leading = [this, busy] { return work(busy); }});
  }
  String holder() const {
    const auto lease = clients.coordinationV1().leases("default").get("lock");
    return lease.spec.read().holderIdentity.value_or("");
  }

  FakeClock clock;
  Metrics metrics;
  TestLoop loop;
  std::stop_source stop;
};

TEST_F(LeaderElectionTaskTest, LeadsWithoutAThread) {
  static_cast<void>(clients.coordinationV1().leases("default").list());  // starts the I/O thread
  bool busy = false;
  const auto a = elector("a", &busy);
  const testing::NoThreads none;
  Begun<bool> run(a->async().run(), loop.executor(), stop.get_token());
  loop.runUntil([&] { return busy; });
  EXPECT_TRUE(a->isLeader());
  for (int i = 0; i < 10; ++i) {
    loop.runUntil([&] { return clock.waiters() == 2; });
    clock.advance(2s);
  }
  loop.runUntil([&] { return clock.waiters() == 2; });
  EXPECT_TRUE(a->isLeader());
  EXPECT_EQ(holder(), "a");
  stop.request_stop();
  loop.runUntil([&] { return run.over(); });
  EXPECT_TRUE(run.result());
  EXPECT_FALSE(busy);
  EXPECT_FALSE(a->isLeader());
  EXPECT_EQ(holder(), "");
}

TEST_F(LeaderElectionTaskTest, TwoCandidatesOnOneLoopTakeTurns) {
  bool busyA = false, busyB = false;
  const auto a = elector("a", &busyA);
  const auto b = elector("b", &busyB);
  std::stop_source stopB;
  Begun<bool> runA(a->async().run(), loop.executor(), stop.get_token());
  loop.runUntil([&] { return busyA; });
  Begun<bool> runB(b->async().run(), loop.executor(), stopB.get_token());
  loop.runUntil([&] { return clock.waiters() == 3; });
  EXPECT_EQ(b->leader(), "a");
  stop.request_stop();
  loop.runUntil([&] { return runA.over(); });
  EXPECT_FALSE(busyA);
  loop.runUntil([&] { return clock.waiters() == 1; });
  clock.advance(4400ms);
  loop.runUntil([&] { return busyB; });
  EXPECT_FALSE(busyA);
  stopB.request_stop();
  loop.runUntil([&] { return runB.over(); });
}

TEST_F(LeaderElectionTaskTest, ALostLeaseStopsTheWorkAndReturnsFalse) {
  bool busy = false;
  const auto a = elector("a", &busy);
  Begun<bool> run(a->async().run(), loop.executor(), stop.get_token());
  loop.runUntil([&] { return busy && clock.waiters() == 2; });
  server.inject({.resource = "leases", .status = 500});
  clock.advance(10s);
  EXPECT_FALSE(a->isLeader());
  loop.runUntil([&] { return run.over(); });
  EXPECT_FALSE(run.result());
  EXPECT_FALSE(busy);
}

TEST_F(LeaderElectionTaskTest, AStopWaitsForTheWorkWhileTheLeaseIsRenewed) {
  FakeClock theirs;
  bool ended = false;
  const auto a = elector("a", LeaderElectionOptions{.leading = [&]() -> Task<> {
                           co_await sleepUntil(Clock::noDeadline, clock);
                           const detail::TaskContext& context = co_await detail::CurrentContext();
                           detail::TaskContext deaf = context;
                           deaf.stop = {};
                           Task<bool> cleanUp = sleepFor(1s, theirs);
                           co_await detail::TaskAccess::inContext(cleanUp, deaf);
                           ended = true;
                         }});
  Begun<bool> run(a->async().run(), loop.executor(), stop.get_token());
  loop.runUntil([&] { return clock.waiters() == 2; });
  stop.request_stop();
  loop.runUntil([&] { return theirs.waiters() == 1; });
  for (int i = 0; i < 10; ++i) {
    loop.runUntil([&] { return clock.waiters() == 2; });
    clock.advance(2s);
  }
  loop.runUntil([&] { return clock.waiters() == 2; });
  EXPECT_TRUE(a->isLeader());
  EXPECT_EQ(holder(), "a");
  theirs.advance(1s);
  loop.runUntil([&] { return run.over(); });
  EXPECT_TRUE(ended);
  EXPECT_EQ(holder(), "");
}

TEST_F(LeaderElectionTaskTest, WorkThatThrowsEndsTheTerm) {
  const auto a = elector("a", LeaderElectionOptions{.leading = []() -> Task<> {
                           throw std::out_of_range("work");
                           co_return;
                         }});
  Begun<bool> run(a->async().run(), loop.executor(), stop.get_token());
  loop.runUntil([&] { return run.over(); });
  EXPECT_THROW(run.result(), std::out_of_range);
  EXPECT_EQ(holder(), "");
}

TEST_F(LeaderElectionTaskTest, ADestroyedTaskGivesUpTheWork) {
  bool busy = false;
  const auto a = elector("a", &busy);
  Begun<bool> run(a->async().run(), loop.executor(), stop.get_token());
  loop.runUntil([&] { return busy && clock.waiters() == 2; });
  run.destroy();
  EXPECT_FALSE(busy);
  EXPECT_FALSE(a->isLeader());
  EXPECT_EQ(clock.waiters(), 0U);
  EXPECT_EQ(holder(), "a");  // until it expires
  // Given up while it waits for the answer of the server.
  Begun<bool> again(a->async().run(), loop.executor(), stop.get_token());
  again.destroy();
  EXPECT_FALSE(a->isLeader());
}

TEST_F(LeaderElectionTaskTest, WorkWithAThreadRunsBesideTheLoop) {
  std::atomic<bool> busy = false;
  const auto a =
      elector("a", LeaderElectionOptions{.onStartedLeading = [&](const std::stop_token& asked) {
                busy = true;
                realClock().sleepUntil(Clock::noDeadline, asked);
                busy = false;
              }});
  Begun<bool> run(a->async().run(), loop.executor(), stop.get_token());
  loop.runUntil([&] { return clock.waiters() == 2; });
  stop.request_stop();
  loop.runUntil([&] { return run.over(); });
  EXPECT_TRUE(run.result());
  EXPECT_FALSE(busy);
}

TEST_F(LeaderElectionTaskTest, AThreadMayRunACoroutineAsWork) {
  bool busy = false;
  const auto a = elector("a", &busy);
  std::jthread thread([&] { EXPECT_TRUE(a->run(stop.get_token())); });
  clock.waitForWaiters(2);
  EXPECT_TRUE(a->isLeader());
  stop.request_stop();
  thread.join();
  EXPECT_FALSE(busy);
  EXPECT_EQ(holder(), "");
}

TEST_F(LeaderElectionTaskTest, OneKindOfWorkIsRequired) {
  EXPECT_THAT(errorOf<ConfigError>([&] {
                elector("a", LeaderElectionOptions{.onStartedLeading = [](std::stop_token) {},
                                                   .leading = []() -> Task<> { co_return; }});
              }),
              HasSubstr("onStartedLeading and leading are both set"));
}

}  // namespace
}  // namespace kube
