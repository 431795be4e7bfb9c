#include "kube/http/internal/streams/server_websocket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "kube/apiserver/pods/pod_pipe.h"
#include "kube/apiserver/pods/pod_socket_testing.h"
#include "kube/base/error.h"

namespace kube::apiserver {
namespace {

using kube::detail::ServerWebSocket;
using kube::detail::WebSocketFrames;
using ::testing::ElementsAre;

std::vector<std::string> partsOf(std::string bytes, std::size_t pieceSize) {
  WebSocketFrames frames(WebSocketFrames::From::Client);
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < bytes.size(); at += pieceSize) {
    std::span<char> rest(bytes.data() + at, std::min(pieceSize, bytes.size() - at));
    while (const auto part = frames.next(rest)) {
      parts.push_back(fmt::format("{}{}{}{}", static_cast<int>(part->event), part->first ? "<" : "",
                                  part->payload, part->last ? ">" : ""));
    }
    EXPECT_TRUE(rest.empty());
  }
  return parts;
}

TEST(WebSocketFramesTest, PayloadsComeAsTheyArrive) {
  const std::string bytes = PodSocket::frame(PodSocket::kBinary, "abcdefghijkl") +
                            PodSocket::frame(PodSocket::kPing, "p") +
                            PodSocket::frame(PodSocket::kText, "", false) +
                            PodSocket::frame(PodSocket::kContinuation, "xy");
  EXPECT_THAT(partsOf(bytes, bytes.size()), ElementsAre("0<abcdefghijkl>", "1<p>", "0<", "0xy>"));
  EXPECT_THAT(partsOf(bytes, 9), ElementsAre("0<abc", "0defghijkl>", "1<p>", "0<", "0xy>"));
  EXPECT_THAT(partsOf(bytes, 1), ElementsAre("0<a", "0b", "0c", "0d", "0e", "0f", "0g", "0h", "0i",
                                             "0j", "0k", "0l>", "1<p>", "0<", "0x", "0y>"));
}

TEST(WebSocketFramesTest, MasksGoOnOverPieces) {
  const std::string text = someBytes(1000);
  for (const std::size_t size : {1, 3, 8, 13, 500}) {
    WebSocketFrames frames(WebSocketFrames::From::Client);
    std::string bytes = PodSocket::frame(PodSocket::kBinary, text), got;
    for (std::size_t at = 0; at < bytes.size(); at += size) {
      std::span<char> rest(bytes.data() + at, std::min(size, bytes.size() - at));
      while (const auto part = frames.next(rest)) got += part->payload;
    }
    EXPECT_EQ(got, text) << size;
  }
}

TEST(PodPipeTest, SaysOnceThatItIsFullAndOnceThatThereIsRoom) {
  int room = 0;
  PodPipe pipe([&] { ++room; });
  EXPECT_FALSE(pipe.push("x"));
  const std::string much(PodPipe::kLimit, 'y');
  EXPECT_TRUE(pipe.push(much));
  EXPECT_FALSE(pipe.push(much));
  EXPECT_EQ(pipe.read()->size(), 1 + 2 * much.size());
  EXPECT_EQ(room, 1);
  EXPECT_TRUE(pipe.push(much));
  pipe.abandon();
  EXPECT_EQ(room, 2);
  EXPECT_FALSE(pipe.push(much));
  EXPECT_EQ(pipe.read(), std::nullopt);
}

TEST(RawStreamTest, TheEndIsToldWhoeverEndsIt) {
  for (const bool byServer : {true, false}) {
    std::promise<void> taken, ended;
    std::atomic<int> ends = 0;
    HttpServer server({}, [&](ServerRequest, Responder responder) {
      responder.upgrade({{"Upgrade", "x"}}, [&](RawStream stream) {
        stream.read([&, stream](std::string_view bytes) {
          if (!bytes.empty()) return taken.set_value();
          if (++ends == 1) ended.set_value();
        });
      });
    });
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(server.port());
    ASSERT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    constexpr std::string_view kRequest =
        "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nearly";
    ASSERT_EQ(send(fd, kRequest.data(), kRequest.size(), 0), static_cast<ssize_t>(kRequest.size()));
    taken.get_future().get();
    byServer ? server.stop() : static_cast<void>(shutdown(fd, SHUT_RDWR));
    ended.get_future().get();
    close(fd);
    server.stop();
    EXPECT_EQ(ends, 1);
  }
}

TEST_F(PodStreamsTest, AfterASilenceItGoesOn) {
  PodSocket client(server, execPath("cat"), "v5.channel.k8s.io");
  client.send(0, "before");
  EXPECT_EQ(client.next()->payload, "\1before");
  server.goSilent(true);
  client.send(0, "during");
  server.goSilent(false);
  EXPECT_EQ(client.next()->payload, "\1during");
  client.closeChannel(0);
  EXPECT_EQ(client.finish().exitCode(), 0);
}

TEST_F(PodStreamsTest, ARestartCutsConnections) {
  PodSocket client(server, execPath("cat"), "v5.channel.k8s.io");
  client.send(0, "x");
  EXPECT_EQ(client.next()->payload, "\1x");
  server.restart();
  EXPECT_EQ(client.next(), std::nullopt);
}

}  // namespace
}  // namespace kube::apiserver
