#include "test/crds/sample.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "kube/codec/schema_keywords.h"

namespace kube::crds {

namespace {

class Sampler {
 public:
  Value one(const Value& schema, std::string_view name) {
    if (!schema["enum"].asArray().empty()) return schema["enum"][0];
    if (schema["x-kubernetes-int-or-string"].asBool()) {
      return schema["pattern"] == kQuantityPattern ? Value("5Gi") : Value("80%");
    }
    if (schema["x-kubernetes-embedded-resource"].asBool()) return embedded(schema);
    const String type = schema["type"].asString();
    if (type == "string") return text(schema, name);
    if (type == "integer") return static_cast<std::int64_t>(std::ceil(number(schema)));
    if (type == "number") return number(schema) + 0.5;
    if (type == "boolean") return true;
    if (type == "array") return array(schema, name);
    if (type == "object" || schema["properties"].isObject()) return object(schema);
    return Value::Object{{"any", Value::Array{1, "thing", nullptr, 2.5}}};
  }

  Value object(const Value& schema) {
    Value result = Value::Object();
    for (const auto& [name, property] : schema["properties"].asObject()) {
      result[name] = one(property, name);
    }
    const Value& values = schema["additionalProperties"];
    if (values.isObject() || values.asBool()) {
      result["some-key"] = values.isObject() ? one(values, "key") : Value("anything");
    }
    if (schema["x-kubernetes-preserve-unknown-fields"].asBool()) {
      result["un known"] = Value::Object{{"deep", Value::Array{1, 2}}};
    }
    return result;
  }

 private:
  Value embedded(const Value& schema) {
    Value result = object(schema);
    result["apiVersion"] = "v1";
    if (!std::as_const(result)["kind"].isString()) result["kind"] = "ConfigMap";
    result["metadata"] = Value::Object{{"name", "inside"}};
    return result;
  }

  Value text(const Value& schema, std::string_view name) {
    const String format = schema["format"].asString();
    if (format == "date-time") return "2024-05-06T07:08:09Z";
    if (format == "date") return "2024-05-06";
    if (format == "duration") return "1h";
    if (format == "byte") return "aGVsbG8=";
    if (format == "uri") return "https://example.com/x";
    if (format == "ipv4" || format == "ip") return "10.0.0.1";
    if (format == "ipv6") return "fd00::1";
    if (format == "email") return "a@example.com";
    if (format == "uuid") return "123e4567-e89b-12d3-a456-426614174000";
    std::string result = std::string(name) + std::to_string(++count_);
    const auto least = static_cast<std::size_t>(schema["minLength"].asInt());
    if (result.size() < least) result.resize(least, 'x');
    if (!schema["maxLength"].isNull()) {
      result.resize(std::min(result.size(), static_cast<std::size_t>(schema["maxLength"].asInt())));
    }
    return result;
  }

  double number(const Value& schema) {
    double value = 7;
    if (!schema["minimum"].isNull()) value = std::max(value, schema["minimum"].asDouble() + 1);
    if (!schema["maximum"].isNull()) value = std::min(value, schema["maximum"].asDouble());
    return value;
  }

  Value array(const Value& schema, std::string_view name) {
    Value result = Value::Array();
    const auto least = std::max<std::int64_t>(1, schema["minItems"].asInt());
    for (std::int64_t i = 0; i < least; ++i) result.array().push_back(one(schema["items"], name));
    return result;
  }

  int count_ = 0;  // makes texts differ
};

}  // namespace

Value sampleOf(const Value& schema) { return Sampler().object(schema); }

Value withoutRules(const Value& schema) {
  if (!schema.isObject()) return schema;
  Value result = schema;
  const bool quantity = schema["pattern"] == kQuantityPattern;
  if (!quantity) result.object().erase("pattern");
  for (const char* key : {"x-kubernetes-validations", "oneOf", "not", "allOf", "multipleOf"}) {
    result.object().erase(key);
  }
  if (!schema["x-kubernetes-int-or-string"].asBool()) result.object().erase("anyOf");
  for (const char* key : {"items", "additionalProperties"}) {
    if (schema[key].isObject()) result[key] = withoutRules(schema[key]);
  }
  for (const auto& [name, property] : schema["properties"].asObject()) {
    result["properties"][name] = withoutRules(property);
  }
  return result;
}

}  // namespace kube::crds
