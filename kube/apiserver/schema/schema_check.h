// Checks whether an API server accepts the schema of a CustomResourceDefinition: it must be
// structural, and use no OpenAPI feature that Kubernetes leaves out. Rules and messages are those
// of apiextensions-apiserver.
//
// For source files of this folder.
#pragma once

#include "kube/api/apiextensions/v1.h"
#include "kube/apiserver/schema/schema_place.h"
#include "kube/meta/validation/field_error.h"

namespace kube::apiserver {

/// The result of the checks. Depth, time and the number of errors are bounded. Defaults are not
/// checked here: that takes the compiled schema.
struct SchemaFindings {
  FieldErrors structural;  // ordered by their text
  FieldErrors openApi;
  bool compilable = false;  // regardless of openApi
};
SchemaFindings checkSchema(const apiextensionsv1::JSONSchemaProps& schema, const ErrorPath& path);

/// The two parts of checkSchema, for a schema that is neither too deep nor too large.
FieldErrors structuralErrors(const apiextensionsv1::JSONSchemaProps& schema,
                             const SchemaPlace& place);
FieldErrors openApiErrors(const apiextensionsv1::JSONSchemaProps& schema, const SchemaPlace& place);

}  // namespace kube::apiserver
