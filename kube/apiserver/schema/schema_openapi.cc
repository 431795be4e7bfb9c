// Checks the OpenAPI parts of a schema: the features that Kubernetes allows, and its extensions.
#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kube/apiserver/schema/schema_check.h"
#include "kube/apiserver/schema/schema_node.h"
#include "kube/apiserver/schema/schema_place.h"

namespace kube::apiserver {

namespace {

using Schema = apiextensionsv1::JSONSchemaProps;

class OpenApiCheck {
 public:
  struct Context {
    bool root = false;
    bool insideMeta = false;
    std::string noDefaults = {};  // the reason why no defaults are allowed
  };

  void walk(const Schema& s, const SchemaPlace& place, const Context& context) {
    standard(s, place, context);
    if (s.uniqueItems) {
      forbid(place.child("uniqueItems"),
             "uniqueItems cannot be set to true since the runtime complexity becomes quadratic");
    }
    Context below = context;
    below.root = false;
    if (s.additionalProperties) additional(s, place, below);
    for (const auto& [name, property] : s.properties) {
      Context inside = below;
      if ((context.root || s.xKubernetesEmbeddedResource) && isMetaField(name)) {
        inside.insideMeta = true;
        if (context.root) inside.noDefaults = fmt::format("in top-level {}", name);
      }
      walk(property, place.child("properties").key(name), inside);
    }
    if (s.not_) walk(*s.not_, place.child("not"), below);
    const std::pair<const List<Schema>*, std::string_view> junctors[] = {
        {&s.allOf, "allOf"}, {&s.oneOf, "oneOf"}, {&s.anyOf, "anyOf"}};
    for (const auto& [list, name] : junctors) {
      for (std::size_t i = 0; i < list->size(); ++i) {
        walk((*list)[i], place.child(name).index(i), below);
      }
    }
    if (s.items->schema) walk(*s.items->schema, place.child("items"), below);
    extensions(s, place);
    lists(s, place);
    for (std::size_t i = 0; i < s.xKubernetesValidations.size(); ++i) {
      rule(s.xKubernetesValidations[i], place.child("x-kubernetes-validations").index(i));
    }
  }

  FieldErrors done() { return std::move(found_.list()); }

 private:
  void forbid(const SchemaPlace& place, std::string_view why) {
    found_.add(FieldError::forbidden(place.path(), why));
  }
  void require(const SchemaPlace& place, std::string_view why) {
    found_.add(FieldError::required(place.path(), why));
  }
  void invalid(const SchemaPlace& place, Value value, std::string_view why) {
    found_.add(FieldError::invalid(place.path(), std::move(value), why));
  }
  void unsupportedValue(const SchemaPlace& place, Value value,
                        std::initializer_list<std::string_view> supported) {
    found_.add(FieldError::notSupported(place.path(), std::move(value), supported));
  }

  void standard(const Schema& s, const SchemaPlace& place, const Context& context) {
    static constexpr std::string_view kTypes[] = {"array",  "boolean", "integer",
                                                  "number", "object",  "string"};
    if (!s.type.empty() &&
        std::find(std::begin(kTypes), std::end(kTypes), s.type.view()) == std::end(kTypes)) {
      found_.add(FieldError::notSupported(place.child("type").path(), s.type, kTypes));
    }
    if (s.default_ && !context.noDefaults.empty()) {
      forbid(place.child("default"), "must not be set " + context.noDefaults);
    }
    const std::pair<bool, std::string_view> notSupported[] = {
        {!s.id.empty(), "id"},
        {s.additionalItems.has_value(), "additionalItems"},
        {!s.patternProperties.empty(), "patternProperties"},
        {!s.definitions.empty(), "definitions"},
        {!s.dependencies.empty(), "dependencies"},
        {s.ref.has_value(), "$ref"},
    };
    for (const auto& [used, name] : notSupported) {
      if (used) forbid(place.child(name), fmt::format("{} is not supported", name));
    }
    if (s.type == "null") {
      forbid(place.child("type"), "type cannot be set to null, use nullable as an alternative");
    }
    if (!s.items->jSONSchemas.empty()) {
      forbid(place.child("items"), "items must be a schema object and not an array");
    }
    if (context.insideMeta && s.xKubernetesEmbeddedResource) {
      forbid(place.child("x-kubernetes-embedded-resource"),
             "must not be used inside of resource meta");
    }
  }

