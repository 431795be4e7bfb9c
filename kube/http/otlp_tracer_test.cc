#include "kube/http/otlp_tracer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "kube/base/error.h"
#include "kube/base/internal/logged_testing.h"
#include "kube/http/http_server.h"
#include "kube/http/internal/raw_server_testing.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

// A collector that answers with `status`, and keeps what it was sent.
class Collector {
 public:
  std::vector<ServerRequest> requests() const {
    const std::lock_guard lock(requestsMutex_);
    return requests_;
  }
  std::string bodies() const {
    std::string all;
    for (const ServerRequest& request : requests()) all += request.body;
    return all;
  }
  OtlpOptions options() {
    return {.endpoint = server_.url(),
            .proxy = "direct",
            .serviceName = "test",
            .metrics = &metrics,
            .clock = &clock};
  }

  std::atomic<int> status = 200;
  std::string answer = "{}";
  Metrics metrics;
  FakeClock clock;

 private:
  mutable std::mutex requestsMutex_;
  std::vector<ServerRequest> requests_;
  HttpServer server_{{}, [this](const ServerRequest& request, const Responder& responder) {
                       {
                         const std::lock_guard lock(requestsMutex_);
                         requests_.push_back(request);
                       }
                       responder.send({.status = status, .body = answer});
                     }};
};

void spans(OtlpTracer& tracer, int count) {
  for (int i = 0; i < count; ++i) {
    tracer.start("span " + std::to_string(i), SpanKind::Internal, nullptr)->end();
  }
}

TEST(OtlpTracerTest, SpansAreSentAsJson) {
  Collector collector;
  OtlpOptions options = collector.options();
  options.headers = {{"Authorization", "Bearer x"}};
  options.resource = {{"k8s.pod.name", "web-\"1\""}};
  OtlpTracer tracer(options);
  const auto parent = tracer.start("reconcile", SpanKind::Internal, nullptr);
  const auto child = tracer.start("get pods", SpanKind::Client, parent.get());
  child->set({"http.request.method", "GET"});
  child->set({"http.response.status_code", 404});
  child->set({"ok", false});
  child->set({"ratio", 0.5});
  child->set({"text", "a\n\xff"});
  child->fail("not \"found\"");
  collector.clock.advance(1500ms);
  child->end();
  child->end();
  parent->end();
  EXPECT_TRUE(tracer.flush());
  ASSERT_THAT(collector.requests(), SizeIs(1));
  const ServerRequest request = collector.requests()[0];
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/v1/traces");
  EXPECT_EQ(request.headers.get("Content-Type"), "application/json");
  EXPECT_EQ(request.headers.get("Authorization"), "Bearer x");
  EXPECT_FALSE(request.headers.has("traceparent"));
  const std::string trace = parent->context().traceparent();
  EXPECT_THAT(
      request.body,
      AllOf(HasSubstr(R"({"key":"service.name","value":{"stringValue":"test"}})"),
            HasSubstr(R"({"key":"k8s.pod.name","value":{"stringValue":"web-\"1\""}})"),
            HasSubstr("\"traceId\":\"" + trace.substr(3, 32) + "\""),
            HasSubstr("\"parentSpanId\":\"" + trace.substr(36, 16) + "\""),
            HasSubstr(R"("name":"get pods","kind":3,"startTimeUnixNano":"1704067200000000000",)"
                      R"("endTimeUnixNano":"1704067201500000000")"),
            HasSubstr(R"({"key":"http.response.status_code","value":{"intValue":"404"}})"),
            HasSubstr(R"({"key":"ok","value":{"boolValue":false}})"),
            HasSubstr(R"({"key":"ratio","value":{"doubleValue":0.5}})"),
            HasSubstr(R"("status":{"code":2,"message":"not \"found\""})")));
}

