// Ports of this machine that lead to ports of a pod.
//
//   kube::PortForward forward = pods.portForward("web", {{.local = 8080, .remote = 80}}, {}, stop);
//   kube::PortForward any = pods.portForward("web", {{.remote = 5432}});
//   connectTo("127.0.0.1", any.ports()[0].local);
//
// It listens for as long as it lives. Any number of connections may be made; one that fails,
// because nobody listens in the pod, say, is reported by onError and ends alone. If the connection
// to the pod is lost, those under way end, and the next one opens it again.
//
// All connections share one WebSocket to the server, which tunnels SPDY as kubectl does
// (SPDY/3.1+portforward.k8s.io, Kubernetes 1.30). Like kubectl's it has one flow: a program that
// does not read what it has asked for holds up those beside it. Servers that cannot do that get a
// WebSocket for each connection (v4.channel.k8s.io); there, the pod cannot be told that a program
// has sent all it had, so such a connection is closed when nothing has come back for 30 seconds.
//
// Errors: the constructor (PodClient::portForward) throws ApiError where there is no such pod,
// TransportError where there is no WebSocket, and Error for a port that is taken.
//
// Background threads: one, for all connections.
//
// Thread safety: every method may be called from any thread. Destroying it closes all connections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "kube/base/error.h"
#include "kube/http/websocket.h"

namespace kube {

struct PortPair {
  std::uint16_t local = 0;  // 0: any that is free
  std::uint16_t remote = 0;
};

/// Where it listens, and for which port of the pod.
struct BoundPort {
  std::string address = {};
  std::uint16_t local = 0;
  std::uint16_t remote = 0;

  bool operator==(const BoundPort&) const = default;
};

/// The functions are called by the thread that forwards, and must not block for long.
struct PortForwardOptions {
  /// IP addresses to listen on; "localhost" is 127.0.0.1 and, where there is one, ::1.
  std::vector<std::string> addresses = {"localhost"};
  std::function<void(const BoundPort& port)> onConnection = {};
  std::function<void(const BoundPort& port, const Error& error)> onError = {};
};

class PortForward {
 public:
  /// Makes a WebSocket to a port of the pod.
  using Connect = std::function<WebSocket(
      const std::vector<std::string>& protocols, std::uint16_t port,
      const std::shared_ptr<WebSocketListener>& listener, const std::stop_token& stop)>;

  /// For PodClient::portForward().
  PortForward(Connect connect, const std::vector<PortPair>& ports, PortForwardOptions options,
              std::stop_token stop);
  PortForward(PortForward&&) noexcept;
  PortForward& operator=(PortForward&&) noexcept;
  ~PortForward();

  /// In the order they were asked for; a port on several addresses comes several times.
  const std::vector<BoundPort>& ports() const;
  /// Those under way.
  std::size_t connections() const;

  /// Returns when it was stopped, by stop() or the stop token.
  void wait() const;
  /// Closes all connections, and listens no more.
  void stop();

 private:
  class Forwarder;
  std::unique_ptr<Forwarder> forwarder_;
};

}  // namespace kube
