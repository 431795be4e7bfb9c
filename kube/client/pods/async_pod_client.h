// The awaitable form of a PodClient: commands and ports, and the verbs of all resources.
//
//   auto pods = clients.coreV1().pods("book").async();
//   const kube::ExecOptions ls{.command = {"ls", "/"}};
//   auto session = co_await pods.exec("web", ls);
//   const kube::ContainerOutput all = co_await session.output();
//
// The options and errors are those of PodClient. Thread safety: a cheap, copyable handle; every
// method may be called from any thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/api/core/v1.h"
#include "kube/client/async_resource_client.h"
#include "kube/client/pods/async_container_session.h"
#include "kube/client/pods/async_port_forward.h"
#include "kube/client/pods/async_port_stream.h"

namespace kube {

class AsyncPodClient : public AsyncResourceClient<corev1::Pod> {
 public:
  using AsyncResourceClient::AsyncResourceClient;

  AsyncPodClient inNamespace(String name) const {
    return AsyncPodClient(AsyncResourceClient::inNamespace(std::move(name)).requests());
  }
  AsyncPodClient withMaxRetries(int n) const {
    return AsyncPodClient(requests().withMaxRetries(n));
  }

  Task<AsyncContainerSession> exec(std::string_view name, const ExecOptions& options) const;
  Task<AsyncContainerSession> attach(std::string_view name,
                                     const AttachOptions& options = {}) const;

  Task<AsyncPortForward> portForward(std::string_view name, std::vector<PortPair> ports,
                                     PortForwardOptions options) const;
  // No default argument: g++ 12 would destroy it twice.
  Task<AsyncPortForward> portForward(std::string_view name, std::vector<PortPair> ports) const {
    return portForward(name, std::move(ports), PortForwardOptions());
  }
  /// Connects to a port of the pod, without a port of this machine.
  Task<AsyncPortStream> openPort(std::string_view name, std::uint16_t port) const;
};

}  // namespace kube
