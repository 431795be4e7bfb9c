// Tests of servers that let the API server decide who may read, also against hostile readers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "kube/base/internal/error_of_testing.h"
#include "kube/base/internal/logged_testing.h"
#include "kube/cache/core/v1.h"
#include "kube/controller/access_reviews.h"
#include "kube/controller/manager.h"
#include "kube/controller/reconcile_log_testing.h"
#include "kube/testing/api_server_testing.h"
#include "kube/testing/test_ca.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Running;

testing::AccessOptions readers() {
  return {.tokens = {{"prometheus-token", {.name = "prometheus", .groups = {}}},
                     {"curious-token", {.name = "curious", .groups = {}}}},
          .allow = {{.users = {"prometheus"}, .verbs = {"get"}, .paths = {"/metrics", "/own/*"}},
                    {.groups = {"scrapers"}, .verbs = {"get"}, .paths = {"/metrics"}}}};
}

class AccessReviewsTest : public testing::ApiServerTest {
 protected:
  AccessReviewsTest() : testing::ApiServerTest({.access = readers()}) {
    // Counts reviews; the delay is of no importance.
    for (const char* resource : {"tokenreviews", "subjectaccessreviews"}) {
      counting.push_back(server.inject({.resource = resource, .delay = 1ms}));
    }
  }

  void serve(AccessReviewOptions options = {}) {
    options.clock = &clock;
    port = nullptr;
    reviews = std::make_unique<AccessReviews>(clients.rest(), std::move(options));
    const auto answer = [](const ServerRequest& request, const Responder& responder) {
      responder.send({.body = "page " + request.target});
    };
    port = std::make_unique<HttpServer>(
        HttpServerOptions{.tls = ServerTls{ca.server({"127.0.0.1"}), ca.certPem()}},
        reviews->guarding(answer));
  }
  HttpResponse ask(std::string_view token, std::string_view target = "/metrics",
                   std::string method = "GET") const {
    HttpRequest request{.method = std::move(method), .url = port->url() + std::string(target)};
    if (!token.empty()) request.headers.add("Authorization", "Bearer " + std::string(token));
    return reader.send(std::move(request));
  }
  int statusOf(std::string_view token, std::string_view target = "/metrics",
               std::string method = "GET") const {
    return ask(token, target, std::move(method)).status;
  }

  FakeClock clock;
  const TestCa ca;
  const Transport reader{{.tls = {.caData = ca.certPem()}}};
  std::vector<testing::FaultId> counting;
  std::unique_ptr<AccessReviews> reviews;
  std::unique_ptr<HttpServer> port;
};

TEST_F(AccessReviewsTest, OnlyPermittedReadersAreAnswered) {
  serve();
  const HttpResponse page = ask("prometheus-token", "/metrics?name=x");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.body, "page /metrics?name=x");
  EXPECT_EQ(statusOf("prometheus-token", "/own/page"), 200);
  EXPECT_EQ(statusOf("prometheus-token", "/debug"), 403);
  EXPECT_EQ(statusOf("prometheus-token", "/metrics", "DELETE"), 403) << "the verb counts";
  const HttpResponse denied = ask("curious-token");
  EXPECT_EQ(denied.status, 403);
  EXPECT_EQ(denied.body, "Authorization denied for user curious\n");
  const HttpResponse unknown = ask("made-up-token");
  EXPECT_EQ(unknown.status, 401);
  EXPECT_EQ(unknown.headers.get("WWW-Authenticate"), "Bearer");
  EXPECT_EQ(statusOf(""), 401);
}

