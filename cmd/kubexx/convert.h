// kubexx convert: manifests from one format or API version into another.
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
  std::string toVersion = {};   // GROUP/VERSION that objects of this group are converted to
};

/// Converts everything in `input`, named `source` in messages. Warnings go to `notes`. Throws
/// kube::Error.
void convert(const std::string& source, const std::string& input, const ConvertOptions& options,
             std::ostream& out, std::ostream& notes);

void addConvert(CLI::App& app);

}  // namespace kube::cmd
