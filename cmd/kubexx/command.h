// A command and its flags, as every file of commands declares them.
//
//   const auto options = std::make_shared<Options>();
//   Command command(app, "delete", "Delete resources");
//   command.arguments("resource", options->resources, "TYPE NAME..., TYPE/NAME...")
//       .option("-l,--selector", options->selector, "of objects with these labels")
//       .flag("--wait", options->wait, "until they are gone")
//       .run([options] { ... });
//
// CLI11 does the work. It takes seconds to compile, so files that need no more of it than this do
// not include it.
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
  /// A new command of `parent`.
  Command(CLI::App& parent, const std::string& name, const std::string& description);
  /// Flags for an existing one.
  explicit Command(CLI::App& command) : command_(&command) {}

  /// One word that is no flag.
  Command& argument(const std::string& name, std::string& word, const std::string& help);
  /// All others that are none.
  Command& arguments(const std::string& name, std::vector<std::string>& words,
                     const std::string& help);
  Command& option(const std::string& names, std::string& value, const std::string& help);
  Command& option(const std::string& names, std::int64_t& value, const std::string& help);
  Command& option(const std::string& names, std::optional<std::int64_t>& value,
                  const std::string& help);
  /// May be given several times, with one value each.
  Command& option(const std::string& names, std::vector<std::string>& values,
                  const std::string& help);
  /// The same, with commas between several.
  Command& list(const std::string& names, std::vector<std::string>& values,
                const std::string& help);
  /// `--flag`, or `--flag=false`.
  Command& flag(const std::string& names, bool& value, const std::string& help);
  /// `--flag`, which is "true", or `--flag=word`.
  Command& flag(const std::string& names, std::string& value, const std::string& help);
  /// The argument or option before this has to be given.
  Command& required();
  /// One of its own commands has to be named.
  Command& requireCommand();
  Command& alias(const std::string& name);
  Command& run(std::function<void()> action);

  CLI::App& app() const noexcept { return *command_; }

 private:
  CLI::App* command_;
  CLI::Option* last_ = nullptr;
};

}  // namespace kube::cmd
