// The manifests of -f: files, folders and standard input.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cmd/kubexx/resources.h"

namespace kube::cmd {

class Invocation;

struct ManifestFile {
  std::string path = {};  // "STDIN" for "-"
  std::string text = {};
};

/// True if the name ends in .yaml, .yml or .json.
bool isManifest(const std::filesystem::path& path);

/// Reads files. A folder stands for its .yaml, .yml and .json files, sorted by name. Throws
/// UsageError for paths that cannot be read, and if there is no file at all.
std::vector<ManifestFile> readManifests(Invocation& invocation,
                                        const std::vector<std::string>& paths, bool recursive);

/// The objects that the manifests name. Throws DecodeError, UsageError for an object without a kind
/// or name, and NoResourceMatchError for a kind that is not served.
std::vector<Target> targetsOfFiles(Invocation& invocation, const std::vector<std::string>& paths,
                                   bool recursive);

/// Returns the number of objects in a text.
std::size_t countObjects(const std::string& text);

}  // namespace kube::cmd
