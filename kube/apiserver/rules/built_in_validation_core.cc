// Checks of the small core kinds: ConfigMap, Secret, Namespace, Node, LimitRange, ResourceQuota,
// Event.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <span>

#include "kube/apiserver/rules/built_in_kinds.h"
#include "kube/apiserver/rules/built_in_validation.h"
#include "kube/codec/json.h"

namespace kube::apiserver::rules {

namespace {

constexpr std::size_t kMaxDataSize = 1024 * 1024;
constexpr std::string_view kFrozen = "field is immutable when `immutable` is set";

constexpr std::array<std::string_view, 19> kQuotaResources = {"cpu",
                                                              "memory",
                                                              "ephemeral-storage",
                                                              "requests.cpu",
                                                              "requests.memory",
                                                              "requests.storage",
                                                              "requests.ephemeral-storage",
                                                              "limits.cpu",
                                                              "limits.memory",
                                                              "limits.ephemeral-storage",
                                                              "pods",
                                                              "resourcequotas",
                                                              "services",
                                                              "replicationcontrollers",
                                                              "secrets",
                                                              "persistentvolumeclaims",
                                                              "configmaps",
                                                              "services.nodeports",
                                                              "services.loadbalancers"};

template <class V>
std::size_t checkKeys(const Map<V>& data, const Place& at) {
  std::size_t size = 0;
  for (const auto& [key, value] : data) {
    at.key(key).text(key, validation::isConfigMapKey);
    size += value.size();
  }
  return size;
}

void requireKey(const corev1::Secret& secret, std::string_view key, const Place& data) {
  if (!secret.data.contains(key)) data.key(key).required();
}

void checkJson(const corev1::Secret& secret, std::string_view key, const Place& data) {
  if (!secret.data.contains(key)) return data.key(key).required();
  try {
    if (parseJson(secret.data[key]).isObject()) return;
    data.key(key).invalid("<secret contents redacted>",
                          "json: cannot unmarshal into Go value of type map[string]interface {}");
  } catch (const DecodeError& error) {
    data.key(key).invalid("<secret contents redacted>", error.reason());
  }
}

void checkAccountToken(const corev1::Secret& secret, const Place& root) {
  constexpr std::string_view kAccount = "kubernetes.io/service-account.name";
  const Place annotations = root("metadata.annotations");
  if (secret.metadata.annotations[kAccount].empty()) annotations.key(kAccount).required();
}

void checkBasicAuth(const corev1::Secret& secret, const Place& root) {
  if (secret.data.contains("username") || secret.data.contains("password")) return;
  const Place data = root("data");
  data.key("username").required();
  data.key("password").required();
}

/// The contents that a Secret of a known type must have.
struct SecretType {
  std::string_view name;
  void (*check)(const corev1::Secret&, const Place& root);
};

constexpr std::array<SecretType, 6> kSecretTypes = {{
    {"kubernetes.io/service-account-token", checkAccountToken},
    {"kubernetes.io/dockercfg",
     [](const corev1::Secret& secret, const Place& root) {
       checkJson(secret, ".dockercfg", root("data"));
     }},
    {"kubernetes.io/dockerconfigjson",
     [](const corev1::Secret& secret, const Place& root) {
       checkJson(secret, ".dockerconfigjson", root("data"));
     }},
    {"kubernetes.io/basic-auth", checkBasicAuth},
    {"kubernetes.io/ssh-auth",
     [](const corev1::Secret& secret, const Place& root) {
       const Place data = root("data");
       if (secret.data["ssh-privatekey"].empty()) data.key("ssh-privatekey").required();
     }},
    {"kubernetes.io/tls",
     [](const corev1::Secret& secret, const Place& root) {
       const Place data = root("data");
       requireKey(secret, "tls.crt", data);
       requireKey(secret, "tls.key", data);
     }},
}};

/// A ConfigMap or Secret that is immutable stays so and must not change.
template <class T>
bool checkFrozen(const T& next, const T& old, const Place& at) {
  if (!old.immutable.value_or(false)) return true;
  if (!next.immutable.value_or(false)) at("immutable").forbidden(kFrozen);
  if (next.data != old.data) at("data").forbidden(kFrozen);
  return false;
}

void checkTaints(const List<corev1::Taint>& taints, const Place& at) {
  Seen seen;
  forEach(taints, at, [&](const corev1::Taint& taint, const Place& at) {
    at("key").text(taint.key, validation::isQualifiedName);
    at("value").text(taint.value, validation::isValidLabelValue);
    at("effect").oneOf(taint.effect, {"NoSchedule", "PreferNoSchedule", "NoExecute"});
    if (seen.insert(taint.key + "=" + taint.effect)) return;
    FieldError error = FieldError::duplicate(at.path(), shown(taint));
    error.detail = "taints must be unique by key and effect pair";
    at.add({error});
  });
}

void checkAmounts(const Map<Quantity>& amounts, const Place& at) {
  for (const auto& [name, amount] : amounts) checkAmount(name, amount, at(name));
}

/// Two amounts of an item, the first of which must not exceed the second.
struct LimitOrder {
  const Map<Quantity> corev1::LimitRangeItem::*low;
  const Map<Quantity> corev1::LimitRangeItem::*high;
  std::string_view field;  // the field that the error names
  bool reportsHigh;        // whether the error shows the second value
  std::string_view lowName, highName;
};

void checkLimits(const corev1::LimitRangeItem& item, const Place& at) {
  using Item = corev1::LimitRangeItem;
  static constexpr std::array<LimitOrder, 6> kOrders = {{
      {&Item::min, &Item::max, "min", false, "min value", "max value"},
      {&Item::min, &Item::defaultRequest, "defaultRequest", true, "min value",
       "default request value"},
      {&Item::defaultRequest, &Item::max, "defaultRequest", false, "default request value",
       "max value"},
      {&Item::defaultRequest, &Item::default_, "defaultRequest", false, "default request value",
       "default limit value"},
      {&Item::min, &Item::default_, "default", false, "min value", "default value"},
      {&Item::default_, &Item::max, "default", true, "default value", "max value"},
  }};
  for (const LimitOrder& order : kOrders) {
    for (const auto& [name, low] : item.*order.low) {
      const auto high = (item.*order.high).find(name);
      if (high == (item.*order.high).end() || low <= high->value) continue;
      const Place field = at(order.field);
      field.key(name).invalid((order.reportsHigh ? high->value : low).text(),
                              fmt::format("{} {} is greater than {} {}", order.lowName, low,
                                          order.highName, high->value));
    }
  }
}

/// The resources that a quota with some scope can limit.
struct QuotaScope {
  std::string_view name;
  std::span<const std::string_view> resources;
};
constexpr std::array<std::string_view, 7> kPodResources = {
    "pods", "cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"};
constexpr std::array<std::string_view, 2> kClaimResources = {"persistentvolumeclaims",
                                                             "requests.storage"};
constexpr std::array<QuotaScope, 7> kScopes = {{{"BestEffort", std::span(kPodResources).first(1)},
                                                {"CrossNamespacePodAffinity", kPodResources},
                                                {"NotBestEffort", kPodResources},
                                                {"NotTerminating", kPodResources},
                                                {"PriorityClass", kPodResources},
                                                {"Terminating", kPodResources},
                                                {"VolumeAttributesClass", kClaimResources}}};

template <class List, class Element>
bool contains(const List& list, const Element& element) {
  return std::find(list.begin(), list.end(), element) != list.end();
}

void checkScopes(const corev1::ResourceQuotaSpec& spec, const Place& at) {
  const Value all = shown(spec.scopes);
  for (const String& name : spec.scopes) {
    const auto scope = std::find_if(kScopes.begin(), kScopes.end(),
                                    [&](const QuotaScope& each) { return each.name == name; });
    if (scope == kScopes.end()) {
      at.invalid(all, "unsupported scope");
      continue;
    }
    for (const auto& [resource, amount] : spec.hard) {
      if (contains(kQuotaResources, resource.view()) &&
          !contains(scope->resources, resource.view())) {
        at.invalid(all, "unsupported scope applied to resource");
      }
    }
  }
  const auto both = [&](std::string_view one, std::string_view other) {
    return contains(spec.scopes, one) && contains(spec.scopes, other);
  };
  if (both("BestEffort", "NotBestEffort")) at.invalid(all, "conflicting scopes");
  if (both("Terminating", "NotTerminating")) at.invalid(all, "conflicting scopes");
}

/// An event of either group. Events with an eventTime follow stricter rules.
struct EventParts {
  const metav1::ObjectMeta& metadata;
  const corev1::ObjectReference& about;
  MicroTime eventTime;
  const String& controller;
  const String& instance;
  const String& action;
  const String& reason;
  const String& type;
};

void checkEvent(const EventParts& event, std::string_view controllerField, const Place& at) {
  const auto mismatch = [&] {
    at("involvedObject.namespace")
        .invalid(event.about.namespace_, "does not match event.namespace");
  };
  const String& space = event.metadata.namespace_;
  if (event.eventTime == MicroTime()) {
    const bool fits = event.about.namespace_.empty() ? space.empty() || space == "default"
                                                     : space == event.about.namespace_;
    if (!fits) mismatch();
    return;
  }
  if (event.about.namespace_.empty() && space != "default" && space != "kube-system") mismatch();
  at(controllerField).require(event.controller);
  at(controllerField).text(event.controller, validation::isQualifiedName);
  at("reportingInstance").require(event.instance);
  at("action").require(event.action);
  at("reason").require(event.reason);
}

}  // namespace

void validate(const corev1::ConfigMap& map, const Place& at) {
  const Place data = at("data");
  std::size_t size = checkKeys(map.data, data);
  for (const auto& [key, value] : map.data) {
    if (map.binaryData.contains(key)) {
      data.key(key).invalid(key, "duplicate of key present in binaryData");
    }
  }
  size += checkKeys(map.binaryData, at("binaryData"));
  // The error is about the whole object, so it names no field.
  if (size > kMaxDataSize) {
    FieldError error = FieldError::tooLong(ErrorPath(), kMaxDataSize);
    error.field = "";
    at.add({error});
  }
}

void validateUpdate(const corev1::ConfigMap& next, const corev1::ConfigMap& old, const Place& at) {
  if (!checkFrozen(next, old, at) && next.binaryData != old.binaryData) {
    at("binaryData").forbidden(kFrozen);
  }
}

void validate(const corev1::Secret& secret, const Place& at) {
  const Place data = at("data");
  if (checkKeys(secret.data, data) > kMaxDataSize) data.tooLong(kMaxDataSize);
  for (const SecretType& type : kSecretTypes) {
    if (type.name == secret.type) type.check(secret, at);
  }
}

void validateUpdate(const corev1::Secret& next, const corev1::Secret& old, const Place& at) {
  at("type").immutable(next.type, old.type);
  checkFrozen(next, old, at);
}

void validateCreate(const corev1::Namespace& space, const Place& root) {
  const Place at = root("spec.finalizers");
  for (const String& finalizer : space.spec->finalizers) {
    if (!at.text(finalizer, validation::isQualifiedName)) continue;
    if (finalizer.view().find('/') == std::string_view::npos && finalizer != "kubernetes" &&
        finalizer != validation::kFinalizerOrphanDependents &&
        finalizer != validation::kFinalizerDeleteDependents) {
      at.invalid(finalizer, "name is neither a standard finalizer name nor is it fully qualified");
    }
  }
}

void validate(const corev1::Node& node, const Place& root) {
  checkTaints(node.spec->taints, root("metadata.taints"));  // the path that upstream reports
  checkAmounts(node.status->capacity, root("status.capacity"));
  checkAmounts(node.status->allocatable, root("status.allocatable"));
  const Place at = root("spec");
  forEach(node.spec->podCIDRs, at("podCIDRs"), [](const String& network, const Place& at) {
    at.add(validation::isValidCIDRForLegacyField(at.path(), network));
  });
}

void validateUpdate(const corev1::Node& next, const corev1::Node& old, const Place& root) {
  const Place at = root("spec");
  if (!old.spec->podCIDRs.empty() && next.spec->podCIDRs != old.spec->podCIDRs) {
    at("podCIDRs").forbidden("node updates may not change podCIDR except from \"\" to valid");
  }
  if (!old.spec->providerID.empty() && next.spec->providerID != old.spec->providerID) {
    at("providerID").forbidden("node updates may not change providerID except from \"\" to valid");
  }
  if (next.spec->externalID != old.spec->externalID)
    at("externalID").forbidden("may not be updated");
}

void validate(const corev1::LimitRange& range, const Place& root) {
  Seen types;
  forEach(range.spec->limits, root("spec.limits"), [&](const auto& item, const Place& at) {
    if (at("type").text(item.type, validation::isQualifiedName) &&
        item.type.view().find('/') == std::string_view::npos && item.type != "Pod" &&
        item.type != "Container" && item.type != "PersistentVolumeClaim") {
      at("type").invalid(item.type, "must be a standard limit type or fully qualified");
    }
    if (!types.insert(item.type)) at("type").duplicate(item.type);
    if (item.type == "Pod") {
      constexpr std::string_view kNotForPods = "may not be specified when `type` is 'Pod'";
      if (!item.default_.empty()) at("default").forbidden(kNotForPods);
      if (!item.defaultRequest.empty()) at("defaultRequest").forbidden(kNotForPods);
    }
    if (item.type == "PersistentVolumeClaim" && !item.min.contains("storage") &&
        !item.max.contains("storage")) {
      at("limits").required(
          "either minimum or maximum storage value is required, but neither was provided");
    }
    checkLimits(item, at);
  });
}

void validate(const corev1::ResourceQuota& quota, const Place& root) {
  const Place at = root("spec");
  const Place hard = at("hard");
  for (const auto& [name, amount] : quota.spec->hard) {
    const Place one = hard.key(name);
    checkResourceName(name, one);
    if (name.view().find('/') == std::string_view::npos && !name.view().starts_with("hugepages-") &&
        !name.view().starts_with("requests.hugepages-") &&
        !contains(kQuotaResources, name.view())) {
      one.invalid(name, "must be a standard resource for quota");
    }
    checkAmount(name, amount, one);
  }
  checkScopes(*quota.spec, at("scopes"));
}

void validateUpdate(const corev1::ResourceQuota& next, const corev1::ResourceQuota& old,
                    const Place& at) {
  at("spec.scopes").immutable(next.spec->scopes, old.spec->scopes);
}

void validate(const corev1::Event& event, const Place& at) {
  checkEvent({event.metadata, *event.involvedObject, event.eventTime, event.reportingComponent,
              event.reportingInstance, event.action, event.reason, event.type},
             "reportingComponent", at);
}

void validate(const eventsv1::Event& event, const Place& at) {
  checkEvent({event.metadata, *event.regarding, event.eventTime, event.reportingController,
              event.reportingInstance, event.action, event.reason, event.type},
             "reportingController", at);
}

void validateCreate(const eventsv1::Event& event, const Place& at) {
  if (event.series) {
    if (event.series->count < 2) at("series.count").invalid("", "should be at least 2");
  }
  if (event.eventTime == MicroTime()) at("eventTime").required();
  if (event.type != "Normal" && event.type != "Warning") {
    at("type").invalid("", fmt::format("has invalid value: {}", event.type));
  }
  if (event.deprecatedFirstTimestamp != Time()) {
    at("firstTimestamp").invalid("", "needs to be unset");
  }
  if (event.deprecatedLastTimestamp != Time()) at("lastTimestamp").invalid("", "needs to be unset");
  if (event.deprecatedCount != 0) at("count").invalid("", "needs to be unset");
  if (*event.deprecatedSource != corev1::EventSource{})
    at("source").invalid("", "needs to be unset");
}

void validateUpdate(const eventsv1::Event& next, const eventsv1::Event& old, const Place& at) {
  at("involvedObject").immutable(next.regarding, old.regarding);
  at("reason").immutable(next.reason, old.reason);
  at("message").immutable(next.note, old.note);
  at("source").immutable(next.deprecatedSource, old.deprecatedSource);
  at("type").immutable(next.type, old.type);
  at("action").immutable(next.action, old.action);
  at("related").immutable(next.related, old.related);
  at("reportingController").immutable(next.reportingController, old.reportingController);
  at("reportingInstance").immutable(next.reportingInstance, old.reportingInstance);
}

}  // namespace kube::apiserver::rules
