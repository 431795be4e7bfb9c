#include "kube/client/pods/async_pod_client.h"

#include <fmt/core.h>

#include "kube/client/pods/internal/log_reader.h"
#include "kube/client/pods/internal/pod_ports.h"

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
  Request request = requests.post(eviction.metadata.name, "eviction", eviction.metadata.namespace_);
  request.options(metav1::CreateOptions{});  // those of ClientDefaults
  return detail::sendForNothing(std::move(request), eviction);
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

Task<AsyncContainerSession> AsyncPodClient::exec(std::string_view name,
                                                 const ExecOptions& options) const {
  if (options.command.empty()) {
    throw Error(fmt::format("exec in pod \"{}\": no command; set options.command", name));
  }
  return AsyncContainerSession::start(requests().get(name, "exec"), options);
}

Task<AsyncContainerSession> AsyncPodClient::attach(std::string_view name,
                                                   const AttachOptions& options) const {
  return AsyncContainerSession::start(requests().get(name, "attach"),
                                      {.container = options.container,
                                       .stdin = options.stdin,
                                       .stdout = options.stdout,
                                       .stderr = options.stderr,
                                       .tty = options.tty,
                                       .size = options.size,
                                       .onStdout = options.onStdout,
                                       .onStderr = options.onStderr});
}

Task<AsyncPortForward> AsyncPodClient::portForward(std::string_view name,
                                                   std::vector<PortPair> ports,
                                                   PortForwardOptions options) const {
  return AsyncPortForward::start(detail::portsOf(requests(), name), std::move(ports),
                                 std::move(options));
}

Task<AsyncPortStream> AsyncPodClient::openPort(std::string_view name, std::uint16_t port) const {
  return AsyncPortStream::open(detail::portsOf(requests(), name), port);
}

}  // namespace kube
