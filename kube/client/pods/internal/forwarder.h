// Forwards connections to ports of this machine through tunnels to a pod.
//
// Everything runs as tasks on the I/O thread of a transport: one for each listening socket, and
// three for each connection. A connection ends when one of its three ends: the copy to the pod, the
// copy from it, and the wait for a broken socket.
//
// Thread safety: the public methods may be called from any thread, the destructor excepted. The
// tasks run one at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kube/base/internal/condition.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/task_scope.h"
#include "kube/client/pods/internal/forward_reports.h"
#include "kube/client/pods/internal/local_socket.h"
#include "kube/client/pods/internal/pod_ports.h"
#include "kube/client/pods/internal/port_tunnel.h"
#include "kube/client/pods/port_forward.h"

namespace kube::detail {

class Forwarder {
 public:
  /// Forwarding ends when `until` does.
  Forwarder(PodPorts pod, PortForwardOptions options, const std::stop_token& until);

  /// Opens the tunnel, so that a missing pod is an error before anything connects; then listens.
  Task<void> open(std::vector<PortPair> ports);
  /// Begins to forward.
  void begin();

  const std::vector<BoundPort>& ports() const { return bound_; }
  std::size_t connections() const { return count_; }
  void requestStop() noexcept { stop_.request_stop(); }
  ForwardReports& reports() { return *reports_; }
  /// Waits until forwarding has ended.
  static Task<void> ended(std::shared_ptr<Forwarder> self);
  /// Ends forwarding at once.
  void close();

 private:
  struct Listener {
    Listener(const std::shared_ptr<EventLoop>& loop, int fd, BoundPort bound)
        : socket(loop, fd), port(std::move(bound)) {}

    LocalSocket socket;
    const BoundPort port;
  };
  struct RequestStop {
    std::stop_source stop;
    void operator()() noexcept { stop.request_stop(); }
  };
  struct Connection;
  struct Opening;

  void listen(const PortPair& port);
  Task<void> run();
  Task<void> accept(Listener& listener, TaskScope& connections);
  Task<void> serve(std::unique_ptr<LocalSocket> socket, BoundPort port);
  Task<std::shared_ptr<TunnelStream>> streamTo(std::uint16_t port);
  Task<void> openShared(std::uint16_t port);
  static Task<void> toPod(Connection& connection);
  static Task<void> waitForTheRest(Connection& connection, bool told);
  static Task<void> fromPod(Connection& connection);
  void noteEnd();

  const PodPorts pod_;
  const std::vector<std::string> addresses_;
  std::stop_source stop_;
  const std::stop_callback<RequestStop> onUntil_;
  std::vector<BoundPort> bound_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::atomic<std::size_t> count_ = 0;

  // --- Used by the tasks, which run one at a time.
  std::shared_ptr<PortTunnel> tunnel_;
  bool shared_ = true;                // one tunnel for all connections
  std::shared_ptr<Opening> opening_;  // of the next tunnel

  Mutex endMutex_;
  Condition ended_{endMutex_};
  bool over_ KUBE_GUARDED_BY(endMutex_) = false;

  std::optional<ForwardReports> reports_;
  std::optional<TaskScope> forwarding_;
};

}  // namespace kube::detail
