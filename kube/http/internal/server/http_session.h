// The inside of HttpServer: its state, its connections, and the path from a handler's answer to
// them.
//
// Every connection has a strand, which runs the functions that belong to it one at a time. Threads
// of handlers reach it through ReplyTo and BodyQueue, which may outlive the connection and the
// server.
#pragma once

#include <array>
#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "kube/base/internal/mutex.h"
#include "kube/base/internal/shared_mutex.h"
#include "kube/http/http_server.h"
#include "kube/http/internal/server/http_connections.h"
#include "kube/http/internal/server/server_tls.h"
#include "kube/http/internal/server/server_tls_context.h"

namespace kube::detail {

namespace asio = boost::asio;

class ServerState;

/// The size counted for a header in addition to its text, as in HTTP/2, because many small headers
/// take memory too.
inline constexpr std::size_t kHeaderOverhead = 32;

// A TCP socket, optionally under TLS.
struct ServerSocket {
  explicit ServerSocket(asio::ip::tcp::socket accepted, PeerKey from = 0)
      : tcp(std::move(accepted)), peer(from) {}

  asio::ip::tcp::socket tcp;
  const PeerKey peer;
  const ServerTime since = std::chrono::steady_clock::now();
  std::optional<ServerTlsStream> tls;

  template <class Handler>
  void readSome(asio::mutable_buffer buffer, Handler handler) {
    tls ? tls->readSome(buffer, std::move(handler))
        : tcp.async_read_some(buffer, std::move(handler));
  }
  /// Reads data that was received already. Returns 0 if there is none, or at the end, which
  /// readSome() reports.
  std::size_t readNow(asio::mutable_buffer buffer) {
    if (tls) return tls->readNow(buffer);
    boost::system::error_code ignored;
    return tcp.read_some(buffer, ignored);
  }
  /// Frees buffers, while nothing is written.
  void rest() {
    if (tls) tls->rest();
  }
  template <class Handler>
  void writeSome(asio::const_buffer buffer, Handler handler) {
    tls ? tls->write(buffer, std::move(handler)) : tcp.async_write_some(buffer, std::move(handler));
  }
};

// The pieces of a streamed body on the way from handlers' threads to a connection.
class BodyQueue : public std::enable_shared_from_this<BodyQueue> {
 public:
  /// Runs a function on another thread, later.
  using Aside = std::function<void(std::function<void()>)>;

  /// `wake` tells the connection that the queue has data. It is called without a lock. Without
  /// `aside`, the source is never asked ahead.
  BodyQueue(std::size_t maxBytes, std::function<void()> wake, BodySource source = {},
            Aside aside = {})
      : maxBytes_(maxBytes),
        wake_(std::move(wake)),
        aside_(std::move(aside)),
        source_(std::move(source)) {}

  // --- For handlers.
  bool push(String piece, bool wait, const std::stop_token& stop);
  void finish(bool properly);
  bool closed() const;
  void onClosed(std::function<void()> function);
  void sourceReady();

  // --- For the connection.
  enum class State { Open, Ended, Aborted };
  struct Offer {
    std::size_t bytes;
    State state;  // Open: more may follow, even after 0 bytes; Ended: these are the last
  };
  /// The number of bytes that can be taken now, up to `most`.
  Offer offer(std::size_t most);
  /// Appends the offered bytes to `out`. To be called before the next offer().
  void take(std::size_t bytes, std::string& out);
  void peerGone();

 private:
  /// Returns whether the connection has to be woken: false while a wake-up is pending.
  bool needsWake() KUBE_REQUIRES(piecesMutex_) { return !std::exchange(wakePending_, true); }
  void askSource();
  BodyState make(std::string& out);
  void makeAhead();

  const std::size_t maxBytes_;
  const std::function<void()> wake_;
  const Aside aside_;
  std::string made_;  // by the source; owned by the connection's strand
  // Owned by the connection's strand, or by makeAhead() while ahead_ is Making or Awaited.
  BodySource source_;
  std::string next_;
  BodyState nextState_ = BodyState::More;

  mutable Mutex piecesMutex_;
  std::condition_variable_any room_;
  std::deque<String> pieces_ KUBE_GUARDED_BY(piecesMutex_);
  enum class Ahead { No, Making, Awaited, Made };
  Ahead ahead_ KUBE_GUARDED_BY(piecesMutex_) = Ahead::No;
  std::size_t offset_ KUBE_GUARDED_BY(piecesMutex_) = 0;  // in made_, or in the first piece
  std::size_t bytes_ KUBE_GUARDED_BY(piecesMutex_) = 0;   // of all pieces, without offset_
  bool wakePending_ KUBE_GUARDED_BY(piecesMutex_) = false;
  bool finished_ KUBE_GUARDED_BY(piecesMutex_) = false;
  bool aborted_ KUBE_GUARDED_BY(piecesMutex_) = false;
  bool gone_ KUBE_GUARDED_BY(piecesMutex_) = false;
  bool ended_ KUBE_GUARDED_BY(piecesMutex_) = false;
  std::vector<std::function<void()>> onClosed_ KUBE_GUARDED_BY(piecesMutex_);
};

class ServerSession : public Closable, public std::enable_shared_from_this<ServerSession> {
 public:
  ServerSession(std::shared_ptr<ServerState> server, std::unique_ptr<ServerSocket> socket,
                std::optional<PeerIdentity> peer);
  ~ServerSession() override;

