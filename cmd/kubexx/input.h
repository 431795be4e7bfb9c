// The input of a command: a file, or standard input.
#pragma once

#include <iosfwd>
#include <string>

namespace kube::cmd {

/// Reads the whole file; for "-", reads `in`. Throws UsageError.
std::string readInput(const std::string& path, std::istream& in);

}  // namespace kube::cmd
