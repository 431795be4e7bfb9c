#include "kube/rest/rest_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include "kube/api/core/v1.h"
#include "kube/codec/json.h"
#include "kube/codec/protobuf.h"
#include "kube/meta/api_error.h"
#include "kube/meta/unstructured.h"
#include "kube/testing/scripted_server.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using corev1::Pod;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kProtobuf = "application/vnd.kubernetes.protobuf";

Pod pod(std::string_view name) {
  Pod result;
  result.metadata.name = name;
  result.metadata.namespace_ = "book";
  result.spec->nodeName = "node-1";
  return result;
}

ServerResponse json(int status, std::string body, HttpHeaders headers = {}) {
  headers.add("Content-Type", "application/json");
  return {.status = status, .headers = std::move(headers), .body = std::move(body)};
}
ServerResponse failure(const metav1::Status& status) { return json(status.code, toJson(status)); }

Request pods(const RestClient& rest, std::string_view name) {
  Request request = rest.get();
  request.namespace_("book").resource("pods").name(name);
  return request;
}

TEST(RestClientTest, PathsFollowGroupNamespaceResourceNameAndSubresource) {
  ScriptedServer server([](const ServerRequest&) { return json(200, "{}"); });
  const RestClient core(server.config(), {"", "v1"});
  const RestClient apps = core.forVersion({"apps", "v1"});
  EXPECT_EQ(core.get().resource("nodes").url(), "/api/v1/nodes");
  EXPECT_EQ(
      apps.get().namespace_("book").resource("deployments").name("web").subresource("scale").url(),
      "/apis/apps/v1/namespaces/book/deployments/web/scale");
  EXPECT_EQ(core.get().resource("nodes").name("a").subresource("proxy/metrics").url(),
            "/api/v1/nodes/a/proxy/metrics");
  EXPECT_EQ(core.get().absPath("/healthz").param("verbose", "a b&c").url(),
            "/healthz?verbose=a%20b%26c");
  EXPECT_EQ(core.get()
                .resource("pods")
                .options(metav1::ListOptions{.labelSelector = "a=b", .limit = 5})
                .url(),
            "/api/v1/pods?labelSelector=a%3Db&limit=5");
  EXPECT_EQ(core.del().resource("pods").options(metav1::CreateOptions{.dryRun = {"All"}}).url(),
            "/api/v1/pods?dryRun=All");
  EXPECT_EQ(core.get().resource("pods").timeout(1500ms).url(), "/api/v1/pods?timeout=2s");
}

TEST(RestClientTest, NamesThatWouldChangeThePathAreRefused) {
  ScriptedServer server([](const ServerRequest&) { return json(200, "{}"); });
  const RestClient rest(server.config(), {"", "v1"});
  for (const char* name : {"a/b", "..", ".", "a%2fb"}) {
    EXPECT_THROW(pods(rest, name).raw(), Error) << name;
  }
  EXPECT_THROW(pods(rest, ""), Error);
  EXPECT_TRUE(server.requests().empty());
}

TEST(RestClientTest, BuiltInTypesTravelAsProtobuf) {
  ScriptedServer server([](const ServerRequest& request) -> ServerResponse {
    return {.status = 201, .headers = {{"Content-Type", kProtobuf}}, .body = request.body};
  });
  const RestClient rest(server.config(), {"", "v1"});
  const Pod sent = pod("web");
  EXPECT_EQ(rest.post().namespace_("book").resource("pods").body(sent).into<Pod>(), sent);
  const ServerRequest got = server.requests().at(0);
  EXPECT_EQ(got.method, "POST");
  EXPECT_EQ(got.target, "/api/v1/namespaces/book/pods");
  EXPECT_EQ(got.headers.get("Content-Type"), kProtobuf);
  EXPECT_EQ(got.headers.get("Accept"), std::string(kProtobuf) + ",application/json");
  EXPECT_THAT(std::string(got.headers.get("User-Agent")), HasSubstr("kubexx/"));
  EXPECT_EQ(fromProtobuf<Pod>(got.body), sent);
  EXPECT_EQ(got.httpVersion, 2);
}

TEST(RestClientTest, AServerOnThisMachineIsAskedForCompressionOnRequestOnly) {
  ScriptedServer server([](const ServerRequest&) { return json(200, "{}"); });
  Config config = server.config();
  RestClient(config, {"", "v1"}).get().absPath("/a").raw();
  config.tweakTransport = [](TransportOptions& options) { options.disableCompression = false; };
  RestClient(config, {"", "v1"}).get().absPath("/b").raw();
  ASSERT_EQ(server.requests().size(), 2u);
  EXPECT_EQ(server.requests()[0].headers.get("Accept-Encoding"), "");
  EXPECT_THAT(std::string(server.requests()[1].headers.get("Accept-Encoding")), HasSubstr("gzip"));
}

