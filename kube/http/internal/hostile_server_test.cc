// Hostile servers: the memory and time that they can cost is bounded, and a request that would fail
// again is not repeated.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "kube/base/error.h"
#include "kube/http/internal/gzip_testing.h"
#include "kube/http/internal/http1_answer.h"
#include "kube/http/internal/raw_server_testing.h"
#include "kube/http/internal/server/raw_http2_testing.h"
#include "kube/http/internal/transport_ca_testing.h"
#include "kube/http/transport.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::size_t kMaxHeader = 100'000;

// Returns the TransportError that a call throws, if any.
std::optional<TransportError> caughtFrom(const Transport& transport, HttpRequest request) {
  try {
    transport.send(std::move(request));
  } catch (const TransportError& error) {
    return error;
  }
  return std::nullopt;
}

// A server that sends `begin` and then `more`, until the client gives up or a limit is reached.
struct Endless {
  std::string begin, more;
};

TEST(HostileServerTest, WhatAnAnswerHasBesidesItsBodyIsLimited) {
  const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string filler(10'000, 'x');
  const Endless cases[] = {{chunked + "5;a=", filler},
                           {chunked + "5\r\nhello\r\n0\r\n", "X-Trailer: " + filler + "\r\n"},
                           {chunked + "5\r\nhello\r\n0\r\nX-Trailer: ", filler}};
  for (const Endless& endless : cases) {
    constexpr std::size_t kTooMuch = 64 << 20;
    std::promise<std::size_t> written;
    RawServer server([&](RawConnection& connection, int) {
      connection.readHead();
      std::size_t size = 0;
      for (bool more = connection.write(endless.begin); more && size < kTooMuch;) {
        more = connection.write(endless.more);
        size += endless.more.size();
      }
      written.set_value(size);
    });
    const Transport transport({.maxHeaderBytes = kMaxHeader});
    const auto failure = caughtFrom(transport, {.url = server.url(), .timeout = 60s});
    ASSERT_TRUE(failure) << endless.begin;
    EXPECT_THAT(failure->what(), HasSubstr("longer than 100000 bytes"));
    EXPECT_TRUE(failure->permanent());
    EXPECT_LT(written.get_future().get(), kTooMuch);
  }
}

TEST(HostileServerTest, ExtensionsAndTrailersOfModestSizeArePassedOver) {
  const std::string filler(90'000, 'x');
  RawServer server([&](RawConnection& connection, int) {
    connection.readHead();
    connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 3; ++i) connection.write("5;a=" + filler + "\r\nhello\r\n");
    connection.write("0\r\nX-Trailer: " + filler + "\r\n\r\n");
  });
  const HttpResponse answer = Transport({.maxHeaderBytes = kMaxHeader}).send({.url = server.url()});
  EXPECT_EQ(answer.body, "hellohellohello");
  EXPECT_FALSE(answer.headers.has("X-Trailer"));
}

TEST(HostileServerTest, InformationalAnswersHaveAnEnd) {
  RawServer server([](RawConnection& connection, int) {
    connection.readHead();
    for (int i = 0; i < 1'000'000; ++i) {
      if (!connection.write("HTTP/1.1 103 Early Hints\r\n\r\n")) return;
    }
  });
  const auto failure = caughtFrom(Transport(), {.url = server.url()});
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->what(), HasSubstr("more than 100 informational answers"));
  EXPECT_TRUE(failure->permanent());

  RawServer modest([](RawConnection& connection, int) {
    connection.readHead();
    for (int i = 0; i < detail::Http1Answer::kMaxInformational; ++i) {
      connection.write("HTTP/1.1 103 Early Hints\r\n\r\n");
    }
    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  });
  EXPECT_EQ(Transport().send({.url = modest.url()}).status, 200);
}

