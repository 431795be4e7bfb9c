// kubexx port-forward: ports of this machine that lead to a pod's.
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
  std::vector<std::string> ports = {};  // [LOCAL:]REMOTE; no local one, or 0, is any that is free
  std::vector<std::string> addresses = {"localhost"};
};

/// Forwards until it is stopped.
void portForward(const PortForwardCommand& command, std::ostream& out, std::ostream& notes,
                 const std::stop_token& stop);

}  // namespace kube::cmd
