// The inside of HttpServer: its state, a connection, and what ties a handler's answer to it.
//
// Every connection has a strand; what is said to belong to it runs there, one at a time. Handlers'
// threads reach it through ReplyTo and BodyQueue, which may outlive it and the server.
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
#include <shared_mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "kube/http/http_server.h"
#include "kube/http/internal/server/http_connections.h"
#include "kube/http/internal/server/server_tls.h"

namespace kube::detail {

namespace asio = boost::asio;

class ServerState;

/// What is counted for a header beside its text, as HTTP/2 has it: many small ones take memory too.
inline constexpr std::size_t headerOverhead = 32;

// A TCP socket, perhaps under TLS.
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
  /// What is here already; 0 where that is nothing, or an end, of which readSome() tells.
  std::size_t readNow(asio::mutable_buffer buffer) {
    if (tls) return tls->readNow(buffer);
    boost::system::error_code ignored;
    return tcp.read_some(buffer, ignored);
  }
  /// Gives memory back, while nothing is written.
  void rest() {
    if (tls) tls->rest();
  }
  template <class Handler>
  void writeSome(asio::const_buffer buffer, Handler handler) {
    tls ? tls->write(buffer, std::move(handler)) : tcp.async_write_some(buffer, std::move(handler));
  }
};

// The pieces of a streamed body on their way from handlers' threads to a connection.
class BodyQueue : public std::enable_shared_from_this<BodyQueue> {
 public:
  /// Runs something on another thread, some time.
  using Aside = std::function<void(std::function<void()>)>;

  /// `wake` tells the connection that there is something to take. It is called without a lock.
  /// Without `aside`, a source is never asked ahead.
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
    State state;  // Open: more may come, though none may be here; Ended: these are the last
  };
  /// How much of it can be taken now, of so much at the most.
  Offer offer(std::size_t most);
  /// Adds what was offered to `out`, before anything else is asked for.
  void take(std::size_t bytes, std::string& out);
  void peerGone();

 private:
  void wakeOnce(std::unique_lock<std::mutex>& lock);
  void askSource();
  BodyState make(std::string& out);
  void makeAhead();

  const std::size_t maxBytes_;
  const std::function<void()> wake_;
  const Aside aside_;
  BodySource source_;  // of the connection alone, or of who makes ahead
  mutable std::mutex mutex_;
  std::condition_variable_any room_;
  std::deque<String> pieces_;
  std::string made_;  // by the source; of the connection alone
  std::string next_;  // made ahead; of who does that, until it has been
  BodyState nextState_ = BodyState::More;
  enum class Ahead { No, Making, Awaited, Made } ahead_ = Ahead::No;
  std::size_t offset_ = 0;  // in the first piece, or in that
  std::size_t bytes_ = 0;   // of all pieces, from there on
  bool wakePending_ = false;
  bool finished_ = false, aborted_ = false, gone_ = false, ended_ = false;
  std::vector<std::function<void()>> onClosed_;
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

  // --- All of these on the strand. `id` is that of the request; one that is over is ignored.
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
  /// Whether more may be read now. Asked again after everything that has been sent.
  virtual bool wantsInput() const { return true; }
  /// Adds some of what is to be sent, at most about outputPiece.
  virtual void produce(std::string& out) = 0;
  /// The client is gone: tells all bodies.
  virtual void lost() = 0;
  /// Says by its standing what it is doing, and how long that may take.
  virtual void appraise() = 0;
  /// That time is over.
  virtual void tookTooLong(ServerTime now) = 0;
  /// Bytes of answers, apart from streams, that produce() has still to give.
  virtual std::size_t unproduced() const = 0;

  static constexpr std::size_t outputPiece = 256 << 10;
  /// A longer body is read only if the server's screen lets its request through.
  static constexpr std::size_t unscreenedBody = 64 << 10;
  static ServerTime now() { return std::chrono::steady_clock::now(); }
  void flush();
  /// When all that is to be sent has been sent. `rest`: more is on its way that nobody wants, and
  /// that must not keep the client from the last answer.
  void closeAfterFlush(bool rest = false);
  bool isClosed() const { return closed_; }
  bool isSending() const { return writing_; }
  bool hasTls() const;
  /// When the connection came.
  ServerTime cameAt() const { return cameAt_; }
  /// When the last bytes went.
  ServerTime lastSent() const { return lastSent_; }
  void handle(std::int32_t id, ServerRequest request);
  std::optional<ServerResponse> screen(ServerRequest& head);
  /// What unfinished requests of this connection take by now. False where the server has no room.
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

  const std::shared_ptr<ServerState> server_;  // first in, last out: sockets need its io_context
  std::unique_ptr<ServerSocket> socket_;
  const asio::any_io_executor executor_;
  const std::optional<PeerIdentity> peer_;
  std::array<char, 2048> input_;  // where there is more, it goes to a buffer that all share
  std::string output_;
  std::size_t written_ = 0;
  std::size_t held_ = 0, unsent_ = 0, unwanted_ = 0;
  const ServerTime cameAt_;
  ServerTime lastSent_, closingSince_;
  bool reading_ = false;
  bool writing_ = false;
  bool inside_ = false;      // in received() or produce(), which flush() must not enter again
  bool flushAgain_ = false;  // it was asked to
  bool closing_ = false;
  bool lingers_ = false;    // once it has sent all, it waits a moment for the client to go
  bool lingering_ = false;  // it does
  bool closed_ = false;
  std::size_t unheard_ = 0;  // bytes that came while the server is silent
};

