// From the words of a command line to a command that runs.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>
#include <span>
#include <string_view>

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

struct ClusterCommand {
  std::string_view name;
  void (*add)(CLI::App&, Invocation&);
};

constexpr ClusterCommand kCommands[] = {
    {"get", addGet},
    {"watch", addWatch},
    {"apply", addApply},
    {"create", addCreate},
    {"delete", addDelete},
    {"patch", addPatch},
    {"wait", addWait},
    {"api-resources", addApiResources},
    {"api-versions", addApiVersions},
    {"explain", addExplain},
    {"config", addConfig},
    {"whoami", addWhoAmI},
    {"cache", addCache},
    {"exec", addExec},
    {"attach", addAttach},
    {"port-forward", addPortForward},
    {"logs", addLogs},
    {"cp", addCopy},
    {"completion", addCompletion},
};

// Help and completion tell of all commands.
bool wantsAllCommands(std::span<const std::string> words) {
  return std::ranges::any_of(words, [](const std::string& word) {
    return word == "-h" || word == "--help" || word == "__complete";
  });
}

std::string serverOf(Invocation& invocation) {
  try {
    return invocation.config().serverUrl().authority;
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace

void addClusterCommands(CLI::App& app, Invocation& invocation, std::span<const std::string> words) {
  addClusterFlags(app, invocation.flags);
  const auto asked = [&](const ClusterCommand& command) {
    return std::ranges::find(words, command.name) != words.end();
  };
  const bool all = wantsAllCommands(words) || std::ranges::none_of(kCommands, asked);
  for (const ClusterCommand& command : kCommands) {
    if (all || asked(command)) command.add(app, invocation);
  }
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
