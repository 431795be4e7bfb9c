#include "test/attack/swarm.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace kube::attack {

namespace {

constexpr int kPatienceMillis = 50;
// The most that one connection sends in a turn, so that all connections get turns.
constexpr std::size_t kTurnBytes = 256 << 10;

std::string atLeast(std::string text, std::size_t size) {
  if (text.empty()) return text;
  const std::string one = text;
  while (text.size() < size) text += one;
  return text;
}

}  // namespace

Swarm::Swarm(SwarmOptions options)
    : options_([&] {
        options.again = atLeast(std::move(options.again), 16 << 10);
        return std::move(options);
      }()),
      context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      members_(options_.connections) {
  SSL_CTX_set_verify(context_.get(), SSL_VERIFY_NONE, nullptr);
  SSL_CTX_set_mode(context_.get(), SSL_MODE_ENABLE_PARTIAL_WRITE |
                                       SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                       SSL_MODE_RELEASE_BUFFERS);
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Swarm::~Swarm() {
  thread_.request_stop();
  thread_.join();
  for (std::size_t i = 0; i < members_.size(); ++i) close(i);
  ::close(epoll_);
}

void Swarm::run(const std::stop_token& stop) {
  std::array<epoll_event, 256> events{};
  while (!stop.stop_requested()) {
    for (std::size_t i = 0; i < members_.size() && !stop.stop_requested(); ++i) {
      if (members_[i].fd < 0) open(i);
    }
    const int count =
        epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), kPatienceMillis);
    for (int i = 0; i < count; ++i) {
      const auto index = static_cast<std::size_t>(events[static_cast<std::size_t>(i)].data.u64);
      const std::uint32_t what = events[static_cast<std::size_t>(i)].events;
      const bool over = (what & (EPOLLERR | EPOLLHUP | EPOLLRDHUP)) != 0;
      if (over || !go(index, (what & EPOLLIN) != 0)) close(index);
    }
  }
}

bool Swarm::open(std::size_t index) {
  Member& member = members_[index];
  member.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (member.fd < 0) return false;
  const int one = 1;
  setsockopt(member.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  // A reset instead of a FIN, so that the local port is free at once.
  const linger now{.l_onoff = 1, .l_linger = 0};
  setsockopt(member.fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(options_.port);
  if (connect(member.fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 &&
      errno != EINPROGRESS) {
    ::close(std::exchange(member.fd, -1));
    return false;
  }
  ++opened_;
  if (options_.tls) {
    member.tls = SSL_new(context_.get());
    SSL_set_fd(member.tls, member.fd);
    if (!options_.protocol.empty()) {
      const std::string list = static_cast<char>(options_.protocol.size()) + options_.protocol;
      SSL_set_alpn_protos(member.tls, reinterpret_cast<const unsigned char*>(list.data()),
                          static_cast<unsigned>(list.size()));
    }
    SSL_set_connect_state(member.tls);
  }
  watch(index, EPOLL_CTL_ADD);
  return true;
}

void Swarm::close(std::size_t index) {
  Member& member = members_[index];
  if (member.fd < 0) return;
  if (member.tls != nullptr) SSL_free(member.tls);
  ::close(member.fd);
  member = {};
}

void Swarm::watch(std::size_t index, int operation) {
  const Member& member = members_[index];
  epoll_event event{};
  event.events = EPOLLRDHUP;
  if (options_.reads || (options_.tls && !member.shaken)) event.events |= EPOLLIN;
  if (member.wants) event.events |= EPOLLOUT;
  event.data.u64 = index;
  epoll_ctl(epoll_, operation, member.fd, &event);
}

bool Swarm::go(std::size_t index, bool readable) {
  Member& member = members_[index];
  const bool wanted = std::exchange(member.wants, false), wasShaken = member.shaken;
  if (options_.tls && !member.shaken && !shake(member)) return false;
  if (!options_.tls || member.shaken) {
    if (readable && options_.reads && !hear(member)) return false;
    if (!say(member)) return false;
  }
  if (member.wants != wanted || member.shaken != wasShaken) watch(index, EPOLL_CTL_MOD);
  return true;
}

bool Swarm::shake(Member& member) {
  ERR_clear_error();
  const int result = SSL_do_handshake(member.tls);
  if (result == 1) {
    member.shaken = true;
    return true;
  }
  const int error = SSL_get_error(member.tls, result);
  member.wants = error == SSL_ERROR_WANT_WRITE;
  return member.wants || error == SSL_ERROR_WANT_READ;
}

// Returns the number of bytes sent; 0 if the socket is full; -1 if the connection is broken.
long Swarm::send(Member& member, const char* data, std::size_t size) const {
  if (member.tls == nullptr) {
    const ssize_t count = ::send(member.fd, data, size, MSG_NOSIGNAL);
    return count >= 0 ? count : errno == EAGAIN || errno == ENOTCONN ? 0 : -1;
  }
  ERR_clear_error();
  std::size_t count = 0;
  const int result = SSL_write_ex(member.tls, data, size, &count);
  if (result == 1) return static_cast<long>(count);
  const int error = SSL_get_error(member.tls, result);
  return error == SSL_ERROR_WANT_WRITE || error == SSL_ERROR_WANT_READ ? 0 : -1;
}

bool Swarm::say(Member& member) {
  for (std::size_t turn = 0; turn < kTurnBytes;) {
    const bool first = member.said < options_.first.size();
    const std::string& text = first ? options_.first : options_.again;
    std::size_t& said = first ? member.said : member.saidAgain;
    if (text.empty()) return true;
    const long count = send(member, text.data() + said, text.size() - said);
    if (count < 0) return false;
    member.wants = true;
    if (count == 0) return true;
    said += static_cast<std::size_t>(count);
    turn += static_cast<std::size_t>(count);
    bytesSaid_ += static_cast<std::uint64_t>(count);
    if (first && said == text.size() && options_.again.empty()) {
      member.wants = false;
      return true;
    }
    if (!first && said == text.size()) said = 0;
  }
  return true;
}

bool Swarm::hear(Member& member) const {
  std::array<char, 16 << 10> bytes;
  for (int i = 0; i < 16; ++i) {
    if (member.tls == nullptr) {
      const ssize_t count = recv(member.fd, bytes.data(), bytes.size(), 0);
      if (count == 0) return false;
      if (count < 0) return errno == EAGAIN;
      continue;
    }
    ERR_clear_error();
    const int count = SSL_read(member.tls, bytes.data(), static_cast<int>(bytes.size()));
    if (count > 0) continue;
    const int error = SSL_get_error(member.tls, count);
    return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
  }
  return true;
}

}  // namespace kube::attack
