// Generated files onto the disk.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "codegen/generate.h"

namespace kube::codegen {

/// Unchanged files keep their time, so that nothing is rebuilt for them. Returns how many were
/// written. Throws Error.
std::size_t writeFiles(const std::filesystem::path& folder,
                       const std::vector<GeneratedFile>& files);

}  // namespace kube::codegen