  void additional(const Schema& s, const SchemaPlace& place, Context context) {
    const auto& additional = *s.additionalProperties;
    const SchemaPlace inside = place.child("additionalProperties");
    if (!s.properties.empty() && (!additional.allows || additional.schema)) {
      forbid(inside, "additionalProperties and properties are mutual exclusive");
    }
    if (!additional.schema) return;
    if (context.insideMeta) {
      context.noDefaults = "inside additionalProperties applying to object metadata";
    }
    walk(*additional.schema, inside, context);
  }

  // Reports a schema whose type is wrong or missing.
  void mistyped(const SchemaPlace& place, const Schema& s, std::string_view why) {
    if (s.type.empty()) {
      require(place.child("type"), why);
    } else {
      invalid(place.child("type"), s.type, why);
    }
  }

  void extensions(const Schema& s, const SchemaPlace& place) {
    const auto& preserve = s.xKubernetesPreserveUnknownFields;
    if (preserve && !*preserve) {
      invalid(place.child("x-kubernetes-preserve-unknown-fields"), false,
              "must be true or undefined");
    }
    if (const auto& map = s.xKubernetesMapType) {
      if (s.type != "object") {
        mistyped(place, s, "must be object if x-kubernetes-map-type is specified");
      }
      if (*map != "atomic" && *map != "granular") {
        unsupportedValue(place.child("x-kubernetes-map-type"), *map, {"atomic", "granular"});
      }
    }
    const auto& list = s.xKubernetesListType;
    if (!list) return;
    if (s.type != "array") {
      mistyped(place, s, "must be array if x-kubernetes-list-type is specified");
    } else if (*list == "set" && s.items->schema) {
      setItems(*s.items->schema, place.child("items"));
    }
    if (*list != "atomic" && *list != "set" && *list != "map") {
      unsupportedValue(place.child("x-kubernetes-list-type"), *list, {"atomic", "set", "map"});
    }
  }

  void setItems(const Schema& items, const SchemaPlace& place) {
    constexpr std::string_view why =
        "must be atomic as item of a list with x-kubernetes-list-type=set";
    const auto& list = items.xKubernetesListType;
    const auto& map = items.xKubernetesMapType;
    if (items.type == "array" && list && *list != "atomic") {
      invalid(place.child("x-kubernetes-list-type"), *list, why);
    }
    if (items.type == "object" && (!map || *map != "atomic")) {
      invalid(place.child("x-kubernetes-map-type"), list ? Value(*list) : Value("null"), why);
    }
  }

  void lists(const Schema& s, const SchemaPlace& place) {
    const auto& type = s.xKubernetesListType;
    const SchemaPlace items = place.child("items");
    if (!s.xKubernetesListMapKeys.empty() && (!type || *type != "map")) {
      constexpr std::string_view why = "must be map if x-kubernetes-list-map-keys is non-empty";
      const SchemaPlace at = place.child("x-kubernetes-list-type");
      if (!type) {
        require(at, why);
      } else {
        invalid(at, *type, why);
      }
    }
    if (!type || (*type != "map" && *type != "set")) return;
    const bool map = *type == "map";
    if (map) mapItems(s, place);
    if (!s.items->schema) return;
    const Schema& item = *s.items->schema;
    if (item.nullable) {
      forbid(items.child("nullable"),
             fmt::format("cannot be nullable when x-kubernetes-list-type is {}", *type));
    }
    if (map) mapKeys(s, item, items.child("properties"));
  }

