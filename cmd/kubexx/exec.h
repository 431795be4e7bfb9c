// kubexx exec and attach: a container's process, with this terminal around it.
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

/// Where a command's input comes from and its output goes to.
struct StandardFiles {
  int in = 0;
  int out = 1;
  int err = 2;
};

/// Returns the exit code, or 128 and the number of the signal that ended it. The terminal is as
/// before when it returns or throws.
int exec(const ExecCommand& command, const StandardFiles& files = {});

}  // namespace kube::cmd
