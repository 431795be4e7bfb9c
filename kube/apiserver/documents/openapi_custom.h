// The schemas of custom resources in an OpenAPI document, made from their definitions. For the
// source files that make such documents.
#pragma once

#include "kube/api/apiextensions/v1.h"
#include "kube/apiserver/documents/openapi_definitions.h"
#include "kube/base/shared.h"
#include "kube/meta/gvk.h"
#include "kube/meta/value.h"

namespace kube::apiserver {

/// The schema of a custom resource, with apiVersion, kind and metadata. For OpenAPI 2.0, which
/// kubectl reads strictly, unsupported parts are left out, and their fields accept any value.
Value customSchema(const Shared<apiextensionsv1::JSONSchemaProps>& schema,
                   const GroupVersionKind& gvk, OpenApiDefinitions& definitions);

/// The schema of a list of custom resources.
Value customListSchema(const GroupVersionKind& gvk, const GroupVersionKind& listGvk,
                       OpenApiDefinitions& definitions);

}  // namespace kube::apiserver