  void run();
  void resume() override;
  void expire() override;
  asio::any_io_executor executor() const override { return executor_; }
  ServerState& server() const { return *server_; }
  const std::optional<PeerIdentity>& peer() const { return peer_; }

  // --- On the strand. `id` identifies a request; a finished one is ignored.
  virtual void respond(std::int32_t id, ServerResponse response) = 0;
  virtual void respondStream(std::int32_t id, int status, HttpHeaders headers,
                             std::shared_ptr<BodyQueue> body) = 0;
  virtual void bodyReady(std::int32_t id) = 0;
  virtual void upgrade(std::int32_t id, HttpHeaders headers,
                       std::function<void(std::shared_ptr<RawSocket>)> taken) = 0;
  void close() override;

 protected:
  virtual void opened() {}
  virtual void received(std::string_view bytes) = 0;
  /// Returns whether more may be read now. Called again after every write.
  virtual bool wantsInput() const { return true; }
  /// Appends data to send, at most about kOutputPiece.
  virtual void produce(std::string& out) = 0;
  /// Tells all bodies that the client is gone.
  virtual void lost() = 0;
  /// Updates the standing: the activity and its deadline.
  virtual void appraise() = 0;
  /// Handles a passed deadline.
  virtual void tookTooLong(ServerTime now) = 0;
  /// The bytes of answers, without streams, that produce() has still to append.
  virtual std::size_t unproduced() const = 0;

  static constexpr std::size_t kOutputPiece = 256 << 10;
  /// The size of a body from which the server's screen has to admit the request.
  static constexpr std::size_t kUnscreenedBody = 64 << 10;
  static ServerTime now() { return std::chrono::steady_clock::now(); }
  void flush();
  /// Closes the connection after everything was sent. `rest`: the client is still sending data that
  /// is not wanted, which must not keep it from reading the last answer.
  void closeAfterFlush(bool rest = false);
  bool isClosed() const { return closed_; }
  bool isSending() const { return writing_; }
  bool hasTls() const;
  /// The time at which the connection was accepted.
  ServerTime cameAt() const { return cameAt_; }
  /// The time of the last write.
  ServerTime lastSent() const { return lastSent_; }
  void handle(std::int32_t id, ServerRequest request);
  std::optional<ServerResponse> screen(ServerRequest& head);
  /// Notes the memory of this connection's unfinished requests. Returns false if the server has no
  /// room for it.
  bool hold(std::size_t bytes);
  std::unique_ptr<ServerSocket> releaseSocket();

 private:
  void readNext();
  void hear(std::string_view bytes);
  void hearMore();
  void writeNext();
  void finishClosing();
  void settle();
  void countUnsent(std::size_t bytes);

  const std::shared_ptr<ServerState>
      server_;  // declared first, because sockets need its io_context
  std::unique_ptr<ServerSocket> socket_;
  const asio::any_io_executor executor_;
  const std::optional<PeerIdentity> peer_;
  std::array<char, 2048> input_;  // overflow goes to sharedInput()
  std::string output_;
  std::size_t written_ = 0;
  std::size_t held_ = 0, unsent_ = 0, unwanted_ = 0;
  const ServerTime cameAt_;
  ServerTime lastSent_, closingSince_;
  bool reading_ = false;
  bool writing_ = false;
  bool inside_ = false;      // in received() or produce(), where flush() must not enter again
  bool flushAgain_ = false;  // flush() was called there
  bool closing_ = false;
  bool lingers_ = false;    // after the last write, it waits for the client to close
  bool lingering_ = false;  // it waits for that
  bool closed_ = false;
  std::size_t unheard_ = 0;  // bytes received while the server is silent
};

std::shared_ptr<ServerSession> http1Session(std::shared_ptr<ServerState> server,
                                            std::unique_ptr<ServerSocket> socket,
                                            std::optional<PeerIdentity> peer);
std::shared_ptr<ServerSession> http2Session(std::shared_ptr<ServerState> server,
                                            std::unique_ptr<ServerSocket> socket,
                                            std::optional<PeerIdentity> peer);

// The destination of the answer to a request.
class ReplyTo {
 public:
  ReplyTo(std::weak_ptr<ServerSession> session, std::int32_t id)
      : session_(std::move(session)), id_(id) {}
  ~ReplyTo();

  void send(ServerResponse response);
  std::shared_ptr<BodyQueue> stream(int status, HttpHeaders headers, BodySource source = {});
  void upgrade(HttpHeaders headers, std::function<void(std::shared_ptr<RawSocket>)> taken);

 private:
  // Returns the session for the first answer, later null.
  std::shared_ptr<ServerSession> claim();

