#include "kube/rest/middleware.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <atomic>
#include <thread>

#include "kube/api/core/v1.h"
#include "kube/base/task_scope.h"
#include "kube/http/internal/raw_server_testing.h"
#include "kube/meta/api_error.h"
#include "kube/rest/environment_testing.h"
#include "kube/rest/rest_client.h"
#include "kube/testing/scripted_server.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using corev1::Pod;
using test::messageOf;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

ServerResponse jsonText(std::string body, int status = 200, HttpHeaders headers = {}) {
  headers.add("Content-Type", "application/json");
  return {.status = status, .headers = std::move(headers), .body = std::move(body)};
}

// A server that answers with the request: method, target, a header, and the body.
ServerResponse echo(const ServerRequest& request) {
  return jsonText(request.method + " " + request.target + " " +
                  std::string(request.headers.get("X-Added")) + " " + request.body);
}

// The awaitable form of get().absPath("/x").raw().
Task<std::string> awaited(const RestClient& rest) {
  Request request = rest.get();
  request.absPath("/x");
  return std::move(request).async().raw();
}

Middleware adding(std::string value) {
  return [value](HttpAttempt& attempt, NextMiddleware next) -> Task<> {
    const std::string before(attempt.request.headers.get("X-Added"));
    attempt.request.headers.set("X-Added", before + value);
    co_await next();
    attempt.answer.body += value;
  };
}

TEST(MiddlewareTest, TheFirstSeesTheRequestFirstAndTheAnswerLast) {
  ScriptedServer server(echo);
  Config config = server.config();
  config.middleware = {adding("a"), adding("b")};
  const RestClient rest(config);
  EXPECT_EQ(rest.get().absPath("/x").raw(), "GET /x ab ba");
  EXPECT_EQ(blockOn(awaited(rest)), "GET /x ab ba");
}

TEST(MiddlewareTest, MethodPathBodyAndStatusCanBeChanged) {
  ScriptedServer server(echo);
  Config config = server.config();
  config.middleware = {[](HttpAttempt& attempt, NextMiddleware next) -> Task<> {
    EXPECT_EQ(attempt.request.url, "/x?a=b");
    EXPECT_EQ(attempt.doing, "create /x");
    attempt.request.method = "PUT";
    attempt.request.url = "/y";
    attempt.request.body = "new";
    co_await next();
    EXPECT_EQ(attempt.answer.status, 200);
    if (attempt.answer.body == "PUT /y  new") {
      attempt.answer.status = 404;
      attempt.answer.body = "gone";
      attempt.answer.headers.set("X-Answer", "changed");
    }
  }};
  const RestClient rest(config);
  try {
    rest.post().absPath("/x").param("a", "b").body("old", "text/plain").response();
    ADD_FAILURE();
  } catch (const ApiError& error) {
    EXPECT_TRUE(isNotFound(error));
    EXPECT_THAT(error.what(), HasSubstr("create /x"));
  }
}

TEST(MiddlewareTest, ListsAndWatchesPassThroughIt) {
  ScriptedServer server([](const ServerRequest& request) {
    if (request.target.find("watch=true") != std::string::npos) {
      return jsonText(
          R"({"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}})");
    }
    return jsonText(R"({"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a"}}]})");
  });
  Config config = server.config();
  std::string seen;
  int status = 0;
  config.middleware = {[&](HttpAttempt& attempt, NextMiddleware next) -> Task<> {
    co_await next();
    EXPECT_EQ(attempt.answer.body, "");
    if (status != 0) attempt.answer.status = status;
    attempt.onBody.emplace_back([&](std::string_view piece) { seen += piece; });
  }};
  const RestClient rest(config, {"", "v1"});
  EXPECT_EQ(rest.get().resource("pods").into<corev1::PodList>().items.size(), 1U);
  EXPECT_THAT(seen, HasSubstr("PodList"));
  seen.clear();
  {
    auto watch = rest.get().resource("pods").watch<Pod>();
    EXPECT_EQ(watch.next()->object.metadata.name, "a");
    EXPECT_THAT(seen, HasSubstr("ADDED"));
  }
  status = 403;
  EXPECT_THROW(rest.get().resource("pods").watch<Pod>(), ApiError);
  EXPECT_THROW(rest.get().resource("pods").into<corev1::PodList>(), ApiError);
}

