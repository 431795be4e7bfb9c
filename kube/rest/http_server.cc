#include "kube/rest/http_server.h"

#include <fmt/core.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <string_view>

#include "kube/base/error.h"
#include "kube/base/start_thread.h"
#include "kube/rest/http_session.h"

namespace kube {
namespace detail {

using asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr std::chrono::seconds handshakeTime{10};
constexpr std::chrono::milliseconds farewellTime{500};

thread_local bool ownThread = false;  // a server's

int selectProtocol(SSL*, const unsigned char** out, unsigned char* outSize, const unsigned char* in,
                   unsigned inSize, void* http2) {
  static constexpr unsigned char both[] = "\x02h2\x08http/1.1";
  static constexpr unsigned char http1[] = "\x08http/1.1";
  const int found = http2 != nullptr
                        ? SSL_select_next_proto(const_cast<unsigned char**>(out), outSize, both,
                                                sizeof both - 1, in, inSize)
                        : SSL_select_next_proto(const_cast<unsigned char**>(out), outSize, http1,
                                                sizeof http1 - 1, in, inSize);
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

asio::ssl::context makeTls(const ServerTls& tls, bool http2) {
  asio::ssl::context context(asio::ssl::context::tls_server);
  try {
    context.use_certificate_chain(asio::buffer(tls.identity.certPem));
    context.use_private_key(asio::buffer(tls.identity.keyPem), asio::ssl::context::pem);
    if (!tls.clientCaPem.empty()) {
      context.add_certificate_authority(asio::buffer(tls.clientCaPem));
      context.set_verify_mode(asio::ssl::verify_peer |
                              (tls.requireClientCert ? asio::ssl::verify_fail_if_no_peer_cert : 0));
    }
  } catch (const boost::system::system_error& error) {
    throw ConfigError(fmt::format("HTTP server: certificate: {}", error.what()));
  }
  SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
  // The fastest first, as servers written in Go have it.
  SSL_CTX_set_ciphersuites(
      context.native_handle(),
      "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256");
  SSL_CTX_set_options(context.native_handle(), SSL_OP_CIPHER_SERVER_PREFERENCE);
  // Sessions that resume would not show their client certificate again without a session id
  // context.
  SSL_CTX_set_session_cache_mode(context.native_handle(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context.native_handle(), 0);
  static char yes;
  SSL_CTX_set_alpn_select_cb(context.native_handle(), selectProtocol, http2 ? &yes : nullptr);
  return context;
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
    if (field == NID_commonName) identity.commonName = std::move(value);
    if (field == NID_organizationName) identity.organizations.push_back(std::move(value));
  }
  return identity;
}

}  // namespace

// A connection that was accepted and has to shake hands before it is known what it speaks.
class Welcome : public Closable, public std::enable_shared_from_this<Welcome> {
 public:
  Welcome(std::shared_ptr<ServerState> server, tcp::socket socket)
      : server_(std::move(server)),
        socket_(std::make_unique<ServerSocket>(std::move(socket))),
        executor_(socket_->tcp.get_executor()),
        timer_(executor_) {}
  ~Welcome() override { server_->remove(this); }

  void run() {
    error_code ignored;
    socket_->tcp.set_option(tcp::no_delay(true), ignored);
    if (!server_->tls_) return pass(false, std::nullopt);
    socket_->tls.emplace(socket_->tcp, server_->tls_->native_handle());
    if (server_->silent()) {
      silenced_ = shared_from_this();  // nobody else holds it until it is resumed or closed
      return;
    }
    shakeHands();
  }

  void resume() override {
    const auto self = std::exchange(silenced_, nullptr);
    if (socket_ && socket_->tls && !std::exchange(shaking_, true)) shakeHands();
  }

  asio::any_io_executor executor() const override { return executor_; }
  // May be called late, when the connection has become a session.
  void drain() override {
    draining_ = true;
    if (const auto session = session_.lock()) session->drain();
  }
  void shutDown() override { close(); }
  void close() override {
    const auto self = std::exchange(silenced_, nullptr);
    timer_.cancel();
    if (!socket_) return;
    error_code ignored;
    socket_->tcp.close(ignored);
  }

