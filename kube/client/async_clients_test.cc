// The awaitable clients beside the blocking ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "kube/base/internal/error_of_testing.h"
#include "kube/base/internal/test_loop_testing.h"
#include "kube/client/apps/v1.h"
#include "kube/client/certificates/v1.h"
#include "kube/client/core/v1.h"
#include "kube/client/dynamic_client.h"
#include "kube/client/retry.h"
#include "kube/client/scale_client.h"
#include "kube/client/wait.h"
#include "kube/codec/json.h"
#include "kube/meta/api_error.h"
#include "kube/testing/api_server.h"
#include "kube/testing/scripted_server.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using corev1::ConfigMap;
using testing::ApiServer;
using testing::Begun;
using ::testing::HasSubstr;
using testing::TestLoop;

// --- Requests.

// Answers everything with an empty object.
class SameRequestsTest : public ::testing::Test {
 protected:
  struct Sent {
    std::string line, body, type;
    bool operator==(const Sent&) const = default;
  };
  Sent last() const {
    const ServerRequest request = server_.requests().back();
    return {request.method + " " + request.target, request.body,
            std::string(request.headers.get("Content-Type"))};
  }
  template <class T>
  void same(const std::function<void()>& blocking, Task<T> task) {
    blocking();
    const Sent sent = last();
    const std::size_t before = server_.requests().size();
    blockOn(std::move(task));
    EXPECT_EQ(server_.requests().size(), before + 1);
    EXPECT_EQ(last().line, sent.line);
    EXPECT_EQ(last(), sent);
  }

  ScriptedServer server_{[](const ServerRequest&) -> ServerResponse {
    return {.headers = {{"Content-Type", "application/json"}}, .body = "{}"};
  }};
  Clientset clients_{server_.config()};
  const metav1::UpdateOptions me_{.fieldManager = "me"};
};

template <class T>
T withName(std::string_view name) {
  T object;
  object.metadata.name = name;
  return object;
}

TEST_F(SameRequestsTest, OfPods) {
  const PodClient pods = clients_.coreV1().pods("book");
  const AsyncPodClient async = pods.async();
  const metav1::DeleteOptions now{.gracePeriodSeconds = 0};
  same([&] { pods.evict("web", now); }, async.evict("web", now));
  const auto eviction = withName<policyv1::Eviction>("web");
  same([&] { pods.evict(eviction); }, async.evict(eviction));
  const auto old = withName<policyv1beta1::Eviction>("web");
  same([&] { pods.evict(old); }, async.evict(old));
  const auto binding = withName<corev1::Binding>("web");
  const metav1::CreateOptions tryOnly{.dryRun = {"All"}};
  same([&] { pods.bind(binding, tryOnly); }, async.bind(binding, tryOnly));
  const auto pod = withName<corev1::Pod>("web");
  same([&] { pods.updateEphemeralContainers(pod, me_); },
       async.updateEphemeralContainers(pod, me_));
  same([&] { pods.updateResize(pod, me_); }, async.updateResize(pod, me_));
  const corev1::PodLogOptions lines{.container = "app", .tailLines = 5};
  same([&] { pods.logs("web", lines); }, async.logs("web", lines));
  same([&] { pods.followLogs("web", lines); }, async.followLogs("web", lines));
  same([&] { pods.inNamespace("shelf").evict("web"); }, async.inNamespace("shelf").evict("web"));
  EXPECT_EQ(last().line, "POST /api/v1/namespaces/shelf/pods/web/eviction");
  const corev1::PodLogOptions limited{.limitBytes = 5};
  EXPECT_THROW(blockOn(async.followLogs("web", limited)), Error);
}

TEST_F(SameRequestsTest, OfSubresources) {
  const auto deployments = clients_.appsV1().deployments("book");
  const auto scale = withName<autoscalingv1::Scale>("web");
  const metav1::ApplyOptions force{.force = true, .fieldManager = "me"};
  same([&] { deployments.getScale("web"); }, deployments.async().getScale("web"));
  same([&] { deployments.updateScale("web", scale, me_); },
       deployments.async().updateScale("web", scale, me_));
  same([&] { deployments.applyScale("web", scale, force); },
       deployments.async().applyScale("web", scale, force));
  same([&] { deployments.inNamespace("a").getScale("web"); },
       deployments.async().inNamespace("a").getScale("web"));

  const auto services = clients_.coreV1().services("book");
  const ProxyOptions http{.port = "http"};
  same([&] { services.proxyGet("web", "/a", http); }, services.async().proxyGet("web", "/a", http));
  const auto accounts = clients_.coreV1().serviceAccounts("book");
  same([&] { accounts.createToken("builder"); }, accounts.async().createToken("builder"));
  const auto requests = clients_.certificatesV1().certificateSigningRequests();
  const auto request = withName<certificatesv1::CertificateSigningRequest>("me");
  same([&] { requests.updateApproval(request, me_); },
       requests.async().updateApproval(request, me_));
  const auto spaces = clients_.coreV1().namespaces();
  const auto space = withName<corev1::Namespace>("book");
  same([&] { spaces.finalize(space, me_); }, spaces.async().finalize(space, me_));
}

