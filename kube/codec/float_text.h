// Floating-point numbers as Go prints them: the fewest digits that read back the same.
#pragma once

#include <string>

namespace kube::detail {

/// A finite number as Go's JSON has it.
std::string formatJsonFloat(double value);

/// Go's FormatFloat(value, 'g', -1, 64 or 32), with YAML's words for infinity.
std::string formatYamlFloat(double value);
std::string formatYamlFloat32(double value);

}  // namespace kube::detail