TEST(MiddlewareTest, UpgradesPassThroughIt) {
  std::string head;
  RawServer server([&](RawConnection& connection, int) {
    head = connection.readHead();
    connection.write("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno");
  });
  Config config{.host = server.url(), .proxy = "direct"};
  int status = 0;
  config.middleware = {[&](HttpAttempt& attempt, NextMiddleware next) -> Task<> {
    attempt.request.headers.set("X-Added", "upgrade");
    co_await next();
    status = attempt.answer.status;
    attempt.answer.status = 409;
  }};
  const RestClient rest(config);
  try {
    rest.get().absPath("/x").webSocket({"v5.channel.k8s.io"}, nullptr);
    ADD_FAILURE();
  } catch (const ApiError& error) {
    EXPECT_EQ(error.code(), 409);
  }
  EXPECT_EQ(status, 403);
  EXPECT_THAT(head, AllOf(HasSubstr("X-Added: upgrade"), HasSubstr("Upgrade: websocket")));
}

TEST(MiddlewareTest, EachAttemptIsSeen) {
  int calls = 0;
  ScriptedServer server([&](const ServerRequest&) {
    return ++calls < 3 ? jsonText("{}", 503, {{"Retry-After", "0"}}) : jsonText("{}");
  });
  Config config = server.config();
  std::vector<int> retries;
  std::vector<std::size_t> sizes;
  config.middleware = {[&](HttpAttempt& attempt, NextMiddleware next) -> Task<> {
    retries.push_back(attempt.retries);
    attempt.request.body += "more";
    sizes.push_back(attempt.request.body.size());
    co_await next();
  }};
  RestClient(config).post().absPath("/x").body("some", "text/plain").raw();
  EXPECT_THAT(retries, ElementsAre(0, 1, 2));
  EXPECT_THAT(sizes, ElementsAre(8U, 8U, 8U));
}

TEST(MiddlewareTest, AnExceptionFailsTheRequestOnceAndNamesIt) {
  ScriptedServer server(echo);
  Config config = server.config();
  std::atomic<int> calls = 0;
  bool before = true;
  config.middleware = {[&](HttpAttempt&, NextMiddleware next) -> Task<> {
    ++calls;
    if (before) throw std::runtime_error("no more of this");
    co_await next();
    throw TransportError("broken");
  }};
  const RestClient rest(config);
  const auto failure = [&] { return messageOf<Error>([&] { rest.get().absPath("/x").raw(); }); };
  EXPECT_EQ(failure(), "get /x: a middleware failed: no more of this");
  EXPECT_EQ(server.requests().size(), 0U);
  before = false;
  EXPECT_EQ(failure(), "get /x: a middleware failed: broken");
  EXPECT_EQ(calls, 2);
}

TEST(MiddlewareTest, NextIsAwaitedOnce) {
  ScriptedServer server(echo);
  Config config = server.config();
  int times = 0;
  config.middleware = {[&](HttpAttempt&, NextMiddleware next) -> Task<> {
    for (int i = 0; i < times; ++i) co_await next();
  }};
  const RestClient rest(config);
  const auto failure = [&] { return messageOf<Error>([&] { rest.get().absPath("/x").raw(); }); };
  EXPECT_THAT(failure(), HasSubstr("without an answer of next()"));
  times = 2;
  EXPECT_THAT(failure(), HasSubstr("next() was called twice"));
}

TEST(MiddlewareTest, ErrorsOfTheConnectionStayWhatTheyAre) {
  std::atomic<int> requests = 0;
  RawServer server([&](RawConnection& connection, int) {
    ++requests;
    connection.readHead();
  });
  Config config{.host = server.url(), .proxy = "direct"};
  config.middleware = {adding("a"), adding("b")};
  const RestClient rest(config);
  EXPECT_THROW(rest.post().absPath("/x").raw(), TransportError);
  EXPECT_EQ(requests, 1);
}

