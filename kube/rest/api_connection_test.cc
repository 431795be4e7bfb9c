// Requests and answers of hostile or broken callers, objects and servers.
#include "kube/rest/api_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "kube/api/core/v1.h"
#include "kube/base/error.h"
#include "kube/http/internal/gzip_testing.h"
#include "kube/http/internal/raw_server_testing.h"
#include "kube/meta/api_error.h"
#include "kube/meta/unstructured.h"
#include "kube/rest/environment_testing.h"
#include "kube/rest/rest_client.h"
#include "kube/testing/scripted_server.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using corev1::Pod;
using test::messageOf;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

ServerResponse jsonAnswer(std::string body, HttpHeaders headers = {}) {
  headers.add("Content-Type", "application/json");
  return {.headers = std::move(headers), .body = std::move(body)};
}

Config configOf(const RawServer& server) {
  Config config;
  config.host = server.url();
  config.proxy = "direct";
  config.qps = -1;
  return config;
}

// --- Targets of requests.

TEST(ApiConnectionTest, GroupAndVersionCannotChangeThePath) {
  ScriptedServer server([](const ServerRequest&) { return jsonAnswer("{}"); });
  const RestClient rest(server.config());
  for (const GroupVersion& version :
       {GroupVersion{"", "v1%2Fnamespaces%2Fkube-system%2Fsecrets%2Fcrown?x="},
        GroupVersion{"", "v1?watch=1"}, GroupVersion{"", "v1#"}, GroupVersion{"", ".."},
        GroupVersion{"", "v1/namespaces"}, GroupVersion{"", "v.1"}, GroupVersion{"", "V1"},
        GroupVersion{"", "v1\r\nX: y"}, GroupVersion{"..", "v1"}, GroupVersion{"apps/..", "v1"},
        GroupVersion{"apps%2f..", "v1"}, GroupVersion{"apps?", "v1"}, GroupVersion{"apps#", "v1"},
        GroupVersion{"example..com", "v1"}, GroupVersion{".com", "v1"}, GroupVersion{"apps", "-v1"},
        GroupVersion{"apps ", ""}, GroupVersion{std::string(254, 'a'), "v1"}}) {
    EXPECT_THAT(messageOf<Error>([&] { rest.forVersion(version).get().resource("pods").raw(); }),
                HasSubstr("apiVersion \"" + version.str() + "\": invalid "));
  }
  EXPECT_TRUE(server.requests().empty());
  const auto urlOf = [&](const GroupVersion& version) {
    return rest.forVersion(version).get().resource("things").url();
  };
  EXPECT_EQ(urlOf({"", "v1"}), "/api/v1/things");
  EXPECT_EQ(urlOf({"apps", "v1beta2"}), "/apis/apps/v1beta2/things");
  EXPECT_EQ(urlOf({"a-b.example.com", "v2-alpha"}), "/apis/a-b.example.com/v2-alpha/things");
  EXPECT_EQ(urlOf({"1group.k8s.io", "2019"}), "/apis/1group.k8s.io/2019/things");
}

TEST(ApiConnectionTest, NoPathLeadsToAnotherServer) {
  RawServer other([](RawConnection& connection, int) { connection.readHead(); });
  RawServer server([](RawConnection& connection, int) {
    while (!connection.readHead().empty()) {
      connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    }
  });
  for (const char* prefix : {"", "/prefix"}) {
    Config config = configOf(server);
    config.host += prefix;
    const RestClient rest(config);
    const std::vector<std::string> paths = {
        "@" + other.address() + "/x", ".example.com/x", ":1/x", other.url() + "/x", "x", "?x", ""};
    for (const std::string& path : paths) {
      EXPECT_THAT(messageOf<Error>([&] { rest.get().absPath(path); }),
                  HasSubstr("has to begin with '/'"));
      // The connection itself refuses such a path too.
      const ApiConnection::Call call{.request = {.url = path}};
      EXPECT_THAT(messageOf<Error>([&] { blockOn(rest.connection()->send(call)); }),
                  HasSubstr("has to begin with '/'"));
      EXPECT_THROW(blockOn(rest.connection()->open(call)), Error);
      EXPECT_THROW(blockOn(rest.connection()->webSocket(call, {}, nullptr)), Error);
    }
    EXPECT_EQ(rest.get().absPath("//" + other.address() + "/x").raw(), "");
    EXPECT_EQ(rest.get().absPath("/x@" + other.address()).raw(), "");
  }
  EXPECT_EQ(other.accepted(), 0);
}

