#include "cmd/kubexx/input.h"

#include <fstream>
#include <sstream>

#include "cmd/kubexx/invocation.h"

namespace kube::cmd {

std::string readInput(const std::string& path, std::istream& in) {
  std::stringstream content;
  if (path == "-") {
    content << in.rdbuf();
    return content.str();
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UsageError("the path \"" + path + "\" cannot be read");
  content << file.rdbuf();
  return content.str();
}

}  // namespace kube::cmd
