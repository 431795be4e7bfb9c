// The server's side of a WebSocket (RFC 6455), over a connection of an HttpServer.
//
//   if (!ServerWebSocket::asked(request)) ...                     // no upgrade
//   const std::string protocol = ServerWebSocket::choose(request, {"v5.channel.k8s.io"});
//   ServerWebSocket::accept(request, responder, protocol, [](std::shared_ptr<ServerWebSocket> ws) {
//     ws->start({.onData = [ws](std::string_view piece, bool first, bool last) { ... },
//                .onClosed = [] { ... }});
//   });
//   ws->send(payload, stop);       // on any thread but the server's: waits while the client is
//   slow
//
// Messages are not gathered: their payload comes as it arrives, in pieces, so that none is too
// long. Pings are answered; frames that break the rules end the connection with 1002.
//
// Thread safety: every method may be called from any thread; callbacks come one at a time, on the
// connection's strand.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "kube/http/http_server.h"
#include "kube/http/internal/streams/websocket_frames.h"

namespace kube::detail {

using kube::detail::WebSocketFrames;

class ServerWebSocket : public std::enable_shared_from_this<ServerWebSocket> {
 public:
  static constexpr std::uint16_t kNormal = kube::detail::WebSocketClose::kNormal,
                                 kGoingAway = kube::detail::WebSocketClose::kGoingAway,
                                 kProtocolError = kube::detail::WebSocketClose::kProtocolError,
                                 kTooBig = kube::detail::WebSocketClose::kTooBig;

  /// Whether a request wants to become a WebSocket.
  static bool asked(const ServerRequest& request);
  /// The first that the client asks for and that is here; "" may be one, for clients that ask for
  /// none.
  static std::optional<std::string> choose(const ServerRequest& request,
                                           std::span<const std::string_view> supported);
  /// Answers with 101, or with 400 where the request is malformed.
  static void accept(const ServerRequest& request, const Responder& responder,
                     const std::string& protocol,
                     std::function<void(std::shared_ptr<ServerWebSocket>)> taken);

  explicit ServerWebSocket(RawStream raw) : raw_(std::move(raw)) {}

  struct Callbacks {
    std::function<void(std::string_view piece, bool first, bool last)> onData;
    std::function<void()> onClosed;  // once, by whomever
  };
  void start(Callbacks callbacks);

  /// One message of two parts. Waits for room; false once closed, or the token was triggered.
  bool send(std::string_view head, std::string_view payload, const std::stop_token& stop = {},
            bool text = false);
  /// Without waiting, for what is short and rare. A client that makes the server say much and
  /// does not listen is cut off.
  void sendNow(std::string_view payload);

  /// Says goodbye; the connection ends when the client does too.
  void close(std::uint16_t code, std::string_view reason = {});
  /// Ends the connection after what is queued, without a word.
  void cut() { raw_.close(); }
  /// Nothing is read until resume() was called as often.
  void pause() { raw_.pause(); }
  void resume() { raw_.resume(); }

 private:
  static constexpr std::size_t kMaxQueued = 1 << 20;

  void received(std::string_view bytes);
  void control(const WebSocketFrames::Part& part);
  void ended();
  void write(kube::detail::WebSocketOpcode opcode, std::string_view head, std::string_view payload);

  const RawStream raw_;
  WebSocketFrames frames_{WebSocketFrames::From::Client};  // of the strand, like the callbacks
  std::string input_;
  Callbacks callbacks_;
  std::mutex closingMutex_;  // nothing is written after the farewell
  bool closing_ = false;
  bool over_ = false;  // of the strand
};

}  // namespace kube::detail
