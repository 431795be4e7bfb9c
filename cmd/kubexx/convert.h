// kubexx convert: manifests from one format into another.
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
  bool unstructured = false;    // keep everything as it is, without a type
};

/// Converts everything in `input`, named `source` in messages. Warnings go to `notes`. Throws
/// kube::Error.
void convert(const std::string& source, const std::string& input, const ConvertOptions& options,
             std::ostream& out, std::ostream& notes);

void addConvert(CLI::App& app);

}  // namespace kube::cmd
