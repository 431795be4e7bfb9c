// Spans of requests, and the context that they send.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <mutex>

#include "kube/api/core/v1.h"
#include "kube/base/internal/recording_tracer_testing.h"
#include "kube/base/task_scope.h"
#include "kube/base/task_threads.h"
#include "kube/base/trace.h"
#include "kube/base/when.h"
#include "kube/codec/json.h"
#include "kube/http/otlp_tracer.h"
#include "kube/meta/api_error.h"
#include "kube/meta/value.h"
#include "kube/rest/request_log.h"
#include "kube/rest/rest_client.h"
#include "kube/testing/scripted_server.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using corev1::Pod;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using testing::kRecordedTrace;

constexpr const char* kParent = kRecordedTrace;

ServerResponse answerOf(const ServerRequest& request) {
  const HttpHeaders headers{{"Content-Type", "application/json"}, {"Audit-Id", "a-1"}};
  if (request.target.find("watch=true") != std::string::npos) {
    return {.headers = headers,
            .body = R"({"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{}}})"};
  }
  if (request.target == "/404") return {.status = 404, .headers = headers, .body = "{}"};
  return {.headers = headers, .body = R"({"kind":"PodList","apiVersion":"v1","items":[]})"};
}

class RequestTraceTest : public ::testing::Test {
 protected:
  Config config() {
    Config config = server.config();
    config.tracer = tracer;
    return config;
  }
  std::vector<std::string> sent() const {
    std::vector<std::string> all;
    for (const ServerRequest& request : server.requests()) {
      all.emplace_back(request.headers.get("traceparent"));
    }
    return all;
  }

  std::shared_ptr<testing::RecordingTracer> tracer = std::make_shared<testing::RecordingTracer>();
  ScriptedServer server{answerOf};
};

TEST_F(RequestTraceTest, ACallIsASpanWhoseContextIsSent) {
  const RestClient rest(config(), {"", "v1"});
  rest.get().namespace_("book").resource("pods").into<corev1::PodList>();
  EXPECT_THROW(rest.get().absPath("/404").raw(), ApiError);
  ASSERT_EQ(tracer->lines().size(), 2U);
  EXPECT_THAT(tracer->lines()[0],
              AllOf(HasSubstr("list pods parent=root"), HasSubstr("http.request.method=GET"),
                    HasSubstr("url.path=/api/v1/namespaces/book/pods"),
                    HasSubstr("http.response.status_code=200"), HasSubstr("audit_id=a-1"),
                    Not(HasSubstr("failed"))));
  EXPECT_THAT(tracer->lines()[1], HasSubstr("failed: the server answered 404"));
  EXPECT_THAT(sent(), ElementsAre("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203301-01",
                                  "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203302-01"));
}

TEST_F(RequestTraceTest, TheSpanOfAWatchEndsWithTheWatch) {
  const RestClient rest(config(), {"", "v1"});
  {
    auto watch = rest.get().resource("pods").watch<Pod>();
    EXPECT_TRUE(watch.next());
    EXPECT_TRUE(tracer->lines().empty());
  }
  ASSERT_EQ(tracer->lines().size(), 1U);
  EXPECT_THAT(tracer->lines()[0], HasSubstr("watch pods"));
}

TEST_F(RequestTraceTest, BlockingCallsAreChildrenOfTheThreadsSpan) {
  const RestClient rest(config(), {"", "v1"});
  {
    const SpanScope scope(remoteSpan(kParent));
    rest.get().resource("pods").into<corev1::PodList>();
  }
  rest.get().resource("pods").into<corev1::PodList>();
  EXPECT_THAT(tracer->lines(),
              ElementsAre(HasSubstr(std::string("parent=") + kParent), HasSubstr("parent=root")));
}

Task<std::string> listed(const RestClient& rest) {
  Request request = rest.get();
  request.absPath("/x");
  return std::move(request).async().raw();
}

Task<> severalLists(const RestClient& rest) {
  co_await sleepFor(1ms);
  std::vector<Task<std::string>> tasks;
  for (int i = 0; i < 3; ++i) tasks.push_back(listed(rest));
  co_await whenAll(std::move(tasks));
}

