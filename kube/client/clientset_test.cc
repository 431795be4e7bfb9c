#include "kube/client/clientset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "kube/base/internal/sanitizer.h"
#include "kube/client/apps/v1.h"
#include "kube/client/apps/v1beta1.h"
#include "kube/client/autoscaling/v2beta2.h"
#include "kube/client/certificates/v1.h"
#include "kube/client/core/v1.h"
#include "kube/client/dynamic_client.h"
#include "kube/client/extensions/v1beta1.h"
#include "kube/client/networking/v1.h"
#include "kube/client/policy/v1beta1.h"
#include "kube/client/storage/v1.h"
#include "kube/codec/json.h"
#include "kube/codec/protobuf.h"
#include "kube/testing/scripted_server.h"

namespace kube {
namespace {

using namespace std::chrono_literals;

// ---- Compile-time checks.

template <class Client>
concept HasNamespaces = requires(const Client& client) {
  client.nodes("book");
};
template <class Client>
concept HasPods = requires(const Client& client) {
  client.pods("book"), client.pods();
};
template <class Client>
concept CanBeScaled = requires(const Client& client) {
  client.getScale("web");
};

static_assert(!HasNamespaces<CoreV1Client>, "nodes are in no namespace");
static_assert(HasPods<CoreV1Client>);
static_assert(CanBeScaled<decltype(std::declval<AppsV1Client>().deployments())>);
static_assert(!CanBeScaled<decltype(std::declval<AppsV1Client>().daemonSets())>);

template <class Accessed, class T>
constexpr bool kIsOf = std::is_same_v<typename Accessed::Object, T>;
static_assert(kIsOf<decltype(std::declval<CoreV1Client>().endpoints()), corev1::Endpoints>);
static_assert(kIsOf<decltype(std::declval<StorageV1Client>().csiNodes()), storagev1::CSINode>);
static_assert(
    kIsOf<decltype(std::declval<NetworkingV1Client>().ipAddresses()), networkingv1::IPAddress>);
static_assert(
    kIsOf<decltype(std::declval<NetworkingV1Client>().serviceCIDRs()), networkingv1::ServiceCIDR>);

// All group-versions that were ever in upstream's clientset since 1.20, and its sister projects.
template <class C>
concept Complete = requires(C c) {
  &C::admissionregistrationV1, &C::admissionregistrationV1alpha1;
  &C::admissionregistrationV1beta1, &C::apiextensionsV1, &C::apiextensionsV1beta1;
  &C::apiregistrationV1, &C::apiregistrationV1beta1, &C::internalV1alpha1, &C::appsV1;
  &C::appsV1beta1, &C::appsV1beta2, &C::authenticationV1, &C::authenticationV1alpha1;
  &C::authenticationV1beta1, &C::authorizationV1, &C::authorizationV1beta1, &C::autoscalingV1;
  &C::autoscalingV2, &C::autoscalingV2beta1, &C::autoscalingV2beta2, &C::batchV1;
  &C::batchV1beta1, &C::batchV2alpha1, &C::certificatesV1, &C::certificatesV1alpha1;
  &C::certificatesV1beta1, &C::coordinationV1, &C::coordinationV1alpha1, &C::coordinationV1alpha2;
  &C::coordinationV1beta1, &C::coreV1, &C::discoveryV1, &C::discoveryV1alpha1;
  &C::discoveryV1beta1, &C::eventsV1, &C::eventsV1beta1, &C::extensionsV1beta1, &C::flowcontrolV1;
  &C::flowcontrolV1alpha1, &C::flowcontrolV1beta1, &C::flowcontrolV1beta2, &C::flowcontrolV1beta3;
  &C::lifecycleV1alpha1, &C::metricsV1, &C::metricsV1alpha1, &C::metricsV1beta1, &C::networkingV1;
  &C::networkingV1alpha1, &C::networkingV1beta1, &C::nodeV1, &C::nodeV1alpha1, &C::nodeV1beta1;
  &C::policyV1, &C::policyV1beta1, &C::rbacV1, &C::rbacV1alpha1, &C::rbacV1beta1, &C::resourceV1;
  &C::resourceV1alpha1, &C::resourceV1alpha2, &C::resourceV1alpha3, &C::resourceV1beta1;
  &C::resourceV1beta2, &C::schedulingV1, &C::schedulingV1alpha1, &C::schedulingV1alpha2;
  &C::schedulingV1alpha3, &C::schedulingV1beta1, &C::storageV1, &C::storageV1alpha1;
  &C::storageV1beta1, &C::storagemigrationV1, &C::storagemigrationV1alpha1;
  &C::storagemigrationV1beta1;
};
static_assert(Complete<Clientset>);

// ---- Requests that a server sees.

struct Cluster {
  ScriptedServer server{[](const ServerRequest&) -> ServerResponse { return {.body = "{}"}; }};
  Clientset clients{server.config()};

