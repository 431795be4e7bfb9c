// Schemas and objects written as YAML, for the tests of schemas.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/api/apiextensions/v1.h"
#include "kube/apiserver/schema/structural_schema.h"
#include "kube/codec/json.h"
#include "kube/codec/yaml.h"
#include "kube/meta/validation/field_error.h"
#include "kube/meta/value.h"

namespace kube::apiserver {

inline apiextensionsv1::JSONSchemaProps schemaOf(std::string_view yaml) {
  return fromYaml<apiextensionsv1::JSONSchemaProps>(yaml);
}

inline StructuralSchema compiled(std::string_view yaml) {
  return StructuralSchema(schemaOf(yaml), ErrorPath("schema"));
}

/// The errors, one on each line.
inline std::vector<std::string> texts(const FieldErrors& errors) {
  std::vector<std::string> all;
  for (const FieldError& error : errors) all.push_back(error.str());
  return all;
}

inline std::vector<std::string> problemsOf(std::string_view schema) {
  return texts(StructuralSchema::check(schemaOf(schema), ErrorPath("schema")));
}

inline std::vector<std::string> errorsOf(std::string_view schema, std::string_view object) {
  return texts(compiled(schema).validate(parseYaml(object)));
}

}  // namespace kube::apiserver
