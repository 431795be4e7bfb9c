#include "cmd/kubexx/command.h"

#include <CLI/CLI.hpp>
#include <utility>

namespace kube::cmd {

Command::Command(CLI::App& parent, const std::string& name, const std::string& description)
    : command_(parent.add_subcommand(name, description)) {
  // Passes flags that the command does not have to the program, such as --namespace.
  command_->fallthrough();
}

Command& Command::argument(const std::string& name, std::string& word, const std::string& help) {
  last_ = command_->add_option(name, word, help);
  return *this;
}

Command& Command::arguments(const std::string& name, std::vector<std::string>& words,
                            const std::string& help) {
  last_ = command_->add_option(name, words, help);
  return *this;
}

Command& Command::option(const std::string& names, std::string& value, const std::string& help) {
  last_ = command_->add_option(names, value, help);
  last_->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  return *this;
}

Command& Command::option(const std::string& names, std::int64_t& value, const std::string& help) {
  last_ = command_->add_option(names, value, help);
  last_->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  return *this;
}

Command& Command::option(const std::string& names, std::optional<std::int64_t>& value,
                         const std::string& help) {
  last_ = command_->add_option(names, value, help);
  last_->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  return *this;
}

Command& Command::option(const std::string& names, std::vector<std::string>& values,
                         const std::string& help) {
  last_ = command_->add_option(names, values, help)->allow_extra_args(false);
  return *this;
}

Command& Command::list(const std::string& names, std::vector<std::string>& values,
                       const std::string& help) {
  option(names, values, help);
  last_->delimiter(',');
  return *this;
}

Command& Command::flag(const std::string& names, bool& value, const std::string& help) {
  last_ = command_->add_flag(names, value, help);
  last_->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  return *this;
}

Command& Command::flag(const std::string& names, std::string& value, const std::string& help) {
  last_ = command_->add_flag(names, value, help);
  last_->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  return *this;
}

Command& Command::required() {
  last_->required();
  return *this;
}

Command& Command::requireCommand() {
  command_->require_subcommand(1);
  return *this;
}

Command& Command::alias(const std::string& name) {
  command_->alias(name);
  return *this;
}

Command& Command::run(std::function<void()> action) {
  command_->callback(std::move(action));
  return *this;
}

}  // namespace kube::cmd
