// The awaitable forms of discovery, its cache and its RestMapper.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "kube/base/internal/error_of_testing.h"
#include "kube/base/internal/test_loop_testing.h"
#include "kube/base/when.h"
#include "kube/client/api_discovery/cached_discovery_client.h"
#include "kube/client/api_discovery/discovery_rest_mapper.h"
#include "kube/client/api_discovery/internal/discovery_server_testing.h"
#include "kube/rest/environment_testing.h"

namespace kube {
namespace {

using testing::Begun;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Style = DiscoveryServer::Style;
using testing::TestLoop;

class AsyncDiscoveryTest : public ::testing::TestWithParam<Style> {
 protected:
  DiscoveryServer server_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Style, AsyncDiscoveryTest,
                         ::testing::Values(Style::Legacy, Style::V2, Style::V2Beta1));

TEST_P(AsyncDiscoveryTest, ReturnsTheSameAsTheBlockingForm) {
  server_.set("/version", R"({"gitVersion": "v1.34.1"})");
  server_.set("/openapi/v3", R"({"paths": {"api/v1": {"serverRelativeURL": "/openapi/v3/a"}}})");
  server_.set("/openapi/v3/a", "{}");
  const DiscoveryClient client(server_.config());
  const AsyncDiscoveryClient async = client.async();
  EXPECT_EQ(blockOn(async.serverVersion()).gitVersion, "v1.34.1");
  EXPECT_EQ(blockOn(async.serverGroups()), client.serverGroups());
  const GroupVersion apps{"apps", "v1"};
  EXPECT_EQ(blockOn(async.serverResourcesForGroupVersion(apps)),
            client.serverResourcesForGroupVersion(apps));
  const auto same = [](const ServerResources& one, const ServerResources& other) {
    EXPECT_EQ(one.groups, other.groups);
    EXPECT_EQ(one.resources, other.resources);
    EXPECT_EQ(one.failed.size(), other.failed.size());
  };
  same(blockOn(async.serverGroupsAndResources()), client.serverGroupsAndResources());
  same(blockOn(async.serverPreferredResources()), client.serverPreferredResources());
  same(blockOn(async.serverPreferredNamespacedResources()),
       client.serverPreferredNamespacedResources());
  EXPECT_TRUE(blockOn(isResourceEnabled(async, {"apps", "v1", "deployments"})));
  EXPECT_FALSE(blockOn(isResourceEnabled(async, {"apps", "v2", "deployments"})));
  EXPECT_TRUE(blockOn(serverSupportsVersion(async, apps)));
  EXPECT_EQ(blockOn(async.openApiV3Paths()), client.openApiV3Paths());
  EXPECT_EQ(blockOn(async.openApiV3({"", "v1"})), "{}");
  EXPECT_THROW(blockOn(async.openApiV3(apps)), ApiError);
}

// Holds the answers for group-versions until all of them were requested.
class VersionsAtOnceTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kVersions = 3;

