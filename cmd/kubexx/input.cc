#include "cmd/kubexx/input.h"

#include <fstream>
#include <iostream>
#include <sstream>

#include "kube/base/error.h"

namespace kube::cmd {

std::string readInput(const std::string& path) {
  std::stringstream content;
  if (path == "-") {
    content << std::cin.rdbuf();
    return content.str();
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(path + ": cannot be opened");
  content << in.rdbuf();
  return content.str();
}

}  // namespace kube::cmd
