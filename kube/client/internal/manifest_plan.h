// Reads and checks the text of a manifest, and plans the requests to the server.
//
// For source files of this folder; the public face is kube/client/manifest.h. May be called from
// any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "kube/base/task.h"
#include "kube/client/api_discovery/discovery_rest_mapper.h"
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

/// A mapper in one of its two forms. One that may block outlives this.
class ManifestMapper {
 public:
  ManifestMapper(const RestMapper& mapper) : blocking_(&mapper) {}  // NOLINT: implicit
  ManifestMapper(AsyncDiscoveryRestMapper mapper)
      : async_(std::move(mapper)) {}  // NOLINT: implicit

  /// See AsyncDiscoveryRestMapper::lookUp().
  template <class Look>
  Task<std::invoke_result_t<Look&, const RestMapper&>> lookUp(Look look) const {
    if (blocking_ != nullptr) co_return look(*blocking_);
    co_return co_await async_->lookUp(look);
  }
  void reset() const { blocking_ != nullptr ? blocking_->reset() : async_->reset(); }

 private:
  const RestMapper* blocking_ = nullptr;
  std::optional<AsyncDiscoveryRestMapper> async_;
};

/// Returns the steps in the order of the text. Throws ManifestError, and errors of the mapper. The
/// arguments outlive the task.
Task<std::vector<ManifestStep>> planManifest(std::string_view text, const ManifestMapper& mapper,
                                             const ManifestOptions& options, ManifestVerb verb);

}  // namespace kube::detail
