#include "cmd/kubexx/manifest_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "cmd/kubexx/input.h"
#include "cmd/kubexx/invocation.h"
#include "kube/codec/yaml.h"
#include "kube/meta/unstructured.h"

namespace kube::cmd {

namespace {

namespace fs = std::filesystem;

template <class Iterator>
std::vector<std::string> filesBelow(const std::string& folder) {
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : Iterator(folder)) {
    if (entry.is_regular_file() && isManifest(entry.path())) files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

bool isManifest(const fs::path& path) {
  const fs::path extension = path.extension();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

std::vector<ManifestFile> readManifests(Invocation& invocation,
                                        const std::vector<std::string>& paths, bool recursive) {
  if (paths.empty()) throw UsageError("must specify one of -f");
  std::vector<ManifestFile> manifests;
  for (const std::string& path : paths) {
    if (path == "-") {
      manifests.push_back({"STDIN", readInput(path, invocation.in)});
    } else if (path.starts_with("http://") || path.starts_with("https://")) {
      throw UsageError(fmt::format(
          "{}: kubexx does not fetch URLs; use: curl -sL {} | kubexx apply -f -", path, path));
    } else if (std::error_code error; !fs::exists(path, error)) {
      throw UsageError(fmt::format("the path \"{}\" does not exist", path));
    } else if (fs::is_directory(path)) {
      for (const std::string& file : recursive ? filesBelow<fs::recursive_directory_iterator>(path)
                                               : filesBelow<fs::directory_iterator>(path)) {
        manifests.push_back({file, readInput(file, invocation.in)});
      }
    } else {
      manifests.push_back({path, readInput(path, invocation.in)});
    }
  }
  if (manifests.empty()) {
    throw UsageError(fmt::format("{}: no .yaml, .yml or .json file in this folder", paths[0]));
  }
  return manifests;
}

std::vector<Target> targetsOfFiles(Invocation& invocation, const std::vector<std::string>& paths,
                                   bool recursive) {
  std::vector<Target> targets;
  for (const ManifestFile& file : readManifests(invocation, paths, recursive)) {
    for (const YamlDocument& document : splitYaml(file.text, {.expandLists = true})) {
      const Unstructured object(document.value());
      const GroupVersionKind gvk = object.gvk();
      if (gvk.kind.empty() || object.name().empty()) {
        throw UsageError(fmt::format("{}: line {}: an object must have apiVersion, kind and name",
                                     file.path, document.line));
      }
      const std::string group = gvk.group.empty() ? "" : "." + gvk.group.str();
      const RestMapping mapping =
          gvk.group.empty()
              ? invocation.resources().find(gvk.kind.view())
              : invocation.resources().find(fmt::format("{}.{}{}", gvk.kind, gvk.version, group));
      targets.push_back({mapping, {object.name().str()}, object.namespace_().str()});
    }
  }
  return targets;
}

std::size_t countObjects(const std::string& text) {
  return splitYaml(text, {.expandLists = true}).size();
}

}  // namespace kube::cmd