TEST(HostileServerTest, WhatWouldFailAgainSaysSo) {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  const auto failure = [](const std::string& answer) {
    RawServer server([&](RawConnection& connection, int) {
      connection.readHead();
      connection.write(answer);
    });
    const auto thrown = caughtFrom(Transport({.maxHeaderBytes = 1000}),
                                   {.url = server.url() + "/path", .maxBodyBytes = 10});
    EXPECT_TRUE(thrown) << answer;
    return thrown.value_or(TransportError("none"));
  };
  const std::string damaged = compressed("text", true).substr(0, 12) + "damage damage";
  for (const std::string& answer :
       {std::string("garbage\r\n\r\n"), ok + "Content-Length: 11\r\n\r\nhello world",
        ok + "X: " + std::string(2000, 'x') + "\r\n\r\n",
        ok + "Content-Encoding: br\r\nContent-Length: 1\r\n\r\nx",
        ok + "Content-Encoding: gzip\r\nContent-Length: " + std::to_string(damaged.size()) +
            "\r\n\r\n" + damaged,
        std::string("HTTP/1.1 302 Found\r\nLocation: https://example.com/\r\n\r\n"),
        std::string("HTTP/1.1 302 Found\r\nLocation: http://\r\n\r\n")}) {
    EXPECT_TRUE(failure(answer).permanent()) << answer;
    EXPECT_TRUE(failure(answer).requestSent()) << answer;
  }
  // These errors may be temporary.
  for (const std::string& answer : {std::string(), ok, ok + "Content-Length: 5\r\n\r\nhell"}) {
    EXPECT_FALSE(failure(answer).permanent()) << answer;
  }
}

TEST(HostileServerTest, OfWhatIsUsefulAsAWholeNothingIsReadAfterAFailure) {
  RawServer server([](RawConnection& connection, int) {
    connection.readHead();
    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nthe beginning");
    connection.waitForClose();
  });
  const Transport transport;
  HttpStream whole = transport.open({.url = server.url(), .timeout = 50ms, .wholeOnly = true});
  HttpStream other = transport.open({.url = server.url(), .timeout = 100ms});
  EXPECT_EQ(other.read(), "the beginning");
  EXPECT_THROW(other.read(), TimeoutError);
  // By now the first call has timed out as well.
  EXPECT_EQ(whole.wireBytes(), std::string_view("the beginning").size());
  EXPECT_THROW(whole.read(), TimeoutError);
}

TEST(HostileServerTest, ACertificateIsRefusedForGood) {
  RawServer server([](RawConnection& connection, int) {
    const KeyPair key = ca().server({"example.com"});
    connection.acceptTls(key.certPem, key.keyPem, "h2");
  });
  const auto failure = caughtFrom(Transport({.tls = {.caData = ca().certPem()}}),
                                  {.url = "https://" + server.address()});
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->what(), HasSubstr("certificate verify failed"));
  EXPECT_TRUE(failure->permanent());
  EXPECT_FALSE(failure->requestSent());
}

// --- HTTP/2.

std::string http2Frame(char type, char flags, char stream, const std::string& payload) {
  std::string out("\0\0\0", 3);
  out[2] = static_cast<char>(payload.size());
  return out + type + flags + std::string("\0\0\0", 3) + stream + payload;
}

// SETTINGS with MAX_CONCURRENT_STREAMS.
std::string streamsAllowed(char streams) {
  return http2Frame(4, 0, 0, std::string("\0\3\0\0\0", 5) + streams);
}

// Answers the next request with 200. Returns its stream, or 0 when the client is gone.
int answerNext(RawConnection& connection) {
  const int stream = nextRequest(connection);
  // A head with only a status, and no body.
  if (stream != 0) connection.write(http2Frame(1, 5, static_cast<char>(stream), "\x88"));
  return stream;
}

