#include "cmd/kubexx/port_forward.h"

#include <fmt/core.h>

#include <iostream>
#include <memory>

#include "cmd/kubexx/command.h"
#include "cmd/kubexx/commands.h"
#include "cmd/kubexx/pod_target.h"
#include "cmd/kubexx/terminal.h"
#include "kube/base/error.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/internal/text.h"

namespace kube::cmd {

namespace {

// Parses "8080:80", "8080", ":80" or "8080:http".
PortPair pairOf(const corev1::Pod& pod, const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) {
    const std::uint16_t port = podPort(pod, text);
    return {.local = port, .remote = port};
  }
  const std::string local = text.substr(0, colon);
  PortPair pair{.remote = podPort(pod, text.substr(colon + 1))};
  if (local.empty()) return pair;
  const auto port = kube::detail::parseNumber<std::uint16_t>(local);
  if (!port) throw Error(fmt::format("\"{}\": expected [LOCAL:]REMOTE, as in 8080:80", text));
  pair.local = *port;
  return pair;
}

}  // namespace

void portForward(const PortForwardCommand& command, std::ostream& out, std::ostream& notes,
                 const std::stop_token& stop) {
  const Config config = command.cluster.load();
  const PodClient pods = Clientset(config).coreV1().pods(config.namespace_);
  const std::string name = podName(command.pod);
  const corev1::Pod pod = pods.get(name, {}, stop);
  std::vector<PortPair> ports;
  for (const std::string& text : command.ports) ports.push_back(pairOf(pod, text));
  kube::detail::Mutex outMutex;       // of `out` and `notes`
  kube::detail::Lock lock(outMutex);  // the list of ports is printed before any connection
  PortForward forward = pods.portForward(
      name, ports,
      {.addresses = command.addresses,
       .onConnection =
           [&](const BoundPort& port) {
             const kube::detail::Lock one(outMutex);
             out << fmt::format("Handling connection for {}\n", port.local) << std::flush;
           },
       .onError =
           [&](const BoundPort&, const Error& error) {
             const kube::detail::Lock one(outMutex);
             notes << error.what() << std::endl;
           }},
      stop);
  for (const BoundPort& port : forward.ports()) {
    const bool v6 = port.address.find(':') != std::string::npos;
    out << fmt::format("Forwarding from {}{}{}:{} -> {}\n", v6 ? "[" : "", port.address,
                       v6 ? "]" : "", port.local, port.remote);
  }
  out << std::flush;
  lock.unlock();
  forward.wait();
}

void addPortForward(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<PortForwardCommand>();
  Command command(app, "port-forward", "Forward local ports to a pod");
  command.list("--address", options->addresses, "Addresses to listen on (localhost)")
      .argument("pod", options->pod, "The pod")
      .required()
      .arguments("ports", options->ports, "[LOCAL:]REMOTE ...; :REMOTE for any free local port")
      .required();
  command.run([options, &invocation] {
    options->cluster = invocation.flags;
    const Interruption interruption;
    try {
      portForward(*options, std::cout, std::cerr, interruption.token());
    } catch (const CanceledError&) {
      if (interruption.signal() == 0) throw;
    }
  });
}

}  // namespace kube::cmd
