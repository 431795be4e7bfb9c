// The transport against a real server, by HTTP/1.1 and by HTTP/2.
#include "kube/http/transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <atomic>
#include <future>
#include <latch>
#include <mutex>
#include <thread>
#include <vector>

#include "kube/base/error.h"
#include "kube/http/http_server.h"
#include "kube/http/internal/gzip_testing.h"
#include "kube/http/internal/raw_server_testing.h"
#include "kube/http/internal/transport_ca_testing.h"
#include "kube/testing/test_ca.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class TransportTest : public ::testing::TestWithParam<int> {
 protected:
  static std::unique_ptr<HttpServer> serve(HttpHandler handler, HttpServerOptions options = {}) {
    options.tls = ServerTls{ca().server({"127.0.0.1", "localhost"})};
    return std::make_unique<HttpServer>(std::move(options), std::move(handler));
  }
  static Transport make(TransportOptions options = {}) {
    options.tls.caData = ca().certPem();
    options.disableHttp2 = GetParam() == 1;
    return Transport(std::move(options));
  }
  static std::string readAll(HttpStream& stream) {
    std::string all;
    while (const auto chunk = stream.read()) all += *chunk;
    return all;
  }
};

INSTANTIATE_TEST_SUITE_P(Http, TransportTest, ::testing::Values(1, 2),
                         [](const auto& info) { return "Version" + std::to_string(info.param); });

TEST_P(TransportTest, SendsARequestAndGetsTheWholeAnswer) {
  Guarded<ServerRequest> shown;
  const auto server = serve([&](ServerRequest request, Responder responder) {
    shown = std::move(request);
    responder.send({.status = 201, .headers = {{"X-Answer", "yes"}}, .body = "created"});
  });
  const Transport transport = make();
  const HttpResponse response = transport.send(
      {.method = "POST",
       .url = server->url() + "/api/v1/pods?dryRun=All",
       .headers = {{"Content-Type", "application/json"}, {"X-Twice", "a"}, {"x-twice", "b"}},
       .body = R"({"kind":"Pod"})"});
  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(response.body, "created");
  EXPECT_EQ(response.headers.get("x-answer"), "yes");
  EXPECT_EQ(response.httpVersion, GetParam());

  const ServerRequest seen = shown.get();
  EXPECT_EQ(seen.httpVersion, GetParam());
  EXPECT_EQ(seen.method, "POST");
  EXPECT_EQ(seen.target, "/api/v1/pods?dryRun=All");
  EXPECT_EQ(seen.body, R"({"kind":"Pod"})");
  EXPECT_EQ(seen.headers.get("content-type"), "application/json");
  EXPECT_EQ(seen.headers.get("host"), "127.0.0.1:" + std::to_string(server->port()));
  EXPECT_EQ(seen.headers.get("accept-encoding"), "gzip, deflate");
  EXPECT_EQ(seen.headers.get("content-length"), "14");
}

TEST_P(TransportTest, BodiesOfAnySizeArriveWhole) {
  const auto server = serve([](ServerRequest request, Responder responder) {
    responder.send({.body = std::move(request.body)});
  });
  const Transport transport = make();
  for (const std::size_t size : {0, 1, 16384, 65535, 65536, 5'000'000}) {
    std::string body(size, 'x');
    for (std::size_t i = 0; i < size; i += 1000) body[i] = static_cast<char>('a' + i / 1000 % 26);
    const HttpResponse response =
        transport.send({.method = "PUT", .url = server->url() + "/", .body = body});
    EXPECT_TRUE(response.body == body) << size;
  }
}

TEST_P(TransportTest, AnErrorStatusIsAnAnswer) {
  const auto server = serve([](ServerRequest, Responder responder) {
    responder.send({.status = 404, .body = "not here"});
  });
  EXPECT_EQ(make().send({.url = server->url()}).status, 404);
}

TEST_P(TransportTest, AnswersToHeadHaveNoBody) {
  const auto server = serve([](ServerRequest, Responder responder) {
    responder.send({.headers = {{"Content-Encoding", "gzip"}}, .body = "body"});
  });
  const Transport transport = make();
  for (int i = 0; i < 2; ++i) {
    const HttpResponse response = transport.send({.method = "HEAD", .url = server->url()});
    EXPECT_EQ(response.headers.get("content-length"), "4");
    EXPECT_EQ(response.body, "");
  }
  EXPECT_EQ(server->stats().connectionsAccepted, 1u);
}

