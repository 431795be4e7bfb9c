// kubexx, the command line.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>

#include "cmd/kubexx/convert.h"
#include "cmd/kubexx/cp.h"
#include "cmd/kubexx/exec.h"
#include "cmd/kubexx/gen.h"
#include "cmd/kubexx/logs.h"
#include "cmd/kubexx/port_forward.h"
#include "cmd/kubexx/serve.h"
#include "kube/base/version.h"

int main(int argc, char** argv) {
  CLI::App app("A Kubernetes command line on the kubexx library.", "kubexx");
  app.set_version_flag("--version",
                       fmt::format("kubexx {} ({})", kube::version(), kube::gitCommit()));
  app.require_subcommand(1);
  kube::cmd::addConvert(app);
  kube::cmd::addGen(app);
  kube::cmd::addServe(app);
  int exitCode = 0;
  kube::cmd::addExec(app, exitCode);
  kube::cmd::addAttach(app, exitCode);
  kube::cmd::addPortForward(app);
  kube::cmd::addLogs(app);
  kube::cmd::addCopy(app);
  try {
    app.parse(argc, argv);
    return exitCode;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "kubexx: {}\n", error.what());
    return 1;
  }
}
