// HTTP over as few connections as possible.
//
//   Transport transport{{.tls = {.caFile = "ca.crt"}}};
//   const std::string pods = "https://10.0.0.1:6443/api/v1/namespaces/book/pods";
//   HttpResponse pod = transport.send({.url = pods + "/web"});
//
//   HttpStream watch = transport.open({.url = pods + "?watch=1"}, stop);
//   while (auto chunk = watch.read()) decoder.feed(*chunk);
//
// A Transport is a cheap handle; its copies share connections and one I/O thread, which the first
// call starts. HTTP/2 carries many calls over one connection; another connection is opened only
// when the server allows no more streams on the existing ones. A server without HTTP/2 gets a
// connection per concurrent call. send(), open() and read() block their caller. A blocked caller
// does the I/O of its connection itself, if no other thread does; otherwise the I/O thread does it.
// sendAsync(), openAsync() and readAsync() are awaitable (kube/base/task.h). start() is the
// callback form, on which all calls are built.
//
// Errors: an answer with any status is an answer. TransportError: there is no answer, or it broke
// off; the error says whether the request may have reached the server, and whether another try
// would probably fail in the same way. TimeoutError: request.timeout has passed. CanceledError: the
// stop token was triggered, or the transport was shut down. ConfigError: the URL or an option is
// wrong. Messages name method and URL, without query and credentials. A request that the server
// cannot have acted on (its connection was closing, or the server refused the stream) is sent
// again. So is a GET, HEAD or OPTIONS on a connection that had just died.
//
// Redirects of GET and HEAD are followed up to ten times on the same host. A redirect to another
// host is a TransportError, because headers hold credentials. For other methods the redirect is
// returned as the answer.
//
// A request with an upgrade uses a connection of its own, which maxConnectionsPerHost does not
// count, with the same proxy, TLS and timeouts. WebSocket is built on this.
//
// Back-pressure: the unread data of a stream is limited to streamBuffer. Beyond that, HTTP/2's
// windows stop the server from sending, for this stream alone.
//
// Liveness: HTTP/2 pings and the kernel (see tcp_connect.h) detect a silently lost peer within 45
// seconds.
//
// Thread safety: everything may be called from any thread. The last handle ends all calls and joins
// the I/O thread. It may be dropped anywhere, also in a callback; the thread then ends later.
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

#include "kube/base/task.h"
#include "kube/http/http.h"
#include "kube/http/tls_config.h"

namespace kube {

namespace detail {
class EventLoop;
class Exchange;
class HttpEngine;
class StreamReceiver;
class WebSocketReceiver;
}  // namespace detail

/// Returns a socket that is connected to this host and port (of the proxy, if there is one), which
/// the transport then owns. It may block: it runs on a thread of TaskThreads, at most for
/// connectTimeout, after which the token asks it to stop and its socket is closed. An exception is
/// the reason of a failed connection.
using DialFunction =
    std::function<int(const std::string& host, std::uint16_t port, std::stop_token stop)>;

struct TransportOptions {
  TlsConfig tls = {};
  /// An http://, https://, socks5:// or socks5h:// URL, with user:password@ if needed. Empty:
  /// HTTPS_PROXY, HTTP_PROXY and NO_PROXY decide. "direct": no proxy, whatever these say.
  std::string proxy = {};
  bool disableHttp2 = false;
  bool disableCompression = false;

  /// Limits the time from the look-up of the name to the end of the TLS handshake.
  std::chrono::milliseconds connectTimeout = std::chrono::seconds{30};
  /// A connection without calls is closed after this time.
  std::chrono::milliseconds idleTimeout = std::chrono::seconds{90};
  /// An HTTP/2 connection with calls that has received nothing for this long is sent a ping, which
  /// has to be answered within pingTimeout. 0: no pings.
  std::chrono::milliseconds pingAfter = std::chrono::seconds{28};
  std::chrono::milliseconds pingTimeout = std::chrono::seconds{15};
  /// Calls that would need more connections wait. 0: no limit. With HTTP/2 a few connections serve
  /// all calls; with HTTP/1.1 each watch holds one. The default exceeds the number of watches of
  /// most programs, and leaves room in the usual limit of 1024 descriptors.
  std::size_t maxConnectionsPerHost = 500;
  /// The number of bytes that a stream may have in transit or unread: HTTP/2's window. It bounds
  /// the amount received per round trip.
  std::size_t streamBuffer = std::size_t{4} << 20;
  std::size_t maxHeaderBytes = std::size_t{1} << 20;
  /// The interval at which TLS files are checked for changes, while there are requests.
  std::chrono::milliseconds tlsCheckInterval = std::chrono::seconds{1};
  /// Called with each TCP socket before it connects, on the I/O thread; sets additional socket
  /// options.
  std::function<void(int fd)> onSocket = {};
  /// Makes connections instead of look-ups and connect(), such as to a Unix socket or through a
  /// tunnel. See DialFunction.
  DialFunction dial = {};
};

/// Counters since the transport was made, except connectionsOpen.
struct TransportStats {
  std::uint64_t connectionsMade = 0;
  std::uint64_t connectionsOpen = 0;
  std::uint64_t requests = 0;       // calls begun
  std::uint64_t retries = 0;        // requests that were sent again
  std::uint64_t bytesSent = 0;      // of HTTP, before TLS
  std::uint64_t bytesReceived = 0;  // likewise
};

class HttpExchange;

/// The receiver of the callback form. Its functions are called on the I/O thread or on a thread
/// that waits in send(), one at a time. They must not block (send() and open() throw there). An
/// exception ends the call with that exception. Nothing is called after onDone().
class HttpReceiver {
 public:
  virtual ~HttpReceiver();

