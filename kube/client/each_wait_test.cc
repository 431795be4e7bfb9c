// All awaitable verbs of this folder, stopped and destroyed at each of their waits.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kube/base/internal/each_wait_testing.h"
#include "kube/base/when.h"
#include "kube/client/api_discovery/cached_discovery_client.h"
#include "kube/client/api_discovery/discovery_rest_mapper.h"
#include "kube/client/apiextensions/v1.h"
#include "kube/client/apps/v1.h"
#include "kube/client/certificates/v1.h"
#include "kube/client/crd.h"
#include "kube/client/dynamic_client.h"
#include "kube/client/manifest.h"
#include "kube/client/pods/internal/pod_server_testing.h"
#include "kube/client/retry.h"
#include "kube/client/scale_client.h"
#include "kube/client/wait.h"
#include "kube/codec/yaml.h"
#include "kube/meta/api_error.h"
#include "kube/rest/environment_testing.h"

namespace kube {
namespace {

using corev1::ConfigMap;
using corev1::Pod;

/// The clients of the tests; tasks hold copies.
struct Verbs {
  Clientset clients;
  ResourceClient<ConfigMap> maps = clients.coreV1().configMaps("book");
  AsyncPodClient pods = clients.coreV1().pods("book").async();
  std::string folder = {};  // for the files of discovery
};
constexpr std::chrono::hours kLong{1};
const GroupVersionResource kConfigMaps{"", "v1", "configmaps"};
const GroupVersionResource kDeployments{"apps", "v1", "deployments"};

ConfigMap mapNamed(std::string_view name) {
  ConfigMap result;
  result.metadata.name = name;
  return result;
}

// --- Resources.

Task<> watches(Verbs with) {
  auto watch = co_await with.maps.async().watch();
  co_await watch.next();
}
Task<> createsAndRemoves(Verbs with) {
  const auto maps = with.maps.async();
  try {
    co_await maps.create(mapNamed("made"));
  } catch (const ApiError& error) {
    if (!isAlreadyExists(error)) throw;
  }
  co_await maps.remove("made");
}
Task<> readsItems(Verbs with) {
  std::function<void(ConfigMap &&)> drop = [](ConfigMap&&) {};
  co_await with.maps.async().eachItem(drop);
}
Task<> readsTogether(Verbs with) {
  const auto maps = with.maps.async();
  co_await whenAll(maps.get("a"), maps.list(), maps.find("none"));
  co_await whenAny(maps.get("a"), maps.find("none"));
  co_await within(kLong, maps.get("a"));
}
Task<> readsPages(Verbs with) {
  const metav1::ListOptions options{.limit = 1};
  auto pages = with.maps.async().pages(options);
  for (;;) {
    const auto page = co_await pages.next();
    if (!page) break;
  }
}
Task<> updates(Verbs with) {
  const auto maps = with.maps.async();
  ConfigMap map = co_await maps.get("a");
  map.data["x"] = "y";
  map.metadata.resourceVersion = String();
  co_await maps.update(map);
  const metav1::ApplyOptions me{.force = true, .fieldManager = "me"};
  co_await maps.apply(mapNamed("a"), me);
  co_await maps.patch("a", PatchType::Merge, "{}");
}

// --- Objects of any kind.

Task<> readsDynamically(Verbs with) {
  const DynamicClient dynamic(with.clients.rest());
  const auto maps = dynamic.resource(kConfigMaps).inNamespace("book").async();
  Unstructured map = co_await maps.get("a");
  map.setResourceVersion({});
  co_await maps.update(map);
  const MetadataClient metadata(with.clients.rest());
  const auto names = metadata.resource(kConfigMaps).async();
  co_await names.list();
}
Task<> scalesAnything(Verbs with) {
  const AsyncScaleClient scales = ScaleClient(with.clients.rest()).async();
  auto scale = co_await scales.get(kDeployments, "book", "web");
  scale.metadata.resourceVersion = String();
  co_await scales.update(kDeployments, "book", scale);
  co_await scales.patch(kDeployments, "book", "web", PatchType::Merge, "{}");
}

// --- Subresources.

Task<> scales(Verbs with) {
  const auto deployments = with.clients.appsV1().deployments("book").async();
  auto scale = co_await deployments.getScale("web");
  scale.metadata.resourceVersion = String();
  co_await deployments.updateScale("web", scale);
  const metav1::ApplyOptions me{.force = true, .fieldManager = "me"};
  co_await deployments.applyScale("web", scale, me);
}
Task<> createsAToken(Verbs with) {
  co_await with.clients.coreV1().serviceAccounts("book").async().createToken("builder");
}
Task<> approves(Verbs with) {
  const auto requests = with.clients.certificatesV1().certificateSigningRequests().async();
  auto request = co_await requests.get("me");
  request.metadata.resourceVersion = String();
  co_await requests.updateApproval(request);
}
Task<> finalizes(Verbs with) {
  const auto spaces = with.clients.coreV1().namespaces().async();
  auto space = co_await spaces.get("book");
  space.metadata.resourceVersion = String();
  co_await spaces.finalize(space);
}
Task<> getsByProxy(Verbs with) {
  try {
    co_await with.pods.proxyGet("web", "healthz");
  } catch (const ApiError&) {
    // There is no network to the pod.
  }
}

// --- Pods.

Task<> evicts(Verbs with) {
  const metav1::DeleteOptions tryOnly{.dryRun = {"All"}};
  co_await with.pods.evict("web", tryOnly);
}
Task<> binds(Verbs with) {
  corev1::Binding binding;
  binding.metadata.name = "web";
  binding.target->kind = "Node";
  binding.target->name = "node-1";
  try {
    co_await with.pods.bind(binding);
  } catch (const ApiError& error) {
    if (!isConflict(error)) throw;  // it has a node
  }
}
Task<> changesAPod(Verbs with) {
  Pod pod = co_await with.pods.get("web");
  pod.metadata.resourceVersion = String();
  co_await with.pods.updateEphemeralContainers(pod);
  co_await with.pods.updateResize(pod);
}
Task<> readsALog(Verbs with) {
  auto log = co_await with.pods.logs("web");
  const auto line = co_await log.nextLine();
  EXPECT_TRUE(line.has_value());
  for (;;) {
    const auto bytes = co_await log.read();
    if (!bytes) break;
  }
}
Task<> followsALog(Verbs with) {
  auto log = co_await with.pods.followLogs("web");
  for (;;) {
    const auto line = co_await log.nextLine();
    if (!line) break;
  }
}

Task<> usesAPort(Verbs with) {
  auto stream = co_await with.pods.openPort("web", 7);  // which answers the same
  co_await stream.write(std::string(100'000, 'x'));
  for (std::size_t heard = 0; heard < 100'000;) {
    const auto bytes = co_await stream.read();
    EXPECT_TRUE(bytes.has_value());
    if (!bytes) break;
    heard += bytes->size();
  }
  stream.endOutput();
  for (;;) {
    const auto bytes = co_await stream.read();
    if (!bytes) break;
  }
}

// --- Manifests and definitions.

constexpr const char* kNetworksDefinition = R"(apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: networks.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: networks, kind: Network}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
)";
constexpr const char* kNetworkAndMap = R"(---
apiVersion: example.com/v1
kind: Network
metadata: {name: book-net}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: of-the-manifest}
)";

using ManifestVerb = Task<ManifestReport> (*)(const DynamicClient&, const AsyncDiscoveryRestMapper&,
                                              std::string_view, const ManifestOptions&);

Task<> waitsUntilTheDefinitionIsGone(Verbs with) {
  const auto definitions = with.clients.apiextensionsV1().customResourceDefinitions().async();
  const auto gone = [](const auto* definition) { return definition == nullptr; };
  co_await waitFor(definitions, "networks.example.com", gone, kLong);
}
// Each time, the definition is new to the server and to the mapper.
Task<> sendsAManifest(Verbs with, ManifestVerb send) {
  const DynamicClient dynamic(with.clients.rest());
  const auto mapper = discoveryRestMapper(DiscoveryClient(with.clients.rest()))->async();
  const std::string text = std::string(kNetworksDefinition) + kNetworkAndMap;
  const ManifestOptions options{.namespace_ = "book"};
  const auto removed = co_await removeFromYaml(dynamic, mapper, text, options);
  removed.throwIfFailed();
  co_await waitsUntilTheDefinitionIsGone(with);
  mapper.reset();
  const auto sent = co_await send(dynamic, mapper, text, options);
  sent.throwIfFailed();
  EXPECT_EQ(sent.results[1].outcome, ManifestOutcome::Created);
}
Task<> createsAManifest(Verbs with) { return sendsAManifest(std::move(with), createFromYaml); }
Task<> appliesAManifest(Verbs with) { return sendsAManifest(std::move(with), applyFromYaml); }
Task<> ensuresADefinition(Verbs with) {
  using Definition = apiextensionsv1::CustomResourceDefinition;
  const auto definitions = with.clients.apiextensionsV1().customResourceDefinitions().async();
  try {
    co_await definitions.remove("networks.example.com");
  } catch (const ApiError& error) {
    if (!isNotFound(error)) throw;
  }
  co_await waitsUntilTheDefinitionIsGone(with);
  auto definition = fromYaml<Definition>(kNetworksDefinition);
  const auto created = co_await ensureCrd(definitions, definition);
  definition.metadata.labels["a"] = "b";
  const auto updated = co_await ensureCrd(definitions, definition);
  EXPECT_EQ(created.metadata.uid, updated.metadata.uid);
}

// --- Discovery.

Task<> discovers(Verbs with) {
  const AsyncDiscoveryClient discovery = DiscoveryClient(with.clients.rest()).async();
  co_await discovery.serverVersion();
  co_await discovery.serverPreferredNamespacedResources();
  co_await isResourceEnabled(discovery, kDeployments);
  co_await discovery.openApiV3(kDeployments.groupVersion());
}
Task<> discoversEachVersion(Verbs with) {
  const DiscoveryClientOptions legacy{.legacy = true};
  const AsyncDiscoveryClient discovery = DiscoveryClient(with.clients.rest(), legacy).async();
  co_await discovery.serverGroupsAndResources();
}
Task<> discoversWithACache(Verbs with) {
  DiscoveryCacheOptions options;
  options.folder = with.folder;
  const DiscoveryClient client(with.clients.rest());
  const AsyncDiscovery cached(std::make_shared<const CachedDiscoveryClient>(client, options));
  co_await cached.serverGroups();
  cached.invalidate();
  co_await whenAll(cached.serverGroupsAndResources(), cached.serverGroups());
}
Task<> mapsNames(Verbs with) {
  const auto mapper = discoveryRestMapper(DiscoveryClient(with.clients.rest()))->async();
  const GroupVersionResource deploy{.resource = "deploy"};
  co_await whenAll(mapper.kindFor(deploy), mapper.expand("all"), mappingFor(mapper, "cm"));
}

// --- Functions.

Task<> retries(Verbs with) {
  const auto maps = with.maps.async();
  int tries = 0;
  const auto change = [&]() -> Task<> {
    ConfigMap map = co_await maps.get("a");
    map.metadata.resourceVersion = ++tries == 1 ? String("1") : String();
    co_await maps.update(map);
  };
  try {
    co_await retryOnConflict(change);
    EXPECT_EQ(tries, 2);
  } catch (const ApiError& error) {
    // A stop in the pause before the second try.
    if (!isConflict(error) || tries != 1) throw;
  }
}
Task<> waitsForAChange(Verbs with) {
  const auto maps = with.maps.async();
  int calls = 0;
  const auto condition = [&](const ConfigMap* map) -> Task<bool> {
    EXPECT_NE(map, nullptr);
    if (++calls == 1) {  // the change that the second call sees
      const std::string patch = fmt::format(R"({{"data":{{"n":"{}"}}}})", randomUnit());
      co_await maps.patch("a", PatchType::Merge, patch);
    }
    co_return calls > 1;
  };
  co_await waitFor(maps, "a", condition, kLong);
}

struct Verb {
  const char* name;
  Task<> (*make)(Verbs);
};

class EachWaitTest : public PodServerTest, public ::testing::WithParamInterface<Verb> {
 protected:
  EachWaitTest() {
    with_.maps.create(mapNamed("a"));
    with_.maps.create(mapNamed("b"));
    appsv1::Deployment web;
    web.metadata.name = "web";
    web.spec->selector->matchLabels["app"] = "web";
    web.spec->template_->metadata.labels["app"] = "web";
    web.spec->template_->spec->containers.push_back({.name = "c", .image = "i"});
    clients.appsV1().deployments("book").create(web);
    corev1::ServiceAccount builder;
    builder.metadata.name = "builder";
    clients.coreV1().serviceAccounts("book").create(builder);
    certificatesv1::CertificateSigningRequest me;
    me.metadata.name = "me";
    me.spec->signerName = "example.com/signer";
    me.spec->usages = {"client auth"};
    me.spec->request = "-----BEGIN CERTIFICATE REQUEST-----\n";
    clients.certificatesV1().certificateSigningRequests().create(me);
    server.containers().append("book/web", "app", "one\ntwo\nthree");
    server.containers().endLog("book/web", "app");
  }

