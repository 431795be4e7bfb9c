#include "cmd/kubexx/gen.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string_view>

#include "cmd/kubexx/input.h"
#include "cmd/kubexx/manifest_files.h"
#include "codegen/crd.h"
#include "codegen/generate.h"
#include "codegen/write_files.h"
#include "kube/api/apiextensions/v1.h"
#include "kube/api/packages.h"
#include "kube/apiserver/custom/custom_resources.h"
#include "kube/base/error.h"
#include "kube/client/api_discovery/discovery_client.h"
#include "kube/codec/json.h"
#include "kube/codec/unstructured.h"
#include "kube/codec/yaml.h"
#include "kube/meta/api_error.h"
#include "kube/rest/config.h"

namespace kube::cmd {

namespace {

using Definition = apiextensionsv1::CustomResourceDefinition;

// The built-in types, by name, to which generated code may refer.
codegen::Schema libraryTypes() {
  codegen::Schema library;
  for (const ApiPackage& package : builtInPackages()) {
    codegen::Package& entry = library[std::string(package.name)];
    entry.name = package.name;
    for (const TypeInfo* type : package.types) {
      entry.types.push_back({.name = std::string(type->name), .fields = {}});
      if (type->resource == nullptr) continue;
      entry.group = type->resource->group;
      entry.version = type->resource->version;
    }
  }
  return library;
}

// Checks a definition by a server's rules, except for those that only matter on a server.
void check(Definition crd, const std::string& source) {
  crd.status = {};
  crd.spec->conversion = {};  // webhooks do not affect generated code
  apiserver::setDefinitionDefaults(crd);
  FieldErrors errors = apiserver::validateDefinition(crd);
  std::erase_if(errors, [](const FieldError& error) {
    return error.field.find(apiserver::kApiApprovedAnnotation) != std::string::npos;
  });
  if (errors.empty()) return;
  std::string message = source + ": a server would refuse this definition:";
  constexpr std::size_t kShown = 20;
  for (std::size_t i = 0; i < std::min(errors.size(), kShown); ++i) {
    message += "\n  " + toString(FieldErrors{errors[i]});
  }
  if (errors.size() > kShown) message += fmt::format("\n  and {} more", errors.size() - kShown);
  throw Error(message);
}

void addText(codegen::CrdReader& reader, const std::string& text, const std::string& source) {
  std::size_t found = 0;
  for (const YamlDocument& document : splitYaml(text, {.expandLists = true})) {
    const auto type = document.type();
    if (type.kind != "CustomResourceDefinition") continue;  // manifests may have other objects
    ++found;
    const Value value = document.value();
    const std::string name = value["metadata"]["name"].asString().str();
    const std::string where = name.empty() ? source : source + ": " + name;
    if (type.apiVersion == "apiextensions.k8s.io/v1") check(document.as<Definition>(), where);
    reader.addDefinition(value, where);
  }
  if (found == 0) throw Error(source + ": no CustomResourceDefinition found");
}

// Replaces folders by the manifests in them.
std::vector<std::string> expand(const std::vector<std::string>& files) {
  std::vector<std::string> all;
  for (const std::string& file : files) {
    if (!std::filesystem::is_directory(file)) {
      all.push_back(file);
      continue;
    }
    std::vector<std::string> inside;
    for (const auto& entry : std::filesystem::directory_iterator(file)) {
      if (isManifest(entry.path())) inside.push_back(entry.path().string());
    }
    if (inside.empty()) throw Error(file + ": no .yaml, .yml or .json file in this folder");
    std::ranges::sort(inside);
    all.insert(all.end(), inside.begin(), inside.end());
  }
  return all;
}

void addServer(codegen::CrdReader& reader, const GenOptions& options) {
  const DiscoveryClient discovery(
      Config::load({.path = options.kubeconfig, .context = options.context}));
  for (const std::string& text : options.groupVersions) {
    const auto slash = text.find('/');
    if (slash == std::string::npos || slash == 0 || slash + 1 == text.size()) {
      throw Error("--from-cluster \"" + text + "\": expected GROUP/VERSION, as in apps/v1");
    }
    const GroupVersion version{text.substr(0, slash), text.substr(slash + 1)};
    try {
      const Value document = parseJson(discovery.openApiV3(version));
      Value resources = toUnstructured(discovery.serverResourcesForGroupVersion(version)).object;
      resources["groupVersion"] = text;
      reader.addDocument(document, resources, text);
    } catch (const ApiError& error) {
      if (!isNotFound(error)) throw;
      throw Error(text +
                  ": the server does not serve this version, or is older than Kubernetes 1.24 and "
                  "has no OpenAPI v3");
    }
  }
}

}  // namespace

void generate(const GenOptions& options, std::ostream& out, std::ostream& notes) {
  const codegen::Schema library = libraryTypes();
  codegen::CrdReader reader(library, {.outer = options.outer, .annotations = options.annotations});
  for (const std::string& file : expand(options.files)) {
    const std::string source = file == "-" ? "standard input" : file;
    try {
      addText(reader, readInput(file, std::cin), source);
    } catch (const DecodeError& error) {
      throw Error(source + ": " + error.what());
    }
  }
  if (!options.groupVersions.empty()) addServer(reader, options);
  const std::vector<codegen::Package> packages = reader.finish();
  for (const std::string& note : reader.notes()) notes << "note: " << note << '\n';
  const std::vector<codegen::GeneratedFile> files = codegen::generateCustom(library, packages);
  const std::size_t written = codegen::writeFiles(options.out, files);
  std::size_t types = 0;
  for (const codegen::Package& package : packages) types += package.types.size();
  out << fmt::format("{} group-versions, {} types: {} files, {} changed\n", packages.size(), types,
                     files.size(), written);
}

void addGen(CLI::App& app) {
  const auto options = std::make_shared<GenOptions>();
  const auto quiet = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand(
      "gen", "Generate C++ types, clients and informers from CustomResourceDefinitions");
  command->add_option("files", options->files,
                      "YAML or JSON files, or folders of them; - for standard input");
  command->add_option("-o,--out", options->out, "The folder to write to")->required();
  command->add_option("-n,--namespace", options->outer,
                      "The C++ namespace around the generated ones, as acme or acme::api");
  command
      ->add_option("--from-cluster", options->groupVersions,
                   "GROUP/VERSION: generate from a server's resources; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--kubeconfig", options->kubeconfig, "The kubeconfig, for --from-cluster");
  command->add_option("--context", options->context, "The context of the kubeconfig");
  command->add_flag("!--no-annotations", options->annotations,
                    "Leave out the data from which kube::crd<T>() restores the definition");
  command->add_flag("-q,--quiet", *quiet, "Print neither notes nor the summary");
  command->callback([options, quiet] {
    if (options->files.empty() && options->groupVersions.empty()) {
      throw Error("gen: nothing to generate from: name files or --from-cluster GROUP/VERSION");
    }
    std::ostream nowhere(nullptr);
    generate(*options, *quiet ? nowhere : std::cout, *quiet ? nowhere : std::cerr);
  });
}

}  // namespace kube::cmd