  std::mutex mutex_;
  std::vector<Responder> held_;
  ScriptedServer server_{
      ScriptedServer::RawScript([this](const ServerRequest& request, const Responder& responder) {
        const auto json = [](std::string body) -> ServerResponse {
          return {.headers = {{"Content-Type", "application/json"}}, .body = std::move(body)};
        };
        const std::string path = request.target.substr(0, request.target.find('?'));
        if (path == "/api") return responder.send({.status = 404});
        if (path == "/apis") return responder.send(json(kGroupsDocument));
        const std::lock_guard lock(mutex_);
        held_.push_back(responder);
        if (held_.size() < kVersions) return;
        for (const Responder& each : std::exchange(held_, {})) {
          each.send(json(R"({"resources": []})"));
        }
      })};
  const DiscoveryClient client_{server_.config()};
};

TEST_F(VersionsAtOnceTest, AreRequestedByBothForms) {
  EXPECT_THAT(client_.serverGroupsAndResources().resources, SizeIs(kVersions));
  EXPECT_THAT(blockOn(client_.async().serverGroupsAndResources()).resources, SizeIs(kVersions));
}

TEST(AsyncDiscoveryTasksTest, KeepTheirDiscovery) {
  DiscoveryServer server;
  TestLoop loop;
  Begun<metav1::APIGroupList> client(DiscoveryClient(server.config()).async().serverGroups(),
                                     loop.executor());
  auto cached = std::make_shared<const CachedDiscoveryClient>(DiscoveryClient(server.config()));
  Begun<metav1::APIGroupList> shared(AsyncDiscovery(cached).serverGroups(), loop.executor());
  cached.reset();
  loop.runUntil([&] { return client.over() && shared.over(); });
  EXPECT_EQ(client.result(), shared.result());
}

// --- The cache.

TEST(AsyncCachedDiscoveryTest, TasksShareTheRequests) {
  DiscoveryServer server(Style::V2);
  const CachedDiscoveryClient cached{DiscoveryClient(server.config())};
  const auto all = cached.async();
  const auto [first, second] = blockOn(whenAll(all.serverGroupsAndResources(), all.serverGroups()));
  EXPECT_EQ(first.groups, second.groups);
  EXPECT_THAT(server.asked(), SizeIs(2));
  EXPECT_TRUE(all.fresh());
  all.invalidate();
  EXPECT_FALSE(all.fresh());
}

TEST(AsyncCachedDiscoveryTest, AnotherTaskAsksInsteadOfADestroyedOrStoppedOne) {
  DiscoveryServer server(Style::V2);
  const CachedDiscoveryClient cached{DiscoveryClient(server.config())};
  TestLoop loop;
  std::stop_source stop;
  using Groups = Begun<metav1::APIGroupList>;
  Groups destroyed(cached.async().serverGroups(), loop.executor());
  Groups stopped(cached.async().serverGroups(), loop.executor(), stop.get_token());
  Groups third(cached.async().serverGroups(), loop.executor());
  destroyed.destroy();
  stop.request_stop();
  loop.runUntil([&] { return third.over(); });
  EXPECT_THAT(third.result().groups, ::testing::Not(IsEmpty()));
  EXPECT_THROW(stopped.result(), CanceledError);
}

TEST(AsyncCachedDiscoveryTest, WritesAndReadsFiles) {
  DiscoveryServer server;
  const test::TemporaryFolder folder;
  const auto process = [&] {
    return std::make_shared<const CachedDiscoveryClient>(
        DiscoveryClient(server.config()), DiscoveryCacheOptions{.folder = folder.path("cache")});
  };
  const auto first = blockOn(AsyncDiscovery(process()).serverGroupsAndResources());
  const std::size_t requests = server.asked().size();
  const auto second = blockOn(AsyncDiscovery(process()).serverGroupsAndResources());
  EXPECT_EQ(second.resources, first.resources);
  EXPECT_EQ(server.asked().size(), requests);
}

TEST(AsyncCachedDiscoveryTest, OnlyFailedVersionsAreRequestedAgain) {
  DiscoveryServer server;
  server.fail("/apis/batch/v1", 503);
  const CachedDiscoveryClient cached{DiscoveryClient(server.config())};
  EXPECT_THAT(blockOn(cached.async().serverGroupsAndResources()).failed, SizeIs(1));
  const std::size_t before = server.asked().size();
  server.set("/apis/batch/v1", kBatchResources);
  EXPECT_THAT(blockOn(cached.async().serverResourcesForGroupVersion({"batch", "v1"})).resources,
              SizeIs(1));
  EXPECT_EQ(server.asked().size(), before + 1);
}

// --- The mapper.

TEST(AsyncDiscoveryMapperTest, MapsNames) {
  DiscoveryServer server;
  const auto blocking = discoveryRestMapper(DiscoveryClient(server.config()));
  const AsyncDiscoveryRestMapper mapper = blocking->async();
  const GroupVersionResource deploy{.resource = "deploy"};
  const GroupVersionResource none{.resource = "none"};
  const GroupKind deployment{"apps", "Deployment"};
  const GroupVersionKind kind{"apps", "v1", "Deployment"};
  const GroupVersionResource resource{"apps", "v1", "deployments"};
  EXPECT_EQ(blockOn(mapper.kindFor(deploy)), kind);
  EXPECT_THAT(blockOn(mapper.kindsFor(deploy)), ::testing::ElementsAre(kind));
  EXPECT_EQ(blockOn(mapper.resourceFor(deploy)), resource);
  EXPECT_THAT(blockOn(mapper.resourcesFor(deploy)), ::testing::ElementsAre(resource));
  EXPECT_EQ(blockOn(mapper.restMapping(deployment, {"v1"})).gvr, resource);
  EXPECT_THAT(blockOn(mapper.restMappings(deployment)), SizeIs(1));
  EXPECT_EQ(blockOn(mapper.resourceSingularizer("deployments")), "deployment");
  EXPECT_EQ(blockOn(mappingFor(mapper, "deploy")).gvk, kind);
  EXPECT_EQ(blockOn(mapper.expand("all")), blocking->expand("all"));

  EXPECT_EQ(blockOn(mapper.findKind(none)), std::nullopt);
  EXPECT_THAT(blockOn(mapper.findKinds(none)), IsEmpty());
  EXPECT_EQ(blockOn(mapper.findResource(none)), std::nullopt);
  EXPECT_THAT(blockOn(mapper.findResources(none)), IsEmpty());
  EXPECT_EQ(blockOn(mapper.findMapping(deployment, {"v2"})), std::nullopt);
  EXPECT_THAT(blockOn(mapper.findMappings(deployment, {"v2"})), IsEmpty());
  EXPECT_EQ(blockOn(mapper.findSingular("none")), std::nullopt);
  EXPECT_EQ(errorOf<NoResourceMatchError>([&] { blockOn(mapper.kindFor(none)); }),
            errorOf<NoResourceMatchError>([&] { blocking->kindFor(none); }));
}

TEST(AsyncDiscoveryMapperTest, FindsNewResourcesByTheirShortNames) {
  DiscoveryServer server;
  FakeClock clock;
  const auto mapper =
      discoveryRestMapper(std::make_shared<const CachedDiscoveryClient>(
                              DiscoveryClient(server.config()), DiscoveryCacheOptions{}, clock))
          ->async();
  const GroupVersionResource cron{.resource = "nj"};
  EXPECT_EQ(blockOn(mapper.findKind(cron)), std::nullopt);
  server.set("/apis/batch/v1", R"({"groupVersion": "batch/v1", "resources": [
      {"name": "newjobs", "namespaced": true, "kind": "NewJob", "verbs": ["get"],
       "shortNames": ["nj"]}]})");
  EXPECT_EQ(blockOn(mapper.findKind(cron)), std::nullopt);  // the answers are fresh
  clock.advance(std::chrono::minutes{1});
  EXPECT_EQ(blockOn(mapper.findKind(cron))->kind, "NewJob");
}

}  // namespace
}  // namespace kube
