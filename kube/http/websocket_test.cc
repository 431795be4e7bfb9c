#include "kube/http/websocket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <mutex>

#include "kube/base/error.h"
#include "kube/http/internal/raw_server_testing.h"
#include "kube/http/internal/streams/server_websocket.h"
#include "kube/http/internal/streams/websocket_frames.h"
#include "kube/http/transport.h"
#include "kube/testing/scripted_server.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using detail::ServerWebSocket;
using ::testing::AllOf;
using ::testing::HasSubstr;

// Records the messages.
class SocketRecorder final : public WebSocketListener {
 public:
  std::size_t onData(std::string_view piece, bool, bool last) override {
    const std::lock_guard lock(mutex_);
    text_ += piece;
    if (last) text_ += '|';
    changed_.notify_all();
    return holding_ ? 0 : piece.size();
  }
  void onClosed(WebSocketEnd end) noexcept override {
    const std::lock_guard lock(mutex_);
    end_ = std::move(end);
    changed_.notify_all();
  }

  void hold() { holding_ = true; }
  std::string text(std::size_t size) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, 30s, [&] { return text_.size() >= size || end_; });
    return text_;
  }
  WebSocketEnd end() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, 30s, [&] { return end_.has_value(); })) return {};
    return *end_;
  }
  std::string problem() {
    const WebSocketEnd how = end();
    if (!how.error) return "none";
    try {
      std::rethrow_exception(how.error);
    } catch (const TransportError& error) {
      return error.what();
    } catch (const std::exception& error) {
      return std::string("another kind: ") + error.what();
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
  std::optional<WebSocketEnd> end_;
  std::atomic<bool> holding_ = false;
};

// A server that accepts every WebSocket, and hands it to the test.
class WebSocketTest : public ::testing::Test {
 protected:
  using Answer = std::function<void(const std::shared_ptr<ServerWebSocket>&)>;

  WebSocket open(Answer answer, const std::stop_token& stop = {}, TransportOptions options = {}) {
    answer_ = std::move(answer);
    options.tls.caData = server_.config().tls.caData;
    options.proxy = "direct";
    transport_.emplace(options);
    return WebSocket::open(*transport_, {.url = server_.config().host + "/a?b=c"}, {"x", "y"},
                           listener_, stop);
  }

  std::shared_ptr<SocketRecorder> listener_ = std::make_shared<SocketRecorder>();
  std::optional<Transport> transport_;
  Answer answer_;
  ScriptedServer server_{
      ScriptedServer::RawScript([this](const ServerRequest& request, const Responder& responder) {
        ServerWebSocket::accept(request, responder, "y", answer_);
      })};
};

// Sends every message back.
void echoMessages(const std::shared_ptr<ServerWebSocket>& socket) {
  socket->start({.onData = [socket](std::string_view piece, bool, bool) { socket->sendNow(piece); },
                 .onClosed = [] {}});
}

TEST_F(WebSocketTest, MessagesGoBothWaysOverTls) {
  const WebSocket socket = open(echoMessages);
  EXPECT_EQ(socket.status(), 101);
  EXPECT_EQ(socket.protocol(), "y");
  EXPECT_TRUE(socket.send("he", "llo"));
  EXPECT_TRUE(socket.send("", ""));
  EXPECT_TRUE(socket.send("there"));
  EXPECT_EQ(listener_->text(13), "hello||there|");
  EXPECT_EQ(server_.requests()[0].httpVersion, 1);
  EXPECT_EQ(server_.requests()[0].target, "/a?b=c");
}

TEST_F(WebSocketTest, WhatTheServerSaysAtOnceIsHeard) {
  const WebSocket socket = open([](const auto& server) {
    server->sendNow("first");
    server->sendNow("second");
    server->start({});
  });
  EXPECT_EQ(listener_->text(13), "first|second|");
}

TEST_F(WebSocketTest, TheServersGoodbyeIsAnsweredAndTold) {
  std::promise<void> closed;
  const WebSocket socket = open([&](const auto& server) {
    server->start({.onData = {}, .onClosed = [&] { closed.set_value(); }});
    server->close(1001, "going home");
  });
  const WebSocketEnd end = listener_->end();
  EXPECT_EQ(end.code, 1001);
  EXPECT_EQ(end.reason, "going home");
  EXPECT_EQ(end.error, nullptr);
  EXPECT_EQ(closed.get_future().wait_for(30s), std::future_status::ready);
  EXPECT_FALSE(socket.send("late"));
  EXPECT_FALSE(socket.waitForRoom() && socket.send("late"));
}

TEST_F(WebSocketTest, OurGoodbyeIsAnswered) {
  const WebSocket socket = open(echoMessages);
  socket.close(1000, "done");
  EXPECT_FALSE(socket.send("late"));
  EXPECT_EQ(listener_->end().code, 1000);
}

TEST_F(WebSocketTest, AnEndWithoutGoodbyeIsATransportError) {
  const WebSocket socket = open([](const auto& server) {
    server->sendNow("half");
    server->cut();
  });
  EXPECT_THAT(listener_->problem(), HasSubstr("closed in the middle"));
  EXPECT_EQ(listener_->text(5), "half|");
}

TEST_F(WebSocketTest, AStopEndsItAsDoesTheTransportsEnd) {
  std::stop_source stop;
  const WebSocket socket = open(echoMessages, stop.get_token());
  stop.request_stop();
  EXPECT_THAT(listener_->problem(), HasSubstr("canceled"));

  listener_ = std::make_shared<SocketRecorder>();
  const WebSocket other = open(echoMessages);
  transport_->shutdown();
  EXPECT_THAT(listener_->problem(), HasSubstr("shut down"));
  EXPECT_FALSE(other.send("late"));
  EXPECT_THROW(WebSocket::open(*transport_, {.url = server_.config().host}, {"y"}, listener_),
               CanceledError);
}

TEST_F(WebSocketTest, WhoDoesNotTakeMakesTheServerWait) {
  listener_->hold();
  std::atomic<std::size_t> sent = 0;
  std::stop_source over;
  std::promise<std::shared_ptr<ServerWebSocket>> opened;
  const WebSocket socket = open([&](const auto& server) {
    server->start({});
    opened.set_value(server);
  });
  const auto server = opened.get_future().get();
  std::jthread sender([&] {
    const std::string block(64 << 10, 'x');
    while (server->send({}, block, over.get_token())) sent += block.size();
  });
  EXPECT_GT(listener_->text(1 << 20).size(), 1u << 20);
  for (int i = 0; i < 50; ++i) transport_->stats();
  EXPECT_LT(sent, 16u << 20);
  over.request_stop();
}

TEST_F(WebSocketTest, PingsKeepItAlive) {
  // An answered ping restarts the timeout, so a long silence of the application does no harm.
  const WebSocket socket =
      open(echoMessages, {}, {.pingAfter = 5ms, .pingTimeout = std::chrono::seconds{30}});
  const auto before = transport_->stats().bytesReceived;
  while (transport_->stats().bytesReceived < before + 6) std::this_thread::yield();
  EXPECT_TRUE(socket.send("alive"));
  EXPECT_EQ(listener_->text(6), "alive|");
}

TEST_F(WebSocketTest, AServerThatAnswersNoPingIsGivenUp) {
  const WebSocket socket = open(echoMessages, {}, {.pingAfter = 20ms, .pingTimeout = 20ms});
  server_.http().setSilent(true);
  EXPECT_THAT(listener_->problem(), HasSubstr("no answer to a ping within 20 ms"));
  server_.http().setSilent(false);
}

// --- Bad servers, byte by byte.

// Reads a request, and answers it with the right key and these bytes.
class BadServer {
 public:
  explicit BadServer(std::string headers, std::string frames)
      : server_(
            [headers = std::move(headers), frames = std::move(frames)](RawConnection& client, int) {
              const std::string head = client.readHead();
              const std::size_t at = head.find("Sec-WebSocket-Key: ") + 19;
              const std::string key = head.substr(at, head.find('\r', at) - at);
              std::string answer = headers;
              const std::size_t accept = answer.find("KEY");
              if (accept != std::string::npos) {
                answer.replace(accept, 3, detail::webSocketAcceptKey(key));
              }
              client.write("HTTP/1.1 101 Switching Protocols\r\n" + answer + "\r\n" + frames);
              client.waitForClose();
            }) {}

  std::string problem() {
    const auto listener = std::make_shared<SocketRecorder>();
    const Transport transport({.proxy = "direct"});
    try {
      const WebSocket socket =
          WebSocket::open(transport, {.url = "http://" + server_.address()}, {"y"}, listener);
      return listener->problem();
    } catch (const TransportError& error) {
      return std::string("refused: ") + error.what();
    }
  }

 private:
  RawServer server_;
};

constexpr const char* kUpgraded =
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: KEY\r\n"
    "Sec-WebSocket-Protocol: y\r\n";

TEST(BadWebSocketServerTest, AnswersThatAreNoWebSockets) {
  const auto problem = [](std::string headers) {
    return BadServer(std::move(headers), "").problem();
  };
  EXPECT_THAT(problem("Upgrade: SPDY/3.1\r\nConnection: Upgrade\r\n"),
              AllOf(HasSubstr("refused"), HasSubstr("switches to \"SPDY/3.1\"")));
  EXPECT_THAT(problem("Upgrade: websocket\r\nConnection: Upgrade\r\n"), HasSubstr("does not fit"));
  EXPECT_THAT(problem("Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: KEY\r\n"),
              HasSubstr("chose the protocol \"\"; expected y"));
  EXPECT_THAT(problem(std::string(kUpgraded) + "Sec-WebSocket-Extensions: permessage-deflate\r\n"),
              HasSubstr("extensions"));
}

TEST(BadWebSocketServerTest, FramesThatAreNone) {
  for (const std::string& frames :
       {std::string("\x82\x81mask!"), std::string("\xf2\x01x"), std::string("\x80\x01x"),
        std::string("\x88\x01x"), std::string("\x83\0", 2), std::string("HTTP/1.1 200 OK\r\n")}) {
    EXPECT_THAT(BadServer(kUpgraded, frames).problem(), HasSubstr("violates the protocol"))
        << ::testing::PrintToString(frames);
  }
}

}  // namespace
}  // namespace kube
