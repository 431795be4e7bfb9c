// Whether a CustomResourceDefinition's schema is one that an API server accepts: structural, and
// without what OpenAPI has and Kubernetes has not. The rules and words are
// apiextensions-apiserver's.
//
// For source files of this folder.
#pragma once

#include "kube/api/apiextensions/v1.h"
#include "kube/apiserver/schema/schema_place.h"
#include "kube/meta/validation/field_error.h"

namespace kube::apiserver {

/// Nothing if the schema may be compiled, or why not. Bounded in depth, time and what it tells.
/// Defaults are not looked into: that takes the compiled schema.
struct SchemaFindings {
  FieldErrors structural;  // ordered by their text
  FieldErrors openApi;
  bool compilable = false;  // whatever openApi says
};
SchemaFindings checkSchema(const apiextensionsv1::JSONSchemaProps& schema, const ErrorPath& path);

/// Its two parts, for a schema known not to be too deep or too large.
FieldErrors structuralErrors(const apiextensionsv1::JSONSchemaProps& schema,
                             const SchemaPlace& place);
FieldErrors openApiErrors(const apiextensionsv1::JSONSchemaProps& schema, const SchemaPlace& place);

}  // namespace kube::apiserver
