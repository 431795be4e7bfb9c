// The formats in which objects are written, and telling them apart.
#pragma once

#include <cstdint>
#include <string_view>

namespace kube {

enum class Format : std::uint8_t { Json, Yaml, Protobuf };

/// Protobuf by its magic, JSON if it is a valid JSON object, else YAML, which is never ruled out.
Format recognizeFormat(std::string_view body);

/// "json", "yaml" or "protobuf".
std::string_view toString(Format format) noexcept;

}  // namespace kube