TEST(OtlpTracerTest, ChildrenAreOfTheirParentsTraceAndSampledAsIt) {
  Collector collector;
  OtlpOptions options = collector.options();
  options.sampleRatio = 0;
  OtlpTracer tracer(options);
  const auto none = tracer.start("a", SpanKind::Internal, nullptr);
  EXPECT_TRUE(none->context().valid());
  EXPECT_FALSE(none->context().sampled);
  EXPECT_FALSE(tracer.start("b", SpanKind::Client, none.get())->context().sampled);
  const auto remote = remoteSpan("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
  const auto child = tracer.start("c", SpanKind::Client, remote.get());
  EXPECT_TRUE(child->context().sampled);
  EXPECT_EQ(child->context().traceId, remote->context().traceId);
  EXPECT_NE(child->context().spanId, remote->context().spanId);
}

TEST(OtlpTracerTest, ABatchIsSentAfterTheIntervalOrWhenItIsFull) {
  Collector collector;
  OtlpOptions options = collector.options();
  options.maxBatch = 10;
  OtlpTracer tracer(options);
  spans(tracer, 25);
  // Two full batches; the rest waits for the interval.
  while (collector.requests().size() < 2) std::this_thread::yield();
  while (collector.requests().size() < 3) {
    collector.clock.advance(1s);
    std::this_thread::yield();
  }
  EXPECT_TRUE(tracer.flush());
  EXPECT_EQ(tracer.dropped(), 0U);
  EXPECT_THAT(collector.metrics.text(), HasSubstr("trace_spans_sent_total 25"));
}

TEST(OtlpTracerTest, TheDestructorSendsWhatIsLeft) {
  Collector collector;
  std::shared_ptr<Span> late;
  {
    OtlpTracer tracer(collector.options());
    late = tracer.start("late", SpanKind::Internal, nullptr);
    spans(tracer, 3);
  }
  EXPECT_THAT(collector.bodies(), HasSubstr("span 2"));
  late->end();  // dropped
  EXPECT_THAT(collector.metrics.text(), HasSubstr("trace_spans_dropped_total 1"));
}

TEST(OtlpTracerTest, ACollectorThatHangsDelaysNobody) {
  RawServer server([](RawConnection& connection, int) { connection.waitForClose(); });
  Metrics metrics;
  OtlpOptions options{.endpoint = server.url(), .proxy = "direct", .metrics = &metrics};
  options.maxQueue = 100;
  options.maxBatch = 50;
  options.shutdownTimeout = 50ms;
  {
    OtlpTracer tracer(options);
    spans(tracer, 1000);
    EXPECT_GE(tracer.dropped(), 850U);
  }
  EXPECT_THAT(metrics.text(), AllOf(HasSubstr("trace_spans_dropped_total 1000\n"),
                                    HasSubstr("trace_spans_sent_total 0\n")));
}

TEST(OtlpTracerTest, GarbageOfACollectorIsAFailureThatIsLoggedOnce) {
  for (const std::string& garbage :
       {std::string("SSH-2.0-x\r\n"), std::string(100'000, '\xff'),
        std::string("HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n") +
            std::string(200'000, 'x'),
        std::string("HTTP/1.1 302 Found\r\nLocation: https://example.com/\r\nContent-Length: "
                    "0\r\n\r\n")}) {
    RawServer server([&](RawConnection& connection, int) {
      connection.readHead();
      connection.write(garbage);
    });
    const testing::Logged logged;
    Metrics metrics;
    OtlpOptions options{.endpoint = server.url(), .proxy = "direct", .metrics = &metrics};
    options.maxTries = 1;
    OtlpTracer tracer(options);
    for (int i = 0; i < 3; ++i) {
      spans(tracer, 2);
      EXPECT_TRUE(tracer.flush());
    }
    EXPECT_EQ(tracer.dropped(), 6U);
    const std::string text = logged.text();
    EXPECT_EQ(text.find("traces cannot be sent"), text.rfind("traces cannot be sent"));
  }
}

TEST(OtlpTracerTest, ABusyCollectorIsAskedAgainAndARefusalIsFinal) {
  Collector collector;
  OtlpTracer tracer(collector.options());
  const testing::Logged logged;
  collector.status = 503;
  spans(tracer, 1);
  std::jthread flushing([&] { tracer.flush(); });
  while (collector.requests().size() < 2) {
    collector.clock.advance(500ms);
    std::this_thread::yield();
  }
  collector.status = 200;
  while (collector.metrics.text().find("trace_spans_sent_total 1") == std::string::npos) {
    collector.clock.advance(500ms);
    std::this_thread::yield();
  }
  flushing.join();
  EXPECT_THAT(logged.text(), HasSubstr("traces are sent again"));
  const std::size_t before = collector.requests().size();
  collector.status = 400;
  spans(tracer, 1);
  EXPECT_TRUE(tracer.flush());
  EXPECT_EQ(collector.requests().size(), before + 1);
  EXPECT_EQ(tracer.dropped(), 1U);
}

TEST(OtlpTracerTest, AttributesAreBounded) {
  Collector collector;
  OtlpTracer tracer(collector.options());
  const auto span = tracer.start(std::string(1 << 20, 'n'), SpanKind::Internal, nullptr);
  for (int i = 0; i < 1000; ++i) span->set({"key", std::string(100'000, 'v')});
  span->fail(std::string(1 << 20, 'w'));
  span->end();
  EXPECT_TRUE(tracer.flush());
  EXPECT_LT(collector.bodies().size(), 30'000U);
}

TEST(OtlpTracerTest, ManyThreadsMayEndSpansWhileItIsFlushedAndDestroyed) {
  Collector collector;
  auto tracer = std::make_shared<OtlpTracer>(collector.options());
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([tracer] {
        for (int i = 0; i < 200; ++i) {
          const auto span = tracer->start("x", SpanKind::Internal, nullptr);
          span->set({"i", i});
          if (i % 50 == 0) tracer->flush();
        }
      });
    }
    tracer.reset();
  }
  const std::string page = collector.metrics.text();
  EXPECT_THAT(page, HasSubstr("trace_spans_sent_total 800"));
}

TEST(OtlpTracerTest, WrongOptionsAreRefused) {
  EXPECT_THROW(OtlpTracer({.endpoint = "collector:4318"}), ConfigError);
  EXPECT_THROW(OtlpTracer({.sampleRatio = 1.5}), ConfigError);
  EXPECT_THROW(OtlpTracer({.maxQueue = 0}), ConfigError);
}

}  // namespace
}  // namespace kube
