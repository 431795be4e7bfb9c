// Servers that misbehave: every call ends with an error that tells the cause.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "kube/base/error.h"
#include "kube/http/http_server.h"
#include "kube/http/internal/raw_server_testing.h"
#include "kube/http/internal/server/raw_http2_testing.h"
#include "kube/http/internal/transport_ca_testing.h"
#include "kube/http/transport.h"
#include "kube/testing/test_ca.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

Transport trusting(TransportOptions options = {}) {
  options.tls.caData = ca().certPem();
  return Transport(std::move(options));
}

// The error of a GET to a server that sends `answer` to any request and closes the connection.
std::string errorOf(std::string_view answer, TransportOptions options = {}) {
  RawServer server([&](RawConnection& connection, int) {
    connection.readHead();
    connection.write(answer);
  });
  const Transport transport(std::move(options));
  return thrown<TransportError>([&] { transport.send({.url = server.url() + "/path"}); });
}

HttpResponse answerOf(std::string_view answer) {
  RawServer server([&](RawConnection& connection, int) {
    connection.readHead();
    connection.write(answer);
  });
  return Transport().send({.url = server.url()});
}

TEST(TransportFaultTest, GarbageIsNoAnswer) {
  for (const char* answer :
       {"garbage\r\n\r\n", "HTTP/1.1\r\n\r\n", "HTTP/9.1 200 OK\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nBad Name: x\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxx\r\n0\r\n\r\n"}) {
    EXPECT_THAT(errorOf(answer), AllOf(HasSubstr("GET http://127.0.0.1:"), HasSubstr("/path: "),
                                       HasSubstr("malformed")))
        << answer;
  }
  EXPECT_THAT(errorOf("HTTP/1.1 101 Switching Protocols\r\n\r\n"), HasSubstr("switches protocols"));
}

TEST(TransportFaultTest, TheEndOfAChunkedBodyMayComeInPieces) {
  RawServer server([](RawConnection& connection, int) {
    connection.readHead();
    connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (const char* piece : {"0", "\r\n", "\r", "\n"}) connection.write(piece);
  });
  const HttpResponse answer = Transport().send({.url = server.url()});
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "");
}

TEST(TransportFaultTest, AnAnswerThatBreaksOffIsAnError) {
  EXPECT_THAT(errorOf(""), HasSubstr("closed without an answer"));
  for (const char* answer :
       {"HTTP/1.1 200", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfive!",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfive!\r\n"}) {
    EXPECT_THAT(errorOf(answer), HasSubstr("closed in the middle of the answer")) << answer;
  }
}

