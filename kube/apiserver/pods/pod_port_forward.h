// Forwards ports of a scripted container to a client over a WebSocket.
//
// There are two protocols: channels, a pair for each port of the request, of which the first
// carries data and the second an error; and SPDY/3.1 in a tunnel, which kubectl speaks, with a pair
// of streams for each connection (see spdy.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kube/apiserver/pods/pod_containers.h"
#include "kube/apiserver/pods/pod_pipe.h"
#include "kube/http/http_server.h"

namespace kube::apiserver {

/// Finds the service of a pod's port: the scripted one, or 7 (echo) and 80 (HTTP), or one that
/// refuses connections.
testing::PortService serviceOf(ContainerState& containers, const std::string& pod,
                               std::uint16_t port);

/// A connection to a port, independent of the client's protocol.
class ForwardedPort : public testing::PortConnection,
                      public std::enable_shared_from_this<ForwardedPort> {
 public:
  ForwardedPort(std::uint16_t port, std::function<void()> onRoom)
      : port_(port), input_(std::move(onRoom)) {}

  std::uint16_t port() const override { return port_; }
  std::stop_token stop() const override { return stop_.get_token(); }
  std::optional<std::string> read() override { return input_.read(); }
  bool write(std::string_view bytes) override;

  /// Runs the service on a thread of its own. Returns false if there are too many; finish() is not
  /// called then.
  bool start(ContainerState& containers, const std::string& pod);

  // --- For the client's side.
  [[nodiscard]] bool received(std::string_view bytes) { return input_.push(bytes); }
  void inputEnded() { input_.finish(); }
  void clientGone();

 protected:
  virtual bool deliver(std::string_view bytes) = 0;
  /// Called when the service has ended; `error` is empty if it succeeded.
  virtual void finish(const std::string& error) = 0;

 private:
  const std::uint16_t port_;
  PodPipe input_;
  std::stop_source stop_;
};

/// The subprotocols for port-forward.
std::span<const std::string_view> forwardProtocols() noexcept;

/// Answers a request by upgrading its connection.
void forwardPorts(const ServerRequest& request, const Responder& responder,
                  const std::string& protocol, const std::string& pod,
                  const std::vector<std::uint16_t>& ports, ContainerState& containers);

}  // namespace kube::apiserver
