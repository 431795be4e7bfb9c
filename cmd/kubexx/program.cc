// From the words of a command line to a command that runs.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>

#include "cmd/kubexx/commands.h"
#include "cmd/kubexx/errors.h"
#include "cmd/kubexx/invocation.h"

namespace kube::cmd {

namespace {

// kubectl's flags take "-o=yaml", too, which CLI11 would read as the value "=yaml".
void normalize(std::vector<std::string>& arguments) {
  for (std::string& word : arguments) {
    if (word == "--") return;
    if (word.size() > 2 && word[0] == '-' && word[1] != '-' && word[2] == '=') word.erase(2, 1);
  }
}

std::string serverOf(Invocation& invocation) {
  try {
    return invocation.config().serverUrl().authority;
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace

void addClusterCommands(CLI::App& app, Invocation& invocation) {
  addClusterFlags(app, invocation.flags);
  addGet(app, invocation);
  addWatch(app, invocation);
  addApply(app, invocation);
  addCreate(app, invocation);
  addDelete(app, invocation);
  addPatch(app, invocation);
  addWait(app, invocation);
  addApiResources(app, invocation);
  addApiVersions(app, invocation);
  addExplain(app, invocation);
  addConfig(app, invocation);
  addWhoAmI(app, invocation);
  addCache(app, invocation);
  addExec(app, invocation);
  addAttach(app, invocation);
  addPortForward(app, invocation);
  addLogs(app, invocation);
  addCopy(app, invocation);
  addCompletion(app, invocation);
}

int runProgram(CLI::App& app, Invocation& invocation, std::vector<std::string> arguments) {
  normalize(arguments);
  std::ranges::reverse(arguments);  // as CLI11 wants them
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    // Help is no error, but comes as one.
    if (error.get_exit_code() == 0) return app.exit(error, invocation.out, invocation.err);
    invocation.err << "error: " << error.what() << "\nSee 'kubexx --help' for usage.\n";
    return 1;
  } catch (const std::exception& error) {
    invocation.out.flush();
    invocation.err << errorText(error, serverOf(invocation)) << '\n';
    return 1;
  }
  invocation.out.flush();
  return invocation.exitCode;
}

}  // namespace kube::cmd
