// The rules of structural schemas.
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kube/apiserver/schema/schema_check.h"
#include "kube/apiserver/schema/schema_node.h"
#include "kube/apiserver/schema/schema_pattern.h"
#include "kube/apiserver/schema/schema_place.h"

namespace kube::apiserver {

namespace {

using Schema = apiextensionsv1::JSONSchemaProps;

bool isPreserving(const Schema& schema) {
  return schema.xKubernetesPreserveUnknownFields.value_or(false);
}

// This anyOf may name types, since it only spells out int-or-string.
bool isIntOrString(const List<Schema>& anyOf) {
  return anyOf.size() == 2 && anyOf[0] == Schema{.type = "integer"} &&
         anyOf[1] == Schema{.type = "string"};
}

class StructuralCheck {
 public:
  FieldErrors run(const Schema& schema, const SchemaPlace& place) {
    invariants(schema, Level::Root, place);
    completeness(schema, &schema, place, place);
    FieldErrors errors = std::move(found_.list());
    std::vector<std::pair<std::string, FieldError>> keyed;
    for (FieldError& error : errors) keyed.emplace_back(error.str(), std::move(error));
    std::stable_sort(keyed.begin(), keyed.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    errors.clear();
    for (auto& [text, error] : keyed) errors.push_back(std::move(error));
    return errors;
  }

 private:
  enum class Level { Root, Item, Field };

  void forbid(const SchemaPlace& place, std::string_view why) {
    found_.add(FieldError::forbidden(place.path(), why));
  }
  void require(const SchemaPlace& place, std::string_view why) {
    found_.add(FieldError::required(place.path(), why));
  }
  void invalid(const SchemaPlace& place, Value value, std::string_view why) {
    found_.add(FieldError::invalid(place.path(), std::move(value), why));
  }

  void invariants(const Schema& s, Level level, const SchemaPlace& place) {
    if (s.type == "array" && !s.items->schema) require(place.child("items"), "must be specified");
    if (s.items->schema) invariants(*s.items->schema, Level::Item, place.child("items"));
    for (const auto& [name, property] : s.properties) {
      invariants(property, Level::Field, place.child("properties").key(name));
    }
    if (s.additionalProperties) {
      const SchemaPlace inside = place.child("additionalProperties");
      if (level == Level::Root) forbid(inside, "must not be used at the root");
      const auto& schema = s.additionalProperties->schema;
      if (schema) invariants(*schema, Level::Field, inside);
    }
    if (s.xKubernetesIntOrString && isPreserving(s)) {
      invalid(place.child("x-kubernetes-preserve-unknown-fields"), true,
              "must be false if x-kubernetes-int-or-string is true");
    }
    if (s.xKubernetesIntOrString && s.xKubernetesEmbeddedResource) {
      invalid(place.child("x-kubernetes-embedded-resource"), true,
              "must be false if x-kubernetes-int-or-string is true");
    }
    const bool inAllOf = !s.allOf.empty() && isIntOrString(s.allOf[0].anyOf);
    rules(s, isIntOrString(s.anyOf), inAllOf, place);
    type(s, level, place);
    metadata(s, level, place);
    if (s.xKubernetesEmbeddedResource && !isPreserving(s) && s.properties.empty()) {
      require(place.child("properties"),
              "must not be empty if x-kubernetes-embedded-resource is true without "
              "x-kubernetes-preserve-unknown-fields");
    }
  }

  void type(const Schema& s, Level level, const SchemaPlace& place) {
    const SchemaPlace type = place.child("type");
    if (s.xKubernetesEmbeddedResource && s.type != "object") {
      constexpr std::string_view why = "must be object if x-kubernetes-embedded-resource is true";
      if (s.type.empty()) {
        require(type, why);
      } else {
        invalid(type, s.type, why);
      }
    } else if (s.type.empty() && !s.xKubernetesIntOrString && !isPreserving(s)) {
      switch (level) {
        case Level::Root:
          require(type, "must not be empty at the root");
          break;
        case Level::Item:
          require(type, "must not be empty for specified array items");
          break;
        case Level::Field:
          require(type, "must not be empty for specified object fields");
          break;
      }
    }
    if (s.xKubernetesEmbeddedResource && s.additionalProperties) {
      forbid(place.child("additionalProperties"),
             "must not be used if x-kubernetes-embedded-resource is set");
    }
    if (level == Level::Root && !s.type.empty() && s.type != "object") {
      invalid(type, s.type, "must be object at the root");
    }
  }

  // A schema must not redefine the fields that every resource has; of the metadata it may restrict
  // the name.
  void metadata(const Schema& s, Level level, const SchemaPlace& place) {
    const bool resource = level == Level::Root || s.xKubernetesEmbeddedResource;
    const SchemaPlace properties = place.child("properties");
    for (const std::string_view name : {"kind", "apiVersion"}) {
      const auto at = s.properties.find(name);
      if (resource && at != s.properties.end() && at->value.type != "string") {
        invalid(properties.key(name).child("type"), at->value.type, "must be string");
      }
    }
    const auto at = s.properties.find("metadata");
    if (at == s.properties.end()) return;
    const SchemaPlace inside = properties.key("metadata");
    if (resource && at->value.type != "object") {
      invalid(inside.child("type"), at->value.type, "must be object");
    }
    if (level != Level::Root) return;
    Schema rest = at->value;
    rest.properties.erase("name");
    rest.properties.erase("generateName");
    rest.type = {};
    rest.default_ = {};
    if (rest != Schema()) {
      forbid(inside,
             "must not specify anything other than name and generateName, but metadata is "
             "implicitly specified");
    }
  }

  void rules(const Schema& v, bool skipAnyOf, bool skipFirstAllOfAnyOf, const SchemaPlace& place) {
    if (!skipAnyOf) {
      for (std::size_t i = 0; i < v.anyOf.size(); ++i) {
        nested(v.anyOf[i], false, place.child("anyOf").index(i));
      }
    }
    for (std::size_t i = 0; i < v.allOf.size(); ++i) {
      nested(v.allOf[i], skipFirstAllOfAnyOf && i == 0, place.child("allOf").index(i));
    }
    for (std::size_t i = 0; i < v.oneOf.size(); ++i) {
      nested(v.oneOf[i], false, place.child("oneOf").index(i));
    }
    if (v.not_) nested(*v.not_, false, place.child("not"));
    if (v.pattern.empty()) return;
    if (const std::string error = Pattern(v.pattern).error(); !error.empty()) {
      invalid(place.child("pattern"), v.pattern,
              "must be a valid regular expression, but isn't: " + error);
    }
  }

  // Below allOf, anyOf, oneOf and not, a schema validates but does not describe the structure.
  void nested(const Schema& v, bool skipAnyOf, const SchemaPlace& place) {
    rules(v, skipAnyOf, false, place);
    if (v.items->schema) nested(*v.items->schema, false, place.child("items"));
    for (const auto& [name, property] : v.properties) {
      nested(property, false, place.child("properties").key(name));
    }
    const auto& additional = v.additionalProperties;
    const std::pair<bool, std::pair<std::string_view, std::string_view>> forbidden[] = {
        {!v.type.empty(), {"type", "must be empty to be structural"}},
        {additional && (additional->schema || additional->allows),
         {"additionalProperties", "must be undefined to be structural"}},
        {bool(v.default_) && v.default_.raw != "null",
         {"default", "must be undefined to be structural"}},
        {!v.title.empty(), {"title", "must be empty to be structural"}},
        {!v.description.empty(), {"description", "must be empty to be structural"}},
        {v.nullable, {"nullable", "must be false to be structural"}},
        {isPreserving(v),
         {"x-kubernetes-preserve-unknown-fields", "must be false to be structural"}},
        {v.xKubernetesEmbeddedResource,
         {"x-kubernetes-embedded-resource", "must be false to be structural"}},
        {v.xKubernetesIntOrString,
         {"x-kubernetes-int-or-string", "must be false to be structural"}},
        {!v.xKubernetesListMapKeys.empty(),
         {"x-kubernetes-list-map-keys", "must be empty to be structural"}},
        {v.xKubernetesListType.has_value(),
         {"x-kubernetes-list-type", "must be undefined to be structural"}},
        {v.xKubernetesMapType.has_value(),
         {"x-kubernetes-map-type", "must be undefined to be structural"}},
        {!v.xKubernetesValidations.empty(),
         {"x-kubernetes-validations", "must be empty to be structural"}},
    };
    for (const auto& [used, what] : forbidden) {
      if (used) forbid(place.child(what.first), what.second);
    }
    if (v.properties.contains("metadata")) {
      forbid(place.child("properties").key("metadata"),
             "must not be specified in a nested context");
    }
  }

  // Every field that a junctor of the root validates must also be in the structure.
  void completeness(const Schema& v, const Schema* s, const SchemaPlace& structure,
                    const SchemaPlace& place) {
    if (v.not_) completenessOf(*v.not_, s, structure, place.child("not"));
    const std::pair<const List<Schema>*, std::string_view> junctors[] = {
        {&v.allOf, "allOf"}, {&v.anyOf, "anyOf"}, {&v.oneOf, "oneOf"}};
    for (const auto& [list, name] : junctors) {
      for (std::size_t i = 0; i < list->size(); ++i) {
        completenessOf((*list)[i], s, structure, place.child(name).index(i));
      }
    }
  }
  void completenessOf(const Schema& v, const Schema* s, const SchemaPlace& structure,
                      const SchemaPlace& place) {
    if (s == nullptr) {
      if (!found_.full()) require(structure, "because it is defined in " + place.text());
      return;
    }
    completeness(v, s, structure, place);
    if (v.items->schema) {
      const Schema* items = s->items->schema ? &*std::as_const(s->items->schema) : nullptr;
      completenessOf(*v.items->schema, items, structure.child("items"), place.child("items"));
    }
    for (const auto& [name, property] : v.properties) {
      const auto at = s->properties.find(name);
      completenessOf(property, at != s->properties.end() ? &at->value : nullptr,
                     structure.child("properties").key(name), place.child("properties").key(name));
    }
  }

  FoundErrors found_;
};

}  // namespace

FieldErrors structuralErrors(const Schema& schema, const SchemaPlace& place) {
  return StructuralCheck().run(schema, place);
}

}  // namespace kube::apiserver
