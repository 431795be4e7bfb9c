// An HTTP server, used for the health and metrics of a controller and for the embedded API server:
// HTTP/1.1 and HTTP/2, plain or TLS.
//
//   HttpServer server({.tls = ServerTls{ca.server({"127.0.0.1"})}},
//                     [](ServerRequest request, Responder responder) {
//                       if (request.target == "/healthz") return responder.send({.body = "ok"});
//                       ResponseStream stream =
//                           responder.stream(200, {{"Content-Type", "application/json"}});
//                       watchers.add(stream);  // and on any thread: stream.write(frame)
//                     });
//   server.url();  // https://127.0.0.1:41235
//
// It listens when constructed, and is ready within milliseconds. Handlers run on the server's
// threads and must not block; they may pass the responder to another thread. An exception of a
// handler becomes a 500. Destroying the server closes all connections, cuts open streams off and
// joins its threads.
//
// Any client that reaches the address can send anything, for any time. Therefore the options limit
// the memory, descriptors and time of a request, of a connection and of all together. Requests
// beyond a limit are answered with 408, 413, 431 or 503 where that makes sense, and their
// connection is closed. If there are too many connections, a new one replaces one that is needed
// less: see maxConnections.
//
// Thread safety: everything may be called from any thread, except stop() and the destructor, which
// a handler must not call.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/string.h"
#include "kube/http/http.h"
#include "kube/http/internal/key_pair.h"

namespace kube {

namespace detail {
class BodyQueue;
class RawSocket;
class ReplyTo;
class ServerState;
}  // namespace detail

/// The certificate, its key and the authorities are each PEM text or the name of a file with it.
/// Files are read again when they change, so that new connections use rotated certificates.
struct ServerTls {
  KeyPair identity = {};
  std::string clientCaPem = {};  // authorities of client certificates; empty: none is requested
  bool requireClientCert = false;
  std::string certFile = {}, keyFile = {}, clientCaFile = {};
  /// The least time between two looks at the files.
  std::chrono::milliseconds checkInterval{1000};
};

struct ServerRequest;
struct ServerResponse;

/// Inspects a request before its body is read, and refuses it by returning an answer. The body that
/// it sees may be incomplete. It must not block.
using HttpScreen = std::function<std::optional<ServerResponse>(const ServerRequest& head)>;

struct HttpServerOptions {
  std::optional<ServerTls> tls = {};
  bool http2 = true;  // over TLS only
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: any free port
  int threads = 1;

  // --- Limits of one request.
  std::size_t maxHeaderBytes = 64 << 10;     // including trailers and chunk extensions
  std::size_t maxBodyBytes = 16 << 20;       // 0: no bodies
  std::uint32_t maxConcurrentStreams = 250;  // per HTTP/2 connection
  std::size_t maxQueuedBytes = 1 << 20;      // per response stream

  // --- Limits of all connections together.
  /// Never more than half of the descriptors that the process may open (RLIMIT_NOFILE). Beyond the
  /// limit a new connection replaces another one: of the peer with the most connections; in this
  /// order one that has sent nothing, is idle, does not read its answer, or waits for the handler;
  /// and of these the oldest. Each connection is kept for a short time in which it may make
  /// progress, and a new one waits that long. Streamed answers and upgraded connections are kept.
  std::size_t maxConnections = 10'000;
  /// Memory of unfinished requests. Beyond the limit, all but small requests are answered with 503.
  std::size_t maxUnfinishedBytes = 64 << 20;
  /// Memory of answers that clients have not read, except streams. Beyond the limit the connection
  /// with the most unread data is closed.
  std::size_t maxUnsentBytes = 256 << 20;
  /// Called for requests with bodies over 64 KiB, once that much was received or announced.
  HttpScreen screen = {};

