#include "kube/client/api_discovery/discovery_client.h"
#include "kube/base/internal/error_of_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/client/api_discovery/internal/aggregated_discovery.h"
#include "kube/client/api_discovery/internal/discovery_server_testing.h"

namespace kube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using Style = DiscoveryServer::Style;

std::vector<std::string> names(const ServerResources& served) {
  std::vector<std::string> result;
  for (const auto& list : served.resources) {
    for (const auto& resource : list.resources) {
      result.push_back(list.groupVersion + "/" + resource.name);
    }
  }
  return result;
}
std::vector<std::string> groupNames(const List<metav1::APIGroup>& groups) {
  std::vector<std::string> result;
  for (const auto& group : groups) result.push_back(group.name.str());
  return result;
}
std::vector<std::string> failed(const ServerResources& served) {
  std::vector<std::string> result;
  for (const auto& failure : served.failed) result.push_back(failure.version.str());
  return result;
}

TEST(DiscoveryClientTest, ReadsTheVersion) {
  DiscoveryServer server;
  server.set("/version", R"({"major": "1", "minor": "20+", "gitVersion": "v1.20.2",
    "gitCommit": "faecb196815e248d3ecfb03c680a4507229c2a56", "gitTreeState": "clean",
    "buildDate": "2021-01-13T13:20:00Z", "goVersion": "go1.15.5", "compiler": "gc",
    "platform": "linux/amd64"})");
  const ServerVersion version = DiscoveryClient(server.config()).serverVersion();
  EXPECT_EQ(version.gitVersion, "v1.20.2");
  EXPECT_EQ(version.minor, "20+");
  EXPECT_EQ(version.platform, "linux/amd64");
}

TEST(DiscoveryClientTest, AsksForAggregatedDiscoveryFirst) {
  const std::string v2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  const std::string all =
      v2 + ",application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList," +
      "application/json";
  const auto accepted = [](DiscoveryClientOptions options) {
    DiscoveryServer server;
    DiscoveryClient(server.config(), options).serverGroups();
    EXPECT_THAT(server.asked(), ElementsAre("/api", "/apis"));
    EXPECT_EQ(server.requests()[0].target, "/api?timeout=32s");
    EXPECT_EQ(server.requests()[0].headers.get("Accept"),
              server.requests()[1].headers.get("Accept"));
    return std::string(server.requests()[0].headers.get("Accept"));
  };
  EXPECT_EQ(accepted({}), all);
  EXPECT_EQ(accepted({.legacy = true}), "application/json");
  EXPECT_EQ(accepted({.noPeers = true}), v2 + ";profile=nopeer," + all);
}

TEST(DiscoveryClientTest, SharesAConnectionAndKeepsTheTimeoutOfItsConfig) {
  DiscoveryServer server;
  Config config = server.config();
  config.timeout = std::chrono::seconds{7};
  const RestClient rest(config);
  DiscoveryClient(rest).serverGroups();
  DiscoveryClient(rest).serverGroups();
  EXPECT_EQ(server.requests()[0].target.find("32s"), std::string::npos);
  EXPECT_EQ(rest.connection()->stats().connectionsMade, 1u);
}

TEST(DiscoveryClientTest, OldServersAreAskedForEachVersion) {
  DiscoveryServer server;
  const ServerResources served = DiscoveryClient(server.config()).serverGroupsAndResources();
  EXPECT_THAT(groupNames(served.groups), ElementsAre("", "apps", "batch"));
  EXPECT_EQ(served.groups[0].preferredVersion->groupVersion, "v1");
  EXPECT_THAT(names(served),
              ElementsAre("v1/configmaps", "v1/namespaces", "v1/namespaces/status", "v1/pods",
                          "apps/v1/deployments", "apps/v1/deployments/scale", "batch/v1/jobs",
                          "batch/v1beta1/jobs", "batch/v1beta1/cronjobs"));
  EXPECT_THAT(served.failed, IsEmpty());
  EXPECT_EQ(&served.complete(), &served);
  EXPECT_THAT(server.asked(), UnorderedElementsAre("/api", "/apis", "/api/v1", "/apis/apps/v1",
                                                   "/apis/batch/v1", "/apis/batch/v1beta1"));
  EXPECT_EQ(served.find({"apps", "v1"})->resources.size(), 2u);
  EXPECT_EQ(served.find({"apps", "v2"}), nullptr);
}