TEST_P(TransportTest, RequestsOneAfterTheOtherShareAConnection) {
  const auto server = serve([](ServerRequest request, Responder responder) {
    responder.send({.status = request.target == "/none" ? 204 : 200,
                    .body = request.target == "/none" ? "" : "x"});
  });
  const Transport transport = make();
  for (int i = 0; i < 20; ++i)
    transport.send({.url = server->url() + (i % 2 == 0 ? "/none" : "/")});
  const TransportStats stats = transport.stats();
  EXPECT_EQ(stats.connectionsMade, 1u);
  EXPECT_EQ(stats.connectionsOpen, 1u);
  EXPECT_EQ(stats.requests, 20u);
  EXPECT_EQ(stats.retries, 0u);
  EXPECT_GT(stats.bytesSent, 200u);
  EXPECT_GT(stats.bytesReceived, 200u);
  EXPECT_EQ(server->stats().connectionsAccepted, 1u);
}

TEST_P(TransportTest, CopiesOfAHandleShareItsConnections) {
  const auto server = serve([](ServerRequest, Responder responder) { responder.send({}); });
  auto transport = std::make_unique<Transport>(make());
  transport->send({.url = server->url()});
  const Transport copy = *transport;
  transport.reset();
  EXPECT_EQ(copy.send({.url = server->url()}).status, 200);
  EXPECT_EQ(copy.stats().connectionsMade, 1u);
}

// --- Streams.

TEST_P(TransportTest, AStreamGivesEachPieceWhenItComes) {
  std::promise<ResponseStream> begun;
  const auto server = serve([&](ServerRequest, Responder responder) {
    begun.set_value(responder.stream(200, {{"X-Kind", "watch"}}));
  });
  const Transport transport = make();
  HttpStream stream = transport.open({.url = server->url() + "/watch"});
  EXPECT_EQ(stream.status(), 200);
  EXPECT_EQ(stream.headers().get("x-kind"), "watch");
  EXPECT_EQ(stream.httpVersion(), GetParam());
  std::optional<ResponseStream> writer = begun.get_future().get();
  for (const std::string event : {"first\n", "second\n", "third\n"}) {
    writer->write(event);  // the test writes the next event when this one was read
    EXPECT_EQ(stream.read(), event);
  }
  writer.reset();
  EXPECT_EQ(stream.read(), std::nullopt);
  EXPECT_EQ(stream.read(), std::nullopt);
}

TEST_P(TransportTest, DestroyingAStreamEndsTheCall) {
  std::promise<void> closed;
  const auto server = serve([&](ServerRequest request, Responder responder) {
    if (request.target != "/watch") return responder.send({});
    const ResponseStream writer = responder.stream(200, {});
    writer.write("x");
    writer.onClosed([&closed, writer] { closed.set_value(); });
  });
  const Transport transport = make();
  {
    HttpStream stream = transport.open({.url = server->url() + "/watch"});
    stream.read();
  }
  EXPECT_EQ(closed.get_future().wait_for(30s), std::future_status::ready);
  EXPECT_EQ(transport.send({.url = server->url()}).status, 200);
}

TEST_P(TransportTest, AStreamThatIsReplacedEndsItsCallToo) {
  std::atomic<int> closed = 0;
  std::latch bothClosed(2);
  const auto server = serve([&](ServerRequest, Responder responder) {
    const ResponseStream writer = responder.stream(200, {});
    writer.onClosed([&, writer] {
      ++closed;
      bothClosed.count_down();
    });
  });
  const Transport transport = make();
  {
    HttpStream stream = transport.open({.url = server->url()});
    stream = transport.open({.url = server->url()});
    HttpStream moved = std::move(stream);
  }
  bothClosed.wait();
  EXPECT_EQ(closed, 2);
}

