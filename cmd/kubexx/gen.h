// kubexx gen: C++ from CustomResourceDefinitions, or from what a server says of its resources.
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
  std::string outer = {};                       // the namespace around all
  bool annotations = true;                      // for kube::crd<T>()
  std::vector<std::string> files = {};          // - for standard input
  std::vector<std::string> groupVersions = {};  // of a server
  std::string kubeconfig = {};
  std::string context = {};
};

/// Writes the files; those that are the same already keep their time. What became a kube::Value
/// goes to `notes`, what was done to `out`. Throws kube::Error, and has written nothing then.
void generate(const GenOptions& options, std::ostream& out, std::ostream& notes);

void addGen(CLI::App& app);

}  // namespace kube::cmd