class AggregatedTest : public ::testing::TestWithParam<Style> {};
INSTANTIATE_TEST_SUITE_P(Version, AggregatedTest, ::testing::Values(Style::V2, Style::V2Beta1),
                         [](const auto& info) { return info.param == Style::V2 ? "V2" : "Beta"; });

TEST_P(AggregatedTest, TwoAnswersContainEverything) {
  DiscoveryServer server(GetParam());
  const ServerResources served = DiscoveryClient(server.config()).serverGroupsAndResources();
  EXPECT_THAT(server.asked(), ElementsAre("/api", "/apis"));
  EXPECT_THAT(groupNames(served.groups), ElementsAre("", "apps", "metrics.k8s.io", "batch"));
  EXPECT_THAT(names(served),
              ElementsAre("v1/configmaps", "v1/namespaces", "v1/namespaces/status", "v1/pods",
                          "apps/v1/deployments", "apps/v1/deployments/scale", "batch/v1/jobs",
                          "batch/v1/headless/log"));

  const metav1::APIResourceList& core = served.resources[0];
  EXPECT_EQ(core.resources[0].singularName, "configmap");
  EXPECT_EQ(core.resources[0].kind, "ConfigMap");
  EXPECT_TRUE(core.resources[0].namespaced);
  EXPECT_FALSE(core.resources[1].namespaced);
  EXPECT_THAT(core.resources[3].shortNames, ElementsAre("po"));
  EXPECT_THAT(core.resources[3].categories, ElementsAre("all"));
  const metav1::APIResource& scale = served.find({"apps", "v1"})->resources[1];
  EXPECT_EQ(scale.group, "autoscaling");
  EXPECT_EQ(scale.kind, "Scale");
  EXPECT_EQ(scale.singularName, "deployment");
  EXPECT_THAT(scale.verbs, ElementsAre("get", "patch", "update"));
}

TEST_P(AggregatedTest, StaleVersionsAreReportedAndInNoGroup) {
  DiscoveryServer server(GetParam());
  const ServerResources served = DiscoveryClient(server.config()).serverGroupsAndResources();
  ASSERT_THAT(failed(served), ElementsAre("metrics.k8s.io/v1beta1", "batch/v1beta1"));
  EXPECT_TRUE(served.failed[0].stale);
  EXPECT_EQ(served.failed[0].message, "stale GroupVersion discovery: metrics.k8s.io/v1beta1");
  EXPECT_THROW(std::rethrow_exception(served.failed[0].error), StaleGroupVersionError);
  EXPECT_TRUE(served.groups[2].versions.empty());
  EXPECT_EQ(served.groups[3].versions.size(), 1u);
  EXPECT_EQ(served.groups[3].preferredVersion->version, "v1");
  try {
    served.complete();
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_TRUE(isGroupDiscoveryFailed(error));
    EXPECT_STREQ(error.what(),
                 "unable to retrieve the complete list of server APIs: "
                 "batch/v1beta1: stale GroupVersion discovery: batch/v1beta1, "
                 "metrics.k8s.io/v1beta1: stale GroupVersion discovery: metrics.k8s.io/v1beta1");
  }
  EXPECT_FALSE(isGroupDiscoveryFailed(Error("another")));
}

TEST(DiscoveryClientTest, AMixtureOfBothFormsIsReadLikeTheOldForm) {
  ScriptedServer mixed([](const ServerRequest& request) -> ServerResponse {
    const std::string path = request.target.substr(0, request.target.find('?'));
    const std::string json = "application/json";
    if (path == "/api") return {.headers = {{"Content-Type", json}}, .body = kCoreDocument};
    if (path == "/api/v1") return {.headers = {{"Content-Type", json}}, .body = kCoreResources};
    if (path == "/apis/apps/v1")
      return {.headers = {{"Content-Type", json}}, .body = kAppsResources};
    if (path == "/apis/batch/v1")
      return {.headers = {{"Content-Type", json}}, .body = kBatchResources};
    return {.headers = {{"Content-Type",
                         "application/json; as=APIGroupDiscoveryList; v=v2; charset=utf-8; "
                         "g=apidiscovery.k8s.io"}},
            .body = ofVersion(kGroupsAggregated, "v2")};
  });
  const ServerResources served = DiscoveryClient(mixed.config()).serverGroupsAndResources();
  EXPECT_THAT(names(served),
              ElementsAre("v1/configmaps", "v1/namespaces", "v1/namespaces/status", "v1/pods",
                          "apps/v1/deployments", "apps/v1/deployments/scale", "batch/v1/jobs"));
  EXPECT_THAT(failed(served), ElementsAre("metrics.k8s.io/v1beta1", "batch/v1beta1"));
}