 private:
  void shakeHands() {
    shaking_ = true;
    timer_.expires_after(handshakeTime);
    timer_.async_wait([self = shared_from_this()](const error_code& error) {
      if (!error) self->close();
    });
    socket_->tls->handshake([self = shared_from_this()](const error_code& error, std::size_t) {
      self->timer_.cancel();
      if (!error) self->shaken();
    });
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
    server_->add(session);
    session->run();
    if (draining_) session->drain();
  }

  const std::shared_ptr<ServerState> server_;
  std::unique_ptr<ServerSocket> socket_;
  const asio::any_io_executor executor_;
  asio::steady_timer timer_;
  std::weak_ptr<ServerSession> session_;
  std::shared_ptr<Welcome> silenced_;
  bool draining_ = false, shaking_ = false;
};

ServerState::ServerState(HttpServerOptions options, HttpHandler handler)
    : options_(std::move(options)), handler_(std::move(handler)), acceptor_(io_) {
  if (options_.tls) tls_.emplace(makeTls(*options_.tls, options_.http2));
  try {
    const tcp::endpoint endpoint(asio::ip::make_address(options_.address), options_.port);
    acceptor_.open(endpoint.protocol());
    acceptor_.set_option(tcp::acceptor::reuse_address(true));
    acceptor_.bind(endpoint);
    acceptor_.listen();
    port_ = acceptor_.local_endpoint().port();
  } catch (const boost::system::system_error& error) {
    throw ConfigError(fmt::format("HTTP server: cannot listen on {}:{}: {}", options_.address,
                                  options_.port, error.code().message()));
  }
}

void ServerState::start() {
  acceptNext();
  for (int i = 0; i < std::max(options_.threads, 1); ++i) {
    startingThread("the HTTP server", [this] {
      threads_.emplace_back([this] {
        sigset_t signals;
        sigfillset(&signals);
        pthread_sigmask(SIG_BLOCK, &signals, nullptr);
        ownThread = true;
        io_.run();
      });
    });
  }
}

void ServerState::acceptNext() {
  acceptor_.async_accept(
      asio::any_io_executor(asio::make_strand(io_)), [this](const error_code& error, auto socket) {
        if (error == asio::error::operation_aborted || !acceptor_.is_open()) return;
        if (!error) {
          accepted_.fetch_add(1, std::memory_order_relaxed);
          const auto executor = socket.get_executor();
          const auto welcome = std::make_shared<Welcome>(shared_from_this(), std::move(socket));
          add(welcome);
          asio::post(executor, [welcome] { welcome->run(); });
        }
        acceptNext();
      });
}

bool ServerState::onOwnThread() { return ownThread; }

void ServerState::add(const std::shared_ptr<Closable>& connection) {
  {
    std::lock_guard lock(connectionsMutex_);
    connections_[connection.get()] = connection;
    if (!stopping_) return;
  }
  connection->close();
}

void ServerState::remove(Closable* connection) {
  std::lock_guard lock(connectionsMutex_);
  connections_.erase(connection);
  if (connections_.empty()) connectionsChanged_.notify_all();
}

std::vector<std::shared_ptr<Closable>> ServerState::connections() const {
  std::vector<std::shared_ptr<Closable>> found;
  std::lock_guard lock(connectionsMutex_);
  for (const auto& [key, weak] : connections_) {
    if (auto connection = weak.lock()) found.push_back(std::move(connection));
  }
  return found;
}

void ServerState::drain() {
  for (const auto& connection : connections()) {
    asio::post(connection->executor(), [connection] { connection->drain(); });
  }
}

void ServerState::dropConnections() {
  for (const auto& connection : connections()) {
    asio::post(connection->executor(), [connection] { connection->close(); });
  }
}

void ServerState::setSilent(bool silent) {
  silent_.store(silent, std::memory_order_release);
  if (silent) return;
  for (const auto& connection : connections()) {
    asio::post(connection->executor(), [connection] { connection->resume(); });
  }
}

void ServerState::runAside(std::function<void()> function) {
  std::shared_lock lock(stoppedMutex_);
  if (!stopped_) asio::post(io_, std::move(function));
}

void ServerState::wake(const std::shared_ptr<ServerSession>& session, std::int32_t id) {
  std::shared_lock lock(stoppedMutex_);
  if (!stopped_) asio::post(session->executor(), [session, id] { session->bodyReady(id); });
}

void ServerState::stop() {
  if (threads_.empty()) return;
  setSilent(false);
  asio::post(io_, [this] { acceptor_.close(); });
  {
    std::lock_guard lock(connectionsMutex_);
    stopping_ = true;
  }
  for (const auto& connection : connections()) {
    asio::post(connection->executor(), [connection] { connection->shutDown(); });
  }
  {
    std::unique_lock lock(connectionsMutex_);
    connectionsChanged_.wait_for(lock, farewellTime, [this] { return connections_.empty(); });
  }
  for (const auto& connection : connections()) {
    asio::post(connection->executor(), [connection] { connection->close(); });
  }
  for (std::thread& thread : threads_) thread.join();  // they end when nothing is left to do
  threads_.clear();
  {
    std::lock_guard lock(stoppedMutex_);
    stopped_ = true;
  }
  // What came in between: it would hold what it belongs to, and that holds this.
  io_.restart();
  io_.poll();
  handler_ = nullptr;
}

HttpServerStats ServerState::stats() const {
  std::lock_guard lock(connectionsMutex_);
  return {accepted_.load(), connections_.size(), requests_.load()};
}

}  // namespace detail

// --- The handles.

struct ResponseStream::Ending {
  std::shared_ptr<detail::BodyQueue> queue;
  ~Ending() { queue->finish(true); }
};

ResponseStream::ResponseStream(std::shared_ptr<detail::BodyQueue> queue)
    : ending_(new Ending{std::move(queue)}) {}

bool ResponseStream::write(String piece, std::stop_token stop) const {
  return ending_->queue->push(std::move(piece), true, stop);
}
bool ResponseStream::tryWrite(String piece) const {
  return ending_->queue->push(std::move(piece), false, {});
}
void ResponseStream::close() const { ending_->queue->finish(true); }
void ResponseStream::abort() const { ending_->queue->finish(false); }
bool ResponseStream::closed() const { return ending_->queue->closed(); }
void ResponseStream::onClosed(std::function<void()> function) const {
  ending_->queue->onClosed(std::move(function));
}

struct RawStream::Closing {
  std::shared_ptr<detail::RawSocket> socket;
  ~Closing() { socket->closeLater(); }
};

RawStream::RawStream(std::shared_ptr<detail::RawSocket> socket)
    : closing_(new Closing{std::move(socket)}) {}

void RawStream::read(std::function<void(std::string_view)> onData) const {
  closing_->socket->read(std::move(onData));
}
void RawStream::pause() const { closing_->socket->pause(1); }
void RawStream::resume() const { closing_->socket->pause(-1); }
void RawStream::write(String bytes) const { closing_->socket->write(std::move(bytes)); }
std::size_t RawStream::queued() const { return closing_->socket->queued(); }
bool RawStream::waitForRoom(std::size_t bytes, std::stop_token stop) const {
  return closing_->socket->waitForRoom(bytes, stop);
}
void RawStream::close() const { closing_->socket->closeLater(); }

Responder::Responder(std::shared_ptr<detail::ReplyTo> replyTo) : replyTo_(std::move(replyTo)) {}

Responder Responder::changing(BodyChange change) const {
  Responder changed = *this;
  changed.change_ = std::move(change);
  return changed;
}

void Responder::send(ServerResponse response) const {
  if (!change_) return replyTo_->send(std::move(response));
  stream(response.status, std::move(response.headers),
         [body = std::move(response.body)](std::string& out) {
           out += body;
           return BodyState::End;
         });
}

ResponseStream Responder::stream(int status, HttpHeaders headers) const {
  return ResponseStream(replyTo_->stream(status, std::move(headers)));
}

BodyHandle Responder::stream(int status, HttpHeaders headers, BodySource source) const {
  if (change_) source = change_(std::move(source));
  return BodyHandle(replyTo_->stream(status, std::move(headers), std::move(source)));
}

void BodyHandle::wake() const {
  if (const auto queue = queue_.lock()) queue->sourceReady();
}

void BodyHandle::abort() const {
  if (const auto queue = queue_.lock()) queue->finish(false);
}

void Responder::upgrade(HttpHeaders headers, std::function<void(RawStream)> taken) const {
  replyTo_->upgrade(std::move(headers),
                    [taken = std::move(taken)](std::shared_ptr<detail::RawSocket> socket) {
                      taken(RawStream(std::move(socket)));
                    });
}

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