// --- Retries.

TEST(ApiConnectionTest, PermanentFailuresAreNotRetried) {
  std::atomic<int> requests = 0;
  Guarded<std::string> answer;
  RawServer server([&](RawConnection& connection, int) {
    while (!connection.readHead().empty()) {
      ++requests;
      connection.write(answer.get());
    }
  });
  ApiConnection connection(configOf(server));
  const auto failure = [&](const std::string& text) {
    answer = text;
    requests = 0;
    return messageOf<TransportError>([&] {
      blockOn(connection.send({.request = {.url = "/x", .timeout = 30s, .maxBodyBytes = 10}}));
    });
  };
  EXPECT_THAT(failure("HTTP/1.1 302 Found\r\nLocation: https://example.com/\r\n"
                      "Content-Length: 0\r\n\r\n"),
              HasSubstr("redirected to another host"));
  EXPECT_EQ(requests, 1);
  EXPECT_THAT(failure("HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n"),
              HasSubstr("gave up after 10 redirects"));
  EXPECT_EQ(requests, 11);
  EXPECT_THAT(failure("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhello world"),
              HasSubstr("longer than the 10 bytes allowed"));
  EXPECT_EQ(requests, 1);
  EXPECT_THAT(failure("nonsense\r\n\r\n"), HasSubstr("malformed"));
  EXPECT_EQ(requests, 1);
}

TEST(ApiConnectionTest, ATimeoutNamesTheFailureBeforeIt) {
  FakeClock clock;
  RawServer server([](RawConnection& connection, int number) {
    connection.readHead();
    if (number == 0) return;
    connection.waitForClose();
  });
  ApiConnection connection(configOf(server), clock);
  // No time is left to wait for another try.
  EXPECT_THAT(messageOf<TimeoutError>(
                  [&] { blockOn(connection.send({.request = {.url = "/x", .timeout = 500ms}})); }),
              AllOf(HasSubstr("no time to try again"), HasSubstr("closed without an answer")));

  RawServer again([](RawConnection& second, int number) {
    second.readHead();
    if (number > 0) second.waitForClose();
  });
  ApiConnection other(configOf(again), clock);
  auto message = std::async(std::launch::async, [&] {
    return messageOf<TimeoutError>(
        [&] { blockOn(other.send({.request = {.url = "/x", .timeout = 1s + 50ms}})); });
  });
  clock.waitForWaiters(1);
  clock.advance(1s);
  EXPECT_THAT(message.get(),
              AllOf(HasSubstr("timed out after 50 ms"), HasSubstr("closed without an answer")));

  ScriptedServer busy([](const ServerRequest&) {
    return ServerResponse{.status = 429, .headers = {{"Retry-After", "30"}}};
  });
  EXPECT_THAT(messageOf<TimeoutError>([&] {
                RestClient(busy.config(), {"", "v1"}).get().resource("pods").timeout(5s).raw();
              }),
              AllOf(HasSubstr("list pods"), HasSubstr("asks to wait beyond the deadline"),
                    HasSubstr("429"), HasSubstr("30 s")));
}

TEST(ApiConnectionTest, AVeryLongRetryAfterIsNotWaitedFor) {
  ScriptedServer server([](const ServerRequest&) {
    return ServerResponse{.status = 503, .headers = {{"Retry-After", "4294967295"}}};
  });
  const RestClient rest(server.config(), {"", "v1"});
  EXPECT_THROW(rest.get().resource("pods").raw(), ApiError);
  EXPECT_EQ(server.requests().size(), 1u);
}

// --- The time for credentials.

