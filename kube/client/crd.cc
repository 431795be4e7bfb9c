#include "kube/client/crd.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/base/error.h"
#include "kube/base/internal/text.h"
#include "kube/client/retry.h"
#include "kube/client/wait.h"
#include "kube/codec/json.h"
#include "kube/codec/schema_keywords.h"
#include "kube/codec/unstructured.h"
#include "kube/meta/schema_notes.h"
#include "kube/meta/v1.h"

namespace kube {

namespace {

using Definition = apiextensionsv1::CustomResourceDefinition;

constexpr std::string_view kPreserve = "x-kubernetes-preserve-unknown-fields";
constexpr std::string_view kEmbedded = "x-kubernetes-embedded-resource";

Value of(std::string_view type, std::string_view format = {}) {
  Value schema = Value::Object{{"type", type}};
  if (!format.empty()) schema["format"] = format;
  return schema;
}

Value anyObject() { return Value::Object{{"type", "object"}, {kPreserve, true}}; }

Value intOrString() {
  return Value::Object{{"anyOf", Value::Array{of("integer"), of("string")}},
                       {"x-kubernetes-int-or-string", true}};
}

Value quantity() {
  Value schema = intOrString();
  schema["pattern"] = kQuantityPattern;
  return schema;
}

Value ruleSchema(const SchemaRule& rule) {
  Value result = Value::Object{{"rule", rule.rule}};
  const std::pair<const char*, const String*> texts[] = {
      {"message", &rule.message},
      {"messageExpression", &rule.messageExpression},
      {"reason", &rule.reason},
      {"fieldPath", &rule.fieldPath}};
  for (const auto& [key, text] : texts) {
    if (!text->empty()) result[key] = *text;
  }
  if (rule.optionalOldSelf) result["optionalOldSelf"] = *rule.optionalOldSelf;
  return result;
}

// Adds the notes; they override keywords that the schema has.
void addNotes(Value& schema, const FieldNotes& notes) {
  const auto text = [&](const char* key, const String& value) {
    if (!value.empty()) schema[key] = value;
  };
  const auto number = [&](const char* key, const auto& value) {
    if (value) schema[key] = *value;
  };
  const auto flag = [&](std::string_view key, bool value) {
    if (value) schema[key] = true;
  };
  text("description", notes.description);
  if (!notes.default_.isNull()) schema["default"] = notes.default_;
  number("minimum", notes.minimum);
  number("maximum", notes.maximum);
  flag("exclusiveMinimum", notes.exclusiveMinimum);
  flag("exclusiveMaximum", notes.exclusiveMaximum);
  number("multipleOf", notes.multipleOf);
  number("minLength", notes.minLength);
  number("maxLength", notes.maxLength);
  text("pattern", notes.pattern);
  text("format", notes.format);
  if (!notes.enum_.empty()) schema["enum"] = notes.enum_;
  number("minItems", notes.minItems);
  number("maxItems", notes.maxItems);
  number("minProperties", notes.minProperties);
  number("maxProperties", notes.maxProperties);
  flag("nullable", notes.nullable);
  flag(kEmbedded, notes.embeddedResource);
  flag(kPreserve, notes.preserveUnknownFields);
  for (const SchemaRule& rule : notes.rules) {
    schema["x-kubernetes-validations"].array().push_back(ruleSchema(rule));
  }
  for (const auto& [key, value] : notes.more) schema[key] = value;
}

class SchemaWriter {
 public:
  Value kind(const TypeInfo& type) {
    Value schema = object(type);
    for (const char* name : {"apiVersion", "kind"}) {
      if (!std::as_const(schema)["properties"].asObject().contains(name)) {
        schema["properties"][name] = of("string");
      }
    }
    return schema;
  }

  Value object(const TypeInfo& type) {
    if (type.form == JsonForm::Dynamic) {
      Value schema = anyObject();
      schema[kEmbedded] = true;
      return schema;
    }
    const bool again = std::ranges::find(open_, &type) != open_.end();
    if (type.form != JsonForm::Object || again) return Value::Object{{kPreserve, true}};
    open_.push_back(&type);
    const TypeNotes notes = notesOf(type);
    Value schema = of("object");
    if (const std::string_view text = notes.text({}); !text.empty()) schema = parseJson(text);
    addProperties(schema, type, notes);
    if (type.atomic) schema["x-kubernetes-map-type"] = "atomic";
    addNotes(schema, notes.self);
    open_.pop_back();
    return schema;
  }

