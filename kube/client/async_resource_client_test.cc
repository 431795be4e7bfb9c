#include "kube/client/async_resource_client.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "kube/api/apps/v1.h"
#include "kube/api/autoscaling/v1.h"
#include "kube/api/core/v1.h"
#include "kube/base/internal/error_of_testing.h"
#include "kube/base/internal/test_loop_testing.h"
#include "kube/base/when.h"
#include "kube/client/apps/v1.h"
#include "kube/client/core/v1.h"
#include "kube/meta/api_error.h"
#include "kube/rest/api_connection.h"
#include "kube/testing/api_server.h"
#include "kube/testing/scripted_server.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using corev1::ConfigMap;
using ::testing::AllOf;
using testing::ApiServer;
using testing::Begun;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TestLoop;
using testing::WatchFault;

ConfigMap configMap(std::string_view name, std::string_view value = "1") {
  ConfigMap result;
  result.metadata.name = name;
  result.metadata.labels["app"] = "web";
  result.data["value"] = value;
  return result;
}

class AsyncClientTest : public ::testing::Test {
 protected:
  ApiServer server_;
  Clientset clients_{server_.config()};
  ResourceClient<ConfigMap> blocking_ = clients_.coreV1().configMaps("default");
  AsyncResourceClient<ConfigMap> maps_ = blocking_.async();
};

// --- Verbs.

Task<> allVerbs(AsyncResourceClient<ConfigMap> maps) {
  const metav1::ApplyOptions me{.fieldManager = "me"};
  const metav1::ListOptions web{.labelSelector = "app=web"};

  const ConfigMap created = co_await maps.create(configMap("a"));
  EXPECT_NE(created.metadata.uid, "");
  ConfigMap read = co_await maps.get("a");
  EXPECT_EQ(read.metadata.resourceVersion, created.metadata.resourceVersion);
  read.data["value"] = "2";
  const ConfigMap updated = co_await maps.update(read);
  EXPECT_EQ(updated.data["value"], "2");
  const ConfigMap patched = co_await maps.patch("a", PatchType::Merge, R"({"data":{"more":"3"}})");
  EXPECT_EQ(patched.data["more"], "3");
  const ConfigMap applied = co_await maps.apply(configMap("b"), me);
  EXPECT_EQ(applied.metadata.name, "b");

  const auto list = co_await maps.list(web);
  EXPECT_EQ(list.items.size(), 2U);
  std::vector<std::string> names;
  std::function<void(ConfigMap &&)> note = [&](ConfigMap&& map) {
    names.emplace_back(map.metadata.name);
  };
  const metav1::ListMeta meta = co_await maps.eachItem(note, web);
  EXPECT_THAT(names, ElementsAre("a", "b"));
  EXPECT_EQ(meta.resourceVersion, list.metadata.resourceVersion);

  co_await maps.remove("a");
  const auto found = co_await maps.find("a");
  EXPECT_FALSE(found.has_value());
  const auto other = co_await maps.find("b");
  EXPECT_TRUE(other.has_value());
  const metav1::DeleteOptions now;
  co_await maps.removeCollection(now, web);
  const auto none = co_await maps.list(web);
  EXPECT_EQ(none.items.size(), 0U);
}

TEST_F(AsyncClientTest, HasAllVerbs) { blockOn(allVerbs(maps_)); }

Task<> statusVerbs(AsyncResourceClient<corev1::Namespace> spaces) {
  const metav1::ApplyOptions me{.fieldManager = "me"};
  corev1::Namespace space;
  space.metadata.name = "book";
  corev1::Namespace created = co_await spaces.create(space);
  created.status->phase = "Odd";
  const corev1::Namespace updated = co_await spaces.updateStatus(created);
  EXPECT_EQ(updated.status->phase, "Odd");
  space.status->phase = "Active";
  const metav1::ApplyOptions force{.force = true, .fieldManager = "me"};
  const corev1::Namespace applied = co_await spaces.applyStatus(space, force);
  EXPECT_EQ(applied.status->phase, "Active");
}

TEST_F(AsyncClientTest, HasTheVerbsOfStatus) {
  blockOn(statusVerbs(clients_.coreV1().namespaces().async()));
}

Task<> scaleVerbs(AsyncResourceClient<appsv1::Deployment> deployments) {
  using autoscalingv1::Scale;
  appsv1::Deployment web;
  web.metadata.name = "web";
  web.spec->selector->matchLabels["app"] = "web";
  web.spec->template_->metadata.labels["app"] = "web";
  web.spec->template_->spec->containers.push_back({.name = "c", .image = "i"});
  co_await deployments.create(web);
  Scale scale = co_await deployments.getSubresource<Scale>("web", "scale");
  scale.spec->replicas = 7;
  const Scale scaled = co_await deployments.updateSubresource<Scale>("web", "scale", scale);
  EXPECT_EQ(scaled.spec->replicas, 7);
}

