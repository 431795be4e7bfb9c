// kubexx convert: converts manifests between formats and API versions.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace kube::cmd {

struct ConvertOptions {
  std::string output = "yaml";  // json, yaml or protobuf
  bool strict = false;          // unknown fields are errors
  bool unstructured = false;    // keeps all fields as they are, without C++ types
  std::string toVersion = {};   // GROUP/VERSION: the target version of objects of this group
};

/// Converts all objects in `input`, which messages call `source`. Warnings go to `notes`. Throws
/// kube::Error.
void convert(const std::string& source, const std::string& input, const ConvertOptions& options,
             std::ostream& out, std::ostream& notes);

void addConvert(CLI::App& app);

}  // namespace kube::cmd
