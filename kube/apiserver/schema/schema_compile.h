// Compiles the schema of a CustomResourceDefinition into nodes that the walkers follow.
//
// For source files of this folder.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "kube/api/apiextensions/v1.h"
#include "kube/apiserver/schema/schema_node.h"
#include "kube/codec/apply/field_schema.h"
#include "kube/meta/validation/field_error.h"

namespace kube::apiserver {

struct CompiledSchema {
  std::deque<SchemaNode> nodes;  // never moved: they point to each other
  std::deque<FieldSchema> fields;
  const SchemaNode* root = nullptr;
  const FieldSchema* rootFields = nullptr;
  std::vector<std::string> unknownFormats;
};

/// Compiles a schema that has passed checkSchema. Appends to `errors` for bad defaults, and for
/// values that are not JSON.
CompiledSchema compileSchema(const apiextensionsv1::JSONSchemaProps& schema, const ErrorPath& path,
                             FieldErrors& errors);

}  // namespace kube::apiserver
