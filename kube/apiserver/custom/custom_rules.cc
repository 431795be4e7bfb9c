#include "kube/apiserver/custom/custom_rules.h"

#include <algorithm>
#include <utility>

#include "kube/api/apiextensions/v1.h"
#include "kube/apiserver/rules/built_in_rules.h"
#include "kube/base/internal/text.h"
#include "kube/meta/unstructured.h"

namespace kube::apiserver {

namespace {

using Definition = apiextensionsv1::CustomResourceDefinition;

// True if nothing differs but the metadata and, unless it counts, the status.
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
  while (!path.empty()) at = &(*at)[kube::detail::cut(path, '.')];
  if (at->isString()) return at->asString();
  if (at->isBool()) return at->asBool() ? "true" : "false";
  if (at->isInt()) return std::to_string(at->asInt());
  return {};
}

class CustomRules final : public KindRules {
 public:
  explicit CustomRules(std::shared_ptr<const CustomVersion> version)
      : version_(std::move(version)) {}

  validation::NameRule nameRule() const override { return validation::nameIsDNSSubdomain; }
  bool tracksGeneration() const override { return true; }
  bool changesGeneration(const AnyObject& next, const AnyObject& old) const override {
    return !sameSpec(next, old, version_->statusSubresource);
  }
  ObjectSchema schema() const override { return &version_->schema->fields(); }

  void prune(AnyObject& object, std::vector<std::string>& unknown) const override {
    version_->schema->prune(object.as<Unstructured>()->object, &unknown);
  }
  void setDefaults(AnyObject& object) const override {
    version_->schema->setDefaults(object.as<Unstructured>()->object);
  }

  FieldErrors validate(const AnyObject& object) const override {
    const Value& value = object.as<Unstructured>()->object;
    return withScale(version_->schema->validate(value), value);
  }
  FieldErrors validateUpdate(const AnyObject& next, const AnyObject& old) const override {
    const Value& value = next.as<Unstructured>()->object;
    const Value& before = old.as<Unstructured>()->object;
    return withScale(version_->schema->validate(value, &before), value);
  }
  FieldErrors validateStatus(const AnyObject& next, const AnyObject& old) const override {
    const Value& value = next.as<Unstructured>()->object;
    FieldErrors errors = version_->schema->validateStatus(value, old.as<Unstructured>()->object);
    if (version_->scale) append(errors, validateScaleStatus(value, *version_->scale));
    return errors;
  }

  std::optional<String> selectableField(const AnyObject& object,
                                        std::string_view field) const override {
    return fieldText(object.as<Unstructured>()->object, field);
  }
  bool selects(std::string_view field) const override {
    return std::ranges::any_of(version_->selectableFields,
                               [&](const String& known) { return known == field; });
  }

 private:
  FieldErrors withScale(FieldErrors errors, const Value& value) const {
    if (version_->scale) append(errors, validateScaleSpec(value, *version_->scale));
    return errors;
  }

  const std::shared_ptr<const CustomVersion> version_;
};

class DefinitionRules final : public BuiltInRules {
 public:
  DefinitionRules()
      : BuiltInRules(TypeOf<Definition>::info,
                     {.generation = Generation::Spec, .unconditionalUpdate = false}) {}

  std::optional<String> deletionFinalizer() const override { return kCleanupFinalizer; }

  void setDefaults(AnyObject& object) const override {
    setDefinitionDefaults(*object.as<Definition>());
  }
  void prepareForCreate(AnyObject& object) const override {
    prepareDefinition(*object.as<Definition>(), nullptr);
  }
  void prepareForUpdate(AnyObject& next, const AnyObject& old) const override {
    prepareDefinition(*next.as<Definition>(), old.as<Definition>());
  }

  FieldErrors validateFinalizers(const metav1::ObjectMeta&) const override { return {}; }
  FieldErrors validate(const AnyObject& object) const override {
    return validateDefinition(*object.as<Definition>());
  }
  FieldErrors validateUpdate(const AnyObject& next, const AnyObject& old) const override {
    return validateDefinition(*next.as<Definition>(), old.as<Definition>());
  }
};

}  // namespace

std::shared_ptr<const KindRules> customRules(std::shared_ptr<const CustomVersion> version) {
  return std::make_shared<const CustomRules>(std::move(version));
}

std::shared_ptr<const KindRules> definitionRules() {
  return std::make_shared<const DefinitionRules>();
}

}  // namespace kube::apiserver
