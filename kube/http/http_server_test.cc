#include "kube/http/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "kube/base/error.h"
#include "kube/base/log.h"
#include "kube/http/internal/server/raw_client_testing.h"
#include "kube/http/transport.h"
#include "kube/testing/test_ca.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

void echo(ServerRequest request, Responder responder) {
  responder.send(
      {.headers = {{"X-Method", request.method}}, .body = request.target + " " + request.body});
}

TEST(HttpServerTest, KeepsAConnectionForFurtherRequests) {
  const HttpServer server({}, echo);
  RawClient client(server);
  for (int i = 0; i < 3; ++i) {
    client.say("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
    EXPECT_THAT(client.hear("hello"),
                AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("X-Method: POST\r\n"),
                      HasSubstr("Content-Length: 8\r\n"), EndsWith("\r\n\r\n/x hello")));
  }
  EXPECT_EQ(server.stats().connectionsAccepted, 1u);
  EXPECT_EQ(server.stats().requests, 3u);
}

TEST(HttpServerTest, AnswersRequestsThatComeTogetherInOrder) {
  const HttpServer server({}, echo);
  RawClient client(server);
  client.say(
      "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\nGET /3 "
      "HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const std::string all = client.hearAll();
  EXPECT_LT(all.find("/1 "), all.find("/2 "));
  EXPECT_LT(all.find("/2 "), all.find("/3 "));
  EXPECT_THAT(all, AllOf(HasSubstr("Connection: close\r\n"), EndsWith("/3 ")));
}

TEST(HttpServerTest, ReadsChunkedBodiesAndSaysWhenToContinue) {
  const HttpServer server({}, echo);
  RawClient client(server);
  client.say(
      "PUT /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.hear("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.say("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  EXPECT_THAT(client.hear("abcde"), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST(HttpServerTest, TheEndOfAChunkedBodyMayComeInPieces) {
  const HttpServer server({}, echo);
  RawClient client(server);
  // The request for more shows that the server has read the end of the chunks.
  client.say(
      "PUT /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"
      "0\r\n");
  EXPECT_EQ(client.hear("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.say("\r").say("\n");
  EXPECT_THAT(client.hear("/x "), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST(HttpServerTest, AHeadIsAnsweredWithoutABody) {
  const HttpServer server({}, echo);
  RawClient client(server);
  client.say("HEAD /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(client.hearAll(), AllOf(HasSubstr("Content-Length: 3\r\n"), EndsWith("\r\n\r\n")));
}

TEST(HttpServerTest, OldClientsGetNoChunks) {
  const HttpServer server({}, [](ServerRequest, Responder responder) {
    const ResponseStream stream = responder.stream(200, {});
    stream.tryWrite("a");
    stream.tryWrite("b");
  });
  EXPECT_THAT(RawClient(server).say("GET / HTTP/1.0\r\n\r\n").hearAll(), EndsWith("\r\n\r\nab"));
  EXPECT_THAT(RawClient(server).say("GET / HTTP/1.1\r\nHost: a\r\n\r\n").hear("0\r\n\r\n"),
              AllOf(HasSubstr("Transfer-Encoding: chunked\r\n"), HasSubstr("b"),
                    EndsWith("\r\n0\r\n\r\n")));
}

TEST(HttpServerTest, BadRequestsAreRefused) {
  const HttpServer server({.maxHeaderBytes = 1000, .maxBodyBytes = 1000}, echo);
  EXPECT_THAT(RawClient(server).say("nonsense\r\n\r\n").hearAll(), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(RawClient(server)
                  .say("GET / HTTP/1.1\r\nX: " + std::string(2000, 'x') + "\r\n\r\n")
                  .hearAll(),
              StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(RawClient(server).say("PUT / HTTP/1.1\r\nContent-Length: 1001\r\n\r\n").hearAll(),
              StartsWith("HTTP/1.1 413 "));
  EXPECT_EQ(server.stats().requests, 0u);
}

TEST(HttpServerTest, AHandlerThatThrowsOrSaysNothingIsA500) {
  setLogLevel(LogLevel::Off);
  const HttpServer server({}, [](ServerRequest request, Responder responder) {
    if (request.target == "/throw") throw Error("oh no");
    if (request.target == "/odd") throw 1;
    (void)responder;
  });
  const Transport transport({.proxy = "direct"});
  for (const char* path : {"/throw", "/odd", "/silent"}) {
    EXPECT_EQ(transport.send({.url = server.url() + path}).status, 500) << path;
  }
  setLogLevel(LogLevel::Warning);
}

TEST(HttpServerTest, AnAnswerMayComeLaterFromAnotherThreadAndOnlyOnce) {
  std::promise<Responder> asked;
  const HttpServer server({},
                          [&](ServerRequest, Responder responder) { asked.set_value(responder); });
  auto call =
      std::async(std::launch::async, [&] { return Transport().send({.url = server.url()}); });
  const Responder responder = asked.get_future().get();
  responder.send({.body = "first"});
  responder.send({.body = "second"});
  EXPECT_TRUE(responder.stream(200, {}).closed());
  EXPECT_EQ(call.get().body, "first");
}

TEST(HttpServerTest, AnUpgradedConnectionIsTheHandlers) {
  const HttpServer server({}, [](ServerRequest request, Responder responder) {
    ASSERT_EQ(request.headers.get("upgrade"), "shout");
    responder.upgrade({{"Upgrade", "shout"}}, [](RawStream stream) {
      stream.read([stream](std::string_view bytes) {
        if (bytes.empty()) return;
        std::string text(bytes);
        for (char& c : text) c = static_cast<char>(toupper(c));
        stream.write(text);
        if (text.ends_with("BYE")) stream.close();
      });
    });
  });
  RawClient client(server);
  client.say("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: shout\r\n\r\nearly");
  EXPECT_THAT(client.hear("\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 101 "), HasSubstr("Upgrade: shout\r\n")));
  EXPECT_EQ(client.hear("EARLY"), "EARLY");
  client.say("hello");
  EXPECT_EQ(client.hear("HELLO"), "HELLO");
  client.say("bye");
  EXPECT_EQ(client.hearAll(), "BYE");
}

TEST(HttpServerTest, AnOccupiedPortIsAConfigError) {
  const HttpServer server({}, echo);
  EXPECT_THROW(HttpServer({.port = server.port()}, echo), ConfigError);
  EXPECT_THROW(HttpServer({.address = "nonsense"}, echo), ConfigError);
  EXPECT_THROW(HttpServer({.tls = ServerTls{{"no", "pem"}}}, echo), ConfigError);
}

// --- Both versions of HTTP.

class ServerVersionTest : public ::testing::TestWithParam<int> {
 protected:
  HttpServerOptions options() const {
    return {.tls = ServerTls{ca_.server({"127.0.0.1"}), ca_.certPem()}};
  }
  Transport client() const {
    return Transport({.tls = {.caData = ca_.certPem()}, .disableHttp2 = GetParam() == 1});
  }

  const TestCa ca_;
};

INSTANTIATE_TEST_SUITE_P(Http, ServerVersionTest, ::testing::Values(1, 2),
                         [](const auto& info) { return "Version" + std::to_string(info.param); });

TEST_P(ServerVersionTest, ChunksGoOutAsTheyAreWritten) {
  std::promise<ResponseStream> begun;
  const HttpServer server(options(), [&](ServerRequest, Responder responder) {
    begun.set_value(responder.stream(200, {{"Content-Type", "text/plain"}}));
  });
  const Transport transport = client();
  HttpStream stream = transport.open({.url = server.url()});
  const ResponseStream writer = begun.get_future().get();
  for (const std::string text : {"one", "two"}) {
    EXPECT_TRUE(writer.write(text));
    EXPECT_EQ(stream.read(), text);
  }
  writer.close();
  EXPECT_FALSE(writer.write("three"));
  EXPECT_TRUE(writer.closed());
  EXPECT_EQ(stream.read(), std::nullopt);
}

TEST_P(ServerVersionTest, AWriterIsHeldBackByItsReader) {
  std::promise<ResponseStream> begun;
  HttpServerOptions small = options();
  small.maxQueuedBytes = 100'000;
  const HttpServer server(std::move(small), [&](ServerRequest, Responder responder) {
    begun.set_value(responder.stream(200, {}));
  });
  const Transport transport = client();
  HttpStream stream = transport.open({.url = server.url()});
  const ResponseStream writer = begun.get_future().get();
  // The client does not read, so the queue gets full.
  const String piece(std::string(50'000, 'x'));
  std::size_t queued = 0;
  while (queued < 100'000'000 && writer.tryWrite(piece)) queued += piece.size();
  EXPECT_LT(queued, 100'000'000u);
  // A waiting writer continues when the client reads, or when a stop is requested.
  std::stop_source stop;
  stop.request_stop();
  while (writer.tryWrite(piece)) queued += piece.size();
  auto writing = std::async(std::launch::async, [&] {
    while (queued < 20'000'000 && writer.write(piece)) queued += piece.size();
    writer.close();
  });
  std::size_t read = 0;
  while (const auto chunk = stream.read()) read += chunk->size();
  writing.get();
  EXPECT_EQ(read, queued);
}

TEST_P(ServerVersionTest, AWaitingWriterIsFreedWhenTheClientGoes) {
  std::promise<ResponseStream> begun;
  const HttpServer server(options(), [&](ServerRequest, Responder responder) {
    begun.set_value(responder.stream(200, {}));
  });
  const Transport transport = client();
  std::optional<HttpStream> stream = transport.open({.url = server.url()});
  const ResponseStream writer = begun.get_future().get();
  std::promise<void> told;
  writer.onClosed([&] { told.set_value(); });
  auto writing = std::async(std::launch::async, [&] {
    const String piece(std::string(50'000, 'x'));
    while (writer.write(piece)) {
    }
  });
  stream.reset();
  writing.get();
  told.get_future().get();
  EXPECT_TRUE(writer.closed());
  bool late = false;
  writer.onClosed([&] { late = true; });
  EXPECT_TRUE(late);
}

// A source that offers pieces of all kinds in turn. When it has to wait, another thread wakes it.
TEST_P(ServerVersionTest, ASourceIsAskedForMoreUntilItsEnd) {
  for (const int threads : {1, 2}) {
    std::vector<std::future<void>> wakers;  // changed by the source; read when it has ended
    std::promise<BodyHandle> handle;
    const std::shared_future<BodyHandle> begun = handle.get_future().share();
    int count = 0;
    std::string expected;
    HttpServerOptions some = options();
    some.threads = threads;
    const HttpServer server(some, [&](ServerRequest, Responder responder) {
      handle.set_value(responder.stream(200, {}, [&](std::string& out) {
        constexpr int kPieces = 400;
        constexpr BodyState kStates[] = {BodyState::Ahead, BodyState::Ahead, BodyState::More,
                                         BodyState::Wait, BodyState::Ahead};
        const int i = count++;
        if (i % 7 != 6)
          out = std::string(static_cast<std::size_t>(1 + i * 97 % 20'000), 'a' + i % 26);
        expected += out;
        if (i == kPieces) return BodyState::End;
        if (i % 7 == 6 || kStates[i % 5] == BodyState::Wait) {
          wakers.push_back(std::async(std::launch::async, [begun] { begun.get().wake(); }));
          return BodyState::Wait;
        }
        return kStates[i % 5];
      }));
    });
    const Transport transport = client();
    EXPECT_EQ(transport.send({.url = server.url()}).body, expected) << threads << " threads";
    EXPECT_GT(expected.size(), 1'000'000u);
  }
}

TEST_P(ServerVersionTest, ASourceThatIsMakingWhenTheClientGoesIsDroppedAfterThat) {
  const auto held = std::make_shared<int>();
  std::promise<void> making, release;
  HttpServerOptions two = options();
  two.threads = 2;
  const HttpServer server(two, [&](ServerRequest, Responder responder) {
    responder.stream(200, {}, [&, held, asked = false](std::string& out) mutable {
      out = "piece";
      if (std::exchange(asked, true)) {
        making.set_value();
        release.get_future().get();
      }
      return BodyState::Ahead;
    });
  });
  {
    const Transport transport = client();
    HttpStream stream = transport.open({.url = server.url()});
    EXPECT_EQ(stream.read(), "piece");
    making.get_future().get();
  }
  while (server.stats().connectionsOpen != 0) std::this_thread::yield();
  EXPECT_GT(held.use_count(), 1);
  release.set_value();
  while (held.use_count() > 1) std::this_thread::yield();  // the test's time limit is the deadline
}

TEST_P(ServerVersionTest, ASourceThatThrowsAheadBreaksTheBodyOff) {
  HttpServerOptions two = options();
  two.threads = 2;
  const HttpServer server(two, [&](ServerRequest, Responder responder) {
    responder.stream(200, {}, [asked = 0](std::string& out) mutable {
      if (++asked == 3) throw Error("no more of it");
      out = "piece";
      return BodyState::Ahead;
    });
  });
  setLogSink([](const LogRecord&) {});
  const Transport transport = client();
  EXPECT_THROW(transport.send({.url = server.url()}), TransportError);
  setLogSink({});
}

TEST_P(ServerVersionTest, AStoppedWriterGivesUp) {
  std::promise<ResponseStream> begun;
  const HttpServer server(options(), [&](ServerRequest, Responder responder) {
    begun.set_value(responder.stream(200, {}));
  });
  const Transport transport = client();
  const HttpStream stream = transport.open({.url = server.url()});
  const ResponseStream writer = begun.get_future().get();
  std::stop_source stop;
  auto writing = std::async(std::launch::async, [&] {
    const String piece(std::string(50'000, 'x'));
    while (writer.write(piece, stop.get_token())) {
    }
  });
  stop.request_stop();
  writing.get();
  EXPECT_FALSE(writer.closed());
}

TEST_P(ServerVersionTest, StoppingTheServerClosesItsStreams) {
  std::mutex mutex;
  std::vector<ResponseStream> writers;
  std::atomic<int> closed = 0;
  HttpServer server(options(), [&](ServerRequest, Responder responder) {
    const ResponseStream writer = responder.stream(200, {});
    writer.onClosed([&] { ++closed; });
    std::lock_guard lock(mutex);
    writers.push_back(writer);
  });
  const Transport transport = client();
  std::vector<HttpStream> streams;
  for (int i = 0; i < 5; ++i) streams.push_back(transport.open({.url = server.url()}));
  server.stop();
  EXPECT_EQ(closed, 5);
  EXPECT_EQ(server.stats().connectionsOpen, 0u);
  for (HttpStream& stream : streams) EXPECT_THROW(stream.read(), TransportError);
  for (const ResponseStream& writer : writers) EXPECT_FALSE(writer.write("x"));
  EXPECT_THROW(transport.send({.url = server.url()}), TransportError);
  server.stop();
}

TEST_P(ServerVersionTest, LimitsHold) {
  HttpServerOptions small = options();
  small.maxBodyBytes = 1000;
  small.maxHeaderBytes = 10'000;
  const HttpServer server(std::move(small), echo);
  const Transport transport = client();
  EXPECT_EQ(
      transport.send({.method = "PUT", .url = server.url(), .body = std::string(1000, 'x')}).status,
      200);
  EXPECT_EQ(
      transport.send({.method = "PUT", .url = server.url(), .body = std::string(1001, 'x')}).status,
      413);
  EXPECT_EQ(
      transport.send({.url = server.url(), .headers = {{"X", std::string(11'000, 'x')}}}).status,
      431);
}

TEST_P(ServerVersionTest, KnowsItsClients) {
  const HttpServer server(options(), [](ServerRequest request, Responder responder) {
    responder.send({.body = request.peer
                                ? request.peer->commonName + "/" + request.peer->organizations.at(0)
                                : "nobody"});
  });
  const KeyPair pair = ca_.client("jane", {"admins"});
  const Transport known(
      {.tls = {.caData = ca_.certPem(), .certData = pair.certPem, .keyData = pair.keyPem},
       .disableHttp2 = GetParam() == 1});
  EXPECT_EQ(known.send({.url = server.url()}).body, "jane/admins");
  EXPECT_EQ(client().send({.url = server.url()}).body, "nobody");
  // A certificate of another authority is refused.
  const KeyPair forged = TestCa("evil").client("jane", {"admins"});
  const Transport stranger(
      {.tls = {.caData = ca_.certPem(), .certData = forged.certPem, .keyData = forged.keyPem},
       .disableHttp2 = GetParam() == 1});
  EXPECT_THROW(stranger.send({.url = server.url()}), TransportError);
}

TEST_P(ServerVersionTest, AskedToDrainItTurnsClientsAway) {
  HttpServer server(options(), echo);
  const Transport transport = client();
  transport.send({.url = server.url()});
  server.drain();
  while (transport.stats().connectionsMade == 1)
    EXPECT_EQ(transport.send({.url = server.url()}).status, 200);
}

TEST(HttpServerTest, WithoutHttp2ItSpeaksTheOlderOne) {
  const TestCa ca;
  const HttpServer server({.tls = ServerTls{ca.server({"127.0.0.1"})}, .http2 = false}, echo);
  EXPECT_EQ(Transport({.tls = {.caData = ca.certPem()}}).send({.url = server.url()}).httpVersion,
            1);
}

}  // namespace
}  // namespace kube