TEST(DiscoveryClientTest, AVersionThatCannotBeReadIsReported) {
  DiscoveryServer server;
  server.fail("/apis/batch/v1beta1", 503);
  const ServerResources served = DiscoveryClient(server.config()).serverGroupsAndResources();
  EXPECT_EQ(served.resources.size(), 3u);
  ASSERT_THAT(failed(served), ElementsAre("batch/v1beta1"));
  EXPECT_FALSE(served.failed[0].stale);
  EXPECT_THAT(served.failed[0].message, HasSubstr("get /apis/batch/v1beta1"));
  try {
    std::rethrow_exception(served.failed[0].error);
  } catch (const ApiError& error) {
    EXPECT_EQ(error.code(), 503);
  }
  EXPECT_EQ(server.askedFor("/apis"), 2u);  // two tries
}

TEST(DiscoveryClientTest, AFailedVersionIsRequestedAgain) {
  DiscoveryServer server;
  server.fail("/apis/batch/v1beta1", 404, 1);
  EXPECT_THAT(DiscoveryClient(server.config()).serverGroupsAndResources().failed, IsEmpty());
}

TEST(DiscoveryClientTest, AnInvalidGroupVersionOrAnswerIsAFailureOfItsOwn) {
  DiscoveryServer server;
  server.set("/apis", R"({"kind": "APIGroupList", "groups": [
    {"name": "../etc", "versions": [{"groupVersion": "../etc/v1", "version": "v1"}]},
    {"name": "a", "versions": [{"groupVersion": "a/v1", "version": "v1"},
                               {"groupVersion": "a/v2", "version": "v2"}]}]})");
  server.set("/apis/a/v1", "<html>welcome</html>");
  server.set("/apis/a/v2", R"({"kind": "APIGroupList", "groups": []})");
  const ServerResources served = DiscoveryClient(server.config()).serverGroupsAndResources();
  ASSERT_THAT(failed(served), ElementsAre("../etc/v1", "a/v1", "a/v2"));
  EXPECT_THAT(served.failed[1].message, HasSubstr("the answer to get /apis/a/v1"));
  EXPECT_THAT(served.failed[2].message, HasSubstr("expected kind \"APIResourceList\""));
  for (const std::string& path : server.asked()) EXPECT_EQ(path.find(".."), std::string::npos);
}

TEST(DiscoveryClientTest, AServerWithoutTheCoreGroupExtendsTheApi) {
  for (const Style style : {Style::Legacy, Style::V2}) {
    DiscoveryServer server(style);
    server.set("/api", "");
    server.set("/api/v1", "");
    const DiscoveryClient client(server.config());
    const ServerResources served = client.serverGroupsAndResources();
    EXPECT_EQ(served.groups[0].name, "apps");
    EXPECT_EQ(names(served)[0], "apps/v1/deployments");
    EXPECT_EQ(server.askedFor("/apis/apps/v1"), style == Style::Legacy ? 1u : 0u);
    EXPECT_THAT(client.serverResourcesForGroupVersion({"", "v1"}).resources, IsEmpty());
  }
}

TEST(DiscoveryClientTest, OtherwiseBothRootsMustBeReadable) {
  struct Case {
    std::string path;
    int status;
  };
  for (const auto& [path, status] : {Case{"/api", 403}, Case{"/apis", 404}, Case{"/apis", 403}}) {
    DiscoveryServer server;
    server.fail(path, status);
    try {
      DiscoveryClient(server.config()).serverGroupsAndResources();
      ADD_FAILURE() << path << ' ' << status;
    } catch (const ApiError& error) {
      EXPECT_EQ(error.code(), status);
      EXPECT_THAT(error.what(), HasSubstr("get " + path));
    }
  }
}

