#include "kube/client/pods/port_forward.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include "kube/base/internal/mutex.h"
#include "kube/base/internal/start_thread.h"
#include "kube/base/task_threads.h"
#include "kube/client/pods/internal/forward_connection.h"

namespace kube {

namespace {

using detail::EventHandler;
using detail::EventLoop;
using detail::ForwardConnection;
using detail::ForwardTunnel;
using detail::TunnelInbox;

// The time without new connections after the process ran out of descriptors.
constexpr auto kPause = std::chrono::milliseconds{100};

struct Address {
  sockaddr_storage bytes{};
  socklen_t size = 0;

  static Address parse(const std::string& text, std::uint16_t port) {
    Address address;
    auto& v4 = reinterpret_cast<sockaddr_in&>(address.bytes);
    auto& v6 = reinterpret_cast<sockaddr_in6&>(address.bytes);
    if (inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) {
      v4.sin_family = AF_INET;
      v4.sin_port = htons(port);
      address.size = sizeof v4;
    } else if (inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr) == 1) {
      v6.sin6_family = AF_INET6;
      v6.sin6_port = htons(port);
      address.size = sizeof v6;
    } else {
      throw Error(fmt::format("port-forward: \"{}\" is neither an IP address nor localhost", text));
    }
    return address;
  }
};

// Returns a listening socket; `port` becomes the port that it has.
int listenOn(const std::string& text, std::uint16_t& port) {
  const Address address = Address::parse(text, port);
  const int fd = socket(address.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  detail::Descriptor guard(fd);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address.bytes.ss_family == AF_INET6) {
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  }
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address.bytes), address.size) != 0 ||
      listen(fd, SOMAXCONN) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
    throw Error(fmt::format("port-forward: cannot listen on {} port {}: {}", text, port,
                            std::strerror(errno)));
  }
  port = ntohs(bound.ss_family == AF_INET ? reinterpret_cast<sockaddr_in&>(bound).sin_port
                                          : reinterpret_cast<sockaddr_in6&>(bound).sin6_port);
  return guard.release();
}

}  // namespace

// Forwards connections on its own thread. WebSockets are opened on other threads, because that may
// take long.
class PortForward::Forwarder {
 public:
  Forwarder(Connect connect, PortForwardOptions options, std::stop_token stop)
      : connect_(std::move(connect)), options_(std::move(options)), callersStop_(std::move(stop)) {}
  ~Forwarder() { join(); }

  void start(const std::vector<PortPair>& ports) {
    if (ports.empty()) throw Error("port-forward: no ports given");
    for (const PortPair& port : ports) {
      if (port.remote == 0) throw Error("port-forward: 0 is not a port of a pod");
    }
    // Opened first, so that a missing pod is an error before anything connects.
    takeTunnel(open(ports[0].remote, callersStop_));
    for (const PortPair& port : ports) listen(port);
    thread_ =
        detail::startingThread("a port-forward", [this] { return std::thread([this] { run(); }); });
    cancel_.emplace(callersStop_, [this] { end(); });
  }

  // Called by the owner. Nothing of this object runs afterwards.
  void join() {
    cancel_.reset();
    end();
    if (thread_.joinable()) thread_.join();
    detail::Lock lock(stateMutex_);
    stateChanged_.wait(lock, [this]() KUBE_REQUIRES(stateMutex_) { return tasks_ == 0; });
  }

  void end() {
    stop_.request_stop();
    loop_.mailbox()->stop();
  }

  void wait() {
    detail::Lock lock(stateMutex_);
    stateChanged_.wait(lock, [this]() KUBE_REQUIRES(stateMutex_) { return over_; });
  }

  const std::vector<BoundPort>& ports() const { return bound_; }
  std::size_t connections() const { return count_; }

 private:
  class Listener final : public EventHandler {
   public:
    Listener(Forwarder& forwarder, int fd, BoundPort port)
        : forwarder_(forwarder),
          socket_(fd),
          port_(std::move(port)),
          watch_(forwarder.loop_, fd, EPOLLIN, *this),
          pause_(forwarder.loop_) {}

   private:
    void onEvents(std::uint32_t) override {
      const int fd = accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (fd >= 0) return forwarder_.accepted(fd, port_);
      if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM) return;
      forwarder_.report(port_, fmt::format("no more connections: {}", std::strerror(errno)));
      watch_.setEvents(0);
      pause_.set(forwarder_.loop_.now() + kPause, [this] { watch_.setEvents(EPOLLIN); });
    }

