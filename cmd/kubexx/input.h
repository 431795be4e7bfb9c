// What a command reads.
#pragma once

#include <iosfwd>
#include <string>

namespace kube::cmd {

/// All of a file; of `in` for -. Throws UsageError.
std::string readInput(const std::string& path, std::istream& in);

}  // namespace kube::cmd
