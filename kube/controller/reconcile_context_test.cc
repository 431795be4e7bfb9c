#include "kube/controller/reconcile_context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>

#include "kube/base/internal/error_of_testing.h"
#include "kube/base/internal/logged_testing.h"
#include "kube/controller/controller_testing.h"
#include "kube/controller/internal/wake_reasons.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using corev1::ConfigMap;
using corev1::Secret;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Logged;
using ::testing::MatchesRegex;

class ReconcileContextTest : public testing::ControllerFixture {
 protected:
  // Waits until keys may be enqueued.
  template <class C>
  std::unique_ptr<testing::Running> startWork(C& controller) {
    controller.beforeWork([this](const std::stop_token&) { notes.add("ready"); });
    auto running = start(controller);
    notes.waitFor("ready");
    return running;
  }
};

TEST_F(ReconcileContextTest, SaysWhyTheKeyIsReconciled) {
  create("a");
  Controller<ConfigMap> controller("maps", factory, real());
  controller.reconcile([&](const ReconcileContext& context, const ObjectKey& key) {
    EXPECT_EQ(context.attempt, 1);
    EXPECT_FALSE(context.stop.stop_requested());
    EXPECT_EQ(context.deadline, Clock::noDeadline);
    notes.add(fmt::format("{}: {}", key, context.why()));
  });
  const auto running = start(controller);
  notes.waitFor("book/a: ConfigMap book/a added (configmaps)");
  change("a", "new");
  notes.waitFor("book/a: ConfigMap book/a updated (configmaps)");
  controller.enqueue({"book", "a"});
  notes.waitFor("book/a: asked for (enqueue)");
  maps("book").remove("a");
  notes.waitFor("book/a: ConfigMap book/a deleted (configmaps)");
}

TEST_F(ReconcileContextTest, ReasonsOfAKeyThatWaitsAreMergedAndBounded) {
  constexpr int kSecrets = 13;
  Controller<ConfigMap> controller("maps", factory, real());
  std::atomic<int> mapped = 0;
  std::atomic<std::uint64_t> total = 0;
  std::latch goOn(1);
  controller.watches<Secret>([&](const Secret&) -> std::vector<ObjectKey> {
    ++mapped;
    mapped.notify_all();
    return {{"book", "a"}};
  });
  controller.reconcile([&](const ReconcileContext& context, const ObjectKey& key) {
    if (key.name == "blocker") {
      notes.add("blocked");
      goOn.wait();
      return;
    }
    EXPECT_LE(context.reasons.size(), ReconcileContext::kReasons);
    if (total == 0) {
      EXPECT_EQ(context.reasons.size(), ReconcileContext::kReasons);
      EXPECT_GE(context.reasonCount, kSecrets - 1U);
      EXPECT_EQ(context.reasons[0].kind, "Secret");
      EXPECT_EQ(context.reasons[0].source, "secrets");
      EXPECT_EQ(context.reasons[0].change, WakeReason::Change::Added);
      EXPECT_THAT(context.why(), HasSubstr(" more"));
    }
    total += context.reasonCount;
    if (total == kSecrets) notes.add("all");
  });
  const auto running = startWork(controller);
  controller.enqueue({"book", "blocker"});
  notes.waitFor("blocked");
  for (int i = 0; i < kSecrets; ++i) secrets().create(secret("s-" + std::to_string(i)));
  for (int now; (now = mapped.load()) < kSecrets;) mapped.wait(now);
  goOn.count_down();
  notes.waitFor("all");
}

TEST_F(ReconcileContextTest, AFailedAttemptHandsItsReasonsToTheNext) {
  create("a");
  Controller<ConfigMap> controller("maps", factory, fake());
  controller.reconcile([&](const ReconcileContext& context, const ObjectKey&) {
    notes.add(fmt::format("{}: {}", context.attempt, context.why()));
    if (notes.lines().size() < 3) throw std::runtime_error("not yet");
  });
  const auto running = start(controller);
  notes.waitFor("1: ConfigMap book/a added (configmaps)");
  clock.waitForWaiters(1);
  clock.advance(5ms);
  notes.waitFor("2: ConfigMap book/a added (configmaps)");
  clock.waitForWaiters(1);
  clock.advance(10ms);
  notes.waitFor("3: ConfigMap book/a added (configmaps)");
  controller.enqueue({"book", "a"});
  notes.waitFor("1: asked for (enqueue)");
}

