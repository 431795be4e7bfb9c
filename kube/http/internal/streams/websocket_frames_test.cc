#include "kube/http/internal/streams/websocket_frames.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/base/error.h"

namespace kube::detail {
namespace {

using ::testing::ElementsAre;
using Opcode = WebSocketOpcode;

std::string frame(Opcode opcode, std::string_view payload, const WebSocketMask* mask = nullptr) {
  std::string out;
  appendWebSocketFrame(out, opcode, {}, payload, mask);
  return out;
}

std::vector<std::string> partsOf(std::string_view bytes, std::size_t pieceSize) {
  WebSocketFrames frames(WebSocketFrames::From::Server);
  std::vector<std::string> parts;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(pieceSize, bytes.size()))) {
    std::string_view rest = bytes.substr(0, pieceSize);
    while (const auto part = frames.next(rest)) {
      parts.push_back(fmt::format("{}{}{}{}", static_cast<int>(part->event), part->first ? "<" : "",
                                  part->payload, part->last ? ">" : ""));
    }
    EXPECT_TRUE(rest.empty());
  }
  return parts;
}

TEST(ServersFramesTest, PayloadsComeAsTheyArrive) {
  std::string begun = frame(Opcode::Binary, "");
  begun[0] = 2;  // to be continued
  const std::string bytes = frame(Opcode::Binary, "abc") + frame(Opcode::Ping, "p") + begun +
                            frame(Opcode::Pong, "") + frame(Opcode::Continuation, "xy");
  EXPECT_THAT(partsOf(bytes, bytes.size()), ElementsAre("0<abc>", "1<p>", "0<", "2<>", "0xy>"));
  EXPECT_THAT(partsOf(bytes, 1), ElementsAre("0<a", "0b", "0c>", "1<p>", "0<", "2<>", "0x", "0y>"));
}

TEST(ServersFramesTest, LengthsHaveThreeForms) {
  for (const std::size_t size : {0, 125, 126, 65535, 65536, 200000}) {
    const std::string payload(size, 'x');
    const std::string bytes = frame(Opcode::Binary, payload);
    EXPECT_EQ(bytes.size(), size + (size < 126 ? 2 : size < 65536 ? 4 : 10));
    EXPECT_THAT(partsOf(bytes, bytes.size()), ElementsAre("0<" + payload + ">"));
  }
}

TEST(ServersFramesTest, WhatIsNoneIsRefused) {
  const WebSocketMask mask = {1, 2, 3, 4};
  for (const std::string& bad :
       {frame(Opcode::Binary, "x", &mask), std::string("\x83\0", 2), std::string("\xc2\0", 2),
        frame(Opcode::Continuation, "x"), frame(Opcode::Ping, std::string(126, 'x')),
        std::string("\x09\0", 2), std::string("\x82\x7e\0\x01", 4),
        std::string("\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff", 10),
        std::string("\x02\0\x82\0", 4)}) {
    EXPECT_THROW(partsOf(bad, bad.size()), DecodeError) << ::testing::PrintToString(bad);
  }
}

TEST(MasksTest, GoOnOverPieces) {
  const WebSocketMask mask = {'\x12', '\x34', '\x56', '\x78'};
  std::string text(100, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 7);
  std::string whole = text, pieces = text;
  maskWebSocketBytes(whole, mask);
  for (std::size_t at = 0; at < pieces.size(); at += 13) {
    maskWebSocketBytes(std::span(pieces).subspan(at, std::min<std::size_t>(13, 100 - at)), mask,
                       at);
  }
  EXPECT_EQ(whole, pieces);
  EXPECT_EQ(whole[5], static_cast<char>(text[5] ^ 0x34));
  maskWebSocketBytes(whole, mask);
  EXPECT_EQ(whole, text);
}

TEST(ClosingTest, CodesAndReasons) {
  EXPECT_EQ(WebSocketClose::parse(""), WebSocketClose{});
  EXPECT_EQ(WebSocketClose::parse("\x03\xe8"), (WebSocketClose{.code = 1000}));
  const WebSocketClose away{.code = 1001, .reason = "bye"};
  EXPECT_EQ(WebSocketClose::parse(away.payload()), away);
  EXPECT_EQ(WebSocketClose{}.payload(), "");
  EXPECT_EQ((WebSocketClose{.code = 1000, .reason = std::string(500, 'x')}).payload().size(), 125u);
  EXPECT_THROW(WebSocketClose::parse("x"), DecodeError);
  for (const std::uint16_t code : {0, 999, 1004, 1005, 1006, 1015, 5000, 65535}) {
    const char bytes[] = {static_cast<char>(code >> 8), static_cast<char>(code), 'y'};
    EXPECT_THROW(WebSocketClose::parse({bytes, 3}), DecodeError) << code;
  }
  for (const std::uint16_t code : {1000, 1003, 1007, 1014, 3000, 4999}) {
    const WebSocketClose one{.code = code, .reason = "y"};
    EXPECT_EQ(WebSocketClose::parse(one.payload()), one);
  }
}

TEST(HandshakeTest, TheKeyIsAnsweredAsTheProtocolHasIt) {
  EXPECT_EQ(webSocketAcceptKey("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

TEST(HandshakeTest, ElementsOfHeaders) {
  const HttpHeaders headers{{"a", "x, y"}, {"b", "no"}, {"A", ",z ,,"}};
  EXPECT_THAT(headerElements(headers, "a"), ElementsAre("x", "y", "z"));
}

}  // namespace
}  // namespace kube::detail
