// Metrics and log lines of requests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/api/core/v1.h"
#include "kube/base/internal/logged_testing.h"
#include "kube/http/internal/raw_server_testing.h"
#include "kube/meta/api_error.h"
#include "kube/rest/environment_testing.h"
#include "kube/rest/rest_client.h"
#include "kube/rest/warnings.h"
#include "kube/testing/scripted_server.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using test::messageOf;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

ServerResponse jsonOf(int status, std::string body, HttpHeaders headers = {}) {
  headers.add("Content-Type", "application/json");
  return {.status = status, .headers = std::move(headers), .body = std::move(body)};
}

// A server that answers with the status in the path: /status/409.
ServerResponse statusInPath(const ServerRequest& request) {
  const std::string_view path = request.target;
  return jsonOf(std::stoi(std::string(path.substr(path.rfind('/') + 1))), "{}");
}

class RequestMetricsTest : public ::testing::Test {
 protected:
  Config configOf(const ScriptedServer& server) {
    Config config = server.config();
    config.metrics = &metrics;
    host = config.serverUrl().authority;
    return config;
  }
  std::string series(std::string_view name, std::string_view labels) const {
    const std::string wanted = fmt::format("{}{{{},host=\"{}\"}} ", name, labels, host);
    const std::string page = metrics.text();
    const std::size_t at = page.find(wanted);
    if (at == page.npos) return "none";
    const std::size_t value = at + wanted.size();
    return page.substr(value, page.find('\n', value) - value);
  }
  std::string requests(std::string_view code, std::string_view method) const {
    return series("rest_client_requests_total",
                  fmt::format("code=\"{}\",method=\"{}\"", code, method));
  }

  Metrics metrics;
  std::string host;
};

TEST_F(RequestMetricsTest, AnswersAreCountedByCodeMethodAndHost) {
  ScriptedServer server(statusInPath);
  const RestClient rest(configOf(server));
  for (int i = 0; i < 3; ++i) rest.get().absPath("/200").raw();
  EXPECT_THROW(rest.put().absPath("/409").body("12345", "text/plain").raw(), ApiError);
  EXPECT_EQ(requests("200", "GET"), "3");
  EXPECT_EQ(requests("409", "PUT"), "1");
  EXPECT_EQ(series("rest_client_request_duration_seconds_count", "verb=\"GET\""), "3");
  EXPECT_EQ(series("rest_client_request_size_bytes_sum", "verb=\"PUT\""), "5");
  EXPECT_EQ(series("rest_client_response_size_bytes_sum", "verb=\"GET\""), "6");
}

TEST_F(RequestMetricsTest, TheServerCannotMakeManySeries) {
  ScriptedServer server(statusInPath);
  const RestClient rest(configOf(server));
  for (int code = 200; code < 600; ++code) {
    try {
      rest.get().absPath("/" + std::to_string(code)).raw();
    } catch (const Error&) {
    }
  }
  const std::string page = metrics.text();
  std::size_t count = 0;
  for (std::size_t at = 0; (at = page.find("\nrest_client_requests_total{", at)) != page.npos;
       ++at) {
    ++count;
  }
  EXPECT_LE(count, 36U);
  EXPECT_EQ(requests("4xx", "GET"), "87");
  EXPECT_EQ(requests("418", "GET"), "none");
}

TEST_F(RequestMetricsTest, ListsAreMeasuredWhileTheyArriveAndWatchesHaveNoDuration) {
  ScriptedServer server([](const ServerRequest& request) {
    return jsonOf(200, request.target.find("watch=true") != std::string::npos
                           ? ""
                           : R"({"kind":"PodList","apiVersion":"v1","items":[]})");
  });
  const RestClient rest(configOf(server), {"", "v1"});
  rest.get().resource("pods").into<corev1::PodList>();
  EXPECT_EQ(series("rest_client_response_size_bytes_sum", "verb=\"GET\""), "47");
  auto watch = rest.get().resource("pods").watch<corev1::Pod>();
  EXPECT_FALSE(watch.next());
  EXPECT_EQ(requests("200", "GET"), "2");
  EXPECT_EQ(series("rest_client_request_duration_seconds_count", "verb=\"GET\""), "1");
}

TEST_F(RequestMetricsTest, RetriesAndBrokenConnectionsAreCounted) {
  std::atomic<int> calls = 0;
  ScriptedServer server([&](const ServerRequest&) {
    return ++calls < 3 ? jsonOf(429, "{}", {{"Retry-After", "1"}}) : jsonOf(200, "{}");
  });
  FakeClock clock;
  Config config = configOf(server);
  const auto connection = std::make_shared<ApiConnection>(config, clock);
  std::jthread time([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      clock.advance(100ms);
      std::this_thread::yield();
    }
  });
  RestClient(connection, GroupVersion{}).get().absPath("/x").raw();
  EXPECT_EQ(requests("429", "GET"), "2");
  EXPECT_EQ(requests("200", "GET"), "1");
  EXPECT_EQ(series("rest_client_request_retries_total", "code=\"429\",verb=\"GET\""), "2");

  RawServer broken([](RawConnection& connection, int) { connection.readHead(); });
  config.host = broken.url();
  config.tls = {};
  host = config.serverUrl().authority;
  EXPECT_THROW(RestClient(config).post().absPath("/x").raw(), TransportError);
  EXPECT_EQ(requests("<error>", "POST"), "1");
}

