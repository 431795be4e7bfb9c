// kubexx config: shows and changes the kubeconfig files of a user.
#include <fmt/core.h>

#include <memory>
#include <ostream>

#include "cmd/kubexx/command.h"
#include "cmd/kubexx/commands.h"
#include "cmd/kubexx/invocation.h"
#include "cmd/kubexx/object_printer.h"
#include "cmd/kubexx/table_layout.h"
#include "cmd/kubexx/terminal_text.h"
#include "kube/codec/yaml.h"
#include "kube/rest/kubeconfig_files.h"

namespace kube::cmd {

namespace {

struct ViewOptions {
  bool minify = false, flatten = false, raw = false;
  std::string output = "yaml";
};

void view(Invocation& invocation, const ViewOptions& options) {
  Kubeconfig kubeconfig = KubeconfigFiles(invocation.flags.kubeconfig).load();
  if (options.minify) {
    if (!invocation.flags.context.empty()) kubeconfig.currentContext = invocation.flags.context;
    kubeconfig.minify();
  }
  if (options.flatten) kubeconfig.flatten();
  // A flattened kubeconfig is meant for use: it keeps certificates and loses only secrets.
  if (!options.raw) kubeconfig = options.flatten ? kubeconfig.redacted() : kubeconfig.shortened();
  if (options.output == "yaml") {
    invocation.out << kubeconfig.toYaml();
    return;
  }
  ObjectPrinter::of(options.output)->print(parseYaml(kubeconfig.toYaml()), invocation.out);
}

struct ContextsOptions {
  std::vector<std::string> names = {};
  std::string output = {};
  bool noHeaders = false;
};

void getContexts(Invocation& invocation, const ContextsOptions& options) {
  const Kubeconfig kubeconfig = KubeconfigFiles(invocation.flags.kubeconfig).load();
  TableLayout layout(invocation.colours());
  if (options.output.empty() && !options.noHeaders) {
    layout.row({{"CURRENT", Style::Header},
                {"NAME", Style::Header},
                {"CLUSTER", Style::Header},
                {"AUTHINFO", Style::Header},
                {"NAMESPACE", Style::Header}});
  }
  const auto show = [&](const String& name, const Kubeconfig::Context& context) {
    if (options.output == "name") {
      invocation.out << name << '\n';
      return;
    }
    layout.row({{name == kubeconfig.currentContext ? "*" : ""},
                {name.str(), name == kubeconfig.currentContext ? Style::Good : Style::Plain},
                {context.cluster.str()},
                {context.user.str()},
                {context.namespace_.str()}});
  };
  for (const std::string& name : options.names) {
    const auto found = kubeconfig.contexts.find(name);
    if (found == kubeconfig.contexts.end()) {
      invocation.err << fmt::format("error: context {} not found\n", name);
      invocation.exitCode = 1;
      continue;
    }
    show(found->key, found->value);
  }
  if (options.names.empty()) {
    for (const auto& [name, context] : kubeconfig.contexts) show(name, context);
  }
  invocation.out << OwnText{layout.flush()};
}

void useContext(Invocation& invocation, const std::vector<std::string>& names) {
  if (names.size() != 1) throw UsageError("expected the name of one context");
  const KubeconfigFiles files(invocation.flags.kubeconfig);
  if (const Kubeconfig kubeconfig = files.load();
      kubeconfig.contexts.find(names[0]) == kubeconfig.contexts.end()) {
    throw UsageError(fmt::format("no context exists with the name: \"{}\"", names[0]));
  }
  files.setCurrentContext(names[0]);
  invocation.out << fmt::format("Switched to context \"{}\".\n", names[0]);
}

void currentContext(Invocation& invocation) {
  const Kubeconfig kubeconfig = KubeconfigFiles(invocation.flags.kubeconfig).load();
  if (kubeconfig.currentContext.empty()) throw UsageError("current-context is not set");
  invocation.out << kubeconfig.currentContext << '\n';
}

struct SetContextOptions {
  std::vector<std::string> names = {};
  bool current = false;
};

// Sets the values of the flags that every command has.
void setContext(Invocation& invocation, const SetContextOptions& options) {
  if (options.names.size() + (options.current ? 1 : 0) != 1) {
    throw UsageError("expected the name of one context, or --current");
  }
  std::string name;
  bool isNew = false;
  KubeconfigFiles(invocation.flags.kubeconfig).modify([&](Kubeconfig& kubeconfig) {
    name = options.current ? kubeconfig.currentContext.str() : options.names[0];
    if (name.empty()) throw UsageError("no current context is set");
    isNew = kubeconfig.contexts.find(name) == kubeconfig.contexts.end();
    Kubeconfig::Context& context = kubeconfig.contexts.write(name);
    const ClusterFlags& flags = invocation.flags;
    if (!flags.namespace_.empty()) context.namespace_ = flags.namespace_;
    if (!flags.cluster.empty()) context.cluster = flags.cluster;
    if (!flags.user.empty()) context.user = flags.user;
  });
  invocation.out << fmt::format("Context \"{}\" {}.\n", name, isNew ? "created" : "modified");
}

}  // namespace

void addConfig(CLI::App& app, Invocation& invocation) {
  Command config(app, "config", "Show and change kubeconfig files");
  config.requireCommand();

  const auto viewed = std::make_shared<ViewOptions>();
  Command(config.app(), "view", "Show the merged kubeconfig, without secrets")
      .flag("--minify", viewed->minify, "Show only the current context")
      .flag("--flatten", viewed->flatten, "Include the contents of referenced files")
      .flag("--raw", viewed->raw, "Show secrets")
      .option("-o,--output", viewed->output, "yaml, json, jsonpath=...")
      .run([&invocation, viewed] { view(invocation, *viewed); });

  const auto contexts = std::make_shared<ContextsOptions>();
  Command(config.app(), "get-contexts", "List contexts")
      .arguments("name", contexts->names, "Show only these contexts")
      .option("-o,--output", contexts->output, "name: print only names")
      .flag("--no-headers", contexts->noHeaders, "Leave out the headers")
      .run([&invocation, contexts] { getContexts(invocation, *contexts); });

  const auto used = std::make_shared<std::vector<std::string>>();
  Command(config.app(), "use-context", "Make a context the current one")
      .arguments("name", *used, "The context")
      .run([&invocation, used] { useContext(invocation, *used); });

  Command(config.app(), "current-context", "Show the current context").run([&invocation] {
    currentContext(invocation);
  });

  const auto set = std::make_shared<SetContextOptions>();
  Command(config.app(), "set-context", "Set --namespace, --cluster or --user of a context")
      .arguments("name", set->names, "The context")
      .flag("--current", set->current, "Change the current context")
      .run([&invocation, set] { setContext(invocation, *set); });
}

}  // namespace kube::cmd