TEST_F(AsyncClientTest, HasSubresources) {
  blockOn(scaleVerbs(clients_.appsV1().deployments("default").async()));
}

Task<std::vector<std::size_t>> pageSizes(AsyncResourceClient<ConfigMap> maps) {
  const metav1::ListOptions options{.labelSelector = "app=web", .limit = 2};
  auto pages = maps.pages(options);
  std::vector<std::size_t> sizes;
  for (;;) {
    const auto page = co_await pages.next();
    if (!page) break;
    sizes.push_back(page->items.size());
  }
  co_return sizes;
}

TEST_F(AsyncClientTest, ReadsPages) {
  for (int i = 0; i < 5; ++i) blocking_.create(configMap("m" + std::to_string(i)));
  EXPECT_THAT(blockOn(pageSizes(maps_)), ElementsAre(2, 2, 1));
  server_.inject({.verb = "list", .times = 1, .status = 500});
  EXPECT_THROW(blockOn(pageSizes(maps_)), ApiError);
}

// --- Watches.

Task<std::vector<std::string>> watchTwo(AsyncResourceClient<ConfigMap> maps) {
  const metav1::ListOptions web{.labelSelector = "app=web"};
  auto watch = co_await maps.watch(web);
  std::vector<std::string> seen;
  co_await maps.create(configMap("a"));
  const auto added = co_await watch.next();
  if (added) seen.push_back(fmt::format("{} {}", added->type, added->object.metadata.name));
  co_await maps.remove("a");
  const auto deleted = co_await watch.next();
  if (deleted) seen.push_back(fmt::format("{} {}", deleted->type, deleted->object.metadata.name));
  co_return seen;
}

TEST_F(AsyncClientTest, Watches) {
  EXPECT_THAT(blockOn(watchTwo(maps_)), ElementsAre("ADDED a", "DELETED a"));
}

Task<int> eventsUntilTheEnd(AsyncResourceClient<ConfigMap> maps, bool& open) {
  const metav1::ListOptions web{.labelSelector = "app=web"};
  auto watch = co_await maps.watch(web);
  open = true;
  int count = 0;
  for (;;) {
    const auto event = co_await watch.next();
    if (!event) break;
    ++count;
  }
  const auto after = co_await watch.next();
  EXPECT_FALSE(after.has_value());
  co_return count;
}

TEST_F(AsyncClientTest, AWatchEnds) {
  TestLoop loop;
  bool open = false;
  Begun<int> ended(eventsUntilTheEnd(maps_, open), loop.executor());
  loop.runUntil([&] { return open; });
  blocking_.create(configMap("a"));
  loop.runOne();
  server_.failWatches(WatchFault::End, "configmaps");
  loop.runUntil([&] { return ended.over(); });
  EXPECT_EQ(ended.result(), 1);

  open = false;
  Begun<int> cut(eventsUntilTheEnd(maps_, open), loop.executor());
  loop.runUntil([&] { return open; });
  server_.failWatches(WatchFault::Cut, "configmaps");
  loop.runUntil([&] { return cut.over(); });
  EXPECT_THROW(cut.result(), TransportError);
}

Task<std::string> readsOnAfterATimeout(AsyncResourceClient<ConfigMap> maps, Clock& clock) {
  const metav1::ListOptions web{.labelSelector = "app=web"};
  auto watch = co_await maps.watch(web);
  std::string text;
  try {
    co_await within(1s, watch.next(), clock);
  } catch (const TimeoutError&) {
    text = "late, ";
  }
  co_await maps.create(configMap("a"));
  const auto event = co_await within(1s, watch.next(), clock);
  if (event) text += event->object.metadata.name;
  co_return text;
}

TEST_F(AsyncClientTest, AWatchIsReadOnAfterATimeout) {
  FakeClock clock;
  TestLoop loop;
  Begun<std::string> task(readsOnAfterATimeout(maps_, clock), loop.executor());
  while (clock.waiters() == 0) loop.runOne();
  clock.advance(1s);
  loop.runUntil([&] { return task.over(); });
  EXPECT_EQ(task.result(), "late, a");
}

TEST_F(AsyncClientTest, AnEmptyWatchHasEnded) {
  AsyncWatchStream<ConfigMap> watch;
  EXPECT_FALSE(blockOn(watch.next()).has_value());
}

// --- Failures.

Task<std::string> errorOfGet(AsyncResourceClient<ConfigMap> maps) {
  try {
    co_await maps.get("a");
  } catch (const ApiError& error) {
    co_return error.what();
  }
  co_return "";
}

