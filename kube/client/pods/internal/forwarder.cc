#include "kube/client/pods/internal/forwarder.h"

#include <fmt/core.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "kube/base/clock.h"
#include "kube/base/internal/finally.h"
#include "kube/base/when.h"
#include "kube/client/pods/internal/local_listener.h"

namespace kube::detail {

namespace {

constexpr std::size_t kPiece = 32 << 10;
// The time without new connections after the process ran out of descriptors.
constexpr auto kPause = std::chrono::milliseconds{100};
// The time without data from the pod after which a connection is closed, if the tunnel cannot tell
// the pod that the program has sent everything.
constexpr auto kPatience = std::chrono::seconds{30};

bool mayPass(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }
bool isShortage(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

enum class Moved : unsigned char { Some, End, Broken };

// Moves bytes that have arrived at a socket to the pod. Not in a coroutine, whose frame would hold
// the buffer for as long as the connection lives.
Moved moveSome(int fd, TunnelStream& pod) {
  std::array<char, kPiece> buffer;
  const ssize_t count = recv(fd, buffer.data(), buffer.size(), 0);
  if (count < 0) return mayPass(errno) ? Moved::Some : Moved::Broken;
  if (count == 0) return Moved::End;
  pod.send({buffer.data(), static_cast<std::size_t>(count)});
  return Moved::Some;
}

}  // namespace

struct Forwarder::Connection {
  LocalSocket& local;
  TunnelStream& pod;
  Clock::TimePoint heard = realClock().now();  // the last bytes of the pod
  bool podEnded = false;
};

// A tunnel that is being opened, for all connections that wait for it.
struct Forwarder::Opening {
  Mutex resultMutex;
  Condition done{resultMutex};
  bool over KUBE_GUARDED_BY(resultMutex) = false;
  std::string problem KUBE_GUARDED_BY(resultMutex);
};

Forwarder::Forwarder(PodPorts pod, PortForwardOptions options, const std::stop_token& until)
    : pod_(std::move(pod)), addresses_(options.addresses), onUntil_(until, RequestStop{stop_}) {
  reports_.emplace(std::move(options), stop_.get_token());
  forwarding_.emplace(pod_.executor, stop_.get_token());
}

Task<void> Forwarder::open(std::vector<PortPair> ports) {
  if (ports.empty()) throw Error("port-forward: no ports given");
  for (const PortPair& port : ports) {
    if (port.remote == 0) throw Error("port-forward: 0 is not a port of a pod");
  }
  tunnel_ = co_await PortTunnel::open(pod_.connect, ports[0].remote);
  shared_ = tunnel_->shared();
  if (!shared_) tunnel_ = nullptr;
  for (const PortPair& port : ports) listen(port);
}

void Forwarder::begin() { forwarding_->start(run(), "a port-forward"); }

void Forwarder::close() {
  forwarding_.reset();
  listeners_.clear();
  tunnel_ = nullptr;
  noteEnd();
  reports_.reset();
}

Task<void> Forwarder::ended(std::shared_ptr<Forwarder> self) {
  const auto ready = [&self]() KUBE_REQUIRES(self->endMutex_) { return self->over_; };
  const bool over = co_await self->ended_.wait(ready);
  if (!over) throw CanceledError("port-forward: canceled while waiting for its end");
}

void Forwarder::noteEnd() {
  const Lock lock(endMutex_);
  over_ = true;
  ended_.notifyAll();
}

void Forwarder::listen(const PortPair& port) {
  std::uint16_t local = port.local;
  const auto add = [&](const std::string& address) {
    const int fd = listenOn(address, local);
    bound_.push_back({address, local, port.remote});
    listeners_.push_back(std::make_unique<Listener>(pod_.loop, fd, bound_.back()));
  };
  for (const std::string& address : addresses_) {
    if (address != "localhost") {
      add(address);
      continue;
    }
    add("127.0.0.1");
    try {
      add("::1");
    } catch (const Error&) {  // many machines have no ::1, or the port is taken there
    }
  }
}

// The connections, and then the listening sockets, are closed before the end is noted.
Task<void> Forwarder::run() {
  const std::stop_token stop = co_await taskStop();
  try {
    TaskScope connections(pod_.executor, stop);
    for (const auto& listener : listeners_) {
      connections.start(accept(*listener, connections), "a port-forward");
    }
    co_await connections.join();
  } catch (const CanceledError&) {  // the ordinary end
  }
  listeners_.clear();
  tunnel_ = nullptr;
  requestStop();  // of the reports, if no listening socket was left
  noteEnd();
}

Task<void> Forwarder::accept(Listener& listener, TaskScope& connections) {
  for (;;) {
    co_await listener.socket.readable();
    const int fd = accept4(listener.socket.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
      auto socket = std::make_unique<LocalSocket>(pod_.loop, fd);
      const int on = 1;
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      reports_->connection(listener.port);
      connections.start(serve(std::move(socket), listener.port), "a forwarded connection");
    } else if (isShortage(errno)) {
      reports_->error(listener.port, fmt::format("no more connections: {}", std::strerror(errno)));
      co_await sleepFor(kPause);
    }
  }
}

Task<void> Forwarder::serve(std::unique_ptr<LocalSocket> socket, BoundPort port) {
  const std::stop_token stop = co_await taskStop();
  ++count_;
  const Finally counted([this] { --count_; });
  try {
    const auto pod = co_await streamTo(port.remote);
    const Finally dropped([&pod] { pod->drop(); });
    Connection connection{.local = *socket, .pod = *pod};
    co_await whenAny(fromPod(connection), toPod(connection), socket->broken());
  } catch (const std::exception& error) {
    if (!stop.stop_requested()) reports_->error(port, error.what());
  }
}

Task<void> Forwarder::toPod(Connection& connection) {
  TunnelStream& pod = connection.pod;
  for (;;) {
    const bool open = co_await pod.waitForRoom();
    if (!open) break;
    co_await connection.local.readable();
    const Moved moved = moveSome(connection.local.fd(), pod);
    if (moved == Moved::Broken) co_return;
    if (moved == Moved::Some) continue;
    co_return co_await waitForTheRest(connection, pod.endOutput());
  }
  // The copy from the pod decides about the end.
  co_await sleepUntil(Clock::noDeadline);
}

// Ends after a time without data, if the pod has ended its output too, or cannot be told that the
// program has.
Task<void> Forwarder::waitForTheRest(Connection& connection, bool told) {
  connection.heard = realClock().now();
  for (;;) {
    const bool waited = co_await sleepUntil(connection.heard + kPatience);
    if (!waited) co_return;
    const auto now = realClock().now();
    if (now < connection.heard + kPatience) continue;
    if (!told || connection.podEnded) co_return;
    connection.heard = now;
  }
}

Task<void> Forwarder::fromPod(Connection& connection) {
  TunnelStream& pod = connection.pod;
  const int fd = connection.local.fd();
  for (;;) {
    const auto bytes = co_await pod.read();
    if (!bytes) break;
    connection.heard = realClock().now();
    for (std::string_view rest = *bytes; !rest.empty();) {
      const ssize_t count = ::send(fd, rest.data(), rest.size(), MSG_NOSIGNAL);
      if (count < 0 && !mayPass(errno)) co_return;
      if (count < 0) co_await connection.local.writable();
      if (count > 0) rest.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  shutdown(fd, SHUT_WR);
  connection.podEnded = true;
  co_await pod.over();
}

Task<std::shared_ptr<TunnelStream>> Forwarder::streamTo(std::uint16_t port) {
  for (int tries = 0; shared_ && tries < 2; ++tries) {
    if (tries > 0) co_await openShared(port);
    auto stream = tunnel_ ? tunnel_->connect(port) : nullptr;
    if (!stream || !shared_) tunnel_ = nullptr;
    if (stream) co_return stream;
  }
  if (!shared_) {
    const auto own = co_await PortTunnel::open(pod_.connect, port);
    auto stream = own->connect(port);
    if (stream) co_return stream;
  }
  throw Error("the server accepts no connection in a new tunnel");
}

// The first connection that needs a tunnel opens it; others wait meanwhile.
Task<void> Forwarder::openShared(std::uint16_t port) {
  if (const auto opening = opening_) {
    const auto ready = [&opening]() KUBE_REQUIRES(opening->resultMutex) { return opening->over; };
    const bool over = co_await opening->done.wait(ready);
    if (!over) throw CanceledError("port-forward: canceled");
    const Lock lock(opening->resultMutex);
    if (!opening->problem.empty()) throw Error(opening->problem);
    co_return;
  }
  const auto opening = opening_ = std::make_shared<Opening>();
  std::exception_ptr failure;
  std::string problem;
  try {
    tunnel_ = co_await PortTunnel::open(pod_.connect, port);
    shared_ = tunnel_->shared();
  } catch (const std::exception& error) {
    failure = std::current_exception();
    problem = error.what();
  }
  opening_ = nullptr;
  {
    const Lock lock(opening->resultMutex);
    opening->over = true;
    opening->problem = problem;
    opening->done.notifyAll();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace kube::detail
