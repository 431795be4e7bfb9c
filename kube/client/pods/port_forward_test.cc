#include "kube/client/pods/port_forward.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>

#include "kube/client/pods/internal/local_program_testing.h"
#include "kube/client/pods/internal/pod_server_testing.h"
#include "kube/http/internal/raw_server_testing.h"
#include "kube/http/internal/streams/server_websocket.h"
#include "kube/http/internal/streams/spdy_client_testing.h"
#include "kube/http/internal/streams/websocket_frames.h"
#include "kube/meta/api_error.h"
#include "kube/testing/scripted_server.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::PortConnection;

// Collects the reports of a PortForward.
class Problems {
 public:
  auto callback() {
    return [this](const BoundPort&, const Error& error) {
      const std::lock_guard lock(mutex_);
      all_.emplace_back(error.what());
      changed_.notify_all();
    };
  }
  std::string next() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, 30s, [&] { return all_.size() > taken_; })) return "none";
    return all_[taken_++];
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> all_;
  std::size_t taken_ = 0;
};

class PortForwardTest : public PodServerTest {
 protected:
  // Waits until a number is reached, and fails if it is not.
  static void await(const std::function<std::size_t()>& number, std::size_t wanted) {
    const auto deadline = std::chrono::steady_clock::now() + 30s;
    while (number() != wanted && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
    }
    EXPECT_EQ(number(), wanted);
  }
};

TEST_F(PortForwardTest, BytesGoBothWays) {
  const PortForward forward = pods().portForward("web", {{.remote = 7}});
  ASSERT_FALSE(forward.ports().empty());
  EXPECT_EQ(forward.ports()[0].address, "127.0.0.1");
  EXPECT_EQ(forward.ports()[0].remote, 7);
  const LocalProgram client(forward.ports()[0].local);
  client.say("hello");
  EXPECT_EQ(client.hear(5), "hello");
  client.say(std::string("a\0\xff", 3));
  EXPECT_EQ(client.hear(3), std::string("a\0\xff", 3));
}

TEST_F(PortForwardTest, BothSidesMayEndTheirInput) {
  server.containers().port("book/web", 90, [](PortConnection& client) {
    std::string all;
    while (const auto piece = client.read()) all += *piece;
    client.write("heard " + all);
  });
  const PortForward forward = pods().portForward("web", {{.remote = 90}});
  const LocalProgram client(forward.ports()[0].local);
  client.say("all of it");
  client.endInput();
  EXPECT_EQ(client.rest(), "heard all of it");
  await([&] { return forward.connections(); }, 0);
}

TEST_F(PortForwardTest, ForwardsSeveralPortsAndAFixedOne) {
  server.containers().port("", 91, [](PortConnection& client) { client.write("ninety-one"); });
  const std::uint16_t taken = pods().portForward("web", {{.remote = 7}}).ports()[0].local;
  const PortForward forward = pods().portForward(
      "web", {{.local = taken, .remote = 91}, {.remote = 80}}, {.addresses = {"127.0.0.1"}});
  ASSERT_EQ(forward.ports().size(), 2u);
  EXPECT_EQ(forward.ports()[0], (BoundPort{"127.0.0.1", taken, 91}));
  EXPECT_EQ(LocalProgram(taken).rest(), "ninety-one");
  const LocalProgram http(forward.ports()[1].local);
  http.say("GET / HTTP/1.1\r\n\r\n");
  EXPECT_THAT(http.rest(), HasSubstr("hello"));
}

TEST_F(PortForwardTest, ARefusedPortIsReported) {
  Problems problems;
  const PortForward forward =
      pods().portForward("web", {{.remote = 99}, {.remote = 7}},
                         {.addresses = {"127.0.0.1"}, .onError = problems.callback()});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(LocalProgram(forward.ports()[0].local).rest(), "");
    EXPECT_THAT(problems.next(), AllOf(HasSubstr("-> 99"), HasSubstr("connection refused")));
  }
  const LocalProgram client(forward.ports()[1].local);
  client.say("still there");
  EXPECT_EQ(client.hear(11), "still there");
}

