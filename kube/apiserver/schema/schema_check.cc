#include "kube/apiserver/schema/schema_check.h"

#include <fmt/core.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "kube/apiserver/schema/schema_node.h"
#include "kube/apiserver/schema/schema_place.h"

namespace kube::apiserver {

namespace {

using Schema = apiextensionsv1::JSONSchemaProps;

constexpr std::size_t kMaxSchemaNodes = 200'000;

template <class Visit>
void forEachChild(const Schema& schema, Visit visit) {
  if (schema.items) {
    if (schema.items->schema) visit(*schema.items->schema);
    for (const Schema& each : schema.items->jSONSchemas) visit(each);
  }
  for (const auto* list : {&schema.allOf, &schema.anyOf, &schema.oneOf}) {
    for (const Schema& each : *list) visit(each);
  }
  if (schema.not_) visit(*schema.not_);
  for (const auto* map : {&schema.properties, &schema.patternProperties, &schema.definitions}) {
    for (const auto& each : *map) visit(each.value);
  }
  for (const auto* either : {&schema.additionalProperties, &schema.additionalItems}) {
    if ((*either)->schema) visit(*(*either)->schema);
  }
  for (const auto& each : schema.dependencies) {
    if (each.value.schema) visit(*each.value.schema);
  }
}

// The size of a schema. One that is too deep or too large is not checked any further.
struct Extent {
  std::size_t nodes = 0;
  bool deep = false;

  void walk(const Schema& schema, int depth) {
    if (deep || ++nodes > kMaxSchemaNodes) return;
    if (depth > kMaxSchemaDepth) {
      deep = true;
      return;
    }
    forEachChild(schema, [&](const Schema& child) { walk(child, depth + 1); });
  }
};

// The fields that structural schemas do not have, as a list; empty if the schema uses none.
std::string unsupported(const Schema& schema) {
  for (const auto& [used, name] : std::initializer_list<std::pair<bool, std::string_view>>{
           {!schema.id.empty(), "id"},
           {!schema.schema.empty(), "schema"},
           {schema.ref && !schema.ref->empty(), "$ref"},
           {!schema.patternProperties.empty(), "patternProperties"},
           {!schema.dependencies.empty(), "dependencies"},
           {schema.additionalItems.has_value(), "additionalItems"},
           {!schema.definitions.empty(), "definitions"}}) {
    if (used) return fmt::format("OpenAPIV3Schema '{}' is not supported", name);
  }
  if (!schema.items->jSONSchemas.empty()) {
    return "OpenAPIV3Schema 'items' must be a schema, but is an array";
  }
  const auto& preserve = schema.xKubernetesPreserveUnknownFields;
  if (preserve && !*preserve) {
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
  }
  std::string found;
  forEachChild(schema, [&](const Schema& child) {
    if (found.empty()) found = unsupported(child);
  });
  return found;
}

}  // namespace

SchemaFindings checkSchema(const Schema& schema, const ErrorPath& path) {
  SchemaFindings findings;
  const std::string root = path.empty() ? std::string() : path.str();
  const SchemaPlace place = root.empty() ? SchemaPlace() : SchemaPlace(root);
  Extent extent;
  extent.walk(schema, 0);
  if (extent.deep || extent.nodes > kMaxSchemaNodes) {
    findings.structural.push_back(FieldError::invalid(
        path, "",
        extent.deep ? fmt::format("must not be nested deeper than {} levels", kMaxSchemaDepth)
                    : fmt::format("must not have more than {} schemas", kMaxSchemaNodes)));
    return findings;
  }
  const std::string misfit = unsupported(schema);
  if (misfit.empty()) findings.structural = structuralErrors(schema, place);
  findings.compilable = misfit.empty() && findings.structural.empty();
  findings.openApi = openApiErrors(schema, place);
  if (!misfit.empty() && findings.openApi.empty()) {
    findings.structural.push_back(FieldError::invalid(path, "", misfit));
  }
  return findings;
}

}  // namespace kube::apiserver
