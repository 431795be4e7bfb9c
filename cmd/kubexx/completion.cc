// kubexx completion: prints scripts by which a shell asks `kubexx __complete WORD...` for the
// candidates of the last word.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <ostream>
#include <set>

#include "cmd/kubexx/command.h"
#include "cmd/kubexx/commands.h"
#include "cmd/kubexx/fetch.h"
#include "cmd/kubexx/invocation.h"
#include "cmd/kubexx/resources.h"
#include "kube/client/api_discovery/cached_discovery_client.h"
#include "kube/rest/kubeconfig_files.h"

namespace kube::cmd {

namespace {

constexpr const char* kBash = R"(# bash completion of kubexx: source <(kubexx completion bash)
_kubexx() {
  local IFS=$'\n' words=("${COMP_WORDS[@]:1:COMP_CWORD}")
  COMPREPLY=($(kubexx __complete -- "${words[@]}" 2>/dev/null))
  local i
  for i in "${!COMPREPLY[@]}"; do
    [[ ${COMPREPLY[i]} == */ ]] && compopt -o nospace 2>/dev/null
  done
  [[ ${#COMPREPLY[@]} -eq 0 ]] && compopt -o default 2>/dev/null
}
complete -F _kubexx kubexx
)";

constexpr const char* kZsh = R"(#compdef kubexx
# zsh completion of kubexx: source <(kubexx completion zsh)
_kubexx() {
  local -a found
  found=("${(@f)$(kubexx __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then compadd -a found; else _files; fi
}
# Works sourced, and as a file in $fpath that zsh loads at the first Tab.
if [[ "$funcstack[1]" = "_kubexx" ]]; then _kubexx; else compdef _kubexx kubexx; fi
)";

constexpr const char* kFish = R"(# fish completion of kubexx: kubexx completion fish | source
function __kubexx_complete
  set -l words (commandline -opc) (commandline -ct)
  kubexx __complete -- $words[2..-1] 2>/dev/null
end
complete -c kubexx -f -a '(__kubexx_complete)'
)";

using Words = std::vector<std::string>;

constexpr std::array<std::string_view, 7> kOfResources{"get",  "watch",   "delete", "patch",
                                                       "wait", "explain", "cache"};

class Completer {
 public:
  Completer(const CLI::App& app, Invocation& invocation) : app_(app), invocation_(invocation) {}

  // Completes the last word, which may be empty.
  std::set<std::string> run(Words words) {
    if (words.empty()) words.emplace_back();
    const std::string begun = words.back();
    words.pop_back();
    walk(words);
    if (!pending_.empty()) return starting(valuesOf(pending_), begun);
    if (begun.starts_with('-')) return starting(optionsOf(), begun);
    return starting(argumentsOf(begun), begun);
  }

 private:
  // Finds the command, its arguments, and a flag that still lacks its value.
  void walk(const Words& words) {
    command_ = &app_;
    for (const std::string& word : words) {
      if (!pending_.empty()) {
        remember(pending_, word);
        pending_.clear();
      } else if (word.starts_with('-')) {
        const std::size_t equals = word.find('=');
        if (equals != std::string::npos) {
          remember(word.substr(0, equals), word.substr(equals + 1));
        } else if (takesValue(word)) {
          pending_ = word;
        }
      } else if (const CLI::App* next = commandNamed(word); next != nullptr && arguments_.empty()) {
        command_ = next;
      } else {
        arguments_.push_back(word);
      }
    }
  }

  const CLI::App* commandNamed(const std::string& name) const {
    for (const CLI::App* command : command_->get_subcommands({})) {
      if (command->check_name(name)) return command;
    }
    return nullptr;
  }

  const CLI::Option* optionNamed(const std::string& word) const {
    for (const CLI::App* app : {command_, &app_}) {
      if (const CLI::Option* option = app->get_option_no_throw(word)) return option;
    }
    return nullptr;
  }

  bool takesValue(const std::string& word) const {
    const CLI::Option* option = optionNamed(word);
    return option != nullptr && option->get_items_expected_max() > 0;
  }

  // Keeps the flags on which candidates depend.
  void remember(const std::string& flag, const std::string& value) {
    if (flag == "-n" || flag == "--namespace") invocation_.flags.namespace_ = value;
    if (flag == "--context") invocation_.flags.context = value;
    if (flag == "--kubeconfig") invocation_.flags.kubeconfig = value;
  }

  std::set<std::string> optionsOf() const {
    std::set<std::string> names;
    for (const CLI::App* app : {command_, &app_}) {
      for (const CLI::Option* option : app->get_options()) {
        for (const std::string& name : option->get_lnames()) names.insert("--" + name);
        for (const std::string& name : option->get_snames()) names.insert("-" + name);
      }
    }
    return names;
  }

  std::set<std::string> valuesOf(const std::string& flag) {
    if (flag == "-n" || flag == "--namespace") return namesOf("namespaces", "");
    if (flag == "--context") return contexts();
    if (flag == "-o" || flag == "--output") {
      return {"wide", "yaml", "json", "name", "jsonpath=", "custom-columns="};
    }
    return {};
  }

  std::set<std::string> argumentsOf(const std::string& begun) {
    std::set<std::string> found;
    if (arguments_.empty()) {
      for (const CLI::App* sub : command_->get_subcommands({})) {
        if (!sub->get_group().empty()) found.insert(sub->get_name());
      }
    }
    const std::string& name = command_->get_name();
    if (name == "use-context" || name == "set-context") return contexts();
    if (name == "completion") return {"bash", "fish", "zsh"};
    if (std::ranges::find(kOfResources, name) == kOfResources.end()) return found;
    if (const std::size_t slash = begun.find('/'); slash != std::string::npos) {
      const std::string type = begun.substr(0, slash);
      return namesOf(type, type + "/");
    }
    return arguments_.empty() ? types() : namesOf(arguments_[0], "");
  }

  std::set<std::string> types() const {
    std::set<std::string> names;
    const ServerResources served = invocation_.resources().discovery().serverPreferredResources();
    for (const metav1::APIResourceList& list : served.resources) {
      for (const metav1::APIResource& resource : list.resources) names.insert(resource.name.str());
    }
    return names;
  }

  std::set<std::string> namesOf(const std::string& type, const std::string& prefix) {
    std::set<std::string> names;
    std::vector<Unstructured> objects;
    Fetch(invocation_.rest(), invocation_.resources().find(type),
          {.namespace_ = invocation_.namespaceName().str()})
        .objects(objects);
    for (const Unstructured& object : objects) names.insert(prefix + object.name().str());
    return names;
  }

  std::set<std::string> contexts() const {
    std::set<std::string> names;
    for (const auto& [name, context] :
         KubeconfigFiles(invocation_.flags.kubeconfig).load().contexts) {
      names.insert(name.str());
    }
    return names;
  }

  static std::set<std::string> starting(std::set<std::string> all, const std::string& begun) {
    std::erase_if(all, [&](const std::string& word) { return !word.starts_with(begun); });
    return all;
  }

  const CLI::App& app_;
  Invocation& invocation_;
  const CLI::App* command_ = nullptr;
  Words arguments_;
  std::string pending_;
};

void printScript(Invocation& invocation, const Words& shells) {
  if (shells.size() == 1 && shells[0] == "bash") {
    invocation.out << kBash;
  } else if (shells.size() == 1 && shells[0] == "zsh") {
    invocation.out << kZsh;
  } else if (shells.size() == 1 && shells[0] == "fish") {
    invocation.out << kFish;
  } else {
    throw UsageError("expected bash, zsh or fish, as in: source <(kubexx completion bash)");
  }
}

}  // namespace

void addCompletion(CLI::App& app, Invocation& invocation) {
  const auto shells = std::make_shared<Words>();
  Command(app, "completion", "Print a script that completes kubexx's commands in a shell")
      .arguments("shell", *shells, "bash, zsh or fish")
      .run([&invocation, shells] { printScript(invocation, *shells); });

  const auto words = std::make_shared<Words>();
  Command hidden(app, "__complete", "Print the candidates for the last word");
  hidden.arguments("words", *words, "The words so far").run([&app, &invocation, words] {
    // After Tab, a user expects a quick answer and no errors.
    invocation.flags.requestTimeout = "2s";
    try {
      for (const std::string& word : Completer(app, invocation).run(*words)) {
        invocation.out << word << '\n';
      }
    } catch (const Error&) {
    }
  });
  hidden.app().group("");
}

}  // namespace kube::cmd
