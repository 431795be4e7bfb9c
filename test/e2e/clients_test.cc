// Tests the clients against a real API server: KUBECONFIG names an admin's kubeconfig. Every test
// creates a namespace and removes it. ./dev e2e runs them and starts a server if it can.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "kube/api/apiextensions/v1.h"
#include "kube/api/apps/v1.h"
#include "kube/api/core/v1.h"
#include "kube/client/dynamic_client.h"
#include "kube/client/resource_client.h"
#include "kube/client/retry.h"
#include "kube/client/scale_client.h"
#include "kube/client/wait.h"
#include "kube/codec/json.h"
#include "kube/codec/yaml.h"
#include "kube/meta/api_error.h"
#include "test/e2e/server_build.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;

std::filesystem::path kubeconfig() { return std::getenv("KUBECONFIG"); }

// Runs once with protobuf and once with JSON alone.
class ClientsTest : public ::testing::TestWithParam<const char*> {
 protected:
  ClientsTest() {
    Config config = Config::load();
    config.contentType = GetParam();
    if (config.contentType == "application/json") config.acceptContentTypes = "application/json";
    rest = std::make_unique<RestClient>(config);
    corev1::Namespace wanted;
    wanted.metadata.generateName = "kubexx-e2e-";
    space = namespaces().create(wanted).metadata.name;
  }
  void TearDown() override { namespaces().remove(space); }

  ResourceClient<corev1::Namespace> namespaces() const {
    return ResourceClient<corev1::Namespace>(*rest);
  }
  ResourceClient<corev1::ConfigMap> maps() const {
    return ResourceClient<corev1::ConfigMap>(*rest, space);
  }
  static corev1::ConfigMap map(std::string_view name, std::string_view value = "v") {
    corev1::ConfigMap result;
    result.metadata.name = name;
    result.data["k"] = value;
    return result;
  }

  std::unique_ptr<RestClient> rest;
  String space;
};
INSTANTIATE_TEST_SUITE_P(Format, ClientsTest,
                         ::testing::Values("application/vnd.kubernetes.protobuf",
                                           "application/json"),
                         [](const auto& info) {
                           return std::string(info.param) == "application/json" ? "Json"
                                                                                : "Protobuf";
                         });

TEST_P(ClientsTest, AnObjectIsCreatedReadChangedAndDeleted) {
  const auto client = maps();
  const auto made = client.create(map("a"));
  EXPECT_FALSE(made.metadata.uid.empty());
  EXPECT_EQ(client.get("a"), made);
  try {
    client.create(map("a"));
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_TRUE(isAlreadyExists(error));
  }
  auto changed = made;
  changed.data["k"] = "w";
  const auto stored = client.update(changed);
  EXPECT_EQ(stored.data, changed.data);
  try {
    client.update(made);
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_TRUE(isConflict(error));
  }
  client.remove("a", {.preconditions = metav1::Preconditions{.uid = made.metadata.uid}});
  EXPECT_EQ(client.find("a"), std::nullopt);
}

TEST_P(ClientsTest, DryRunsChangeNothing) {
  EXPECT_EQ(maps().create(map("dry"), {.dryRun = {"All"}}).metadata.name, "dry");
  EXPECT_EQ(maps().find("dry"), std::nullopt);
}

TEST_P(ClientsTest, EveryKindOfPatchIsApplied) {
  const auto client = maps();
  client.create(map("a"));
  client.patch("a", PatchType::Merge, R"({"data":{"x":"1"}})");
  client.patch("a", PatchType::StrategicMerge, R"({"metadata":{"labels":{"l":"1"}}})");
  const auto patched = client.patch("a", PatchType::Json, R"([{"op":"remove","path":"/data/k"}])");
  EXPECT_EQ(patched.data, (Map<String>{{"x", "1"}}));
  EXPECT_EQ(patched.metadata.labels, (Map<String>{{"l", "1"}}));

  EXPECT_EQ(client.apply(map("applied"), {.fieldManager = "one"}).data["k"], "v");
  try {
    client.apply(map("applied", "w"), {.fieldManager = "two"});
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_TRUE(isConflict(error));
  }
  EXPECT_EQ(client.apply(map("applied", "w"), {.force = true, .fieldManager = "two"}).data["k"],
            "w");
}

