// kubexx apply and create: sends manifests to a server.
#include <fmt/core.h>

#include <memory>
#include <ostream>

#include "cmd/kubexx/command.h"
#include "cmd/kubexx/commands.h"
#include "cmd/kubexx/create_kinds.h"
#include "cmd/kubexx/dry_run.h"
#include "cmd/kubexx/errors.h"
#include "cmd/kubexx/invocation.h"
#include "cmd/kubexx/manifest_files.h"
#include "cmd/kubexx/object_printer.h"
#include "cmd/kubexx/resources.h"
#include "cmd/kubexx/terminal_text.h"
#include "cmd/kubexx/text_diff.h"
#include "kube/client/manifest.h"
#include "kube/codec/yaml.h"
#include "kube/meta/api_error.h"

namespace kube::cmd {

namespace {

constexpr std::size_t kMany = 10;  // with more objects, lines are numbered on a terminal

struct ManifestCommand {
  std::vector<std::string> files = {};
  bool recursive = false;
  std::string dryRun = {};
  bool diff = false;
  bool serverSide = true;
  bool forceConflicts = false;
  std::string fieldManager = "kubexx";
  std::string validate = {};
  std::string output = {};
  bool create = false;
  CreatedKind kind = {};
};

std::string validationOf(const std::string& flag) {
  if (flag.empty()) return {};
  if (flag == "true" || flag == "strict") return "Strict";
  if (flag == "warn") return "Warn";
  if (flag == "false" || flag == "ignore") return "Ignore";
  throw UsageError(fmt::format(
      "invalid value \"{}\" for --validate: expected strict, warn, ignore, true or false", flag));
}

class Sender {
 public:
  Sender(Invocation& invocation, const ManifestCommand& command)
      : invocation_(invocation),
        command_(command),
        dryRun_(parseDryRun(command.dryRun)),
        printer_(ObjectPrinter::of(command.output)),
        client_(invocation.rest()),
        errors_(invocation.err, invocation.config().serverUrl().authority) {}

  void run() {
    const std::vector<ManifestFile> files = manifests();
    for (const ManifestFile& file : files) total_ += countObjects(file.text);
    if (total_ == 0) throw UsageError("no objects passed to " + std::string(verb()));
    for (const ManifestFile& file : files) {
      if (dryRun_ == DryRun::Client) {
        readOnly(file);
        continue;
      }
      if (command_.diff) send(file, true, [this](const ManifestResult& r) { showDiff(r); });
      if (command_.diff && dryRun_ == DryRun::Server) continue;
      send(file, dryRun_ == DryRun::Server, [&](const ManifestResult& r) { tell(file, r); });
    }
    if (errors_.any()) invocation_.exitCode = 1;
  }

 private:
  std::string_view verb() const { return command_.create ? "create" : "apply"; }

  std::vector<ManifestFile> manifests() const {
    if (!command_.create || !command_.files.empty()) {
      return readManifests(invocation_, command_.files, command_.recursive);
    }
    return {{"", manifestOf(command_.kind)}};
  }

  template <class Tell>
  void send(const ManifestFile& file, bool dryRun, Tell tell) {
    ManifestOptions options{.namespace_ = invocation_.namespaceName(),
                            .dryRun = dryRun,
                            .fieldManager = command_.fieldManager,
                            .fieldValidation = validationOf(command_.validate),
                            .force = command_.forceConflicts,
                            .continueOnError = true,
                            .progress = tell};
    const RestMapper& mapper = invocation_.resources().mapper();
    const ManifestReport report =
        command_.create ? createFromYaml(client_, mapper, file.text, options, invocation_.stop())
                        : applyFromYaml(client_, mapper, file.text, options, invocation_.stop());
    (void)report;  // `tell` has printed all of it
  }

  // A client's dry run: prints the objects without sending them.
  void readOnly(const ManifestFile& file) {
    for (const YamlDocument& document : splitYaml(file.text, {.expandLists = true})) {
      Unstructured object(document.value());
      const RestMapping mapping = invocation_.resources().mapper().restMapping(
          object.gvk().groupKind(), {object.gvk().version.view()});
      if (object.namespace_().empty() && mapping.scope == RestScope::Namespace) {
        object.setNamespace(invocation_.namespaceName());
      }
      if (printer_ != nullptr) {
        printer_->print(object.object, invocation_.out);
      } else {
        invocation_.out << fmt::format("{} {}{}\n", objectName(mapping, object.name()),
                                       command_.create ? "created" : "applied", suffixOf(dryRun_));
      }
    }
  }

