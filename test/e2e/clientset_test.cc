// Tests Clientset and subresources against a real API server; see clients_test.cc. The control
// plane may have no controllers, kubelets and nodes, so no test waits for their work.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/client/apps/v1.h"
#include "kube/client/apps/v1beta1.h"
#include "kube/client/authentication/v1.h"
#include "kube/client/autoscaling/v2.h"
#include "kube/client/certificates/v1.h"
#include "kube/client/core/v1.h"
#include "kube/client/retry.h"
#include "kube/codec/apply/apply_configuration.h"
#include "kube/codec/json.h"
#include "kube/codec/unstructured.h"
#include "kube/meta/api_error.h"

namespace kube {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// A certificate signing request for a key that was thrown away. The server only stores it.
constexpr const char* kSigningRequest = R"(-----BEGIN CERTIFICATE REQUEST-----
MIHPMHcCAQAwFTETMBEGA1UEAwwKa3ViZXh4LWUyZTBZMBMGByqGSM49AgEGCCqG
SM49AwEHA0IABD3uQyqL3zdgSx/eaUKxnNOxfcTHK3Nnfo9QgAQ5T6HM1Cr3wGlm
aCJ7ecKY0sAFzSbDLnd+GbaOMz+bkHhOtI2gADAKBggqhkjOPQQDAgNIADBFAiAL
FvDhDf+n+NSAEz1GOdzkzM0hf4Dy59/jpAp0m27GbQIhALbmny7qRaFnWztyporE
hOzL1zPc6u8DzDcQ9JgeR+pd
-----END CERTIFICATE REQUEST-----
)";

// Runs once with protobuf and once with JSON alone.
class ClientsetE2eTest : public ::testing::TestWithParam<const char*> {
 protected:
  static Config config() {
    Config config = Config::load();
    config.contentType = GetParam();
    if (config.contentType == "application/json") config.acceptContentTypes = "application/json";
    return config;
  }
  ClientsetE2eTest() {
    corev1::Namespace wanted;
    wanted.metadata.generateName = "kubexx-e2e-";
    space = clients.coreV1().namespaces().create(wanted).metadata.name;
  }
  void TearDown() override { clients.coreV1().namespaces().remove(space); }

  int minorVersion() const {
    const Value version = parseJson(clients.rest().get().absPath("/version").raw());
    return std::stoi(version["minor"].asString().str());
  }

  // Creates a pod that needs no token, and its service account.
  corev1::Pod createPod(std::string_view name) const {
    corev1::ServiceAccount account;
    account.metadata.name = "e2e";
    account.automountServiceAccountToken = false;
    try {
      clients.coreV1().serviceAccounts(space).create(account);
    } catch (const ApiError& error) {
      if (!isAlreadyExists(error)) throw;
    }
    corev1::Pod pod;
    pod.metadata.name = name;
    pod.spec->serviceAccountName = "e2e";
    pod.spec->containers.push_back({.name = "c", .image = "example.com/none"});
    return clients.coreV1().pods(space).create(pod);
  }

  Clientset clients{config()};
  String space;
};
INSTANTIATE_TEST_SUITE_P(Format, ClientsetE2eTest,
                         ::testing::Values("application/vnd.kubernetes.protobuf",
                                           "application/json"),
                         [](const auto& info) {
                           return std::string(info.param) == "application/json" ? "Json"
                                                                                : "Protobuf";
                         });

TEST_P(ClientsetE2eTest, ADeploymentIsScaled) {
  const auto deployments = clients.appsV1().deployments(space);
  appsv1::Deployment wanted;
  wanted.metadata.name = "web";
  wanted.spec->selector->matchLabels["app"] = "web";
  wanted.spec->template_->metadata.labels["app"] = "web";
  wanted.spec->template_->spec->containers.push_back({.name = "c", .image = "example.com/none"});
  deployments.create(wanted);
  auto scale = deployments.getScale("web");
  EXPECT_EQ(scale.spec->replicas, 1);
  scale.spec->replicas = 4;
  EXPECT_EQ(deployments.updateScale("web", scale).spec.read().replicas, 4);
  EXPECT_EQ(deployments.get("web").spec.read().replicas, 4);

  autoscalingv1::Scale applied;
  applied.metadata.name = "web";
  applied.spec->replicas = 3;
  EXPECT_EQ(deployments.applyScale("web", applied, {.force = true, .fieldManager = "e2e"})
                .spec.read()
                .replicas,
            3);
  EXPECT_EQ(deployments.get("web").spec.read().replicas, 3);
}