TEST(ApiConnectionTest, TheTimeoutOfARequestCoversItsPlugin) {
  const test::TemporaryFolder folder;
  ScriptedServer server([](const ServerRequest&) { return jsonAnswer("{}"); });
  Config config = server.config();
  config.exec = ExecConfig{.command = folder.write("plugin",
                                                   "#!/bin/sh\nmkfifo " + folder.path("never") +
                                                       "\nexec cat <" + folder.path("never") + "\n",
                                                   true),
                           .apiVersion = "client.authentication.k8s.io/v1",
                           .interactiveMode = "Never"};
  config.timeout = 100ms;
  const RestClient rest(config, {"", "v1"});
  EXPECT_THAT(messageOf<TimeoutError>([&] { rest.get().resource("pods").raw(); }),
              HasSubstr("exec plugin"));
  EXPECT_TRUE(server.requests().empty());
}

// --- The limits of a list.

std::string listOf(std::size_t items) {
  std::string body = R"({"kind":"PodList","apiVersion":"v1","metadata":{},"items":[)";
  for (std::size_t i = 0; i < items; ++i) body += i == 0 ? "{}" : ",{}";
  return body + "]}";
}

TEST(ApiConnectionTest, AListIsLimitedAsAWhole) {
  ScriptedServer server([](const ServerRequest& request) {
    return jsonAnswer(request.target.starts_with("/api/v1/namespaces/many/") ? listOf(20'000)
                                                                             : listOf(100));
  });
  Config config = server.config();
  config.maxListBytes = 20'000 * sizeof(Pod);
  const RestClient rest(config, {"", "v1"});
  const auto list = [&](std::string_view name) {
    return std::move(rest.get().namespace_(name).resource("pods"));
  };
  EXPECT_EQ(list("few").intoList<Pod>().items.size(), 100u);
  EXPECT_EQ(list("few").into<corev1::PodList>().items.size(), 100u);
  const std::size_t before = server.requests().size();
  std::size_t seen = 0;
  const auto refused = AllOf(HasSubstr("list pods in namespace \"many\": the list takes more than"),
                             HasSubstr("Config::maxListBytes"));
  EXPECT_THAT(messageOf<TransportError>([&] { list("many").intoList<Pod>(); }), refused);
  EXPECT_THAT(messageOf<TransportError>([&] { list("many").into<corev1::PodList>(); }), refused);
  EXPECT_THAT(
      messageOf<TransportError>([&] { list("many").eachItem<Pod>([&](Pod&&) { ++seen; }); }),
      refused);
  EXPECT_LT(seen, 20'000u);
  EXPECT_EQ(server.requests().size(), before + 3);
  config.maxListBytes = 0;  // no limit
  EXPECT_EQ(RestClient(config, {"", "v1"})
                .get()
                .namespace_("many")
                .resource("pods")
                .intoList<Pod>()
                .items.size(),
            20'000u);
}

TEST(ApiConnectionTest, TheTimeoutOfARequestEndsAnEndlessList) {
  RawServer server([](RawConnection& connection, int) {
    connection.readHead();
    connection.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"items\":[");
    const std::string blanks(100'000, ' ');
    // Enough that it would have taken minutes.
    for (int i = 0; i < 20'000 && connection.write(blanks); ++i) {
    }
    connection.waitForClose();
  });
  Config config = configOf(server);
  config.timeout = 300ms;
  const RestClient rest(config, {"", "v1"});
  EXPECT_THROW(rest.get().resource("pods").intoList<Pod>(), TimeoutError);
}

TEST(ApiConnectionTest, AListThatUnpacksToFarMoreThanItsSizeIsRefused) {
  const std::size_t items = (std::size_t{300} << 20) / sizeof(Pod);
  const std::string body = compressed(listOf(items), true);
  ScriptedServer server([&](const ServerRequest&) {
    return jsonAnswer(body, {{"Content-Encoding", "gzip"}});
  });
  Config config = server.config();
  config.tweakTransport = [](TransportOptions& options) { options.disableCompression = false; };
  std::size_t seen = 0;
  EXPECT_THAT(
      messageOf<TransportError>([&] {
        RestClient(config, {"", "v1"}).get().resource("pods").eachItem<Pod>([&](Pod&&) { ++seen; });
      }),
      HasSubstr("to fill the memory"));
  EXPECT_LT(seen, items);
  EXPECT_GT(seen, items / 2);
}

}  // namespace
}  // namespace kube
