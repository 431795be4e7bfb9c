// kubexx, the command line.
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "cmd/kubexx/convert.h"
#include "cmd/kubexx/gen.h"
#include "cmd/kubexx/invocation.h"
#include "cmd/kubexx/serve.h"
#include "cmd/kubexx/terminal_text.h"
#include "kube/base/version.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const kube::cmd::TerminalText output(std::cout, STDOUT_FILENO);
  const kube::cmd::TerminalText errors(std::cerr, STDERR_FILENO);
  CLI::App app("A Kubernetes command line on the kubexx library.", "kubexx");
  app.set_version_flag("--version",
                       fmt::format("kubexx {} ({})", kube::version(), kube::gitCommit()));
  app.require_subcommand(1);
  kube::cmd::Invocation invocation(std::cin, std::cout, std::cerr);
  invocation.terminal = ::isatty(STDOUT_FILENO) != 0;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  kube::cmd::addClusterCommands(app, invocation, arguments);
  kube::cmd::addConvert(app);
  kube::cmd::addGen(app);
  kube::cmd::addServe(app);
  const int code = kube::cmd::runProgram(app, invocation, arguments);
  std::cout.flush();
  std::cerr.flush();
  // Skips destructors (connections, OpenSSL, memory): the system frees everything faster.
  std::_Exit(code);
}
