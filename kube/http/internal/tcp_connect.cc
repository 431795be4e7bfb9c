#include "kube/http/internal/tcp_connect.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/internal/guarded.h"
#include "kube/base/task_threads.h"
#include "kube/http/internal/descriptor.h"

namespace kube::detail {
namespace {

constexpr std::chrono::milliseconds kStaggerDelay{250};

void setOption(int fd, int level, int name, int value) {
  setsockopt(fd, level, name, &value, sizeof value);
}

void prepare(int fd) {
  setOption(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  setOption(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  setOption(fd, IPPROTO_TCP, TCP_KEEPIDLE, 15);
  setOption(fd, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  setOption(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
  setOption(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 30'000);
}

}  // namespace

class TcpConnect::Attempt final : public EventHandler {
 public:
  Attempt(TcpConnect& owner, int fd)
      : owner_(owner), fd_(fd), watch_(std::in_place, owner.loop_, fd, EPOLLOUT, *this) {}
  ~Attempt() {
    watch_.reset();
    if (fd_ >= 0) close(fd_);
  }

  void onEvents(std::uint32_t) override {
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
    owner_.finished(*this, error);
  }
  int release() {
    watch_.reset();
    return std::exchange(fd_, -1);
  }

 private:
  TcpConnect& owner_;
  int fd_;
  std::optional<FdWatch> watch_;
};

TcpConnect::TcpConnect(EventLoop& loop, Ways ways, Done done)
    : loop_(loop), ways_(std::move(ways)), done_(std::move(done)), stagger_(loop) {}

TcpConnect::~TcpConnect() = default;

TcpConnect::Lookup TcpConnect::lookUp(const std::string& host, std::uint16_t port, bool numeric) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | (numeric ? AI_NUMERICHOST : AI_ADDRCONFIG);
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  Lookup lookup;
  if (error != 0) {
    lookup.error = fmt::format("cannot look up \"{}\": {}", host,
                               error == EAI_SYSTEM ? std::strerror(errno) : gai_strerror(error));
    return lookup;
  }
  std::vector<Address> other;
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(entry->ai_addr);
    auto& list = entry->ai_family == found->ai_family ? lookup.addresses : other;
    list.push_back({{bytes, bytes + entry->ai_addrlen}, entry->ai_family});
  }
  freeaddrinfo(found);
  for (std::size_t i = 0; i < other.size(); ++i) {  // alternating with the preferred family
    const std::size_t at = std::min(2 * i + 1, lookup.addresses.size());
    lookup.addresses.insert(lookup.addresses.begin() + static_cast<std::ptrdiff_t>(at), other[i]);
  }
  return lookup;
}

void TcpConnect::start(const std::string& host, std::uint16_t port) {
  host_ = host;
  if (ways_.dial) return dial(host, port);
  if (Lookup lookup = lookUp(host, port, true); lookup.error.empty()) {
    loop_.defer(
        [self = shared_from_this(), lookup = std::move(lookup)] { self->resolved(lookup); });
    return;
  }
  // Detached: nothing can interrupt a look-up, and no caller should have to wait for it. The thread
  // uses nothing but the mailbox, which it keeps alive.
  const auto task = [weak = weak_from_this(), mailbox = loop_.mailbox(), host, port] {
    Lookup lookup = lookUp(host, port, false);
    mailbox->post([weak, lookup = std::move(lookup)] {
      if (const auto self = weak.lock()) self->resolved(lookup);
    });
  };
  try {
    std::thread(task).detach();
  } catch (const std::system_error& error) {
    loop_.defer([self = shared_from_this(), text = std::string(error.what())] {
      self->finish(-1, "cannot start a thread to look up names: " + text);
    });
  }
}

void TcpConnect::dial(const std::string& host, std::uint16_t port) {
  const auto threads = TaskThreads::shared();
  const auto work = [weak = weak_from_this(), mailbox = loop_.mailbox(), dial = ways_.dial,
                     stop = stopDial_.get_token(), threads, host, port] {
    const auto socket = std::make_shared<Descriptor>();  // closed wherever it is dropped
    std::string error;
    try {
      *socket = Descriptor(dial(host, port, stop));
      const int flags = fcntl(socket->get(), F_GETFL);
      if (flags < 0 || fcntl(socket->get(), F_SETFL, flags | O_NONBLOCK) != 0) {
        error = "dial: the function returned no open socket";
      }
    } catch (const std::exception& thrown) {
      error = fmt::format("dial: {}", thrown.what());
    } catch (...) {
      error = "dial: the function threw an exception that is not a std::exception";
    }
    mailbox->post([weak, socket, error] {
      const auto self = weak.lock();
      if (!self) return;
      self->finish(error.empty() ? socket->release() : -1, error);
    });
  };
  try {
    threads->run(work);
  } catch (const Error& error) {
    loop_.defer([self = shared_from_this(), text = std::string(error.what())] {
      self->finish(-1, "cannot start a thread to dial: " + text);
    });
  }
}

void TcpConnect::cancel() {
  done_ = nullptr;
  stopDial_.request_stop();
  stagger_.cancel();
  attempts_.clear();
}

void TcpConnect::resolved(Lookup lookup) {
  if (!done_) return;
  if (!lookup.error.empty()) return finish(-1, std::move(lookup.error));
  addresses_ = std::move(lookup.addresses);
  tryNext();
}

void TcpConnect::show(int fd) {
  if (!ways_.onSocket) return;
  guarded(Logger("transport"), "TransportOptions::onSocket", [&] { ways_.onSocket(fd); });
}

void TcpConnect::tryNext() {
  while (next_ < addresses_.size()) {
    const Address& address = addresses_[next_++];
    const int fd = socket(address.family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
    int error = fd < 0 ? errno : 0;
    if (fd >= 0) {
      prepare(fd);
      show(fd);
      const auto* where = reinterpret_cast<const sockaddr*>(address.bytes.data());
      const auto size = static_cast<socklen_t>(address.bytes.size());
      if (connect(fd, where, size) == 0) return finish(fd, "");
      if (errno == EINPROGRESS) {
        attempts_.push_back(std::make_shared<Attempt>(*this, fd));
        if (next_ < addresses_.size()) {
          stagger_.set(loop_.now() + kStaggerDelay, [this] { tryNext(); });
        }
        return;
      }
      error = errno;
      close(fd);
    }
    if (firstError_.empty()) firstError_ = std::strerror(error);
  }
  if (attempts_.empty()) {
    finish(-1, fmt::format("cannot connect: {}", firstError_.empty() ? "no address" : firstError_));
  }
}

void TcpConnect::finished(Attempt& attempt, int systemError) {
  if (systemError == 0) return finish(attempt.release(), "");
  if (firstError_.empty()) firstError_ = std::strerror(systemError);
  const auto it = std::find_if(attempts_.begin(), attempts_.end(),
                               [&](const auto& other) { return other.get() == &attempt; });
  loop_.bury(std::move(*it));
  attempts_.erase(it);
  stagger_.cancel();
  tryNext();
}

void TcpConnect::finish(int fd, std::string error) {
  const auto self = shared_from_this();
  stagger_.cancel();
  for (auto& attempt : attempts_) loop_.bury(std::move(attempt));
  attempts_.clear();
  if (Done done = std::exchange(done_, nullptr)) {
    done(fd, std::move(error));
  } else if (fd >= 0) {
    close(fd);
  }
}

}  // namespace kube::detail