    Forwarder& forwarder_;
    const detail::Descriptor socket_;
    const BoundPort port_;
    detail::FdWatch watch_;
    detail::LoopTimer pause_;
  };

  struct Local {
    std::shared_ptr<ForwardConnection> connection;
    BoundPort port;
  };

  void run() {
    detail::blockSignals();
    pthread_setname_np(pthread_self(), "kubexx-forward");
    loop_.run();
    {
      const detail::LoopTurn turn(loop_);
      listeners_.clear();
      waiting_.clear();
      locals_.clear();
      tunnel_.reset();
      loop_.discardDeferred();
    }
    count_ = 0;
    const detail::Lock lock(stateMutex_);
    over_ = true;
    stateChanged_.notify_all();
  }

  void listen(const PortPair& port) {
    std::uint16_t local = port.local;
    const auto add = [&](const std::string& address) {
      const int fd = listenOn(address, local);
      bound_.push_back({address, local, port.remote});
      listeners_.push_back(std::make_unique<Listener>(*this, fd, bound_.back()));
    };
    for (const std::string& address : options_.addresses) {
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

  void report(const BoundPort& port, const std::string& problem) const {
    if (!options_.onError) return;
    try {
      options_.onError(port, Error(fmt::format("forwarding {}:{} -> {}: {}", port.address,
                                               port.local, port.remote, problem)));
    } catch (...) {  // the callback's own problem
    }
  }

  // --- Connections.
  void accepted(int fd, const BoundPort& port) {
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const auto connection = std::make_shared<ForwardConnection>(
        loop_, fd, [this, port](ForwardConnection& done, const std::string& problem) {
          if (!problem.empty()) report(port, problem);
          forget(done);
        });
    locals_.push_back(connection);
    ++count_;
    if (options_.onConnection) {
      try {
        options_.onConnection(port);
      } catch (...) {  // the callback's own problem
      }
    }
    serve({connection, port});
  }

  void forget(const ForwardConnection& done) {
    std::erase_if(waiting_, [&](const Local& local) { return local.connection.get() == &done; });
    const auto found = std::ranges::find_if(
        locals_, [&](const auto& connection) { return connection.get() == &done; });
    if (found == locals_.end()) return;
    loop_.bury(std::move(*found));
    locals_.erase(found);
    --count_;
  }

  void serve(const Local& local) {
    if (!shared_) return openFor(local);
    if (tunnel_ && !tunnel_->lost() && local.connection->start(tunnel_, local.port.remote)) return;
    tunnel_.reset();
    waiting_.push_back(local);
    if (!std::exchange(opening_, true)) openFor(local);
  }

  // --- WebSockets.
  struct Opened {
    std::shared_ptr<TunnelInbox> inbox;
    WebSocket socket;
  };

  Opened open(std::uint16_t port, const std::stop_token& stop) {
    const auto inbox = std::make_shared<TunnelInbox>(loop_.mailbox());
    return {inbox, connect_(ForwardTunnel::protocols(), port, inbox, stop)};
  }

  // Opens a WebSocket on another thread: it waits for the server, and perhaps for credentials.
  void openFor(const Local& local) {
    {
      const detail::Lock lock(stateMutex_);
      ++tasks_;
    }
    threads_->run([this, port = local.port.remote, connection = std::weak_ptr(local.connection)] {
      auto opened = std::make_shared<Opened>();
      std::string problem;
      try {
        *opened = open(port, stop_.get_token());
      } catch (const std::exception& error) {
        problem = error.what();
      }
      loop_.mailbox()->post(
          [this, opened = std::move(opened), problem = std::move(problem), connection] {
            this->opened(std::move(*opened), problem, connection.lock());
          });
      const detail::Lock lock(stateMutex_);
      --tasks_;
      stateChanged_.notify_all();
    });
  }

  void takeTunnel(Opened opened) {
    auto tunnel = ForwardTunnel::make(std::move(opened.socket), std::move(opened.inbox));
    shared_ = tunnel->shared();
    if (shared_) tunnel_ = std::move(tunnel);
  }

  void opened(Opened opened, const std::string& problem,
              const std::shared_ptr<ForwardConnection>& connection) {
    if (shared_) {
      opening_ = false;
      if (problem.empty()) takeTunnel(std::move(opened));
      for (const Local& local : std::exchange(waiting_, {})) {
        if (problem.empty()) {
          serve(local);
        } else {
          local.connection->fail(problem);
        }
      }
      return;
    }
    if (!connection) return;
    if (!problem.empty()) return connection->fail(problem);
    if (std::ranges::find(locals_, connection) == locals_.end()) return;
    connection->start(ForwardTunnel::make(std::move(opened.socket), std::move(opened.inbox)), 0);
  }

  const Connect connect_;
  const PortForwardOptions options_;
  const std::stop_token callersStop_;
  const std::shared_ptr<TaskThreads> threads_ = TaskThreads::shared();
  std::stop_source stop_;
  EventLoop loop_;
  std::vector<BoundPort> bound_;
  std::atomic<std::size_t> count_{0};

  // --- Used by the thread only, once it runs.
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::vector<std::shared_ptr<ForwardConnection>> locals_;
  std::vector<Local> waiting_;  // waiting for the tunnel
  std::shared_ptr<ForwardTunnel> tunnel_;
  bool shared_ = true;  // one tunnel for all connections
  bool opening_ = false;

  std::thread thread_;
  detail::Mutex stateMutex_;
  std::condition_variable stateChanged_;
  bool over_ KUBE_GUARDED_BY(stateMutex_) = false;      // the thread has ended
  std::size_t tasks_ KUBE_GUARDED_BY(stateMutex_) = 0;  // calls of openFor() on other threads

  std::optional<std::stop_callback<std::function<void()>>> cancel_;
};

PortForward::PortForward(Connect connect, const std::vector<PortPair>& ports,
                         PortForwardOptions options, std::stop_token stop)
    : forwarder_(
          std::make_unique<Forwarder>(std::move(connect), std::move(options), std::move(stop))) {
  forwarder_->start(ports);
}

PortForward::PortForward(PortForward&&) noexcept = default;

PortForward& PortForward::operator=(PortForward&& other) noexcept {
  PortForward moved(std::move(other));
  std::swap(forwarder_, moved.forwarder_);
  return *this;
}

PortForward::~PortForward() = default;

const std::vector<BoundPort>& PortForward::ports() const { return forwarder_->ports(); }
std::size_t PortForward::connections() const { return forwarder_->connections(); }
void PortForward::wait() const { forwarder_->wait(); }
void PortForward::stop() { forwarder_->join(); }

}  // namespace kube
