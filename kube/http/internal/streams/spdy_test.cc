#include "kube/http/internal/streams/spdy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "kube/base/error.h"
#include "kube/http/internal/streams/spdy_client_testing.h"

namespace kube::detail {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Records all events.
class SpdyRecorder final : public SpdyConnection {
 public:
  explicit SpdyRecorder(Side side = Side::Server) : SpdyConnection(side) {}

  std::vector<std::string> events;
  std::string sent;

 private:
  void opened(std::uint32_t stream, const SpdyHeaderList& headers, bool last) override {
    events.push_back(fmt::format("open {} {}{}", stream, headers.size(), last ? " last" : ""));
    accept(stream);
  }
  void data(std::uint32_t stream, std::string_view bytes, bool last) override {
    events.push_back(fmt::format("data {} {}{}", stream, bytes, last ? " last" : ""));
  }
  void wasReset(std::uint32_t stream) override {
    events.push_back(fmt::format("reset {}", stream));
  }
  bool write(std::string_view bytes, const std::stop_token&) override {
    sent += bytes;
    return true;
  }
  void writeNow(std::string_view bytes) override { sent += bytes; }
};

TEST(SpdyHeadersTest, TheDictionaryIsTheOneOfTheProtocol) {
  const std::string& words = SpdyHeaders::dictionary();
  EXPECT_EQ(words.size(), 1423u);
  EXPECT_EQ(adler32(adler32(0, nullptr, 0), reinterpret_cast<const Bytef*>(words.data()),
                    static_cast<uInt>(words.size())),
            0xe3c6a7c2UL);
}

TEST(SpdyHeadersTest, BlocksBuildOnThoseBefore) {
  const SpdyHeaderList headers{{"streamtype", "data"}, {"port", "80"}, {"requestid", "7"}};
  SpdyPeer client;
  SpdyHeaders server;
  const std::string first = client.pack(headers), second = client.pack(headers);
  EXPECT_LT(second.size(), first.size());
  EXPECT_EQ(server.unpack(first), headers);
  EXPECT_EQ(server.unpack(second), headers);
  EXPECT_EQ(server.unpack(client.pack({{"Upper", ""}})), (SpdyHeaderList{{"upper", ""}}));
  EXPECT_EQ(server.unpack(client.pack({})), SpdyHeaderList{});
}

TEST(SpdyHeadersTest, WhatIsNoBlockIsRefused) {
  EXPECT_THROW(SpdyHeaders().unpack("garbage"), DecodeError);
  EXPECT_THROW(SpdyHeaders().unpack(""), DecodeError);
  SpdyPeer client;
  std::string whole = client.pack({{"a", "b"}});
  EXPECT_THROW(SpdyHeaders().unpack(whole.substr(0, whole.size() - 8)), DecodeError);
  // A small block that decompresses to 10 MB.
  EXPECT_THROW(SpdyHeaders().unpack(SpdyPeer().pack({{"a", std::string(10 << 20, 'x')}})),
               DecodeError);
  // Lengths that exceed the block.
  EXPECT_THROW(
      SpdyHeaders().unpack(SpdyPeer().packText(std::string("\0\0\0\1\xff\xff\xff\xff", 8))),
      DecodeError);
  EXPECT_THROW(SpdyHeaders().unpack(SpdyPeer().packText("\xff\xff\xff\xff")), DecodeError);
}

TEST(SpdyConnectionTest, FramesMayComeInAnyPieces) {
  SpdyPeer client;
  const std::string bytes = client.open(1, {{"a", "b"}}) + client.data(1, "hello") +
                            client.settings() + client.windowUpdate(1) + client.ping(3) +
                            client.ping(2) + client.data(1, "", true) + client.reset(1);
  for (const std::size_t size : {std::size_t{1}, std::size_t{7}, bytes.size()}) {
    SpdyRecorder server;
    for (std::size_t at = 0; at < bytes.size(); at += size) {
      server.received(std::string_view(bytes).substr(at, size));
    }
    std::string data;
    for (const std::string& event : server.events) {
      if (event.starts_with("data 1 ")) data += event.substr(7);
    }
    EXPECT_EQ(data, "hello last");
    EXPECT_EQ(server.events.front(), "open 1 1");
    EXPECT_EQ(server.events.back(), "reset 1");
    SpdyPeer peer;
    peer.hear(server.sent);
    EXPECT_EQ(peer.next().type, 2);  // the reply
    const SpdyPeer::Frame ping = peer.next();
    EXPECT_EQ(ping.type, 6);
    EXPECT_EQ(ping.stream, 3u);
    EXPECT_FALSE(peer.has());
  }
}

TEST(SpdyConnectionTest, StreamsAreOddAndGrow) {
  SpdyPeer client;
  SpdyRecorder server;
  for (const std::uint32_t stream : {3, 2, 3, 1, 5}) server.received(client.open(stream, {}));
  server.received(client.goAway());
  server.received(client.open(7, {}));
  EXPECT_THAT(server.events, ElementsAre("open 3 0", "open 5 0"));
  SpdyPeer peer;
  peer.hear(server.sent);
  std::vector<std::string> sent;
  while (peer.has()) {
    const SpdyPeer::Frame frame = peer.next();
    sent.push_back(fmt::format("{} {} {}", frame.type, frame.stream, frame.status));
  }
  EXPECT_THAT(sent, ElementsAre("2 3 0", "3 2 1", "3 3 1", "3 1 1", "2 5 0", "3 7 3"));
}

TEST(SpdyConnectionTest, WhatIsNotSpdyIsRefused) {
  const std::string bad[] = {
      "GET / HTTP/1.1\r\n\r\n........",
      std::string("\x80\x02\0\6\0\0\0\4\0\0\0\1", 12),  // another version
      std::string("\x80\3\0\x63\0\0\0\0", 8) + " ",     // another type
      std::string("\x80\3\0\1\0\xff\xff\xff", 8),       // too long
      std::string("\x80\3\0\1\0\0\0\4\0\0\0\1", 12),    // too short
      std::string("\x80\3\0\3\0\0\0\2\0\0", 10),        // too short
      std::string("\0\0\0\0\0\0\0\1x", 9),              // empty data
      std::string("\x80\3\0\1\0\0\0\x0e\0\0\0\1\0\0\0\0\0\0junk", 22),
  };
  for (const std::string& bytes : bad) {
    SpdyRecorder server;
    EXPECT_THROW(server.received(bytes), DecodeError) << ::testing::PrintToString(bytes);
    EXPECT_THAT(server.events, IsEmpty());
  }
}

// --- The client's side.

TEST(SpdyClientTest, TalksToTheServersSide) {
  SpdyRecorder client(SpdyRecorder::Side::Client), server;
  const auto exchange = [&] {
    server.received(std::exchange(client.sent, {}));
    client.received(std::exchange(server.sent, {}));
  };
  EXPECT_EQ(client.open({{"streamtype", "error"}}), 1u);
  EXPECT_EQ(client.open({{"streamtype", "data"}, {"port", "80"}}), 3u);
  client.sendData(1, "", true, {});
  client.sendData(3, "hello", false, {});
  exchange();
  EXPECT_THAT(server.events, ElementsAre("open 1 1", "open 3 2", "data 1  last", "data 3 hello"));
  server.sendData(3, "hi", false, {});
  server.sendData(3, "", true, {});
  server.sendReset(1, SpdyRecorder::Reset::Cancel);
  exchange();
  EXPECT_THAT(client.events, ElementsAre("data 3 hi", "data 3  last", "reset 1"));
}

TEST(SpdyClientTest, AnswersPingsOfTheServerOnly) {
  SpdyRecorder client(SpdyRecorder::Side::Client);
  client.received(SpdyPeer::ping(1));
  EXPECT_THAT(client.sent, IsEmpty());
  client.received(SpdyPeer::ping(2));
  EXPECT_EQ(client.sent, SpdyPeer::ping(2));
}

TEST(SpdyClientTest, TakesNoStreamsFromTheServer) {
  SpdyRecorder client(SpdyRecorder::Side::Client);
  SpdyPeer peer;
  client.received(peer.open(2, {}));
  EXPECT_THAT(client.events, IsEmpty());
  EXPECT_FALSE(client.sent.empty());
  EXPECT_THROW(client.received(SpdyPeer::data(2, "x")), DecodeError) << "this stream is not open";
}

TEST(SpdyClientTest, OpensNoStreamsAfterTheServersGoodbye) {
  SpdyRecorder client(SpdyRecorder::Side::Client);
  client.received(SpdyPeer::goAway());
  EXPECT_EQ(client.open({}), 0u);
}

}  // namespace
}  // namespace kube::detail