TEST_F(SameRequestsTest, OfObjectsOfAnyKind) {
  const GroupVersionResource gvr{"apps", "v1", "deployments"};
  const ScaleClient scales(clients_.rest());
  const auto scale = withName<autoscalingv1::Scale>("web");
  same([&] { scales.get(gvr, "book", "web"); }, scales.async().get(gvr, "book", "web"));
  same([&] { scales.update(gvr, "book", scale); }, scales.async().update(gvr, "book", scale));
  same([&] { scales.patch(gvr, "book", "web", PatchType::Merge, "{}"); },
       scales.async().patch(gvr, "book", "web", PatchType::Merge, "{}"));

  const auto dynamic = DynamicClient(clients_.rest()).resource(gvr).inNamespace("book");
  same([&] { dynamic.get("web"); }, dynamic.async().get("web"));
  same([&] { dynamic.remove("web"); }, dynamic.async().remove("web"));
  const auto metadata = MetadataClient(clients_.rest()).resource(gvr).inNamespace("book");
  same([&] { metadata.get("web"); }, metadata.async().get("web"));
  same([&] { metadata.inNamespace("a").list(); }, metadata.async().inNamespace("a").list());
  EXPECT_THAT(std::string(server_.requests().back().headers.get("Accept")),
              HasSubstr("as=PartialObjectMetadata"));
}

TEST(AsyncClientsTest, ErrorsOfSubresourcesAreThoseOfTheBlockingForm) {
  ScriptedServer server([](const ServerRequest&) -> ServerResponse {
    return {.status = 429, .body = toJson(status::tooManyRequests("budget", 0))};
  });
  const PodClient pods = Clientset(server.config()).coreV1().pods("book");
  const std::string error = errorOf<ApiError>([&] { pods.evict("web"); });
  EXPECT_EQ(errorOf<ApiError>([&] { blockOn(pods.async().evict("web")); }), error);
  EXPECT_THAT(error, HasSubstr(R"(create pods/eviction "web" in namespace "book")"));
}

// --- Retries.

Task<int> failsAtFirst(int& calls, int conflicts, Clock& clock) {
  co_await sleepFor(1ms, clock);
  if (++calls <= conflicts) throw ApiError(status::conflict({"", "pods"}, "web", "changed"));
  co_return calls;
}

class AwaitedRetryTest : public ::testing::Test {
 protected:
  Task<int> task(int conflicts) {
    calls_ = 0;
    const auto act = [this, conflicts] { return failsAtFirst(calls_, conflicts, clock_); };
    return retryOnConflict(act, kDefaultRetry, clock_);
  }
  void runUntilOver(Begun<int>& task) {
    while (!task.over()) {
      clock_.advance(11ms);
      loop_.runAll();
    }
  }

  FakeClock clock_;
  TestLoop loop_;
  int calls_ = 0;
};

TEST_F(AwaitedRetryTest, TriesAgainAfterConflictsOnly) {
  Begun<int> atOnce(task(0), loop_.executor());
  runUntilOver(atOnce);
  EXPECT_EQ(atOnce.result(), 1);
  Begun<int> later(task(3), loop_.executor());
  runUntilOver(later);
  EXPECT_EQ(later.result(), 4);
  Begun<int> never(task(100), loop_.executor());
  runUntilOver(never);
  EXPECT_THROW(never.result(), ApiError);
  EXPECT_EQ(calls_, 5);
  const auto other = []() -> Task<> { throw ApiError(status::notFound({"", "pods"}, "web")); };
  EXPECT_THROW(blockOn(retryOnConflict(other)), ApiError);
}

TEST_F(AwaitedRetryTest, AStopInAPauseThrowsTheLastError) {
  std::stop_source stop;
  Begun<int> stopped(task(100), loop_.executor(), stop.get_token());
  clock_.advance(1ms);
  loop_.runAll();
  EXPECT_EQ(calls_, 1);
  EXPECT_EQ(clock_.waiters(), 1U);  // the pause
  stop.request_stop();
  loop_.runUntil([&] { return stopped.over(); });
  EXPECT_THROW(stopped.result(), ApiError);
  EXPECT_EQ(clock_.waiters(), 0U);
}