TEST_F(AccessReviewsTest, CredentialsThatAreNoneAskNobody) {
  serve();
  const std::string long_(8000, 'x');
  for (const char* header : {"Basic cHJvbWV0aGV1cw==", "Bearer", "prometheus-token",
                             "Bearer two words", "Bearerprometheus-token"}) {
    HttpRequest request{.url = port->url() + "/metrics"};
    request.headers.add("Authorization", header);
    EXPECT_EQ(reader.send(std::move(request)).status, 401) << header;
  }
  EXPECT_EQ(server.faultsHit(), 0U);
  EXPECT_EQ(statusOf(long_), 401);
  EXPECT_EQ(server.faultsHit(), 1U);
}

TEST_F(AccessReviewsTest, ResultsAreUsedForATime) {
  serve({.tokenTime = 60s, .allowTime = 30s, .denyTime = 10s});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(statusOf("prometheus-token"), 200);
  EXPECT_EQ(server.faultsHit(), 2U) << "one review of each kind";
  for (int i = 0; i < 3; ++i) EXPECT_EQ(statusOf("curious-token"), 403);
  EXPECT_EQ(server.faultsHit(), 4U);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(statusOf("made-up-token"), 401);
  EXPECT_EQ(server.faultsHit(), 5U);
  clock.advance(10s);
  EXPECT_EQ(statusOf("curious-token"), 403);
  EXPECT_EQ(server.faultsHit(), 6U) << "only the permission is reviewed again";
  clock.advance(20s);
  EXPECT_EQ(statusOf("prometheus-token"), 200);
  EXPECT_EQ(server.faultsHit(), 7U);
  clock.advance(30s);
  EXPECT_EQ(statusOf("prometheus-token"), 200);
  EXPECT_EQ(statusOf("made-up-token"), 401);
  EXPECT_EQ(server.faultsHit(), 10U);
}

TEST_F(AccessReviewsTest, NothingIsServedWhenTheServerCannotBeAsked) {
  serve();
  EXPECT_EQ(statusOf("prometheus-token"), 200);
  for (const testing::FaultId id : counting) server.forget(id);
  for (const char* resource : {"subjectaccessreviews", "tokenreviews"}) {
    server.inject({.resource = resource, .status = 403});
    EXPECT_EQ(statusOf("prometheus-token"), 200) << "a result that still counts";
    clock.advance(61s);
    const testing::Logged logged;
    const HttpResponse page = ask("prometheus-token");
    EXPECT_EQ(page.status, 500);
    EXPECT_THAT(page.body, Not(HasSubstr("page")));
    EXPECT_THAT(logged.text(), AllOf(HasSubstr("a reader of /metrics cannot be checked"),
                                     Not(HasSubstr("prometheus-token"))));
    server.forgetAll();
    EXPECT_EQ(statusOf("prometheus-token"), 200);
  }
}

TEST_F(AccessReviewsTest, MadeUpTokensAreLimitedAndDoNotDisturbKnownReaders) {
  serve({.cacheSize = 4, .reviewsPerSecond = 1, .burst = 5});
  EXPECT_EQ(statusOf("prometheus-token"), 200);  // takes two
  int refused = 0;
  for (int i = 0; i < 50; ++i) {
    const int status = statusOf("made-up-" + std::to_string(i));
    EXPECT_TRUE(status == 401 || status == 429) << status;
    if (status == 429) ++refused;
  }
  EXPECT_EQ(refused, 47);
  EXPECT_EQ(server.faultsHit(), 5U);
  EXPECT_EQ(statusOf("prometheus-token"), 200);
  // Also when the results are over: the reader is known.
  clock.advance(61s);
  for (int i = 0; i < 10; ++i) statusOf("made-up-again-" + std::to_string(i));
  EXPECT_EQ(statusOf("prometheus-token"), 200);
}

TEST_F(AccessReviewsTest, AReaderWithManyPathsIsLimited) {
  serve({.reviewsPerSecond = 1, .burst = 5});
  EXPECT_EQ(statusOf("curious-token"), 403);
  for (int i = 0; i < 30; ++i) statusOf("curious-token", "/metrics/" + std::to_string(i));
  EXPECT_LE(server.faultsHit(), 5U);
}