TEST_F(RequestMetricsTest, TheWaitForTheLimiterIsMeasured) {
  ScriptedServer server(statusInPath);
  Config config = configOf(server);
  config.qps = 20;
  config.burst = 1;
  const RestClient rest(config);
  for (int i = 0; i < 2; ++i) rest.get().absPath("/200").raw();
  EXPECT_EQ(series("rest_client_rate_limiter_duration_seconds_count", "verb=\"GET\""), "2");
  EXPECT_GT(std::stod(series("rest_client_rate_limiter_duration_seconds_sum", "verb=\"GET\"")),
            0.001);
}

TEST_F(RequestMetricsTest, ManyThreadsCountTogether) {
  ScriptedServer server(statusInPath);
  const RestClient rest(configOf(server));
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 20; ++i) rest.get().absPath("/200").raw();
      });
    }
  }
  EXPECT_EQ(requests("200", "GET"), "160");
}

// --- The log.

TEST_F(RequestMetricsTest, ADebugLineForEachAttemptShowsNoSecret) {
  ScriptedServer server([](const ServerRequest&) {
    return jsonOf(200, "{}", {{"Audit-Id", "8e2a-1"}});
  });
  Config config = configOf(server);
  config.bearerToken = "s3cret";
  const RestClient rest(config);
  const testing::Logged logged(LogLevel::Debug);
  rest.get()
      .absPath("/api/v1/pods")
      .param("labelSelector", "a=b")
      .param("command", "hunter2")
      .raw();
  const std::string text = logged.text();
  EXPECT_THAT(
      text, AllOf(HasSubstr("verb=GET"), HasSubstr("/api/v1/pods?labelSelector=a%3Db&command=..."),
                  HasSubstr("status=200"), HasSubstr("milliseconds="), HasSubstr("attempt=1"),
                  HasSubstr("audit-id=8e2a-1")));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("hunter2")), Not(HasSubstr("s3cret"))));
}

// --- Audit ids and warnings.

TEST_F(RequestMetricsTest, FailuresOfTheServerShowTheirAuditId) {
  ScriptedServer server([](const ServerRequest& request) {
    return jsonOf(request.target == "/404" ? 404 : 500, "{}", {{"Audit-Id", "8e2a-1"}});
  });
  const RestClient rest(configOf(server));
  const auto failure = [&](const char* path) {
    try {
      rest.get().absPath(path).raw();
    } catch (const ApiError& error) {
      return std::string(error.auditId()) + "|" + error.what();
    }
    return std::string();
  };
  EXPECT_THAT(failure("/500"), AllOf(HasSubstr("8e2a-1|"), HasSubstr("audit id 8e2a-1)")));
  EXPECT_THAT(failure("/404"), AllOf(HasSubstr("8e2a-1|"), Not(HasSubstr("audit id"))));
}

TEST_F(RequestMetricsTest, AHostileAuditIdIsNotShown) {
  std::string id = std::string(10'000, 'a');
  ScriptedServer server([&](const ServerRequest&) {
    return jsonOf(500, "{}", {{"Audit-Id", id}});
  });
  const RestClient rest(configOf(server));
  for (const std::string& hostile : {id, std::string("a b"), std::string("a\"b")}) {
    id = hostile;
    try {
      rest.get().absPath("/x").raw();
      ADD_FAILURE();
    } catch (const ApiError& error) {
      EXPECT_EQ(error.auditId(), "");
    }
  }
}

TEST_F(RequestMetricsTest, WarningsComeOnceAndMemoryForThemIsBounded) {
  std::string warning = "299 - \"old\"";
  ScriptedServer server([&](const ServerRequest&) {
    return jsonOf(200, "{}", {{"Warning", warning}});
  });
  Config config = configOf(server);
  std::vector<Warning> seen;
  config.warningHandler = eachWarningOnce([&](const Warning& one) { seen.push_back(one); }, 2);
  const RestClient rest(config);
  const auto call = [&] { rest.get().absPath("/x").raw(); };
  call();
  call();
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].text, "old");
  EXPECT_EQ(seen[0].doing, "get /x");
  warning = "299 - \"a\", 299 - \"b\"";
  call();
  warning = "299 - \"old\"";
  call();
  EXPECT_EQ(seen.size(), 4U);

  warning.clear();
  for (int i = 0; i < 5000; ++i) warning += fmt::format("299 - \"{}\",", i);
  call();
  EXPECT_EQ(seen.size(), 104U);
}

TEST_F(RequestMetricsTest, TheDefaultHandlerCanBeReplaced) {
  ScriptedServer server([](const ServerRequest&) {
    return jsonOf(200, "{}", {{"Warning", "299 - \"" + std::string(50'000, 'x') + "\""}});
  });
  const RestClient rest(configOf(server));
  {
    const testing::Logged logged(LogLevel::Warning);
    rest.get().absPath("/x").raw();
    EXPECT_THAT(logged.text(), HasSubstr("the server warns: xxxx"));
    EXPECT_LT(logged.text().size(), 5000U);
  }
  int calls = 0;
  const WarningHandler before = setDefaultWarningHandler([&](const Warning&) { ++calls; });
  rest.get().absPath("/x").raw();
  setDefaultWarningHandler(before);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace kube