TEST_P(ClientsTest, ListsAreSelectedAndPaged) {
  const auto client = maps();
  for (int i = 0; i < 7; ++i) {
    auto wanted = map("m" + std::to_string(i));
    wanted.metadata.labels["odd"] = i % 2 == 1 ? "yes" : "no";
    client.create(wanted);
  }
  EXPECT_EQ(client.list({.labelSelector = "odd=yes"}).items.size(), 3u);
  EXPECT_EQ(client.list({.fieldSelector = "metadata.name=m5"}).items.size(), 1u);
  std::size_t pages = 0;
  std::size_t items = 0;
  for (const auto& page : client.pages({.labelSelector = "odd", .limit = 3})) {
    ++pages;
    items += page.items.size();
  }
  EXPECT_EQ(pages, 3u);
  EXPECT_EQ(items, 7u);
  client.removeCollection({}, {.labelSelector = "odd=no"});
  EXPECT_EQ(client.list({.labelSelector = "odd"}).items.size(), 3u);
}

TEST_P(ClientsTest, AWatchReportsChangesAndEndsOnAStop) {
  const auto client = maps();
  const auto made = client.create(map("a"));
  std::stop_source stop;
  auto watch = client.watch({.resourceVersion = made.metadata.resourceVersion}, stop.get_token());
  client.update(made);
  auto changed = made;
  changed.data["k"] = "w";
  client.update(changed);
  client.remove("a");
  std::vector<EventType> types;
  while (const auto event = watch.next()) {
    types.push_back(event->type);
    if (event->type == EventType::Deleted) stop.request_stop();
  }
  EXPECT_THAT(types, ElementsAre(EventType::Modified, EventType::Deleted));
}

TEST_P(ClientsTest, StatusAndScaleAreUpdatedSeparately) {
  appsv1::Deployment wanted;
  wanted.metadata.name = "web";
  wanted.spec->selector->matchLabels["app"] = "web";
  wanted.spec->template_->metadata.labels["app"] = "web";
  wanted.spec->template_->spec->containers.push_back({.name = "c", .image = "i"});
  const ResourceClient<appsv1::Deployment> client(*rest, space);
  auto stored = client.create(wanted);
  EXPECT_EQ(stored.spec->replicas, 1);
  stored.status->replicas = 3;
  stored.spec->replicas = 9;
  const auto status = client.updateStatus(stored);
  EXPECT_EQ(status.status->replicas, 3);
  EXPECT_EQ(status.spec->replicas, 1);

  const ScaleClient scales(*rest);
  const GroupVersionResource deployments{"apps", "v1", "deployments"};
  auto scale = scales.get(deployments, space, "web");
  scale.spec->replicas = 4;
  EXPECT_EQ(scales.update(deployments, space, scale).spec.read().replicas, 4);
}

TEST_P(ClientsTest, DynamicAndMetadataClientsSeeTheSameObjects) {
  maps().create(map("a"));
  const GroupVersionResource gvr{"", "v1", "configmaps"};
  const auto dynamic = DynamicClient(*rest).resource(gvr).inNamespace(space);
  auto object = dynamic.get("a");
  EXPECT_EQ(object.kind(), "ConfigMap");
  object.setNestedField("w", "data", "k");
  dynamic.update(object);
  EXPECT_EQ(maps().get("a").data["k"], "w");
  const auto metadata = MetadataClient(*rest).resource(gvr).inNamespace(space);
  EXPECT_EQ(metadata.get("a").metadata.name, "a");
  std::vector<std::string> names;
  for (const auto& item : metadata.list().items) names.push_back(item.metadata.name.str());
  EXPECT_THAT(names, Contains("a"));
}

TEST_P(ClientsTest, ACustomResourceIsDefinedAndUsed) {
  const std::string group = space.str() + ".example.com";
  const std::string text = R"(
metadata: {name: networks.GROUP}
spec:
  group: GROUP
  scope: Namespaced
  names: {plural: networks, singular: network, kind: Network}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {cidr: {type: string}}}}
)";
  std::string filled = text;
  for (std::size_t at; (at = filled.find("GROUP")) != std::string::npos;) {
    filled.replace(at, 5, group);
  }
  const ResourceClient<apiextensionsv1::CustomResourceDefinition> crds(*rest);
  const auto crd = fromYaml<apiextensionsv1::CustomResourceDefinition>(filled);
  crds.create(crd);
  waitFor<apiextensionsv1::CustomResourceDefinition>(
      crds, crd.metadata.name,
      [](const auto* found) {
        if (found == nullptr) return false;
        for (const auto& condition : found->status->conditions) {
          if (condition.type == "Established" && condition.status == "True") return true;
        }
        return false;
      },
      30s);
  const auto networks = DynamicClient(*rest)
                            .resource(GroupVersionResource{group, "v1", "networks"})
                            .inNamespace(space);
  // The server may need a moment to serve an established definition.
  const auto patiently = [](auto act) {
    return retryOnError([](const std::exception& error) { return isNotFound(error); }, act,
                        {.initial = 100ms, .factor = 1.5, .steps = 20});
  };
  EXPECT_TRUE(patiently([&] { return networks.list(); }).items.empty());
  if (e2e::fallsOverCustomResources(*rest)) {
    crds.remove(crd.metadata.name);
    GTEST_SKIP() << "this build of the server crashes when a custom resource is written";
  }
  Unstructured wanted;
  wanted.setGvk({group, "v1", "Network"});
  wanted.setName("example");
  wanted.setNestedField("192.168.0.0/16", "spec", "cidr");
  patiently([&] { return networks.create(wanted); });
  EXPECT_EQ(networks.get("example").nestedString("spec", "cidr"), "192.168.0.0/16");
  crds.remove(crd.metadata.name);
}