TEST(DiscoveryClientTest, GarbageIsADecodeErrorThatNamesTheDocument) {
  for (const char* body : {"<html>log in first</html>", "{\"groups\": [", "[]", "\x01\x02",
                           R"({"kind": "Status", "status": "Success"})"}) {
    for (const Style style : {Style::Legacy, Style::V2}) {
      DiscoveryServer server(style);
      server.set("/apis", body);
      const DiscoveryClient client(server.config());
      EXPECT_THAT(errorOf([&] { client.serverGroupsAndResources(); }),
                  HasSubstr("the answer to get /apis"))
          << body;
    }
  }
}

TEST(DiscoveryClientTest, AVersionThatIsNotServedIsNotFound) {
  DiscoveryServer server;
  const DiscoveryClient client(server.config());
  EXPECT_EQ(client.serverResourcesForGroupVersion({"apps", "v1"}).groupVersion, "apps/v1");
  try {
    client.serverResourcesForGroupVersion({"apps", "v9"});
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_TRUE(isNotFound(error));
  }
  EXPECT_THROW(client.serverResourcesForGroupVersion({"a/b", "v1"}), Error);
  EXPECT_THROW(client.serverResourcesForGroupVersion({}), Error);
}

TEST(DiscoveryClientTest, PreferredResourcesAreInOneVersionEach) {
  DiscoveryServer server;
  const DiscoveryClient client(server.config());
  EXPECT_THAT(names(client.serverPreferredResources()),
              ElementsAre("v1/configmaps", "v1/namespaces", "v1/pods", "apps/v1/deployments",
                          "batch/v1/jobs", "batch/v1beta1/cronjobs"));
  EXPECT_THAT(names(client.serverPreferredNamespacedResources()),
              ElementsAre("v1/configmaps", "v1/pods", "apps/v1/deployments", "batch/v1/jobs",
                          "batch/v1beta1/cronjobs"));
}

TEST(DiscoveryClientTest, ThePreferredVersionWinsOverAnEarlierOne) {
  DiscoveryServer server;
  server.set("/apis", R"({"kind": "APIGroupList", "groups": [{"name": "batch", "versions": [
      {"groupVersion": "batch/v1beta1", "version": "v1beta1"},
      {"groupVersion": "batch/v1", "version": "v1"}],
     "preferredVersion": {"groupVersion": "batch/v1", "version": "v1"}}]})");
  server.fail("/api/v1", 500);
  const ServerResources served = DiscoveryClient(server.config()).serverPreferredResources();
  EXPECT_THAT(names(served), ElementsAre("batch/v1beta1/cronjobs", "batch/v1/jobs"));
  EXPECT_THAT(failed(served), ElementsAre("v1"));
}

TEST(DiscoveryClientTest, AnswersQuestions) {
  DiscoveryServer server;
  const DiscoveryClient client(server.config());
  EXPECT_TRUE(isResourceEnabled(client, {"batch", "v1beta1", "cronjobs"}));
  EXPECT_FALSE(isResourceEnabled(client, {"batch", "v1", "cronjobs"}));
  EXPECT_FALSE(isResourceEnabled(client, {"batch", "v2", "cronjobs"}));
  EXPECT_TRUE(serverSupportsVersion(client, {"", "v1"}));
  EXPECT_TRUE(serverSupportsVersion(client, {"batch", "v1beta1"}));
  EXPECT_FALSE(serverSupportsVersion(client, {"batch", "v2"}));
  server.fail("/apis/batch/v1", 500);
  EXPECT_THROW(isResourceEnabled(client, {"batch", "v1", "jobs"}), ApiError);
  server.set("/api", R"({"versions": []})");
  server.set("/apis", R"({"groups": []})");
  EXPECT_TRUE(serverSupportsVersion(client, {"batch", "v2"}));  // the server lists no versions
}

TEST(DiscoveryClientTest, ResourcesAreFiltered) {
  DiscoveryServer server;
  const ServerResources served = DiscoveryClient(server.config()).serverGroupsAndResources();
  const auto deletable = filteredBy(
      served.resources, [](const GroupVersion& version, const metav1::APIResource& resource) {
        return version.group.empty() && supportsAllVerbs(resource, {"delete", "list"});
      });
  EXPECT_THAT(groupVersionResources(deletable),
              ElementsAre(GroupVersionResource{"", "v1", "configmaps"}));
}

