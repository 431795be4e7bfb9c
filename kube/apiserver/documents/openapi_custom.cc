#include "kube/apiserver/documents/openapi_custom.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "kube/codec/unstructured.h"
#include "kube/meta/v1.h"

namespace kube::apiserver {

namespace {

constexpr std::string_view kPreserve = "x-kubernetes-preserve-unknown-fields";
constexpr std::string_view kEmbedded = "x-kubernetes-embedded-resource";
constexpr std::string_view kIntOrString = "x-kubernetes-int-or-string";

Value stringSchema() { return Value::Object{{"type", "string"}}; }

void addTypeMeta(Value& schema) {
  schema["properties"]["apiVersion"] = stringSchema();
  schema["properties"]["kind"] = stringSchema();
}

void require(Value& schema, std::string_view name) {
  auto& required = schema["required"].array();
  if (std::find(required.begin(), required.end(), Value(name)) == required.end()) {
    required.push_back(name);
  }
}

// Converts the schema of a CRD to one of the document, in place.
class Conversion {
 public:
  explicit Conversion(OpenApiDefinitions& definitions)
      : definitions_(definitions), v2_(definitions.form() == OpenApiForm::V2) {}

  void run(Value& schema) const {
    const bool open = std::as_const(schema)[kPreserve].asBool();
    // Keys that structural schemas do not have.
    for (const char* key : {"id", "$schema", "$ref", "definitions", "dependencies",
                            "patternProperties", "additionalItems"}) {
      schema.object().erase(key);
    }
    if (v2_) {
      restrict(schema, open);
    } else if (std::as_const(schema)[kIntOrString].asBool()) {
      unfoldIntOrString(schema);
    }
    descend(schema);
    // If the metadata had a schema, kubectl would refuse the unknown fields beside it.
    if (std::as_const(schema)[kEmbedded].asBool() && !(v2_ && open)) embed(schema);
  }

 private:
  // Removes the parts that OpenAPI 2.0, or kubectl's reading of it, does not support.
  static void restrict(Value& schema, bool open) {
    for (const char* key : {"allOf", "anyOf", "oneOf", "not"}) schema.object().erase(key);
    const bool nullable = std::as_const(schema)["nullable"].asBool();
    schema.object().erase("nullable");
    if (nullable) schema.object().erase("type");
    if (nullable || open) {
      schema.object().erase("items");
      schema.object().erase("properties");
    }
    const String type = std::as_const(schema)["type"].asString();
    const bool shapeless = type == "array" && !std::as_const(schema)["items"].isObject();
    if (shapeless || (open && type == "object")) schema.object().erase("type");
    // A nullable field has no type here, so it cannot be required either.
    Value required = std::as_const(schema)["required"];
    if (!required.isArray()) return;
    erase_if(required.array(), [&](const Value& name) {
      return std::as_const(schema)["properties"][name.asString()]["nullable"].asBool();
    });
    if (required.asArray().empty()) {
      schema.object().erase("required");
    } else {
      schema["required"] = std::move(required);
    }
  }

  static void unfoldIntOrString(Value& schema) {
    const Value& read = schema;
    if (!read["anyOf"].isNull() || !read["allOf"].isNull()) return;
    for (const char* type : {"integer", "string"}) {
      schema["anyOf"].array().push_back(Value::Object{{"type", type}});
    }
  }

  void descend(Value& schema) const {
    const Value& read = schema;
    for (const char* key : {"items", "additionalProperties"}) {
      if (read[key].isObject()) run(schema[key]);
    }
    if (!read["properties"].isObject()) return;
    Value properties = read["properties"];
    for (const auto& [name, property] : read["properties"].asObject()) {
      if (property.isObject()) run(properties[name]);
    }
    schema["properties"] = std::move(properties);
  }

  void embed(Value& schema) const {
    addTypeMeta(schema);
    schema["properties"]["metadata"] = definitions_.refTo(TypeOf<metav1::ObjectMeta>::info);
    require(schema, "kind");
    require(schema, "apiVersion");
  }

  OpenApiDefinitions& definitions_;
  const bool v2_;
};

}  // namespace

Value customSchema(const Shared<apiextensionsv1::JSONSchemaProps>& schema,
                   const GroupVersionKind& gvk, OpenApiDefinitions& definitions) {
  const bool open = schema->xKubernetesPreserveUnknownFields.value_or(false);
  Value converted = Value::Object{{"type", "object"}};
  // Without properties, kubectl accepts any field; with some, it refuses all others.
  if (schema && !(open && definitions.form() == OpenApiForm::V2)) {
    converted = toUnstructured(*schema).object;
    if (!converted.isObject()) converted = Value::Object();
    Conversion(definitions).run(converted);
    converted["properties"]["metadata"] = definitions.refTo(TypeOf<metav1::ObjectMeta>::info);
    addTypeMeta(converted);
  }
  converted["x-kubernetes-group-version-kind"] = gvkExtension(gvk);
  return converted;
}

Value customListSchema(const GroupVersionKind& gvk, const GroupVersionKind& listGvk,
                       OpenApiDefinitions& definitions) {
  Value schema = Value::Object{{"type", "object"}, {"required", Value::Array{"items"}}};
  addTypeMeta(schema);
  schema["properties"]["metadata"] = definitions.refTo(TypeOf<metav1::ListMeta>::info);
  schema["properties"]["items"] =
      Value::Object{{"type", "array"}, {"items", definitions.refTo(customDefinitionName(gvk))}};
  schema["x-kubernetes-group-version-kind"] = gvkExtension(listGvk);
  return schema;
}

}  // namespace kube::apiserver
