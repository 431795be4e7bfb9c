#include "kube/http/http_server.h"

#include <fmt/core.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <cerrno>
#include <string_view>
#include <system_error>

#include "kube/base/error.h"
#include "kube/base/internal/start_thread.h"
#include "kube/base/log.h"
#include "kube/http/internal/descriptor.h"
#include "kube/http/internal/server/http_session.h"

namespace kube {
namespace detail {

using asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr std::chrono::milliseconds kFarewellTime{500};
// The pause in accepting after the process ran out of descriptors.
constexpr std::chrono::milliseconds kAcceptPause{100};
// The pause if all connections are new or made progress just now, and the limit of such pauses in a
// row.
constexpr std::chrono::milliseconds kRoomPause{5}, kMaxRoomPause{300};
// The time a connection has for its first request and the answer. With TLS it includes the
// handshake, whose CPU time limits the rate of new connections.
constexpr std::chrono::milliseconds kPlainMoment{64}, kTlsMoment{144};
constexpr int kAcceptedAtOnce = 16;
// Requests of this size always find room: they are probes, or come from well-behaved clients.
constexpr std::size_t kSmallRequest = 4 << 10;

thread_local bool ownThread = false;  // true on threads of servers

// Leaves the other half of the descriptors to the rest of the program.
std::size_t connectionsFor(std::size_t wanted) {
  return std::clamp<std::size_t>(wanted, 1, std::max<std::size_t>(mostDescriptors() / 2, 1));
}

// A quarter of the shortest time limit, within bounds.
std::chrono::milliseconds sweepPeriodFor(const HttpServerOptions& options) {
  const auto shortest = std::min({options.handshakeTime, options.headTime, options.bodyTime,
                                  options.idleTime, options.sendTime});
  return std::clamp<std::chrono::milliseconds>(shortest / 4, std::chrono::milliseconds{5},
                                               std::chrono::milliseconds{250});
}

std::optional<PeerIdentity> identityOf(SSL* session) {
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(SSL_get1_peer_certificate(session),
                                                                X509_free);
  if (!certificate) return std::nullopt;
  PeerIdentity identity;
  X509_NAME* subject = X509_get_subject_name(certificate.get());
  for (int i = 0; i < X509_NAME_entry_count(subject); ++i) {
    const X509_NAME_ENTRY* entry = X509_NAME_get_entry(subject, i);
    unsigned char* text = nullptr;
    const int size = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(entry));
    if (size < 0) continue;
    std::string value(reinterpret_cast<char*>(text), static_cast<std::size_t>(size));
    OPENSSL_free(text);
    const int field = OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry));
    if (field == NID_commonName) {
      identity.commonName = std::move(value);
    } else if (field == NID_organizationName) {
      identity.organizations.push_back(std::move(value));
    }
  }
  return identity;
}

}  // namespace

// A new connection, until the TLS handshake has selected the protocol.
class Welcome : public Closable, public std::enable_shared_from_this<Welcome> {
 public:
  Welcome(std::shared_ptr<ServerState> server, tcp::socket socket, PeerKey peer)
      : Closable(peer),
        server_(std::move(server)),
        socket_(std::make_unique<ServerSocket>(std::move(socket), peer)),
        executor_(socket_->tcp.get_executor()) {
    const ServerTime now = std::chrono::steady_clock::now();
    standing().set(Stage::Silent, now, now + server_->options().handshakeTime);
  }
  ~Welcome() override { server_->remove(this); }

  void run() {
    error_code ignored;
    socket_->tcp.set_option(tcp::no_delay(true), ignored);
    if (!server_->tls_) return pass(false, std::nullopt);
    const auto context = server_->tls_->current();
    socket_->tls.emplace(socket_->tcp, context->native_handle());
    if (server_->silent()) {
      silenced_ = shared_from_this();  // the only reference until resume() or close()
      return;
    }
    shakeHands();
  }

