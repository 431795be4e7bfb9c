// HTTP over as few connections as possible.
//
//   Transport transport{{.tls = {.caFile = "ca.crt"}}};
//   const std::string pods = "https://10.0.0.1:6443/api/v1/namespaces/book/pods";
//   HttpResponse pod = transport.send({.url = pods + "/web"});
//
//   HttpStream watch = transport.open({.url = pods + "?watch=1"}, stop);
//   while (auto chunk = watch.read()) decoder.feed(*chunk);
//
// A Transport is a cheap handle; its copies share connections and one I/O thread. HTTP/2 carries
// many calls over one connection, and another is opened only when the server allows no more streams
// on those there are; a server without HTTP/2 gets a connection per call under way. Calls block
// their caller, who does the I/O of the connection meanwhile where nobody else does; otherwise the
// I/O thread does. start() is the callback form that all calls are made of.
//
// Errors: an answer with any status is an answer. TransportError: there is none, or it broke off;
// it says whether the request may have reached the server, and whether another try would most
// likely end the same way. TimeoutError: request.timeout has passed. CanceledError: the stop token
// was triggered, or the transport shut down. ConfigError: the URL or an option is wrong. Messages
// name method and URL, without query and credentials. A request that cannot have been acted on (its
// connection was closing, the server refused the stream) is sent again without further ado; so is a
// GET, HEAD or OPTIONS that hit a connection that had just died.
//
// Redirects of GET and HEAD are followed up to ten times on the same host; to another host they
// are a TransportError, since headers hold credentials. Other methods get the redirect as answer.
//
// A request with an upgrade goes over a connection of its own, which is not counted by
// maxConnectionsPerHost, through the same proxy, TLS and timeouts. See WebSocket for what is made
// of it.
//
// Back-pressure: what a reader of a stream has not read yet is bounded by streamBuffer; beyond that
// the server is kept from sending, by HTTP/2's windows for this stream alone.
//
// Liveness: a peer that is gone without a word is noticed within 45 seconds, by HTTP/2 pings and by
// the kernel (see tcp_connect.h).
//
// Thread safety: everything may be called from any thread. The last handle ends all calls and joins
// the I/O thread. It may be dropped anywhere, within callbacks too (there, the thread ends later).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "kube/http/http.h"
#include "kube/http/tls_config.h"

namespace kube {

namespace detail {
class Exchange;
class HttpEngine;
class StreamReceiver;
class WebSocketReceiver;
}  // namespace detail

struct TransportOptions {
  TlsConfig tls = {};
  /// http://, https://, socks5:// or socks5h:// with user:password@ where needed. Empty: as
  /// HTTPS_PROXY, HTTP_PROXY and NO_PROXY say; "direct": none, whatever they say.
  std::string proxy = {};
  bool disableHttp2 = false;
  bool disableCompression = false;

  /// From the look-up of the name to the end of the TLS handshake.
  std::chrono::milliseconds connectTimeout = std::chrono::seconds{30};
  /// A connection without calls is closed after this time.
  std::chrono::milliseconds idleTimeout = std::chrono::seconds{90};
  /// An HTTP/2 connection with calls and without a sign of life for this long gets a ping, which
  /// has to be answered within pingTimeout. 0: none.
  std::chrono::milliseconds pingAfter = std::chrono::seconds{28};
  std::chrono::milliseconds pingTimeout = std::chrono::seconds{15};
  /// Calls beyond it wait. 0: no limit. With HTTP/2 a few are enough for everything; with HTTP/1.1
  /// each watch holds one. The default is more than a program has watches, and leaves it some of
  /// the 1024 descriptors that it mostly may have.
  std::size_t maxConnectionsPerHost = 500;
  /// How many bytes a stream may have under way or unread: HTTP/2's window. What is received in one
  /// round trip is at most this.
  std::size_t streamBuffer = std::size_t{4} << 20;
  std::size_t maxHeaderBytes = std::size_t{1} << 20;
  /// Batching interval for watch events that arrive in quick succession, while nothing else is
  /// under way on their connection: an event may come so much later, and costs less CPU. The
  /// default gathers from some 500 to 1000 events a second on; 20 ms takes half the CPU at 200.
  /// 0: every event at once.
  std::chrono::milliseconds gatherTime{2};
  /// How often TLS files are looked at for a change, when there are requests.
  std::chrono::milliseconds tlsCheckInterval = std::chrono::seconds{1};
  /// Sees each TCP socket before it connects, on the I/O thread; for options of one's own.
  std::function<void(int fd)> onSocket = {};
};

/// Counts since the transport was made, but for connectionsOpen.
struct TransportStats {
  std::uint64_t connectionsMade = 0;
  std::uint64_t connectionsOpen = 0;
  std::uint64_t requests = 0;       // calls begun
  std::uint64_t retries = 0;        // times one was sent again
  std::uint64_t bytesSent = 0;      // of HTTP, before TLS
  std::uint64_t bytesReceived = 0;  // likewise
};

class HttpExchange;

/// The callback form. The functions are called on the I/O thread, or on one that waits in send(),
/// by one at a time. They must not block (send() and open() throw there); an exception ends the
/// call with it. None is called after onDone().
class HttpReceiver {
 public:
  virtual ~HttpReceiver();

