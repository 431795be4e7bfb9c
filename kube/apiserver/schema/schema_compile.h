// From a CustomResourceDefinition's schema to nodes that are walked.
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

/// The schema must have passed checkSchema. What is wrong with its defaults, and values that are no
/// JSON, goes to `errors`.
CompiledSchema compileSchema(const apiextensionsv1::JSONSchemaProps& schema, const ErrorPath& path,
                             FieldErrors& errors);

}  // namespace kube::apiserver