TEST_P(TransportTest, AnAbortedBodyIsAnErrorAfterWhatCame) {
  std::promise<ResponseStream> begun;
  const auto server = serve(
      [&](ServerRequest, Responder responder) { begun.set_value(responder.stream(200, {})); });
  const Transport transport = make();
  HttpStream stream = transport.open({.url = server->url() + "/list?token=secret"});
  const ResponseStream writer = begun.get_future().get();
  writer.write("half");
  EXPECT_EQ(stream.read(), "half");
  writer.abort();
  const std::string what = thrown<TransportError>([&] { stream.read(); });
  EXPECT_THAT(what, AllOf(HasSubstr("GET https://127.0.0.1:"), HasSubstr("/list: "),
                          Not(HasSubstr("secret"))));
  EXPECT_THAT(thrown<TransportError>([&] { stream.read(); }), HasSubstr("at an earlier read"));
}

// A server that writes as fast as it can, and counts the bytes that it has written.
struct Flood {
  explicit Flood(std::size_t bytes) : total(bytes) {}

  void operator()(const Responder& responder) {
    writer = std::thread([this, stream = responder.stream(200, {})] {
      const String piece(std::string(64 << 10, 'x'));
      while (written < total && stream.write(piece)) written += piece.size();
      stream.close();
    });
  }
  ~Flood() {
    if (writer.joinable()) writer.join();
  }

  const std::size_t total;
  std::atomic<std::size_t> written{0};
  std::thread writer;
};

TEST_P(TransportTest, ASlowReaderSlowsTheSender) {
  Flood flood(100 << 20);
  const auto server = serve([&](ServerRequest request, Responder responder) {
    if (request.target == "/flood") return flood(responder);
    responder.send({});
  });
  const Transport transport = make();
  HttpStream stream = transport.open({.url = server->url() + "/flood"});
  // Gives the server time to write as much as it can.
  for (int i = 0; i < 200; ++i) transport.send({.url = server->url()});
  // The sum of the stream's buffer, the server's queue and the kernel's buffers.
  constexpr std::size_t bound = 24 << 20;
  std::size_t read = 0;
  while (const auto chunk = stream.read()) {
    ASSERT_LT(flood.written, read + bound);  // bytes may be read before the server counts them
    read += chunk->size();
  }
  EXPECT_EQ(read, flood.total);
}