TEST(RestClientTest, DynamicObjectsAndConfiguredClientsUseJson) {
  ScriptedServer server([](const ServerRequest&) {
    return json(200, R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"}})");
  });
  const RestClient rest(server.config(), {"", "v1"});
  EXPECT_EQ(pods(rest, "web").into<Unstructured>().name(), "web");
  Config config = server.config();
  config.contentType = "application/json";
  EXPECT_EQ(pods(RestClient(config, {"", "v1"}), "web").into<Pod>().metadata.name, "web");
  for (const ServerRequest& request : server.requests()) {
    EXPECT_EQ(request.headers.get("Accept"), "application/json");
  }
}

TEST(RestClientTest, AServerThatTakesNoProtobufIsGivenJson) {
  ScriptedServer server([](const ServerRequest& request) {
    if (request.headers.get("Content-Type") == kProtobuf) {
      return failure(status::unsupportedMediaType("no protobuf here"));
    }
    return json(201, request.body);
  });
  const RestClient rest(server.config(), {"", "v1"});
  EXPECT_EQ(rest.post().resource("pods").body(pod("web")).into<Pod>().metadata.name, "web");
  EXPECT_EQ(server.requests().size(), 2u);
}

TEST(RestClientTest, ListsAreDecodedWithTheirMetadata) {
  ScriptedServer server([](const ServerRequest&) -> ServerResponse {
    corev1::PodList list;
    list.metadata.resourceVersion = "77";
    for (int i = 0; i < 3000; ++i) list.items.push_back(pod("web-" + std::to_string(i)));
    return {.headers = {{"Content-Type", kProtobuf}}, .body = toProtobuf(list)};
  });
  const RestClient rest(server.config(), {"", "v1"});
  const auto typed = rest.get().resource("pods").into<corev1::PodList>();
  EXPECT_EQ(typed.items.size(), 3000u);
  EXPECT_EQ(typed.metadata.resourceVersion, "77");
  const ObjectList<Pod> list = rest.get().resource("pods").intoList<Pod>();
  ASSERT_EQ(list.items.size(), 3000u);
  EXPECT_EQ(list.items[2999].metadata.name, "web-2999");
  EXPECT_EQ(list.metadata.resourceVersion, "77");
  EXPECT_TRUE(list.items[0].spec->nodeName.sharesWith(list.items[1].spec->nodeName));
}

TEST(RestClientTest, AFailureCarriesTheServersStatus) {
  const metav1::Status notFound = status::notFound({"", "pods"}, "web");
  ScriptedServer server([&](const ServerRequest& request) -> ServerResponse {
    if (request.target.find("proto") != std::string::npos) {
      return {
          .status = 404, .headers = {{"Content-Type", kProtobuf}}, .body = toProtobuf(notFound)};
    }
    return failure(notFound);
  });
  const RestClient rest(server.config(), {"", "v1"});
  for (const char* name : {"web", "proto"}) {
    try {
      pods(rest, name).into<Pod>();
      FAIL();
    } catch (const ApiError& error) {
      EXPECT_TRUE(isNotFound(error));
      EXPECT_EQ(error.status(), notFound);
      EXPECT_THAT(error.what(), StartsWith("get pods \"" + std::string(name) +
                                           "\" in namespace \"book\": pods \"web\" not found"));
    }
  }
  EXPECT_THROW(rest.get().resource("pods").intoList<Pod>(), ApiError);
  EXPECT_THROW(rest.get().resource("pods").stream(), ApiError);
}

TEST(RestClientTest, ErrorsNameTheVerbAsRbacDoes) {
  ScriptedServer server(
      [](const ServerRequest&) { return failure(status::forbidden({}, "", "")); });
  const RestClient rest(server.config(), {"", "v1"});
  const auto said = [](Request&& request) -> std::string {
    try {
      request.raw();
    } catch (const ApiError& error) {
      const std::string text = error.what();
      return text.substr(0, text.find(':'));
    }
    return "no error";
  };
  const auto pods = [](Request&& request) {
    return std::move(request.namespace_("book").resource("pods"));
  };
  EXPECT_EQ(said(pods(rest.get())), "list pods in namespace \"book\"");
  EXPECT_EQ(said(std::move(pods(rest.get()).param("watch", "true"))),
            "watch pods in namespace \"book\"");
  EXPECT_EQ(said(pods(rest.del())), "deletecollection pods in namespace \"book\"");
  EXPECT_EQ(said(std::move(pods(rest.get()).name("web"))),
            "get pods \"web\" in namespace \"book\"");
  EXPECT_EQ(said(std::move(pods(rest.del()).name("web"))),
            "delete pods \"web\" in namespace \"book\"");
  EXPECT_EQ(said(std::move(pods(rest.get()).name("web").subresource("log"))),
            "get pods/log \"web\" in namespace \"book\"");
}

