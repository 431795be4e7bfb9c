// The rules of custom resources and of their definitions. See kube/apiserver/rules/kind_rules.h.
//
// Thread safety: every function may be called from any thread.
#pragma once

#include <memory>

#include "kube/apiserver/custom/custom_resources.h"
#include "kube/apiserver/rules/kind_rules.h"

namespace kube::apiserver {

/// For objects in one version of a custom resource, which are Unstructured.
std::shared_ptr<const KindRules> customRules(std::shared_ptr<const CustomVersion> version);

/// For CustomResourceDefinitions.
std::shared_ptr<const KindRules> definitionRules();

}  // namespace kube::apiserver
