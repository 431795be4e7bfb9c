// kubexx gen: generates C++ from CustomResourceDefinitions, or from a server's discovery and
// OpenAPI.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace kube::cmd {

struct GenOptions {
  std::string out = {};                         // the folder
  std::string outer = {};                       // the namespace around all generated code
  bool annotations = true;                      // for kube::crd<T>()
  std::vector<std::string> files = {};          // - for standard input
  std::vector<std::string> groupVersions = {};  // of a server
  std::string kubeconfig = {};
  std::string context = {};
};

/// Writes the files; unchanged files keep their time. Reports fields that became a kube::Value to
/// `notes`, and a summary to `out`. Throws kube::Error; errors of the input are found before any
/// file is written.
void generate(const GenOptions& options, std::ostream& out, std::ostream& notes);

void addGen(CLI::App& app);

}  // namespace kube::cmd
