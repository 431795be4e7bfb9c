#include "kube/apiserver/storage/kind_rules.h"

#include <algorithm>

#include "kube/api/apiextensions/v1.h"
#include "kube/apiserver/custom/custom_resources.h"
#include "kube/apiserver/rules/built_in_rules.h"
#include "kube/meta/unstructured.h"

namespace kube::apiserver {

namespace {

using Definition = apiextensionsv1::CustomResourceDefinition;

// Whether nothing but the metadata differs and, unless it counts, the status.
bool sameSpec(const AnyObject& a, const AnyObject& b, bool withoutStatus) {
  const auto without = [&](Value value) {
    value.object().erase("metadata");
    if (withoutStatus) value.object().erase("status");
    return value;
  };
  return without(a.as<Unstructured>()->object) == without(b.as<Unstructured>()->object);
}

// The value at "spec.color", as a selector sees it.
String fieldText(const Value& object, std::string_view path) {
  const Value* at = &object;
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    at = &(*at)[path.substr(0, dot)];
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  if (at->isString()) return at->asString();
  if (at->isBool()) return at->asBool() ? "true" : "false";
  if (at->isInt()) return std::to_string(at->asInt());
  return {};
}

}  // namespace

validation::NameRule KindRules::nameRule() const {
  return version_.custom ? validation::nameIsDNSSubdomain : nameRuleFor(*version_.type);
}

bool KindRules::tracksGeneration() const {
  return version_.custom || apiserver::tracksGeneration(*version_.type);
}

bool KindRules::changesGeneration(const AnyObject& next, const AnyObject& old) const {
  return version_.custom ? !sameSpec(next, old, splitsStatus())
                         : apiserver::changesGeneration(next, old);
}

bool KindRules::keepsStatusOnCreate() const {
  return !version_.custom && apiserver::keepsStatusOnCreate(*version_.type);
}

bool KindRules::allowsCreateOnUpdate() const {
  return !version_.custom && apiserver::allowsCreateOnUpdate(*version_.type);
}

bool KindRules::allowsUnconditionalUpdate() const {
  return !version_.custom && apiserver::allowsUnconditionalUpdate(*version_.type);
}

std::optional<String> KindRules::deletionFinalizer() const {
  if (version_.type == &TypeOf<Definition>::info) return kCleanupFinalizer;
  return std::nullopt;
}

void KindRules::prune(AnyObject& object, std::vector<std::string>& unknown) const {
  if (!version_.custom) return;
  version_.custom->schema->prune(object.as<Unstructured>()->object, &unknown);
}

void KindRules::setDefaults(AnyObject& object) const {
  if (version_.custom) {
    version_.custom->schema->setDefaults(object.as<Unstructured>()->object);
  } else if (auto* definition = object.as<Definition>()) {
    setDefinitionDefaults(*definition);
  } else {
    setBuiltInDefaults(object);
  }
}

void KindRules::prepareForCreate(AnyObject& object) const {
  if (auto* definition = object.as<Definition>()) {
    prepareDefinition(*definition, nullptr);
  } else if (!version_.custom) {
    apiserver::prepareForCreate(object);
  }
}

void KindRules::prepareForUpdate(AnyObject& next, const AnyObject& old) const {
  if (auto* definition = next.as<Definition>()) {
    prepareDefinition(*definition, old.as<Definition>());
  } else if (!version_.custom) {
    apiserver::prepareForUpdate(next, old);
  }
}

FieldErrors KindRules::validateFinalizers(const metav1::ObjectMeta& meta) const {
  FieldErrors errors;
  if (version_.custom || version_.type == &TypeOf<Definition>::info) return errors;
  const ErrorPath path = ErrorPath("metadata").child("finalizers");
  for (std::size_t i = 0; i < meta.finalizers.size(); ++i) {
    const std::string_view name = meta.finalizers[i];
    const bool standard = name == validation::kFinalizerOrphanDependents ||
                          name == validation::kFinalizerDeleteDependents || name == "kubernetes";
    if (standard || name.find('/') != std::string_view::npos) continue;
    errors.push_back(
        FieldError::invalid(path.index(i), name,
                            "name is neither a standard finalizer name nor is it fully qualified"));
  }
  return errors;
}

FieldErrors KindRules::validate(const AnyObject& object) const {
  if (version_.custom) {
    const Value& value = object.as<Unstructured>()->object;
    FieldErrors errors = version_.custom->schema->validate(value);
    if (version_.custom->scale) append(errors, validateScaleSpec(value, *version_.custom->scale));
    return errors;
  }
  if (const auto* definition = object.as<Definition>()) return validateDefinition(*definition);
  return validateBuiltIn(object);
}

FieldErrors KindRules::validateUpdate(const AnyObject& next, const AnyObject& old) const {
  if (version_.custom) {
    const Value& value = next.as<Unstructured>()->object;
    const Value& before = old.as<Unstructured>()->object;
    FieldErrors errors = version_.custom->schema->validate(value, &before);
    if (version_.custom->scale) append(errors, validateScaleSpec(value, *version_.custom->scale));
    return errors;
  }
  if (const auto* definition = next.as<Definition>()) {
    return validateDefinition(*definition, old.as<Definition>());
  }
  return validateBuiltInUpdate(next, old);
}

FieldErrors KindRules::validateStatus(const AnyObject& next, const AnyObject& old) const {
  if (!version_.custom) return {};
  const Value& value = next.as<Unstructured>()->object;
  FieldErrors errors =
      version_.custom->schema->validateStatus(value, old.as<Unstructured>()->object);
  if (version_.custom->scale) append(errors, validateScaleStatus(value, *version_.custom->scale));
  return errors;
}

ObjectSchema KindRules::schema() const {
  if (version_.custom) return &version_.custom->schema->fields();
  return version_.type;
}

std::int64_t KindRules::deletionGrace(const AnyObject& object,
                                      std::optional<std::int64_t> wanted) const {
  return version_.custom ? 0 : apiserver::deletionGrace(object, wanted);
}

std::optional<String> KindRules::selectableField(const AnyObject& object,
                                                 std::string_view field) const {
  if (!version_.custom) return apiserver::selectableField(object, field);
  return fieldText(object.as<Unstructured>()->object, field);
}

bool KindRules::selects(std::string_view field) const {
  if (field == "metadata.name") return true;
  if (field == "metadata.namespace") return resource_.namespaced;
  if (!version_.custom) return selectableFieldKnown(*version_.type, field);
  return std::ranges::any_of(version_.custom->selectableFields,
                             [&](const String& one) { return one == field; });
}

std::string KindRules::unknownField(std::string_view field) const {
  return version_.custom ? "field label not supported: " + std::string(field)
                         : unknownFieldMessage(*version_.type, field);
}

}  // namespace kube::apiserver
