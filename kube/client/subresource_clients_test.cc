#include "kube/client/subresource_clients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/client/apps/v1.h"
#include "kube/client/certificates/v1.h"
#include "kube/client/core/v1.h"
#include "kube/codec/json.h"
#include "kube/codec/protobuf.h"
#include "kube/meta/api_error.h"
#include "kube/testing/scripted_server.h"

namespace kube {
namespace {

using ::testing::HasSubstr;

// Answers every request with `answer`; `last` returns the request.
template <class T>
struct Answering {
  T answer;
  ScriptedServer server{[this](const ServerRequest&) -> ServerResponse {
    return {.status = 201,
            .headers = {{"Content-Type", "application/vnd.kubernetes.protobuf"}},
            .body = toProtobuf(answer)};
  }};
  Clientset clients{server.config()};

  std::string last() const {
    const ServerRequest request = server.requests().back();
    return request.method + " " + request.target;
  }
  template <class Body>
  Body body() const {
    return fromProtobuf<Body>(server.requests().back().body);
  }
};

const std::string kPod = "/api/v1/namespaces/book/pods/web";

corev1::Pod pod() {
  corev1::Pod pod;
  pod.metadata.name = "web";
  return pod;
}

TEST(PodClientTest, EvictPostsAnEviction) {
  Answering<metav1::Status> to{.answer = {.status = "Success"}};
  const PodClient pods = to.clients.coreV1().pods("book");
  pods.evict("web");
  EXPECT_EQ(to.last(), "POST " + kPod + "/eviction");
  auto eviction = to.body<policyv1::Eviction>();
  EXPECT_EQ(eviction.metadata.name, "web");
  EXPECT_EQ(eviction.metadata.namespace_, "book");
  EXPECT_EQ(*eviction.deleteOptions, metav1::DeleteOptions());

  pods.evict("web", {.gracePeriodSeconds = 0});
  EXPECT_EQ(to.body<policyv1::Eviction>().deleteOptions.read().gracePeriodSeconds, 0);

  eviction.metadata.namespace_ = "shelf";
  pods.inNamespace({}).evict(eviction);
  EXPECT_EQ(to.last(), "POST /api/v1/namespaces/shelf/pods/web/eviction");
}

TEST(PodClientTest, EvictCanSpeakToServersBeforePolicyV1) {
  Answering<metav1::Status> to{.answer = {.status = "Success"}};
  policyv1beta1::Eviction eviction;
  eviction.metadata.name = "web";
  to.clients.coreV1().pods("book").evict(eviction);
  EXPECT_EQ(to.last(), "POST " + kPod + "/eviction");
  EXPECT_THAT(to.server.requests().back().body, HasSubstr("policy/v1beta1"));
}

TEST(PodClientTest, AnEvictionThatABudgetForbidsIsNotRetried) {
  ScriptedServer server([](const ServerRequest&) -> ServerResponse {
    return {.status = 429, .body = toJson(status::tooManyRequests("budget", 0))};
  });
  const PodClient pods = Clientset(server.config()).coreV1().pods("book");
  try {
    pods.evict("web");
    FAIL() << "no error";
  } catch (const ApiError& error) {
    EXPECT_TRUE(isTooManyRequests(error));
    EXPECT_THAT(error.what(), HasSubstr(R"(create pods/eviction "web" in namespace "book")"));
  }
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST(PodClientTest, BindPostsABinding) {
  Answering<metav1::Status> to{.answer = {.status = "Success"}};
  corev1::Binding binding;
  binding.metadata.name = "web";
  binding.target->kind = "Node";
  binding.target->name = "node-1";
  to.clients.coreV1().pods("book").bind(binding, {.dryRun = {"All"}});
  EXPECT_EQ(to.last(), "POST " + kPod + "/binding?dryRun=All");
  EXPECT_EQ(to.body<corev1::Binding>(), binding);
}

TEST(PodClientTest, EphemeralContainersAndSizesHaveTheirOwnSubresources) {
  Answering<corev1::Pod> to{.answer = pod()};
  const PodClient pods = to.clients.coreV1().pods("book");
  corev1::Pod wanted = pod();
  wanted.spec->ephemeralContainers.push_back({.name = "debug"});
  EXPECT_EQ(pods.updateEphemeralContainers(wanted, {.fieldManager = "me"}), to.answer);
  EXPECT_EQ(to.last(), "PUT " + kPod + "/ephemeralcontainers?fieldManager=me");
  EXPECT_EQ(to.body<corev1::Pod>(), wanted);
  EXPECT_EQ(pods.updateResize(wanted), to.answer);
  EXPECT_EQ(to.last(), "PUT " + kPod + "/resize");
}

TEST(ProxyClientTest, GetsTheAnswerOfTheObject) {
  ScriptedServer server([](const ServerRequest&) -> ServerResponse {
    return {.headers = {{"Content-Type", "text/plain"}}, .body = "pong"};
  });
  const Clientset clients(server.config());
  const auto last = [&] { return server.requests().back().target; };
  EXPECT_EQ(clients.coreV1().services("book").proxyGet("web"), "pong");
  EXPECT_EQ(last(), "/api/v1/namespaces/book/services/web/proxy/");
  clients.coreV1().services("book").proxyGet("web", "/a/b", {.port = "http"});
  EXPECT_EQ(last(), "/api/v1/namespaces/book/services/web%3Ahttp/proxy/a/b");
  clients.coreV1().pods("book").proxyGet(
      "web", "a/", {.scheme = "https", .port = "8443", .params = {{"q", "x y"}}});
  EXPECT_EQ(last(), "/api/v1/namespaces/book/pods/https%3Aweb%3A8443/proxy/a/?q=x%20y");
  clients.coreV1().nodes().proxyGet("a", "metrics", {.scheme = "https"});
  EXPECT_EQ(last(), "/api/v1/nodes/https%3Aa%3A/proxy/metrics");
  EXPECT_THROW(clients.coreV1().services("book").proxyGet("web", "../../secrets"), Error);
}

TEST(TokenClientTest, CreatesATokenForAnAccount) {
  Answering<authenticationv1::TokenRequest> to;
  to.answer.status->token = "secret";
  authenticationv1::TokenRequest wanted;
  wanted.spec->audiences = {"vault"};
  wanted.spec->expirationSeconds = 600;
  const auto accounts = to.clients.coreV1().serviceAccounts("book");
  EXPECT_EQ(accounts.createToken("builder", wanted).status.read().token, "secret");
  EXPECT_EQ(to.last(), "POST /api/v1/namespaces/book/serviceaccounts/builder/token");
  EXPECT_EQ(to.body<authenticationv1::TokenRequest>(), wanted);
  accounts.inNamespace("shelf").createToken("builder");
  EXPECT_EQ(to.last(), "POST /api/v1/namespaces/shelf/serviceaccounts/builder/token");
}

TEST(ApprovalClientTest, UpdatesTheApproval) {
  Answering<certificatesv1::CertificateSigningRequest> to;
  to.answer.metadata.name = "me";
  auto wanted = to.answer;
  wanted.status->conditions.push_back({.type = "Approved", .status = "True"});
  EXPECT_EQ(to.clients.certificatesV1().certificateSigningRequests().updateApproval(wanted),
            to.answer);
  EXPECT_EQ(to.last(), "PUT /apis/certificates.k8s.io/v1/certificatesigningrequests/me/approval");
  EXPECT_EQ(to.body<certificatesv1::CertificateSigningRequest>(), wanted);
}

TEST(FinalizeClientTest, UpdatesTheFinalizers) {
  Answering<corev1::Namespace> to;
  to.answer.metadata.name = "book";
  auto wanted = to.answer;
  wanted.spec->finalizers = {"example.com/guard"};
  EXPECT_EQ(to.clients.coreV1().namespaces().finalize(wanted), to.answer);
  EXPECT_EQ(to.last(), "PUT /api/v1/namespaces/book/finalize");
  EXPECT_EQ(to.body<corev1::Namespace>(), wanted);
}

TEST(ScalableClientTest, ReadsWritesAndAppliesTheScale) {
  Answering<autoscalingv1::Scale> to;
  to.answer.metadata.name = "web";
  to.answer.spec->replicas = 2;
  const std::string scale = "/apis/apps/v1/namespaces/book/deployments/web/scale";
  const auto deployments = to.clients.appsV1().deployments("book");
  EXPECT_EQ(deployments.getScale("web"), to.answer);
  EXPECT_EQ(to.last(), "GET " + scale);
  auto wanted = to.answer;
  wanted.spec->replicas = 5;
  EXPECT_EQ(deployments.updateScale("web", wanted, {.fieldManager = "me"}), to.answer);
  EXPECT_EQ(to.last(), "PUT " + scale + "?fieldManager=me");
  EXPECT_EQ(to.body<autoscalingv1::Scale>(), wanted);

  autoscalingv1::Scale applied;
  applied.spec->replicas = 4;
  EXPECT_EQ(deployments.applyScale("web", applied, {.force = true, .fieldManager = "me"}),
            to.answer);
  EXPECT_EQ(to.last(), "PATCH " + scale + "?force=true&fieldManager=me");
  EXPECT_EQ(to.server.requests().back().headers.get("Content-Type"),
            "application/apply-patch+yaml");
  EXPECT_EQ(to.server.requests().back().body,
            R"({"kind":"Scale","apiVersion":"autoscaling/v1","spec":{"replicas":4}})");
  EXPECT_THROW(deployments.applyScale("web", applied, {}), Error);

  to.clients.coreV1().replicationControllers("book").getScale("web");
  EXPECT_EQ(to.last(), "GET /api/v1/namespaces/book/replicationcontrollers/web/scale");
}

}  // namespace
}  // namespace kube
