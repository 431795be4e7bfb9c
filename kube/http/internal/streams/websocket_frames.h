// Frames of a WebSocket (RFC 6455), for both sides.
//
//   WebSocketFrames frames(WebSocketFrames::From::Server);  // parses the frames of a server
//   while (const auto part = frames.next(bytes)) ...
//   appendWebSocketFrame(out, WebSocketOpcode::Binary, head, payload, &mask);
//
// Messages are not collected: payload is returned in pieces as it arrives, so messages may have any
// length.
//
// Thread safety: one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kube/http/http.h"

namespace kube::detail {

enum class WebSocketOpcode : std::uint8_t {
  Continuation = 0,
  Text = 1,
  Binary = 2,
  Close = 8,
  Ping = 9,
  Pong = 10
};

using WebSocketMask = std::array<char, 4>;

/// `at` is the position of the bytes in the payload.
void maskWebSocketBytes(std::span<char> bytes, const WebSocketMask& mask, std::size_t at = 0);

/// Appends one whole message of two parts, or a control frame. Clients give a mask, servers none.
void appendWebSocketFrame(std::string& out, WebSocketOpcode opcode, std::string_view head,
                          std::string_view payload, const WebSocketMask* mask);

class WebSocketFrames {
 public:
  /// The sender of the frames: a client's are masked, a server's are not.
  enum class From : unsigned char { Client, Server };
  enum class Event : unsigned char { Data, Ping, Pong, Close };
  struct Part {
    Event event = Event::Data;
    std::string_view payload = {};  // valid until the next call
    bool first = false;             // of a message
    bool last = false;
  };

  static constexpr std::size_t kMaxControl = 125;

  explicit WebSocketFrames(From from) : masked_(from == From::Client) {}

  /// Takes the next part from the front of `input`; nothing if it holds no whole part. Throws
  /// DecodeError for malformed frames. A client's frames are unmasked in place, so they need the
  /// second form.
  std::optional<Part> next(std::string_view& input);
  std::optional<Part> next(std::span<char>& input);

 private:
  bool readHeader(std::string_view& input);

  const bool masked_;
  std::string header_;   // as far as received
  std::string control_;  // payload of a control frame
  std::uint64_t left_ = 0;
  WebSocketOpcode opcode_ = WebSocketOpcode::Continuation;
  bool inFrame_ = false, final_ = false;
  bool inMessage_ = false;  // between the first and the last fragment
  bool fresh_ = false;      // no part of the message was returned yet
  WebSocketMask mask_ = {};
  std::size_t maskAt_ = 0;
};

/// The content of a close frame.
struct WebSocketClose {
  static constexpr std::uint16_t kNormal = 1000, kGoingAway = 1001, kProtocolError = 1002,
                                 kNoCode = 1005, kTooBig = 1009;

  std::uint16_t code = kNoCode;
  std::string reason = {};

  bool operator==(const WebSocketClose&) const = default;

  /// Parses the payload of a frame. Throws DecodeError.
  static WebSocketClose parse(std::string_view payload);
  std::string payload() const;
};

/// The Sec-WebSocket-Accept for a client's Sec-WebSocket-Key.
std::string webSocketAcceptKey(std::string_view key);

/// The comma-separated elements of all headers of a name.
std::vector<std::string> headerElements(const HttpHeaders& headers, std::string_view name);

}  // namespace kube::detail