TEST(RestClientTest, AnswersThatAreNoStatusAreInterpreted) {
  ScriptedServer server([](const ServerRequest&) -> ServerResponse {
    return {.status = 502, .body = "<html>bad gateway</html>"};
  });
  const RestClient rest(server.config(), {"", "v1"});
  try {
    pods(rest, "web").into<Pod>();
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_TRUE(isUnexpectedServerError(error));
    EXPECT_TRUE(isInternalError(error));
    EXPECT_THAT(error.what(), HasSubstr("bad gateway"));
  }
}

TEST(RestClientTest, AMalformedAnswerIsADecodeError) {
  ScriptedServer server([](const ServerRequest&) { return json(200, "{\"metadata\":5}"); });
  const RestClient rest(server.config(), {"", "v1"});
  EXPECT_THROW(pods(rest, "web").into<Pod>(), DecodeError);
}

// Another thread makes the call; the test advances the clock.
TEST(RestClientTest, RetryAfterIsWaitedForAndTheRequestSentAgain) {
  std::atomic<int> calls = 0;
  ScriptedServer server([&](const ServerRequest& request) {
    if (++calls < 3) return json(429, "{}", {{"Retry-After", "7"}});
    return json(200, request.body);
  });
  FakeClock clock;
  const RestClient rest(std::make_shared<ApiConnection>(server.config(), clock), {"", "v1"});
  auto answer = std::async(std::launch::async, [&] {
    return rest.post().resource("pods").body("again", "text/plain").raw();
  });
  for (int i = 0; i < 2; ++i) {
    clock.waitForWaiters(1);
    clock.advance(7s);
  }
  EXPECT_EQ(answer.get(), "again");
  EXPECT_EQ(calls, 3);
}

TEST(RestClientTest, RetriesHaveALimitAndCanBeStopped) {
  ScriptedServer server([](const ServerRequest&) {
    return json(503, "{}", {{"Retry-After", "0"}});
  });
  const RestClient rest(server.config(), {"", "v1"});
  EXPECT_THROW(pods(rest, "web").maxRetries(2).raw(), ApiError);
  EXPECT_EQ(server.requests().size(), 3u);
  EXPECT_THROW(pods(rest, "web").maxRetries(0).raw(), ApiError);
  EXPECT_EQ(server.requests().size(), 4u);

  ScriptedServer slow([](const ServerRequest&) {
    return json(429, "{}", {{"Retry-After", "99"}});
  });
  FakeClock clock;
  const RestClient patient(std::make_shared<ApiConnection>(slow.config(), clock), {"", "v1"});
  std::stop_source stop;
  auto answer = std::async(std::launch::async, [&] { pods(patient, "web").raw(stop.get_token()); });
  clock.waitForWaiters(1);
  stop.request_stop();
  EXPECT_THROW(answer.get(), CanceledError);
}

TEST(RestClientTest, AfterA401ARotatedTokenIsUsed) {
  const auto path =
      std::filesystem::temp_directory_path() / ("kubexx-token-" + std::to_string(::getpid()));
  const auto write = [&](std::string_view token) { std::ofstream(path) << token; };
  write("old");
  ScriptedServer server([&](const ServerRequest& request) {
    if (request.headers.get("Authorization") == "Bearer new") return json(200, "{}");
    write("new");
    return failure(status::unauthorized("expired"));
  });
  Config config = server.config();
  config.bearerTokenFile = path.string();
  const RestClient rest(config, {"", "v1"});
  EXPECT_EQ(pods(rest, "web").raw(), "{}");
  EXPECT_EQ(server.requests().size(), 2u);
  std::filesystem::remove(path);
}