TEST(TransportFaultTest, AHeaderWithoutEndIsCutOff) {
  RawServer server([&](RawConnection& connection, int number) {
    connection.readHead();
    connection.write("HTTP/1.1 200 OK\r\n");
    const std::string line =
        number == 0 ? "X-Header: " + std::string(1000, 'x') + "\r\n" : std::string(1000, 'x');
    while (connection.write(line)) {
    }
  });
  const Transport transport({.maxHeaderBytes = 100'000});
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(thrown<TransportError>([&] { transport.send({.url = server.url()}); }),
                HasSubstr("header is longer than 100000 bytes"));
  }
}

TEST(TransportFaultTest, AnHttp2HeaderWithoutEndIsCutOff) {
  const HttpServer server({.tls = ServerTls{identity()}},
                          [](ServerRequest request, Responder responder) {
                            if (request.target == "/ok") return responder.send({});
                            HttpHeaders headers;
                            for (int i = 0; i < 50; ++i)
                              headers.add("x-header-" + std::to_string(i), std::string(1000, 'x'));
                            responder.send({.headers = headers});
                          });
  const Transport transport = trusting({.maxHeaderBytes = 20'000});
  EXPECT_THAT(thrown<TransportError>([&] { transport.send({.url = server.url()}); }),
              HasSubstr("header is longer than 20000 bytes"));
  EXPECT_EQ(transport.send({.url = server.url() + "/ok"}).status, 200);
  EXPECT_EQ(transport.stats().connectionsMade, 1u);
}

TEST(TransportFaultTest, InformationalAnswersArePassedOver) {
  const HttpResponse response = answerOf(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "ok");
  EXPECT_FALSE(response.headers.has("link"));
}

TEST(TransportFaultTest, ABodyMayEndWithItsConnection) {
  EXPECT_EQ(answerOf("HTTP/1.0 200 OK\r\n\r\nuntil the end").body, "until the end");
  EXPECT_EQ(answerOf("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end").body,
            "until the end");
}

TEST(TransportFaultTest, BytesAfterAnAnswerAreNotTheNextOne) {
  RawServer server([](RawConnection& connection, int number) {
    while (!connection.readHead().empty()) {
      const std::string body = "answer " + std::to_string(number);
      connection.write("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n" + body +
                       "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged");
    }
  });
  const Transport transport;
  EXPECT_EQ(transport.send({.url = server.url()}).body, "answer 0");
  EXPECT_EQ(transport.send({.url = server.url()}).body, "answer 1");
}

TEST(TransportFaultTest, AnAnswerInTheMiddleOfAnUploadIsTheAnswer) {
  RawServer server([](RawConnection& connection, int) {
    connection.readHead();
    connection.write(
        "HTTP/1.1 413 Too Large\r\nContent-Length: 7\r\nConnection: close\r\n\r\ntoo big");
    // Closing with bytes unread resets the connection.
  });
  const Transport transport;
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(
        transport.send({.method = "PUT", .url = server.url(), .body = std::string(50 << 20, 'x')})
            .status,
        413);
  }
}

TEST(TransportFaultTest, AServerThatNeverAnswersTimesOut) {
  RawServer server([](RawConnection& connection, int) { connection.waitForClose(); });
  const Transport transport = trusting();
  EXPECT_THAT(thrown<TimeoutError>([&] { transport.send({.url = server.url(), .timeout = 20ms}); }),
              HasSubstr("without an answer"));
  EXPECT_THAT(thrown<TimeoutError>(
                  [&] { transport.send({.url = "https://" + server.address(), .timeout = 20ms}); }),
              HasSubstr("before a connection was made"));
  const Transport hasty = trusting({.connectTimeout = 20ms});
  EXPECT_THAT(thrown<TransportError>([&] { hasty.send({.url = "https://" + server.address()}); }),
              HasSubstr("no connection within 20 ms"));
}

// --- Whether the request may have reached the server.

std::optional<bool> sentOf(const Transport& transport, HttpRequest request) {
  try {
    transport.send(std::move(request));
  } catch (const TransportError& error) {
    return error.requestSent();
  }
  return std::nullopt;
}

TEST(TransportFaultTest, SaysThatAnUnconnectedRequestWasNotSent) {
  int port;
  {
    const RawServer server([](RawConnection&, int) {});
    port = server.port();
  }
  const Transport transport = trusting();
  EXPECT_EQ(
      sentOf(transport, {.method = "POST", .url = "http://127.0.0.1:" + std::to_string(port)}),
      false);
  EXPECT_THAT(thrown<TransportError>(
                  [&] { transport.send({.url = "http://127.0.0.1:" + std::to_string(port)}); }),
              HasSubstr("Connection refused"));
  EXPECT_EQ(sentOf(transport, {.url = "https://does-not-exist.invalid/"}), false);
  RawServer closing([](RawConnection&, int) {});
  EXPECT_EQ(sentOf(transport, {.url = "https://" + closing.address()}), false);
}

TEST(TransportFaultTest, SaysThatALostRequestMayHaveBeenSent) {
  RawServer server([](RawConnection& connection, int) { connection.readHead(); });
  const Transport transport;
  EXPECT_EQ(sentOf(transport, {.method = "POST", .url = server.url()}), true);
  EXPECT_EQ(sentOf(transport, {.url = server.url()}), true);
  EXPECT_EQ(server.accepted(), 2);
  EXPECT_EQ(transport.stats().retries, 0u);
}

// Answers the first request on each connection, and closes the connection at the second.
void answerOnce(RawConnection& connection, int number) {
  connection.readHead();
  const std::string body = "connection " + std::to_string(number);
  connection.write("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) +
                   "\r\n\r\n" + body);
  connection.readHead();
}

TEST(TransportFaultTest, AGetOnAConnectionThatHasGoneStaleIsSentAgain) {
  RawServer server(answerOnce);
  const Transport transport;
  EXPECT_EQ(transport.send({.url = server.url()}).body, "connection 0");
  EXPECT_EQ(transport.send({.url = server.url()}).body, "connection 1");
  EXPECT_EQ(transport.stats().retries, 1u);
}

TEST(TransportFaultTest, APostOnAConnectionThatHasGoneStaleIsNot) {
  RawServer server(answerOnce);
  const Transport transport;
  EXPECT_EQ(transport.send({.url = server.url()}).body, "connection 0");
  EXPECT_EQ(sentOf(transport, {.method = "POST", .url = server.url()}), true);
  EXPECT_EQ(transport.stats().retries, 0u);
}

// --- HTTP/2.

TEST(TransportFaultTest, GarbageIsNoHttp2) {
  const RawServer server = http2Server([](RawConnection& connection, int) {
    connection.write("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    connection.waitForClose();
  });
  EXPECT_THAT(thrown<TransportError>(
                  [&] { trusting().send({.url = "https://" + server.address() + "/x"}); }),
              AllOf(HasSubstr("GET https://127.0.0.1:"), HasSubstr("HTTP/2")));
}

TEST(TransportFaultTest, AnHttp2ConnectionThatClosesIsAnError) {
  const RawServer server = http2Server([](RawConnection& connection, int) {
    connection.write(kEmptySettings);
    connection.readSome();
  });
  const Transport transport = trusting();
  EXPECT_EQ(sentOf(transport, {.method = "POST", .url = "https://" + server.address()}), true);
}

TEST(TransportFaultTest, AnHttp2GetThatIsLostTimeAndAgainIsGivenUp) {
  const RawServer server = http2Server([](RawConnection& connection, int) {
    connection.write(kEmptySettings);
    connection.readSome();
  });
  const Transport transport = trusting();
  std::vector<std::future<std::string>> calls;
  for (int i = 0; i < 3; ++i) {
    calls.push_back(std::async(std::launch::async, [&] {
      return thrown<TransportError>(
          [&] { transport.send({.url = "https://" + server.address()}); });
    }));
  }
  for (auto& call : calls) EXPECT_THAT(call.get(), HasSubstr("connection "));
  EXPECT_LE(server.accepted(), 12);
}

TEST(TransportFaultTest, APeerThatAnswersNoPingIsGivenUp) {
  const RawServer server = http2Server([](RawConnection& connection, int) {
    connection.write(kEmptySettings);
    connection.waitForClose();
  });
  const Transport transport = trusting({.pingAfter = 20ms, .pingTimeout = 20ms});
  EXPECT_THAT(thrown<TransportError>([&] {
                transport.send({.method = "POST", .url = "https://" + server.address()});
              }),
              HasSubstr("no answer to a ping within 20 ms"));
}

TEST(TransportFaultTest, APeerThatAnswersPingsLives) {
  std::optional<Responder> kept;
  const HttpServer server({.tls = ServerTls{identity()}},
                          [&](ServerRequest, Responder responder) { kept = responder; });
  const Transport transport = trusting({.pingAfter = 1ms, .pingTimeout = 10s});
  EXPECT_THROW(transport.send({.url = server.url(), .timeout = 100ms}), TimeoutError);
  EXPECT_GT(transport.stats().bytesReceived, 10u * 17);  // more than ten answers to pings
}

TEST(TransportFaultTest, RefusedStreamsAreSentAgain) {
  const RawServer refusing = http2Server([](RawConnection& connection, int) {
    connection.write(kEmptySettings);
    connection.readExactly(24);  // the client's preface
    while (const int stream = nextRequest(connection)) {
      // RST_STREAM: REFUSED_STREAM.
      std::string reset("\0\0\4\3\0\0\0\0\0\0\0\0\7", 13);
      reset[8] = static_cast<char>(stream);
      connection.write(reset);
    }
  });
  const Transport transport = trusting();
  try {
    transport.send({.method = "POST", .url = "https://" + refusing.address()});
    FAIL();
  } catch (const TransportError& error) {
    EXPECT_THAT(error.what(), HasSubstr("refused"));
    EXPECT_FALSE(error.requestSent());
  }
  EXPECT_EQ(transport.stats().retries, 3u);
}

TEST(TransportFaultTest, AfterGoawayNewCallsGoToANewConnection) {
  std::promise<ResponseStream> begun;
  HttpServer server({.tls = ServerTls{identity()}},
                    [&](ServerRequest request, Responder responder) {
                      if (request.target == "/watch")
                        return begun.set_value(responder.stream(200, {}));
                      responder.send({});
                    });
  const Transport transport = trusting();
  HttpStream watch = transport.open({.url = server.url() + "/watch"});
  const ResponseStream writer = begun.get_future().get();
  server.drain();
  while (transport.stats().connectionsMade < 2)
    transport.send({.method = "POST", .url = server.url()});
  writer.write("still here");
  EXPECT_EQ(watch.read(), "still here");
  writer.close();
  EXPECT_EQ(watch.read(), std::nullopt);
  while (transport.stats().connectionsOpen > 1) std::this_thread::yield();
}

TEST(TransportFaultTest, CallsGoOnWhileServersDrain) {
  HttpServer server({.tls = ServerTls{identity()}, .threads = 2},
                    [](ServerRequest, Responder responder) { responder.send({}); });
  const Transport transport = trusting();
  std::atomic<bool> stop = false;
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      while (!stop) EXPECT_EQ(transport.send({.method = "POST", .url = server.url()}).status, 200);
    });
  }
  for (int i = 1; i <= 20; ++i) {
    const TransportStats before = transport.stats();
    server.drain();
    // The server may refuse each call once.
    while (transport.stats().connectionsMade == before.connectionsMade ||
           transport.stats().requests < before.requests + 50) {
      std::this_thread::yield();
    }
  }
  stop = true;
  for (std::thread& caller : callers) caller.join();
}

