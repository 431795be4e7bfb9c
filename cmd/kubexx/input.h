// What a command reads.
#pragma once

#include <string>

namespace kube::cmd {

/// All of a file; of standard input for -. Throws Error.
std::string readInput(const std::string& path);

}  // namespace kube::cmd
