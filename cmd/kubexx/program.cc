// Parses a command line, and runs the command that it names.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>
#include <span>
#include <string_view>

#include "cmd/kubexx/commands.h"
#include "cmd/kubexx/errors.h"
#include "cmd/kubexx/invocation.h"
#include "cmd/kubexx/suggestion.h"
#include "kube/base/joined.h"

namespace kube::cmd {

namespace {

// Rewrites "-o=yaml", which kubectl accepts and CLI11 would read as the value "=yaml".
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

// Help and completion list all commands.
bool wantsAllCommands(std::span<const std::string> words) {
  return std::ranges::any_of(words, [](const std::string& word) {
    return word == "-h" || word == "--help" || word == "__complete";
  });
}

// The innermost command that the parser has found.
const CLI::App& reached(const CLI::App& app) {
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  return *at;
}

// The first word that the parser has not understood: a flag, or a word in the place of a command.
// Empty if there is none.
std::string unknownWord(const CLI::App& app, const CLI::App& at,
                        std::span<const std::string> arguments) {
  const std::vector<std::string> left = app.remaining(true);
  bool within = false;  // after a command: words that are no flags are its arguments
  for (const std::string& word : arguments) {
    if (word == "--") return {};
    if (at.get_require_subcommand_min() == 0 && at.check_name(word)) within = true;
    if (within && !word.starts_with('-')) continue;
    if (std::ranges::find(left, word) != left.end()) return word;
  }
  return {};
}

// The error for an unknown flag. It leaves out the flag's value, which may be a secret.
std::string unknownFlag(const CLI::App& app, const CLI::App& at, const std::string& word) {
  const bool longFlag = word.starts_with("--");
  const std::string flag = longFlag ? word.substr(0, word.find('=')) : word.substr(0, 2);
  std::vector<std::string> known;
  for (const CLI::App* each : {&at, &app}) {
    for (const CLI::Option* option : each->get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
  }
  const std::string near = longFlag ? nearest(flag, known) : std::string();
  return near.empty() ? "unknown flag: " + flag
                      : fmt::format("unknown flag: {}; did you mean {}?", flag, near);
}

std::vector<std::string> commandsOf(const CLI::App& app, bool top) {
  std::vector<std::string> names;
  if (top) {
    for (const ClusterCommand& command : kCommands) names.emplace_back(command.name);
  }
  for (const CLI::App* command : app.get_subcommands({})) {
    const bool hidden = command->get_group().empty();
    const std::string& name = command->get_name();
    if (!hidden && std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

// The error of a command line that names no command; empty if it names one.
std::string commandProblem(const CLI::App& app, std::span<const std::string> arguments) {
  const CLI::App& at = reached(app);
  const std::string word = unknownWord(app, at, arguments);
  if (word.starts_with('-')) return unknownFlag(app, at, word);
  // "auth can-i get pods" contains a command, but does not begin with one.
  const bool top = at.get_require_subcommand_min() == 0 || &at == &app;
  if (word.empty()) {
    if (at.get_require_subcommand_min() == 0) return {};
    const std::vector<std::string> known = commandsOf(at, top);
    return fmt::format("{}a command is missing; there are: {}", top ? "" : at.get_name() + ": ",
                       joined(known, ", "));
  }
  const std::string own = top ? "" : fmt::format(" of {}", at.get_name());
  const std::vector<std::string> known = commandsOf(top ? app : at, top);
  if (const std::string near = nearest(word, known); !near.empty()) {
    return fmt::format("unknown command \"{}\"{}; did you mean \"{}\"?", word, own, near);
  }
  return fmt::format("unknown command \"{}\"{}; there are: {}", word, own, joined(known, ", "));
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
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // as CLI11 wants it
  } catch (const CLI::ParseError& error) {
    // CLI11 throws for help and version, too.
    if (error.get_exit_code() == 0) return app.exit(error, invocation.out, invocation.err);
    const bool word = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr ||
                      dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
    const std::string problem = word ? commandProblem(app, arguments) : std::string();
    invocation.err << "error: " << (problem.empty() ? error.what() : problem)
                   << "\nSee 'kubexx --help' for usage.\n";
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
