// The schemas of an OpenAPI document, made from the tables that describe types; for the source
// files that make such documents.
//
// A document refers to types by name, as upstream calls them: io.k8s.api.core.v1.Pod. Referring to
// a type adds its schema, and those it refers to. Descriptions are left out.
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

/// OpenAPI 2.0 (Swagger) and 3.0, which differ in where things are and in how a reference may have
/// company.
enum class OpenApiForm { V2, V3 };

/// "io.example.samplecrd.v1.Network", for kinds that are not built in.
std::string customDefinitionName(const GroupVersionKind& gvk);

/// [{"group": "apps", "kind": "Deployment", "version": "v1"}], as schemas have it.
Value gvkExtension(const GroupVersionKind& gvk);

class OpenApiDefinitions {
 public:
  /// `versions` are those that are served: DeleteOptions is a kind in each.
  OpenApiDefinitions(OpenApiForm form, std::vector<GroupVersion> versions)
      : form_(form), versions_(std::move(versions)) {}

  OpenApiForm form() const noexcept { return form_; }

  /// {"$ref": "#/definitions/io.k8s.api.core.v1.Pod"}, with what that needs.
  Value refTo(const TypeInfo& type) { return refTo(add(type, "")); }
  /// To a schema that was, or will be, put in by name.
  Value refTo(std::string_view name) const;
  void put(std::string_view name, Value schema) { schemas_[String(name)] = std::move(schema); }

  /// All schemas by name.
  Value take() &&;

 private:
  /// Returns its name. `prefix` is for parts of types that are not built in: "io.example.v1.".
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
