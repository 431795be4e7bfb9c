// Reads and checks the text of a manifest, and plans the requests to the server.
//
// For source files of this folder; the public face is kube/client/manifest.h. May be called from
// any thread.
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
  Unstructured object = {};  // with its namespace; without one if its kind has none
  RestMapping mapping = {};
  /// The earlier step with the CustomResourceDefinition of this kind, which the server does not
  /// know yet.
  std::optional<std::size_t> definedBy = {};
};

/// Returns the steps in the order of the text. Throws ManifestError, and errors of the mapper.
std::vector<ManifestStep> planManifest(std::string_view text, const RestMapper& mapper,
                                       const ManifestOptions& options, ManifestVerb verb);

}  // namespace kube::detail
