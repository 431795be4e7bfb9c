#include "kube/client/pods/pod_client.h"

#include <fmt/core.h>

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

ContainerSession PodClient::exec(std::string_view name, const ExecOptions& options,
                                 const std::stop_token& stop) const {
  if (options.command.empty()) {
    throw Error(fmt::format("exec in pod \"{}\": no command; set options.command", name));
  }
  return ContainerSession::start(requests().get(name, "exec"), options, stop);
}

ContainerSession PodClient::attach(std::string_view name, const AttachOptions& options,
                                   const std::stop_token& stop) const {
  return ContainerSession::start(requests().get(name, "attach"),
                                 {.container = options.container,
                                  .stdin = options.stdin,
                                  .stdout = options.stdout,
                                  .stderr = options.stderr,
                                  .tty = options.tty,
                                  .size = options.size,
                                  .onStdout = options.onStdout,
                                  .onStderr = options.onStderr},
                                 stop);
}

PortForward PodClient::portForward(std::string_view name, const std::vector<PortPair>& ports,
                                   PortForwardOptions options, const std::stop_token& stop) const {
  return PortForward(
      [pods = *this, name = std::string(name)](
          const std::vector<std::string>& protocols, std::uint16_t port,
          const std::shared_ptr<WebSocketListener>& listener, const std::stop_token& token) {
        Request request = pods.requests().get(name, "portforward");
        request.param("ports", std::to_string(port));
        return request.webSocket(protocols, listener, token);
      },
      ports, std::move(options), stop);
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
