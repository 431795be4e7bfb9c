// The defaults of kinds that are neither pods, workloads nor storage.
#include "kube/apiserver/rules/built_in_defaults.h"
#include "kube/apiserver/rules/built_in_kinds.h"

namespace kube::apiserver::rules {

namespace {

constexpr std::string_view kNamespaceNameLabel = "kubernetes.io/metadata.name";
constexpr std::int32_t kAffinitySeconds = 3 * 3600;
constexpr std::int32_t kHttpsPort = 443;

void setAffinityDefaults(corev1::ServiceSpec& spec) {
  setIfEmpty(spec.sessionAffinity, "None");
  if (spec.sessionAffinity == "None") spec.sessionAffinityConfig.reset();
  if (spec.sessionAffinity == "ClientIP") {
    setIfUnset(spec.sessionAffinityConfig->clientIP->timeoutSeconds, kAffinitySeconds);
  }
}

void setServicePortDefaults(corev1::ServicePort& port) {
  setIfEmpty(port.protocol, "TCP");
  if (port.targetPort == IntOrString(0) || port.targetPort == IntOrString("")) {
    port.targetPort = port.port;
  }
}

/// For RBAC bindings.
template <class Binding>
void setBindingDefaults(Binding& binding) {
  setIfEmpty(binding.roleRef->apiGroup, kRbacGroup);
  for (rbacv1::Subject& subject : binding.subjects) {
    if (subject.kind == "User" || subject.kind == "Group") setIfEmpty(subject.apiGroup, kRbacGroup);
  }
}

void setSelectorDefault(Shared<metav1::LabelSelector>& selector) {
  if (!selector) selector = metav1::LabelSelector{};
}

/// For webhooks and for the rules of a policy, which select objects in the same way.
template <class Match>
void setMatchDefaults(Match& match) {
  setIfUnset(match.matchPolicy, "Equivalent");
  setSelectorDefault(match.namespaceSelector);
  setSelectorDefault(match.objectSelector);
}

template <class Rules>
void setRuleDefaults(Rules& rules) {
  for (auto& rule : rules) setIfUnset(rule.scope, "*");
}

template <class Webhook>
void setWebhookDefaults(Webhook& webhook) {
  setIfUnset(webhook.failurePolicy, "Fail");
  setMatchDefaults(webhook);
  setIfUnset(webhook.timeoutSeconds, 10);
  setRuleDefaults(webhook.rules);
  if (webhook.clientConfig.read().service) {
    setIfUnset(webhook.clientConfig->service->port, kHttpsPort);
  }
}

void setMatchResourcesDefaults(Shared<admissionregistrationv1::MatchResources>& match) {
  if (!match) return;
  setMatchDefaults(*match);
  setRuleDefaults(match->resourceRules);
  setRuleDefaults(match->excludeResourceRules);
}

/// Makes podCIDR and podCIDRs agree; podCIDR wins.
void setPodNetworks(corev1::NodeSpec& spec) {
  const String& first = std::as_const(spec.podCIDRs).front();
  if (spec.podCIDR == first) return;
  if (spec.podCIDR.empty()) {
    spec.podCIDR = first;
  } else {
    spec.podCIDRs = {spec.podCIDR};
  }
}

template <class Amounts>
void setMissing(Amounts& amounts, const Amounts& from) {
  for (const auto& [name, amount] : from) {
    if (!amounts.contains(name)) amounts.insert_or_assign(name, amount);
  }
}

void setLimitDefaults(corev1::LimitRangeItem& item) {
  for (auto* amounts :
       {&item.max, &item.min, &item.default_, &item.defaultRequest, &item.maxLimitRequestRatio}) {
    roundUp(*amounts);
  }
  if (item.type != "Container") return;
  setMissing(item.default_, item.max);
  setMissing(item.defaultRequest, item.default_);
  setMissing(item.defaultRequest, item.min);
}

/// Sets the time of a new taint.
template <class Taint>
void setTaintDefaults(Taint& taint) {
  if (!taint.timeAdded) taint.timeAdded = Time::now();
}

}  // namespace

void setDefaults(corev1::Service& service) {
  corev1::ServiceSpec& spec = *service.spec;
  setAffinityDefaults(spec);
  setIfEmpty(spec.type, "ClusterIP");
  for (corev1::ServicePort& port : spec.ports) setServicePortDefaults(port);
  if (isExternallyAccessible(spec)) setIfEmpty(spec.externalTrafficPolicy, "Cluster");
  if (spec.type != "ExternalName") setIfUnset(spec.internalTrafficPolicy, "Cluster");
  if (spec.type != "LoadBalancer") return;
  setIfUnset(spec.allocateLoadBalancerNodePorts, true);
  if (!service.status.read().loadBalancer) return;
  for (corev1::LoadBalancerIngress& ingress : service.status->loadBalancer->ingress) {
    if (!ingress.ip.empty()) setIfUnset(ingress.ipMode, "VIP");
  }
}

void setDefaults(corev1::Endpoints& endpoints) {
  for (corev1::EndpointSubset& subset : endpoints.subsets) {
    for (corev1::EndpointPort& port : subset.ports) setIfEmpty(port.protocol, "TCP");
  }
}

void setDefaults(discoveryv1::EndpointSlice& slice) {
  for (discoveryv1::EndpointPort& port : slice.ports) {
    setIfUnset(port.name, "");
    setIfUnset(port.protocol, "TCP");
  }
}

void setDefaults(networkingv1::NetworkPolicy& policy) {
  networkingv1::NetworkPolicySpec& spec = *policy.spec;
  if (spec.policyTypes.empty()) {
    spec.policyTypes = {"Ingress"};
    if (!spec.egress.empty()) spec.policyTypes.push_back("Egress");
  }
  for (auto& rule : spec.ingress) {
    for (auto& port : rule.ports) setIfUnset(port.protocol, "TCP");
  }
  for (auto& rule : spec.egress) {
    for (auto& port : rule.ports) setIfUnset(port.protocol, "TCP");
  }
}

void setDefaults(networkingv1::IngressClass& ingressClass) {
  if (!ingressClass.spec.read().parameters) return;
  setIfUnset(ingressClass.spec->parameters->scope, "Cluster");
}

void setDefaults(corev1::Secret& secret) {
  setIfEmpty(secret.type, "Opaque");
  // stringData can be written but not read: it becomes data.
  for (const auto& [key, text] : std::as_const(secret.stringData)) {
    secret.data.insert_or_assign(key, Bytes(text));
  }
  secret.stringData.clear();
}

void setDefaults(corev1::Namespace& space) {
  if (!space.metadata.name.empty()) {
    space.metadata.labels.insert_or_assign(kNamespaceNameLabel, space.metadata.name);
  }
  setIfEmpty(space.status->phase, "Active");
}

void setDefaults(corev1::Node& node) {
  if (node.spec) setPodNetworks(*node.spec);
  if (!node.status) return;
  roundUp(node.status->capacity);
  roundUp(node.status->allocatable);
  if (node.status->allocatable.empty()) node.status->allocatable = node.status->capacity;
}

void setDefaults(corev1::LimitRange& range) {
  for (corev1::LimitRangeItem& item : range.spec->limits) setLimitDefaults(item);
}

void setDefaults(corev1::ResourceQuota& quota) {
  roundUp(quota.spec->hard);
  if (!quota.status) return;
  roundUp(quota.status->hard);
  roundUp(quota.status->used);
}

void setDefaults(rbacv1::RoleBinding& binding) { setBindingDefaults(binding); }
void setDefaults(rbacv1::ClusterRoleBinding& binding) { setBindingDefaults(binding); }

void setDefaults(schedulingv1::PriorityClass& priority) {
  setIfUnset(priority.preemptionPolicy, "PreemptLowerPriority");
}

void setDefaults(resourcev1::DeviceTaintRule& rule) { setTaintDefaults(*rule.spec->taint); }
void setDefaults(resourcev1beta2::DeviceTaintRule& rule) { setTaintDefaults(*rule.spec->taint); }
void setDefaults(resourcev1alpha3::DeviceTaintRule& rule) { setTaintDefaults(*rule.spec->taint); }

void setDefaults(admissionregistrationv1::MutatingWebhookConfiguration& hooks) {
  for (admissionregistrationv1::MutatingWebhook& webhook : hooks.webhooks) {
    setWebhookDefaults(webhook);
    setIfUnset(webhook.reinvocationPolicy, "Never");
  }
}

void setDefaults(admissionregistrationv1::ValidatingWebhookConfiguration& hooks) {
  for (admissionregistrationv1::ValidatingWebhook& webhook : hooks.webhooks)
    setWebhookDefaults(webhook);
}

void setDefaults(admissionregistrationv1::ValidatingAdmissionPolicy& policy) {
  setIfUnset(policy.spec->failurePolicy, "Fail");
  setMatchResourcesDefaults(policy.spec->matchConstraints);
}

void setDefaults(admissionregistrationv1::ValidatingAdmissionPolicyBinding& binding) {
  setMatchResourcesDefaults(binding.spec->matchResources);
}

void setDefaults(admissionregistrationv1::MutatingAdmissionPolicy& policy) {
  setIfUnset(policy.spec->failurePolicy, "Fail");
  setMatchResourcesDefaults(policy.spec->matchConstraints);
}

void setDefaults(admissionregistrationv1::MutatingAdmissionPolicyBinding& binding) {
  setMatchResourcesDefaults(binding.spec->matchResources);
}

void setDefaults(apiregistrationv1::APIService& service) {
  if (service.spec.read().service) setIfUnset(service.spec->service->port, kHttpsPort);
}

void setDefaults(flowcontrolv1::FlowSchema& schema) {
  setIfZero(schema.spec->matchingPrecedence, 1000);
}

void setDefaults(flowcontrolv1::PriorityLevelConfiguration& level) {
  flowcontrolv1::PriorityLevelConfigurationSpec& spec = *level.spec;
  if (spec.exempt) {
    setIfUnset(spec.exempt->nominalConcurrencyShares, 0);
    setIfUnset(spec.exempt->lendablePercent, 0);
  }
  if (!spec.limited) return;
  setIfUnset(spec.limited->nominalConcurrencyShares, 30);
  setIfUnset(spec.limited->lendablePercent, 0);
  if (!spec.limited->limitResponse.read().queuing) return;
  flowcontrolv1::QueuingConfiguration& queuing = *spec.limited->limitResponse->queuing;
  setIfZero(queuing.handSize, 8);
  setIfZero(queuing.queues, 64);
  setIfZero(queuing.queueLengthLimit, 50);
}

}  // namespace kube::apiserver::rules
