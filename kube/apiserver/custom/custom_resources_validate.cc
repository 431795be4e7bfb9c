// Validation of CustomResourceDefinitions.
#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "kube/apiserver/custom/custom_approval.h"
#include "kube/apiserver/custom/custom_resources.h"
#include "kube/base/internal/text.h"
#include "kube/base/internal/utf8.h"
#include "kube/base/joined.h"
#include "kube/codec/unstructured.h"
#include "kube/meta/validation/object_validation.h"
#include "kube/meta/validation/validation.h"

namespace kube::apiserver {

namespace {

using apiextensionsv1::JSONSchemaProps;
using Definition = apiextensionsv1::CustomResourceDefinition;
using Names = apiextensionsv1::CustomResourceDefinitionNames;
using Version = apiextensionsv1::CustomResourceDefinitionVersion;

constexpr std::size_t kMaxSelectableFields = 8;

// The parts that all versions have in common. An API server stores them once, under these names.
struct Common {
  explicit Common(const List<Version>& versions) {
    const auto same = [&](auto field) {
      return std::all_of(versions.begin(), versions.end(),
                         [&](const Version& each) { return each.*field == versions[0].*field; });
    };
    schema = same(&Version::schema);
    subresources = same(&Version::subresources);
    columns = same(&Version::additionalPrinterColumns);
    selectableFields = same(&Version::selectableFields);
  }

  bool schema, subresources, columns, selectableFields;
};

class DefinitionCheck {
 public:
  void run(const Definition& crd, const Definition* old) {
    metadata(crd, old);
    const auto& spec = crd.spec.read();
    group(spec.group);
    oneOf(spec_.child("scope"), spec.scope, {"Cluster", "Namespaced"});
    const Common common(spec.versions);
    versions(spec.versions, common);
    names(spec.names.read(), spec_.child("names"), /*required=*/true);
    if (!spec.versions.empty()) allVersions(spec.versions[0], common);
    conversion(spec.conversion.read());
    if (old != nullptr) unchanged(crd, *old);
    names(crd.status->acceptedNames.read(), ErrorPath("status.acceptedNames"), false);
    storedVersions(crd);
    approval(crd, old);
    if (spec.preserveUnknownFields) {
      invalid(spec_.child("preserveUnknownFields"), true,
              "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
              "spec.versions[*].schema instead");
    }
  }

  FieldErrors done() { return std::move(errors_); }

 private:
  void require(const ErrorPath& path, std::string_view why = {}) {
    errors_.push_back(FieldError::required(path, why));
  }
  void invalid(const ErrorPath& path, Value value, std::string_view why) {
    errors_.push_back(FieldError::invalid(path, std::move(value), why));
  }
  void forbid(const ErrorPath& path, std::string_view why) {
    errors_.push_back(FieldError::forbidden(path, why));
  }
  void unlessValid(const ErrorPath& path, const String& value, const validation::Reasons& reasons,
                   std::string_view before = {}) {
    if (!reasons.empty()) invalid(path, value, fmt::format("{}{}", before, joined(reasons, ",")));
  }
  void oneOf(const ErrorPath& path, const String& value,
             std::initializer_list<std::string_view> accepted) {
    if (value.empty()) {
      require(path);
    } else if (std::find(accepted.begin(), accepted.end(), value.view()) == accepted.end()) {
      errors_.push_back(FieldError::notSupported(path, value, accepted));
    }
  }

  void metadata(const Definition& crd, const Definition* old) {
    if (old != nullptr) {
      append(errors_, validation::validateObjectMetaUpdate(crd.metadata, old->metadata));
      return;
    }
    const std::string wanted = crd.spec->names->plural + "." + crd.spec->group;
    const validation::ObjectMetaRules rules{
        .namespaced = false, .name = [&](std::string_view name, bool prefix) {
          validation::Reasons reasons = validation::nameIsDNSSubdomain(name, prefix);
          if (name != wanted) {
            reasons.push_back("must be spec.names.plural+\".\"+spec.group");
          }
          return reasons;
        }};
    append(errors_, validation::validateObjectMeta(crd.metadata, rules));
  }

  void group(const String& group) {
    const ErrorPath path = spec_.child("group");
    if (group.empty()) {
      require(path);
    } else if (const auto reasons = validation::isDNS1123Subdomain(group); !reasons.empty()) {
      unlessValid(path, group, reasons);
    } else if (group.view().find('.') == std::string_view::npos) {
      invalid(path, group, "should be a domain with at least one dot");
    }
  }

