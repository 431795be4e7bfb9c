#include "kube/client/pods/internal/forward_connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace kube::detail {

namespace {

constexpr std::size_t kPiece = 32 << 10;
// The time without data from the pod after which a connection is closed, if the tunnel cannot tell
// the pod that the program has sent everything.
constexpr auto kPatience = std::chrono::seconds{30};

bool mayPass(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

ForwardConnection::ForwardConnection(EventLoop& loop, int fd, Done done)
    : loop_(loop), socket_(fd), done_(std::move(done)), patience_(loop) {}

ForwardConnection::~ForwardConnection() { leave(); }

bool ForwardConnection::start(std::shared_ptr<ForwardTunnel> tunnel, std::uint16_t port) {
  id_ = tunnel->connect(*this, port);
  if (id_ == 0) return false;
  tunnel_ = std::move(tunnel);
  watch_.emplace(loop_, socket_.get(), EPOLLIN, *this);
  return true;
}

void ForwardConnection::leave() {
  if (const std::uint32_t id = std::exchange(id_, 0); id != 0) tunnel_->drop(id);
}

void ForwardConnection::finish(const std::string& problem) {
  patience_.cancel();
  watch_.reset();
  leave();
  if (const Done done = std::exchange(done_, nullptr)) done(*this, problem);
}

void ForwardConnection::onEvents(std::uint32_t events) {
  if ((events & EPOLLOUT) != 0) flush();
  if ((events & EPOLLIN) != 0 && watch_) readSome();
  // Both directions are over or broken, so nothing can be sent or received any more.
  if ((events & (EPOLLERR | EPOLLHUP)) != 0 && watch_) return finish({});
  updateEvents();
}

void ForwardConnection::readSome() {
  if (localEnded_ || podGone_ || tunnel_->full()) return;
  std::array<char, kPiece> buffer;
  const ssize_t count = recv(socket_.get(), buffer.data(), buffer.size(), 0);
  if (count > 0) return tunnel_->toPod(id_, {buffer.data(), static_cast<std::size_t>(count)});
  if (count < 0 && mayPass(errno)) return;
  if (count < 0) return finish({});
  localEnded_ = true;
  if (!tunnel_->localEnded(id_)) waitForTheRest();
}

void ForwardConnection::waitForTheRest() {
  patience_.set(loop_.now() + kPatience, [this] { finish({}); });
}

void ForwardConnection::fromPod(std::string_view bytes) {
  if (patience_.isSet()) waitForTheRest();
  if (!watch_) return tunnel_->consumed(bytes.size());
  if (pending_.empty()) {
    const ssize_t count = send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && !mayPass(errno)) {
      tunnel_->consumed(bytes.size());
      return finish({});
    }
    if (count > 0) {
      tunnel_->consumed(static_cast<std::size_t>(count));
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  if (bytes.empty()) return;
  pending_ += bytes;
  updateEvents();
}

void ForwardConnection::flush() {
  std::string_view rest = pending_;
  while (!rest.empty()) {
    const ssize_t count = send(socket_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (count < 0 && mayPass(errno)) break;
    if (count <= 0) {
      tunnel_->consumed(rest.size());
      return finish({});
    }
    tunnel_->consumed(static_cast<std::size_t>(count));
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  pending_.erase(0, pending_.size() - rest.size());
  if (!pending_.empty()) return;
  if (podGone_) return finish(problem_);
  if (podEnded_) shutdown(socket_.get(), SHUT_WR);
}

void ForwardConnection::podEnded() {
  podEnded_ = true;
  if (pending_.empty()) shutdown(socket_.get(), SHUT_WR);
}

void ForwardConnection::podGone(const std::string& problem) {
  id_ = 0;
  podGone_ = true;
  problem_ = problem;
  if (pending_.empty()) return finish(problem_);
  updateEvents();
}

void ForwardConnection::updateEvents() {
  if (!watch_) return;
  const bool reads = !localEnded_ && !podGone_ && !tunnel_->full();
  watch_->setEvents((reads ? EPOLLIN : 0u) | (pending_.empty() ? 0u : EPOLLOUT));
}

}  // namespace kube::detail
