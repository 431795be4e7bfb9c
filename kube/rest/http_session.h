// The inside of HttpServer: its state, a connection, and what ties a handler's answer to it.
//
// Every connection has a strand; what is said to belong to it runs there, one at a time. Handlers'
// threads reach it through ReplyTo and BodyQueue, which may outlive it and the server.
#pragma once

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "kube/rest/http_server.h"
#include "kube/rest/server_tls.h"

namespace kube::detail {

namespace asio = boost::asio;

class ServerState;

// A TCP socket, perhaps under TLS.
struct ServerSocket {
  explicit ServerSocket(asio::ip::tcp::socket accepted) : tcp(std::move(accepted)) {}

  asio::ip::tcp::socket tcp;
  std::optional<ServerTlsStream> tls;

  template <class Handler>
  void readSome(asio::mutable_buffer buffer, Handler handler) {
    tls ? tls->readSome(buffer, std::move(handler))
        : tcp.async_read_some(buffer, std::move(handler));
  }
  template <class Handler>
  void writeSome(asio::const_buffer buffer, Handler handler) {
    tls ? tls->write(buffer, std::move(handler)) : tcp.async_write_some(buffer, std::move(handler));
  }
};

// A connection in any of its stages, as far as the server has to know it.
class Closable {
 public:
  virtual ~Closable() = default;
  virtual asio::any_io_executor executor() const = 0;
  // --- On the strand.
  virtual void drain() {}
  virtual void resume() {}      // after a silence
  virtual void shutDown() = 0;  // says goodbye, closes
  virtual void close() = 0;     // closes
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
  /// Adds some of what is to be sent, at most about outputPiece.
  virtual void produce(std::string& out) = 0;
  /// The client is gone: tells all bodies.
  virtual void lost() = 0;

  static constexpr std::size_t outputPiece = 256 << 10;
  void flush();
  /// When all that is to be sent has been sent.
  void closeAfterFlush();
  bool isClosed() const { return closed_; }
  void handle(std::int32_t id, ServerRequest request);
  std::unique_ptr<ServerSocket> releaseSocket();

 private:
  void readNext();
  void writeNext();

  const std::shared_ptr<ServerState> server_;  // first in, last out: sockets need its io_context
  std::unique_ptr<ServerSocket> socket_;
  const asio::any_io_executor executor_;
  const std::optional<PeerIdentity> peer_;
  std::string input_, output_;
  std::size_t written_ = 0;
  bool writing_ = false;
  bool inside_ = false;      // in received() or produce(), which flush() must not enter again
  bool flushAgain_ = false;  // it was asked to
  bool closing_ = false;
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
  void remove(Closable* connection);
  HttpServerStats stats() const;
  void countRequest() { requests_.fetch_add(1, std::memory_order_relaxed); }

 private:
  friend class Welcome;
  void acceptNext();
  std::vector<std::shared_ptr<Closable>> connections() const;

  const HttpServerOptions options_;
  HttpHandler handler_;
  asio::io_context io_;
  std::optional<asio::ssl::context> tls_;
  asio::ip::tcp::acceptor acceptor_;
  std::uint16_t port_ = 0;
  std::vector<std::thread> threads_;
  std::atomic<bool> silent_{false};
  std::shared_mutex stoppedMutex_;
  bool stopped_ = false;
  std::recursive_mutex afterwards_;
  mutable std::mutex connectionsMutex_;
  std::condition_variable connectionsChanged_;
  std::map<Closable*, std::weak_ptr<Closable>> connections_;
  bool stopping_ = false;
  std::atomic<std::uint64_t> accepted_{0}, requests_{0};
};

}  // namespace kube::detail
