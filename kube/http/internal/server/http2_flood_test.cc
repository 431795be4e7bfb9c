// Clients that send a server more HTTP/2 frames than requests, without TLS around them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/http/internal/server/http_session.h"

namespace kube {
namespace {

using ::testing::HasSubstr;

class Http2FloodTest : public ::testing::Test {
 protected:
  // A frame: length, type, flags, stream, and `size` zero bytes.
  static std::string frame(unsigned size, int type, int flags, unsigned stream) {
    std::string text;
    for (const int shift : {16, 8, 0}) text += static_cast<char>(size >> shift & 0xff);
    text += static_cast<char>(type);
    text += static_cast<char>(flags);
    for (const int shift : {24, 16, 8, 0}) text += static_cast<char>(stream >> shift & 0xff);
    return text + std::string(size, '\0');
  }
  // A request whose body has not been sent.
  static std::string openPost(unsigned stream) {
    const std::string fields =
        "\x83\x84\x86\x41\x01"
        "a";  // POST / http, of "a"
    std::string head = frame(0, 1, 4, stream);
    head[2] = static_cast<char>(fields.size());
    return head + fields;
  }

  void SetUp() override {
    int pair[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
    client_ = pair[0];
    boost::asio::ip::tcp::socket socket(io_);
    socket.assign(boost::asio::ip::tcp::v4(), pair[1]);
    session_ = detail::http2Session(
        server_, std::make_unique<detail::ServerSocket>(std::move(socket)), std::nullopt);
    session_->run();
    EXPECT_TRUE(say("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + std::string("\0\0\0\4\0\0\0\0\0", 9)));
  }
  ~Http2FloodTest() override {
    session_.reset();
    streams_.clear();
    close(client_);
    while (io_.run_one() > 0) {
    }
  }

  // Returns false once the server has closed the connection.
  bool say(std::string_view text) {
    while (!text.empty()) {
      const ssize_t count = send(client_, text.data(), text.size(), MSG_NOSIGNAL);
      if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
      io_.restart();
      io_.poll();
      char buffer[4096];
      for (ssize_t got = 0; (got = recv(client_, buffer, sizeof buffer, 0)) >= 0;) {
        if (got == 0) return false;
        heard_.append(buffer, static_cast<std::size_t>(got));
      }
      if (count < 0 && errno == EPIPE) return false;
    }
    return true;
  }
  bool flood(const std::string& one, std::size_t bytes) {
    std::string many;
    while (many.size() < 30'000) many += one;
    for (std::size_t said = 0; said < bytes; said += many.size()) {
      if (!say(many)) return false;
    }
    return true;
  }

  std::vector<ResponseStream> streams_;
  const std::shared_ptr<detail::ServerState> server_ = std::make_shared<detail::ServerState>(
      HttpServerOptions{.maxBodyBytes = 64 << 10,
                        .maxUnfinishedBytes = 1 << 20,
                        .headTime = std::chrono::milliseconds(20),
                        .bodyTime = std::chrono::milliseconds(20)},
      [this](const ServerRequest& request, const Responder& responder) {
        if (request.method != "GET") return responder.send({.body = "ok"});
        streams_.push_back(responder.stream(200, {}));
      });
  boost::asio::io_context io_;
  std::shared_ptr<detail::ServerSession> session_;
  int client_ = -1;
  std::string heard_;
};

TEST_F(Http2FloodTest, OfFramesThatAskForNothingEndsTheConnection) {
  EXPECT_FALSE(flood(frame(5, 2, 0, 1), 1 << 20)) << "PRIORITY";
  EXPECT_THAT(heard_, HasSubstr(std::string("\0\0\0\x0b", 4))) << "ENHANCE_YOUR_CALM";
}
TEST_F(Http2FloodTest, OfEmptyDataEndsTheConnection) {
  say(openPost(1));
  EXPECT_FALSE(flood(frame(0, 0, 0, 1), 1 << 20));
}
TEST_F(Http2FloodTest, OfUnknownFramesEndsTheConnection) {
  EXPECT_FALSE(flood(frame(0, 0x77, 0, 0), 1 << 20));
}
TEST_F(Http2FloodTest, OfWindowsEndsTheConnection) {
  std::string update = frame(4, 8, 0, 0);
  update.back() = 1;
  EXPECT_FALSE(flood(update, 32 << 20));
}
TEST_F(Http2FloodTest, OfDataBehindARefusedBodyEndsTheConnection) {
  say(openPost(1));
  EXPECT_FALSE(flood(frame(100, 0, 0, 1), 64 << 20));
  EXPECT_THAT(heard_, HasSubstr("413")) << "before that";
}
TEST_F(Http2FloodTest, OfUnfinishedBodiesIsRefused) {
  std::string bodies;
  for (unsigned stream = 1; stream < 100; stream += 2) {
    bodies += openPost(stream) + frame(16'000, 0, 0, stream) + frame(16'000, 0, 0, stream);
  }
  EXPECT_TRUE(say(bodies));
  EXPECT_THAT(heard_, HasSubstr("503"));
}
TEST_F(Http2FloodTest, IsWhatClientsUsuallySayNone) {
  for (unsigned stream = 1; stream < 400; stream += 2) {
    EXPECT_TRUE(say(openPost(stream) + frame(1000, 0, 0, stream) + frame(0, 0, 1, stream)));
  }
  EXPECT_EQ(server_->stats().requests, 200u);
}

TEST_F(Http2FloodTest, ARequestThatTakesTooLongIsRefusedAndStreamsGoOn) {
  std::string get = openPost(1);
  get[4] = 5;  // the stream ends with the head
  get[9] = '\x82';
  EXPECT_TRUE(say(get));
  ASSERT_EQ(streams_.size(), 1u);
  EXPECT_TRUE(say(openPost(3) + frame(100, 0, 0, 3)));
  while (session_->standing().deadline() > std::chrono::steady_clock::now()) {
  }
  session_->expire();
  EXPECT_TRUE(say(frame(8, 6, 0, 0)));
  EXPECT_THAT(heard_, HasSubstr("408"));
  EXPECT_TRUE(streams_.at(0).tryWrite("still here"));
  session_->bodyReady(1);
  EXPECT_TRUE(say(frame(8, 6, 0, 0)));
  EXPECT_THAT(heard_, HasSubstr("still here"));
}

}  // namespace
}  // namespace kube