TEST(DiscoveryClientTest, AStopEndsIt) {
  std::stop_source stop;
  DiscoveryServer server;
  server.before = [&](const ServerRequest& request) {
    if (request.target.starts_with("/apis/apps")) stop.request_stop();
  };
  EXPECT_THROW(DiscoveryClient(server.config()).serverGroupsAndResources(stop.get_token()),
               CanceledError);
}

TEST(DiscoveryClientTest, AggregatedContentTypesAreRecognised) {
  const auto is = [](std::string_view type) { return detail::isAggregatedDiscovery(type, "v2"); };
  EXPECT_TRUE(is("application/json; g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"));
  EXPECT_TRUE(is("application/json;v=v2;as=APIGroupDiscoveryList;g=apidiscovery.k8s.io"));
  EXPECT_TRUE(
      is("Application/JSON ; as=\"APIGroupDiscoveryList\"; g=apidiscovery.k8s.io ;V=v2;"
         "charset=utf-8;"));
  EXPECT_FALSE(is("application/json; g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"));
  EXPECT_FALSE(is("text/html; g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"));
  EXPECT_FALSE(is("application/json; charset=UTF-8"));
  EXPECT_FALSE(is("application/json"));
  EXPECT_FALSE(is(";;=;"));
  EXPECT_FALSE(is(""));
}

TEST(OpenApiTest, DocumentsAreReadAsTheyAre) {
  DiscoveryServer server;
  server.set("/openapi/v2", R"({"swagger": "2.0"})");
  server.set("/openapi/v3", R"({"paths": {
    "api/v1": {"serverRelativeURL": "/openapi/v3/api/v1?hash=CC0E9BFD"},
    "apis/apps/v1": {"serverRelativeURL": "https://evil.example.com/openapi/v3/apis/apps/v1"},
    "apis/batch/v1": {"serverRelativeURL": "/openapi/v3/apis\r\nHost: evil.example.com"},
    "version": {}}})");
  server.set("/openapi/v3/api/v1", R"({"openapi": "3.0.0"})");
  server.set("/openapi/v3/apis/apps/v1", "apps");
  server.set("/openapi/v3/apis/batch/v1", "batch");
  server.set("/openapi/v3/version", "version");
  const DiscoveryClient client(server.config());
  EXPECT_EQ(client.openApiV2(), R"({"swagger": "2.0"})");
  EXPECT_EQ(server.requests().back().headers.get("Accept"), "application/json");
  client.openApiV2(OpenApiFormat::Protobuf);
  EXPECT_EQ(server.requests().back().headers.get("Accept"),
            "application/com.github.proto-openapi.spec.v2@v1.0+protobuf");

  EXPECT_EQ(client.openApiV3Paths()["api/v1"], "/openapi/v3/api/v1?hash=CC0E9BFD");
  EXPECT_EQ(client.openApiV3({"", "v1"}), R"({"openapi": "3.0.0"})");
  EXPECT_EQ(server.requests().back().target, "/openapi/v3/api/v1?hash=CC0E9BFD&timeout=32s");
  EXPECT_EQ(client.openApiV3({"apps", "v1"}, OpenApiFormat::Protobuf), "apps");
  EXPECT_EQ(server.requests().back().headers.get("Accept"),
            "application/com.github.proto-openapi.spec.v3@v1.0+protobuf");
  EXPECT_EQ(client.openApiV3({"batch", "v1"}), "batch");
  EXPECT_EQ(client.openApiV3At(client.openApiV3Paths()["version"]), "version");
  EXPECT_THROW(client.openApiV3At("/api/v1/secrets"), Error);
  try {
    client.openApiV3({"none", "v1"});
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_TRUE(isNotFound(error));
  }
  server.set("/openapi/v3", "no JSON");
  EXPECT_THROW(client.openApiV3Paths(), DecodeError);
}

TEST(OpenApiTest, ThePathOfTheServersAddressIsNotAddedTwice) {
  DiscoveryServer server;
  server.set("/clusters/a/openapi/v3", R"({"paths": {"api/v1":
    {"serverRelativeURL": "/clusters/a/openapi/v3/api/v1?hash=1"}}})");
  server.set("/clusters/a/openapi/v3/api/v1", "core");
  Config config = server.config();
  config.host += "/clusters/a";
  EXPECT_EQ(DiscoveryClient(config).openApiV3({"", "v1"}), "core");
}

}  // namespace
}  // namespace kube
