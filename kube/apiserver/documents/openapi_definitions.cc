#include "kube/apiserver/documents/openapi_definitions.h"

#include <algorithm>
#include <utility>

#include "kube/api/packages.h"
#include "kube/codec/schema_keywords.h"
#include "kube/meta/v1.h"

namespace kube::apiserver {

namespace {

constexpr std::string_view kApiextensions =
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.";

// Upstream names a schema after its Go package.
std::string goPackage(std::string_view package) {
  const auto slash = package.find('/');
  const std::string_view group = package.substr(0, slash);
  std::string path = "io.k8s.api.";
  if (group == "meta") path = "io.k8s.apimachinery.pkg.apis.";
  if (group == "apiextensions") path = "io.k8s.apiextensions-apiserver.pkg.apis.";
  if (group == "apiregistration") path = "io.k8s.kube-aggregator.pkg.apis.";
  if (group == "metrics") path = "io.k8s.metrics.pkg.apis.";
  return path.append(group).append(".").append(package.substr(slash + 1)).append(".");
}

// The name of a built-in type; empty for others.
std::string_view builtInName(const TypeInfo& type) {
  static const auto* const names = [] {
    auto* all = new std::unordered_map<const TypeInfo*, std::string>();
    for (const ApiPackage& package : builtInPackages()) {
      const std::string prefix = goPackage(package.name);
      for (const TypeInfo* entry : package.types) {
        all->emplace(entry, prefix + std::string(entry->name));
      }
    }
    return all;
  }();
  const auto at = names->find(&type);
  return at != names->end() ? std::string_view(at->second) : std::string_view();
}

// The schema of a type and format, shared by all fields that have them.
const Value& plain(std::string_view type, std::string_view format = "") {
  static const auto* const all = [] {
    auto* schemas = new std::map<std::pair<std::string_view, std::string_view>, Value>();
    for (const auto& [type, format] :
         std::initializer_list<std::pair<std::string_view, std::string_view>>{
             {"boolean", ""},
             {"integer", "int32"},
             {"integer", "int64"},
             {"number", "double"},
             {"string", ""},
             {"string", "byte"},
             {"string", "date-time"},
             {"string", "int-or-string"},
             {"object", ""}}) {
      Value& schema = (*schemas)[{type, format}];
      schema["type"] = type;
      if (!format.empty()) schema["format"] = format;
    }
    return schemas;
  }();
  return all->at({type, format});
}

Value group(const GroupVersion& version, std::string_view kind) {
  return Value::Object{{"group", version.group}, {"kind", kind}, {"version", version.version}};
}

// A number or a text, with the form of each OpenAPI version.
Value eitherOf(std::string_view a, std::string_view b, std::string_view format) {
  Value schema;
  for (const std::string_view type : {a, b}) {
    schema["oneOf"].array().push_back(Value::Object{{"type", type}});
  }
  if (!format.empty()) schema["format"] = format;
  return schema;
}

}  // namespace

std::string customDefinitionName(const GroupVersionKind& gvk) {
  std::string name;
  std::string_view rest = gvk.group;
  while (!rest.empty()) {
    const auto dot = rest.rfind('.');
    const std::size_t from = dot == std::string_view::npos ? 0 : dot + 1;
    name.append(rest.substr(from)).append(".");
    rest = rest.substr(0, from == 0 ? 0 : dot);
  }
  return name.append(gvk.version).append(".").append(gvk.kind);
}

Value gvkExtension(const GroupVersionKind& gvk) {
  return Value::Array{group(gvk.groupVersion(), gvk.kind)};
}

Value OpenApiDefinitions::refTo(std::string_view name) const {
  const std::string_view where =
      form_ == OpenApiForm::V2 ? "#/definitions/" : "#/components/schemas/";
  return Value::Object{{"$ref", std::string(where).append(name)}};
}

Value OpenApiDefinitions::take() && {
  Value all = Value::Object();
  for (auto& [name, schema] : schemas_) all[name] = std::move(schema);
  return all;
}

const std::string& OpenApiDefinitions::add(const TypeInfo& type, std::string_view prefix) {
  const auto [at, fresh] = names_.try_emplace(&type);
  std::string& name = at->second;  // a stable reference, even if others are added
  if (!fresh) return name;
  name = builtInName(type);
  if (name.empty() && type.resource != nullptr) {
    const ResourceInfo& info = *type.resource;
    name = customDefinitionName({info.group, info.version, info.kind});
  } else if (name.empty()) {
    name = std::string(prefix).append(type.name);
  }
  schemas_[String(name)] = schemaOf(type, name);
  return name;
}

Value OpenApiDefinitions::schemaOf(const TypeInfo& type, std::string_view name) {
  if (type.form != JsonForm::Object) return Value::Object();  // any value
  const std::string_view prefix = name.substr(0, name.rfind('.') + 1);
  Value schema = plain("object");
  for (const FieldInfo& field : type.fields) {
    schema["properties"][field.name] = property(type, field, prefix);
    if (field.required()) schema["required"].array().push_back(field.name);
  }
  if (type.atomic) schema["x-kubernetes-map-type"] = "atomic";
  // A WatchEvent has a kind but is not a resource.
  const bool event = &type == &TypeOf<metav1::WatchEvent>::info;
  if (type.resource == nullptr && !event) return schema;
  if (!event) {
    schema["properties"]["apiVersion"] = plain("string");
    schema["properties"]["kind"] = plain("string");
  }
  Value& kinds = schema["x-kubernetes-group-version-kind"];
  if (event || &type == &TypeOf<metav1::DeleteOptions>::info) {
    for (const GroupVersion& version : versions_)
      kinds.array().push_back(group(version, type.name));
  } else {
    const ResourceInfo& info = *type.resource;
    kinds = gvkExtension({info.group, info.version, info.kind});
  }
  return schema;
}

Value OpenApiDefinitions::property(const TypeInfo& owner, const FieldInfo& field,
                                   std::string_view prefix) {
  Value one = element(owner, field, prefix);
  Value schema;
  if (field.shape == Shape::List) {
    schema = Value::Object{{"items", std::move(one)}, {"type", "array"}};
  } else if (field.shape == Shape::Map) {
    schema = Value::Object{{"additionalProperties", std::move(one)}, {"type", "object"}};
  } else if (field.merge != nullptr && form_ == OpenApiForm::V3 &&
             field.kind == FieldKind::Message) {
    schema["allOf"].array().push_back(std::move(one));  // in 3.0, a reference cannot have siblings
  } else {
    schema = std::move(one);
  }
  if (field.merge != nullptr) addMergeKeywords(schema, *field.merge);
  return schema;
}

Value OpenApiDefinitions::element(const TypeInfo& owner, const FieldInfo& field,
                                  std::string_view prefix) {
  switch (field.kind) {
    case FieldKind::Bool:
      return plain("boolean");
    case FieldKind::Int32:
      return plain("integer", "int32");
    case FieldKind::Int64:
      return plain("integer", "int64");
    case FieldKind::Double:
      return plain("number", "double");
    case FieldKind::String:
      return plain("string");
    case FieldKind::Bytes:
      return plain("string", "byte");
    case FieldKind::Time:
      return library("io.k8s.apimachinery.pkg.apis.meta.v1.Time");
    case FieldKind::MicroTime:
      return library("io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime");
    case FieldKind::Duration:
      return library("io.k8s.apimachinery.pkg.apis.meta.v1.Duration");
    case FieldKind::Quantity:
      return library("io.k8s.apimachinery.pkg.api.resource.Quantity");
    case FieldKind::IntOrString:
      return library("io.k8s.apimachinery.pkg.util.intstr.IntOrString");
    case FieldKind::Raw:
      return rawElement(owner, field);
    case FieldKind::Strings:
      return Value::Object{{"items", plain("string")}, {"type", "array"}};
    case FieldKind::Value:
      break;
    case FieldKind::Message:
      return refTo(add(*field.type, prefix));
  }
  return Value::Object();
}

Value OpenApiDefinitions::rawElement(const TypeInfo& owner, const FieldInfo& field) {
  if (&owner == &TypeOf<metav1::ManagedFieldsEntry>::info && field.name == "fieldsV1") {
    return library("io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1");
  }
  const std::string& name = names_.at(&owner);
  if (!name.starts_with(kApiextensions)) {
    return library("io.k8s.apimachinery.pkg.runtime.RawExtension");
  }
  // Any JSON: for the defaults and enumerations of schemas.
  const std::string json = name.substr(0, name.rfind('.')) + ".JSON";
  put(json, Value::Object());
  return refTo(json);
}

// Types that the library implements by hand.
Value OpenApiDefinitions::library(std::string_view name) {
  if (Value& schema = schemas_[String(name)]; schema.isNull()) {
    const bool v3 = form_ == OpenApiForm::V3;
    if (name.ends_with("Time")) {
      schema = plain("string", "date-time");
    } else if (name.ends_with("Duration")) {
      schema = plain("string");
    } else if (name.ends_with("Quantity")) {
      schema = v3 ? eitherOf("string", "number", "") : plain("string");
    } else if (name.ends_with("IntOrString")) {
      schema =
          v3 ? eitherOf("integer", "string", "int-or-string") : plain("string", "int-or-string");
    } else {
      schema = plain("object");
    }
  }
  return refTo(name);
}

}  // namespace kube::apiserver