TEST(MiddlewareTest, TheRequestCannotBeSentToAnotherServer) {
  ScriptedServer server(echo);
  Config config = server.config();
  config.middleware = {[](HttpAttempt& attempt, NextMiddleware next) -> Task<> {
    attempt.request.url = "@example.com/x";
    co_await next();
  }};
  EXPECT_THAT(messageOf<Error>([&] { RestClient(config).get().absPath("/x").raw(); }),
              HasSubstr("has to begin with '/'"));
}

TEST(MiddlewareTest, ARequestThatIsMadeToWriteIsNotSentAgain) {
  std::atomic<int> requests = 0;
  RawServer server([&](RawConnection& connection, int) {
    ++requests;
    connection.readHead();
  });
  Config config{.host = server.url(), .proxy = "direct"};
  config.middleware = {[](HttpAttempt& attempt, NextMiddleware next) -> Task<> {
    attempt.request.method = "POST";
    co_await next();
  }};
  EXPECT_THROW(RestClient(config).get().absPath("/x").raw(), TransportError);
  EXPECT_EQ(requests, 1);
}

TEST(MiddlewareTest, AStopEndsAMiddlewareThatWaits) {
  ScriptedServer server(echo);
  Config config = server.config();
  std::stop_source stop;
  config.middleware = {[&](HttpAttempt&, NextMiddleware next) -> Task<> {
    stop.request_stop();
    const bool waited = co_await sleepFor(1h);
    EXPECT_FALSE(waited);
    co_await next();
  }};
  const RestClient rest(config);
  EXPECT_THROW(rest.get().absPath("/x").raw(stop.get_token()), CanceledError);
  stop = {};
  EXPECT_THROW(blockOn(awaited(rest), stop.get_token()), CanceledError);
}

// --- Tokens from a function.

TEST(TokenSourceTest, ATokenIsKeptUntilItExpires) {
  ScriptedServer server([](const ServerRequest& request) {
    return jsonText(std::string(request.headers.get("Authorization")));
  });
  Config config = server.config();
  FakeClock clock;
  int calls = 0;
  config.tokenSource = [&]() -> Task<IssuedToken> {
    co_await sleepFor(1ms);
    co_return IssuedToken{.token = "t" + std::to_string(++calls), .expires = clock.wallNow() + 1h};
  };
  const RestClient rest(std::make_shared<ApiConnection>(config, clock), GroupVersion{});
  const auto token = [&] { return rest.get().absPath("/x").raw(); };
  EXPECT_EQ(token(), "Bearer t1");
  EXPECT_EQ(blockOn(awaited(rest)), "Bearer t1");
  clock.advance(59min);
  EXPECT_EQ(token(), "Bearer t1");
  clock.advance(55s);
  EXPECT_EQ(token(), "Bearer t2");
  EXPECT_EQ(calls, 2);
}

TEST(TokenSourceTest, ARefusedTokenIsReplaced) {
  ScriptedServer server([](const ServerRequest& request) {
    const bool good = request.headers.get("Authorization") == "Bearer t2";
    return good ? jsonText("welcome") : jsonText("{}", 401);
  });
  Config config = server.config();
  int calls = 0;
  config.tokenSource = [&]() -> Task<IssuedToken> {
    co_return IssuedToken{.token = "t" + std::to_string(++calls)};
  };
  const RestClient rest(config);
  EXPECT_EQ(rest.get().absPath("/x").raw(), "welcome");
  EXPECT_EQ(blockOn(awaited(rest)), "welcome");
  EXPECT_EQ(calls, 2);
}

TEST(TokenSourceTest, MistakesAreErrorsWithoutTheToken) {
  ScriptedServer server(echo);
  Config config = server.config();
  std::string token = "bad\ntoken";
  config.tokenSource = [&]() -> Task<IssuedToken> {
    if (token == "throw") throw std::runtime_error("vault is sealed");
    co_return IssuedToken{.token = token};
  };
  const RestClient rest(config);
  const auto failure = [&] {
    return messageOf<ConfigError>([&] { rest.get().absPath("/x").raw(); });
  };
  EXPECT_THAT(failure(), AllOf(HasSubstr("token source"), ::testing::Not(HasSubstr("bad"))));
  token = "";
  EXPECT_THAT(failure(), HasSubstr("empty token"));
  token = "throw";
  EXPECT_THAT(failure(), HasSubstr("the token source failed: vault is sealed"));
  config.bearerToken = "x";
  EXPECT_THROW(RestClient{config}, ConfigError);
  EXPECT_THROW(RestClient(Config{.host = "http://example.com", .tokenSource = config.tokenSource}),
               ConfigError);
}