TEST_F(AccessReviewsTest, AServerThatHangsKeepsFewWaiting) {
  serve({.reviewsPerSecond = 1000, .burst = 1000, .maxWaiting = 3});
  EXPECT_EQ(statusOf("prometheus-token"), 200);
  for (const testing::FaultId id : counting) server.forget(id);
  server.inject({.resource = "tokenreviews", .hang = true});
  std::vector<std::future<int>> waiting;
  for (int i = 0; i < 3; ++i) {
    waiting.push_back(std::async(std::launch::async,
                                 [this, i] { return statusOf("made-up-" + std::to_string(i)); }));
  }
  clock.waitForWaiters(3);  // their time limits
  EXPECT_EQ(statusOf("another"), 503);
  EXPECT_EQ(statusOf("prometheus-token"), 200);
  clock.advance(10s);
  for (auto& answer : waiting) EXPECT_EQ(answer.get(), 500);
}

TEST_F(AccessReviewsTest, MayEndWhileReadersWait) {
  serve();
  server.inject({.resource = "tokenreviews", .hang = true});
  for (const testing::FaultId id : counting) server.forget(id);
  std::future<int> waiting =
      std::async(std::launch::async, [this] { return statusOf("prometheus-token"); });
  clock.waitForWaiters(1);
  reviews = nullptr;
  EXPECT_EQ(waiting.get(), 500);
  port = nullptr;
}

TEST_F(AccessReviewsTest, ATokenForAnotherAudienceIsRefused) {
  serve({.audiences = {"metrics"}});
  EXPECT_EQ(statusOf("prometheus-token"), 401) << "the server names no audience";
}

TEST_F(AccessReviewsTest, AClientCertificateNamesTheReader) {
  serve();
  const auto asks = [&](const KeyPair& pair) {
    const Transport client(
        {.tls = {.caData = ca.certPem(), .certData = pair.certPem, .keyData = pair.keyPem}});
    return client.send({.url = port->url() + "/metrics"}).status;
  };
  EXPECT_EQ(asks(ca.client("ann", {"scrapers"})), 200);
  EXPECT_EQ(asks(ca.client("ann", {"others"})), 403);
  EXPECT_EQ(asks(ca.client("prometheus")), 200);
}

TEST_F(AccessReviewsTest, PathsThatMayMeanOthersAreRefused) {
  serve();
  for (const char* path : {"/own/../debug", "/own/%2e%2E/debug", "/own/..", "/own/./x"}) {
    EXPECT_EQ(statusOf("prometheus-token", path), 400) << path;
  }
  EXPECT_EQ(statusOf("prometheus-token", "/own/..x"), 200);
}

class ManagerPagesTest : public AccessReviewsTest {
 protected:
  ManagerPagesTest() {
    folder = ::testing::TempDir() + "manager_pages_XXXXXX";
    EXPECT_NE(::mkdtemp(folder.data()), nullptr);
    writePair(ca);
  }
  ~ManagerPagesTest() override { std::filesystem::remove_all(folder); }

  void writePair(const TestCa& authority) const {
    const KeyPair pair = authority.server({"127.0.0.1"});
    std::ofstream(folder + "/cert") << pair.certPem;
    std::ofstream(folder + "/key") << pair.keyPem;
  }
  HttpServerOptions secure() const {
    return {.tls = ServerTls{
                .certFile = folder + "/cert", .keyFile = folder + "/key", .checkInterval = 0ms}};
  }
  static HttpResponse get(const TestCa& authority, const std::string& url,
                          std::string_view token = {}) {
    const Transport client({.tls = {.caData = authority.certPem()}});
    HttpRequest request{.url = url};
    if (!token.empty()) request.headers.add("Authorization", "Bearer " + std::string(token));
    return client.send(std::move(request));
  }
  static void own(const ServerRequest& request, const Responder& responder) {
    responder.send({.body = "own " + request.target});
  }