  const std::weak_ptr<ServerSession> session_;
  const std::int32_t id_;
  std::atomic<bool> answered_{false};
};

// A connection after an upgrade.
class RawSocket : public Closable, public std::enable_shared_from_this<RawSocket> {
 public:
  RawSocket(std::shared_ptr<ServerState> server, std::unique_ptr<ServerSocket> socket,
            std::string unread);
  ~RawSocket() override;

  // --- For any thread.
  void read(std::function<void(std::string_view)> onData);
  void pause(int by);
  void write(String bytes);
  std::size_t queued() const;
  bool waitForRoom(std::size_t bytes, const std::stop_token& stop);
  void closeLater();

  asio::any_io_executor executor() const override { return executor_; }
  void resume() override;
  void shutDown() override { close(); }
  void close() override;

 private:
  void deliver(std::string_view bytes);
  void readNext();
  void writeNext();
  void wrote(std::size_t bytes);

  const std::shared_ptr<ServerState> server_;
  std::unique_ptr<ServerSocket> socket_;
  const asio::any_io_executor executor_;
  std::string input_;
  std::string unread_;  // received together with the request for the upgrade
  std::function<void(std::string_view)> onData_;
  int paused_ = 0;
  std::size_t unheard_ = 0;  // bytes received while the server is silent
  std::deque<String> output_;
  std::size_t written_ = 0;
  bool started_ = false;  // read() was called
  bool reading_ = false, writing_ = false, delivering_ = false, closing_ = false, closed_ = false;
  mutable Mutex queuedMutex_;
  std::condition_variable_any room_;
  std::size_t queued_ KUBE_GUARDED_BY(queuedMutex_) = 0;
  bool gone_ KUBE_GUARDED_BY(queuedMutex_) = false;
};

class ServerState : public std::enable_shared_from_this<ServerState> {
 public:
  ServerState(HttpServerOptions options, HttpHandler handler);

  void start();
  void stop();
  void drain();
  void dropConnections();
  void setSilent(bool silent);
  bool silent() const { return silent_.load(std::memory_order_acquire); }

  /// Runs a function on a connection's strand; at once if this thread is on it, or if the server
  /// has stopped. In a stopped server a queued function would never run, and would keep the server
  /// from being freed.
  template <class Function>
  void enter(const asio::any_io_executor& strand, Function function) {
    {
      const SharedLock lock(stoppedMutex_);
      if (!stopped_) return asio::dispatch(strand, std::move(function));
    }
    const std::lock_guard lock(afterwardsMutex_);
    function();
  }

  /// Runs a function on a thread of the server, unless it has stopped.
  void runAside(std::function<void()> function);
  /// Tells a connection, later, that a body has data for it.
  void wake(const std::shared_ptr<ServerSession>& session, std::int32_t id);

  const HttpServerOptions& options() const { return options_; }
  const HttpHandler& handler() const { return handler_; }
  std::uint16_t port() const { return port_; }
  static bool onOwnThread();
  void add(const std::shared_ptr<Closable>& connection);
  void remove(Closable* connection) { connections_.remove(connection); }
  HttpServerStats stats() const;
  void countRequest() { requests_.fetch_add(1, std::memory_order_relaxed); }
  void countTimeout() { timedOut_.fetch_add(1, std::memory_order_relaxed); }

  /// Notes that a connection's unfinished requests take `now` bytes instead of `before`. Returns
  /// false if that exceeds the limit; small requests always fit.
  bool hold(std::size_t before, std::size_t now);
  /// The same for unsent answers. Beyond the limit another connection is closed.
  void countUnsent(Closable& connection, std::size_t before, std::size_t now);

 private:
  friend class Welcome;
  void listen();
  void acceptNext();
  void acceptSome();
  void accepted(int fd, PeerKey peer);
  void pauseAccepting(int error);
  void acceptLater(std::chrono::milliseconds pause);
  bool connectionWaits();
  void crowdOut(const ConnectionTable::Connections& connections);
  void sweepLater();
  void sweep();

  const HttpServerOptions options_;
  const std::size_t maxConnections_;
  const std::chrono::milliseconds sweepPeriod_;
  HttpHandler handler_;
  ConnectionTable connections_;
  asio::io_context io_;
  std::optional<ServerTlsContext> tls_;
  // --- Owned by the acceptor's strand.
  asio::ip::tcp::acceptor acceptor_;
  asio::steady_timer pause_, sweepTimer_;
  bool sweeping_ = false;
  bool refusing_ = false;    // the next connection
  ServerTime crowdedSince_;  // when there was room the last time
  std::uint16_t port_ = 0;
  std::vector<std::thread> threads_;
  std::atomic<bool> silent_{false};
  SharedMutex stoppedMutex_;
  bool stopped_ KUBE_GUARDED_BY(stoppedMutex_) = false;
  std::recursive_mutex afterwardsMutex_;  // stands in for the strands once stopped_
  std::atomic<std::uint64_t> accepted_{0}, requests_{0}, timedOut_{0}, crowdedOut_{0};
  std::atomic<std::size_t> unfinished_{0}, unsent_{0};
};

}  // namespace kube::detail
