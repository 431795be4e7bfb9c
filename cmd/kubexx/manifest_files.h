// -f: files, folders and the standard input, with the objects in them.
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

/// By its name: .yaml, .yml or .json.
bool isManifest(const std::filesystem::path& path);

/// Of a folder: its .yaml, .yml and .json files by name. Throws UsageError for what cannot be read,
/// and where there is nothing at all.
std::vector<ManifestFile> readManifests(Invocation& invocation,
                                        const std::vector<std::string>& paths, bool recursive);

/// The objects that they name. Throws DecodeError, and UsageError for a kind that is not served.
std::vector<Target> targetsOfFiles(Invocation& invocation, const std::vector<std::string>& paths,
                                   bool recursive);

/// How many objects there are in a text.
std::size_t countObjects(const std::string& text);

}  // namespace kube::cmd