  void resume() override {
    const auto self = std::exchange(silenced_, nullptr);
    if (socket_ && socket_->tls && !std::exchange(shaking_, true)) shakeHands();
  }

  asio::any_io_executor executor() const override { return executor_; }
  // May be called after the connection has become a session.
  void drain() override {
    draining_ = true;
    if (const auto session = session_.lock()) session->drain();
  }
  void expire() override {
    if (!socket_ || server_->silent()) return;
    server_->countTimeout();
    close();
  }
  void shutDown() override { close(); }
  void close() override {
    const auto self = std::exchange(silenced_, nullptr);
    if (const auto session = session_.lock()) return session->close();
    if (!socket_) return;
    error_code ignored;
    socket_->tcp.close(ignored);
  }

 private:
  void shakeHands() {
    shaking_ = true;
    socket_->tls->handshake(
        [self = shared_from_this()](const error_code& error, std::size_t) {
          if (!error) self->shaken();
        },
        [this] { standing().set(Stage::Fresh, standing().since(), standing().deadline()); });
  }

  void shaken() {
    SSL* session = socket_->tls->session();
    const unsigned char* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(session, &name, &size);
    pass(std::string_view(reinterpret_cast<const char*>(name), size) == "h2", identityOf(session));
  }

  void pass(bool http2, std::optional<PeerIdentity> peer) {
    const auto session = http2 ? http2Session(server_, std::move(socket_), std::move(peer))
                               : http1Session(server_, std::move(socket_), std::move(peer));
    session_ = session;
    server_->connections_.replace(this, session);
    session->run();
    if (draining_) session->drain();
  }

  const std::shared_ptr<ServerState> server_;
  std::unique_ptr<ServerSocket> socket_;
  const asio::any_io_executor executor_;
  std::weak_ptr<ServerSession> session_;
  std::shared_ptr<Welcome> silenced_;
  bool draining_ = false, shaking_ = false;
};

ServerState::ServerState(HttpServerOptions options, HttpHandler handler)
    : options_(std::move(options)),
      maxConnections_(connectionsFor(options_.maxConnections)),
      sweepPeriod_(sweepPeriodFor(options_)),
      handler_(std::move(handler)),
      connections_(options_.tls ? kTlsMoment : kPlainMoment),
      acceptor_(asio::make_strand(io_)),
      pause_(acceptor_.get_executor()),
      sweepTimer_(acceptor_.get_executor()) {
  if (options_.tls) tls_.emplace(*options_.tls, options_.http2);
  try {
    listen();
  } catch (const boost::system::system_error& error) {
    throw ConfigError(fmt::format("HTTP server: cannot listen on {}:{}: {}", options_.address,
                                  options_.port, error.code().message()));
  }
}

// Asio's own sockets lack SOCK_CLOEXEC: programs started meanwhile would inherit them.
void ServerState::listen() {
  const tcp::endpoint endpoint(asio::ip::make_address(options_.address), options_.port);
  const int fd = ::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP);
  if (fd < 0) {
    throw boost::system::system_error(error_code(errno, boost::system::system_category()));
  }
  acceptor_.assign(endpoint.protocol(), fd);
  acceptor_.non_blocking(true);
  acceptor_.set_option(tcp::acceptor::reuse_address(true));
  acceptor_.bind(endpoint);
  acceptor_.listen();
  port_ = acceptor_.local_endpoint().port();
}

void ServerState::start() {
  acceptNext();
  for (int i = 0; i < std::max(options_.threads, 1); ++i) {
    startingThread("the HTTP server", [this] {
      threads_.emplace_back([this] {
        blockSignals();
        ownThread = true;
        io_.run();
      });
    });
  }
}

void ServerState::acceptNext() {
  acceptor_.async_wait(tcp::acceptor::wait_read, [this](const error_code& error) {
    if (!error && acceptor_.is_open()) acceptSome();
  });
}