TEST_F(ReconcileContextTest, ADueRequeueIsAReason) {
  create("a");
  Controller<ConfigMap> controller("maps", factory, fake());
  controller.reconcile([&](const ReconcileContext& context, const ObjectKey&) {
    notes.add(context.why());
    return Requeue::after(10min);
  });
  const auto running = start(controller);
  notes.waitFor("ConfigMap book/a added (configmaps)");
  clock.waitForWaiters(1);
  change("a", "new");
  notes.waitFor("ConfigMap book/a updated (configmaps)");
  clock.advance(10min);
  notes.waitFor("due (requeue)");
}

TEST_F(ReconcileContextTest, TheLoggerCarriesTheKeyAndAnIdOfTheAttempt) {
  const Logged logged(LogLevel::Info);
  create("a");
  Controller<ConfigMap> controller("maps", factory, real());
  std::set<std::string> ids;  // used by one worker
  controller.reconcile([&](const ReconcileContext& context, const ObjectKey& key) {
    EXPECT_THAT(context.id, MatchesRegex("[0-9a-f-]+"));
    EXPECT_EQ(context.id.size(), 36U);
    EXPECT_TRUE(ids.insert(context.id).second);
    context.log.info("hello");
    EXPECT_THAT(logged.text(), HasSubstr("controller: hello controller=maps object=book/a "
                                         "reconcileID=" +
                                         context.id));
    notes.add(key);
    if (ids.size() == 1) throw std::runtime_error("not yet");
  });
  const auto running = start(controller);
  notes.waitFor("book/a", 2);
  running->finish();
  EXPECT_THAT(logged.text(), HasSubstr("reconciling failed and will be retried: not yet "
                                       "controller=maps object=book/a reconcileID="));
}

TEST_F(ReconcileContextTest, ACoroutineTakesTheContext) {
  create("a");
  Controller<ConfigMap> controller("maps", factory, fake());
  controller.reconcile([&](const ReconcileContext& context, const ObjectKey& key) -> Task<Requeue> {
    notes.add("begins");
    co_await sleepFor(1s, clock);
    notes.add(fmt::format("{}: {}", key, context.why()));
    co_return {};
  });
  const auto running = start(controller);
  notes.waitFor("begins");
  clock.waitForWaiters(1);
  clock.advance(1s);
  notes.waitFor("book/a: ConfigMap book/a added (configmaps)");
}

TEST_F(ReconcileContextTest, ATerminalErrorIsNotRetried) {
  const Logged logged;
  create("a");
  Controller<ConfigMap> controller("maps", factory, fake());
  controller
      .onGiveUp([&](const ObjectKey& key, const std::string& error) {
        notes.add("gave up " + key.str() + ": " + error);
      })
      .reconcile([&](const ObjectKey&) {
        throw TerminalError(std::invalid_argument("the data are not valid"));
      });
  const auto running = start(controller);
  notes.waitFor("gave up book/a: the data are not valid");
  EXPECT_EQ(clock.waiters(), 0U);
  change("a", "new");
  notes.waitFor("gave up book/a: the data are not valid", 2);
  running->finish();
  EXPECT_THAT(logged.text(), HasSubstr("reconciling failed for good and is given up: the data are "
                                       "not valid controller=maps object=book/a"));
  EXPECT_THAT(metrics.text(),
              HasSubstr("terminal_reconcile_errors_total{controller=\"maps\"} 2\n"));
  EXPECT_THAT(metrics.text(), HasSubstr("runtime_reconcile_errors_total{controller=\"maps\"} 2\n"));
}

TEST_F(ReconcileContextTest, AReconcileThatTakesTooLongIsAskedToStop) {
  const Logged logged;
  create("a");
  Controller<ConfigMap> controller("maps", factory, fake());
  std::atomic<int> calls = 0;
  controller.reconcileTimeout(30s).reconcile(
      [&](const ReconcileContext& context, const ObjectKey&) {
        EXPECT_EQ(context.deadline, clock.now() + 30s);
        if (++calls > 1) return notes.add("done");
        notes.add("begun");
        clock.sleepUntil(Clock::noDeadline, context.stop);
        throw CanceledError("a call was canceled");
      });
  const auto running = start(controller);
  notes.waitFor("begun");
  clock.advance(30s - 1ns);
  EXPECT_EQ(logged.text(), "");
  clock.advance(1ns);
  clock.waitForWaiters(1);
  clock.advance(5ms);
  notes.waitFor("done");
  running->finish();
  EXPECT_THAT(logged.text(), HasSubstr("reconciling has not ended in 30 s, and is asked to stop "
                                       "controller=maps object=book/a"));
  EXPECT_THAT(logged.text(), HasSubstr("will be retried: after 30 s, with a limit of 30 s: a call "
                                       "was canceled"));
  EXPECT_THAT(metrics.text(), HasSubstr("reconcile_timeouts_total{controller=\"maps\"} 1\n"));
}