  /// Called with status and headers of the final answer (1xx are skipped). The body of `head` is
  /// empty.
  virtual void onHeaders(HttpResponse head) = 0;
  /// Called with a piece of the body, decompressed, valid during the call. Returns the number of
  /// bytes that are processed; give back the others by HttpExchange::consumed(). Without that, the
  /// server is stopped after streamBuffer bytes.
  virtual std::size_t onBody(std::string_view chunk) = 0;
  /// Called once, last. Null: the body is complete.
  virtual void onDone(std::exception_ptr error) noexcept = 0;

  // --- For requests with an upgrade.
  /// Called first, on the thread that starts the call.
  virtual void onStart(const HttpExchange& exchange);
  /// Called when written data has moved to the connection, so that there is room for more.
  virtual void onRoom();
  /// Called when nothing has arrived for TransportOptions::pingAfter. Send something that the peer
  /// answers: the connection is given up if nothing arrives for pingTimeout either.
  virtual void onQuiet();
};

/// A call that was started. Destroying the handle does not end the call.
class HttpExchange {
 public:
  HttpExchange() = default;

  /// Ends the call: onDone() is called with CanceledError, unless it has been called.
  void cancel() const;
  void consumed(std::size_t bytes) const;

  /// Sends data after the answer 101 to a request with an upgrade; received data arrives as the
  /// answer's body. Calls `append` at once, under a lock, to add to the data to be sent. Never
  /// waits. Returns false after the call has ended.
  bool write(const std::function<void(std::string& out)>& append) const;
  /// The number of written bytes that wait for the connection.
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

/// An answer whose body is read while it arrives. Destroying it ends the call. For one thread at a
/// time.
class HttpStream {
 public:
  HttpStream(HttpStream&&) noexcept;
  HttpStream& operator=(HttpStream&&) noexcept;
  ~HttpStream();

  int status() const;
  const HttpHeaders& headers() const;
  int httpVersion() const;

  /// Waits for the next piece, which is valid until the next read(). None: the body is complete.
  /// Throws the error that ended the stream, and a TransportError on later calls.
  std::optional<std::string_view> read();
  /// The awaitable form. On a stop it throws CanceledError, and the stream can be read again.
  Task<std::optional<std::string_view>> readAsync();

  /// The number of bytes of the body received so far, before decompression.
  std::uint64_t wireBytes() const;

  /// Calls a function with each piece that is read from now on, by its reader, after the functions
  /// that were added before. It is destroyed with the stream.
  void onPiece(std::function<void(std::string_view piece)> see);

 private:
  friend class Transport;
  friend struct detail::AnswerHead;
  class CancelOnStop;
  HttpResponse& head();
  std::optional<std::string_view> seen(std::optional<std::string_view> piece) const;
  HttpStream(std::shared_ptr<detail::StreamReceiver> receiver, HttpExchange exchange,
             std::unique_ptr<CancelOnStop> stop);

  std::shared_ptr<detail::StreamReceiver> receiver_;
  HttpExchange exchange_;
  std::unique_ptr<CancelOnStop> stop_;
  std::function<void(std::string_view)> onPiece_;
};

class Transport {
 public:
  /// Throws ConfigError if options are wrong or TLS files are unusable.
  explicit Transport(TransportOptions options = {});

  /// Returns the whole answer.
  HttpResponse send(HttpRequest request, std::stop_token stop = {}) const;
  /// Returns when status and headers have arrived. The stop token and request.timeout apply to
  /// reading the body too.
  HttpStream open(HttpRequest request, std::stop_token stop = {}) const;
  HttpExchange start(HttpRequest request, std::shared_ptr<HttpReceiver> receiver) const;

  /// The awaitable forms.
  Task<HttpResponse> sendAsync(HttpRequest request) const;
  /// A stop ends the wait for the headers, and later each readAsync().
  Task<HttpStream> openAsync(HttpRequest request) const;

  /// Ends all calls with CanceledError and refuses new ones. Returns when the I/O thread has ended,
  /// or at once if a callback calls it.
  void shutdown() const;

  /// Runs tasks on the I/O thread, where answers arrive: they cost least there, and must not block.
  /// The executor keeps the thread running. After a shutdown, work is dropped.
  Executor executor() const;
  /// The loop of the I/O thread, for sockets of the library that belong to no server.
  std::shared_ptr<detail::EventLoop> loop() const;

  TransportStats stats() const;

 private:
  class Lifetime;
  using Engine = std::shared_ptr<detail::HttpEngine>;
  static HttpResponse sendBy(Engine engine, HttpRequest request, const std::stop_token& stop);
  static HttpStream openBy(Engine engine, HttpRequest request, const std::stop_token& stop);
  static Task<HttpResponse> sendTask(Engine engine, HttpRequest request);
  static Task<HttpStream> openTask(Engine engine, HttpRequest request);

  std::shared_ptr<Lifetime> lifetime_;
};

}  // namespace kube