void ServerState::acceptSome() {
  if (connections_.hasRoom(maxConnections_)) crowdedSince_ = std::chrono::steady_clock::now();
  for (int i = 0; i < kAcceptedAtOnce; ++i) {
    if (!connections_.hasRoom(maxConnections_)) {
      if (i > 0 && !connectionWaits()) break;
      const ServerTime now = std::chrono::steady_clock::now();
      const bool urgent = crowdedSince_ + kMaxRoomPause <= now;
      auto room = connections_.makeRoom(maxConnections_, now, urgent);
      if (room.what == ConnectionTable::Room::For::NoneNow) return acceptLater(kRoomPause);
      if (!urgent) crowdedSince_ = now;
      refusing_ = room.what == ConnectionTable::Room::For::None;
      crowdOut(room.leaving);
    }
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    const int fd = ::accept4(acceptor_.native_handle(), reinterpret_cast<sockaddr*>(&address),
                             &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
      accepted(fd, peerKey(address));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      break;
    } else if (errno != EINTR && errno != ECONNABORTED) {
      // Without free descriptors accept4() fails even if no connection is waiting.
      if (i > 0) break;
      return pauseAccepting(errno);
    }
  }
  acceptNext();
}

bool ServerState::connectionWaits() {
  pollfd waits{.fd = acceptor_.native_handle(), .events = POLLIN, .revents = 0};
  return ::poll(&waits, 1, 0) > 0;
}

