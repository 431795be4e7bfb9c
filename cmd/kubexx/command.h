// A command of the program, with its arguments and flags.
//
//   const auto options = std::make_shared<Options>();
//   Command command(app, "delete", "Delete resources");
//   command.arguments("resource", options->resources, "TYPE NAME..., TYPE/NAME...")
//       .option("-l,--selector", options->selector, "Only objects with these labels")
//       .flag("--wait", options->wait, "Wait until the objects are gone")
//       .run([options] { ... });
//
// A thin layer over CLI11. CLI11's header takes seconds to compile, so files for which this class
// is enough do not include it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace kube::cmd {

class Command {
 public:
  /// Adds a command to `parent`.
  Command(CLI::App& parent, const std::string& name, const std::string& description);
  /// Adds flags to an existing command.
  explicit Command(CLI::App& command) : command_(&command) {}

  /// Takes one word that is not a flag.
  Command& argument(const std::string& name, std::string& word, const std::string& help);
  /// Takes all other words that are not flags.
  Command& arguments(const std::string& name, std::vector<std::string>& words,
                     const std::string& help);
  Command& option(const std::string& names, std::string& value, const std::string& help);
  Command& option(const std::string& names, std::int64_t& value, const std::string& help);
  Command& option(const std::string& names, std::optional<std::int64_t>& value,
                  const std::string& help);
  /// May be given several times, with one value each.
  Command& option(const std::string& names, std::vector<std::string>& values,
                  const std::string& help);
  /// Takes several values, separated by commas.
  Command& list(const std::string& names, std::vector<std::string>& values,
                const std::string& help);
  /// `--flag`, or `--flag=false`.
  Command& flag(const std::string& names, bool& value, const std::string& help);
  /// `--flag`, which means "true", or `--flag=word`.
  Command& flag(const std::string& names, std::string& value, const std::string& help);
  /// Makes the argument or option that was added last mandatory.
  Command& required();
  /// Makes one of the command's own commands mandatory.
  Command& requireCommand();
  Command& alias(const std::string& name);
  Command& run(std::function<void()> action);

  CLI::App& app() const noexcept { return *command_; }

 private:
  CLI::App* command_;
  CLI::Option* last_ = nullptr;
};

}  // namespace kube::cmd
