#include "kube/client/pods/async_pod_client.h"

#include <fmt/core.h>

#include "kube/client/pods/internal/pod_ports.h"

namespace kube {

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