TEST_F(AwaitedRetryTest, IsDestroyedInItsPauseAndInACall) {
  {
    Begun<int> inACall(task(100), loop_.executor());
    EXPECT_EQ(clock_.waiters(), 1U);
  }
  EXPECT_EQ(clock_.waiters(), 0U);
  {
    Begun<int> inAPause(task(100), loop_.executor());
    clock_.advance(1ms);
    loop_.runAll();
    EXPECT_EQ(clock_.waiters(), 1U);
  }
  EXPECT_EQ(clock_.waiters(), 0U);
}

// --- Waits for conditions.

class AwaitedWaitTest : public ::testing::Test {
 protected:
  /// A condition that counts its calls.
  auto isBlue() {
    return [this](const ConfigMap* map) {
      ++calls_;
      return map != nullptr && map->data["color"] == "blue";
    };
  }
  void paint(std::string_view color) {
    maps_.patch("a", PatchType::Merge, fmt::format(R"({{"data":{{"color":"{}"}}}})", color));
  }
  // Until the object was listed: the task sees all changes after that.
  template <class T>
  void runUntilListed(Begun<T>& task) {
    while (calls_ == 0) loop_.runOne();
    EXPECT_FALSE(task.over());
  }

  ApiServer server_;
  Clientset clients_{server_.config()};
  ResourceClient<ConfigMap> maps_ = clients_.coreV1().configMaps("default");
  TestLoop loop_;
  int calls_ = 0;
  using Found = std::optional<ConfigMap>;
};

TEST_F(AwaitedWaitTest, WaitsForAChangeAndForARemoval) {
  maps_.create(withName<ConfigMap>("a"));
  Begun<Found> blue(waitFor(maps_.async(), "a", isBlue()), loop_.executor());
  runUntilListed(blue);
  paint("red");
  paint("blue");
  loop_.runUntil([&] { return blue.over(); });
  EXPECT_EQ(blue.result()->data["color"], "blue");

  calls_ = 0;
  const auto isGone = [this](const ConfigMap* map) -> Task<bool> {
    ++calls_;
    co_return map == nullptr;
  };
  Begun<Found> gone(waitFor(maps_.async(), "a", isGone), loop_.executor());
  runUntilListed(gone);
  maps_.remove("a");
  loop_.runUntil([&] { return gone.over(); });
  EXPECT_EQ(gone.result(), std::nullopt);
}

TEST_F(AwaitedWaitTest, AnAwaitedConditionMayAskTheServer) {
  maps_.create(withName<ConfigMap>("a"));
  maps_.create(withName<ConfigMap>("wanted"));
  const auto maps = maps_.async();
  const auto condition = [maps](const ConfigMap* map) -> Task<bool> {
    const auto wanted = co_await maps.find("wanted");
    co_return map != nullptr&& wanted.has_value();
  };
  const auto found = blockOn(waitFor(maps, "a", condition));
  EXPECT_EQ(found->metadata.name, "a");
  const auto fails = [](const ConfigMap*) -> Task<bool> { throw Error("no"); };
  EXPECT_EQ(errorOf<Error>([&] { blockOn(waitFor(maps, "a", fails)); }), "no");
}

TEST_F(AwaitedWaitTest, ListsAgainWhenTheWatchEnds) {
  maps_.create(withName<ConfigMap>("a"));
  Begun<Found> blue(waitFor(maps_.async(), "a", isBlue()), loop_.executor());
  runUntilListed(blue);
  while (server_.failWatches(testing::WatchFault::End, "configmaps") == 0) {
    std::this_thread::yield();
  }
  paint("blue");
  loop_.runUntil([&] { return blue.over(); });
  EXPECT_EQ(blue.result()->data["color"], "blue");
}

TEST_F(AwaitedWaitTest, AStopEndsBothFormsWithTheSameError) {
  maps_.create(withName<ConfigMap>("a"));
  std::stop_source stop;
  Begun<Found> blue(waitFor(maps_.async(), "a", isBlue()), loop_.executor(), stop.get_token());
  runUntilListed(blue);
  stop.request_stop();
  loop_.runUntil([&] { return blue.over(); });
  const std::string error = errorOf<CanceledError>([&] { blue.result(); });
  EXPECT_EQ(error, "wait for \"a\": canceled");
  EXPECT_EQ(errorOf<CanceledError>(
                [&] { waitFor<ConfigMap>(maps_, "a", isBlue(), 1min, stop.get_token()); }),
            error);
}

TEST_F(AwaitedWaitTest, ThrowsAfterItsTime) {
  maps_.create(withName<ConfigMap>("a"));
  EXPECT_THROW(blockOn(waitFor(maps_.async(), "a", isBlue(), 1ns)), TimeoutError);
}

}  // namespace
}  // namespace kube
