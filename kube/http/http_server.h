// An HTTP server, for the health and metrics of a controller and for the embedded API server:
// HTTP/1.1 and HTTP/2, plain or TLS.
//
//   HttpServer server({.tls = ServerTls{ca.server({"127.0.0.1"})}}, [](ServerRequest request,
//   Responder responder) {
//     if (request.target == "/healthz") return responder.send({.body = "ok"});
//     ResponseStream stream = responder.stream(200, {{"Content-Type", "application/json"}});
//     watchers.add(stream);   // and from any thread: stream.write(frame)
//   });
//   server.url();   // https://127.0.0.1:41235
//
// It listens when constructed, and is ready within milliseconds. Handlers run on the server's
// threads and must not block; they may hand the responder to another thread. What a handler throws
// becomes a 500. The server ends when destroyed: connections are closed, streams under way cut off,
// its threads joined.
//
// Whoever reaches its address can send it anything, for as long as he likes. So what one request,
// one connection and all together may take, of memory, of descriptors and of time, is bounded by
// the options; what goes beyond is answered with 408, 413, 431 or 503 where that makes sense, and
// its connection closed. Where there are too many connections, a new one takes the place of one
// that is needed less: see maxConnections.
//
// Thread safety: everything may be called from any thread, except stop() and the destructor, which
// must not be called from a handler.
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

struct ServerTls {
  KeyPair identity;
  std::string clientCaPem = {};  // whose client certificates are accepted; empty: none is asked for
  bool requireClientCert = false;
};

struct ServerRequest;
struct ServerResponse;

/// Looks at a request before its body is read: an answer refuses it. The body of what it is given
/// is not whole. It must not block.
using HttpScreen = std::function<std::optional<ServerResponse>(const ServerRequest& head)>;

struct HttpServerOptions {
  std::optional<ServerTls> tls = {};
  bool http2 = true;  // over TLS only
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: any that is free
  int threads = 1;

  // --- What one request may take.
  std::size_t maxHeaderBytes = 64 << 10;     // its trailers and chunk extensions count too
  std::size_t maxBodyBytes = 16 << 20;       // 0: no bodies at all
  std::uint32_t maxConcurrentStreams = 250;  // per HTTP/2 connection
  std::size_t maxQueuedBytes = 1 << 20;      // per response stream

  // --- What all together may take.
  /// Never more than half of the descriptors that the process may have (RLIMIT_NOFILE). One more
  /// takes the place of another: of the peer's with the most connections; of one that says nothing,
  /// is idle, does not take its answer or waits for the handler, in this order; of the oldest of
  /// these. Each has a moment to get on, for which a new one waits. Answers that are streams, and
  /// upgraded connections, stay.
  std::size_t maxConnections = 10'000;
  /// Requests that have begun, and are not whole yet. Beyond it those that are not small get 503.
  std::size_t maxUnfinishedBytes = 64 << 20;
  /// Answers that are not taken, other than streams. Beyond it the connection with the most of that
  /// is closed.
  std::size_t maxUnsentBytes = 256 << 20;
  /// Asked about requests whose bodies are longer than 64 KiB, when so much has come or been
  /// announced.
  HttpScreen screen = {};