TEST_F(PortForwardTest, ForwardsAHundredConnectionsAtOnce) {
  const PortForward forward = pods().portForward("web", {{.remote = 7}});
  constexpr int kConnections = 100;
  std::deque<LocalProgram> clients;
  for (int i = 0; i < kConnections; ++i) clients.emplace_back(forward.ports()[0].local);
  // All connections are open at the same time.
  for (int i = 0; i < kConnections; ++i) {
    ASSERT_TRUE(clients[i].connected());
    ASSERT_TRUE(
        clients[i].say(std::string(20'000, static_cast<char>('a' + i % 26)) + std::to_string(i)));
  }
  await([&] { return forward.connections(); }, kConnections);
  for (int i = kConnections - 1; i >= 0; --i) {
    const std::string wanted =
        std::string(20'000, static_cast<char>('a' + i % 26)) + std::to_string(i);
    EXPECT_EQ(clients[i].hear(wanted.size()), wanted);
  }
  clients.clear();
  await([&] { return forward.connections(); }, 0);
}

TEST_F(PortForwardTest, LargeAmountsAreUnchanged) {
  const PortForward forward = pods().portForward("web", {{.remote = 7}});
  const LocalProgram client(forward.ports()[0].local);
  constexpr std::size_t kBlock = 1 << 20, kBlocks = 16;
  Checksum sent, heard;
  std::jthread writer([&] {
    NoiseSource noise;
    for (std::size_t i = 0; i < kBlocks; ++i) {
      const std::string block = noise.next(kBlock);
      sent.add(block);
      if (!client.say(block)) return;
    }
  });
  for (std::size_t i = 0; i < kBlocks; ++i) heard.add(client.hear(kBlock));
  writer.join();
  EXPECT_EQ(heard.hex(), sent.hex());
}

TEST_F(PortForwardTest, ALostConnectionIsOpenedAgain) {
  Problems problems;
  const PortForward forward =
      pods().portForward("web", {{.remote = 7}}, {.onError = problems.callback()});
  const LocalProgram first(forward.ports()[0].local);
  first.say("one");
  EXPECT_EQ(first.hear(3), "one");
  server.restart();
  EXPECT_EQ(first.rest(), "");
  EXPECT_THAT(problems.next(), HasSubstr("lost connection to pod"));
  const LocalProgram second(forward.ports()[0].local);
  second.say("two");
  EXPECT_EQ(second.hear(3), "two");
}

TEST_F(PortForwardTest, ThePodNoticesThatAProgramHasClosedItsConnection) {
  std::promise<void> gone;
  server.containers().port("book/web", 90, [&](PortConnection& client) {
    while (client.write(std::string(10'000, 'x'))) {
    }
    gone.set_value();
  });
  const PortForward forward = pods().portForward("web", {{.remote = 90}});
  { EXPECT_EQ(LocalProgram(forward.ports()[0].local).hear(10), "xxxxxxxxxx"); }
  EXPECT_EQ(gone.get_future().wait_for(30s), std::future_status::ready);
}

TEST_F(PortForwardTest, AStopEndsForwarding) {
  std::stop_source stop;
  const PortForward forward = pods().portForward("web", {{.remote = 7}}, {}, stop.get_token());
  const LocalProgram client(forward.ports()[0].local);
  client.say("one");
  EXPECT_EQ(client.hear(3), "one");
  auto waiter = std::async(std::launch::async, [&] { forward.wait(); });
  stop.request_stop();
  EXPECT_EQ(waiter.wait_for(30s), std::future_status::ready);
  EXPECT_EQ(client.rest(), "");
  EXPECT_FALSE(LocalProgram(forward.ports()[0].local).connected());
}

TEST_F(PortForwardTest, InvalidRequestsAreRefused) {
  EXPECT_THAT(thrown<ApiError>([&] { pods().portForward("nobody", {{.remote = 7}}); }),
              HasSubstr("not found"));
  EXPECT_THAT(thrown<Error>([&] { pods().portForward("web", {}); }), HasSubstr("no ports given"));
  EXPECT_THAT(thrown<Error>([&] { pods().portForward("web", {{.remote = 0}}); }),
              HasSubstr("0 is not a port of a pod"));
  const auto to = [&](const char* address, std::uint16_t port) {
    return thrown<Error>([&] {
      pods().portForward("web", {{.local = port, .remote = 7}}, {.addresses = {address}});
    });
  };
  EXPECT_THAT(to("here", 0), HasSubstr("\"here\" is neither an IP address"));
  const PortForward forward = pods().portForward("web", {{.remote = 7}});
  EXPECT_THAT(to("127.0.0.1", forward.ports()[0].local), HasSubstr("Address already in use"));
}

// --- A server without tunnels: a WebSocket for each connection, with channels 0 and 1.

class ChannelServer {
 public:
  using Serve = std::function<void(detail::ServerWebSocket& socket, std::string_view said)>;

  explicit ChannelServer(Serve serve) : serve_(std::move(serve)) {}

  PodClient pods() const { return clients_.coreV1().pods("book"); }
  std::vector<ServerRequest> requests() const { return server_.requests(); }

 private:
  const Serve serve_;
  ScriptedServer server_{
      ScriptedServer::RawScript([this](const ServerRequest& request, const Responder& responder) {
        detail::ServerWebSocket::accept(
            request, responder, "portforward.k8s.io", [this](const auto& socket) {
              for (const char channel : {0, 1}) {
                const char port[] = {channel, 80, 0};
                socket->sendNow({port, sizeof port});
              }
              socket->start({.onData =
                                 [this, socket](std::string_view piece, bool first, bool) {
                                   if (first) piece.remove_prefix(1);
                                   serve_(*socket, piece);
                                 },
                             .onClosed = [] {}});
            });
      })};
  const Clientset clients_{server_.config()};
};

TEST(PortForwardByChannelsTest, EachConnectionHasItsOwnWebSocket) {
  const ChannelServer server([](detail::ServerWebSocket& socket, std::string_view said) {
    socket.sendNow(std::string(1, '\0').append("heard ").append(said));
    if (said == "bye") socket.close(1000);
  });
  const PortForward forward = server.pods().portForward("web", {{.remote = 80}});
  const LocalProgram a(forward.ports()[0].local), b(forward.ports()[0].local);
  a.say("a");
  EXPECT_EQ(a.hear(7), "heard a");
  b.say("bye");
  EXPECT_EQ(b.rest(), "heard bye");
  a.say("more");
  EXPECT_EQ(a.hear(10), "heard more");
  ASSERT_EQ(server.requests().size(), 3u) << "one to learn the server's protocol";
  EXPECT_THAT(server.requests()[1].target, HasSubstr("/pods/web/portforward?ports=80"));
  EXPECT_EQ(server.requests()[1].headers.get("Sec-WebSocket-Protocol"),
            "SPDY/3.1+portforward.k8s.io, v4.channel.k8s.io, portforward.k8s.io");
}

TEST(PortForwardByChannelsTest, ErrorsAreReported) {
  const ChannelServer server([](detail::ServerWebSocket& socket, std::string_view) {
    socket.sendNow("\1connection refused");
    socket.close(1000);
  });
  Problems problems;
  const PortForward forward =
      server.pods().portForward("web", {{.remote = 80}}, {.onError = problems.callback()});
  for (int i = 0; i < 2; ++i) {
    const LocalProgram client(forward.ports()[0].local);
    client.say("hello?");
    EXPECT_EQ(client.rest(), "");
    EXPECT_THAT(problems.next(), HasSubstr("connection refused"));
  }
}

// --- A server that sends requests and does not read the answers.

TEST(PortForwardToTest, AServerThatReadsNoAnswersIsDisconnected) {
  constexpr std::size_t kTooMuch = 64 << 20;
  std::atomic<std::size_t> written = 0;
  std::promise<void> over;
  RawServer server([&](RawConnection& connection, int) {
    const std::string head = connection.readHead();
    constexpr std::string_view kKey = "Sec-WebSocket-Key: ";
    const std::size_t at = head.find(kKey) + kKey.size();
    const std::string key = head.substr(at, head.find('\r', at) - at);
    connection.write(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Protocol: SPDY/3.1+portforward.k8s.io\r\nSec-WebSocket-Accept: " +
        detail::webSocketAcceptKey(key) + "\r\n\r\n");
    std::string pings, message;
    for (int i = 0; i < 5000; ++i) pings += detail::SpdyPeer::ping(2);
    detail::appendWebSocketFrame(message, detail::WebSocketOpcode::Binary, {}, pings, nullptr);
    while (written < kTooMuch && connection.write(message)) written += message.size();
    over.set_value();
  });
  Config config;
  config.host = server.url();
  config.proxy = "direct";
  const Clientset clients(config);
  const PortForward forward = clients.coreV1().pods("book").portForward("web", {{.remote = 80}});
  EXPECT_EQ(over.get_future().wait_for(60s), std::future_status::ready);
  EXPECT_LT(written, kTooMuch);
}

}  // namespace
}  // namespace kube
