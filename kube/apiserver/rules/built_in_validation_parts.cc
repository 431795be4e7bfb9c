// Checks of small parts that many kinds have.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "kube/apiserver/rules/built_in_validation.h"
#include "kube/base/internal/text.h"
#include "kube/meta/selectors/label_selector.h"

namespace kube::apiserver::rules {

namespace {

constexpr std::array<std::string_view, 20> kStandardResources = {"cpu",
                                                                 "memory",
                                                                 "ephemeral-storage",
                                                                 "requests.cpu",
                                                                 "requests.memory",
                                                                 "requests.ephemeral-storage",
                                                                 "limits.cpu",
                                                                 "limits.memory",
                                                                 "limits.ephemeral-storage",
                                                                 "pods",
                                                                 "resourcequotas",
                                                                 "services",
                                                                 "replicationcontrollers",
                                                                 "secrets",
                                                                 "configmaps",
                                                                 "persistentvolumeclaims",
                                                                 "storage",
                                                                 "requests.storage",
                                                                 "services.nodeports",
                                                                 "services.loadbalancers"};

constexpr std::array<std::string_view, 9> kCountedResources = {"pods",
                                                               "resourcequotas",
                                                               "services",
                                                               "replicationcontrollers",
                                                               "secrets",
                                                               "configmaps",
                                                               "persistentvolumeclaims",
                                                               "services.nodeports",
                                                               "services.loadbalancers"};

/// Fields that a pod may read of itself, as environment variables or files.
constexpr std::array<std::string_view, 14> kReadableFields = {
    "metadata.annotations", "metadata.labels", "metadata.name",      "metadata.namespace",
    "metadata.uid",         "spec.nodeName",   "spec.restartPolicy", "spec.serviceAccountName",
    "spec.schedulerName",   "status.phase",    "status.hostIP",      "status.hostIPs",
    "status.podIP",         "status.podIPs"};

template <class Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool isExtended(std::string_view name) {
  return name.find('/') != std::string_view::npos &&
         name.find("kubernetes.io/") == std::string_view::npos && !name.starts_with("requests.");
}

void checkExpression(const corev1::NodeSelectorRequirement& requirement, const Place& at) {
  const String& how = requirement.operator_;
  const auto& values = requirement.values;
  if (how == "In" || how == "NotIn") {
    if (values.empty()) {
      at("values").required("must be specified when `operator` is 'In' or 'NotIn'");
    }
  } else if (how == "Exists" || how == "DoesNotExist") {
    if (!values.empty()) {
      at("values").forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    }
  } else if (how == "Gt" || how == "Lt") {
    if (values.size() != 1) {
      at("values").required("must be specified single value when `operator` is 'Lt' or 'Gt'");
    }
  } else {
    at("operator").invalid(how, "not a valid selector operator");
  }
  at("key").text(requirement.key, validation::isQualifiedName);
  forEach(values, at("values"), [](const String& value, const Place& at) {
    at.text(value, validation::isValidLabelValue);
  });
}

void checkFieldExpression(const corev1::NodeSelectorRequirement& requirement, const Place& at) {
  if (requirement.operator_ != "In" && requirement.operator_ != "NotIn") {
    at("operator").invalid(requirement.operator_, "not a valid selector operator");
  } else if (requirement.values.size() != 1) {
    at("values").required(
        "must be only one value when `operator` is 'In' or 'NotIn' for node field selector");
  }
  if (requirement.key != "metadata.name") {
    at("key").invalid(requirement.key, "not a valid field selector key");
  }
}

void checkNodeTerm(const corev1::NodeSelectorTerm& term, const Place& at) {
  forEach(term.matchExpressions, at("matchExpressions"), checkExpression);
  forEach(term.matchFields, at("matchFields"), checkFieldExpression);
}

void checkWeight(std::int32_t weight, const Place& at) {
  if (weight < 1 || weight > 100) at("weight").invalid(weight, "must be in the range 1-100");
}

void checkPodTerm(const corev1::PodAffinityTerm& term, const Place& at) {
  if (term.labelSelector) checkSelector(*term.labelSelector, at("labelSelector"));
  if (term.namespaceSelector) checkSelector(*term.namespaceSelector, at("namespaceSelector"));
  for (const String& space : term.namespaces) {
    at("namespace").reasons(space, validation::nameIsDNSLabel(space, false));
  }
  if (term.topologyKey.empty()) at("topologyKey").required("can not be empty");
  at("topologyKey").text(term.topologyKey, validation::isQualifiedName);
}

/// For PodAffinity and PodAntiAffinity.
template <class Terms>
void checkPodTerms(const Terms& terms, const Place& at) {
  forEach(terms.requiredDuringSchedulingIgnoredDuringExecution,
          at("requiredDuringSchedulingIgnoredDuringExecution"), checkPodTerm);
  forEach(terms.preferredDuringSchedulingIgnoredDuringExecution,
          at("preferredDuringSchedulingIgnoredDuringExecution"),
          [](const corev1::WeightedPodAffinityTerm& term, const Place& at) {
            checkWeight(term.weight, at);
            checkPodTerm(*term.podAffinityTerm, at("podAffinityTerm"));
          });
}

}  // namespace

void checkResourceName(std::string_view name, const Place& at) {
  if (!at.text(name, validation::isQualifiedName)) return;
  if (name.find('/') == std::string_view::npos && !contains(kStandardResources, name) &&
      !name.starts_with("hugepages-") && !name.starts_with("requests.hugepages-")) {
    at.invalid(name, "must be a standard resource type or fully qualified");
  }
}

void checkAmount(std::string_view resource, const Quantity& amount, const Place& at) {
  at.nonNegative(amount);
  if ((contains(kCountedResources, resource) || isExtended(resource)) && !amount.asInt64()) {
    at.invalid(amount.text(), "must be an integer");
  }
}

void checkPortNumberOrName(const IntOrString& port, const Place& at) {
  if (port.isString()) {
    at.text(port.stringValue(), validation::isValidPortName);
  } else {
    at.port(port.intValue());
  }
}

void checkFieldRef(const corev1::ObjectFieldSelector& selector,
                   std::span<const std::string_view> fields, const Place& at) {
  if (!at("apiVersion").require(selector.apiVersion)) return;
  if (!at("fieldPath").require(selector.fieldPath)) return;
  const auto fail = [&](std::string_view why) {
    at("fieldPath").invalid(selector.fieldPath, fmt::format("error converting fieldPath: {}", why));
  };
  if (selector.apiVersion != "v1") {
    return fail(fmt::format("unsupported pod version: {}", selector.apiVersion));
  }
  std::string_view path = selector.fieldPath;
  const std::size_t bracket = path.find("['");
  if (bracket != std::string_view::npos && path.ends_with("']")) {
    const std::string_view key = path.substr(bracket + 2, path.size() - bracket - 4);
    path = path.substr(0, bracket);
    if (path != "metadata.annotations" && path != "metadata.labels") {
      return fail(fmt::format("field label does not support subscript: {}", selector.fieldPath));
    }
    const bool anyCase = path == "metadata.annotations";
    at.text(anyCase ? detail::lower(key) : std::string(key), validation::isQualifiedName);
    return;
  }
  if (path == "spec.host") path = "spec.nodeName";
  if (!contains(kReadableFields, path)) {
    return fail(fmt::format("field label not supported: {}", selector.fieldPath));
  }
  at("fieldPath").oneOfSupported(path, fields);
}

void checkResourceFieldRef(const corev1::ResourceFieldSelector& selector, bool inVolume,
                           const Place& at) {
  if (inVolume && !at("containerName").require(selector.containerName)) return;
  if (!at("resource").require(selector.resource)) return;
  const std::string_view name = selector.resource;
  if (name.starts_with("requests.hugepages-") || name.starts_with("limits.hugepages-")) return;
  at("resource")
      .oneOfSupported(name, {"limits.cpu", "limits.ephemeral-storage", "limits.memory",
                             "requests.cpu", "requests.ephemeral-storage", "requests.memory"});
}

void checkNodeSelector(const corev1::NodeSelector& selector, const Place& at) {
  const Place terms = at("nodeSelectorTerms");
  if (selector.nodeSelectorTerms.empty()) {
    return terms.required("must have at least one node selector term");
  }
  forEach(selector.nodeSelectorTerms, terms, checkNodeTerm);
}

void checkTolerations(const List<corev1::Toleration>& tolerations, const Place& at) {
  forEach(tolerations, at, [](const corev1::Toleration& toleration, const Place& at) {
    const String& how = toleration.operator_;
    if (!toleration.key.empty()) at("key").text(toleration.key, validation::isQualifiedName);
    if (toleration.key.empty() && how != "Exists") {
      at("operator")
          .invalid(how,
                   "operator must be Exists when `key` is empty, which means \"match all "
                   "values and all keys\"");
    }
    if (toleration.tolerationSeconds && toleration.effect != "NoExecute") {
      at("effect").invalid(toleration.effect,
                           "effect must be 'NoExecute' when `tolerationSeconds` is set");
    }
    if (how.empty() || how == "Equal") {
      at("operator").text(toleration.value, validation::isValidLabelValue);
    } else if (how != "Exists") {
      at("operator").notSupported(how, {"Equal", "Exists"});
    } else if (!toleration.value.empty()) {
      at("operator").invalid(toleration.value, "value must be empty when `operator` is 'Exists'");
    }
    if (!toleration.effect.empty()) {
      at("effect").oneOf(toleration.effect, {"NoSchedule", "PreferNoSchedule", "NoExecute"});
    }
  });
}

void checkAffinity(const corev1::Affinity& affinity, const Place& at) {
  if (affinity.nodeAffinity) {
    const Place node = at("nodeAffinity");
    const auto& required = affinity.nodeAffinity->requiredDuringSchedulingIgnoredDuringExecution;
    if (required) {
      checkNodeSelector(*required, node("requiredDuringSchedulingIgnoredDuringExecution"));
    }
    forEach(affinity.nodeAffinity->preferredDuringSchedulingIgnoredDuringExecution,
            node("preferredDuringSchedulingIgnoredDuringExecution"),
            [](const corev1::PreferredSchedulingTerm& term, const Place& at) {
              checkWeight(term.weight, at);
              checkNodeTerm(*term.preference, at("preference"));
            });
  }
  checkPodTerms(*affinity.podAffinity, at("podAffinity"));
  checkPodTerms(*affinity.podAntiAffinity, at("podAntiAffinity"));
}

bool selects(const Shared<metav1::LabelSelector>& selector, const Map<String>& labels) {
  try {
    return labels::Selector::from(selector).matches(labels);
  } catch (const ValidationError&) {
    return false;
  }
}

void checkCountOrPercent(const IntOrString& value, const Place& at) {
  if (value.isString()) {
    at.text(value.stringValue(), validation::isValidPercent);
  } else {
    at.nonNegative(value.intValue());
  }
}

void checkAtMost100Percent(const IntOrString& value, const Place& at) {
  if (!value.isString() || !validation::isValidPercent(value.stringValue()).empty()) return;
  const std::string_view digits = value.stringValue().view();
  if (IntOrString::parse(digits.substr(0, digits.size() - 1)).intValue() > 100) {
    at.invalid(shown(value), "must not be greater than 100%");
  }
}

}  // namespace kube::apiserver::rules
