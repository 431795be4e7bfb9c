// The client's side of a WebSocket (RFC 6455), over a Transport: with its TLS, proxies, timeouts
// and pings.
//
//   class Printer : public WebSocketListener { ... };
//   WebSocket socket = rest.get().absPath("/...").webSocket({"v5.channel.k8s.io"}, printer, stop);
//   socket.send("hello");
//   socket.close();
//
// What comes is handed to a listener as it arrives, in pieces: a message is never too long, and who
// is slow makes the server wait. Most programs use what is made of it: PodClient::exec() and its
// like.
//
// Errors: the calls that open one throw as all requests do. Afterwards, how it ended is told to the
// listener: TransportError where the connection breaks, where the server breaks the rules, or ends
// without a word; CanceledError when the stop token was triggered.
//
// Liveness: after TransportOptions::pingAfter without a sign of life a ping is sent, and has to be
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

#include "kube/http/http.h"

namespace kube {

class Transport;

namespace detail {
class WebSocketReceiver;
}

/// How a WebSocket ended.
struct WebSocketEnd {
  std::uint16_t code = 0;         // that the server gave: 1000 is the ordinary end
  std::string reason = {};        // likewise
  std::exception_ptr error = {};  // set where the server has not said goodbye
};

/// The functions are called by one thread at a time, the transport's or one that waits in
/// WebSocket::drive(). They must not block, nor throw.
class WebSocketListener {
 public:
  virtual ~WebSocketListener();

  /// A piece of a message, valid during the call. Returns how many of its bytes are done with; the
  /// others have to be given back by WebSocket::consumed(), else the server is kept from sending.
  virtual std::size_t onData(std::string_view piece, bool first, bool last) = 0;
  /// What was sent is on its way: there is room for more.
  virtual void onRoom();
  /// Once, last.
  virtual void onClosed(WebSocketEnd end) noexcept = 0;
};

class WebSocket {
 public:
  /// How much of what was sent may wait for the connection before waitForRoom() waits.
  static constexpr std::size_t kMaxQueued = std::size_t{256} << 10;

  WebSocket();
  WebSocket(WebSocket&&) noexcept;
  WebSocket& operator=(WebSocket&&) noexcept;
  ~WebSocket();  ///< cuts it, after what can be sent at once

  /// Returns when the server has answered: status() is 101 if it is a WebSocket now. Throws
  /// TransportError where the answer is no WebSocket's, or agrees to none of the protocols.
  static WebSocket open(const Transport& transport, HttpRequest request,
                        const std::vector<std::string>& protocols,
                        std::shared_ptr<WebSocketListener> listener, std::stop_token stop = {});

  int status() const;
  const HttpHeaders& headers() const;
  /// Of an answer that refuses; at most 64 KiB of it.
  const std::string& body() const;
  /// The one of those asked for that the server took.
  const std::string& protocol() const;

  /// Queues one binary message of two parts, without waiting. False once it is closed.
  bool send(std::string_view head, std::string_view payload = {}) const;
  std::size_t queued() const;
  /// Waits until less than kMaxQueued is queued. False once it is closed.
  bool waitForRoom() const;
  void consumed(std::size_t bytes) const;
  /// For a thread that waits for what the listener is told: does the connection's I/O meanwhile,
  /// where nobody else does. Returns when there is enough, or others see to it.
  void drive(const std::function<bool()>& enough) const;

  /// Says goodbye, after which nothing can be sent; the listener hears when the server has too.
  void close(std::uint16_t code = 1000, std::string_view reason = {}) const;
  /// Ends it now. The listener is told of a CanceledError, unless it has ended before.
  void cut() const;

 private:
  class CutOnStop;
  explicit WebSocket(std::shared_ptr<detail::WebSocketReceiver> receiver);

  std::shared_ptr<detail::WebSocketReceiver> receiver_;
  std::unique_ptr<CutOnStop> stop_;
};

}  // namespace kube