TEST_P(TransportTest, AStreamNobodyReadsHoldsUpNoOther) {
  Flood flood(1 << 30);
  const auto server = serve([&](ServerRequest request, Responder responder) {
    if (request.target == "/flood") return flood(responder);
    responder.send({.body = std::string(100'000, 'y')});
  });
  {
    const Transport transport = make();
    const HttpStream stream = transport.open({.url = server->url() + "/flood"});
    for (int i = 0; i < 100; ++i) {
      ASSERT_EQ(transport.send({.url = server->url()}).body.size(), 100'000u);
    }
    EXPECT_EQ(transport.stats().connectionsMade, GetParam() == 2 ? 1u : 2u);
    EXPECT_LT(transport.stats().bytesReceived, 32u << 20);
  }
}

// --- Compression.

TEST_P(TransportTest, DecodesWhatIsCompressed) {
  const std::string text(1'000'000, 'z');
  const auto server = serve([&](ServerRequest request, Responder responder) {
    const bool gzip = request.target == "/gzip";
    responder.send({.headers = {{"Content-Encoding", gzip ? "gzip" : "deflate"}},
                    .body = compressed(text, gzip)});
  });
  const Transport transport = make();
  for (const char* path : {"/gzip", "/deflate"}) {
    const HttpResponse response = transport.send({.url = server->url() + path});
    EXPECT_TRUE(response.body == text);
    EXPECT_FALSE(response.headers.has("content-encoding"));
    EXPECT_FALSE(response.headers.has("content-length"));
  }
  HttpStream stream = transport.open({.url = server->url() + "/gzip"});
  EXPECT_TRUE(readAll(stream) == text);
}

TEST_P(TransportTest, AsksForNoCompressionWhereThatIsSwitchedOff) {
  const std::string packed = compressed("text", true);
  const auto server = serve([&](ServerRequest request, Responder responder) {
    responder.send({.headers = {{"Content-Encoding", "gzip"},
                                {"X-Asked", request.headers.has("accept-encoding") ? "yes" : "no"}},
                    .body = packed});
  });
  const HttpResponse response = make({.disableCompression = true}).send({.url = server->url()});
  EXPECT_EQ(response.headers.get("x-asked"), "no");
  EXPECT_EQ(response.headers.get("content-encoding"), "gzip");
  EXPECT_EQ(response.body, packed);
}

TEST_P(TransportTest, ABodyOverTheLimitIsRefused) {
  const auto server = serve([&](ServerRequest request, Responder responder) {
    if (request.target == "/bomb") {
      return responder.send({.headers = {{"Content-Encoding", "gzip"}},
                             .body = compressed(std::string(50 << 20, '0'), true)});
    }
    responder.send({.body = std::string(1001, 'x')});
  });
  const Transport transport = make();
  EXPECT_EQ(transport.send({.url = server->url(), .maxBodyBytes = 1001}).body.size(), 1001u);
  EXPECT_THAT(
      thrown<TransportError>([&] { transport.send({.url = server->url(), .maxBodyBytes = 1000}); }),
      HasSubstr("longer than the 1000 bytes allowed"));
  EXPECT_THAT(thrown<TransportError>([&] {
                transport.send({.url = server->url() + "/bomb", .maxBodyBytes = 1 << 20});
              }),
              HasSubstr("longer than the 1048576 bytes allowed"));
}

TEST_P(TransportTest, ACompressedStreamIsDecodedNoFasterThanItIsRead) {
  const std::string packed = compressed(std::string(50 << 20, '0'), true);
  const auto server = serve([&](ServerRequest, Responder responder) {
    responder.send({.headers = {{"Content-Encoding", "gzip"}}, .body = packed});
  });
  HttpStream stream = make({.streamBuffer = 256 << 10}).open({.url = server->url()});
  // The transport is gone, and with it the call: only bytes that it had decoded can still be read.
  std::size_t read = 0;
  EXPECT_THROW(while (const auto chunk = stream.read()) read += chunk->size(), CanceledError);
  EXPECT_LE(read, std::size_t{512 << 10});
  // With a reader, the whole answer arrives.
  const Transport transport = make({.streamBuffer = 256 << 10});
  HttpStream whole = transport.open({.url = server->url()});
  read = 0;
  while (const auto chunk = whole.read()) read += chunk->size();
  EXPECT_EQ(read, std::size_t{50 << 20});
}

TEST_P(TransportTest, ADamagedCompressedBodyIsAnError) {
  const auto server = serve([](ServerRequest request, Responder responder) {
    const std::string packed = compressed("some text that is long enough", true);
    responder.send(
        {.headers = {{"Content-Encoding", request.target == "/br" ? "br" : "gzip"}},
         .body = request.target == "/cut" ? packed.substr(0, packed.size() - 9) : "nonsense"});
  });
  const Transport transport = make();
  const auto fail = [&](const char* path) {
    return thrown<TransportError>([&] { transport.send({.url = server->url() + path}); });
  };
  EXPECT_THAT(fail("/cut"), HasSubstr("compressed body breaks off"));
  EXPECT_THAT(fail("/garbage"), HasSubstr("damaged"));
  EXPECT_THAT(fail("/br"), HasSubstr("\"br\""));
}

// --- Timeouts and stopping.

TEST_P(TransportTest, TimesOutWithoutAnAnswer) {
  std::vector<Responder> kept;  // never answered
  std::mutex mutex;
  const auto server = serve([&](ServerRequest request, Responder responder) {
    if (request.target == "/ok") return responder.send({});
    std::lock_guard lock(mutex);
    kept.push_back(responder);
  });
  const Transport transport = make();
  EXPECT_THAT(thrown<TimeoutError>(
                  [&] { transport.send({.url = server->url() + "/slow?q=1", .timeout = 20ms}); }),
              AllOf(HasSubstr("GET https://127.0.0.1:"), HasSubstr("/slow: timed out after 20 ms"),
                    Not(HasSubstr("q=1"))));
  EXPECT_THROW(transport.open({.url = server->url() + "/slow", .timeout = 20ms}), TimeoutError);
  EXPECT_EQ(transport.send({.url = server->url() + "/ok", .timeout = 30s}).status, 200);
}

TEST_P(TransportTest, TheTimeoutHoldsForReadingToo) {
  std::promise<ResponseStream> begun;
  const auto server = serve(
      [&](ServerRequest, Responder responder) { begun.set_value(responder.stream(200, {})); });
  const Transport transport = make();
  HttpStream stream = transport.open({.url = server->url(), .timeout = 200ms});
  const ResponseStream writer = begun.get_future().get();
  writer.write("x");
  EXPECT_EQ(stream.read(), "x");
  EXPECT_THROW(stream.read(), TimeoutError);
}

TEST_P(TransportTest, AStopTokenEndsACallThatWaits) {
  std::promise<void> arrived;
  std::optional<Responder> kept;
  const auto server = serve([&](ServerRequest, Responder responder) {
    kept = responder;
    arrived.set_value();
  });
  const Transport transport = make();
  std::stop_source source;
  auto call = std::async(std::launch::async, [&] {
    return thrown<CanceledError>(
        [&] { transport.send({.url = server->url()}, source.get_token()); });
  });
  arrived.get_future().wait();
  source.request_stop();
  EXPECT_THAT(call.get(), HasSubstr("canceled"));
  EXPECT_THROW(transport.send({.url = server->url()}, source.get_token()), CanceledError);
  EXPECT_THROW(transport.open({.url = server->url()}, source.get_token()), CanceledError);
}

TEST_P(TransportTest, AStopTokenEndsReading) {
  std::promise<void> closed;
  const auto server = serve([&](ServerRequest, Responder responder) {
    const ResponseStream writer = responder.stream(200, {});
    writer.onClosed([&closed, writer] { closed.set_value(); });
  });
  const Transport transport = make();
  std::stop_source source;
  HttpStream stream = transport.open({.url = server->url()}, source.get_token());
  auto read = std::async(std::launch::async, [&] { EXPECT_THROW(stream.read(), CanceledError); });
  source.request_stop();
  read.get();
  EXPECT_EQ(closed.get_future().wait_for(30s), std::future_status::ready);
}

TEST_P(TransportTest, ShutdownEndsEveryCall) {
  constexpr int calls = 8;
  std::latch arrived(2 * calls);
  std::mutex mutex;
  std::vector<Responder> kept;
  std::vector<ResponseStream> streams;
  const auto server = serve([&](ServerRequest request, Responder responder) {
    std::lock_guard lock(mutex);
    if (request.target == "/stream") {
      streams.push_back(responder.stream(200, {}));
    } else {
      kept.push_back(responder);
    }
    arrived.count_down();
  });
  const Transport transport = make();
  std::vector<std::thread> threads;
  std::atomic<int> canceled = 0;
  for (int i = 0; i < calls; ++i) {
    threads.emplace_back([&] {
      try {
        transport.send({.url = server->url()});
      } catch (const CanceledError&) {
        ++canceled;
      }
    });
    threads.emplace_back([&] {
      try {
        HttpStream stream = transport.open({.url = server->url() + "/stream"});
        stream.read();
      } catch (const CanceledError&) {
        ++canceled;
      }
    });
  }
  arrived.wait();
  transport.shutdown();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(canceled, 2 * calls);
  EXPECT_THAT(thrown<CanceledError>([&] { transport.send({.url = server->url()}); }),
              HasSubstr("shut down"));
  EXPECT_EQ(transport.stats().connectionsOpen, 0u);
  transport.shutdown();
}

TEST_P(TransportTest, ShutdownEndsACallThatIsStillConnecting) {
  std::promise<void> accepted;
  RawServer silent([&](RawConnection& connection, int) {
    connection.readSome();
    accepted.set_value();
    connection.waitForClose();
  });
  const Transport transport = make();
  auto call = std::async(std::launch::async, [&] {
    EXPECT_THROW(transport.send({.url = "https://" + silent.address()}), CanceledError);
  });
  accepted.get_future().wait();
  transport.shutdown();
  call.get();
}

// --- The callback form.

class Recorder : public HttpReceiver {
 public:
  void onHeaders(HttpResponse head) override { status = head.status; }
  std::size_t onBody(std::string_view chunk) override {
    body += chunk;
    return chunk.size();
  }
  void onDone(std::exception_ptr error) noexcept override { done.set_value(std::move(error)); }

  int status = 0;
  std::string body;
  std::promise<std::exception_ptr> done;
};

TEST_P(TransportTest, TheCallbackFormTellsWhatComes) {
  const auto server =
      serve([](ServerRequest, Responder responder) { responder.send({.body = "hello"}); });
  const Transport transport = make();
  const auto recorder = std::make_shared<Recorder>();
  transport.start({.url = server->url()}, recorder);
  EXPECT_EQ(recorder->done.get_future().get(), nullptr);
  EXPECT_EQ(recorder->status, 200);
  EXPECT_EQ(recorder->body, "hello");
}

TEST_P(TransportTest, WhatAReceiverThrowsEndsTheCallWithIt) {
  struct Thrower : Recorder {
    explicit Thrower(bool early) : early(early) {}
    void onHeaders(HttpResponse) override {
      if (early) throw std::runtime_error("no headers, please");
    }
    std::size_t onBody(std::string_view) override { throw std::runtime_error("no body, please"); }
    const bool early;
  };
  const auto server =
      serve([](ServerRequest, Responder responder) { responder.send({.body = "hello"}); });
  const Transport transport = make();
  for (const bool early : {true, false}) {
    const auto receiver = std::make_shared<Thrower>(early);
    transport.start({.url = server->url()}, receiver);
    const std::exception_ptr error = receiver->done.get_future().get();
    EXPECT_EQ(thrown<std::runtime_error>([&] { std::rethrow_exception(error); }),
              early ? "no headers, please" : "no body, please");
  }
  EXPECT_EQ(transport.send({.url = server->url()}).body, "hello");
}

TEST_P(TransportTest, ACallbackCannotWaitForAnotherCall) {
  struct Waiter : Recorder {
    void onHeaders(HttpResponse) override { transport->send({.url = url}); }
    std::optional<Transport> transport;
    std::string url;
  };
  const auto server = serve([](ServerRequest, Responder responder) { responder.send({}); });
  const Transport transport = make();
  const auto waiter = std::make_shared<Waiter>();
  waiter->transport = transport;
  waiter->url = server->url();
  transport.start({.url = server->url()}, waiter);
  const std::exception_ptr error = waiter->done.get_future().get();
  EXPECT_THAT(thrown<Error>([&] { std::rethrow_exception(error); }), HasSubstr("must not wait"));
  waiter->transport.reset();  // on this thread, not on the one that drops the receiver
}

TEST_P(TransportTest, TheLastHandleMayBeDroppedWithinACallback) {
  struct Holder : Recorder {
    std::size_t onBody(std::string_view chunk) override {
      transport.reset();
      return chunk.size();
    }
    std::optional<Transport> transport;
  };
  const auto server =
      serve([](ServerRequest, Responder responder) { responder.send({.body = "hello"}); });
  const auto holder = std::make_shared<Holder>();
  auto done = holder->done.get_future();
  {
    const Transport transport = make();
    holder->transport = transport;
    transport.start({.url = server->url()}, holder);
  }
  done.wait();  // either result is right, as long as nothing hangs or crashes
}

// --- Redirects.

TEST_P(TransportTest, FollowsRedirectsOnTheSameHost) {
  const auto server = serve([](ServerRequest request, Responder responder) {
    if (request.target == "/old/")
      return responder.send({.status = 302, .headers = {{"Location", "new?x=1"}}, .body = "moved"});
    responder.send({.body = request.method + " " + request.target + " " +
                            std::string(request.headers.get("authorization"))});
  });
  const Transport transport = make();
  const HttpHeaders headers{{"Authorization", "Bearer t"}};
  EXPECT_EQ(transport.send({.url = server->url() + "/old/", .headers = headers}).body,
            "GET /old/new?x=1 Bearer t");
  // The caller of a write must know its target.
  EXPECT_EQ(transport.send({.method = "POST", .url = server->url() + "/old/", .body = "x"}).status,
            302);
}

TEST_P(TransportTest, GivesUpOnRedirectsWithoutEnd) {
  std::atomic<int> requests = 0;
  const auto server = serve([&](ServerRequest, Responder responder) {
    responder.send({.status = 307, .headers = {{"Location", "/" + std::to_string(++requests)}}});
  });
  const Transport transport = make();
  EXPECT_THAT(thrown<TransportError>([&] { transport.send({.url = server->url()}); }),
              HasSubstr("10 redirects"));
  EXPECT_EQ(requests, 11);
}

TEST_P(TransportTest, FollowsNoRedirectToAnotherHost) {
  std::atomic<int> leaked = 0;
  const auto other = serve([&](ServerRequest, Responder responder) {
    ++leaked;
    responder.send({});
  });
  Guarded<std::string> location;
  const auto server = serve([&](ServerRequest, Responder responder) {
    responder.send({.status = 301, .headers = {{"Location", location.get()}}});
  });
  const Transport transport = make();
  for (const std::string& target :
       {other->url() + "/x?token=secret", "http://127.0.0.1:" + std::to_string(server->port()),
        "https://localhost:" + std::to_string(server->port()), std::string("//user:secret@evil")}) {
    location = target;
    EXPECT_THAT(thrown<TransportError>([&] { transport.send({.url = server->url()}); }),
                AllOf(HasSubstr("redirected to another host"), Not(HasSubstr("secret"))));
  }
  location = "http://:0";
  EXPECT_THAT(thrown<TransportError>([&] { transport.send({.url = server->url()}); }),
              HasSubstr("redirected"));
  EXPECT_EQ(leaked, 0);
}

// --- Requests that cannot be sent.

TEST_P(TransportTest, RefusesWhatCouldForgeARequest) {
  const Transport transport = make();
  const std::string url = "https://127.0.0.1:1/";
  EXPECT_THROW(transport.send({.url = "no url"}), ConfigError);
  EXPECT_THROW(transport.send({.url = "ftp://127.0.0.1/"}), ConfigError);
  EXPECT_THROW(transport.send({.url = url + "\r\nX: y"}), ConfigError);
  EXPECT_THROW(transport.send({.method = "GET / HTTP/1.1\r\n", .url = url}), ConfigError);
  EXPECT_THROW(transport.send({.url = url, .headers = {{"X\r\nY", "z"}}}), ConfigError);
  EXPECT_THAT(thrown<ConfigError>([&] {
                transport.send({.url = url, .headers = {{"Token", "a\nX: secret"}}});
              }),
              AllOf(HasSubstr("\"Token\""), Not(HasSubstr("secret"))));
}

TEST_P(TransportTest, HeadersOfTheConnectionAreTheTransports) {
  Guarded<ServerRequest> shown;
  const auto server = serve([&](ServerRequest request, Responder responder) {
    shown = std::move(request);
    responder.send({});
  });
  make().send({.method = "POST",
               .url = server->url(),
               .headers = {{"Host", "evil"},
                           {"Content-Length", "1000"},
                           {"Transfer-Encoding", "chunked"},
                           {"Connection", "close"},
                           {"Upgrade", "x"},
                           {"Accept-Encoding", "br"},
                           {"X-Own", "y"}},
               .body = "x"});
  const ServerRequest seen = shown.get();
  EXPECT_EQ(seen.headers.get("host"), "127.0.0.1:" + std::to_string(server->port()));
  EXPECT_EQ(seen.headers.get("content-length"), "1");
  EXPECT_EQ(seen.headers.get("accept-encoding"), "gzip, deflate");
  EXPECT_FALSE(seen.headers.has("transfer-encoding"));
  EXPECT_FALSE(seen.headers.has("upgrade"));
  EXPECT_EQ(seen.headers.get("x-own"), "y");
}

TEST_P(TransportTest, SocketsAreWatchedOverByTheKernel) {
  const auto server = serve([](ServerRequest, Responder responder) { responder.send({}); });
  std::atomic<int> sockets = 0;
  const Transport transport = make({.onSocket = [&](int fd) {
    ++sockets;
    const auto option = [fd](int level, int name) {
      int value = 0;
      socklen_t size = sizeof value;
      getsockopt(fd, level, name, &value, &size);
      return value;
    };
    EXPECT_EQ(option(IPPROTO_TCP, TCP_NODELAY), 1);
    EXPECT_EQ(option(SOL_SOCKET, SO_KEEPALIVE), 1);
    // A silent peer is probed after the first time and given up after the last, so within 45 s.
    EXPECT_EQ(option(IPPROTO_TCP, TCP_KEEPIDLE), 15);
    EXPECT_EQ(option(IPPROTO_TCP, TCP_KEEPINTVL), 5);
    EXPECT_EQ(option(IPPROTO_TCP, TCP_USER_TIMEOUT), 30'000);
    throw std::runtime_error("what it throws is logged");
  }});
  transport.send({.url = server->url()});
  EXPECT_EQ(sockets, 1);
}

}  // namespace
}  // namespace kube
