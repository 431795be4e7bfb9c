// kubexx exec and attach: connects this terminal to a process in a container.
#pragma once

#include <string>
#include <vector>

#include "cmd/kubexx/invocation.h"

namespace kube::cmd {

struct ExecCommand {
  ClusterFlags cluster = {};
  std::string pod = {};
  std::string container = {};
  std::vector<std::string> command = {};  // empty: attach
  bool stdin = false;
  bool tty = false;
  bool quiet = false;
};

/// The descriptors of a command's input and output.
struct StandardFiles {
  int in = 0;
  int out = 1;
  int err = 2;
};

/// Returns the command's exit code, or 128 plus the number of the signal that has ended exec(). The
/// terminal is restored when it returns or throws.
int exec(const ExecCommand& command, const StandardFiles& files = {});

}  // namespace kube::cmd