TEST_F(ReconcileContextTest, ACoroutineThatTakesTooLongIsStopped) {
  create("a");
  Controller<ConfigMap> controller("maps", factory, fake());
  controller.reconcileTimeout(30s).reconcile([&](const ObjectKey&) -> Task<> {
    notes.add("begun");
    const bool full = co_await sleepFor(1h, clock);
    notes.add(full ? "not stopped" : "stopped");
  });
  const auto running = start(controller);
  notes.waitFor("begun");
  clock.waitForWaiters(2);
  clock.advance(30s);
  notes.waitFor("stopped");
  running->finish();
  EXPECT_THAT(metrics.text(), HasSubstr("reconcile_timeouts_total{controller=\"maps\"} 1\n"));
  EXPECT_THAT(metrics.text(), HasSubstr("result=\"success\"} 1\n"));
}

TEST_F(ReconcileContextTest, ThePriorityOfARequeueDecidesItsOrder) {
  Controller<ConfigMap> controller("maps", factory, fake());
  std::latch goOn(1);
  std::atomic<int> calls = 0;
  controller.reconcile([&](const ReconcileContext& context, const ObjectKey& key) -> Requeue {
    ++calls;
    notes.add(fmt::format("{} {}", key.name, context.priority));
    if (key.name == "blocker") goOn.wait();
    if (calls > 2) return {};
    return Requeue::after(1s).withPriority(key.name == "high" ? 10 : -10);
  });
  const auto running = startWork(controller);
  controller.enqueue({"", "low"});
  controller.enqueue({"", "high"});
  notes.waitFor("low 0");
  notes.waitFor("high 0");
  controller.enqueue({"", "blocker"});
  notes.waitFor("blocker 0");
  clock.advance(1s);
  goOn.count_down();
  notes.waitFor("low -10");
  EXPECT_THAT(notes.lines(),
              ElementsAre("ready", "low 0", "high 0", "blocker 0", "high 10", "low -10"));
}

TEST_F(ReconcileContextTest, WithoutASyncInTimeRunThrows) {
  server.inject({.resource = "configmaps", .status = 403});
  Controller<ConfigMap> controller("maps", factory, fake());
  controller.syncTimeout(30s).reconcile([](const ObjectKey&) {});
  const auto running = start(controller);
  clock.waitForWaiters(2);
  clock.advance(30s);
  EXPECT_THAT(errorOf<TimeoutError>([&] { running->wait(); }),
              HasSubstr("controller \"maps\": a cache has not synced in 30 s: configmaps: not "
                        "synced yet"));
}

TEST(WakeReasonsTest, TheLastOnesAreKeptEachOnce) {
  const auto reason = [](int i) {
    return WakeReason{.source = "s", .kind = "K", .object = {"", String(std::to_string(i))}};
  };
  detail::WakeReasons reasons;
  for (int i = 0; i < 10; ++i) reasons.add(reason(i));
  EXPECT_EQ(reasons.count, 10U);
  ASSERT_EQ(reasons.last.size(), ReconcileContext::kReasons);
  EXPECT_EQ(reasons.last.front(), reason(2));
  reasons.add(reason(2));
  EXPECT_EQ(reasons.count, 11U);
  EXPECT_EQ(reasons.last.size(), ReconcileContext::kReasons);
  EXPECT_EQ(reasons.last.front(), reason(3));
  EXPECT_EQ(reasons.last.back(), reason(2));

  detail::WakeReasons later;
  later.add(reason(9));
  later.add(reason(20));
  later.addEarlier(reasons);
  EXPECT_EQ(later.count, 13U);
  EXPECT_EQ(later.last.size(), ReconcileContext::kReasons);
  EXPECT_EQ(later.last.back(), reason(20));
  EXPECT_EQ(later.last.front(), reason(4));
}

}  // namespace
}  // namespace kube