std::shared_ptr<ServerSession> http1Session(std::shared_ptr<ServerState> server,
                                            std::unique_ptr<ServerSocket> socket,
                                            std::optional<PeerIdentity> peer);
std::shared_ptr<ServerSession> http2Session(std::shared_ptr<ServerState> server,
                                            std::unique_ptr<ServerSocket> socket,
                                            std::optional<PeerIdentity> peer);

// Where the answer to a request goes.
class ReplyTo {
 public:
  ReplyTo(std::weak_ptr<ServerSession> session, std::int32_t id)
      : session_(std::move(session)), id_(id) {}
  ~ReplyTo();

  void send(ServerResponse response);
  std::shared_ptr<BodyQueue> stream(int status, HttpHeaders headers, BodySource source = {});
  void upgrade(HttpHeaders headers, std::function<void(std::shared_ptr<RawSocket>)> taken);

 private:
  // The session, for the first answer only.
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
  std::string unread_;  // what came with the request for the upgrade
  std::function<void(std::string_view)> onData_;
  int paused_ = 0;
  std::size_t unheard_ = 0;  // bytes that came while the server is silent
  std::deque<String> output_;
  std::size_t written_ = 0;
  bool started_ = false;  // somebody wants what comes
  bool reading_ = false, writing_ = false, delivering_ = false, closing_ = false, closed_ = false;
  mutable std::mutex queuedMutex_;
  std::condition_variable_any room_;
  std::size_t queued_ = 0;
  bool gone_ = false;
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

  /// Runs a function on a connection's strand; at once, if this is it or the server has stopped. A
  /// function that would wait in a stopped server would wait for ever, and keep it from being
  /// freed.
  template <class Function>
  void enter(const asio::any_io_executor& strand, Function function) {
    {
      std::shared_lock lock(stoppedMutex_);
      if (!stopped_) return asio::dispatch(strand, std::move(function));
    }
    std::lock_guard lock(afterwards_);
    function();
  }

  /// Runs a function on one of the server's threads, unless it has stopped.
  void runAside(std::function<void()> function);
  /// Tells a connection, later, that a body has something for it.
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

  /// A connection's unfinished requests take `now` bytes instead of `before`. False where that is
  /// more than there is room for; what is small finds room always.
  bool hold(std::size_t before, std::size_t now);
  /// The same of what it has not sent; where that is too much, another has to go.
  void countUnsent(Closable& connection, std::size_t before, std::size_t now);

 private:
  friend class Welcome;
  void listen();
  void acceptNext();
  void acceptSome();
  void accepted(int fd, PeerKey peer);
  void pauseAccepting(int error);
  void acceptLater(std::chrono::milliseconds pause);
  bool someoneWaits();
  void crowdOut(const ConnectionTable::Connections& connections);
  void sweepLater();
  void sweep();

  const HttpServerOptions options_;
  const std::size_t maxConnections_;
  const std::chrono::milliseconds sweepPeriod_;
  HttpHandler handler_;
  ConnectionTable connections_;
  asio::io_context io_;
  std::optional<asio::ssl::context> tls_;
  // These belong to the acceptor's strand.
  asio::ip::tcp::acceptor acceptor_;
  asio::steady_timer pause_, sweepTimer_;
  bool sweeping_ = false;
  bool refusing_ = false;    // the next one
  ServerTime crowdedSince_;  // when there was room the last time, for what could wait
  std::uint16_t port_ = 0;
  std::vector<std::thread> threads_;
  std::atomic<bool> silent_{false};
  std::shared_mutex stoppedMutex_;
  bool stopped_ = false;
  std::recursive_mutex afterwards_;
  std::atomic<std::uint64_t> accepted_{0}, requests_{0}, timedOut_{0}, crowdedOut_{0};
  std::atomic<std::size_t> unfinished_{0}, unsent_{0};
};

}  // namespace kube::detail
