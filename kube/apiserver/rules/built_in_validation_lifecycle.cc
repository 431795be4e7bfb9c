// Checks of evictions, taints of devices and migrations of storage.
#include <algorithm>
#include <string>

#include "kube/apiserver/rules/built_in_kinds.h"
#include "kube/apiserver/rules/built_in_validation.h"
#include "kube/base/internal/text.h"

namespace kube::apiserver::rules {

namespace {

validation::Reasons isUuid(std::string_view text) {
  constexpr std::string_view kForm = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  bool valid = text.size() == kForm.size();
  for (std::size_t i = 0; valid && i < text.size(); ++i) {
    const char c = text[i];
    const bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    valid = kForm[i] == '-' ? c == '-' : hex;
  }
  if (valid) return {};
  return {"must be a lowercase UUID in 8-4-4-4-12 format"};
}

template <class Target>
void checkTarget(const Target& target, const Place& at) {
  if (!target.pod) return at.invalid("", "must specify one of: `pod`");
  const Place pod = at("pod");
  pod("name").requiredText(target.pod->name, validation::isDNS1123Subdomain);
  pod("uid").requiredText(target.pod->uid, isUuid);
}

template <class Rule>
void checkTaintRule(const Rule& rule, const Place& root) {
  const Place at = root("spec");
  if (rule.spec->deviceSelector) {
    const auto& selector = *rule.spec->deviceSelector;
    const Place place = at("deviceSelector");
    if (selector.driver)
      place("driver").requiredText(*selector.driver, validation::isDNS1123Subdomain);
    if (selector.pool && place("pool").require(*selector.pool)) {
      for (const std::string_view part : kube::detail::split(*selector.pool, '/')) {
        place("pool").text(part, validation::isDNS1123Subdomain);
      }
    }
    if (selector.device) place("device").requiredText(*selector.device, validation::isDNS1123Label);
  }
  const auto& taint = *rule.spec->taint;
  const Place place = at("taint");
  place("key").text(taint.key, validation::isQualifiedName);
  if (!taint.value.empty()) place("value").text(taint.value, validation::isValidLabelValue);
  place("effect").oneOf(taint.effect, {"NoExecute", "NoSchedule", "None"});
}

template <class Migration>
void checkMigration(const Migration& migration, const Place& root) {
  const auto& what = *migration.spec->resource;
  const Place at = root("spec.resource");
  if (what.resource.empty()) {
    at("resource").required("resource is required to be set");
  } else {
    at("resource").text(what.resource, validation::isDNS1035Label);
  }
  if (!what.group.empty()) at("group").text(what.group, validation::isDNS1123Subdomain);
}

}  // namespace

void validate(const lifecyclev1alpha1::EvictionRequest& request, const Place& root) {
  const Place at = root("spec");
  checkTarget(*request.spec->target, at("target"));
  const String& requester = request.spec->requester;
  const Place place = at("requester");
  if (place.requiredText(requester, validation::isQualifiedName)) {
    const std::string_view domain = requester.view().substr(0, requester.view().find('/'));
    if (domain.size() == requester.size()) {
      place.invalid(requester, "must be a prefixed label key, such as example.com/requester");
    } else if (domain.ends_with(".k8s.io") || domain.ends_with(".kubernetes.io")) {
      place.invalid(requester, "domains *.k8s.io and *.kubernetes.io are reserved");
    }
  }
  at("intent").oneOf(request.spec->intent, {"Eviction", "Withdrawn"});
}
void validateUpdate(const lifecyclev1alpha1::EvictionRequest& next,
                    const lifecyclev1alpha1::EvictionRequest& old, const Place& root) {
  const Place at = root("spec");
  at("target").immutable(next.spec->target, old.spec->target);
  at("requester").immutable(next.spec->requester, old.spec->requester);
}
void validate(const lifecyclev1alpha1::Eviction& eviction, const Place& root) {
  checkTarget(*eviction.spec->target, root("spec.target"));
}
void validateUpdate(const lifecyclev1alpha1::Eviction& next, const lifecyclev1alpha1::Eviction& old,
                    const Place& root) {
  const Place at = root("spec");
  at("target").immutable(next.spec->target, old.spec->target);
}

void validate(const resourcev1::DeviceTaintRule& rule, const Place& at) {
  checkTaintRule(rule, at);
}
void validate(const resourcev1beta2::DeviceTaintRule& rule, const Place& at) {
  checkTaintRule(rule, at);
}
void validate(const resourcev1alpha3::DeviceTaintRule& rule, const Place& at) {
  checkTaintRule(rule, at);
}

void validate(const storagemigrationv1::StorageVersionMigration& migration, const Place& at) {
  checkMigration(migration, at);
}
void validate(const storagemigrationv1beta1::StorageVersionMigration& migration, const Place& at) {
  checkMigration(migration, at);
}
void validateUpdate(const storagemigrationv1::StorageVersionMigration& next,
                    const storagemigrationv1::StorageVersionMigration& old, const Place& at) {
  at("spec").immutable(next.spec, old.spec);
}
void validateUpdate(const storagemigrationv1beta1::StorageVersionMigration& next,
                    const storagemigrationv1beta1::StorageVersionMigration& old, const Place& at) {
  at("spec").immutable(next.spec, old.spec);
}

}  // namespace kube::apiserver::rules