  /// The final answer's (1xx are passed over). The head's body is empty.
  virtual void onHeaders(HttpResponse head) = 0;
  /// A piece of the body, decompressed, valid during the call. Returns how many of its bytes are
  /// done with; the others have to be given back by HttpExchange::consumed(), else the server is
  /// kept from sending more than streamBuffer.
  virtual std::size_t onBody(std::string_view chunk) = 0;
  /// Once, last. Null: the body is complete.
  virtual void onDone(std::exception_ptr error) noexcept = 0;

  // --- For requests with an upgrade.
  /// First, on the thread that starts the call.
  virtual void onStart(const HttpExchange& exchange);
  /// What was written has been taken on: there is room for more.
  virtual void onRoom();
  /// Nothing has come for TransportOptions::pingAfter. The connection is lost if nothing comes for
  /// pingTimeout either: ask for something.
  virtual void onQuiet();
};

/// A call that was started. Destroying it changes nothing.
class HttpExchange {
 public:
  HttpExchange() = default;

  /// Has onDone() called with CanceledError, unless the call is done already.
  void cancel() const;
  void consumed(std::size_t bytes) const;

  /// After the answer 101 to a request with an upgrade, the connection is the receiver's and the
  /// caller's: what comes is the answer's body, and what is written goes out. `append` adds to what
  /// is to be sent, and is called at once, under a lock. Never waits. False after the call has
  /// ended.
  bool write(const std::function<void(std::string& out)>& append) const;
  /// How much was written and waits for the connection.
  std::size_t queued() const;

 private:
  friend class HttpStream;
  friend class Transport;
  friend class detail::StreamReceiver;
  friend class detail::WebSocketReceiver;
  HttpExchange(std::shared_ptr<detail::HttpEngine> engine,
               std::shared_ptr<detail::Exchange> exchange)
      : engine_(std::move(engine)), exchange_(std::move(exchange)) {}
  void drive(const std::function<bool()>& enough = {}) const;

  std::shared_ptr<detail::HttpEngine> engine_;
  std::shared_ptr<detail::Exchange> exchange_;
};

/// An answer whose body is read as it comes. Destroying it ends the call. For one thread at a time.
class HttpStream {
 public:
  HttpStream(HttpStream&&) noexcept;
  HttpStream& operator=(HttpStream&&) noexcept;
  ~HttpStream();

  int status() const;
  const HttpHeaders& headers() const;
  int httpVersion() const;

  /// Blocks for the next piece, valid until the next read(). None: the body is complete. Throws
  /// what ended the stream otherwise, and a TransportError ever after.
  std::optional<std::string_view> read();

  /// How much of the body has come so far, before it was decompressed.
  std::uint64_t wireBytes() const;

 private:
  friend class Transport;
  class CancelOnStop;
  HttpStream(std::shared_ptr<detail::StreamReceiver> receiver, HttpExchange exchange,
             std::unique_ptr<CancelOnStop> stop);

  std::shared_ptr<detail::StreamReceiver> receiver_;
  HttpExchange exchange_;
  std::unique_ptr<CancelOnStop> stop_;
};

class Transport {
 public:
  /// Throws ConfigError where options are wrong or TLS files cannot be used.
  explicit Transport(TransportOptions options = {});

  /// Returns the whole answer.
  HttpResponse send(HttpRequest request, std::stop_token stop = {}) const;
  /// Returns when status and headers are there. The stop token and request.timeout hold for reading
  /// too.
  HttpStream open(HttpRequest request, std::stop_token stop = {}) const;
  HttpExchange start(HttpRequest request, std::shared_ptr<HttpReceiver> receiver) const;

  /// Ends all calls with CanceledError and refuses new ones; returns when the I/O thread has ended
  /// (at once, if called by a callback).
  void shutdown() const;

  TransportStats stats() const;

 private:
  class Lifetime;

  std::shared_ptr<Lifetime> lifetime_;
};

}  // namespace kube
