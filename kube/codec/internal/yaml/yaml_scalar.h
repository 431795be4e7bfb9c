// The meaning of YAML scalars in Kubernetes: YAML 1.1 as go-yaml v2 reads it, and therefore
// kubectl.
//
// For source files of this folder; the public face is kube/codec/yaml.h. All functions may be
// called from any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace kube::detail {

struct YamlScalar {
  enum class Type : std::uint8_t { Null, Bool, Int, Float, Timestamp, String };
  Type type = Type::String;
  bool boolean = false;
  bool negative = false;        // for an Int
  std::uint64_t magnitude = 0;  // for an Int: from -2^63 to 2^64 - 1
  double real = 0;
};

/// The value of an unquoted scalar. Timestamps have a type of their own because they are quoted on
/// output; otherwise they are strings.
YamlScalar resolveYamlScalar(std::string_view text);

/// True for a time in a form that YAML 1.1 readers recognize.
bool isYamlTimestamp(std::string_view text) noexcept;

/// True for text such as 190:20:30: a number to some YAML 1.1 readers, though not to Kubernetes.
bool isBase60Float(std::string_view text) noexcept;

}  // namespace kube::detail