  void versions(const List<Version>& versions, const Common& common) {
    const ErrorPath all = spec_.child("versions");
    for (std::size_t i = 0; i < versions.size(); ++i) {
      if (!versions[i].schema->openAPIV3Schema) {
        require(all.index(i).child("schema").child("openAPIV3Schema"));
      }
    }
    Value::Array shown;
    std::set<std::string_view> seen;
    std::size_t stored = 0;
    for (std::size_t i = 0; i < versions.size(); ++i) {
      const Version& version = versions[i];
      const ErrorPath path = all.index(i);
      shown.push_back(version.name);
      seen.insert(version.name);
      if (version.storage) ++stored;
      unlessValid(path.child("name"), version.name, validation::isDNS1035Label(version.name));
      deprecation(version, path.child("deprecationWarning"));
      if (!common.schema) schema(version, path.child("schema"));
      if (!common.subresources) subresources(version, path.child("subresources"));
      if (!common.columns) columns(version, path.child("additionalPrinterColumns"));
      if (!common.selectableFields) selectableFields(version, path.child("selectableFields"));
    }
    if (seen.size() != versions.size()) invalid(all, shown, "must contain unique version names");
    if (stored != 1) {
      invalid(all, shown, "must have exactly one version marked as storage version");
    }
    // An API server stores the first version under this name, too.
    if (!versions.empty()) {
      unlessValid(spec_.child("version"), versions[0].name,
                  validation::isDNS1035Label(versions[0].name));
    }
  }

  void allVersions(const Version& any, const Common& common) {
    if (common.schema) schema(any, spec_.child("validation"));
    if (common.subresources) subresources(any, spec_.child("subresources"));
    if (common.columns) columns(any, spec_.child("additionalPrinterColumns"));
    if (common.selectableFields) selectableFields(any, spec_.child("selectableFields"));
  }

  void deprecation(const Version& version, const ErrorPath& path) {
    if (!version.deprecationWarning) return;
    const std::string_view text = *version.deprecationWarning;
    if (!version.deprecated) {
      invalid(path, text, "can only be set for deprecated versions");
      return;
    }
    if (text.size() > 256) invalid(path, text, "must be <= 256 characters long");
    if (text.empty()) invalid(path, text, "must not be an empty string");
    for (std::size_t at = 0; at < text.size();) {
      char32_t code = 0;
      const std::size_t length = kube::detail::decodeUtf8(text, at, code);
      if (length == 0 || !kube::detail::isPrintable(code)) {
        invalid(path, text,
                fmt::format("must only contain printable UTF-8 characters; non-printable character "
                            "found at index {}",
                            at));
        return;
      }
      at += length;
    }
  }

  void schema(const Version& version, const ErrorPath& path) {
    if (!version.schema->openAPIV3Schema) return;
    const JSONSchemaProps& schema = *version.schema->openAPIV3Schema;
    const ErrorPath place = path.child("openAPIV3Schema");
    if (version.subresources->status) rootForStatus(schema, place);
    if (schema.nullable) forbid(place.child("nullable"), "nullable cannot be true at the root");
    append(errors_, StructuralSchema::check(schema, place));
  }

  // The root must allow the status to be validated apart from the object.
  void rootForStatus(const JSONSchemaProps& schema, const ErrorPath& path) {
    if (!schema.type.empty() && schema.type != "object") {
      invalid(path.child("type"), schema.type,
              "only \"object\" is allowed as the type at the root of the schema if the status "
              "subresource is enabled");
      return;
    }
    const JSONSchemaProps allowed{
        .description = schema.description,
        .type = schema.type,
        .format = schema.format,
        .title = schema.title,
        .maximum = schema.maximum,
        .exclusiveMaximum = schema.exclusiveMaximum,
        .minimum = schema.minimum,
        .exclusiveMinimum = schema.exclusiveMinimum,
        .maxLength = schema.maxLength,
        .minLength = schema.minLength,
        .pattern = schema.pattern,
        .maxItems = schema.maxItems,
        .minItems = schema.minItems,
        .uniqueItems = schema.uniqueItems,
        .multipleOf = schema.multipleOf,
        .required = schema.required,
        .items = schema.items,
        .properties = schema.properties,
        .externalDocs = schema.externalDocs,
        .example = schema.example,
        .xKubernetesPreserveUnknownFields = schema.xKubernetesPreserveUnknownFields,
        .xKubernetesValidations = schema.xKubernetesValidations};
    if (schema == allowed) return;
    invalid(path, toUnstructured(schema).object,
            "only [Description Type Format Title Maximum ExclusiveMaximum Minimum "
            "ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf "
            "Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] "
            "fields are allowed at the root of the schema if the status subresource is enabled");
  }

