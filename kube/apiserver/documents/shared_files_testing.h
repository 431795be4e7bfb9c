// Files beside the project that some tests compare with, if they are present.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace kube::apiserver {

/// The content of a file in $KUBEXX_SHARED, or in ../shared beside the project; nullopt if it is
/// missing.
inline std::optional<std::string> sharedFile(const std::string& path) {
  const char* folder = std::getenv("KUBEXX_SHARED");
  std::ifstream in(std::filesystem::path(folder != nullptr ? folder : "../shared") / path,
                   std::ios::binary);
  if (!in) return std::nullopt;
  std::stringstream content;
  content << in.rdbuf();
  return content.str();
}

}  // namespace kube::apiserver
