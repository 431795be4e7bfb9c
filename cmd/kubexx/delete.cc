// kubexx delete: removes objects, and waits until they are gone.
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>

#include "cmd/kubexx/command.h"
#include "cmd/kubexx/commands.h"
#include "cmd/kubexx/dry_run.h"
#include "cmd/kubexx/errors.h"
#include "cmd/kubexx/fetch.h"
#include "cmd/kubexx/invocation.h"
#include "cmd/kubexx/manifest_files.h"
#include "cmd/kubexx/resources.h"
#include "kube/client/dynamic_client.h"
#include "kube/client/wait.h"
#include "kube/meta/api_error.h"

namespace kube::cmd {

namespace {

struct DeleteCommand {
  std::vector<std::string> words = {};
  std::vector<std::string> files = {};
  bool recursive = false;
  std::string selector = {}, fieldSelector = {};
  bool all = false, allNamespaces = false;
  bool ignoreNotFound = false;
  bool wait = true;
  std::string timeout = "0";
  std::string cascade = "background";
  std::int64_t gracePeriod = -1;
  bool force = false, now = false;
  std::string dryRun = {};
  std::string output = {};
};

String propagationOf(const std::string& cascade) {
  if (cascade == "background" || cascade == "true") return "Background";
  if (cascade == "foreground") return "Foreground";
  if (cascade == "orphan" || cascade == "false") return "Orphan";
  throw UsageError(fmt::format(
      "invalid cascade value ({}). Must be \"background\", \"foreground\", or \"orphan\"",
      cascade));
}

class Remover {
 public:
  Remover(Invocation& invocation, const DeleteCommand& command)
      : invocation_(invocation),
        command_(command),
        dryRun_(parseDryRun(command.dryRun)),
        client_(invocation.rest()),
        errors_(invocation.err, invocation.config().serverUrl().authority) {
    how_.propagationPolicy.emplace(propagationOf(command.cascade));
    if (dryRun_ != DryRun::None) how_.dryRun = {"All"};
    if (command.gracePeriod >= 0) how_.gracePeriodSeconds = command.gracePeriod;
    if (command.now) how_.gracePeriodSeconds = 1;
    if (command.force) how_.gracePeriodSeconds = 0;
  }

  void run() {
    std::vector<Target> targets =
        command_.files.empty() ? parseTargets(invocation_.resources(), command_.words)
                               : targetsOfFiles(invocation_, command_.files, command_.recursive);
    if (!command_.files.empty()) std::ranges::reverse(targets);
    if (command_.force) {
      invocation_.err << "Warning: Immediate deletion does not wait for confirmation that the "
                         "running resource has been terminated. The resource may continue to run "
                         "on the cluster indefinitely.\n";
    }
    for (const Target& target : targets) removeAll(target);
    if (gone_.empty() && !errors_.any() && !missing_ && !command_.ignoreNotFound) {
      invocation_.err << "No resources found\n";
    }
    if (command_.wait && dryRun_ == DryRun::None) await();
    if (errors_.any()) invocation_.exitCode = 1;
  }

 private:
  struct Removed {
    RestMapping mapping;
    std::string namespace_, name;
    String uid;
  };

  ResourceClient<Unstructured> clientOf(const RestMapping& mapping,
                                        const std::string& space) const {
    return client_.resource(mapping).inNamespace(space);
  }

  void removeAll(const Target& target) {
    const std::string space = namespaceOf(target, invocation_.namespaceName()).str();
    if (!target.names.empty()) {
      for (const std::string& name : target.names) remove(target.mapping, space, name);
      return;
    }
    if (!command_.all && command_.selector.empty() && command_.fieldSelector.empty()) {
      throw UsageError("resource(s) were provided, but no name was specified");
    }
    std::vector<Unstructured> objects;
    Fetch(invocation_.rest(), target.mapping,
          {.namespace_ = command_.allNamespaces ? std::string() : space,
           .labels = command_.selector,
           .fields = command_.fieldSelector})
        .objects(objects);
    for (const Unstructured& object : objects) {
      remove(target.mapping, object.namespace_().str(), object.name().str());
    }
  }

  void remove(const RestMapping& mapping, const std::string& space, const std::string& name) {
    const auto objects = clientOf(mapping, space);
    try {
      // The UID of the object to wait for: a new object may get the same name.
      String uid;
      if (command_.wait && dryRun_ == DryRun::None) uid = objects.get(name).uid();
      if (dryRun_ != DryRun::Client) objects.remove(name, how_);
      gone_.push_back({mapping, space, name, uid});
    } catch (const ApiError& error) {
      if (isNotFound(error) && command_.ignoreNotFound) {
        missing_ = true;
        return;
      }
      errors_.add(error);
      return;
    }
    if (command_.output == "name") {
      invocation_.out << objectName(mapping, name) << '\n';
      return;
    }
    const std::string full = objectName(mapping, name);
    const std::string kind = full.substr(0, full.rfind('/'));
    invocation_.out << fmt::format("{} \"{}\" {}deleted{}\n", kind, name,
                                   command_.force ? "force " : "", suffixOf(dryRun_))
                    << std::flush;
  }

  void await() {
    const auto timeout = parseTimeout("--timeout", command_.timeout);
    for (const Removed& removed : gone_) {
      try {
        waitFor<Unstructured>(
            clientOf(removed.mapping, removed.namespace_), removed.name,
            [&](const Unstructured* now) { return now == nullptr || now->uid() != removed.uid; },
            timeout, invocation_.stop());
      } catch (const TimeoutError&) {
        errors_.add(Error(fmt::format("timed out waiting for the condition on {}/{}",
                                      removed.mapping.gvr.resource, removed.name)));
      } catch (const ApiError& error) {
        // Permission to delete does not imply permission to watch.
        if (!isForbidden(error) && !isMethodNotSupported(error)) throw;
      }
    }
  }

  Invocation& invocation_;
  const DeleteCommand& command_;
  const DryRun dryRun_;
  const DynamicClient client_;
  SeveralErrors errors_;
  metav1::DeleteOptions how_;
  bool missing_ = false;
  std::vector<Removed> gone_;
};

}  // namespace

void addDelete(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<DeleteCommand>();
  Command(app, "delete", "Delete objects, and wait until they are gone")
      .arguments("resource", options->words, "TYPE NAME..., TYPE/NAME..., or TYPE with -l or --all")
      .option("-f,--filename", options->files, "Files, folders, or - for standard input")
      .flag("-R,--recursive", options->recursive, "Read folders with their subfolders")
      .option("-l,--selector", options->selector, "A label selector")
      .option("--field-selector", options->fieldSelector, "A field selector")
      .flag("--all", options->all, "All objects of the type in the namespace")
      .flag("-A,--all-namespaces", options->allNamespaces, "Select objects in all namespaces")
      .flag("--ignore-not-found", options->ignoreNotFound, "Ignore objects that do not exist")
      .flag("--wait", options->wait, "Wait until the objects are gone (--wait=false: do not wait)")
      .option("--timeout", options->timeout, "The longest wait; 0 for no limit")
      .flag("--cascade", options->cascade, "Dependents: background, foreground or orphan")
      .option("--grace-period", options->gracePeriod,
              "The grace period in seconds; -1 for the object's own")
      .flag("--force", options->force, "Delete at once, without waiting for the processes to end")
      .flag("--now", options->now, "Set the grace period to one second")
      .flag("--dry-run", options->dryRun,
            "server (or no value): validate without deleting; client: send no deletion")
      .option("-o,--output", options->output, "name: print only names")
      .run([&invocation, options] { Remover(invocation, *options).run(); });
}

}  // namespace kube::cmd
