// A client for pods: the verbs of all resources, and evicting, binding, resizing, logs, commands,
// and ports.
//
//   kube::PodClient pods = clients.coreV1().pods("book");
//   for (std::string_view line : pods.logs("web", {.container = "app", .tailLines = 100})) ...
//   pods.evict("web", {.gracePeriodSeconds = 30});
//
// async() returns the awaitable form, which has all of these verbs.
//
// Errors and thread safety are those of ResourceClient.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/api/core/v1.h"
#include "kube/api/policy/v1.h"
#include "kube/api/policy/v1beta1.h"
#include "kube/client/pods/async_pod_client.h"
#include "kube/client/pods/container_session.h"
#include "kube/client/pods/log_stream.h"
#include "kube/client/pods/port_forward.h"
#include "kube/client/pods/port_stream.h"
#include "kube/client/subresource_clients.h"

namespace kube {

class PodClient : public ProxyClient<corev1::Pod> {
 public:
  using ProxyClient::ProxyClient;

  PodClient inNamespace(String name) const {
    return PodClient(rest(), resource(), std::move(name));
  }
  /// The awaitable form of this client.
  AsyncPodClient async() const { return AsyncPodClient(requests()); }

  /// Reads the log of the container options.container, which need not be set if the pod has only
  /// one. A log that is followed ends with its container.
  LogStream logs(std::string_view name, const corev1::PodLogOptions& options = {},
                 const std::stop_token& stop = {}) const;

  /// The same with options.follow, but continues after a connection breaks, without losing or
  /// repeating a line. Throws Error for options.limitBytes, which could not be kept.
  LogStream followLogs(std::string_view name, const corev1::PodLogOptions& options = {},
                       const std::stop_token& stop = {}) const;

  /// Runs a command in a container. Throws ApiError if the server refuses; the session reports the
  /// result of the command.
  ContainerSession exec(std::string_view name, const ExecOptions& options,
                        const std::stop_token& stop = {}) const;
  /// Connects to the container's own process.
  ContainerSession attach(std::string_view name, const AttachOptions& options = {},
                          const std::stop_token& stop = {}) const;

  /// Forwards ports of this machine to ports of the pod, for as long as the result lives.
  PortForward portForward(std::string_view name, const std::vector<PortPair>& ports,
                          PortForwardOptions options = {}, const std::stop_token& stop = {}) const;
  /// Connects to a port of the pod, without a port of this machine.
  PortStream openPort(std::string_view name, std::uint16_t port,
                      const std::stop_token& stop = {}) const;

  /// Deletes the pod unless its disruption budget forbids it: then throws an ApiError
  /// (isTooManyRequests), and the caller may retry later.
  void evict(std::string_view name, const metav1::DeleteOptions& options = {},
             const std::stop_token& stop = {}) const;
  void evict(const policyv1::Eviction& eviction, const std::stop_token& stop = {}) const;
  /// For servers before 1.22, which know only this version.
  void evict(const policyv1beta1::Eviction& eviction, const std::stop_token& stop = {}) const;

  /// Assigns the pod binding.metadata.name to the node binding.target.
  void bind(const corev1::Binding& binding, const metav1::CreateOptions& options = {},
            const std::stop_token& stop = {}) const;

  /// Adds to spec.ephemeralContainers, which update() leaves as they are.
  corev1::Pod updateEphemeralContainers(const corev1::Pod& pod,
                                        const metav1::UpdateOptions& options = {},
                                        const std::stop_token& stop = {}) const {
    return put(pod, "ephemeralcontainers", options, stop);
  }
  /// Changes the resources of running containers, which update() does not allow.
  corev1::Pod updateResize(const corev1::Pod& pod, const metav1::UpdateOptions& options = {},
                           const std::stop_token& stop = {}) const {
    return put(pod, "resize", options, stop);
  }
};

}  // namespace kube
