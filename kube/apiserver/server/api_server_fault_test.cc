// Faults injected into an API server.
#include <thread>

#include "kube/client/retry.h"
#include "kube/testing/api_server_testing.h"

namespace kube::apiserver {
namespace {

using namespace kube::testing;

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ApiServerFaultTest : public ApiServerTest {
 protected:
  Answer list() const { return call("GET", kMaps); }
  WatchStream<corev1::ConfigMap> watch(String since) const {
    return maps().watch({.resourceVersion = std::move(since)});
  }
  String now() const { return std::to_string(server.revision()); }
};

TEST_F(ApiServerFaultTest, AnswersWithAStatus) {
  server.inject({.verb = "list", .resource = "configmaps", .times = 2, .status = 500});
  const Answer failed = list();
  EXPECT_EQ(failed.status, 500);
  EXPECT_EQ(failed.asStatus().reason, "InternalError");
  EXPECT_EQ(call("GET", "/api/v1/pods").status, 200) << "others are spared";
  EXPECT_EQ(call("GET", std::string(kMaps) + "/a").status, 404);
  EXPECT_EQ(list().status, 500);
  EXPECT_EQ(list().status, 200);
  EXPECT_EQ(server.faultsHit(), 2u);
}

TEST_F(ApiServerFaultTest, AsksToComeAgainLater) {
  server.inject({.path = "/api/v1/namespaces/default", .status = 429, .retryAfter = 3});
  const Answer failed = list();
  EXPECT_EQ(failed.status, 429);
  EXPECT_EQ(failed.headers.get("Retry-After"), "3");
  EXPECT_EQ(failed.asStatus().reason, "TooManyRequests");
  server.forgetAll();
  EXPECT_EQ(list().status, 200);
}

TEST_F(ApiServerFaultTest, ACodeHasItsReason) {
  constexpr std::pair<int, std::string_view> kReasons[] = {{400, "BadRequest"},
                                                           {401, "Unauthorized"},
                                                           {403, "Forbidden"},
                                                           {404, "NotFound"},
                                                           {405, "MethodNotAllowed"},
                                                           {406, "NotAcceptable"},
                                                           {409, "Conflict"},
                                                           {410, "Expired"},
                                                           {413, "RequestEntityTooLarge"},
                                                           {415, "UnsupportedMediaType"},
                                                           {422, "Invalid"},
                                                           {429, "TooManyRequests"},
                                                           {500, "InternalError"},
                                                           {503, "ServiceUnavailable"},
                                                           {504, "Timeout"}};
  for (const auto& [code, reason] : kReasons) {
    server.inject({.times = 1, .status = code});
    const Answer failed = call("GET", std::string(kMaps) + "/a");
    EXPECT_EQ(failed.status, code);
    EXPECT_EQ(failed.asStatus().reason, reason);
    EXPECT_EQ(failed.asStatus().details.read().name, "a");
  }
  server.inject({.times = 1, .status = 409});
  EXPECT_TRUE(isAlreadyExists(ApiError(refusalOf([&] { maps().create(map("a")); }))));
  server.inject({.times = 1, .status = 409, .reason = "Conflict"});
  EXPECT_TRUE(isConflict(ApiError(refusalOf([&] { maps().create(map("a")); }))));
}

TEST_F(ApiServerFaultTest, ClientsTakeThemForWhatTheySay) {
  maps().create(map("a"));
  server.inject({.verb = "update", .resource = "configmaps", .times = 2, .status = 409});
  int tries = 0;
  retryOnConflict([&] {
    ++tries;
    corev1::ConfigMap current = maps().get("a");
    current.data["k"] = "new";
    maps().update(current);
  });
  EXPECT_EQ(tries, 3);
  EXPECT_EQ(maps().get("a").data["k"], "new");
  server.inject({.verb = "get", .times = 1, .status = 404});
  EXPECT_FALSE(maps().find("a"));
  EXPECT_TRUE(maps().find("a"));
  server.inject({.verb = "get", .times = 1, .status = 403});
  EXPECT_TRUE(isForbidden(ApiError(refusalOf([&] { maps().find("a"); }))));
  server.inject({.verb = "list", .times = 1, .status = 410});
  EXPECT_TRUE(isResourceExpired(ApiError(refusalOf([&] { maps().list(); }))));
}

TEST_F(ApiServerFaultTest, IsForgotten) {
  const testing::FaultId first = server.inject({.verb = "list", .status = 500});
  server.inject({.verb = "list", .status = 503});
  EXPECT_EQ(list().status, 500) << "the first that fits";
  server.forget(first);
  EXPECT_EQ(list().status, 503);
}

TEST_F(ApiServerFaultTest, HitsSomeOnly) {
  server.inject({.probability = 0.5, .status = 500});
  int failed = 0;
  for (int i = 0; i < 200; ++i) failed += list().status == 500 ? 1 : 0;
  EXPECT_GT(failed, 50);
  EXPECT_LT(failed, 150);
}

TEST_F(ApiServerFaultTest, BreaksOff) {
  server.inject({.verb = "create", .times = 1, .cut = true});
  EXPECT_THROW(call("POST", kMaps, toJson(map("a"))), TransportError);
  server.inject({.verb = "create", .times = 1, .cutInBody = true});
  EXPECT_THROW(call("POST", kMaps, toJson(map("b"))), TransportError);
  EXPECT_THAT(maps().list().items, SizeIs(2)) << "both were done";
  server.inject({.verb = "delete", .times = 1, .cutInBody = true});
  EXPECT_THROW(maps().remove("a"), TransportError);
  EXPECT_FALSE(maps().find("a"));
}

TEST_F(ApiServerFaultTest, BreaksOffInTheMiddleOfAWatch) {
  const String since = now();
  server.inject({.verb = "watch", .times = 1, .cutInBody = true});
  auto stream = watch(since);  // no events yet
  maps().create(map("a"));
  EXPECT_THROW(stream.next(), Error);
  EXPECT_EQ(watch(since).next()->object.metadata.name, "a");
}

TEST_F(ApiServerFaultTest, SendsGarbage) {
  server.inject({.times = 1, .garbage = true});
  EXPECT_THROW(maps().list(), DecodeError);
  EXPECT_THAT(maps().list().items, IsEmpty());
  server.inject({.times = 1, .garbage = true});
  EXPECT_THROW(maps().create(map("a")), DecodeError);
  EXPECT_THAT(maps().list().items, SizeIs(1)) << "it was done";
}

TEST_F(ApiServerFaultTest, Hangs) {
  server.inject({.times = 1, .hang = true});
  HttpRequest hanging = request("POST", kMaps, toJson(map("a")), {});
  hanging.timeout = 100ms;
  EXPECT_THROW(transport.send(hanging), TimeoutError);
  EXPECT_EQ(list().status, 200);
}

TEST(ApiServerDelayTest, HoldsRequestsBack) {
  FakeClock clock;
  testing::ApiServer server({.clock = &clock});
  server.inject({.resource = "configmaps", .delay = 5s});
  server.inject({.resource = "pods", .delay = 5s, .status = 500});
  const Clientset clients(server.config());
  std::atomic<int> done{0};
  std::jthread first([&] {
    clients.coreV1().configMaps("default").list();
    ++done;
  });
  std::jthread second([&] {
    EXPECT_THROW(clients.rest().get().absPath("/api/v1/pods").maxRetries(0).raw(), ApiError);
    ++done;
  });
  clock.waitForWaiters(2);
  clients.coreV1().secrets("default").list();
  EXPECT_EQ(done, 0);
  clock.advance(5s);
  first.join();
  second.join();
  EXPECT_EQ(done, 2);
}

TEST(ApiServerDelayTest, DoesNotOutliveARestart) {
  FakeClock clock;
  testing::ApiServer server({.clock = &clock});
  server.inject({.verb = "create", .delay = 1h});
  const auto maps = Clientset(server.config()).coreV1().configMaps("default");
  corev1::ConfigMap late;
  late.metadata.name = "late";
  std::jthread client([&] { EXPECT_THROW(maps.create(late), TransportError); });
  clock.waitForWaiters(1);
  server.restart();
  client.join();
  clock.advance(2h);
  EXPECT_THAT(maps.list().items, IsEmpty());
}

TEST(ApiServerDelayTest, DoesNotOutliveTheServer) {
  FakeClock clock;
  std::jthread client;
  {
    testing::ApiServer server({.clock = &clock});
    server.inject({.delay = 1h});
    const Transport transport({.tls = {.caData = server.caPem()}, .proxy = "direct"});
    client = std::jthread([transport, url = server.url()] {
      EXPECT_THROW(transport.send({.method = "POST", .url = url + "/version"}), TransportError);
    });
    clock.waitForWaiters(1);
  }
  clock.advance(2h);
}

TEST_F(ApiServerFaultTest, AWatchEndsOrBreaks) {
  const String since = now();
  maps().create(map("a"));
  const auto started = [&] {
    auto stream = watch(since);
    EXPECT_EQ(stream.next()->object.metadata.name, "a");
    return stream;
  };
  {
    auto stream = started();
    EXPECT_EQ(server.failWatches(testing::WatchFault::End), 1u);
    EXPECT_EQ(stream.next(), std::nullopt);
  }
  {
    auto stream = started();
    server.failWatches(testing::WatchFault::Cut);
    EXPECT_THROW(stream.next(), TransportError);
  }
  {
    auto stream = started();
    server.failWatches(testing::WatchFault::CutInFrame);
    EXPECT_THROW(stream.next(), TransportError);
  }
  {
    auto stream = started();
    server.failWatches(testing::WatchFault::Garbage);
    EXPECT_THROW(stream.next(), DecodeError);
  }
  {
    auto stream = started();
    server.failWatches(testing::WatchFault::Expire);
    const auto error = stream.next();
    EXPECT_EQ(error->type, EventType::Error);
    EXPECT_EQ(error->status.code, 410);
    EXPECT_EQ(stream.next(), std::nullopt);
  }
}

TEST_F(ApiServerFaultTest, AWatchFallsSilentAndOthersDoNot) {
  const String since = now();
  std::stop_source stop;
  auto silent = maps().watch({.resourceVersion = since}, stop.get_token());
  auto pods = clients.coreV1().pods("default").watch({.resourceVersion = since});
  maps().create(map("a"));
  EXPECT_EQ(silent.next()->object.metadata.name, "a");
  EXPECT_EQ(server.failWatches(testing::WatchFault::Silence, "configmaps"), 1u);
  maps().create(map("b"));
  clients.coreV1().pods("default").create(pod("web"));
  EXPECT_EQ(pods.next()->object.metadata.name, "web");
  stop.request_stop();
  EXPECT_EQ(silent.next(), std::nullopt);
}

TEST_F(ApiServerFaultTest, AreControlledOverHttp) {
  const Answer made =
      call("POST", "/kubexx/faults",
           R"({"verb":"list","status":503,"reason":"Odd","times":1,"retryAfter":0})");
  EXPECT_EQ(made.status, 200);
  EXPECT_EQ(made.json()["id"], Value(1));
  const Value all = call("GET", "/kubexx/faults").json();
  ASSERT_THAT(all["faults"].asArray(), SizeIs(1));
  EXPECT_EQ(all["faults"].asArray()[0]["status"], Value(503));
  EXPECT_EQ(all["hits"], Value(0));
  const Answer odd = list();
  EXPECT_EQ(odd.status, 503);
  EXPECT_EQ(odd.asStatus().reason, "Odd");
  EXPECT_EQ(list().status, 200);
  call("POST", "/kubexx/faults", R"({"status":500})");
  EXPECT_EQ(list().status, 500);
  EXPECT_EQ(call("DELETE", "/kubexx/faults").status, 200) << "control is never faulty";
  EXPECT_EQ(list().status, 200);

  const String since = now();
  auto stream = watch(since);
  maps().create(map("a"));
  stream.next();
  EXPECT_EQ(call("POST", "/kubexx/fail-watches?fault=end&resource=configmaps").json()["failed"],
            Value(1));
  EXPECT_EQ(stream.next(), std::nullopt);
  EXPECT_EQ(call("POST", "/kubexx/fail-watches?fault=oops").status, 400);
  EXPECT_EQ(call("POST", "/kubexx/expire-revisions").status, 200);
  EXPECT_EQ(watch(since).next()->type, EventType::Error);
}

TEST_F(ApiServerFaultTest, BadOnesAreRefused) {
  for (const char* body : {"", "5", "[]", R"({"verb":5})", R"({"colour":"red"})", R"({"status":9})",
                           R"({"status":"x"})", R"({"cut":"yes"})", R"({"times":1e300})",
                           R"({"delayMilliseconds":1e300})", R"({"probability":"x"})", "{"}) {
    EXPECT_EQ(call("POST", "/kubexx/faults", body).status, 400) << body;
  }
  EXPECT_THAT(call("GET", "/kubexx/faults").json()["faults"].asArray(), IsEmpty());
  EXPECT_EQ(call("GET", "/kubexx/faults", {}, {{"Authorization", ""}}).status, 403);
}

TEST_F(ApiServerFaultTest, ARestartCutsConnectionsAndKeepsObjects) {
  maps().create(map("a"));
  auto stream = watch(now());
  const std::uint64_t before = server.stats().connectionsAccepted;
  server.restart();
  EXPECT_THROW(stream.next(), TransportError);
  EXPECT_EQ(maps().get("a").data, map("a").data);
  EXPECT_GT(server.stats().connectionsAccepted, before);
}

TEST_F(ApiServerFaultTest, AfterARestoreRevisionsAreLowerAndOldOnesUnknown) {
  for (int i = 0; i < 20; ++i) maps().create(map("m" + std::to_string(i)));
  const auto page = maps().list({.limit = 5});
  const std::int64_t old = server.revision();
  server.restart(true);
  EXPECT_LT(server.revision(), old);
  const auto list = maps().list();
  EXPECT_THAT(list.items, SizeIs(20));
  EXPECT_EQ(list.metadata.resourceVersion, now());
  EXPECT_EQ(call("GET", std::string(kMaps) + "?resourceVersion=" + std::to_string(old)).status,
            504);
  EXPECT_EQ(call("GET", std::string(kMaps) +
                            "?watch=true&sendInitialEvents=true&allowWatchBookmarks=true&"
                            "resourceVersionMatch=NotOlderThan&resourceVersion=" +
                            std::to_string(old))
                .status,
            504);
  EXPECT_EQ(refusalOf([&] { maps().list({.continue_ = page.metadata.continue_}); }).code, 500);
  EXPECT_EQ(watch("1").next()->type, EventType::Error);
  const corev1::ConfigMap made = maps().create(map("new"));
  EXPECT_EQ(made.metadata.resourceVersion, now());
  auto stream = watch(list.metadata.resourceVersion);
  EXPECT_EQ(stream.next()->object.metadata.name, "new");
}

TEST_F(ApiServerFaultTest, IsSilentAndBackAgain) {
  maps().create(map("a"));
  server.goSilent(true);
  HttpRequest waiting = request("GET", kMaps, {}, {});
  waiting.timeout = 100ms;
  EXPECT_THROW(transport.send(waiting), TimeoutError);
  server.goSilent(false);
  EXPECT_EQ(list().status, 200);
}

}  // namespace
}  // namespace kube::apiserver