TEST(HostileServerTest, AServerThatAllowsNoStreamsIsWaitedFor) {
  std::promise<void> waiting;
  RawServer server = http2Server([&](RawConnection& connection, int) {
    connection.write(streamsAllowed(1));
    connection.readExactly(24);  // the client's preface
    answerNext(connection);
    connection.write(streamsAllowed(0));
    waiting.get_future().wait();
    connection.write(streamsAllowed(10));
    while (answerNext(connection) != 0) {
    }
  });
  const Transport transport({.tls = {.caData = ca().certPem()}});
  const std::string url = "https://" + server.address();
  EXPECT_EQ(transport.send({.url = url}).status, 200);
  // After this timeout, the client knows that the server allows no streams.
  EXPECT_THROW(transport.send({.url = url, .timeout = 50ms}), TimeoutError);
  std::vector<std::future<HttpResponse>> calls;
  for (int i = 0; i < 5; ++i) {
    calls.push_back(std::async(std::launch::async, [&] { return transport.send({.url = url}); }));
  }
  while (transport.stats().requests < 7) std::this_thread::yield();
  EXPECT_THROW(transport.send({.url = url, .timeout = 50ms}), TimeoutError);
  EXPECT_LE(server.accepted(), 2);
  waiting.set_value();
  for (auto& call : calls) EXPECT_EQ(call.get().status, 200);
}

TEST(HostileServerTest, AServerThatHangsUpBeforeItTakesARequestIsGivenUp) {
  RawServer server = http2Server([](RawConnection& connection, int number) {
    connection.readExactly(24);
    connection.write(streamsAllowed(0));
    if (number == 0) answerNext(connection);
  });
  const Transport transport({.tls = {.caData = ca().certPem()}});
  const HttpRequest request{.method = "POST", .url = "https://" + server.address(), .timeout = 60s};
  caughtFrom(transport, request);  // the first call is tried
  const auto failure = caughtFrom(transport, request);
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->what(), HasSubstr("the server takes no requests"));
  EXPECT_FALSE(failure->requestSent());
  EXPECT_LE(server.accepted(), 12);
}

TEST(HostileServerTest, ABodyWithoutAHeadIsNoAnswer) {
  RawServer server([](RawConnection& connection, int) {
    connection.readHead();
    connection.write("HTTP/1.1 090 X\r\nContent-Length: 6\r\n\r\nforged");
    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nreal");
  });
  const auto failure = caughtFrom(Transport(), {.url = server.url()});
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->what(), HasSubstr("malformed"));
  EXPECT_TRUE(failure->permanent());

  RawServer http2 = http2Server([](RawConnection& connection, int) {
    connection.write(streamsAllowed(100));
    connection.readExactly(24);
    const char stream = static_cast<char>(nextRequest(connection));
    connection.write(http2Frame(1, 4, stream,
                                "\x08\x03"
                                "090"));  // :status, by its index
    connection.write(http2Frame(0, 1, stream, "forged"));
    connection.waitForClose();
  });
  const auto other = caughtFrom(Transport({.tls = {.caData = ca().certPem()}}),
                                {.url = "https://" + http2.address(), .timeout = 30s});
  ASSERT_TRUE(other);
  EXPECT_THAT(other->what(), HasSubstr("malformed HTTP/2 answer: its status is 90"));
  EXPECT_TRUE(other->permanent());
}

TEST(HostileServerTest, BreachesOfHttp2AreNotTriedAgain) {
  // DATA on a stream that is not open.
  RawServer server = http2Server([](RawConnection& connection, int) {
    connection.write(streamsAllowed(100));
    connection.readExactly(24);
    connection.readSome();
    connection.write(http2Frame(0, 0, 9, "data"));
    connection.waitForClose();
  });
  const auto failure = caughtFrom(Transport({.tls = {.caData = ca().certPem()}}),
                                  {.url = "https://" + server.address()});
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->what(), HasSubstr("HTTP/2"));
  EXPECT_TRUE(failure->permanent());
  EXPECT_EQ(server.accepted(), 1);
}

}  // namespace
}  // namespace kube
