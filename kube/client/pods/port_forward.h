// Forwards ports of this machine to ports of a pod.
//
//   kube::PortForward forward = pods.portForward("web", {{.local = 8080, .remote = 80}}, {}, stop);
//   kube::PortForward any = pods.portForward("web", {{.remote = 5432}});
//   connectTo("127.0.0.1", any.ports()[0].local);
//
// The object listens for as long as it lives, for any number of connections. A connection that
// fails, for example because nothing listens in the pod, is reported to onError and ends alone. If
// the connection to the pod is lost, open connections end, and the next one opens it again.
//
// All connections share one WebSocket to the server, which tunnels SPDY as kubectl does
// (SPDY/3.1+portforward.k8s.io, Kubernetes 1.30). Like kubectl's, the tunnel has one flow: a
// program that does not read its data holds up the others. On servers without tunnels each
// connection has its own WebSocket (v4.channel.k8s.io); the pod cannot be told there that a program
// has sent everything, so the connection is closed after 30 seconds without an answer.
//
// Errors: the constructor (PodClient::portForward) throws ApiError if the pod does not exist,
// TransportError if the server has no WebSockets, and Error for a port that is taken.
//
// Background threads: none of its own. Bytes are copied on the I/O thread that the pod's client has
// anyway, so hundreds of forwards need no more threads than one.
//
// Thread safety: every method may be called from any thread. Destroying the object closes all
// connections; a function of the options may do that, but not call stop() or wait(), which throw
// Error there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "kube/base/error.h"
#include "kube/base/executor.h"

namespace kube {

class AsyncPortForward;

namespace detail {
struct PodPorts;
}

struct PortPair {
  std::uint16_t local = 0;  // 0: any free port
  std::uint16_t remote = 0;
};

/// A local address and port, and the port of the pod that it leads to.
struct BoundPort {
  std::string address = {};
  std::uint16_t local = 0;
  std::uint16_t remote = 0;

  bool operator==(const BoundPort&) const = default;
};

/// The functions are called one at a time, and may block: forwarding goes on meanwhile. A thousand
/// calls may wait; later ones are left out.
struct PortForwardOptions {
  /// The IP addresses to listen on; "localhost" is 127.0.0.1 and, if the machine has it, ::1.
  /// (g++ 12 compiles no list in braces here, if the options are used in coroutines.)
  std::vector<std::string> addresses = std::vector<std::string>(1, "localhost");
  std::function<void(const BoundPort& port)> onConnection = {};
  std::function<void(const BoundPort& port, const Error& error)> onError = {};
  /// The place where the functions are called, which outlives the forward; by default, threads of
  /// TaskThreads.
  Executor executor = {};
};

class PortForward {
 public:
  /// For PodClient::portForward().
  PortForward(detail::PodPorts pod, const std::vector<PortPair>& ports, PortForwardOptions options,
              const std::stop_token& stop);
  PortForward(PortForward&&) noexcept;
  PortForward& operator=(PortForward&&) noexcept;
  ~PortForward();

  /// The ports in the requested order; a port on several addresses is listed several times.
  const std::vector<BoundPort>& ports() const;
  /// The number of open connections.
  std::size_t connections() const;

  /// Blocks until forwarding ends, by stop() or the stop token.
  void wait() const;
  /// Closes all connections and stops listening.
  void stop();

 private:
  std::unique_ptr<AsyncPortForward> forward_;
};

}  // namespace kube
