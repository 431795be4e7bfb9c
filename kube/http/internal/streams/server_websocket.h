// The server side of a WebSocket (RFC 6455), over a connection of an HttpServer.
//
//   if (!ServerWebSocket::asked(request)) ...  // no upgrade
//   const std::string protocol = *ServerWebSocket::choose(request, {"v5.channel.k8s.io"});
//   ServerWebSocket::accept(request, responder, protocol, [](std::shared_ptr<ServerWebSocket> ws) {
//     ws->start({.onData = [ws](std::string_view piece, bool first, bool last) { ... },
//                .onClosed = [] { ... }});
//   });
//   ws->send(head, payload, stop);  // waits while the client is slow; not on the server's threads
//
// Messages are not collected: payload is delivered in pieces as it arrives, so messages may have
// any length. Pings are answered; malformed frames end the connection with 1002.
//
// Thread safety: every method may be called from any thread. Callbacks run one at a time, on the
// connection's strand.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "kube/base/internal/mutex.h"
#include "kube/http/http_server.h"
#include "kube/http/internal/streams/websocket_frames.h"

namespace kube::detail {

class ServerWebSocket : public std::enable_shared_from_this<ServerWebSocket> {
 public:
  static constexpr std::uint16_t kNormal = WebSocketClose::kNormal,
                                 kGoingAway = WebSocketClose::kGoingAway,
                                 kProtocolError = WebSocketClose::kProtocolError,
                                 kTooBig = WebSocketClose::kTooBig;

  /// Returns whether a request asks for a WebSocket.
  static bool asked(const ServerRequest& request);
  /// Returns the client's first protocol that is supported, or nothing. `supported` may hold "",
  /// for clients that ask for none.
  static std::optional<std::string> choose(const ServerRequest& request,
                                           std::span<const std::string_view> supported);
  /// Answers 101, or 400 if the request is malformed.
  static void accept(const ServerRequest& request, const Responder& responder,
                     const std::string& protocol,
                     std::function<void(std::shared_ptr<ServerWebSocket>)> taken);

  explicit ServerWebSocket(RawStream raw) : raw_(std::move(raw)) {}

  struct Callbacks {
    std::function<void(std::string_view piece, bool first, bool last)> onData;
    std::function<void()> onClosed;  // once, whichever side closes
  };
  void start(Callbacks callbacks);

  /// Sends one message of two parts. Waits for room. Returns false if the WebSocket is closed or
  /// the token was triggered.
  bool send(std::string_view head, std::string_view payload, const std::stop_token& stop = {},
            bool text = false);
  /// Sends a short, rare message without waiting. A client that causes many of these and does not
  /// read them is cut off.
  void sendNow(std::string_view payload);

  /// Sends a close frame; the connection ends when the client closes too.
  void close(std::uint16_t code, std::string_view reason = {});
  /// Ends the connection after the queued data, without a close frame.
  void cut() { raw_.close(); }
  /// Stops reading until resume() was called as often.
  void pause() { raw_.pause(); }
  void resume() { raw_.resume(); }

 private:
  static constexpr std::size_t kMaxQueued = 1 << 20;

  void received(std::string_view bytes);
  void control(const WebSocketFrames::Part& part);
  void ended();
  void write(WebSocketOpcode opcode, std::string_view head, std::string_view payload)
      KUBE_REQUIRES(closingMutex_);

  const RawStream raw_;
  // --- Owned by the strand.
  WebSocketFrames frames_{WebSocketFrames::From::Client};
  std::string input_;
  Callbacks callbacks_;
  bool over_ = false;

  Mutex closingMutex_;  // also held to write, so that nothing follows the close frame
  bool closing_ KUBE_GUARDED_BY(closingMutex_) = false;
};

}  // namespace kube::detail