TEST(TransportFaultTest, AServerThatStopsEndsItsStreams) {
  for (const bool http1 : {false, true}) {
    std::promise<void> begun;
    std::vector<ResponseStream> streams;
    auto server = std::make_unique<HttpServer>(HttpServerOptions{.tls = ServerTls{identity()}},
                                               [&](ServerRequest, Responder responder) {
                                                 streams.push_back(responder.stream(200, {}));
                                                 streams.back().write("x");
                                               });
    const Transport transport = trusting({.disableHttp2 = http1});
    HttpStream stream = transport.open({.url = server->url()});
    EXPECT_EQ(stream.read(), "x");
    server->stop();
    EXPECT_THROW(stream.read(), TransportError);
  }
}

TEST(TransportFaultTest, IdleConnectionsAreClosed) {
  const HttpServer server({.tls = ServerTls{identity()}},
                          [](ServerRequest, Responder responder) { responder.send({}); });
  for (const bool http1 : {false, true}) {
    const Transport transport = trusting({.disableHttp2 = http1, .idleTimeout = 1ms});
    transport.send({.url = server.url()});
    while (transport.stats().connectionsOpen > 0) std::this_thread::yield();
    transport.send({.url = server.url()});
    EXPECT_EQ(transport.stats().connectionsMade, 2u);
  }
}

}  // namespace
}  // namespace kube