 private:
  // Adds the properties of the table that the schema does not have yet.
  void addProperties(Value& schema, const TypeInfo& type, const TypeNotes& notes) {
    const bool says = !std::as_const(schema)["required"].isNull();
    for (const FieldInfo& info : type.fields) {
      if (!std::as_const(schema)["properties"][info.name].isNull()) continue;
      schema["properties"][info.name] = field(type, info, notes);
      if (info.required() && !says) schema["required"].array().push_back(info.name);
    }
  }

  Value field(const TypeInfo& owner, const FieldInfo& info, const TypeNotes& notes) {
    const std::string_view text = notes.text(info.name);
    Value schema = text.empty() ? derived(owner, info, notes) : whole(info, text);
    if (const auto at = notes.fields.find(info.name); at != notes.fields.end()) {
      addNotes(schema, at->second);
    }
    return schema;
  }

  Value derived(const TypeInfo& owner, const FieldInfo& info, const TypeNotes& notes) {
    // A definition has no schema for the metadata of its own objects.
    if (owner.resource != nullptr && info.type == &TypeOf<metav1::ObjectMeta>::info) {
      return of("object");
    }
    Value one = element(info);
    if (info.shape != Shape::List && info.shape != Shape::Map) {
      if (info.merge != nullptr) addMergeKeywords(one, *info.merge);
      return one;
    }
    if (const auto at = notes.items.find(info.name); at != notes.items.end()) {
      addNotes(one, at->second);
    }
    const bool list = info.shape == Shape::List;
    Value schema = of(list ? "array" : "object");
    schema[list ? "items" : "additionalProperties"] = std::move(one);
    if (info.merge != nullptr) addMergeKeywords(schema, *info.merge);
    return schema;
  }

  // Returns the schema from the text. If it describes a struct, properties that it lacks are added
  // from the table.
  Value whole(const FieldInfo& info, std::string_view text) {
    Value schema = parseJson(text);
    if (info.kind != FieldKind::Message || info.type->form != JsonForm::Object) return schema;
    const char* inside = info.shape == Shape::List  ? "items"
                         : info.shape == Shape::Map ? "additionalProperties"
                                                    : nullptr;
    Value& target = inside != nullptr ? schema[inside] : schema;
    if (!std::as_const(target)["properties"].isObject()) return schema;
    if (std::ranges::find(open_, info.type) != open_.end()) {
      target = Value::Object{{kPreserve, true}};
      return schema;
    }
    open_.push_back(info.type);
    addProperties(target, *info.type, notesOf(*info.type));
    open_.pop_back();
    return schema;
  }

  Value element(const FieldInfo& info) {
    switch (info.kind) {
      case FieldKind::Bool:
        return of("boolean");
      case FieldKind::Int32:
        return of("integer", "int32");
      case FieldKind::Int64:
        return of("integer", "int64");
      case FieldKind::Double:
        return of("number", "double");
      case FieldKind::String:
      case FieldKind::Duration:
        return of("string");
      case FieldKind::Bytes:
        return of("string", "byte");
      case FieldKind::Time:
      case FieldKind::MicroTime:
        return of("string", "date-time");
      case FieldKind::Quantity:
        return quantity();
      case FieldKind::IntOrString:
        return intOrString();
      case FieldKind::Raw:
        return anyObject();
      case FieldKind::Strings:
        return Value::Object{{"type", "array"}, {"items", of("string")}};
      case FieldKind::Value:
        return Value::Object{{kPreserve, true}};
      case FieldKind::Message:
        return object(*info.type);
    }
    return Value::Object();
  }

