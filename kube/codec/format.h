// The formats of objects, and how to recognize them.
#pragma once

#include <cstdint>
#include <string_view>

namespace kube {

enum class Format : std::uint8_t { Json, Yaml, Protobuf };

/// Protobuf by its magic, JSON if the body is a valid JSON object, else YAML. Nothing rules out
/// YAML.
Format recognizeFormat(std::string_view body);

/// "json", "yaml" or "protobuf".
std::string_view toString(Format format) noexcept;

}  // namespace kube