  // A path of names with dots, below one of the prefixes.
  void simplePath(const ErrorPath& path, const String& text,
                  std::initializer_list<std::string_view> prefixes, std::string_view otherwise) {
    if (!text.view().starts_with('.')) {
      invalid(path, text, "must be a simple json path starting with .");
    } else if (prefixes.size() != 0 &&
               std::none_of(prefixes.begin(), prefixes.end(), [&](std::string_view prefix) {
                 return text.view().starts_with(prefix);
               })) {
      invalid(path, text, otherwise);
    }
  }

  void subresources(const Version& version, const ErrorPath& path) {
    const auto& scale = version.subresources->scale;
    if (!scale) return;
    const ErrorPath place = path.child("scale");
    if (scale->specReplicasPath.empty()) {
      require(place.child("specReplicasPath"));
    } else {
      simplePath(place.child("specReplicasPath"), scale->specReplicasPath, {".spec."},
                 "should be a json path under .spec");
    }
    if (scale->statusReplicasPath.empty()) {
      require(place.child("statusReplicasPath"));
    } else {
      simplePath(place.child("statusReplicasPath"), scale->statusReplicasPath, {".status."},
                 "should be a json path under .status");
    }
    if (scale->labelSelectorPath && !scale->labelSelectorPath->empty()) {
      simplePath(place.child("labelSelectorPath"), *scale->labelSelectorPath,
                 {".spec.", ".status."}, "should be a json path under either .spec or .status");
    }
  }

  void columns(const Version& version, const ErrorPath& path) {
    static constexpr std::string_view kTypes[] = {"boolean", "date", "integer", "number", "string"};
    static constexpr std::string_view kFormats[] = {"byte",  "date",  "date-time", "double",
                                                    "float", "int32", "int64",     "password"};
    const auto has = [](const auto& all, std::string_view one) {
      return std::find(std::begin(all), std::end(all), one) != std::end(all);
    };
    for (std::size_t i = 0; i < version.additionalPrinterColumns.size(); ++i) {
      const auto& column = version.additionalPrinterColumns[i];
      const ErrorPath place = path.index(i);
      if (column.name.empty()) require(place.child("name"));
      const std::string types = fmt::format("must be one of {}", joined(kTypes, ","));
      if (column.type.empty()) {
        require(place.child("type"), types);
      } else if (!has(kTypes, column.type)) {
        invalid(place.child("type"), column.type, types);
      }
      if (!column.format.empty() && !has(kFormats, column.format)) {
        invalid(place.child("format"), column.format,
                fmt::format("must be one of {}", joined(kFormats, ",")));
      }
      if (column.jsonPath.empty()) {
        require(place.child("JSONPath"));
      } else {
        simplePath(place.child("JSONPath"), column.jsonPath, {}, {});
      }
    }
  }

  void selectableFields(const Version& version, const ErrorPath& path) {
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < version.selectableFields.size(); ++i) {
      const String& text = version.selectableFields[i].jsonPath;
      const ErrorPath place = path.index(i).child("jsonPath");
      if (text.empty()) {
        require(place);
        continue;
      }
      std::string_view why;
      const JSONSchemaProps* field = fieldAt(version.schema->openAPIV3Schema.read(), text, why);
      if (field == nullptr) {
        invalid(place, text, fmt::format("is an invalid path: {}", why));
        continue;
      }
      if (text == ".metadata" || text.view().starts_with(".metadata.")) {
        invalid(place, text, "must not point to fields in metadata");
      }
      if (field->type != "string" && field->type != "boolean" && field->type != "integer") {
        invalid(place, text,
                "must point to a field of type string, boolean or integer. Enum string fields and "
                "strings with formats are allowed.");
      }
      if (!seen.insert(text).second) errors_.push_back(FieldError::duplicate(place, text));
    }
    if (seen.size() > kMaxSelectableFields) {
      errors_.push_back(
          FieldError::tooMany(path, static_cast<std::int64_t>(seen.size()), kMaxSelectableFields));
    }
  }

  static const JSONSchemaProps* fieldAt(const JSONSchemaProps& root, std::string_view path,
                                        std::string_view& why) {
    const JSONSchemaProps* at = &root;
    while (!path.empty()) {
      if (path.front() == '[') {
        why = "array notation is not allowed";
        return nullptr;
      }
      if (path.front() != '.') {
        why = "expected [ or . but got something else";
        return nullptr;
      }
      path.remove_prefix(1);
      if (path.empty()) {
        why = "unexpected end of JSON path";
        return nullptr;
      }
      const std::string_view name = path.substr(0, path.find_first_of(".[]", 1));
      path.remove_prefix(name.size());
      why = "does not refer to a valid field";
      if (at->properties.empty()) {
        if (!at->additionalProperties->schema) return nullptr;
        at = &at->additionalProperties->schema.read();
      } else {
        const auto found = at->properties.find(name);
        if (found == at->properties.end()) return nullptr;
        at = &found->value;
      }
    }
    return at;
  }

