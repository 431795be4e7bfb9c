// Pods: what all resources can do, and evicting, binding, resizing and reading logs.
//
//   kube::PodClient pods = clients.coreV1().pods("book");
//   for (std::string_view line : pods.logs("web", {.container = "app", .tailLines = 100})) ...
//   pods.evict("web", {.gracePeriodSeconds = 30});
//
// Errors and thread safety are ResourceClient's.
#pragma once

#include <stop_token>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/api/core/v1.h"
#include "kube/api/policy/v1.h"
#include "kube/api/policy/v1beta1.h"
#include "kube/client/pods/container_session.h"
#include "kube/client/pods/log_stream.h"
#include "kube/client/pods/port_forward.h"
#include "kube/client/subresource_clients.h"

namespace kube {

class PodClient : public ProxyClient<corev1::Pod> {
 public:
  using ProxyClient::ProxyClient;

  PodClient inNamespace(String name) const {
    return PodClient(rest(), resource(), std::move(name));
  }

  /// Of the container that options.container names; a pod's only one needs no name. A log to be
  /// followed ends with its container.
  LogStream logs(std::string_view name, const corev1::PodLogOptions& options = {},
                 const std::stop_token& stop = {}) const;

  /// The same with options.follow, going on after a connection that breaks, without losing or
  /// repeating a line. Throws Error for options.limitBytes, which could not be kept.
  LogStream followLogs(std::string_view name, const corev1::PodLogOptions& options = {},
                       const std::stop_token& stop = {}) const;

  /// Runs a command in a container. Throws ApiError where the server will not; what becomes of the
  /// command is the session's to tell.
  ContainerSession exec(std::string_view name, const ExecOptions& options,
                        const std::stop_token& stop = {}) const;
  /// To the process that the container runs anyway.
  ContainerSession attach(std::string_view name, const AttachOptions& options = {},
                          const std::stop_token& stop = {}) const;

  /// Has ports of this machine lead to ports of the pod, for as long as the result lives.
  PortForward portForward(std::string_view name, const std::vector<PortPair>& ports,
                          PortForwardOptions options = {}, const std::stop_token& stop = {}) const;

  /// Deletes the pod unless its disruption budget says no: then throws an ApiError for which
  /// isTooManyRequests() holds, and it is for the caller to try again later.
  void evict(std::string_view name, const metav1::DeleteOptions& options = {},
             const std::stop_token& stop = {}) const;
  void evict(const policyv1::Eviction& eviction, const std::stop_token& stop = {}) const;
  /// For servers before 1.22, which know no other.
  void evict(const policyv1beta1::Eviction& eviction, const std::stop_token& stop = {}) const;

  /// Has the pod of binding.metadata.name run on the node of binding.target.
  void bind(const corev1::Binding& binding, const metav1::CreateOptions& options = {},
            const std::stop_token& stop = {}) const;

  /// Adds to spec.ephemeralContainers, which update() leaves as they are.
  corev1::Pod updateEphemeralContainers(const corev1::Pod& pod,
                                        const metav1::UpdateOptions& options = {},
                                        const std::stop_token& stop = {}) const {
    return put(pod, "ephemeralcontainers", options, stop);
  }
  /// Changes resources of containers that run, which update() does not allow.
  corev1::Pod updateResize(const corev1::Pod& pod, const metav1::UpdateOptions& options = {},
                           const std::stop_token& stop = {}) const {
    return put(pod, "resize", options, stop);
  }
};

}  // namespace kube
