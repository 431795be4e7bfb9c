// A manifest's text, read and checked: what is to be sent to the server, and where.
//
// For source files of this folder; the public face is kube/client/manifest.h. Any thread may call.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "kube/client/manifest.h"

namespace kube::detail {

enum class ManifestVerb : unsigned char { Create, Apply, Remove };

struct ManifestStep {
  std::size_t document = 0;
  std::size_t line = 0;
  Unstructured object = {};  // with its namespace, or without one if its kind is in none
  RestMapping mapping = {};
  /// The step, an earlier one, whose CustomResourceDefinition says what this kind is: the server
  /// does not know it yet.
  std::optional<std::size_t> definedBy = {};
};

/// In the order of the text. Throws ManifestError, and what the mapper throws.
std::vector<ManifestStep> planManifest(std::string_view text, const RestMapper& mapper,
                                       const ManifestOptions& options, ManifestVerb verb);

}  // namespace kube::detail