TEST(TokenSourceTest, ASlowSourceDelaysNoOtherWorkOfTheLoop) {
  ScriptedServer server(echo);
  Config config = server.config();
  std::atomic<bool> asked = false;
  std::atomic<bool> release = false;
  config.tokenSource = [&]() -> Task<IssuedToken> {
    asked = true;
    asked.notify_all();
    release.wait(false);  // blocks its thread
    co_return IssuedToken{.token = "t"};
  };
  const RestClient slow(config);
  TaskScope scope(slow.connection()->executor());
  std::atomic<bool> done = false;
  const auto program = [&]() -> Task<> {
    co_await awaited(slow);
    done = true;
  };
  scope.start(program());
  asked.wait(false);
  // The loop of the slow client still runs work.
  std::atomic<bool> ran = false;
  slow.connection()->executor().post([&] {
    ran = true;
    ran.notify_all();
  });
  ran.wait(false);
  EXPECT_FALSE(done);
  release = true;
  release.notify_all();
  scope.wait();
  EXPECT_TRUE(done);
}

// --- Connections from a function.

int connectTo(const std::string& address) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port =
      htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  inet_pton(AF_INET, "127.0.0.1", &where.sin_addr);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0) {
    ::close(fd);
    return -1;
  }
  return fd;
}

TEST(DialTest, ConnectionsAreMadeByTheFunction) {
  RawServer server([](RawConnection& connection, int) {
    while (!connection.readHead().empty()) {
      connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
    }
  });
  std::string asked;
  Config config{.host = "http://cluster.invalid:6443", .proxy = "direct"};
  config.dial = [&](const std::string& host, std::uint16_t port, const std::stop_token&) {
    asked = host + ":" + std::to_string(port);
    return connectTo(server.address());
  };
  const RestClient rest(config);
  EXPECT_EQ(rest.get().absPath("/x").raw(), "hi");
  EXPECT_EQ(blockOn(awaited(rest)), "hi");
  EXPECT_EQ(asked, "cluster.invalid:6443");
  EXPECT_EQ(server.accepted(), 1);
}

TEST(DialTest, ItsFailuresAreTransportErrors) {
  Config config{.host = "http://cluster.invalid:6443", .proxy = "direct"};
  bool throws = true;
  config.dial = [&](const std::string&, std::uint16_t, const std::stop_token&) -> int {
    if (throws) throw std::runtime_error("the tunnel is closed");
    return -1;
  };
  const RestClient rest(config);
  const auto failure = [&] {
    return messageOf<TransportError>([&] { rest.post().absPath("/x").raw(); });
  };
  EXPECT_THAT(failure(), HasSubstr("the tunnel is closed"));
  throws = false;
  EXPECT_THAT(failure(), HasSubstr("no open socket"));
}

TEST(DialTest, AFunctionThatHangsEndsAtTheTimeoutAndIsAskedToStop) {
  Config config{.host = "http://cluster.invalid:6443", .proxy = "direct"};
  const auto stopped = std::make_shared<std::atomic<bool>>(false);  // its thread may be the last
  config.dial = [stopped](const std::string&, std::uint16_t, const std::stop_token& stop) -> int {
    std::atomic<bool> asked = false;
    const std::stop_callback onStop(stop, [&] {
      asked = true;
      asked.notify_all();
    });
    asked.wait(false);
    *stopped = true;
    stopped->notify_all();
    return -1;
  };
  config.tweakTransport = [](TransportOptions& options) { options.connectTimeout = 20ms; };
  {
    const RestClient rest(config);
    EXPECT_THAT(messageOf<TransportError>([&] { rest.post().absPath("/x").raw(); }),
                HasSubstr("no connection within 20 ms"));
    stopped->wait(false);
  }
}

}  // namespace
}  // namespace kube
