// Floating-point numbers as Go prints them: the fewest digits that read back the same.
#pragma once

#include <string>
#include <string_view>

namespace kube::detail {

/// True if a decimal number, with or without sign, fraction and exponent, is nearer to 0 than 1 is.
/// Tells numbers that are too small for from_chars from those that are too large.
bool isBelowOne(std::string_view number) noexcept;

/// Writes a finite number as Go's JSON encoder does.
std::string formatJsonFloat(double value);

/// Go's FormatFloat(value, 'g', -1, 64 or 32), with YAML's words for infinity.
std::string formatYamlFloat(double value);
std::string formatYamlFloat32(double value);

}  // namespace kube::detail
