// Waits for one object and for several; conditions; watches that resume.
#include "kube/client/wait.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "kube/base/internal/each_wait_testing.h"
#include "kube/base/internal/error_of_testing.h"
#include "kube/base/internal/test_loop_testing.h"
#include "kube/client/conditions.h"
#include "kube/client/resuming_watch.h"
#include "kube/codec/yaml.h"
#include "kube/testing/api_server_testing.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using testing::Begun;
using ::testing::HasSubstr;
using testing::TestLoop;

class WaitTest : public testing::ApiServerTest {
 protected:
  WaitTest() : pods(clients.coreV1().pods("default")) {}

  corev1::Pod labelled(std::string_view name) const {
    corev1::Pod result = pod(name);
    result.metadata.labels["app"] = "web";
    return pods.create(result);
  }
  void setPhase(std::string_view name, std::string_view phase) const {
    corev1::Pod current = pods.get(name);
    current.status->phase = phase;
    pods.updateStatus(current);
  }
  /// Repeats a write that was sent on a connection that the restart has closed.
  template <class Write>
  static void afterRestart(const Write& write) {
    for (;;) {
      try {
        return write();
      } catch (const TransportError&) {
      }
    }
  }
  /// Runs the task until it watches.
  template <class T>
  void runUntilWatching(TestLoop& loop, Begun<T>& task) const {
    loop.runUntil([&] { return task.over() || !server.requests({.verb = "watch"}).empty(); });
    ASSERT_FALSE(task.over());
  }

  ResourceClient<corev1::Pod> pods;
};

TEST_F(WaitTest, AllObjectsOfASelectorAreAwaited) {
  labelled("a");
  labelled("b");
  pods.create(pod("another"));
  TestLoop loop;
  const auto running = conditions::every(conditions::podRunning);
  const metav1::ListOptions which{.labelSelector = "app=web"};
  Begun<ObjectsByKey<corev1::Pod>> wait(waitForObjects(pods.async(), which, running),
                                        loop.executor());
  runUntilWatching(loop, wait);
  setPhase("a", "Running");
  setPhase("another", "Running");
  EXPECT_FALSE(wait.over());
  pods.remove("b", {.gracePeriodSeconds = 0});
  loop.runUntil([&] { return wait.over(); });
  const auto found = wait.result();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.begin()->second.status.read().phase, "Running");
  const auto same = waitForObjects(pods, which, conditions::some(conditions::podRunning));
  EXPECT_EQ(same.size(), 1U) << "the blocking form";
  EXPECT_TRUE(waitForObjects(pods, {.labelSelector = "app=db"}, conditions::none).empty());
}

TEST_F(WaitTest, ItGoesOnWhenTheServerIsAwayForAWhile) {
  labelled("a");
  TestLoop loop;
  Begun<std::optional<corev1::Pod>> wait(waitFor(pods.async(), "a", conditions::podRunning),
                                         loop.executor());
  runUntilWatching(loop, wait);
  server.inject({.verb = "list", .times = 1, .status = 500});
  server.inject({.verb = "list", .times = 1, .cut = true});
  server.restart();
  afterRestart([&] { setPhase("a", "Running"); });
  loop.runUntil([&] { return wait.over(); });
  EXPECT_EQ(wait.result()->metadata.name, "a");
}

TEST_F(WaitTest, ErrorsOfTheFirstListAndRefusalsAreThrown) {
  server.inject({.verb = "list", .times = 1, .status = 500});
  EXPECT_EQ(testing::refusalOf([&] { waitFor(pods, "a", conditions::exists); }).code, 500);
  labelled("a");
  TestLoop loop;
  Begun<std::optional<corev1::Pod>> wait(waitFor(pods.async(), "a", conditions::podRunning),
                                         loop.executor());
  runUntilWatching(loop, wait);
  server.inject({.verb = "list", .times = 1, .status = 403});
  while (server.failWatches(testing::WatchFault::Cut) == 0) std::this_thread::yield();
  loop.runUntil([&] { return wait.over(); });
  EXPECT_EQ(testing::refusalOf([&] { wait.result(); }).code, 403);
}

TEST_F(WaitTest, ItsTimeIsThatOfTheClock) {
  labelled("a");
  FakeClock clock;
  TestLoop loop;
  const WaitOptions options{.timeout = 1h, .clock = &clock};
  Begun<std::optional<corev1::Pod>> wait(
      waitFor(pods.async(), "a", conditions::podRunning, options), loop.executor());
  runUntilWatching(loop, wait);
  clock.advance(59min);
  EXPECT_FALSE(wait.over());
  clock.advance(1min);
  loop.runUntil([&] { return wait.over(); });
  EXPECT_EQ(errorOf<TimeoutError>([&] { wait.result(); }),
            "wait for \"a\": the condition did not become true in time");
}