  void showDiff(const ManifestResult& result) {
    if (result.outcome == ManifestOutcome::Failed || result.object.object.isNull()) return;
    const auto before =
        client_.resource(result.mapping).inNamespace(result.namespace_).find(result.name);
    const std::string name = objectName(result.mapping, result.name);
    const std::string diff =
        unifiedDiff(before ? shown(*before) : std::string(), shown(result.object), name + " (live)",
                    name + " (applied)", invocation_.colours());
    if (invocation_.colours()) {
      invocation_.out << OwnText{diff};
    } else {
      invocation_.out << diff;
    }
  }

  // The object as YAML, without the fields that the server changes each time.
  static std::string shown(Unstructured object) {
    object.removeNestedField("metadata", "managedFields");
    object.removeNestedField("metadata", "resourceVersion");
    object.removeNestedField("metadata", "generation");
    object.removeNestedField("metadata", "uid");
    object.removeNestedField("metadata", "creationTimestamp");
    return toYaml(object.object);
  }

  void tell(const ManifestFile& file, const ManifestResult& result) {
    ++done_;
    if (result.outcome == ManifestOutcome::Failed) return fail(file, result);
    if (command_.create && result.outcome == ManifestOutcome::AlreadyExists) {
      addError(file, status::alreadyExists(result.mapping.gvr.groupResource(), result.name));
      return;
    }
    if (printer_ != nullptr && !result.object.object.isNull()) {
      printer_->print(result.object.object, invocation_.out);
      return;
    }
    if (invocation_.terminal && total_ > kMany) {
      invocation_.out << fmt::format("[{}/{}] ", done_, total_);
    }
    invocation_.out << toString(result) << '\n' << std::flush;
  }

  void fail(const ManifestFile& file, const ManifestResult& result) {
    try {
      std::rethrow_exception(result.error);
    } catch (const ApiError& error) {
      if (isInvalid(error)) return errors_.add(error);
      addError(file, error.status());
    } catch (const std::exception& error) {
      errors_.add(error);
    }
  }

  // Adds the file's path to the error, as kubectl does.
  void addError(const ManifestFile& file, metav1::Status status) {
    if (!file.path.empty()) {
      status.message =
          fmt::format("error when {} \"{}\": {}", command_.create ? "creating" : "applying",
                      file.path, status.message);
    }
    errors_.add(ApiError(std::move(status)));
  }

  Invocation& invocation_;
  const ManifestCommand& command_;
  const DryRun dryRun_;
  const std::unique_ptr<ObjectPrinter> printer_;
  const DynamicClient client_;
  SeveralErrors errors_;
  std::size_t total_ = 0, done_ = 0;
};

// Adds the flags of both commands.
Command& addManifestFlags(Command& command, ManifestCommand& options) {
  return command.option("-f,--filename", options.files, "Files, folders, or - for standard input")
      .flag("-R,--recursive", options.recursive, "Read folders with their subfolders")
      .flag("--dry-run", options.dryRun,
            "server (or no value): validate without persisting; client: do not send the objects")
      .option("--field-manager", options.fieldManager, "The name of the fields' manager")
      .flag("--validate", options.validate, "Unknown fields: strict (refuse), warn or ignore")
      .option("-o,--output", options.output, "The format of the objects: yaml, json, name, ...");
}

}  // namespace

void addApply(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<ManifestCommand>();
  Command command(app, "apply", "Apply manifests to the server (server-side)");
  addManifestFlags(command, *options)
      .flag("--diff", options->diff, "Show the changes before applying them")
      .flag("--server-side", options->serverSide, "Has no effect: apply is always server-side")
      .flag("--force-conflicts", options->forceConflicts, "Take over fields of other managers")
      .run([&invocation, options] { Sender(invocation, *options).run(); });
}

void addCreate(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<ManifestCommand>();
  options->create = true;
  options->fieldManager = "kubexx-create";
  Command command(app, "create", "Create the objects of manifests, or a simple object by name");
  command
      .arguments("kind", options->kind.words,
                 "namespace, configmap, serviceaccount or secret generic, and a NAME")
      .option("--from-literal", options->kind.literals,
              "KEY=VALUE: an entry of the configmap or secret")
      .option("--from-file", options->kind.files,
              "[KEY=]PATH: a file's content as an entry of the configmap or secret");
  addManifestFlags(command, *options).run([&invocation, options] {
    Sender(invocation, *options).run();
  });
}

}  // namespace kube::cmd