  std::vector<const TypeInfo*> open_;  // the types around the current one
};

// ---- The parts around the schemas.

template <class T>
T decoded(Value value, std::string_view what) {
  try {
    return fromUnstructured<T>(Unstructured(std::move(value)), {.strict = false});
  } catch (const DecodeError& error) {
    throw Error(fmt::format("{}: {}", what, error.what()));
  }
}

void addAll(List<String>& list, const auto& texts) {
  for (const auto& text : texts) {
    if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(String(text));
  }
}

void setNames(apiextensionsv1::CustomResourceDefinitionNames& names, const ResourceInfo& resource,
              const KindNotes& notes) {
  names.plural = String(resource.plural);
  names.kind = String(resource.kind);
  names.singular = String(resource.singular);
  if (names.singular.empty()) {
    names.singular = String(detail::lower(resource.kind));
  }
  names.listKind = resource.listKind.empty() ? String(std::string(resource.kind) + "List")
                                             : String(resource.listKind);
  addAll(names.shortNames, resource.shortNames);
  addAll(names.shortNames, notes.shortNames);
  addAll(names.categories, resource.categories);
  addAll(names.categories, notes.categories);
}

bool hasSubresource(const ResourceInfo& resource, std::string_view name) {
  return std::ranges::find(resource.subresources, name, &ResourceInfo::Subresource::name) !=
         resource.subresources.end();
}

void setSubresources(apiextensionsv1::CustomResourceDefinitionVersion& version,
                     const ResourceInfo& resource, const KindNotes& notes) {
  if (notes.status || hasSubresource(resource, "status")) {
    version.subresources->status = Shared<apiextensionsv1::CustomResourceSubresourceStatus>(
        apiextensionsv1::CustomResourceSubresourceStatus{});
  }
  if (!notes.scale && !hasSubresource(resource, "scale")) return;
  const ScalePlaces places = notes.scale.value_or(ScalePlaces());
  auto& scale = version.subresources->scale;
  scale->specReplicasPath = places.specReplicasPath;
  scale->statusReplicasPath = places.statusReplicasPath;
  if (!places.labelSelectorPath.empty()) scale->labelSelectorPath = places.labelSelectorPath;
}

apiextensionsv1::CustomResourceDefinitionVersion versionOf(const TypeInfo& type,
                                                           const TypeNotes& notes) {
  const ResourceInfo& resource = *type.resource;
  apiextensionsv1::CustomResourceDefinitionVersion version;
  if (!notes.version.empty()) {
    version = decoded<apiextensionsv1::CustomResourceDefinitionVersion>(parseJson(notes.version),
                                                                        type.name);
  } else {
    version.served = !resource.retired;
    version.deprecated = notes.kind.deprecated;
    if (!notes.kind.deprecationWarning.empty()) {
      version.deprecationWarning = notes.kind.deprecationWarning;
    }
    setSubresources(version, resource, notes.kind);
    for (const PrinterColumn& column : notes.kind.columns) {
      version.additionalPrinterColumns.push_back({.name = column.name,
                                                  .type = column.type,
                                                  .format = column.format,
                                                  .description = column.description,
                                                  .priority = column.priority,
                                                  .jsonPath = column.jsonPath});
    }
    for (const String& field : notes.kind.selectableFields) {
      version.selectableFields.push_back({.jsonPath = field});
    }
  }
  version.name = String(resource.version);
  version.schema->openAPIV3Schema = Shared<apiextensionsv1::JSONSchemaProps>(schemaOf(type));
  return version;
}

const ResourceInfo& resourceOf(const TypeInfo& type) {
  if (type.resource != nullptr && !type.resource->plural.empty() && !type.resource->group.empty()) {
    return *type.resource;
  }
  throw Error(
      fmt::format("{}: a definition needs a kind with .group and .plural: see "
                  "KUBE_DESCRIBE_KIND",
                  type.name));
}

// ---- Installing on a server.

// Returns the live definition with the wanted changes.
Definition wanted(const Definition& live, const Definition& crd) {
  Definition result = live;
  for (const auto& [key, value] : crd.metadata.labels) result.metadata.labels[key] = value;
  for (const auto& [key, value] : crd.metadata.annotations) {
    result.metadata.annotations[key] = value;
  }
  result.spec = crd.spec;
  if (!crd.spec->conversion) result.spec->conversion = live.spec->conversion;
  return result;
}

const apiextensionsv1::CustomResourceDefinitionCondition* condition(const Definition& crd,
                                                                    std::string_view type) {
  for (const auto& each : crd.status->conditions) {
    if (each.type == type) return &each;
  }
  return nullptr;
}

bool isEstablished(const Definition& crd) {
  const auto* names = condition(crd, "NamesAccepted");
  if (names != nullptr && names->status == "False") {
    throw Error(
        fmt::format("customresourcedefinitions \"{}\": the server does not accept its names: {}",
                    crd.metadata.name, names->message));
  }
  const auto* established = condition(crd, "Established");
  return established != nullptr && established->status == "True";
}

Task<Definition> put(const AsyncResourceClient<Definition>& client, const Definition& crd) {
  const auto live = co_await client.find(crd.metadata.name);
  if (!live) co_return co_await client.create(crd);
  if (live->metadata.deletionTimestamp) {
    throw Error(
        fmt::format("customresourcedefinitions \"{}\": it is being deleted: wait until it "
                    "is gone, and try again",
                    crd.metadata.name));
  }
  const Definition next = wanted(*live, crd);
  if (next == *live) co_return *live;
  co_return co_await client.update(next);
}

Task<Definition> ensureTask(AsyncResourceClient<Definition> client, Definition crd,
                            EnsureCrdOptions options) {
  const auto again = [](const std::exception& error) {
    return isConflict(error) || isAlreadyExists(error);
  };
  const auto act = [&] { return put(client, crd); };
  const Definition there = co_await retryOnError(again, act, kDefaultRetry);
  if (isEstablished(there)) co_return there;
  const auto established = [&](const Definition* now) {
    if (now == nullptr) {
      throw Error(
          fmt::format("customresourcedefinitions \"{}\": it was deleted while waiting for it",
                      crd.metadata.name));
    }
    return isEstablished(*now);
  };
  auto found = co_await waitFor(client, crd.metadata.name, established, options.timeout);
  co_return *std::move(found);
}

}  // namespace

apiextensionsv1::JSONSchemaProps schemaOf(const TypeInfo& type) {
  SchemaWriter writer;
  Value schema = type.resource != nullptr ? writer.kind(type) : writer.object(type);
  return decoded<apiextensionsv1::JSONSchemaProps>(std::move(schema), type.name);
}

Definition crdOf(std::span<const TypeInfo* const> versions) {
  if (versions.empty()) throw Error("a definition needs a version");
  const ResourceInfo& first = resourceOf(*versions[0]);
  Definition crd;
  crd.metadata.name = String(fmt::format("{}.{}", first.plural, first.group));
  crd.spec->group = String(first.group);
  crd.spec->scope = first.namespaced ? "Namespaced" : "Cluster";
  for (const TypeInfo* type : versions) {
    const ResourceInfo& resource = resourceOf(*type);
    if (resource.group != first.group || resource.kind != first.kind ||
        resource.plural != first.plural || resource.namespaced != first.namespaced) {
      throw Error(fmt::format("{} {} and {} {} are not versions of one resource",
                              first.apiVersion(), first.kind, resource.apiVersion(),
                              resource.kind));
    }
    const TypeNotes notes = notesOf(*type);
    crd.spec->versions.push_back(versionOf(*type, notes));
    setNames(crd.spec->names.write(), resource, notes.kind);
  }
  // Generated types name the stored version; otherwise it is the first.
  auto& all = crd.spec->versions;
  const auto stored = std::ranges::count_if(all, [](const auto& each) { return each.storage; });
  if (stored != 1) {
    for (std::size_t i = 0; i < all.size(); ++i) all[i].storage = i == 0;
  }
  return crd;
}

Task<Definition> ensureCrd(const AsyncResourceClient<Definition>& client, const Definition& crd,
                           const EnsureCrdOptions& options) {
  return ensureTask(client, crd, options);
}
Definition ensureCrd(const RestClient& rest, const Definition& crd, const EnsureCrdOptions& options,
                     const std::stop_token& stop) {
  return detail::runBlocking(ensureTask(ResourceClient<Definition>(rest).async(), crd, options),
                             stop);
}

}  // namespace kube
