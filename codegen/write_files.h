// Writes generated files to the disk.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "codegen/generate.h"

namespace kube::codegen {

/// Writes the files that differ. Unchanged files keep their time, so that nothing is rebuilt for
/// them. Returns the number of written files. Throws Error.
std::size_t writeFiles(const std::filesystem::path& folder,
                       const std::vector<GeneratedFile>& files);

}  // namespace kube::codegen