  std::string last() const { return server.requests().back().target; }
};

TEST(ClientsetTest, AnAccessorSendsRequestsToItsGroupVersion) {
  Cluster cluster;
  const Clientset& clients = cluster.clients;
  clients.coreV1().pods("book").get("web");
  EXPECT_EQ(cluster.last(), "/api/v1/namespaces/book/pods/web");
  clients.coreV1().pods().list();
  EXPECT_EQ(cluster.last(), "/api/v1/pods");
  clients.coreV1().nodes().get("a");
  EXPECT_EQ(cluster.last(), "/api/v1/nodes/a");
  clients.appsV1().deployments("default").list({.labelSelector = "app=web"});
  EXPECT_EQ(cluster.last(), "/apis/apps/v1/namespaces/default/deployments?labelSelector=app%3Dweb");
  clients.storageV1().csiStorageCapacities("book").get("c");
  EXPECT_EQ(cluster.last(), "/apis/storage.k8s.io/v1/namespaces/book/csistoragecapacities/c");
  clients.networkingV1().ipAddresses().get("10.0.0.1");
  EXPECT_EQ(cluster.last(), "/apis/networking.k8s.io/v1/ipaddresses/10.0.0.1");
  // Older clusters serve these.
  clients.autoscalingV2beta2().horizontalPodAutoscalers("book").get("web");
  EXPECT_EQ(cluster.last(),
            "/apis/autoscaling/v2beta2/namespaces/book/horizontalpodautoscalers/web");
  clients.policyV1beta1().podSecurityPolicies().get("strict");
  EXPECT_EQ(cluster.last(), "/apis/policy/v1beta1/podsecuritypolicies/strict");
}

TEST(ClientsetTest, HasRetiredApis) {
  Cluster cluster;
  cluster.clients.appsV1beta1().deployments("book").get("web");
  EXPECT_EQ(cluster.last(), "/apis/apps/v1beta1/namespaces/book/deployments/web");
  appsv1beta1::Scale scale;
  scale.spec->replicas = 3;
  cluster.clients.appsV1beta1().deployments("book").updateScale("web", scale);
  EXPECT_EQ(cluster.last(), "/apis/apps/v1beta1/namespaces/book/deployments/web/scale");
  EXPECT_EQ(
      fromProtobuf<appsv1beta1::Scale>(cluster.server.requests().back().body).spec.read().replicas,
      3);
  cluster.clients.extensionsV1beta1().ingresses("book").get("web");
  EXPECT_EQ(cluster.last(), "/apis/extensions/v1beta1/namespaces/book/ingresses/web");
}

TEST(ClientsetTest, AGroupSendsRequestsOfItsOwn) {
  Cluster cluster;
  cluster.clients.appsV1().rest().get().resource("anything").raw();
  EXPECT_EQ(cluster.last(), "/apis/apps/v1/anything");
  EXPECT_EQ(cluster.clients.appsV1().rest().apiVersion(), (GroupVersion{"apps", "v1"}));
}

TEST(ClientsetTest, AllClientsShareOneConnectionAndOneLimiter) {
  Cluster cluster;
  const Clientset copy = cluster.clients;
  const Clientset other(copy.rest());
  copy.coreV1().pods("book").get("web");
  other.appsV1().deployments("book").get("web");
  DynamicClient(copy.rest()).resource(GroupVersionResource{"a.io", "v1", "bs"}).get("x");
  EXPECT_EQ(cluster.server.http().stats().connectionsAccepted, 1u);
  EXPECT_EQ(other.appsV1().rest().rateLimiter(), copy.coreV1().rest().rateLimiter());
}

TEST(ClientsetTest, AnInvalidConfigIsRefusedAtOnce) {
  Config config;
  config.host = "https://127.0.0.1:1";
  config.tls.caFile = "no/such/file";
  EXPECT_THROW(Clientset{config}, ConfigError);
}

std::size_t entries(const char* folder) {
  const std::filesystem::directory_iterator all(folder);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST(ClientsetTest, AThousandLeaveNoDescriptorAndNoThreadBehind) {
  ScriptedServer server([](const ServerRequest&) -> ServerResponse {
    return {.body = R"({"metadata":{"name":"web"}})"};
  });
  const auto use = [&] {
    const Clientset clients(server.config());
    EXPECT_EQ(clients.coreV1().pods("book").get("web").metadata.name, "web");
  };
  // The server closes its end of a connection on another thread.
  const auto settle = [&] {
    const auto deadline = std::chrono::steady_clock::now() + 30s;
    while (server.http().stats().connectionsOpen != 0) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline);
      std::this_thread::yield();
    }
  };
  use();  // creates what exists once per process
  settle();
  const std::size_t descriptors = entries("/proc/self/fd");
  const std::size_t threads = entries("/proc/self/task");
  constexpr int kTimes = detail::testAmount(1000);
  for (int i = 0; i < kTimes; ++i) use();
  settle();
  EXPECT_EQ(server.http().stats().connectionsAccepted, kTimes + 1u);
  EXPECT_EQ(entries("/proc/self/fd"), descriptors);
  EXPECT_EQ(entries("/proc/self/task"), threads);
}

}  // namespace
}  // namespace kube
