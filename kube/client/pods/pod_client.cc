#include "kube/client/pods/pod_client.h"

#include <fmt/core.h>

#include "kube/client/pods/internal/pod_ports.h"

namespace kube {

LogStream PodClient::logs(std::string_view name, const corev1::PodLogOptions& options,
                          const std::stop_token& stop) const {
  Request request = requests().get(name, "log");
  // The log is plain text; a failure is a Status.
  request.options(options).accept("application/json, */*");
  return LogStream(request.stream(stop), stop);
}

LogStream PodClient::followLogs(std::string_view name, const corev1::PodLogOptions& options,
                                const std::stop_token& stop) const {
  if (options.limitBytes) {
    throw Error(fmt::format(
        "logs of pod \"{}\": limitBytes cannot be kept when the log is opened again; use logs()",
        name));
  }
  corev1::PodLogOptions wanted = options;
  wanted.follow = true;
  wanted.timestamps = true;
  return LogStream(
      [pods = *this, name = std::string(name), wanted, stop](Time since) {
        corev1::PodLogOptions rest = wanted;
        if (since) {
          rest.sinceTime = since;
          rest.sinceSeconds.reset();
          rest.tailLines.reset();
        }
        Request request = pods.requests().get(name, "log");
        return request.options(rest).accept("application/json, */*").stream(stop);
      },
      options.timestamps, stop);
}

// The stop token stays with the session, so that later calls need none.
ContainerSession PodClient::exec(std::string_view name, const ExecOptions& options,
                                 const std::stop_token& stop) const {
  return ContainerSession(detail::runBlocking(async().exec(name, options), stop));
}

ContainerSession PodClient::attach(std::string_view name, const AttachOptions& options,
                                   const std::stop_token& stop) const {
  return ContainerSession(detail::runBlocking(async().attach(name, options), stop));
}

PortForward PodClient::portForward(std::string_view name, const std::vector<PortPair>& ports,
                                   PortForwardOptions options, const std::stop_token& stop) const {
  return PortForward(detail::portsOf(requests(), name), ports, std::move(options), stop);
}

void PodClient::evict(std::string_view name, const metav1::DeleteOptions& options,
                      const std::stop_token& stop) const {
  policyv1::Eviction eviction;
  eviction.metadata.name = name;
  eviction.metadata.namespace_ = namespaceName();
  eviction.deleteOptions = options;
  evict(eviction, stop);
}

void PodClient::evict(const policyv1::Eviction& eviction, const std::stop_token& stop) const {
  requests()
      .post(eviction.metadata.name, "eviction", eviction.metadata.namespace_)
      .body(eviction)
      .raw(stop);
}

void PodClient::evict(const policyv1beta1::Eviction& eviction, const std::stop_token& stop) const {
  requests()
      .post(eviction.metadata.name, "eviction", eviction.metadata.namespace_)
      .body(eviction)
      .raw(stop);
}

void PodClient::bind(const corev1::Binding& binding, const metav1::CreateOptions& options,
                     const std::stop_token& stop) const {
  requests()
      .post(binding.metadata.name, "binding", binding.metadata.namespace_)
      .options(options)
      .body(binding)
      .raw(stop);
}

}  // namespace kube