  // --- How long things may take, from the first byte on. Not meant for what streams.
  std::chrono::milliseconds handshakeTime{10'000};  // TLS
  std::chrono::milliseconds headTime{30'000};
  std::chrono::milliseconds bodyTime{30'000};  // and a second for each KiB
  std::chrono::milliseconds idleTime{90'000};  // between requests
  std::chrono::milliseconds sendTime{30'000};  // without a byte of an answer being taken
};

/// Whom a client certificate names: Kubernetes' user and groups.
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

/// The body of an answer, written piece by piece. A cheap handle; when the last is gone, the body
/// ends.
class ResponseStream {
 public:
  /// Waits for room in the queue. Says whether the piece was queued: false once the client is gone,
  /// the stream closed, or the token triggered. Not for the server's own threads.
  bool write(String piece, std::stop_token stop = {}) const;
  /// Never waits: false also when the queue is full.
  bool tryWrite(String piece) const;

  /// Ends the body properly, after what is queued.
  void close() const;
  /// Breaks it off: the client sees an error.
  void abort() const;

  /// The client is gone, or the stream was closed.
  bool closed() const;
  /// Calls a function when the client goes away or the server stops before the body has ended; at
  /// once, if that has happened. It runs on a server's thread, or on the caller's.
  void onClosed(std::function<void()> function) const;

 private:
  friend class Responder;
  struct Ending;
  explicit ResponseStream(std::shared_ptr<detail::BodyQueue> queue);
  std::shared_ptr<Ending> ending_;
};

/// What a body is made of when it is not written but asked for: called on a server's thread
/// whenever the client has taken what there was, so that no more is made than is wanted. Adds to
/// `out` about as much as it likes to hold in memory, unless it has to wait. What it throws breaks
/// the body off.
enum class BodyState {
  More,
  Ahead,  // more, and the server may ask for it while this is being sent, on another of its threads
  Wait,   // nothing now, until BodyHandle::wake()
  End,
  Break,
};
using BodySource = std::function<BodyState(std::string& out)>;

/// A body that a BodySource fills. A cheap handle; the body goes on without it.
class BodyHandle {
 public:
  BodyHandle() = default;
  /// There is something to ask the source for.
  void wake() const;
  /// Breaks it off: the client sees an error.
  void abort() const;

 private:
  friend class Responder;
  explicit BodyHandle(std::weak_ptr<detail::BodyQueue> queue) : queue_(std::move(queue)) {}
  std::weak_ptr<detail::BodyQueue> queue_;
};

/// A connection that has changed its protocol: bytes in both directions. A cheap handle; when the
/// last is gone, the connection is closed.
class RawStream {
 public:
  /// Every piece that comes goes to `onData`, on a server's thread; the end of it, whoever ends it,
  /// as an empty one.
  void read(std::function<void(std::string_view)> onData) const;
  /// Nothing more is read until resume() was called as often as pause(). What was read already
  /// still comes.
  void pause() const;
  void resume() const;

  /// Never waits, and queues without limit.
  void write(String bytes) const;
  /// What is queued and not yet written.
  std::size_t queued() const;
  /// Waits until less than that is queued; false once the connection is closed, or the token
  /// triggered. Not for the server's own threads.
  bool waitForRoom(std::size_t bytes, std::stop_token stop = {}) const;
  /// After what is queued.
  void close() const;

 private:
  friend class Responder;
  struct Closing;
  explicit RawStream(std::shared_ptr<detail::RawSocket> socket);
  std::shared_ptr<Closing> closing_;
};

/// Answers one request, once; a second answer is ignored. A cheap handle; if all are gone without
/// an answer, the client gets a 500.
class Responder {
 public:
  explicit Responder(std::shared_ptr<detail::ReplyTo> replyTo);

  void send(ServerResponse response) const;
  ResponseStream stream(int status, HttpHeaders headers) const;
  /// The source is dropped at the end of the body, or when the client or the server has gone.
  BodyHandle stream(int status, HttpHeaders headers, BodySource source) const;
  /// HTTP/1.1 only: answers 101 with these headers (Upgrade: and others) and hands over the
  /// connection. Otherwise answers 400.
  void upgrade(HttpHeaders headers, std::function<void(RawStream)> taken) const;

  /// Makes another body of the one that it is given, as the answer is sent.
  using BodyChange = std::function<BodySource(BodySource)>;
  /// The same, with its body changed on the way, unless that is a ResponseStream's or an upgrade's.
  Responder changing(BodyChange change) const;

 private:
  std::shared_ptr<detail::ReplyTo> replyTo_;
  BodyChange change_;
};

using HttpHandler = std::function<void(ServerRequest, Responder)>;

struct HttpServerStats {
  std::uint64_t connectionsAccepted = 0;
  std::uint64_t connectionsOpen = 0;
  std::uint64_t requests = 0;
  std::uint64_t connectionsTimedOut = 0;    // something took too long
  std::uint64_t connectionsCrowdedOut = 0;  // closed for others, or let in no more
};

class HttpServer {
 public:
  /// Throws ConfigError where the address cannot be listened on or the certificate not be used.
  HttpServer(HttpServerOptions options, HttpHandler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::uint16_t port() const;
  /// https://127.0.0.1:41235
  std::string url() const;
  HttpServerStats stats() const;

  /// Asks clients to go to new connections (GOAWAY, Connection: close); what is under way goes on.
  void drain();
  /// Closes all connections; what is under way breaks off. New ones are accepted.
  void dropConnections();
  /// While silent, nothing is read, nothing written, nobody greeted; connections stay open.
  void setSilent(bool silent);
  void stop();

 private:
  std::shared_ptr<detail::ServerState> state_;
};

}  // namespace kube
