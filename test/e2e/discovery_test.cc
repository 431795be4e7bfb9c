// Tests discovery, its REST mapper and manifests against a real API server; see clients_test.cc.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>

#include "kube/api/apps/v1.h"
#include "kube/api/core/v1.h"
#include "kube/client/api_discovery/cached_discovery_client.h"
#include "kube/client/api_discovery/discovery_client.h"
#include "kube/client/api_discovery/discovery_rest_mapper.h"
#include "kube/client/manifest.h"
#include "kube/client/resource_client.h"
#include "kube/client/retry.h"
#include "kube/codec/json.h"
#include "kube/meta/validation/names.h"
#include "test/e2e/server_build.h"

namespace kube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

bool has(const List<metav1::APIResourceList>& lists, const GroupVersionResource& wanted) {
  const auto all = groupVersionResources(lists);
  return std::ranges::find(all, wanted) != all.end();
}

TEST(DiscoveryE2eTest, FindsVersionGroupsAndResources) {
  const DiscoveryClient client(Config::load());
  EXPECT_EQ(client.serverVersion().major, "1");
  EXPECT_THAT(client.serverVersion().gitVersion.str(), HasSubstr("v1."));
  const auto groups = client.serverGroups().groups;
  EXPECT_EQ(groups[0].name, "");
  EXPECT_TRUE(serverSupportsVersion(client, {"apps", "v1"}));
  EXPECT_FALSE(serverSupportsVersion(client, {"apps", "v7"}));
  EXPECT_TRUE(isResourceEnabled(client, {"", "v1", "pods"}));
  EXPECT_FALSE(isResourceEnabled(client, {"", "v1", "deployments"}));

  const ServerResources all = client.serverGroupsAndResources();
  EXPECT_THAT(all.failed, IsEmpty());
  EXPECT_TRUE(has(all.resources, {"apps", "v1", "deployments/scale"}));
  const ServerResources preferred = client.serverPreferredResources();
  EXPECT_TRUE(has(preferred.resources, {"apps", "v1", "deployments"}));
  EXPECT_FALSE(has(preferred.resources, {"apps", "v1", "deployments/scale"}));
  EXPECT_TRUE(has(preferred.resources, {"", "v1", "nodes"}));
  EXPECT_FALSE(has(client.serverPreferredNamespacedResources().resources, {"", "v1", "nodes"}));
}

TEST(DiscoveryE2eTest, AggregatedAndLegacyDiscoveryAgree) {
  const Config config = Config::load();
  const ServerResources aggregated = DiscoveryClient(config).serverGroupsAndResources();
  const ServerResources legacy =
      DiscoveryClient(config, {.legacy = true}).serverGroupsAndResources();
  auto a = groupVersionResources(aggregated.resources);
  auto b = groupVersionResources(legacy.resources);
  std::ranges::sort(a);
  std::ranges::sort(b);
  EXPECT_EQ(a, b);
}

TEST(DiscoveryE2eTest, ReadsTheOpenApiDocuments) {
  const DiscoveryClient client(Config::load());
  const Value schema = parseJson(client.openApiV2());
  EXPECT_EQ(schema["swagger"].asString(), "2.0");
  EXPECT_TRUE(schema["definitions"]["io.k8s.api.core.v1.Pod"].isObject());
  EXPECT_FALSE(client.openApiV2(OpenApiFormat::Protobuf).empty());
  try {
    EXPECT_THAT(client.openApiV3({"apps", "v1"}), HasSubstr("Deployment"));
  } catch (const ApiError& error) {
    EXPECT_TRUE(isNotFound(error)) << error.what();  // before 1.24
  }
}

TEST(DiscoveryE2eTest, FilesServeTheNextProcess) {
  const Config config = Config::load();
  std::string name = (std::filesystem::temp_directory_path() / "kubexx-e2e-XXXXXX").string();
  const std::string folder = ::mkdtemp(name.data());
  const RestClient rest(config);
  const auto process = [&] {
    return CachedDiscoveryClient(DiscoveryClient(rest), {.folder = folder});
  };
  const ServerResources first = process().serverGroupsAndResources();
  const auto second = process();
  EXPECT_EQ(second.serverGroupsAndResources().resources, first.resources);
  EXPECT_FALSE(second.fresh());
  EXPECT_TRUE(std::filesystem::exists(folder + "/apps/v1/serverresources.json"));
  std::filesystem::remove_all(folder);
}

