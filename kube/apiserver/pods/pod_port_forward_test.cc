// Port-forward, by channels and by SPDY in a tunnel.
#include <gmock/gmock.h>

#include <future>
#include <thread>

#include "kube/apiserver/pods/pod_socket_testing.h"
#include "kube/base/internal/sanitizer.h"
#include "kube/http/internal/streams/spdy_client_testing.h"

namespace kube::apiserver {
namespace {

using kube::detail::SpdyHeaderList;
using kube::detail::SpdyPeer;

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kChannels = "v4.channel.k8s.io";
constexpr const char* kTunnel = "SPDY/3.1+portforward.k8s.io";

class PodPortForwardTest : public PodStreamsTest {};

TEST_F(PodPortForwardTest, EveryPortHasTwoChannelsThatBeginWithIt) {
  server.containers().port("default/web", 300, [](testing::PortConnection& client) {
    client.write(fmt::format("port {}", client.port()));
    client.read();
  });
  PodSocket client(server, "web/portforward?ports=7&ports=300", kChannels);
  EXPECT_EQ(client.next()->payload, std::string("\0\7\0", 3));
  EXPECT_EQ(client.next()->payload, std::string("\1\7\0", 3));
  EXPECT_EQ(client.next()->payload, std::string("\2\x2c\1", 3));
  EXPECT_EQ(client.next()->payload, std::string("\3\x2c\1", 3));
  EXPECT_EQ(client.next()->payload, "\2port 300");
  client.send(0, "hello");
  EXPECT_EQ(client.next()->payload, std::string("\0hello", 6));
  client.send(1, "nobody listens here");
  client.send(9, "nor here");
  client.send(0, "again");
  EXPECT_EQ(client.next()->payload, std::string("\0again", 6));
}

TEST_F(PodPortForwardTest, APortWhereNobodyListensRefuses) {
  PodSocket client(server, "web/portforward?ports=99", "");
  client.next();
  client.next();
  EXPECT_THAT(client.next()->payload,
              AllOf(StartsWith("\1error forwarding port 99 to pod default/web, uid : "),
                    HasSubstr("dial tcp4 127.0.0.1:99: connect: connection refused")));
  EXPECT_EQ(client.finish().code, 1000);
}

TEST_F(PodPortForwardTest, TheRequestIsChecked) {
  const auto refusal = [&](const std::string& path, int status = 400) {
    PodSocket client(server, path, kChannels);
    EXPECT_EQ(client.status(), status);
    return client.refusal();
  };
  EXPECT_EQ(refusal("web/portforward"), R"(query parameter "ports" is required)");
  EXPECT_EQ(refusal("web/portforward?ports=x"), R"(unable to parse "x" as a port)");
  EXPECT_EQ(refusal("web/portforward?ports=1,"), R"(unable to parse "1," as a port)");
  EXPECT_EQ(refusal("web/portforward?ports=70000"), R"(unable to parse "70000" as a port)");
  EXPECT_EQ(refusal("web/portforward?ports=0"), R"(port "0" must be > 0)");
  EXPECT_EQ(refusal("pending/portforward?ports=7"), "pod pending does not have a host assigned");
  EXPECT_EQ(refusal("nobody/portforward?ports=7", 404), R"(pods "nobody" not found)");
  EXPECT_EQ(PodSocket(server, "web/portforward?ports=7", "v9").status(), 403);
  std::string many = "7";
  for (int i = 0; i < 200; ++i) many += ",7";
  EXPECT_EQ(PodSocket(server, "web/portforward?ports=" + many, kChannels).status(), 400);
}

// --- SPDY.

class Tunnel {
 public:
  explicit Tunnel(const testing::ApiServer& server) : socket(server, "web/portforward", kTunnel) {}

  void say(const std::string& bytes) { socket.say(PodSocket::frame(PodSocket::kBinary, bytes)); }
  SpdyPeer::Frame next() {
    while (!peer.has()) {
      const auto frame = socket.next();
      if (!frame || frame->opcode != PodSocket::kBinary) return {.type = 0xffff};
      peer.hear(frame->payload);
    }
    return peer.next();
  }
  // The streams of a connection.
  void connect(std::uint32_t error, std::uint32_t data, const std::string& port) {
    const std::string request = std::to_string(error);
    say(peer.open(error, {{"streamtype", "error"}, {"port", port}, {"requestid", request}}));
    say(peer.open(data, {{"streamtype", "data"}, {"port", port}, {"requestid", request}}));
    EXPECT_EQ(reply().type, 2);
    EXPECT_EQ(reply().type, 2);
  }
  // Data of an earlier connection may come first.
  SpdyPeer::Frame reply() {
    SpdyPeer::Frame frame = next();
    while (frame.type == 0) frame = next();
    return frame;
  }
  // The data of a stream, until its end.
  std::string all(std::uint32_t stream) {
    std::string text;
    for (;;) {
      const SpdyPeer::Frame frame = next();
      if (frame.type != 0) return text + fmt::format("<{}>", frame.type);
      if (frame.stream != stream) continue;
      text += frame.body;
      if ((frame.flags & 1) != 0) return text;
    }
  }

