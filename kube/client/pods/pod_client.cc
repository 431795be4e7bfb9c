#include "kube/client/pods/pod_client.h"

#include "kube/client/pods/internal/pod_ports.h"

namespace kube {

LogStream PodClient::logs(std::string_view name, const corev1::PodLogOptions& options,
                          const std::stop_token& stop) const {
  return LogStream(detail::runBlocking(async().logs(name, options), stop), stop);
}

LogStream PodClient::followLogs(std::string_view name, const corev1::PodLogOptions& options,
                                const std::stop_token& stop) const {
  return LogStream(detail::runBlocking(async().followLogs(name, options), stop), stop);
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

// runBlocking() would tie the WebSocket to the stop: a call would see a broken connection then.
PortStream PodClient::openPort(std::string_view name, std::uint16_t port,
                               const std::stop_token& stop) const {
  return PortStream(blockOn(async().openPort(name, port), stop), stop);
}

void PodClient::evict(std::string_view name, const metav1::DeleteOptions& options,
                      const std::stop_token& stop) const {
  detail::runBlocking(async().evict(name, options), stop);
}
void PodClient::evict(const policyv1::Eviction& eviction, const std::stop_token& stop) const {
  detail::runBlocking(async().evict(eviction), stop);
}
void PodClient::evict(const policyv1beta1::Eviction& eviction, const std::stop_token& stop) const {
  detail::runBlocking(async().evict(eviction), stop);
}

void PodClient::bind(const corev1::Binding& binding, const metav1::CreateOptions& options,
                     const std::stop_token& stop) const {
  detail::runBlocking(async().bind(binding, options), stop);
}

}  // namespace kube
