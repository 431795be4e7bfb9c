// A server's connection after an upgrade: bytes in both directions.
#include <utility>

#include "kube/http/internal/server/http_session.h"

namespace kube::detail {

using boost::system::error_code;

RawSocket::RawSocket(std::shared_ptr<ServerState> server, std::unique_ptr<ServerSocket> socket,
                     std::string unread)
    : Closable(socket->peer),
      server_(std::move(server)),
      socket_(std::move(socket)),
      executor_(socket_->tcp.get_executor()),
      input_(64 << 10, '\0'),
      unread_(std::move(unread)) {
  standing().set(Stage::Streaming, std::chrono::steady_clock::now(), ServerTime::max());
}

RawSocket::~RawSocket() { server_->remove(this); }

void RawSocket::read(std::function<void(std::string_view)> onData) {
  server_->enter(executor_, [self = shared_from_this(), onData = std::move(onData)]() mutable {
    self->onData_ = std::move(onData);
    self->started_ = true;
    if (const std::string unread = std::exchange(self->unread_, {}); !unread.empty()) {
      self->deliver(unread);
    }
    if (self->closed_) return self->deliver({});
    self->readNext();
  });
}

void RawSocket::pause(int by) {
  server_->enter(executor_, [self = shared_from_this(), by] {
    self->paused_ += by;
    self->readNext();
  });
}

// The function usually holds a handle to this socket, so it has to be destroyed after the last
// call.
void RawSocket::deliver(std::string_view bytes) {
  if (!onData_) return;
  delivering_ = true;
  onData_(bytes);
  delivering_ = false;
  if (!closed_) return;
  const auto last = std::exchange(onData_, nullptr);
  if (last && !bytes.empty()) last({});
}

void RawSocket::readNext() {
  if (closed_ || reading_ || delivering_ || paused_ > 0 || !started_) return;
  reading_ = true;
  socket_->readSome(asio::buffer(input_),
                    [self = shared_from_this()](const error_code& error, std::size_t bytes) {
                      self->reading_ = false;
                      if (self->closed_) return;
                      if (error) return self->close();
                      self->unheard_ = bytes;
                      if (!self->server_->silent()) self->resume();
                    });
}

void RawSocket::resume() {
  if (closed_) return;
  if (const std::size_t bytes = std::exchange(unheard_, 0); bytes != 0) {
    deliver({input_.data(), bytes});
  }
  readNext();
  if (!writing_) writeNext();
}

void RawSocket::write(String bytes) {
  {
    const Lock lock(queuedMutex_);
    if (gone_) return;
    queued_ += bytes.size();
  }
  server_->enter(executor_, [self = shared_from_this(), bytes = std::move(bytes)]() mutable {
    if (self->closed_ || self->closing_) return self->wrote(bytes.size());
    self->output_.push_back(std::move(bytes));
    if (!self->writing_) self->writeNext();
  });
}

std::size_t RawSocket::queued() const {
  const Lock lock(queuedMutex_);
  return queued_;
}

bool RawSocket::waitForRoom(std::size_t bytes, const std::stop_token& stop) {
  Lock lock(queuedMutex_);
  const auto hasRoom = [&]() KUBE_REQUIRES(queuedMutex_) { return gone_ || queued_ < bytes; };
  return room_.wait(lock, stop, hasRoom) && !gone_;
}

void RawSocket::wrote(std::size_t bytes) {
  const Lock lock(queuedMutex_);
  queued_ -= bytes;
  room_.notify_all();
}

void RawSocket::writeNext() {
  if (closed_ || server_->silent()) return;
  if (output_.empty()) {
    if (closing_) close();
    return;
  }
  writing_ = true;
  const std::string_view rest = output_.front().view().substr(written_);
  socket_->writeSome(asio::buffer(rest.data(), rest.size()),
                     [self = shared_from_this()](const error_code& error, std::size_t bytes) {
                       self->writing_ = false;
                       if (self->closed_) return;
                       if (error) return self->close();
                       self->wrote(bytes);
                       self->written_ += bytes;
                       if (self->written_ == self->output_.front().size()) {
                         self->output_.pop_front();
                         self->written_ = 0;
                       }
                       self->writeNext();
                     });
}

void RawSocket::closeLater() {
  server_->enter(executor_, [self = shared_from_this()] {
    self->closing_ = true;
    if (!self->writing_) self->writeNext();
  });
}

void RawSocket::close() {
  if (std::exchange(closed_, true)) return;
  error_code ignored;
  socket_->tcp.shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
  socket_->tcp.close(ignored);
  server_->remove(this);
  {
    const Lock lock(queuedMutex_);
    gone_ = true;
    room_.notify_all();
  }
  const auto self = shared_from_this();  // the function may hold the last reference
  if (delivering_) return;               // deliver() calls it with the end
  const auto last = std::exchange(onData_, nullptr);
  if (last) last({});
}

}  // namespace kube::detail