TEST(DiscoveryE2eTest, TheMapperKnowsAllFormsOfNames) {
  const auto mapper = discoveryRestMapper(DiscoveryClient(Config::load()));
  EXPECT_EQ(mapper->kindFor({.resource = "deploy"}),
            (GroupVersionKind{"apps", "v1", "Deployment"}));
  EXPECT_EQ(mappingFor(*mapper, "cm").gvr, (GroupVersionResource{"", "v1", "configmaps"}));
  EXPECT_EQ(mappingFor(*mapper, "Deployment.v1.apps").gvr.resource, "deployments");
  EXPECT_EQ(mapper->restMapping({"", "Namespace"}).scope, RestScope::Root);
  EXPECT_THROW(mapper->kindFor({.resource = "nonsense"}), NoResourceMatchError);
  const auto all = mapper->expand("all");
  ASSERT_TRUE(all);
  EXPECT_THAT(*all, ::testing::Contains(GroupResource{"apps", "deployments"}));
}

class ManifestE2eTest : public ::testing::Test {
 protected:
  ManifestE2eTest() {
    for (std::size_t at; (at = text.find("SPACE")) != std::string::npos;) {
      text.replace(at, 5, space);
    }
  }
  ~ManifestE2eTest() override {
    try {
      ResourceClient<corev1::Namespace>(rest).remove(space);
    } catch (const Error&) {
    }
  }

  std::vector<std::string> lines(const ManifestReport& report) const {
    std::vector<std::string> result;
    for (const ManifestResult& one : report.results) {
      std::string line = toString(one);
      if (const auto at = line.find(space); at != std::string::npos) {
        line.replace(at, space.size(), "SPACE");
      }
      result.push_back(line);
    }
    return result;
  }

  const std::string space = generateName("kubexx-e2e-");
  std::string text = R"(
apiVersion: v1
kind: Namespace
metadata: {name: SPACE}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {colour: blue}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "nginx:1.27"}]}
)";
  const RestClient rest{Config::load()};
  const DynamicClient client{rest};
  const std::shared_ptr<const DiscoveryRestMapper> mapper =
      discoveryRestMapper(DiscoveryClient(rest));
};

TEST_F(ManifestE2eTest, IsCreatedOnce) {
  EXPECT_THAT(lines(createFromYaml(client, *mapper, text, {.namespace_ = space})),
              ElementsAre("namespace/SPACE created", "configmap/settings created",
                          "deployment.apps/web created"));
  EXPECT_EQ(ResourceClient<corev1::ConfigMap>(rest, space).get("settings").data["colour"], "blue");
  EXPECT_EQ(ResourceClient<appsv1::Deployment>(rest, space).get("web").spec.read().replicas, 2);
  EXPECT_THAT(lines(createFromYaml(client, *mapper, text, {.namespace_ = space})),
              ElementsAre("namespace/SPACE already exists", "configmap/settings already exists",
                          "deployment.apps/web already exists"));
}

TEST_F(ManifestE2eTest, IsAppliedAgainAndAgain) {
  const auto apply = [&](const std::string& what, bool dryRun = false) {
    return lines(applyFromYaml(client, *mapper, what, {.namespace_ = space, .dryRun = dryRun}));
  };
  EXPECT_THAT(apply(text), ElementsAre("namespace/SPACE created", "configmap/settings created",
                                       "deployment.apps/web created"));
  EXPECT_THAT(apply(text), ElementsAre("namespace/SPACE unchanged", "configmap/settings unchanged",
                                       "deployment.apps/web unchanged"));
  std::string changed = text;
  changed.replace(changed.find("blue"), 4, "red");
  EXPECT_EQ(apply(changed, true)[1], "configmap/settings configured (server dry run)");
  EXPECT_THAT(apply(changed),
              ElementsAre("namespace/SPACE unchanged", "configmap/settings configured",
                          "deployment.apps/web unchanged"));
  EXPECT_EQ(ResourceClient<corev1::ConfigMap>(rest, space).get("settings").data["colour"], "red");

  // A field of another manager is a conflict, unless forced.
  const std::string blue =
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, "
      "data: {colour: blue}}";
  const ManifestReport conflict =
      applyFromYaml(client, *mapper, blue, {.namespace_ = space, .fieldManager = "other"});
  EXPECT_FALSE(conflict.ok());
  EXPECT_THAT(conflict.results[0].message, HasSubstr("kubexx"));
  EXPECT_THAT(lines(applyFromYaml(client, *mapper, blue,
                                  {.namespace_ = space, .fieldManager = "other", .force = true})),
              ElementsAre("configmap/settings configured"));
}

