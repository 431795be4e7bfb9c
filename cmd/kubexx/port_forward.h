// kubexx port-forward: forwards ports of this machine to a pod.
#pragma once

#include <iosfwd>
#include <stop_token>
#include <string>
#include <vector>

#include "cmd/kubexx/invocation.h"

namespace kube::cmd {

struct PortForwardCommand {
  ClusterFlags cluster = {};
  std::string pod = {};
  std::vector<std::string> ports = {};  // [LOCAL:]REMOTE; LOCAL empty or 0: any free port
  std::vector<std::string> addresses = {"localhost"};
};

/// Forwards until the token is triggered. Errors of single connections go to `notes`.
void portForward(const PortForwardCommand& command, std::ostream& out, std::ostream& notes,
                 const std::stop_token& stop);

}  // namespace kube::cmd
