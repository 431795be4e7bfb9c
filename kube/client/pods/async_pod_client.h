// The awaitable form of a PodClient, with all of its verbs.
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
#include "kube/api/policy/v1.h"
#include "kube/api/policy/v1beta1.h"
#include "kube/client/pods/async_container_session.h"
#include "kube/client/pods/async_port_forward.h"
#include "kube/client/pods/async_port_stream.h"
#include "kube/client/pods/log_stream.h"
#include "kube/client/subresource_clients.h"

namespace kube {

class AsyncPodClient : public AsyncProxyClient<corev1::Pod> {
 public:
  using AsyncProxyClient::AsyncProxyClient;

  AsyncPodClient inNamespace(String name) const {
    return AsyncPodClient(requests().inNamespace(std::move(name)));
  }
  AsyncPodClient withMaxRetries(int n) const {
    return AsyncPodClient(requests().withMaxRetries(n));
  }

  Task<AsyncLogStream> logs(std::string_view name, const corev1::PodLogOptions& options = {}) const;
  Task<AsyncLogStream> followLogs(std::string_view name,
                                  const corev1::PodLogOptions& options = {}) const;

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

  Task<void> evict(std::string_view name, const metav1::DeleteOptions& options = {}) const;
  Task<void> evict(const policyv1::Eviction& eviction) const;
  Task<void> evict(const policyv1beta1::Eviction& eviction) const;
  Task<void> bind(const corev1::Binding& binding, const metav1::CreateOptions& options = {}) const;
  Task<corev1::Pod> updateEphemeralContainers(const corev1::Pod& pod,
                                              const metav1::UpdateOptions& options = {}) const {
    return put(pod, "ephemeralcontainers", options);
  }
  Task<corev1::Pod> updateResize(const corev1::Pod& pod,
                                 const metav1::UpdateOptions& options = {}) const {
    return put(pod, "resize", options);
  }
};

}  // namespace kube