TEST_F(ManifestE2eTest, IsRemovedInReverseOrder) {
  createFromYaml(client, *mapper, text, {.namespace_ = space}).throwIfFailed();
  EXPECT_THAT(lines(removeFromYaml(client, *mapper, text, {.namespace_ = space})),
              ElementsAre("deployment.apps/web deleted", "configmap/settings deleted",
                          "namespace/SPACE deleted"));
  EXPECT_EQ(lines(removeFromYaml(client, *mapper, text, {.namespace_ = space}))[1],
            "configmap/settings not found");
}

TEST_F(ManifestE2eTest, ReportsRefusalsOfTheServer) {
  const ManifestReport report = createFromYaml(
      client, *mapper, "{apiVersion: v1, kind: ConfigMap, metadata: {name: Not_A_Name}}");
  ASSERT_EQ(report.results[0].outcome, ManifestOutcome::Failed);
  try {
    report.throwIfFailed();
  } catch (const std::exception& error) {
    EXPECT_TRUE(isInvalid(error));
  }
}

// A definition of networks in the group of a test.
std::string definition(const std::string& group) {
  std::string text = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: networks.GROUP}
spec:
  group: GROUP
  scope: Namespaced
  names: {plural: networks, singular: network, kind: Network, shortNames: [nwk], categories: [nets]}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object}}
)";
  for (std::size_t at; (at = text.find("GROUP")) != std::string::npos;) text.replace(at, 5, group);
  return text;
}

TEST_F(ManifestE2eTest, ADefinitionIsAppliedAndItsKindMapped) {
  const std::string group = space + ".example.com";
  const std::string crd = definition(group);
  const GroupKind kind{group, "Network"};
  EXPECT_EQ(mapper->findMapping(kind, {}), std::nullopt);
  applyFromYaml(client, *mapper, crd).throwIfFailed();
  retryOnError([](const std::exception& error) { return isNoMatch(error); },
               [&] {
                 mapper->reset();
                 return mapper->restMapping(kind);
               },
               {.initial = std::chrono::milliseconds{100}, .factor = 1.2, .steps = 40});
  EXPECT_EQ(mappingFor(*mapper, "nwk").gvk.group, group);
  EXPECT_EQ(mapper->expand("nets")->front(), (GroupResource{group, "networks"}));
  EXPECT_EQ(removeFromYaml(client, *mapper, crd).results[0].outcome, ManifestOutcome::Removed);
}

TEST_F(ManifestE2eTest, ACustomResourceMayFollowItsDefinition) {
  if (e2e::fallsOverCustomResources(rest)) {
    GTEST_SKIP() << "this build of the server crashes when a custom resource is written";
  }
  const std::string group = space + ".example.com";
  const std::string both = "{apiVersion: v1, kind: Namespace, metadata: {name: " + space +
                           "}}\n---" + definition(group) + "---\napiVersion: " + group +
                           "/v1\nkind: Network\nmetadata: {name: example}\n";
  for (const ManifestResult& result :
       createFromYaml(client, *mapper, both, {.namespace_ = space}).results) {
    EXPECT_EQ(result.outcome, ManifestOutcome::Created) << result.message;
  }
  removeFromYaml(client, *mapper, both, {.namespace_ = space}).throwIfFailed();
}

}  // namespace
}  // namespace kube
