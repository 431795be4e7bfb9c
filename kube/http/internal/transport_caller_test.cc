// A caller that waits does the I/O of its connection: the effects on other calls of the connection,
// and how such a call ends. Each test makes the connection by a first call, since the I/O thread
// does that.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "kube/base/error.h"
#include "kube/http/http_server.h"
#include "kube/http/internal/transport_ca_testing.h"
#include "kube/http/transport.h"
#include "kube/testing/test_ca.h"

namespace kube {
namespace {

using namespace std::chrono_literals;

struct Listener : HttpReceiver {
  void onHeaders(HttpResponse) override {}
  std::size_t onBody(std::string_view body) override { return body.size(); }
  void onDone(std::exception_ptr error) noexcept override { done.set_value(std::move(error)); }
  std::promise<std::exception_ptr> done;
};

class TransportCallerTest : public ::testing::TestWithParam<int> {
 protected:
  // The server answers "/" at once, "/wait" when the test does, "/stream" with a stream of the
  // test.
  TransportCallerTest()
      : server({.tls = ServerTls{ca().server({"127.0.0.1"})}},
               [this](const ServerRequest& request, Responder responder) {
                 if (request.target == "/wait") {
                   return waiting.set_value(std::move(responder));
                 }
                 if (request.target == "/stream") {
                   return streaming.set_value(responder.stream(200, {}));
                 }
                 if (request.target == "/moved") {
                   return responder.send({.status = 302, .headers = {{"Location", "/wait"}}});
                 }
                 responder.send({.body = "ok"});
               }),
        transport({.tls = {.caData = ca().certPem()}, .disableHttp2 = GetParam() == 1}) {
    EXPECT_EQ(get("/"), "ok");
  }

  std::string get(std::string_view path, std::chrono::nanoseconds timeout = {},
                  std::stop_token stop = {}) const {
    return transport.send({.url = server.url() + std::string(path), .timeout = timeout}, stop).body;
  }
  std::future<std::string> getLater(std::string path, std::stop_token stop = {}) const {
    return std::async(std::launch::async, [this, path = std::move(path), stop = std::move(stop)] {
      return get(path, {}, stop);
    });
  }