  // --- Time limits, counted from the first byte. Streams are not limited.
  std::chrono::milliseconds handshakeTime{10'000};  // TLS
  std::chrono::milliseconds headTime{30'000};
  std::chrono::milliseconds bodyTime{30'000};  // plus one second for each KiB
  std::chrono::milliseconds idleTime{90'000};  // between requests
  std::chrono::milliseconds sendTime{30'000};  // while the client takes no byte of an answer
};

/// The subject of a client certificate: Kubernetes' user and groups.
struct PeerIdentity {
  std::string commonName;
  std::vector<std::string> organizations;
};

struct ServerRequest {
  std::string method;
  std::string target;  // path and query
  HttpHeaders headers;
  std::string body;
  std::optional<PeerIdentity> peer;
  int httpVersion = 0;  // 1 or 2
};

struct ServerResponse {
  int status = 200;
  HttpHeaders headers = {};
  std::string body = {};
};

/// The body of an answer, written piece by piece. A cheap handle; dropping the last one ends the
/// body.
class ResponseStream {
 public:
  /// Waits for room in the queue. Returns whether the piece was queued: false if the client is
  /// gone, the stream is closed, or the token is triggered. Must not be called on the server's own
  /// threads.
  bool write(String piece, std::stop_token stop = {}) const;
  /// Never waits: also returns false if the queue is full.
  bool tryWrite(String piece) const;

  /// Ends the body properly, after the queued pieces.
  void close() const;
  /// Cuts the body off: the client sees an error.
  void abort() const;

  /// Returns whether the client is gone or the stream was closed.
  bool closed() const;
  /// Calls the function when the client disconnects or the server stops before the body has ended;
  /// at once if that has happened. It runs on a thread of the server, or on the caller's.
  void onClosed(std::function<void()> function) const;

 private:
  friend class Responder;
  struct Ending;
  explicit ResponseStream(std::shared_ptr<detail::BodyQueue> queue);
  std::shared_ptr<Ending> ending_;
};

/// A function that makes a body on demand. It is called on a thread of the server whenever the
/// client has taken everything so far, so nothing is made in advance. It appends to `out` a piece
/// of a size that is convenient to hold in memory, or nothing if it has to wait. An exception cuts
/// the body off.
enum class BodyState {
  More,
  Ahead,  // more, which the server may request on another thread while it sends this
  Wait,   // nothing until BodyHandle::wake()
  End,
  Break,
};
using BodySource = std::function<BodyState(std::string& out)>;

/// A body that a BodySource fills. A cheap handle; the body continues without it.
class BodyHandle {
 public:
  BodyHandle() = default;
  /// Tells the server that the source has data again.
  void wake() const;
  /// Cuts the body off: the client sees an error.
  void abort() const;

 private:
  friend class Responder;
  explicit BodyHandle(std::weak_ptr<detail::BodyQueue> queue) : queue_(std::move(queue)) {}
  std::weak_ptr<detail::BodyQueue> queue_;
};

/// A connection after a protocol switch: bytes in both directions. A cheap handle; dropping the
/// last one closes the connection.
class RawStream {
 public:
  /// Passes received pieces to `onData` on a thread of the server. An empty piece marks the end of
  /// the connection, whichever side ends it.
  void read(std::function<void(std::string_view)> onData) const;
  /// Stops reading until resume() was called as often as pause(). Data that was read already is
  /// still delivered.
  void pause() const;
  void resume() const;

  /// Queues the bytes. Never waits; the queue has no limit.
  void write(String bytes) const;
  /// The number of bytes that are queued and not written yet.
  std::size_t queued() const;
  /// Waits until less than `bytes` is queued. Returns false if the connection is closed or the
  /// token is triggered. Must not be called on the server's own threads.
  bool waitForRoom(std::size_t bytes, std::stop_token stop = {}) const;
  /// Closes the connection after the queued bytes were sent.
  void close() const;

 private:
  friend class Responder;
  struct Closing;
  explicit RawStream(std::shared_ptr<detail::RawSocket> socket);
  std::shared_ptr<Closing> closing_;
};

/// Answers one request, once; a second answer is ignored. A cheap handle; if all are dropped
/// without an answer, the client receives a 500.
class Responder {
 public:
  explicit Responder(std::shared_ptr<detail::ReplyTo> replyTo);

  void send(ServerResponse response) const;
  ResponseStream stream(int status, HttpHeaders headers) const;
  /// The source is destroyed at the end of the body, or when the client disconnects or the server
  /// stops.
  BodyHandle stream(int status, HttpHeaders headers, BodySource source) const;
  /// Answers 101 with these headers (Upgrade: and others) and hands over the connection. HTTP/1.1
  /// only; with HTTP/2 the answer is 400.
  void upgrade(HttpHeaders headers, std::function<void(RawStream)> taken) const;

  /// Wraps a body's source in another source.
  using BodyChange = std::function<BodySource(BodySource)>;
  /// Returns a responder that changes the bodies of its answers, except those of a ResponseStream
  /// or an upgrade.
  Responder changing(BodyChange change) const;

  /// Changes an answer before it is sent. It sees no body, and changes none, if the body is written
  /// later than the headers, as that of a watch. It must not throw.
  using AnswerChange = std::function<void(ServerResponse&)>;
  /// Returns a responder that changes its answers, except an upgrade. Bodies that are made piece by
  /// piece are made as a whole. A BodyChange is applied afterwards.
  Responder answering(AnswerChange change) const;

 private:
  BodyHandle startBody(int status, HttpHeaders headers, BodySource source) const;

  std::shared_ptr<detail::ReplyTo> replyTo_;
  BodyChange change_;
  AnswerChange answerChange_;
};

using HttpHandler = std::function<void(ServerRequest, Responder)>;

struct HttpServerStats {
  std::uint64_t connectionsAccepted = 0;
  std::uint64_t connectionsOpen = 0;
  std::uint64_t requests = 0;
  std::uint64_t connectionsTimedOut = 0;    // closed by a time limit
  std::uint64_t connectionsCrowdedOut = 0;  // closed to make room, or refused
};

class HttpServer {
 public:
  /// Throws ConfigError if the address cannot be listened on or the certificate is unusable.
  HttpServer(HttpServerOptions options, HttpHandler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::uint16_t port() const;
  /// For example https://127.0.0.1:41235.
  std::string url() const;
  HttpServerStats stats() const;

  /// Asks clients to use new connections (GOAWAY, Connection: close). Requests under way continue.
  void drain();
  /// Closes all connections and breaks requests under way off. New connections are accepted.
  void dropConnections();
  /// While silent, the server reads and writes nothing and starts no TLS handshake; connections
  /// stay open.
  void setSilent(bool silent);
  void stop();

 private:
  std::shared_ptr<detail::ServerState> state_;
};

}  // namespace kube