TEST_F(RequestTraceTest, CallsOfCoroutinesOnManyThreadsAreChildrenOfTheirOwnSpan) {
  const RestClient rest(config());
  std::map<std::string, int> wanted;
  {
    const auto threads = TaskThreads::shared();
    TaskScope scope(Executor([threads](Executor::Work work) { threads->run(std::move(work)); }));
    for (char c = '1'; c <= '9'; ++c) {
      std::string parent = kParent;
      parent[40] = c;
      wanted["parent=" + parent] = 3;
      scope.start(withSpan(severalLists(rest), remoteSpan(parent)));
    }
    scope.wait();
  }
  std::map<std::string, int> seen;
  for (const std::string& line : tracer->lines()) {
    const std::size_t at = line.find("parent=");
    ++seen[line.substr(at, line.find(' ', at) - at)];
  }
  EXPECT_EQ(seen, wanted);
}

TEST_F(RequestTraceTest, WithoutATracerTheContextOfTheParentIsSent) {
  Config plain = server.config();
  const RestClient rest(plain);
  rest.get().absPath("/x").raw();
  const SpanScope scope(remoteSpan(kParent));
  rest.get().absPath("/x").raw();
  EXPECT_THAT(sent(), ElementsAre("", kParent));
}

TEST_F(RequestTraceTest, ATracerThatThrowsFailsNoRequest) {
  const RestClient rest(config());
  tracer->throws = true;
  rest.get().absPath("/x").raw();
  EXPECT_THAT(sent(), ElementsAre(""));
}

TEST_F(RequestTraceTest, TheExporterSendsValidJsonAndTracesNothingOfItself) {
  ScriptedServer collector([](const ServerRequest&) { return ServerResponse{.body = "{}"}; });
  Config traced = server.config();
  const auto otlp = std::make_shared<OtlpTracer>(OtlpOptions{
      .endpoint = collector.config().host, .tls = collector.config().tls, .proxy = "direct"});
  traced.tracer = otlp;
  const RestClient rest(traced);
  for (int i = 0; i < 3; ++i) rest.get().absPath("/x").param("text", "\"\xff").raw();
  const SpanScope scope(remoteSpan(kParent));
  EXPECT_TRUE(otlp->flush());
  EXPECT_TRUE(otlp->flush());
  ASSERT_EQ(collector.requests().size(), 1U);
  EXPECT_FALSE(collector.requests()[0].headers.has("traceparent"));
  const Value sent = parseJson(collector.requests()[0].body);
  const Value& spans = sent["resourceSpans"][0]["scopeSpans"][0]["spans"];
  EXPECT_EQ(spans.asArray().size(), 3U);
  EXPECT_EQ(spans[0]["name"].asString(), "get");
  EXPECT_EQ(spans[0]["kind"].asInt(), 3);
}

// --- The log of requests, as kubectl -v shows them.

std::string shown(int verbosity, const char* path) {
  ScriptedServer server([](const ServerRequest&) {
    return ServerResponse{.headers = {{"Content-Type", "application/json"}, {"X-Answer", "b"}},
                          .body = "{\"data\":\"" + std::string(2000, 'd') + "\"}"};
  });
  Config config = server.config();
  config.bearerToken = "s3cret";
  std::string text;
  config.middleware = {
      logRequests(verbosity, [&](const std::string& line) { text += line + "\n"; })};
  RestClient(config)
      .post()
      .absPath(path)
      .header("X-It's", "a")
      .body("{\"sent\":1}", "application/json")
      .raw();
  EXPECT_THAT(text, Not(HasSubstr("s3cret")));
  return text;
}

TEST(RequestLogTest, EachLevelShowsMore) {
  EXPECT_THAT(shown(7, "/x"), AllOf(HasSubstr("Request POST https://"),
                                    HasSubstr("\n    Authorization: Bearer <masked>"),
                                    Not(HasSubstr("sent")), Not(HasSubstr("Response"))));
  EXPECT_THAT(
      shown(8, "/x"),
      AllOf(HasSubstr("Request Body {\"sent\":1}"), HasSubstr("\n    x-answer: b"),
            HasSubstr("Response Body {\"data\":\"ddd"), HasSubstr("[truncated 987 bytes]")));
  EXPECT_THAT(shown(9, "/x"), AllOf(HasSubstr("curl -v -XPOST "), HasSubstr("-H 'X-It'\\''s: a'"),
                                    Not(HasSubstr("truncated"))));
}

TEST(RequestLogTest, SecretsAreNotShown) {
  for (const char* path : {"/api/v1/namespaces/a/secrets", "/api/v1/secrets/x?watch=1",
                           "/api/v1/namespaces/a/serviceaccounts/b/token"}) {
    EXPECT_THAT(shown(9, path), AllOf(HasSubstr("Request Body <masked>"),
                                      HasSubstr("Response Body <masked>"), Not(HasSubstr("ddd"))));
  }
}

}  // namespace
}  // namespace kube