  std::promise<Responder> waiting;
  std::promise<ResponseStream> streaming;
  HttpServer server;
  Transport transport;
};

INSTANTIATE_TEST_SUITE_P(Http, TransportCallerTest, ::testing::Values(1, 2),
                         [](const auto& info) { return "Version" + std::to_string(info.param); });

TEST_P(TransportCallerTest, ACallThatWaitsIsAnswered) {
  auto call = getLater("/wait");
  waiting.get_future().get().send({.body = "late"});
  EXPECT_EQ(call.get(), "late");
  EXPECT_EQ(transport.stats().connectionsMade, 1u);
}

TEST_P(TransportCallerTest, ATimeoutEndsIt) { EXPECT_THROW(get("/wait", 50ms), TimeoutError); }

TEST_P(TransportCallerTest, AStopEndsIt) {
  std::stop_source stop;
  auto call = getLater("/wait", stop.get_token());
  const Responder held = waiting.get_future().get();
  stop.request_stop();
  ASSERT_EQ(call.wait_for(10s), std::future_status::ready);
  EXPECT_THROW(call.get(), CanceledError);
  EXPECT_EQ(get("/"), "ok");
}

TEST_P(TransportCallerTest, AShutdownEndsIt) {
  auto call = getLater("/wait");
  const Responder held = waiting.get_future().get();
  transport.shutdown();
  ASSERT_EQ(call.wait_for(10s), std::future_status::ready);
  EXPECT_THROW(call.get(), CanceledError);
}

TEST_P(TransportCallerTest, AServerThatStopsEndsIt) {
  auto call = getLater("/wait");
  const Responder held = waiting.get_future().get();
  server.stop();
  ASSERT_EQ(call.wait_for(10s), std::future_status::ready);
  EXPECT_THROW(call.get(), TransportError);
}

TEST_P(TransportCallerTest, ARedirectIsFollowed) {
  auto call = getLater("/moved");
  waiting.get_future().get().send({.body = "moved"});
  EXPECT_EQ(call.get(), "moved");
}

TEST_P(TransportCallerTest, ASignalDoesNotDisturbIt) {
  static std::atomic<int> signals;
  signals = 0;
  struct sigaction action {};
  action.sa_handler = [](int) { ++signals; };  // without SA_RESTART
  struct sigaction before {};
  sigaction(SIGUSR1, &action, &before);
  std::promise<pthread_t> thread;
  auto call = std::async(std::launch::async, [&] {
    thread.set_value(pthread_self());
    return get("/wait");
  });
  const Responder responder = waiting.get_future().get();
  const pthread_t id = thread.get_future().get();
  for (int sent = 1; sent <= 3; ++sent) {
    pthread_kill(id, SIGUSR1);
    while (signals < sent) std::this_thread::yield();
  }
  responder.send({.body = "undisturbed"});
  EXPECT_EQ(call.get(), "undisturbed");
  sigaction(SIGUSR1, &before, nullptr);
}

TEST_P(TransportCallerTest, OthersOnTheConnectionGetWhatIsTheirs) {
  HttpStream stream = transport.open({.url = server.url() + "/stream"});
  const ResponseStream writer = streaming.get_future().get();
  auto call = getLater("/wait");
  const Responder responder = waiting.get_future().get();
  for (const std::string piece : {"one", "two", "three"}) {
    ASSERT_TRUE(writer.write(String(piece)));
    std::string got;
    while (got.size() < piece.size()) got += *stream.read();
    EXPECT_EQ(got, piece);
  }
  EXPECT_EQ(get("/"), "ok");
  responder.send({.body = "late"});
  EXPECT_EQ(call.get(), "late");
  // The stream still works when the caller has left.
  ASSERT_TRUE(writer.write("four"));
  EXPECT_EQ(stream.read(), "four");
  writer.close();
  EXPECT_EQ(stream.read(), std::nullopt);
}

TEST_P(TransportCallerTest, ACallbackCannotWaitWhoeverCallsIt) {
  struct Waiter : HttpReceiver {
    Waiter(Transport transport, std::string url)
        : transport(std::move(transport)), url(std::move(url)) {}
    void onHeaders(HttpResponse) override {}
    std::size_t onBody(std::string_view) override {
      transport.send({.url = url});
      return 0;
    }
    void onDone(std::exception_ptr error) noexcept override { done.set_value(std::move(error)); }

    Transport transport;
    std::string url;
    std::promise<std::exception_ptr> done;
  };
  const auto waiter = std::make_shared<Waiter>(transport, server.url());
  transport.start({.url = server.url() + "/stream"}, waiter);
  const ResponseStream writer = streaming.get_future().get();
  auto call = getLater("/wait");
  const Responder responder = waiting.get_future().get();
  ASSERT_TRUE(writer.write("piece"));
  EXPECT_THROW(std::rethrow_exception(waiter->done.get_future().get()), Error);
  responder.send({.body = "late"});
  EXPECT_EQ(call.get(), "late");
}

// After a caller has given an idle connection back, the loop does not poll it for a while (see
// Connection).
TEST_P(TransportCallerTest, AServerThatHangsUpBetweenCallsIsNoticed) {
  EXPECT_EQ(get("/"), "ok");
  server.stop();
  while (transport.stats().connectionsOpen > 0) std::this_thread::yield();
}

// While a reader returns often, the loop does not poll its stream. When the reader stays away, the
// loop polls it again: after a while, or at once if the connection has other streams.
TEST_P(TransportCallerTest, AStreamThatWasReadOftenIsLookedAfterWhenItsReaderStaysAway) {
  HttpStream stream = transport.open({.url = server.url() + "/stream"});
  const ResponseStream writer = streaming.get_future().get();
  const auto readOften = [&] {
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(writer.write("x"));
      ASSERT_EQ(stream.read(), "x");
    }
  };
  readOften();
  EXPECT_EQ(get("/"), "ok");
  readOften();
  const auto listener = std::make_shared<Listener>();
  transport.start({.url = server.url()}, listener);
  EXPECT_EQ(listener->done.get_future().get(), nullptr);
  readOften();
  const auto before = transport.stats().bytesReceived;
  ASSERT_TRUE(writer.write("nobody reads this yet"));
  while (transport.stats().bytesReceived == before) std::this_thread::yield();
  EXPECT_EQ(stream.read(), "nobody reads this yet");
  readOften();
  server.stop();
  while (transport.stats().connectionsOpen > 0) std::this_thread::yield();
}

TEST_P(TransportCallerTest, ACallThatNobodyWaitsForFollowsOneThatSomebodyDid) {
  EXPECT_EQ(get("/"), "ok");
  HttpStream stream = transport.open({.url = server.url() + "/stream"});
  const ResponseStream writer = streaming.get_future().get();
  const auto listener = std::make_shared<Listener>();
  transport.start({.url = server.url()}, listener);
  EXPECT_EQ(listener->done.get_future().get(), nullptr);
  writer.close();
  EXPECT_EQ(stream.read(), std::nullopt);
}

// Blocks the I/O thread in a callback until `letGo` is set.
struct Blocker : Listener {
  void onHeaders(HttpResponse) override {
    blocked.set_value();
    letGo.get_future().wait();
  }
  std::promise<void> blocked, letGo;
};

// A reader that returns often has its connection to itself: no other thread polls it for data.
TEST_P(TransportCallerTest, AReaderThatFindsTheIoThreadBusyIsNotForgotten) {
  constexpr int kRounds = 20;
  const HttpServer other(
      {}, [](const ServerRequest&, const Responder& responder) { responder.send({.body = "ok"}); });
  HttpStream stream = transport.open({.url = server.url() + "/stream"});
  const ResponseStream writer = streaming.get_future().get();
  int late = 0;
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(writer.write("often"));
      ASSERT_TRUE(stream.read());
    }
    const auto blocker = std::make_shared<Blocker>();
    transport.start({.url = other.url()}, blocker);
    blocker->blocked.get_future().wait();
    std::atomic<bool> reads{false};
    auto reading = std::async(std::launch::async, [&] {
      reads = true;
      return stream.read().has_value();
    });
    while (!reads) std::this_thread::yield();
    for (int i = 0; i < 100; ++i)
      std::this_thread::yield();  // most likely the reader has tried by now
    const auto begun = std::chrono::steady_clock::now();
    blocker->letGo.set_value();
    ASSERT_TRUE(writer.write("now"));
    ASSERT_TRUE(reading.get());
    if (std::chrono::steady_clock::now() - begun > 80ms) ++late;
    EXPECT_EQ(blocker->done.get_future().get(), nullptr);
  }
  // A connection is reserved for 100 ms, which would delay every round. On a busy machine, some
  // rounds may be late.
  EXPECT_LT(late, kRounds / 2);
}

TEST_P(TransportCallerTest, ManyCallersTakeTurns) {
  constexpr int kCallers = 8;
  constexpr int kCalls = 200;
  std::atomic<int> right = 0;
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < kCallers; ++i) {
      callers.emplace_back([&] {
        for (int j = 0; j < kCalls; ++j) right += get("/", 30s) == "ok" ? 1 : 0;
      });
    }
  }
  EXPECT_EQ(right, kCallers * kCalls);
}

}  // namespace
}  // namespace kube