Config as(const char* user) {
  return Config::load({.path = (kubeconfig().parent_path() / user).string()});
}
bool ownCluster() {
  return std::filesystem::exists(kubeconfig().parent_path() / "nobody.kubeconfig");
}

TEST(CredentialsE2eTest, CertificatesTokensAndImpersonationAreAccepted) {
  if (!ownCluster()) GTEST_SKIP() << "the cluster has no users of ours";
  EXPECT_FALSE(
      ResourceClient<corev1::Namespace>(RestClient(as("token.kubeconfig"))).list().items.empty());
  Config config = as("admin.kubeconfig");
  config.impersonate.user = "nobody";
  try {
    ResourceClient<corev1::Namespace>(RestClient(config)).list();
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_TRUE(isForbidden(error));
  }
}

TEST(CredentialsE2eTest, MissingRightsAreForbiddenAndWrongTokensUnauthorized) {
  if (!ownCluster()) GTEST_SKIP() << "the cluster has no users of ours";
  Config config = as("nobody.kubeconfig");
  try {
    ResourceClient<corev1::Node>(RestClient(config)).list();
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_TRUE(isForbidden(error));
  }
  config.bearerToken = "wrong";
  try {
    ResourceClient<corev1::Node>(RestClient(config)).list();
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_TRUE(isUnauthorized(error));
  }
}

TEST(CredentialsE2eTest, ATokenFileIsReadAgainAndAPluginIsRun) {
  if (!ownCluster()) GTEST_SKIP() << "the cluster has no users of ours";
  const auto folder =
      std::filesystem::temp_directory_path() / ("kubexx-e2e-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const auto token = folder / "token";
  std::ofstream(token) << "stale";
  Config config = as("token.kubeconfig");
  config.bearerToken.clear();
  config.bearerTokenFile = token.string();
  const ResourceClient<corev1::Namespace> client{RestClient(config)};
  EXPECT_THROW(client.list(), ApiError);
  std::ofstream(token) << "admin-token";
  EXPECT_FALSE(client.list().items.empty());

  const auto plugin = folder / "plugin";
  std::ofstream(plugin)
      << "#!/bin/sh\n"
         R"(echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"admin-token"}}')";
  std::filesystem::permissions(plugin, std::filesystem::perms::owner_all);
  Config asked = as("token.kubeconfig");
  asked.bearerToken.clear();
  asked.exec->command = plugin.string();
  asked.exec->apiVersion = "client.authentication.k8s.io/v1";
  asked.exec->interactiveMode = "Never";
  EXPECT_FALSE(ResourceClient<corev1::Namespace>(RestClient(asked)).list().items.empty());
  std::filesystem::remove_all(folder);
}

TEST(LoadE2eTest, ManyWatchesAndGetsShareFewConnections) {
  Config config = Config::load();
  config.qps = -1;
  const RestClient client(config);
  const ResourceClient<corev1::ConfigMap> maps(client, "kube-system");
  std::stop_source stop;
  std::vector<std::jthread> threads;
  std::atomic<int> watching = 0;
  std::atomic<int> got = 0;
  std::atomic<int> failed = 0;
  const auto run = [&](auto act) {
    threads.emplace_back([&failed, act] {
      try {
        act();
      } catch (const std::exception& error) {
        ++failed;
        ADD_FAILURE() << error.what();
      }
    });
  };
  for (int i = 0; i < 200; ++i) {
    run([&] {
      auto watch = maps.watch({}, stop.get_token());
      ++watching;
      while (watch.next()) {
      }
    });
    run([&] {
      maps.list({.limit = 1});
      ++got;
    });
  }
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  while ((watching < 200 || got < 200) && failed == 0 &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_EQ(watching, 200);
  EXPECT_EQ(got, 200);
  EXPECT_LE(client.connection()->stats().connectionsMade, 8u);
  stop.request_stop();
}

}  // namespace
}  // namespace kube