TEST_P(ClientsetE2eTest, APodIsBoundAndEvicted) {
  const PodClient pods = clients.coreV1().pods(space);
  createPod("web");
  corev1::Binding binding;
  binding.metadata.name = "web";
  binding.target->kind = "Node";
  binding.target->name = "kubexx-no-such-node";
  pods.bind(binding);
  EXPECT_EQ(pods.get("web").spec.read().nodeName, "kubexx-no-such-node");

  if (minorVersion() < 22) {
    policyv1beta1::Eviction eviction;
    eviction.metadata.name = "web";
    eviction.deleteOptions->gracePeriodSeconds = 0;
    pods.evict(eviction);
  } else {
    pods.evict("web", {.gracePeriodSeconds = 0});
  }
  EXPECT_EQ(pods.find("web"), std::nullopt);
}

TEST_P(ClientsetE2eTest, APodThatWasReadCanBeUpdated) {
  const PodClient pods = clients.coreV1().pods(space);
  createPod("web");
  corev1::Pod pod = pods.get("web");
  EXPECT_TRUE(pod.spec->affinity->nodeAffinity->requiredDuringSchedulingIgnoredDuringExecution
                  ->nodeSelectorTerms.empty());
  EXPECT_FALSE(pod.spec->securityContext->seLinuxOptions || pod.spec->dnsConfig);
  EXPECT_NE(pod.metadata.labels["tier"], "backend");
  pod.metadata.labels["seen"] = "yes";
  // The server refuses a pod whose affinity changes.
  pod = pods.update(pod);
  EXPECT_EQ(pod.metadata.labels, (Map<String>{{"seen", "yes"}}));
  EXPECT_FALSE(pod.spec->affinity);
}

TEST_P(ClientsetE2eTest, ApplySendsOnlyTheFieldsThatWereSet) {
  if (minorVersion() < 23) GTEST_SKIP() << "the server has no autoscaling/v2";
  const auto autoscalers = clients.autoscalingV2().horizontalPodAutoscalers(space);
  autoscalingv2::HorizontalPodAutoscaler whole;
  whole.metadata.name = "web";
  whole.spec->maxReplicas = 5;
  *whole.spec->scaleTargetRef = {.kind = "Deployment", .name = "web", .apiVersion = "apps/v1"};
  autoscalers.apply(whole, {.fieldManager = "owner"});

  autoscalingv2::HorizontalPodAutoscaler least;
  least.metadata.name = "web";
  least.spec->minReplicas = 2;
  const auto applied = autoscalers.apply(least, {.fieldManager = "tuner"});
  EXPECT_EQ(applied.spec->maxReplicas, 5);
  EXPECT_EQ(applied.spec->minReplicas, 2);
  const Value owners = toUnstructured(applied).object["metadata"]["managedFields"];
  EXPECT_EQ(FieldSet::fromValue(owners[1]["fieldsV1"]), (FieldSet{{"spec", "minReplicas"}}))
      << toJson(owners);
}

TEST_P(ClientsetE2eTest, AZeroIsAppliedExtractedAndGivenUp) {
  const auto deployments = clients.appsV1().deployments(space);
  Apply<appsv1::Deployment> wanted;
  wanted->metadata.name = "web";
  wanted->spec->selector->matchLabels["app"] = "web";
  wanted->spec->template_->metadata.labels["app"] = "web";
  wanted->spec->template_->spec->containers.push_back({.name = "c", .image = "example.com/none"});
  wanted.set(wanted->spec->paused, false);
  wanted.set(wanted->spec->template_->spec->hostNetwork, false);
  deployments.apply(wanted, {.fieldManager = "me"});

  // The zero is owned: another manager gets a conflict.
  Apply<appsv1::Deployment> other;
  other->metadata.name = "web";
  other->spec->paused = true;
  EXPECT_THROW(deployments.apply(other, {.fieldManager = "other"}), ApiError);

  Apply<appsv1::Deployment> mine = extract(deployments.get("web"), "me");
  EXPECT_TRUE(mine.zeros().has({"spec", "paused"})) << mine.zeros();
  EXPECT_TRUE(mine.zeros().has({"spec", "template", "spec", "hostNetwork"})) << mine.zeros();
  mine->spec->minReadySeconds = 3;
  mine.unset(mine->spec->paused);
  deployments.apply(mine, {.fieldManager = "me"});
  EXPECT_TRUE(deployments.apply(other, {.fieldManager = "other"}).spec.read().paused);
}