  void mapItems(const Schema& s, const SchemaPlace& place) {
    const SchemaPlace keysPlace = place.child("x-kubernetes-list-map-keys");
    const SchemaPlace items = place.child("items");
    if (s.xKubernetesListMapKeys.empty()) {
      require(keysPlace, "must not be empty if x-kubernetes-list-type is map");
    }
    if (!s.items) require(items, "must have a schema if x-kubernetes-list-type is map");
    if (!s.items->schema) return;
    const Schema& item = *s.items->schema;
    if (item.type != "object") {
      invalid(items.child("type"), item.type,
              "must be object if parent array's x-kubernetes-list-type is map");
      return;
    }
    Value::Array keys;
    for (const String& key : s.xKubernetesListMapKeys) keys.push_back(key);
    std::set<std::string_view> seen;
    for (const String& key : s.xKubernetesListMapKeys) {
      const auto at = item.properties.find(key);
      if (at == item.properties.end()) {
        invalid(keysPlace, keys, "entries must all be names of item properties");
      } else if (at->value.type == "array" || at->value.type == "object") {
        invalid(items.child("properties").key(key).child("type"), item.type,
                "must be a scalar type if parent array's x-kubernetes-list-type is map");
      }
      if (!seen.insert(key).second) invalid(keysPlace, keys, "must not contain duplicate entries");
    }
  }

  void mapKeys(const Schema& s, const Schema& item, const SchemaPlace& properties) {
    for (const String& key : s.xKubernetesListMapKeys) {
      const auto at = item.properties.find(key);
      if (at == item.properties.end()) continue;
      const bool required =
          std::find(item.required.begin(), item.required.end(), key) != item.required.end();
      const SchemaPlace place = properties.key(key);
      if (!required && !at->value.default_) {
        require(place.child("default"),
                "this property is in x-kubernetes-list-map-keys, so it must have a default or be a "
                "required property");
      }
      if (at->value.nullable) {
        forbid(place.child("nullable"),
               "this property is in x-kubernetes-list-map-keys, so it cannot be nullable");
      }
    }
  }

  // The CEL expression itself is not evaluated.
  void rule(const apiextensionsv1::ValidationRule& rule, const SchemaPlace& place) {
    const auto blank = [](std::string_view text) {
      return text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos;
    };
    const auto trimmedHasBreaks = [](std::string_view text) {
      const std::size_t end = text.find_last_not_of(" \t\r\n\v\f");
      const std::size_t at = text.find_first_of("\r\n", text.find_first_not_of(" \t\r\n\v\f"));
      return at != std::string_view::npos && at < end;
    };
    if (blank(rule.rule)) {
      require(place.child("rule"), "rule is not specified");
    } else if (!rule.message.empty() && blank(rule.message)) {
      invalid(place.child("message"), rule.message, "must be non-empty if specified");
    } else if (!rule.message.empty() && trimmedHasBreaks(rule.message)) {
      invalid(place.child("message"), rule.message, "must not contain line breaks");
    } else if (trimmedHasBreaks(rule.rule) && rule.message.empty()) {
      require(place.child("message"), "message must be specified if rule contains line breaks");
    }
    if (!rule.messageExpression.empty() && blank(rule.messageExpression)) {
      require(place.child("messageExpression"), "messageExpression must be non-empty if specified");
    }
    if (rule.reason && *rule.reason != "FieldValueRequired" &&
        *rule.reason != "FieldValueForbidden" && *rule.reason != "FieldValueInvalid" &&
        *rule.reason != "FieldValueDuplicate") {
      unsupportedValue(place.child("reason"), *rule.reason,
                       {"FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid",
                        "FieldValueRequired"});
    }
    if (!rule.fieldPath.empty() && blank(rule.fieldPath)) {
      invalid(place.child("fieldPath"), rule.fieldPath, "must be non-empty if specified");
    }
    if (rule.fieldPath.view().find_first_of("\r\n") != std::string_view::npos) {
      invalid(place.child("fieldPath"), rule.fieldPath, "must not contain line breaks");
    }
  }

  FoundErrors found_;
};

}  // namespace

FieldErrors openApiErrors(const Schema& schema, const SchemaPlace& place) {
  OpenApiCheck check;
  check.walk(schema, place, {.root = true});
  return check.done();
}

}  // namespace kube::apiserver
