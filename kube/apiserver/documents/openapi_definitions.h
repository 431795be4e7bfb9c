// The schemas of an OpenAPI document, made from the tables that describe types. For the source
// files that make such documents.
//
// A document refers to types by their upstream names: io.k8s.api.core.v1.Pod. Referring to a type
// adds its schema and those it refers to. Descriptions are left out.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kube/base/string.h"
#include "kube/meta/gvk.h"
#include "kube/meta/type_info.h"
#include "kube/meta/value.h"

namespace kube::apiserver {

/// OpenAPI 2.0 (Swagger) and 3.0. They differ in where things are, and in whether a reference may
/// have siblings.
enum class OpenApiForm { V2, V3 };

/// "io.example.samplecrd.v1.Network", for kinds that are not built in.
std::string customDefinitionName(const GroupVersionKind& gvk);

/// [{"group": "apps", "kind": "Deployment", "version": "v1"}], the form of schemas.
Value gvkExtension(const GroupVersionKind& gvk);

class OpenApiDefinitions {
 public:
  /// `versions` are the served ones: DeleteOptions is a kind in each.
  OpenApiDefinitions(OpenApiForm form, std::vector<GroupVersion> versions)
      : form_(form), versions_(std::move(versions)) {}

  OpenApiForm form() const noexcept { return form_; }

  /// {"$ref": "#/definitions/io.k8s.api.core.v1.Pod"}. Adds the schemas that this needs.
  Value refTo(const TypeInfo& type) { return refTo(add(type, "")); }
  /// A reference to a schema that is, or will be, added by name.
  Value refTo(std::string_view name) const;
  void put(std::string_view name, Value schema) { schemas_[String(name)] = std::move(schema); }

  /// All schemas, by name.
  Value take() &&;

 private:
  /// Adds a type and returns its name. `prefix` is for parts of types that are not built in:
  /// "io.example.v1.".
  const std::string& add(const TypeInfo& type, std::string_view prefix);
  Value schemaOf(const TypeInfo& type, std::string_view name);
  Value property(const TypeInfo& owner, const FieldInfo& field, std::string_view prefix);
  Value element(const TypeInfo& owner, const FieldInfo& field, std::string_view prefix);
  Value library(std::string_view name);
  Value rawElement(const TypeInfo& owner, const FieldInfo& field);

  const OpenApiForm form_;
  const std::vector<GroupVersion> versions_;
  std::map<String, Value> schemas_;
  std::unordered_map<const TypeInfo*, std::string> names_;
};

}  // namespace kube::apiserver