  const test::TemporaryFolder folder_;
  const Verbs with_{.clients = clients, .folder = folder_.path()};
  const testing::MakeTask make_ = [this] { return GetParam().make(with_); };
};

TEST_P(EachWaitTest, CanBeStopped) {
  testing::stopAtEachWait(make_);
  EXPECT_EQ(with_.maps.get("a").metadata.name, "a");
}

TEST_P(EachWaitTest, CanBeDestroyed) {
  testing::destroyAtEachWait(make_);
  EXPECT_EQ(with_.maps.get("a").metadata.name, "a");
}

INSTANTIATE_TEST_SUITE_P(
    OfVerb, EachWaitTest,
    ::testing::Values(
        Verb{"Watch", watches}, Verb{"CreateAndRemove", createsAndRemoves},
        Verb{"EachItem", readsItems}, Verb{"Together", readsTogether}, Verb{"Pages", readsPages},
        Verb{"Update", updates}, Verb{"Dynamic", readsDynamically},
        Verb{"AnyScale", scalesAnything}, Verb{"Scale", scales}, Verb{"Token", createsAToken},
        Verb{"Approval", approves}, Verb{"Finalize", finalizes}, Verb{"Proxy", getsByProxy},
        Verb{"Evict", evicts}, Verb{"Bind", binds}, Verb{"PodSubresources", changesAPod},
        Verb{"Port", usesAPort}, Verb{"CreateManifest", createsAManifest},
        Verb{"ApplyManifest", appliesAManifest}, Verb{"EnsureCrd", ensuresADefinition},
        Verb{"Log", readsALog}, Verb{"FollowLog", followsALog}, Verb{"Discovery", discovers},
        Verb{"LegacyDiscovery", discoversEachVersion}, Verb{"CachedDiscovery", discoversWithACache},
        Verb{"Mapper", mapsNames}, Verb{"Retry", retries}, Verb{"WaitFor", waitsForAChange}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace kube