  PodSocket socket;
  SpdyPeer peer;
};

TEST_F(PodPortForwardTest, ATunnelCarriesConnections) {
  Tunnel tunnel(server);
  ASSERT_EQ(tunnel.socket.status(), 101);
  tunnel.connect(1, 3, "7");
  tunnel.connect(5, 7, "7");
  tunnel.say(SpdyPeer::data(1, "", true));
  tunnel.say(SpdyPeer::data(3, "hello") + SpdyPeer::data(7, "second"));
  std::string first, second;
  while (first.size() < 5 || second.size() < 6) {
    const SpdyPeer::Frame frame = tunnel.next();
    ASSERT_EQ(frame.type, 0);
    (frame.stream == 3 ? first : second) += frame.body;
  }
  EXPECT_EQ(first, "hello");
  EXPECT_EQ(second, "second");
  tunnel.say(SpdyPeer::data(3, "bye", true));
  // The error stream ends first, then the data stream.
  EXPECT_EQ(tunnel.all(3), "bye");
  tunnel.say(SpdyPeer::reset(3) + SpdyPeer::ping(1));
  EXPECT_EQ(tunnel.next().type, 6);
  tunnel.say(SpdyPeer::data(7, "still there"));
  EXPECT_EQ(tunnel.next().body, "still there");
}

TEST_F(PodPortForwardTest, HttpIsAnsweredOnItsPort) {
  Tunnel tunnel(server);
  tunnel.connect(1, 3, "80");
  tunnel.say(SpdyPeer::data(3, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_THAT(tunnel.all(3),
              AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("\r\n\r\nhello\n")));
}

TEST_F(PodPortForwardTest, ATunnelTellsErrors) {
  Tunnel tunnel(server);
  tunnel.connect(1, 3, "99");
  EXPECT_THAT(tunnel.all(1), StartsWith("error forwarding port 99 to pod default/web, uid : "));
  EXPECT_EQ(tunnel.all(3), "");
  // The other connections go on.
  tunnel.connect(5, 7, "7");
  tunnel.say(SpdyPeer::data(7, "x", true));
  EXPECT_EQ(tunnel.all(7), "x");
}

TEST_F(PodPortForwardTest, StreamsThatSayNothingSensibleAreRefused) {
  Tunnel tunnel(server);
  const SpdyHeaderList bad[] = {
      {},
      {{"streamtype", "data"}},
      {{"streamtype", "data"}, {"port", "x"}},
      {{"streamtype", "data"}, {"port", "70000"}},
      {{"streamtype", "other"}, {"port", "7"}},
  };
  std::uint32_t stream = 1;
  for (const SpdyHeaderList& headers : bad) {
    tunnel.say(tunnel.peer.open(stream, headers));
    const SpdyPeer::Frame frame = tunnel.next();
    EXPECT_EQ(frame.type, 3);
    EXPECT_EQ(frame.stream, stream);
    EXPECT_EQ(frame.status, 3u);
    stream += 2;
  }
  // Never ends.
  bool refused = false;
  for (int i = 0; i < 300 && !refused; ++i, stream += 2) {
    tunnel.say(tunnel.peer.open(
        stream, {{"streamtype", "error"}, {"port", "7"}, {"requestid", std::to_string(stream)}}));
    refused = tunnel.next().type == 3;
  }
  EXPECT_TRUE(refused);
}

TEST_F(PodPortForwardTest, WhatIsNotSpdyEndsTheTunnel) {
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(100, '\xff')}) {
    Tunnel tunnel(server);
    tunnel.connect(1, 3, "7");
    tunnel.say(bytes);
    EXPECT_EQ(tunnel.next().type, 7);
    EXPECT_EQ(tunnel.socket.finish().code, 1002);
  }
}

TEST_F(PodPortForwardTest, AServiceHearsThatItsClientIsGone) {
  std::promise<void> reset, closed;
  server.containers().port("", 1000, [&](testing::PortConnection& client) {
    while (client.read()) {
    }
    EXPECT_TRUE(client.stop().stop_requested());
    EXPECT_FALSE(client.write("anyone?"));
    reset.set_value();
  });
  server.containers().port("", 1001, [&](testing::PortConnection& client) {
    while (client.read()) {
    }
    closed.set_value();
  });
  {
    Tunnel tunnel(server);
    tunnel.connect(1, 3, "1000");
    tunnel.say(SpdyPeer::reset(3));
    reset.get_future().get();
    tunnel.connect(5, 7, "1001");
  }
  closed.get_future().get();
}

TEST_F(PodPortForwardTest, MuchGoesBothWays) {
  const std::string sent = someBytes(kube::detail::testAmount(32 << 20));
  Tunnel tunnel(server);
  tunnel.connect(1, 3, "7");
  std::thread writer([&] {
    for (std::size_t at = 0; at < sent.size(); at += 50'000) {
      tunnel.say(SpdyPeer::data(3, sent.substr(at, 50'000)));
    }
    tunnel.say(SpdyPeer::data(3, "", true));
  });
  const std::string got = tunnel.all(3);
  writer.join();
  EXPECT_EQ(got.size(), sent.size());
  EXPECT_EQ(sha256(got), sha256(sent));
}

}  // namespace
}  // namespace kube::apiserver
