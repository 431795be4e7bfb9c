// The client side of a WebSocket (RFC 6455), over a Transport with its TLS, proxies, timeouts and
// pings.
//
//   class Printer : public WebSocketListener { ... };
//   WebSocket socket = rest.get().absPath("/...").webSocket({"v5.channel.k8s.io"}, printer, stop);
//   socket.send("hello");
//   socket.close();
//
// Received data is passed to a listener as it arrives, in pieces, so messages may have any length.
// A slow listener slows the server down. Most programs use the functions built on this class, such
// as PodClient::exec().
//
// Errors: calls that open a WebSocket throw as all requests do. Later the listener is told how the
// WebSocket ended: TransportError if the connection breaks, or the server violates the protocol or
// closes the connection without a close frame; CanceledError if the stop token was triggered.
//
// Liveness: after TransportOptions::pingAfter without received data a ping is sent, which has to be
// answered within pingTimeout. Pings of the server are answered.
//
// Thread safety: everything may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/task.h"
#include "kube/http/http.h"

namespace kube {

class Transport;

namespace detail {
class WebSocketReceiver;
}

/// How a WebSocket ended.
struct WebSocketEnd {
  std::uint16_t code = 0;         // sent by the server; 1000 is the normal end
  std::string reason = {};        // sent by the server
  std::exception_ptr error = {};  // set if the server sent no close frame
};

/// The functions are called on one thread at a time: the transport's, or one that waits in
/// WebSocket::drive(). They must not block and must not throw.
class WebSocketListener {
 public:
  virtual ~WebSocketListener();

  /// Called with a piece of a message, valid during the call. Returns the number of bytes that are
  /// processed; give back the others by WebSocket::consumed(). Without that, the server is stopped.
  virtual std::size_t onData(std::string_view piece, bool first, bool last) = 0;
  /// Called when queued data was sent, so that there is room for more.
  virtual void onRoom();
  /// Called once, last.
  virtual void onClosed(WebSocketEnd end) noexcept = 0;
};

class WebSocket {
 public:
  /// The number of queued bytes from which waitForRoom() waits.
  static constexpr std::size_t kMaxQueued = std::size_t{256} << 10;

  WebSocket();
  WebSocket(WebSocket&&) noexcept;
  WebSocket& operator=(WebSocket&&) noexcept;
  ~WebSocket();  ///< sends the data that fits into the socket, then cuts the connection

  /// Returns when the server has answered. If it agreed, status() is 101. Throws TransportError if
  /// the answer is not that of a WebSocket or accepts none of the protocols.
  static WebSocket open(const Transport& transport, HttpRequest request,
                        const std::vector<std::string>& protocols,
                        std::shared_ptr<WebSocketListener> listener, std::stop_token stop = {});
  /// The awaitable form. A stop ends the wait for the answer, and not the WebSocket.
  static Task<WebSocket> openAsync(Transport transport, HttpRequest request,
                                   std::vector<std::string> protocols,
                                   std::shared_ptr<WebSocketListener> listener);

  int status() const;
  const HttpHeaders& headers() const;
  /// The body of a refusal, at most 64 KiB.
  const std::string& body() const;
  /// The protocol that the server chose.
  const std::string& protocol() const;

  /// Queues one binary message of two parts, without waiting. Returns false once the WebSocket is
  /// closed.
  bool send(std::string_view head, std::string_view payload = {}) const;
  std::size_t queued() const;
  /// Waits until less than kMaxQueued is queued. Returns false once the WebSocket is closed.
  bool waitForRoom() const;
  Task<bool> waitForRoomAsync() const;
  void consumed(std::size_t bytes) const;
  /// Does the connection's I/O while the calling thread waits for the listener to be told
  /// something, unless another thread does it. Returns when enough() is true, or another thread has
  /// taken over.
  void drive(const std::function<bool()>& enough) const;

  /// Sends a close frame, after which nothing can be sent. The listener is told when the server has
  /// closed too.
  void close(std::uint16_t code = 1000, std::string_view reason = {}) const;
  /// Ends the WebSocket at once. The listener is told CanceledError, unless it has been told an
  /// end.
  void cut() const;

 private:
  friend struct detail::AnswerHead;
  class CutOnStop;
  HttpResponse& head();
  explicit WebSocket(std::shared_ptr<detail::WebSocketReceiver> receiver);

  std::shared_ptr<detail::WebSocketReceiver> receiver_;
  std::unique_ptr<CutOnStop> stop_;
};

}  // namespace kube
