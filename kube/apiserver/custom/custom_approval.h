// The approval of an API in one of Kubernetes' own groups (*.k8s.io, *.kubernetes.io), which a
// CustomResourceDefinition states in an annotation.
//
// For source files of this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kube/api/apiextensions/v1.h"

namespace kube::apiserver {

struct ApiApproval {
  enum class State : std::uint8_t { Invalid, Approved, Bypassed, Missing };
  State state;
  std::string reason;  // in words
};

/// nullopt for groups that need no approval.
std::optional<ApiApproval> apiApproval(const apiextensionsv1::CustomResourceDefinition& crd);

}  // namespace kube::apiserver