void ServerState::accepted(int fd, PeerKey peer) {
  accepted_.fetch_add(1, std::memory_order_relaxed);
  tcp::socket socket(asio::any_io_executor(asio::make_strand(io_)));
  error_code error;
  socket.assign(acceptor_.local_endpoint(error).protocol(), fd, error);
  if (error) {
    ::close(fd);
    return;
  }
  if (std::exchange(refusing_, false)) {
    crowdedOut_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const auto executor = socket.get_executor();
  const auto welcome = std::make_shared<Welcome>(shared_from_this(), std::move(socket), peer);
  add(welcome);
  asio::post(executor, [welcome] { welcome->run(); });
  sweepLater();
}

void ServerState::acceptLater(std::chrono::milliseconds pause) {
  pause_.expires_after(pause);
  pause_.async_wait([this](const error_code& canceled) {
    if (!canceled && acceptor_.is_open()) acceptNext();
  });
}

// The waiting connection stays readable, so accepting at once would fail again and again.
void ServerState::pauseAccepting(int error) {
  Logger("http-server")
      .warning("port {}: connections cannot be accepted for a moment: {}", port_,
               std::generic_category().message(error));
  if (error == EMFILE || error == ENFILE) {
    crowdOut(connections_.leastNeeded(std::chrono::steady_clock::now()));
  }
  acceptLater(kAcceptPause);
}

void ServerState::crowdOut(const ConnectionTable::Connections& connections) {
  for (const auto& connection : connections) {
    crowdedOut_.fetch_add(1, std::memory_order_relaxed);
    asio::post(connection->executor(), [connection] { connection->close(); });
  }
}

void ServerState::sweepLater() {
  if (std::exchange(sweeping_, true)) return;
  sweepTimer_.expires_after(sweepPeriod_);
  sweepTimer_.async_wait([this](const error_code& canceled) {
    sweeping_ = false;
    if (!canceled && acceptor_.is_open()) sweep();
  });
}

void ServerState::sweep() {
  if (connections_.size() == 0) return;
  if (!silent()) {
    for (const auto& connection : connections_.overdue(std::chrono::steady_clock::now())) {
      asio::post(connection->executor(), [connection] { connection->expire(); });
    }
  }
  sweepLater();
}

bool ServerState::hold(std::size_t before, std::size_t now) {
  const std::size_t total =
      unfinished_.fetch_add(now - before, std::memory_order_relaxed) + (now - before);
  return now <= before || now <= kSmallRequest || total <= options_.maxUnfinishedBytes;
}

void ServerState::countUnsent(Closable& connection, std::size_t before, std::size_t now) {
  const std::size_t total =
      unsent_.fetch_add(now - before, std::memory_order_relaxed) + (now - before);
  connection.standing().setUnsent(now);
  if (now > before && total > options_.maxUnsentBytes) {
    crowdOut(connections_.mostUnsentBut(&connection));
  }
}

bool ServerState::onOwnThread() { return ownThread; }

void ServerState::add(const std::shared_ptr<Closable>& connection) {
  if (!connections_.add(connection)) connection->close();
}

void ServerState::drain() {
  for (const auto& connection : connections_.all()) {
    asio::post(connection->executor(), [connection] { connection->drain(); });
  }
}

// Condemned at once, because an answer may be on its way to the strand.
void ServerState::dropConnections() {
  const auto connections = connections_.all();
  for (const auto& connection : connections) connection->condemn();
  for (const auto& connection : connections) {
    asio::post(connection->executor(), [connection] { connection->close(); });
  }
}

void ServerState::setSilent(bool silent) {
  silent_.store(silent, std::memory_order_release);
  if (silent) return;
  for (const auto& connection : connections_.all()) {
    asio::post(connection->executor(), [connection] { connection->resume(); });
  }
}

void ServerState::runAside(std::function<void()> function) {
  const SharedLock lock(stoppedMutex_);
  if (!stopped_) asio::post(io_, std::move(function));
}

void ServerState::wake(const std::shared_ptr<ServerSession>& session, std::int32_t id) {
  const SharedLock lock(stoppedMutex_);
  if (!stopped_) asio::post(session->executor(), [session, id] { session->bodyReady(id); });
}

void ServerState::stop() {
  if (threads_.empty()) return;
  setSilent(false);
  asio::post(acceptor_.get_executor(), [this] {
    acceptor_.close();
    pause_.cancel();
    sweepTimer_.cancel();
  });
  connections_.refuseNew();
  for (const auto& connection : connections_.all()) {
    asio::post(connection->executor(), [connection] { connection->shutDown(); });
  }
  connections_.waitUntilEmpty(kFarewellTime);
  for (const auto& connection : connections_.all()) {
    asio::post(connection->executor(), [connection] { connection->close(); });
  }
  for (std::thread& thread : threads_) thread.join();  // they end when no work is left
  threads_.clear();
  {
    const ExclusiveLock lock(stoppedMutex_);
    stopped_ = true;
  }
  // Runs late tasks: they would keep their sessions, and through them this object, alive.
  io_.restart();
  io_.poll();
  handler_ = nullptr;
}

HttpServerStats ServerState::stats() const {
  return {accepted_.load(), connections_.size(), requests_.load(), timedOut_.load(),
          crowdedOut_.load()};
}

}  // namespace detail

HttpServer::HttpServer(HttpServerOptions options, HttpHandler handler)
    : state_(std::make_shared<detail::ServerState>(std::move(options), std::move(handler))) {
  try {
    state_->start();
  } catch (...) {
    state_->stop();
    throw;
  }
}

HttpServer::~HttpServer() { stop(); }

std::uint16_t HttpServer::port() const { return state_->port(); }

std::string HttpServer::url() const {
  const HttpServerOptions& options = state_->options();
  const bool bracket = options.address.find(':') != std::string::npos;
  return fmt::format("{}://{}{}{}:{}", options.tls ? "https" : "http", bracket ? "[" : "",
                     options.address, bracket ? "]" : "", port());
}

HttpServerStats HttpServer::stats() const { return state_->stats(); }
void HttpServer::drain() { state_->drain(); }
void HttpServer::dropConnections() { state_->dropConnections(); }
void HttpServer::setSilent(bool silent) { state_->setSilent(silent); }
void HttpServer::stop() { state_->stop(); }

}  // namespace kube