TEST(RestClientTest, WarningsGoToTheHandler) {
  ScriptedServer server([](const ServerRequest&) {
    return json(200, "{}",
                {{"Warning", R"(299 - "v1beta1 is \"old\"", 299 other "second" "date")"}});
  });
  Config config = server.config();
  std::vector<std::string> seen;
  config.warningHandler = [&](const Warning& warning) { seen.push_back(warning.text); };
  pods(RestClient(config, {"", "v1"}), "web").raw();
  EXPECT_THAT(seen, ElementsAre("v1beta1 is \"old\"", "second"));
}

TEST(RestClientTest, WithoutRetriesEveryFailureIsReported) {
  ScriptedServer server([](const ServerRequest&) {
    return json(503, "{}", {{"Retry-After", "3600"}});
  });
  const RestClient rest = RestClient(server.config()).withMaxRetries(0).forVersion({"", "v1"});
  EXPECT_THROW(pods(rest, "web").raw(), ApiError);
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST(RestClientTest, ConnectionsMayBeTweaked) {
  ScriptedServer server([](const ServerRequest&) { return json(200, "{}"); });
  Config config = server.config();
  config.tweakTransport = [](TransportOptions& options) {
    EXPECT_EQ(options.proxy, "direct");  // the rest of the Config applies first
    options.disableHttp2 = true;
  };
  pods(RestClient(config, {"", "v1"}), "web").raw();
  EXPECT_EQ(server.requests()[0].httpVersion, 1);
}

TEST(RestClientTest, MalformedWarningsAreDropped) {
  EXPECT_TRUE(parseWarnings({{"Warning", "nonsense"}}).empty());
  EXPECT_TRUE(parseWarnings({{"Warning", "299 - unquoted"}}).empty());
  EXPECT_EQ(parseWarnings({{"warning", "299 - \"open"}}).size(), 1u);
}

// ---- watches

std::string frame(std::string_view type, const Pod& object) {
  return R"({"type":")" + std::string(type) + R"(","object":)" + toJson(object) + "}\n";
}

TEST(RestWatchTest, GivesEventsUntilTheServerCloses) {
  ScriptedServer server([](const ServerRequest&, const Responder& responder) {
    ResponseStream stream = responder.stream(200, {{"Content-Type", "application/json"}});
    stream.tryWrite(frame("ADDED", pod("a")) + frame("MODIFIED", pod("a")));
    stream.tryWrite(frame("DELETED", pod("a")));
    stream.close();
  });
  const RestClient rest(server.config(), {"", "v1"});
  std::vector<EventType> types;
  for (const auto& event : rest.get().resource("pods").watch<Pod>()) {
    types.push_back(event.type);
    EXPECT_EQ(event.object.metadata.name, "a");
  }
  EXPECT_THAT(types, ElementsAre(EventType::Added, EventType::Modified, EventType::Deleted));
  EXPECT_EQ(server.requests()[0].target, "/api/v1/pods?watch=true");
}

TEST(RestWatchTest, EndsWhenAStopIsRequested) {
  ScriptedServer server([held = std::make_shared<std::vector<ResponseStream>>()](
                            const ServerRequest&, const Responder& responder) {
    held->push_back(responder.stream(200, {{"Content-Type", "application/json"}}));
    held->back().tryWrite(frame("ADDED", pod("a")));
  });
  const RestClient rest(server.config(), {"", "v1"});
  std::stop_source stop;
  auto watch = rest.get().resource("pods").watch<Pod>(stop.get_token());
  ASSERT_TRUE(watch.next().has_value());
  std::jthread stopper([&] { stop.request_stop(); });
  EXPECT_FALSE(watch.next().has_value());
  EXPECT_FALSE(watch.next().has_value());
}

TEST(RestWatchTest, EndsWhenTheServerForgetsTo) {
  ScriptedServer server([held = std::make_shared<std::vector<ResponseStream>>()](
                            const ServerRequest&, const Responder& responder) {
    held->push_back(responder.stream(200, {{"Content-Type", "application/json"}}));
  });
  const RestClient rest(server.config(), {"", "v1"});
  auto watch = rest.get().resource("pods").giveUpAfter(1s).watch<Pod>();
  EXPECT_FALSE(watch.next().has_value());
  EXPECT_EQ(server.requests()[0].target, "/api/v1/pods?watch=true") << "the server is not told";
}

TEST(RestWatchTest, ACutIsATransportErrorAfterTheEventsBeforeIt) {
  ScriptedServer server([](const ServerRequest&, const Responder& responder) {
    ResponseStream stream = responder.stream(200, {{"Content-Type", "application/json"}});
    stream.tryWrite(frame("ADDED", pod("a")) + "{\"type\":");
    stream.abort();
  });
  const RestClient rest(server.config(), {"", "v1"});
  auto watch = rest.get().resource("pods").watch<Pod>();
  EXPECT_THROW(
      {
        while (watch.next()) {
        }
      },
      TransportError);
  EXPECT_FALSE(watch.next().has_value());
}

TEST(RestWatchTest, GarbageIsADecodeErrorAfterTheEventsBeforeIt) {
  ScriptedServer server(
      [](const ServerRequest&) { return json(200, frame("ADDED", pod("a")) + "garbage\n"); });
  const RestClient rest(server.config(), {"", "v1"});
  auto watch = rest.get().resource("pods").watch<Pod>();
  EXPECT_TRUE(watch.next().has_value());
  EXPECT_THROW(watch.next(), DecodeError);
}

TEST(RestWatchTest, TheServersErrorIsAnEvent) {
  ScriptedServer server([](const ServerRequest&) {
    return json(200, R"({"type":"ERROR","object":)" + toJson(status::expired("too old")) + "}\n");
  });
  const RestClient rest(server.config(), {"", "v1"});
  auto watch = rest.get().resource("pods").watch<Pod>();
  const auto event = watch.next();
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->type, EventType::Error);
  EXPECT_EQ(event->status.code, 410);
}

}  // namespace
}  // namespace kube