TEST_F(WaitTest, AConditionsErrorIsThrownWhateverItIs) {
  labelled("a");
  int calls = 0;
  const auto fails = [&](const corev1::Pod*) -> bool {
    ++calls;
    throw TransportError("mine");
  };
  EXPECT_EQ(errorOf<TransportError>([&] { waitFor(pods, "a", fails); }), "mine");
  EXPECT_EQ(calls, 1);
}

// --- Conditions.

TEST(ConditionsTest, HoldForTheStateOfThePresentGeneration) {
  using namespace conditions;
  EXPECT_FALSE(deploymentAvailable(nullptr));
  auto deployment = fromYaml<appsv1::Deployment>(R"(
metadata: {generation: 2}
spec: {replicas: 2}
status: {observedGeneration: 1, replicas: 3, updatedReplicas: 2, availableReplicas: 2,
         conditions: [{type: Available, status: "True"}]})");
  EXPECT_FALSE(deploymentAvailable(&deployment));
  deployment.status->observedGeneration = 2;
  EXPECT_TRUE(deploymentAvailable(&deployment));
  EXPECT_FALSE(deploymentRolledOut(&deployment)) << "an old replica is left";
  deployment.status->replicas = 2;
  EXPECT_TRUE(deploymentRolledOut(&deployment));
  deployment.status->availableReplicas = 1;
  EXPECT_FALSE(deploymentRolledOut(&deployment));

  auto set = fromYaml<appsv1::StatefulSet>(R"(
spec: {replicas: 3, updateStrategy: {rollingUpdate: {partition: 2}}}
status: {readyReplicas: 3, updatedReplicas: 1, currentRevision: a, updateRevision: b})");
  EXPECT_TRUE(statefulSetRolledOut(&set)) << "the partition is updated";
  set.spec->updateStrategy->rollingUpdate->partition = 0;
  EXPECT_FALSE(statefulSetRolledOut(&set));
  set.status->currentRevision = "b";
  EXPECT_TRUE(statefulSetRolledOut(&set));

  auto daemons = fromYaml<appsv1::DaemonSet>(
      "status: {desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 1}");
  EXPECT_FALSE(daemonSetRolledOut(&daemons));
  daemons.status->numberAvailable = 2;
  EXPECT_TRUE(daemonSetRolledOut(&daemons));
}

TEST(ConditionsTest, OfPodsJobsAndOthers) {
  using namespace conditions;
  auto pod = fromYaml<corev1::Pod>(
      "status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}");
  EXPECT_TRUE(podRunning(&pod) && podReady(&pod));
  EXPECT_FALSE(podScheduled(&pod) || podFinished(&pod) || podReady(nullptr));
  auto job = fromYaml<batchv1::Job>("status: {conditions: [{type: Failed, status: 'True'}]}");
  EXPECT_TRUE(jobFailed(&job) && jobFinished(&job));
  EXPECT_FALSE(jobComplete(&job));
  auto crd = fromYaml<apiextensionsv1::CustomResourceDefinition>(
      "status: {conditions: [{type: Established, status: 'True'}]}");
  EXPECT_TRUE(crdEstablished(&crd));
  auto service = fromYaml<corev1::Service>("spec: {type: LoadBalancer}");
  EXPECT_FALSE(serviceProvisioned(&service));
  service.status->loadBalancer->ingress.push_back({.ip = "10.0.0.1"});
  EXPECT_TRUE(serviceProvisioned(&service));
}

TEST(ConditionsTest, AreCombined) {
  using namespace conditions;
  auto pod = fromYaml<corev1::Pod>(R"(
metadata: {uid: "1"}
status: {phase: Running, conditions: [{type: Ready, status: 'False'}]})");
  const corev1::Pod* none = nullptr;
  EXPECT_TRUE(anyOf(podReady, podRunning)(&pod));
  EXPECT_FALSE(allOf(podReady, podRunning)(&pod));
  EXPECT_TRUE(noneOf(podReady)(&pod));
  EXPECT_TRUE(hasCondition("Ready", "False")(&pod));
  EXPECT_FALSE(hasCondition("Ready")(none));
  EXPECT_TRUE(deleted()(none));
  EXPECT_FALSE(deleted()(&pod));
  EXPECT_FALSE(deleted("1")(&pod));
  EXPECT_TRUE(deleted("0")(&pod)) << "another object has the name";
  const Unstructured dynamic = toUnstructured(pod);
  EXPECT_TRUE(hasCondition("Ready", "False")(&dynamic));
  EXPECT_FALSE(hasCondition("Other")(&dynamic));
}

