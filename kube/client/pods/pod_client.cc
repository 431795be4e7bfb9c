#include "kube/client/pods/pod_client.h"

#include <fmt/core.h>

#include "kube/client/pods/internal/log_reader.h"

namespace kube {

namespace {

// The log is plain text; a failure is a Status.
Task<HttpStream> openLog(const detail::ResourceRequests& requests, std::string_view name,
                         const corev1::PodLogOptions& options) {
  Request request = requests.get(name, "log");
  request.options(options).accept("application/json, */*");
  return std::move(request).async().stream();
}

Task<AsyncLogStream> logOf(Task<HttpStream> opening) {
  HttpStream stream = co_await std::move(opening);
  co_return AsyncLogStream(std::make_unique<detail::LogReader>(std::move(stream)));
}

Task<AsyncLogStream> followedLogOf(detail::LogReader::Reopen open, bool keepTimestamps) {
  const Time begin = {};
  HttpStream stream = co_await open(begin);
  co_return AsyncLogStream(
      std::make_unique<detail::LogReader>(std::move(stream), std::move(open), keepTimestamps));
}

template <Described Eviction>
Task<void> sendEviction(const detail::ResourceRequests& requests, const Eviction& eviction) {
  return detail::sendForNothing(
      requests.post(eviction.metadata.name, "eviction", eviction.metadata.namespace_), eviction);
}

}  // namespace

Task<AsyncLogStream> AsyncPodClient::logs(std::string_view name,
                                          const corev1::PodLogOptions& options) const {
  return logOf(openLog(requests(), name, options));
}

Task<AsyncLogStream> AsyncPodClient::followLogs(std::string_view name,
                                                const corev1::PodLogOptions& options) const {
  if (options.limitBytes) {
    throw Error(fmt::format(
        "logs of pod \"{}\": limitBytes cannot be kept when the log is opened again; use logs()",
        name));
  }
  corev1::PodLogOptions wanted = options;
  wanted.follow = true;
  wanted.timestamps = true;
  const auto open = [requests = requests(), name = std::string(name), wanted](Time since) {
    corev1::PodLogOptions rest = wanted;
    if (since) {
      rest.sinceTime = since;
      rest.sinceSeconds.reset();
      rest.tailLines.reset();
    }
    return openLog(requests, name, rest);
  };
  return followedLogOf(open, options.timestamps);
}

Task<void> AsyncPodClient::evict(std::string_view name,
                                 const metav1::DeleteOptions& options) const {
  policyv1::Eviction eviction;
  eviction.metadata.name = name;
  eviction.metadata.namespace_ = namespaceName();
  eviction.deleteOptions = options;
  return evict(eviction);
}
Task<void> AsyncPodClient::evict(const policyv1::Eviction& eviction) const {
  return sendEviction(requests(), eviction);
}
Task<void> AsyncPodClient::evict(const policyv1beta1::Eviction& eviction) const {
  return sendEviction(requests(), eviction);
}

Task<void> AsyncPodClient::bind(const corev1::Binding& binding,
                                const metav1::CreateOptions& options) const {
  Request request = requests().post(binding.metadata.name, "binding", binding.metadata.namespace_);
  request.options(options);
  return detail::sendForNothing(std::move(request), binding);
}

LogStream PodClient::logs(std::string_view name, const corev1::PodLogOptions& options,
                          const std::stop_token& stop) const {
  return LogStream(detail::runBlocking(async().logs(name, options), stop), stop);
}

LogStream PodClient::followLogs(std::string_view name, const corev1::PodLogOptions& options,
                                const std::stop_token& stop) const {
  return LogStream(detail::runBlocking(async().followLogs(name, options), stop), stop);
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
