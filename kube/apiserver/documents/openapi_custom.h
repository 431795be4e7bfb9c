// The schemas of custom resources in an OpenAPI document, made from what their definitions say; for
// the source files that make such documents.
#pragma once

#include "kube/api/apiextensions/v1.h"
#include "kube/apiserver/documents/openapi_definitions.h"
#include "kube/base/shared.h"
#include "kube/meta/gvk.h"
#include "kube/meta/value.h"

namespace kube::apiserver {

/// A custom resource's own schema with apiVersion, kind and metadata. OpenAPI 2.0, which kubectl
/// reads strictly, has what it cannot say left out: fields are then taken as they come.
Value customSchema(const Shared<apiextensionsv1::JSONSchemaProps>& schema,
                   const GroupVersionKind& gvk, OpenApiDefinitions& definitions);

/// Of the list of a kind that is not built in.
Value customListSchema(const GroupVersionKind& gvk, const GroupVersionKind& listGvk,
                       OpenApiDefinitions& definitions);

}  // namespace kube::apiserver