TEST_P(ClientsetE2eTest, LogsOfAnUnknownContainerAreRefused) {
  createPod("web");
  const PodClient pods = clients.coreV1().pods(space);
  LogStream log = pods.logs("web", {.tailLines = 1});
  EXPECT_EQ(log.nextLine(), std::nullopt);  // the pod has no node yet
  try {
    pods.logs("web", {.container = "other"});
    FAIL() << "no error";
  } catch (const ApiError& error) {
    EXPECT_THAT(error.what(), HasSubstr(R"(get pods/log "web")"));
    EXPECT_TRUE(isBadRequest(error)) << error.what();
  }
}

TEST_P(ClientsetE2eTest, AServiceWithoutPodsCannotBeReached) {
  const auto service =
      fromJson<corev1::Service>(R"({"metadata":{"name":"web"},"spec":{"ports":[{"port":80}]}})");
  clients.coreV1().services(space).create(service);
  try {
    clients.coreV1().services(space).proxyGet("web", "/healthz", {.port = "80"});
    FAIL() << "no error";
  } catch (const ApiError& error) {
    // Not found if no controller has made endpoints.
    EXPECT_TRUE(isServiceUnavailable(error) || isNotFound(error)) << error.what();
  }
}

TEST_P(ClientsetE2eTest, ATokenAuthenticatesItsServiceAccount) {
  corev1::ServiceAccount account;
  account.metadata.name = "builder";
  clients.coreV1().serviceAccounts(space).create(account);
  authenticationv1::TokenRequest wanted;
  wanted.spec->expirationSeconds = 600;
  const auto token = clients.coreV1().serviceAccounts(space).createToken("builder", wanted);
  EXPECT_THAT(token.status->token, Not(IsEmpty()));

  authenticationv1::TokenReview review;
  review.spec->token = token.status->token;
  const auto reviewed = clients.authenticationV1().tokenReviews().create(review);
  EXPECT_TRUE(reviewed.status->authenticated) << reviewed.status->error;
  EXPECT_EQ(reviewed.status->user->username, "system:serviceaccount:" + space.str() + ":builder");
}

TEST_P(ClientsetE2eTest, ANamespaceIsRemovedWithItsLastFinalizer) {
  const auto namespaces = clients.coreV1().namespaces();
  corev1::Namespace wanted;
  wanted.metadata.generateName = "kubexx-e2e-";
  const String name = namespaces.create(wanted).metadata.name;
  const auto setFinalizers = [&](List<String> finalizers) {
    return retryOnConflict([&] {
      auto current = namespaces.get(name);
      current.spec->finalizers = finalizers;
      return namespaces.finalize(current);
    });
  };
  EXPECT_EQ(setFinalizers({"example.com/guard"}).spec.read().finalizers,
            List<String>{"example.com/guard"});
  namespaces.remove(name);
  EXPECT_EQ(namespaces.get(name).status.read().phase, "Terminating");
  setFinalizers({});
  // Without a namespace controller, a second deletion removes it once the finalizers are gone.
  try {
    namespaces.remove(name);
  } catch (const ApiError& error) {
    EXPECT_TRUE(isNotFound(error)) << error.what();
  }
  EXPECT_EQ(namespaces.find(name), std::nullopt);
}

TEST_P(ClientsetE2eTest, ACertificateIsApproved) {
  const auto requests = clients.certificatesV1().certificateSigningRequests();
  certificatesv1::CertificateSigningRequest wanted;
  wanted.metadata.generateName = "kubexx-e2e-";
  wanted.spec->request = Bytes(kSigningRequest);
  wanted.spec->signerName = "example.com/kubexx";
  wanted.spec->usages = {"client auth"};
  auto request = requests.create(wanted);
  request.status->conditions.push_back(
      {.type = "Approved", .status = "True", .reason = "E2e", .message = "why not"});
  const auto approved = requests.updateApproval(request);
  requests.remove(request.metadata.name);
  ASSERT_EQ(approved.status->conditions.size(), 1u);
  EXPECT_EQ(approved.status->conditions[0].type, "Approved");
}

TEST_P(ClientsetE2eTest, ARetiredApiIsNotFound) {
  try {
    clients.appsV1beta1().deployments(space).list();
    FAIL() << "no error";
  } catch (const ApiError& error) {
    EXPECT_TRUE(isNotFound(error)) << error.what();
  }
}

}  // namespace
}  // namespace kube
