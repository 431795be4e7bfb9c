// Attacks by clients, which must not take memory, descriptors or time without bounds.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "kube/base/log.h"
#include "kube/http/http_server.h"
#include "kube/http/internal/server/raw_client_testing.h"
#include "kube/http/transport.h"
#include "kube/testing/test_ca.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view kGet = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";
constexpr std::string_view kChunked =
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
constexpr std::size_t kPlenty = 32 << 20;

void sayOk(ServerRequest, Responder responder) { responder.send({.body = "ok"}); }

std::string askOnce(const HttpServer& server, int from = 1) {
  return RawClient(server, from)
      .say("GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      .hearAll();
}

std::string postOf(std::size_t length) {
  return "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(length) + "\r\n\r\n";
}

// --- Requests without an end.

struct EndlessInput {
  const char* name;
  std::string_view begin;
  std::string again;
  const char* answer;
};

class EndlessRequestTest : public ::testing::TestWithParam<EndlessInput> {};

INSTANTIATE_TEST_SUITE_P(
    Http, EndlessRequestTest,
    ::testing::Values(
        EndlessInput{"Target", "GET /", std::string(4000, 'x'), "431"},
        EndlessInput{"HeaderLine", "GET / HTTP/1.1\r\nX: ", std::string(4000, 'x'), "431"},
        EndlessInput{"Headers", "GET / HTTP/1.1\r\n", "A: b\r\n", "431"},
        EndlessInput{"ChunkExtension", kChunked, "5;" + std::string(4000, 'x'), "431"},
        EndlessInput{"ChunkExtensions", kChunked, "1;a=" + std::string(500, 'x') + "\r\ny\r\n",
                     "431"},
        EndlessInput{"LastChunksExtension", kChunked, "0;" + std::string(4000, 'x'), "431"},
        EndlessInput{"Trailer", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: ",
                     std::string(4000, 'x'), "431"},
        EndlessInput{"Trailers", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
                     "A: b\r\n", "431"},
        EndlessInput{"Body", kChunked, "400\r\n" + std::string(1024, 'x') + "\r\n", "413"}),
    [](const auto& info) { return info.param.name; });

TEST_P(EndlessRequestTest, IsRefusedAndClosed) {
  const HttpServer server({.maxHeaderBytes = 10'000, .maxBodyBytes = 100'000}, sayOk);
  const EndlessInput& endless = GetParam();
  RawClient client(server);
  client.say(endless.begin);
  EXPECT_LT(client.repeat(endless.again, kPlenty), kPlenty);
  EXPECT_THAT(client.hearAll(),
              AnyOf(StartsWith(std::string("HTTP/1.1 ") + endless.answer), IsEmpty()));
  EXPECT_EQ(server.stats().requests, 0u);
}

// Beast does not apply its limit to a header that arrives in one piece.
TEST(HttpServerLimitsTest, HeadersThatComeOneByOneAreCountedTogether) {
  const HttpServer server({.maxHeaderBytes = 1000}, sayOk);
  RawClient client(server);
  int one = 1;
  setsockopt(client.fd(), IPPROTO_TCP, 1 /*TCP_NODELAY*/, &one, sizeof one);
  client.say("GET / HTTP/1.1\r\n");
  for (int i = 0; i < 100; ++i) {
    client.say("Name: value\r\n");
    std::this_thread::yield();
  }
  EXPECT_THAT(client.say("\r\n").hearAll(), StartsWith("HTTP/1.1 431 "));
}

TEST(HttpServerLimitsTest, TheClientHearsWhyItsLongBodyIsRefused) {
  const HttpServer server({.maxBodyBytes = 1000}, sayOk);
  RawClient client(server);
  client.say(postOf(10'000'000));
  client.repeat(std::string(100'000, 'x'), 1'000'000);
  EXPECT_THAT(client.hearAll(), StartsWith("HTTP/1.1 413 "));
}

TEST(HttpServerLimitsTest, TrailersAreNoHeaders) {
  const HttpServer server({}, [](ServerRequest request, Responder responder) {
    responder.send(
        {.body = std::string(request.headers.get("Authorization")) + "|" + request.body});
  });
  RawClient client(server);
  client.say(kChunked).say("2;a=b\r\nhi\r\n0;c=d\r\nAuthorization: Bearer x\r\n\r\n");
  EXPECT_THAT(client.hear("|hi"), HasSubstr("\r\n\r\n|hi"));
  EXPECT_THAT(client.say(kGet).hear("|"), StartsWith("HTTP/1.1 200 "));
}

TEST(HttpServerLimitsTest, UnknownTransferEncodingsAreRefused) {
  const HttpServer server({}, sayOk);
  for (const std::string encoding : {"xchunked", "chunked, chunked", "gzip, chunked", "gzip",
                                     "identity", "chunked;q=1", "chunked,", ""}) {
    const std::string heard =
        RawClient(server)
            .say("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: " + encoding +
                 "\r\n\r\nGET /next HTTP/1.1\r\nHost: a\r\n\r\n")
            .hearAll();
    EXPECT_THAT(heard, AnyOf(StartsWith("HTTP/1.1 501 "), StartsWith("HTTP/1.1 400 "))) << encoding;
    EXPECT_EQ(heard.find("HTTP/1.1", 1), std::string::npos) << encoding;
  }
  EXPECT_THAT(RawClient(server)
                  .say("POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: "
                       "chunked\r\n\r\n0\r\n\r\n")
                  .hearAll(),
              StartsWith("HTTP/1.1 501 "));
  EXPECT_THAT(RawClient(server)
                  .say("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
                  .hearAll(),
              StartsWith("HTTP/1.1 501 "));
  EXPECT_EQ(server.stats().requests, 0u);
}

// --- Time.

TEST(HttpServerLimitsTest, WhatTakesTooLongIsClosed) {
  const HttpServer server({.headTime = 50ms, .bodyTime = 50ms, .idleTime = 50ms}, sayOk);
  const std::string half = postOf(100) + "half of it";
  RawClient silent(server), head(server), first(server), body(server), later(server);
  head.say("GET / HT");
  first.say("GET / HTTP/1.1\r\nX: y\r\n");
  body.say(half);
  later.say(kGet).hear("ok");
  EXPECT_EQ(silent.hearAll(), "");
  EXPECT_THAT(head.hearAll(), StartsWith("HTTP/1.1 408 "));
  EXPECT_THAT(first.hearAll(), StartsWith("HTTP/1.1 408 "));
  EXPECT_THAT(body.hearAll(), StartsWith("HTTP/1.1 408 "));
  EXPECT_EQ(later.hearAll(), "") << "no client waits for an answer";
  EXPECT_EQ(server.stats().connectionsTimedOut, 5u);
}

TEST(HttpServerLimitsTest, AHeadThatComesByteByByteHasNoMoreTimeForThat) {
  const HttpServer server({.headTime = 100ms}, sayOk);
  RawClient client(server);
  client.say("GET / HTTP/1.1\r\nX: ");
  pollfd closed{.fd = client.fd(), .events = POLLIN, .revents = 0};
  while (poll(&closed, 1, 1) == 0) client.say("x");  // the test's time limit is the deadline
  EXPECT_THAT(client.hearAll(), StartsWith("HTTP/1.1 408 "));
}

TEST(HttpServerLimitsTest, AHandshakeThatDoesNotComeIsNotWaitedFor) {
  const TestCa ca;
  const HttpServer server({.tls = ServerTls{ca.server({"127.0.0.1"})}, .handshakeTime = 50ms},
                          sayOk);
  EXPECT_EQ(RawClient(server).hearAll(), "");
  EXPECT_EQ(RawClient(server).say("\x16\x03\x01").hearAll(), "");
}

TEST(HttpServerLimitsTest, AnAnswerThatIsNotTakenIsGivenUp) {
  const HttpServer server({.sendTime = 50ms}, [](ServerRequest, Responder responder) {
    responder.send({.body = std::string(kPlenty, 'x')});
  });
  RawClient client(server);
  client.say(kGet);
  while (server.stats().connectionsTimedOut == 0) std::this_thread::yield();
  EXPECT_LT(client.hearAll().size(), kPlenty);
}

TEST(HttpServerLimitsTest, AStreamHasAllTheTimeItWants) {
  std::promise<ResponseStream> begun;
  const HttpServer server(
      {.headTime = 20ms, .bodyTime = 20ms, .idleTime = 20ms, .sendTime = 20ms},
      [&](ServerRequest, Responder responder) { begun.set_value(responder.stream(200, {})); });
  RawClient client(server);
  client.say(kGet).hear("\r\n\r\n");
  const ResponseStream stream = begun.get_future().get();
  RawClient(server).hearAll();  // lasts longer than the limit
  RawClient(server).hearAll();
  EXPECT_TRUE(stream.write("still here"));
  EXPECT_THAT(client.hear("here"), HasSubstr("still here"));
}

// --- Connections.

TEST(HttpServerLimitsTest, ANewConnectionTakesThePlaceOfOneThatIsNeededLess) {
  std::mutex mutex;
  std::vector<ResponseStream> streams;
  const HttpServer server({.maxConnections = 4}, [&](ServerRequest request, Responder responder) {
    if (request.target == "/healthz") return responder.send({.body = "ok"});
    const std::lock_guard lock(mutex);
    streams.push_back(responder.stream(200, {}));
  });
  RawClient stream(server), idle(server), silent(server);
  stream.say("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n").hear("\r\n\r\n");
  idle.say(kGet).hear("ok");
  RawClient half(server);
  half.say("GET /");
  std::vector<RawClient> many;
  for (int i = 0; i < 50; ++i) {
    many.emplace_back(server);
    if (i % 10 == 0) {
      EXPECT_THAT(askOnce(server), HasSubstr("ok"));
    }
  }
  EXPECT_THAT(askOnce(server), HasSubstr("ok"));
  for (RawClient* gone : {&idle, &silent}) EXPECT_EQ(gone->hearAll(), "");
  EXPECT_LE(server.stats().connectionsOpen, 5u);
  EXPECT_GE(server.stats().connectionsCrowdedOut, 48u);
  const std::lock_guard lock(mutex);
  EXPECT_TRUE(streams.at(0).tryWrite("still here"));
  EXPECT_THAT(stream.hear("here"), HasSubstr("still here"));
}

TEST(HttpServerLimitsTest, TheOneWithTheMostConnectionsLosesThem) {
  const HttpServer server({.maxConnections = 8}, sayOk);
  RawClient other(server, 2);
  std::vector<RawClient> many;
  for (int i = 0; i < 50; ++i) {
    many.emplace_back(server);
    many.back().say(kGet);
  }
  EXPECT_THAT(askOnce(server, 3), HasSubstr("ok"));
  EXPECT_THAT(other.say(kGet).hear("ok"), HasSubstr("ok")) << "it is the oldest, and has not asked";
}

TEST(HttpServerLimitsTest, AnswersThatAreNotTakenMakeRoomToo) {
  const HttpServer server({.maxConnections = 4}, [](ServerRequest request, Responder responder) {
    responder.send({.body = request.target == "/healthz" ? "ok" : std::string(kPlenty, 'x')});
  });
  std::vector<RawClient> many;
  for (int i = 0; i < 8; ++i) {
    many.emplace_back(server);
    many.back().say("GET /long HTTP/1.1\r\nHost: a\r\n\r\n").hear("HTTP/1.1 200 ");
    EXPECT_THAT(askOnce(server), HasSubstr("ok"));
  }
}

TEST(HttpServerLimitsTest, WhereAllAreStreamsNobodyIsLetInAnyMore) {
  std::mutex mutex;
  std::vector<ResponseStream> streams;
  const HttpServer server({.maxConnections = 2}, [&](ServerRequest, Responder responder) {
    const std::lock_guard lock(mutex);
    streams.push_back(responder.stream(200, {}));
  });
  RawClient a(server), b(server);
  for (RawClient* client : {&a, &b}) client->say(kGet).hear("\r\n\r\n");
  EXPECT_EQ(askOnce(server), "");
  {
    const std::lock_guard lock(mutex);
    for (const ResponseStream& stream : streams) EXPECT_TRUE(stream.tryWrite("x"));
    streams.clear();
  }
  a.hear("0\r\n\r\n");
  EXPECT_THAT(RawClient(server).say(kGet).hear("\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
}

std::set<int> openDescriptors() {
  std::set<int> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    found.insert(std::stoi(entry.path().filename().string()));
  }
  return found;
}

// A process with no descriptors left.
class NoDescriptors {
 public:
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit low = before_;
    low.rlim_cur = static_cast<rlim_t>(*openDescriptors().rbegin()) + 1;
    setrlimit(RLIMIT_NOFILE, &low);
    for (int fd = 0; (fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) taken_.push_back(fd);
  }
  ~NoDescriptors() {
    setrlimit(RLIMIT_NOFILE, &before_);
    for (const int fd : taken_) close(fd);
  }

 private:
  rlimit before_{};
  std::vector<int> taken_;
};

TEST(HttpServerLimitsTest, WithoutDescriptorsItTriesAgainAfterAMoment) {
  std::mutex mutex;
  std::condition_variable said;
  std::vector<std::chrono::steady_clock::time_point> warnings;
  setLogSink([&](const LogRecord& record) {
    if (record.message.find("connections cannot be accepted") == std::string::npos) return;
    const std::lock_guard lock(mutex);
    warnings.push_back(std::chrono::steady_clock::now());
    said.notify_all();
  });
  {
    const HttpServer server({}, sayOk);
    std::vector<RawClient> idle;
    for (int i = 0; i < 3; ++i) {
      idle.emplace_back(server);
      idle.back().say(kGet).hear("ok");
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(server.port());
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    {
      const NoDescriptors none;
      ASSERT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
      // The server closes an idle connection to free its descriptor.
      send(fd, kGet.data(), kGet.size(), MSG_NOSIGNAL);
      char answer[64];
      EXPECT_GT(recv(fd, answer, sizeof answer, 0), 0);
    }
    close(fd);
    std::unique_lock lock(mutex);
    EXPECT_GE(warnings.size(), 1u);
    EXPECT_LE(warnings.size(), 2u) << "it does not turn on the spot";
  }
  setLogSink({});
}

// --- Memory of all together.

TEST(HttpServerLimitsTest, UnfinishedRequestsOfAllTogetherAreBounded) {
  const HttpServer server({.maxUnfinishedBytes = 1 << 20}, sayOk);
  std::vector<RawClient> many;
  for (int i = 0; i < 40; ++i) {
    many.emplace_back(server);
    many.back().say(postOf(1 << 20)).say(std::string(60 << 10, 'x'));
  }
  constexpr std::size_t kLeast = 20;
  std::set<RawClient*> refused;  // the test's time limit is the deadline
  for (std::size_t i = 0; refused.size() < kLeast; i = (i + 1) % many.size()) {
    pollfd answered{.fd = many[i].fd(), .events = POLLIN, .revents = 0};
    if (refused.contains(&many[i]) || poll(&answered, 1, 1) == 0) continue;
    EXPECT_THAT(many[i].hearAll(),
                AllOf(StartsWith("HTTP/1.1 503 "), HasSubstr("Retry-After: 1\r\n")));
    refused.insert(&many[i]);
  }
  EXPECT_THAT(askOnce(server), HasSubstr("ok")) << "what is small finds room";
  many.clear();
  while (server.stats().connectionsOpen != 0) std::this_thread::yield();
  EXPECT_THAT(RawClient(server).say(postOf(500'000)).say(std::string(500'000, 'x')).hear("ok"),
              HasSubstr("ok"));
}

TEST(HttpServerLimitsTest, NoMoreRequestsAreReadWhileAnswersAreNotTaken) {
  const HttpServer server({}, [](ServerRequest, Responder responder) {
    responder.send({.body = std::string(10'000, 'x')});
  });
  const RawClient client(server);
  const std::size_t said = client.repeat(kGet, kPlenty);
  EXPECT_LT(said, kPlenty);
  // No more requests than fit into the buffers of the two sockets.
  EXPECT_LT(server.stats().requests, 3000u);
}

TEST(HttpServerLimitsTest, AnswersThatAreNotTakenAreBoundedTogether) {
  constexpr std::size_t kBody = 8 << 20;
  const HttpServer server({.maxUnsentBytes = 20 << 20},
                          [](ServerRequest request, Responder responder) {
                            const bool probe = request.target == "/healthz";
                            responder.send({.body = probe ? "ok" : std::string(kBody, 'x')});
                          });
  std::vector<RawClient> many;
  for (int i = 0; i < 10; ++i) {
    many.emplace_back(server);
    many.back()
        .say("GET /long HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        .hear("HTTP/1.1 200 ");
  }
  while (server.stats().connectionsCrowdedOut < 7) std::this_thread::yield();
  EXPECT_THAT(askOnce(server), HasSubstr("ok"));
  EXPECT_GT(many.back().hearAll().size(), kBody - 1000) << "the latest is spared";
}

// --- Clients that may send large requests.

class ServerScreenTest : public ::testing::TestWithParam<int> {
 protected:
  const TestCa ca_;
};

INSTANTIATE_TEST_SUITE_P(Http, ServerScreenTest, ::testing::Values(1, 2),
                         [](const auto& info) { return "Version" + std::to_string(info.param); });

TEST_P(ServerScreenTest, LooksAtRequestsBeforeTheirLongBodies) {
  std::atomic<int> screened = 0;
  const HttpServer server(
      {.tls = ServerTls{ca_.server({"127.0.0.1"})},
       .screen = [&](const ServerRequest& head) -> std::optional<ServerResponse> {
         ++screened;
         EXPECT_EQ(head.target, "/");
         if (head.headers.get("Authorization") == "Bearer good") return std::nullopt;
         return ServerResponse{.status = 401, .body = "who is it?"};
       }},
      [](ServerRequest request, Responder responder) {
        responder.send({.body = std::to_string(request.body.size())});
      });
  const Transport transport({.tls = {.caData = ca_.certPem()}, .disableHttp2 = GetParam() == 1});
  const auto post = [&](std::size_t bytes, std::string token) {
    return transport.send({.method = "POST",
                           .url = server.url(),
                           .headers = {{"Authorization", "Bearer " + std::move(token)}},
                           .body = std::string(bytes, 'x')});
  };
  EXPECT_EQ(post(1000, "bad").body, "1000") << "that may be looked at as a whole";
  EXPECT_EQ(screened, 0);
  EXPECT_EQ(post(1'000'000, "good").body, "1000000");
  const HttpResponse refused = post(1'000'000, "bad");
  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(refused.body, "who is it?");
  EXPECT_EQ(screened, 2);
  EXPECT_EQ(server.stats().requests, 2u);
}

// --- Descriptors.

TEST(HttpServerLimitsTest, ProgramsThatAreStartedInheritNoDescriptor) {
  const std::set<int> before = openDescriptors();
  const TestCa ca;
  const HttpServer plain({}, sayOk), secure({.tls = ServerTls{ca.server({"127.0.0.1"})}}, sayOk);
  const Transport transport({.tls = {.caData = ca.certPem()}});
  EXPECT_EQ(transport.send({.url = plain.url()}).body, "ok");
  EXPECT_EQ(transport.send({.url = secure.url()}).body, "ok");
  int checked = 0;
  for (const int fd : openDescriptors()) {
    const int flags = fcntl(fd, F_GETFD);
    if (before.contains(fd) || flags < 0) continue;  // the latter: opened for the listing itself
    EXPECT_NE(flags & FD_CLOEXEC, 0)
        << std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd));
    ++checked;
  }
  EXPECT_GE(checked, 6) << "two that listen, two connections, at both ends";
}

}  // namespace
}  // namespace kube
