// Floating-point numbers as Go prints them: the fewest digits that read back the same.
#pragma once

#include <string>
#include <string_view>

namespace kube::detail {

/// Of a decimal number, with or without sign, fraction and exponent: whether it is nearer to 0 than
/// 1 is. Tells what from_chars finds too small from what it finds too large.
bool isBelowOne(std::string_view number) noexcept;

/// A finite number as Go's JSON has it.
std::string formatJsonFloat(double value);

/// Go's FormatFloat(value, 'g', -1, 64 or 32), with YAML's words for infinity.
std::string formatYamlFloat(double value);
std::string formatYamlFloat32(double value);

}  // namespace kube::detail