TEST_F(AsyncClientTest, ErrorsAreThoseOfTheBlockingForm) {
  const std::string text = blockOn(errorOfGet(maps_));
  EXPECT_THAT(text, HasSubstr("get configmaps \"a\" in namespace \"default\""));
  EXPECT_EQ(text, errorOf<ApiError>([&] { blocking_.get("a"); }));
  server_.inject({.verb = "get", .times = 1, .status = 500});
  EXPECT_THAT(blockOn(errorOfGet(maps_)), HasSubstr("500"));
  blocking_.create(configMap("a"));
  server_.inject({.verb = "get", .times = 1, .garbage = true});
  EXPECT_THROW(blockOn(errorOfGet(maps_)), DecodeError);
}

Task<ConfigMap> gets(AsyncResourceClient<ConfigMap> maps) { co_return co_await maps.get("a"); }

TEST_F(AsyncClientTest, RetriesWhatTheServerDelaysOrCuts) {
  blocking_.create(configMap("a"));
  FakeClock clock;
  const Clientset clients(
      RestClient(std::make_shared<ApiConnection>(server_.config(), clock), GroupVersion{}));
  const auto maps = clients.coreV1().configMaps("default").async();
  TestLoop loop;
  server_.inject({.verb = "get", .times = 1, .status = 429, .retryAfter = 5});
  server_.inject({.verb = "get", .times = 1, .cut = true});
  Begun<ConfigMap> task(gets(maps), loop.executor());
  while (clock.waiters() == 0) loop.runOne();
  clock.advance(5s);
  while (clock.waiters() == 0) loop.runOne();
  clock.advance(1s);
  loop.runUntil([&] { return task.over(); });
  EXPECT_EQ(task.result().metadata.name, "a");
  EXPECT_EQ(server_.faultsHit(), 2U);
}

TEST_F(AsyncClientTest, ATimeLimitEndsACallThatHangs) {
  FakeClock clock;
  TestLoop loop;
  server_.inject({.verb = "get", .hang = true});
  Begun<ConfigMap> task(within(1s, gets(maps_), clock), loop.executor());
  while (server_.faultsHit() == 0) std::this_thread::yield();
  clock.advance(1s);
  loop.runUntil([&] { return task.over(); });
  EXPECT_THAT(errorOf<TimeoutError>([&] { task.result(); }),
              AllOf(HasSubstr("configmaps/a"), HasSubstr("it took too long")));
}

TEST_F(AsyncClientTest, CallsOutliveTheirClient) {
  blocking_.create(configMap("a"));
  TestLoop loop;
  std::optional<Clientset> clients(std::in_place, server_.config());
  Begun<ConfigMap> task(clients->coreV1().configMaps("default").async().get("a"), loop.executor());
  clients.reset();
  loop.runUntil([&] { return task.over(); });
  EXPECT_EQ(task.result().metadata.name, "a");
}

TEST_F(AsyncClientTest, WaitsForTheRateLimit) {
  blocking_.create(configMap("a"));
  FakeClock clock;
  Config config = server_.config();
  config.qps = 1;
  config.burst = 1;
  const Clientset clients(
      RestClient(std::make_shared<ApiConnection>(config, clock), GroupVersion{}));
  const auto maps = clients.coreV1().configMaps("default").async();
  EXPECT_EQ(blockOn(gets(maps)).metadata.name, "a");
  TestLoop loop;
  {
    Begun<ConfigMap> givenUp(gets(maps), loop.executor());  // gives its turn back
    EXPECT_EQ(clock.waiters(), 1U);
  }
  Begun<ConfigMap> task(gets(maps), loop.executor());
  clock.advance(1s);
  loop.runUntil([&] { return task.over(); });
  EXPECT_EQ(task.result().metadata.name, "a");
}

// --- Many at a time.

TEST(AsyncClientLoadTest, HasAThousandGetsUnderWayOnOneThread) {
  constexpr std::size_t kCount = 1000;
  std::mutex mutex;
  std::vector<Responder> held;
  const ScriptedServer server(
      ScriptedServer::RawScript([&](const ServerRequest&, const Responder& responder) {
        const std::lock_guard lock(mutex);
        held.push_back(responder);
        if (held.size() < kCount) return;
        // All are here before the first is answered.
        for (const Responder& each : held) {
          each.send({.headers = {{"Content-Type", "application/json"}},
                     .body = R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"}})"});
        }
      }));
  const Clientset clients(server.config());
  const auto maps = clients.coreV1().configMaps("default").async();
  std::vector<Task<ConfigMap>> gets;
  for (std::size_t i = 0; i < kCount; ++i) gets.push_back(maps.get("a"));
  const auto results = blockOn(whenAll(std::move(gets)));
  ASSERT_EQ(results.size(), kCount);
  EXPECT_EQ(results.back().metadata.name, "a");
}

}  // namespace
}  // namespace kube
