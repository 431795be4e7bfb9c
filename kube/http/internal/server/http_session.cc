#include "kube/http/internal/server/http_session.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cstring>
#include <exception>

#include "kube/base/log.h"

namespace kube::detail {

using boost::system::error_code;

// --- BodyQueue.

bool BodyQueue::push(String piece, bool wait, const std::stop_token& stop) {
  if (piece.empty()) return !closed();
  Lock lock(piecesMutex_);
  // A piece larger than the queue fits into an empty queue.
  const auto fits = [&]() KUBE_REQUIRES(piecesMutex_) {
    return bytes_ == 0 || bytes_ + piece.size() <= maxBytes_;
  };
  const auto over = [&]() KUBE_REQUIRES(piecesMutex_) { return finished_ || gone_; };
  if (!fits() && wait && !ServerState::onOwnThread()) {
    room_.wait(lock, stop, [&]() KUBE_REQUIRES(piecesMutex_) { return fits() || over(); });
  }
  if (over() || !fits()) return false;
  bytes_ += piece.size();
  pieces_.push_back(std::move(piece));
  const bool wakes = needsWake();
  lock.unlock();
  if (wakes) wake_();
  return true;
}

void BodyQueue::finish(bool properly) {
  Lock lock(piecesMutex_);
  if (finished_ && (properly || aborted_)) return;
  finished_ = true;
  aborted_ = !properly;
  room_.notify_all();
  const bool wakes = needsWake();
  lock.unlock();
  if (wakes) wake_();
}

bool BodyQueue::closed() const {
  const Lock lock(piecesMutex_);
  return finished_ || gone_;
}

void BodyQueue::onClosed(std::function<void()> function) {
  {
    const Lock lock(piecesMutex_);
    if (ended_) return;
    if (!gone_) return onClosed_.push_back(std::move(function));
  }
  function();
}

void BodyQueue::sourceReady() {
  {
    const Lock lock(piecesMutex_);
    if (finished_ || gone_ || !needsWake()) return;
  }
  wake_();
}

BodyState BodyQueue::make(std::string& out) {
  try {
    return source_(out);
  } catch (const std::exception& error) {
    Logger("http-server").warning("a body is cut off, because its source threw: {}", error.what());
    return BodyState::Break;
  }
}

// Asks the source for more, once its last piece was taken completely.
void BodyQueue::askSource() {
  bool made = false;
  {
    const Lock lock(piecesMutex_);
    wakePending_ = false;  // before asking, so that data that becomes ready later wakes again
    if (!source_ || offset_ < made_.size() || finished_ || gone_) return;
    made_.clear();
    offset_ = 0;
    if (ahead_ == Ahead::Making) ahead_ = Ahead::Awaited;
    if (ahead_ == Ahead::Awaited) return;
    made = std::exchange(ahead_, Ahead::No) == Ahead::Made;
  }
  BodyState state = nextState_;
  if (made) made_.swap(next_);
  // The source was asked ahead, and what it waited for may have happened since.
  if (!made || (state == BodyState::Wait && made_.empty())) state = make(made_);
  const bool over = state == BodyState::End || state == BodyState::Break;
  if (over) source_ = nullptr;
  const bool ahead = state == BodyState::Ahead && aside_;
  {
    const Lock lock(piecesMutex_);
    finished_ |= over;
    aborted_ |= state == BodyState::Break;
    if (ahead) ahead_ = Ahead::Making;
  }
  if (ahead) aside_([self = shared_from_this()] { self->makeAhead(); });
}

void BodyQueue::makeAhead() {
  BodySource unneeded;  // may be large: destroyed without the lock
  next_.clear();
  const BodyState state = make(next_);
  bool wakes = false;
  {
    const Lock lock(piecesMutex_);
    nextState_ = state;
    const bool awaited = std::exchange(ahead_, Ahead::Made) == Ahead::Awaited;
    if (gone_) {
      unneeded.swap(source_);
    } else {
      wakes = awaited && needsWake();
    }
  }
  if (wakes) wake_();
}

BodyQueue::Offer BodyQueue::offer(std::size_t most) {
  // They may hold the stream's last handle, whose destructor takes the lock.
  std::vector<std::function<void()>> unneeded;
  askSource();
  const Lock lock(piecesMutex_);
  if (aborted_) return {0, State::Aborted};
  // The source's bytes, or those that handlers have pushed.
  const std::size_t here = made_.empty() ? bytes_ : made_.size() - offset_;
  ended_ = finished_ && here <= most && (made_.empty() || pieces_.empty());
  if (ended_) unneeded.swap(onClosed_);
  return {std::min(here, most), ended_ ? State::Ended : State::Open};
}

void BodyQueue::take(std::size_t bytes, std::string& out) {
  const Lock lock(piecesMutex_);
  if (!made_.empty()) {
    out.append(made_, offset_, bytes);
    offset_ += bytes;
    return;
  }
  bytes_ -= bytes;
  while (bytes != 0) {
    const std::string_view rest = pieces_.front().view().substr(offset_);
    const std::size_t count = std::min(rest.size(), bytes);
    out.append(rest.substr(0, count));
    bytes -= count;
    offset_ += count;
    if (count == rest.size()) {
      pieces_.pop_front();
      offset_ = 0;
    }
  }
  room_.notify_all();
}

void BodyQueue::peerGone() {
  std::vector<std::function<void()>> functions;
  BodySource source;  // may be large: destroyed without the lock
  {
    const Lock lock(piecesMutex_);
    if (gone_ || ended_) return;
    gone_ = true;
    pieces_.clear();
    bytes_ = 0;
    functions.swap(onClosed_);
    if (ahead_ == Ahead::No || ahead_ == Ahead::Made) source.swap(source_);
    room_.notify_all();
  }
  for (const auto& function : functions) function();
}

// --- ServerSession.

namespace {

constexpr std::chrono::milliseconds kLingerTime{500};
constexpr std::size_t kMaxUnwanted = 1 << 20;  // of input after the last answer
constexpr std::size_t kIdleOutput = 16 << 10;  // capacity of an unused buffer that is kept

}  // namespace

ServerSession::ServerSession(std::shared_ptr<ServerState> server,
                             std::unique_ptr<ServerSocket> socket, std::optional<PeerIdentity> peer)
    : Closable(socket->peer),
      server_(std::move(server)),
      socket_(std::move(socket)),
      executor_(socket_->tcp.get_executor()),
      peer_(std::move(peer)),
      cameAt_(socket_->since),
      lastSent_(cameAt_),
      closingSince_(cameAt_) {
  standing().set(socket_->tls ? Stage::Fresh : Stage::Silent, cameAt_, ServerTime::max());
  error_code ignored;
  socket_->tcp.non_blocking(true, ignored);
}

ServerSession::~ServerSession() {
  hold(0);
  countUnsent(0);
  server_->remove(this);
}

void ServerSession::run() {
  opened();
  flush();
  readNext();
}

void ServerSession::readNext() {
  if (closed_ || !socket_ || reading_ || unheard_ != 0) return;
  if (!closing_ && !wantsInput()) return;  // tried again after the next write
  reading_ = true;
  socket_->readSome(asio::buffer(input_),
                    [self = shared_from_this()](const error_code& error, std::size_t bytes) {
                      self->reading_ = false;
                      if (self->closed_ || !self->socket_) return;
                      if (error) return self->close();
                      self->unheard_ = bytes;
                      if (!self->server_->silent()) self->resume();
                    });
}

void ServerSession::resume() {
  if (const std::size_t bytes = std::exchange(unheard_, 0); bytes != 0) {
    hear({input_.data(), bytes});
    if (bytes == input_.size()) hearMore();
  }
  flush();
  readNext();
}

void ServerSession::hear(std::string_view bytes) {
  if (closing_) {
    unwanted_ += bytes.size();
    if (unwanted_ > kMaxUnwanted) close();
    return;
  }
  inside_ = true;
  received(bytes);
  inside_ = false;
}

void ServerSession::hearMore() {
  if (closed_ || !socket_ || (!closing_ && !wantsInput())) return;
  const asio::mutable_buffer buffer = sharedInput();
  const std::size_t bytes = socket_->readNow(buffer);
  if (bytes != 0) hear({static_cast<const char*>(buffer.data()), bytes});
}

void ServerSession::flush() {
  if (inside_) {
    flushAgain_ = true;
    return;
  }
  if (!writing_ && !closed_ && socket_ && !server_->silent()) writeNext();
  settle();
}

void ServerSession::writeNext() {
  if (server_->silent()) return;
  if (condemned()) return close();
  if (written_ == output_.size()) {
    output_.clear();
    written_ = 0;
    do {
      flushAgain_ = false;
      inside_ = true;
      produce(output_);
      inside_ = false;
      if (closed_ || !socket_) return;
    } while (output_.empty() && flushAgain_);
    if (output_.empty()) {
      if (output_.capacity() > kIdleOutput) output_ = std::string();
      socket_->rest();
      if (closing_) finishClosing();
      return;
    }
  }
  if (!std::exchange(writing_, true)) lastSent_ = now();
  socket_->writeSome(asio::buffer(output_.data() + written_, output_.size() - written_),
                     [self = shared_from_this()](const error_code& error, std::size_t bytes) {
                       self->writing_ = false;
                       if (self->closed_ || !self->socket_) return;
                       if (error) return self->close();
                       self->written_ += bytes;
                       self->writeNext();
                       self->settle();
                       self->readNext();
                     });
}

// Updates standing and counts, after everything that may have changed them.
void ServerSession::settle() {
  if (closed_ || !socket_) return;
  if (closing_) {
    countUnsent(output_.size());
    const auto patience = lingering_ ? kLingerTime : server_->options().sendTime;
    return standing().set(lingering_ ? Stage::Leaving : Stage::Sending, closingSince_,
                          closingSince_ + patience);
  }
  appraise();
  const bool streams = standing().stage() == Stage::Streaming;
  countUnsent(streams ? 0 : output_.size() + unproduced());
}

void ServerSession::expire() {
  const ServerTime time = now();
  if (closed_ || !socket_ || standing().deadline() > time || server_->silent()) return;
  if (closing_) return close();
  tookTooLong(time);
  settle();
}

void ServerSession::closeAfterFlush(bool rest) {
  if (std::exchange(closing_, true)) return;
  lingers_ = rest;
  closingSince_ = now();
  flush();
}

// Closing a socket with unread data would reset the connection, and the client might lose the last
// answer.
void ServerSession::finishClosing() {
  if (!lingers_) return close();
  if (std::exchange(lingering_, true)) return;
  closingSince_ = now();
  error_code ignored;
  socket_->tcp.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  readNext();
}

void ServerSession::close() {
  if (closed_) return;
  closed_ = true;
  const auto self = shared_from_this();
  if (socket_) {
    error_code ignored;
    socket_->tcp.shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
    socket_->tcp.close(ignored);
  }
  hold(0);
  countUnsent(0);
  server_->remove(this);
  lost();
}

bool ServerSession::hasTls() const { return socket_ && socket_->tls; }

std::unique_ptr<ServerSocket> ServerSession::releaseSocket() {
  hold(0);
  countUnsent(0);
  server_->remove(this);
  return std::move(socket_);
}

bool ServerSession::hold(std::size_t bytes) {
  return server_->hold(std::exchange(held_, bytes), bytes);
}

void ServerSession::countUnsent(std::size_t bytes) {
  if (bytes != unsent_) server_->countUnsent(*this, std::exchange(unsent_, bytes), bytes);
}

std::optional<ServerResponse> ServerSession::screen(ServerRequest& head) {
  if (!server_->options().screen) return std::nullopt;
  head.peer = peer_;
  try {
    return server_->options().screen(head);
  } catch (const std::exception& error) {
    Logger("http-server").warning("HttpServerOptions::screen threw: {}", error.what());
    return ServerResponse{.status = 500};
  }
}

void ServerSession::handle(std::int32_t id, ServerRequest request) {
  server_->countRequest();
  request.peer = peer_;
  const auto replyTo = std::make_shared<ReplyTo>(weak_from_this(), id);
  try {
    server_->handler()(std::move(request), Responder(replyTo));
  } catch (const std::exception& error) {
    Logger("http-server").warning("a handler threw: {}", error.what());
    replyTo->send({.status = 500, .body = error.what()});
  } catch (...) {
    replyTo->send({.status = 500});
  }
}

// --- ReplyTo.

ReplyTo::~ReplyTo() { send({.status = 500, .body = "the handler gave no answer"}); }

std::shared_ptr<ServerSession> ReplyTo::claim() {
  return answered_.exchange(true) ? nullptr : session_.lock();
}

void ReplyTo::send(ServerResponse response) {
  const auto session = claim();
  if (!session) return;
  session->server().enter(session->executor(),
                          [session, id = id_, response = std::move(response)]() mutable {
                            session->respond(id, std::move(response));
                          });
}

std::shared_ptr<BodyQueue> ReplyTo::stream(int status, HttpHeaders headers, BodySource source) {
  const auto session = claim();
  if (!session) {
    auto gone = std::make_shared<BodyQueue>(0, [] {});
    gone->peerGone();
    return gone;
  }
  const auto wake = [weak = session_, id = id_] {
    if (const auto session = weak.lock()) session->server().wake(session, id);
  };
  const HttpServerOptions& options = session->server().options();
  BodyQueue::Aside aside;
  if (source && options.threads > 1) {
    aside = [weak = session_](std::function<void()> function) {
      if (const auto session = weak.lock()) session->server().runAside(std::move(function));
    };
  }
  const auto body = std::make_shared<BodyQueue>(options.maxQueuedBytes, wake, std::move(source),
                                                std::move(aside));
  session->server().enter(session->executor(), [session, id = id_, status,
                                                headers = std::move(headers), body]() mutable {
    session->respondStream(id, status, std::move(headers), body);
  });
  return body;
}

void ReplyTo::upgrade(HttpHeaders headers, std::function<void(std::shared_ptr<RawSocket>)> taken) {
  const auto session = claim();
  if (!session) return;
  session->server().enter(session->executor(), [session, id = id_, headers = std::move(headers),
                                                taken = std::move(taken)]() mutable {
    session->upgrade(id, std::move(headers), std::move(taken));
  });
}

}  // namespace kube::detail