// --- Watches that resume.

class ResumingWatchTest : public WaitTest {
 protected:
  String now() const { return std::to_string(server.revision()); }
  const ResumingWatchOptions often{.backoff = {.initial = 1ms, .factor = 1}};
};

TEST_F(ResumingWatchTest, EachEventComesOnceThoughWatchesBreak) {
  ResumingWatch<corev1::ConfigMap> watch(maps(), {.resourceVersion = now()}, often);
  for (const auto fault : {testing::WatchFault::End, testing::WatchFault::Cut,
                           testing::WatchFault::CutInFrame, testing::WatchFault::Garbage}) {
    const std::string name = "m" + std::to_string(static_cast<int>(fault));
    maps().create(map(name));
    const auto added = watch.next();
    ASSERT_TRUE(added);
    EXPECT_EQ(added->type, EventType::Added);
    EXPECT_EQ(added->object.metadata.name, name);
    EXPECT_EQ(watch.resourceVersion(), added->object.metadata.resourceVersion);
    if (fault != testing::WatchFault::Garbage) server.failWatches(fault);
  }
  server.inject({.verb = "watch", .times = 2, .status = 503});
  server.restart();
  afterRestart([&] {
    if (maps().find("m0")) maps().remove("m0");
  });
  EXPECT_EQ(watch.next()->type, EventType::Deleted);
}

TEST_F(ResumingWatchTest, AForgottenVersionIsAnError) {
  AsyncResumingWatch<corev1::ConfigMap> watch(maps().async(), {.resourceVersion = now()}, often);
  TestLoop loop;
  {
    Begun<WatchEvent<corev1::ConfigMap>> next(watch.next(), loop.executor());
    loop.runUntil([&] { return !server.requests({.verb = "watch"}).empty(); });
    maps().create(map("a"));
    loop.runUntil([&] { return next.over(); });
    EXPECT_EQ(next.result().object.metadata.name, "a");
  }
  server.failWatches(testing::WatchFault::Expire);
  maps().create(map("b"));
  server.expireRevisions();
  bool expired = false;
  try {
    blockOn(watch.next());
    blockOn(watch.next());
  } catch (const ApiError& error) {
    expired = isResourceExpired(error) || isGone(error);
  }
  EXPECT_TRUE(expired);
}

TEST_F(ResumingWatchTest, RefusalsAreThrownAndAStopEndsTheWait) {
  ResumingWatch<corev1::ConfigMap> watch(maps(), {.resourceVersion = now()}, often);
  server.inject({.verb = "watch", .times = 1, .status = 403});
  EXPECT_EQ(testing::refusalOf([&] { watch.next(); }).code, 403);
  std::stop_source stop;
  std::jthread stopper([&] {
    while (server.requests({.verb = "watch"}).size() < 2) std::this_thread::yield();
    stop.request_stop();
  });
  EXPECT_FALSE(watch.next(stop.get_token()));
  maps().create(map("a"));
  EXPECT_EQ(watch.next()->object.metadata.name, "a") << "it goes on";
}

TEST_F(ResumingWatchTest, ItNeedsAVersion) {
  EXPECT_THROW(ResumingWatch<corev1::ConfigMap>(maps(), {}), Error);
  EXPECT_THROW(ResumingWatch<corev1::ConfigMap>(maps(), {.resourceVersion = "0"}), Error);
}

Task<> watchesOn(AsyncResourceClient<corev1::ConfigMap> maps, std::string name) {
  const auto list = co_await maps.list();
  const metav1::ListOptions from{.resourceVersion = list.metadata.resourceVersion};
  AsyncResumingWatch<corev1::ConfigMap> watch(maps, from);
  corev1::ConfigMap object;
  object.metadata.generateName = name;
  co_await maps.create(object);
  const auto event = co_await watch.next();
  EXPECT_TRUE(event.object.metadata.name.view().starts_with(name));
}

TEST_F(ResumingWatchTest, IsStoppedOrDestroyedAtEachWait) {
  int n = 0;
  const auto make = [&] { return watchesOn(maps().async(), "w" + std::to_string(++n) + "-"); };
  testing::stopAtEachWait(make);
  testing::destroyAtEachWait(make);
}

}  // namespace
}  // namespace kube