  std::string folder;
  Metrics metrics;
};

TEST_F(ManagerPagesTest, MetricsHaveAPortOfTheirOwnForPermittedReaders) {
  Manager manager(server.config(), {.http = HttpServerOptions{},
                                    .metricsHttp = secure(),
                                    .metricsReaders = AccessReviewOptions{},
                                    .debugPage = true,
                                    .metrics = &metrics});
  manager.addPage("/own/", own);
  metrics.counter("own_total", "How often.").add();
  EXPECT_THAT(errorOf<Error>([&] { manager.addPage("/metrics", own); }),
              HasSubstr("a page /metrics exists already"));
  EXPECT_THROW(manager.addPage("/healthz/own", own), Error);
  EXPECT_THROW(manager.addPage("own", own), Error);
  const std::string url = manager.metricsUrl();
  EXPECT_NE(url, manager.url());
  EXPECT_EQ(transport.send({.url = manager.url() + "/healthz"}).status, 200);
  EXPECT_EQ(transport.send({.url = manager.url() + "/metrics"}).status, 404);
  EXPECT_EQ(get(ca, url + "/healthz").status, 404);
  for (const char* path : {"/metrics", "/debug", "/own/a"}) {
    EXPECT_EQ(get(ca, url + path).status, 401) << path;
    EXPECT_EQ(get(ca, url + path, "curious-token").status, 403) << path;
    EXPECT_EQ(get(ca, url + path, server.adminToken()).status, 200) << path;
  }
  EXPECT_THAT(get(ca, url + "/metrics", "prometheus-token").body, HasSubstr("own_total 1"));
  EXPECT_EQ(get(ca, url + "/own/a", "prometheus-token").body, "own /own/a");
  EXPECT_EQ(get(ca, url + "/debug", "prometheus-token").status, 403);

  const TestCa renewed("renewed");
  writePair(renewed);
  EXPECT_EQ(get(renewed, url + "/metrics", "prometheus-token").status, 200);
  EXPECT_THROW(get(ca, url + "/metrics", "prometheus-token"), Error);
}

TEST_F(ManagerPagesTest, TokensNeedTls) {
  const auto make = [&](const ManagerOptions& options) { Manager(server.config(), options); };
  EXPECT_THAT(errorOf<ConfigError>([&] {
                make({.http = HttpServerOptions{}, .metricsReaders = AccessReviewOptions{}});
              }),
              HasSubstr("need TLS"));
}

TEST_F(ManagerPagesTest, TheDebugPageShowsWhatTheManagerDoes) {
  for (const bool shown : {false, true}) {
    Manager manager(server.config(),
                    {.http = HttpServerOptions{}, .debugPage = shown, .metrics = &metrics});
    manager.addPage("/own", own);
    manager.controller<corev1::ConfigMap>("maps").reconcile([](const ObjectKey&) {});
    const auto page = [&](const char* path) {
      return transport.send({.url = manager.metricsUrl() + path});
    };
    EXPECT_EQ(page("/debug").status, shown ? 200 : 404);
    EXPECT_EQ(page("/own?x").body, "own /own?x");
    EXPECT_EQ(page("/own/deeper").status, 404);
    if (!shown) continue;
    EXPECT_THAT(page("/debug").body, HasSubstr("manager: not started\n"));
    Running running([&](const std::stop_token& stop) { manager.run(stop); });
    while (page("/debug").body.find("configmaps: synced") == std::string::npos) {
      std::this_thread::yield();
    }
    EXPECT_THAT(page("/debug").body,
                AllOf(HasSubstr("controller \"maps\": "), HasSubstr("VmRSS:"),
                      HasSubstr("Threads:"), HasSubstr("heap: "), HasSubstr("descriptors: ")));
    running.finish();
    EXPECT_THAT(page("/debug").body, HasSubstr("manager: ended\n"));
  }
}

}  // namespace
}  // namespace kube
