// kubexx patch: changes some fields of objects.
#include <fmt/core.h>

#include <memory>
#include <ostream>

#include "cmd/kubexx/command.h"
#include "cmd/kubexx/commands.h"
#include "cmd/kubexx/dry_run.h"
#include "cmd/kubexx/errors.h"
#include "cmd/kubexx/input.h"
#include "cmd/kubexx/invocation.h"
#include "cmd/kubexx/manifest_files.h"
#include "cmd/kubexx/object_printer.h"
#include "cmd/kubexx/resources.h"
#include "kube/client/dynamic_client.h"
#include "kube/codec/json.h"
#include "kube/codec/yaml.h"
#include "kube/meta/api_error.h"

namespace kube::cmd {

namespace {

struct PatchCommand {
  std::vector<std::string> words = {};
  std::vector<std::string> files = {};
  std::string type = "strategic";
  std::string patch = {}, patchFile = {};
  std::string subresource = {};
  std::string dryRun = {};
  std::string fieldManager = "kubexx-patch";
  std::string output = {};
};

PatchType typeOf(const std::string& name) {
  if (name == "strategic") return PatchType::StrategicMerge;
  if (name == "merge") return PatchType::Merge;
  if (name == "json") return PatchType::Json;
  throw UsageError(fmt::format("--type must be one of [json merge strategic], not \"{}\"", name));
}

void patch(Invocation& invocation, const PatchCommand& command) {
  if (command.patch.empty() == command.patchFile.empty()) {
    throw UsageError("must specify exactly one of -p or --patch-file to make a patch");
  }
  const std::string text =
      command.patch.empty() ? readInput(command.patchFile, invocation.in) : command.patch;
  const std::string body = toJson(parseYaml(text));
  const PatchType type = typeOf(command.type);
  const DryRun dryRun = parseDryRun(command.dryRun);
  const auto printer = ObjectPrinter::of(command.output);

  metav1::PatchOptions how{.fieldManager = command.fieldManager};
  if (dryRun != DryRun::None) how.dryRun = {"All"};
  const DynamicClient client(invocation.rest());
  SeveralErrors errors(invocation.err, invocation.config().serverUrl().authority);
  const auto targets = command.files.empty() ? parseTargets(invocation.resources(), command.words)
                                             : targetsOfFiles(invocation, command.files, false);
  for (const Target& target : targets) {
    if (target.names.empty()) {
      throw UsageError(
          "one or more resources must be specified as <resource> <name> or "
          "<resource>/<name>");
    }
    const String space = namespaceOf(target, invocation.namespaceName());
    const auto objects = client.resource(target.mapping).inNamespace(space);
    for (const std::string& name : target.names) {
      try {
        const String before = objects.get(name).resourceVersion();
        const Unstructured after =
            objects.patch(name, type, body, how, invocation.stop(), command.subresource);
        if (printer != nullptr) {
          printer->print(after.object, invocation.out);
          continue;
        }
        const bool same = dryRun == DryRun::None && after.resourceVersion() == before;
        invocation.out << fmt::format("{} patched{}{}\n", objectName(target.mapping, name),
                                      same ? " (no change)" : "", suffixOf(dryRun));
      } catch (const ApiError& error) {
        errors.add(error);
      }
    }
  }
  if (errors.any()) invocation.exitCode = 1;
}

}  // namespace

void addPatch(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<PatchCommand>();
  Command(app, "patch", "Change fields of objects")
      .arguments("resource", options->words, "TYPE NAME..., or TYPE/NAME...")
      .option("-f,--filename", options->files, "Files or folders whose manifests name the objects")
      .option("--type", options->type, "The type of the patch: strategic, merge or json")
      .option("-p,--patch", options->patch, "The patch, as JSON or YAML")
      .option("--patch-file", options->patchFile, "A file with the patch")
      .option("--subresource", options->subresource, "Patch a subresource, such as status or scale")
      .flag("--dry-run", options->dryRun, "Let the server validate the patch without persisting it")
      .option("--field-manager", options->fieldManager, "The name of the fields' manager")
      .option("-o,--output", options->output, "The format of the objects: yaml, json, name, ...")
      .run([&invocation, options] { patch(invocation, *options); });
}

}  // namespace kube::cmd