  void names(const Names& names, const ErrorPath& path, bool required) {
    const std::pair<std::string_view, const String*> all[] = {{"plural", &names.plural},
                                                              {"singular", &names.singular},
                                                              {"kind", &names.kind},
                                                              {"listKind", &names.listKind}};
    for (const auto& [field, name] : all) {
      if (required && name->empty()) require(path.child(field));
    }
    for (const auto& [field, name] : all) {
      if (name->empty()) continue;
      const bool kind = field == "kind" || field == "listKind";
      unlessValid(path.child(field), *name,
                  validation::isDNS1035Label(kind ? kube::detail::lower(*name) : name->str()),
                  kind ? "may have mixed case, but should otherwise match: " : "");
    }
    for (std::size_t i = 0; i < names.shortNames.size(); ++i) {
      unlessValid(path.child("shortNames").index(i), names.shortNames[i],
                  validation::isDNS1035Label(names.shortNames[i]));
    }
    if (!names.kind.empty() && names.kind == names.listKind) {
      invalid(path.child("listKind"), names.listKind, "kind and listKind may not be the same");
    }
    for (std::size_t i = 0; i < names.categories.size(); ++i) {
      unlessValid(path.child("categories").index(i), names.categories[i],
                  validation::isDNS1035Label(names.categories[i]));
    }
  }

  void conversion(const apiextensionsv1::CustomResourceConversion& conversion) {
    const ErrorPath path = spec_.child("conversion");
    if (conversion.strategy == "Webhook") {
      forbid(path.child("strategy"),
             "the embedded API server calls no conversion webhooks: use None, or test against a "
             "real API server");
      return;
    }
    oneOf(path.child("strategy"), conversion.strategy, {"None", "Webhook"});
    constexpr std::string_view why = "should not be set when strategy is not set to Webhook";
    if (conversion.webhook->clientConfig) forbid(path.child("webhookClientConfig"), why);
    if (!conversion.webhook->conversionReviewVersions.empty()) {
      forbid(path.child("conversionReviewVersions"), why);
    }
  }

  void unchanged(const Definition& crd, const Definition& old) {
    const auto& spec = crd.spec.read();
    const auto& before = old.spec.read();
    const auto same = [&](const String& now, const String& then, const ErrorPath& path) {
      if (now != then) invalid(path, now, "field is immutable");
    };
    const ErrorPath names = spec_.child("names");
    if (isConditionTrue(old, "Established")) {
      same(spec.scope, before.scope, spec_.child("scope"));
      same(spec.names->kind, before.names->kind, names.child("kind"));
    }
    same(spec.group, before.group, spec_.child("group"));
    same(spec.names->plural, before.names->plural, names.child("plural"));
  }

  void storedVersions(const Definition& crd) {
    const ErrorPath path("status.storedVersions");
    const List<String>& stored = crd.status->storedVersions;
    Value::Array shown;
    for (const String& each : stored) shown.push_back(each);
    if (stored.empty()) {
      invalid(path, shown, "must have at least one stored version");
      return;
    }
    const auto& versions = crd.spec->versions;
    for (const Version& version : versions) {
      if (version.storage &&
          std::find(stored.begin(), stored.end(), version.name) == stored.end()) {
        invalid(path, shown, fmt::format("must have the storage version {}", version.name));
      }
    }
    for (std::size_t i = 0; i < stored.size(); ++i) {
      const String& name = stored[i];
      if (std::any_of(versions.begin(), versions.end(),
                      [&](const Version& version) { return version.name == name; })) {
        continue;
      }
      invalid(path.index(i), name,
              fmt::format("missing from spec.versions; {0} was previously a storage version, and "
                          "must remain in spec.versions until a storage migration ensures no data "
                          "remains persisted in {0} and removes {0} from status.storedVersions",
                          name));
    }
  }

  void approval(const Definition& crd, const Definition* old) {
    using State = ApiApproval::State;
    const auto now = apiApproval(crd);
    if (!now) return;
    if (old != nullptr) {
      const auto before = apiApproval(*old);
      if (before && before->state == now->state) return;
    }
    const ErrorPath path = ErrorPath("metadata.annotations").key(kApiApprovedAnnotation);
    if (now->state == State::Missing) require(path, now->reason);
    if (now->state == State::Invalid) {
      invalid(path, crd.metadata.annotations[kApiApprovedAnnotation], now->reason);
    }
  }

  const ErrorPath spec_{"spec"};
  FieldErrors errors_;
};

}  // namespace

FieldErrors validateDefinition(const Definition& crd, const Definition* old) {
  DefinitionCheck check;
  check.run(crd, old);
  return check.done();
}

}  // namespace kube::apiserver
