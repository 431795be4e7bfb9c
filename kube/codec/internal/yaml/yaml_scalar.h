// What YAML scalars mean to Kubernetes: YAML 1.1 as go-yaml v2, and with it kubectl, reads it.
//
// For source files of this folder; the public face is kube/codec/yaml.h. Any thread may call.
#pragma once

#include <cstdint>
#include <string_view>

namespace kube::detail {

struct YamlScalar {
  enum class Type : std::uint8_t { Null, Bool, Int, Float, Timestamp, String };
  Type type = Type::String;
  bool boolean = false;
  bool negative = false;        // of an Int
  std::uint64_t magnitude = 0;  // of an Int: from -2^63 to 2^64 - 1
  double real = 0;
};

/// What an unquoted scalar stands for. A timestamp is told apart because it is quoted on output; it
/// is a string otherwise.
YamlScalar resolveYamlScalar(std::string_view text);

/// A time in a form that YAML 1.1 readers take for one.
bool isYamlTimestamp(std::string_view text) noexcept;

/// 190:20:30: a number to some YAML 1.1 readers, though not to Kubernetes.
bool isBase60Float(std::string_view text) noexcept;

}  // namespace kube::detail
