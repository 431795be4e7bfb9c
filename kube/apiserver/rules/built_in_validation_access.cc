// Checks of access rules, certificate requests, priorities and leases.
#include <fmt/core.h>

#include <array>

#include "kube/apiserver/rules/built_in_kinds.h"
#include "kube/apiserver/rules/built_in_validation.h"
#include "kube/base/internal/base64.h"

namespace kube::apiserver::rules {

namespace {

constexpr std::array<std::string_view, 23> kUsages = {"any",
                                                      "cert sign",
                                                      "client auth",
                                                      "code signing",
                                                      "content commitment",
                                                      "crl sign",
                                                      "data encipherment",
                                                      "decipher only",
                                                      "digital signature",
                                                      "email protection",
                                                      "encipher only",
                                                      "ipsec end system",
                                                      "ipsec tunnel",
                                                      "ipsec user",
                                                      "key agreement",
                                                      "key encipherment",
                                                      "microsoft sgc",
                                                      "netscape sgc",
                                                      "ocsp signing",
                                                      "s/mime",
                                                      "server auth",
                                                      "signing",
                                                      "timestamping"};

void checkPolicyRule(const rbacv1::PolicyRule& rule, bool namespaced, const Place& at) {
  if (rule.verbs.empty()) at("verbs").required("verbs must contain at least one value");
  const Place urls = at("nonResourceURLs");
  if (!rule.nonResourceURLs.empty()) {
    if (namespaced) {
      urls.invalid(shown(rule.nonResourceURLs),
                   "namespaced rules cannot apply to non-resource URLs");
    }
    if (!rule.apiGroups.empty() || !rule.resources.empty() || !rule.resourceNames.empty()) {
      urls.invalid(shown(rule.nonResourceURLs),
                   "rules cannot apply to both regular resources and non-resource URLs");
    }
    return;
  }
  if (rule.apiGroups.empty()) {
    at("apiGroups").required("resource rules must supply at least one api group");
  }
  if (rule.resources.empty()) {
    at("resources").required("resource rules must supply at least one resource");
  }
}

void checkSubject(const rbacv1::Subject& subject, bool namespaced, const Place& at) {
  at("name").require(subject.name);
  if (subject.kind == "ServiceAccount") {
    if (!subject.name.empty()) {
      at("name").reasons(subject.name, validation::nameIsDNSSubdomain(subject.name, false));
    }
    if (!subject.apiGroup.empty()) at("apiGroup").notSupported(subject.apiGroup, {""});
    if (!namespaced) at("namespace").require(subject.namespace_);
  } else if (subject.kind == "User" || subject.kind == "Group") {
    at("apiGroup").oneOfSupported(subject.apiGroup, {kRbacGroup});
  } else {
    at("kind").notSupported(subject.kind, {"ServiceAccount", "User", "Group"});
  }
}

/// For RoleBinding and ClusterRoleBinding.
template <class Binding>
void checkBinding(const Binding& binding, std::initializer_list<std::string_view> kinds,
                  bool namespaced, const Place& at) {
  const Place role = at("roleRef");
  role("apiGroup").oneOfSupported(binding.roleRef->apiGroup, {kRbacGroup});
  role("kind").oneOfSupported(binding.roleRef->kind, kinds);
  role("name").requiredText(binding.roleRef->name, validation::isPathSegmentName);
  forEach(binding.subjects, at("subjects"), [&](const rbacv1::Subject& subject, const Place& at) {
    checkSubject(subject, namespaced, at);
  });
}

template <class Binding>
void checkSameRole(const Binding& next, const Binding& old, const Place& at) {
  if (next.roleRef == old.roleRef) return;
  const rbacv1::RoleRef& role = *next.roleRef;
  // With the field names of the server's internal type.
  at("roleRef").invalid(
      Value::Object{{"APIGroup", role.apiGroup}, {"Kind", role.kind}, {"Name", role.name}},
      "cannot change roleRef");
}

}  // namespace

void checkSigner(std::string_view name, const Place& at) {
  if (!at.require(name)) return;
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos || name.find('/', slash + 1) != std::string_view::npos) {
    return at.invalid(
        name, "must be a fully qualified domain and path of the form 'example.com/signer-name'");
  }
  const auto checkLabels = [&](std::string_view part, auto rule) {
    for (std::string_view rest = part;;) {
      const std::size_t dot = rest.find('.');
      const std::string_view label = rest.substr(0, dot);
      const validation::Reasons reasons = rule(label);
      for (const std::string& reason : reasons) {
        at.invalid(part, fmt::format("validating label \"{}\": {}", label, reason));
      }
      if (!reasons.empty() || dot == std::string_view::npos) return;
      rest.remove_prefix(dot + 1);
    }
  };
  const std::string_view domain = name.substr(0, slash);
  checkLabels(domain, validation::isDNS1123Label);
  if (domain.find('.') == std::string_view::npos) {
    at.invalid(domain, "should be a domain with at least two segments separated by dots");
  }
  checkLabels(name.substr(slash + 1), validation::isDNS1123Subdomain);
}

void validate(const rbacv1::Role& role, const Place& at) {
  forEach(role.rules, at("rules"),
          [](const rbacv1::PolicyRule& rule, const Place& at) { checkPolicyRule(rule, true, at); });
}

void validate(const rbacv1::ClusterRole& role, const Place& at) {
  forEach(role.rules, at("rules"), [](const rbacv1::PolicyRule& rule, const Place& at) {
    checkPolicyRule(rule, false, at);
  });
  if (!role.aggregationRule) return;
  const Place selectors = at("aggregationRule.clusterRoleSelectors");
  if (role.aggregationRule->clusterRoleSelectors.empty()) {
    selectors.required("at least one clusterRoleSelector required if aggregationRule is non-nil");
  }
  forEach(role.aggregationRule->clusterRoleSelectors, selectors, checkSelector);
}

void validate(const rbacv1::RoleBinding& binding, const Place& at) {
  checkBinding(binding, {"Role", "ClusterRole"}, true, at);
}

void validateUpdate(const rbacv1::RoleBinding& next, const rbacv1::RoleBinding& old,
                    const Place& at) {
  checkSameRole(next, old, at);
}

void validate(const rbacv1::ClusterRoleBinding& binding, const Place& at) {
  checkBinding(binding, {"ClusterRole"}, false, at);
}

void validateUpdate(const rbacv1::ClusterRoleBinding& next, const rbacv1::ClusterRoleBinding& old,
                    const Place& at) {
  checkSameRole(next, old, at);
}

void validate(const certificatesv1::CertificateSigningRequest& request, const Place& root) {
  const certificatesv1::CertificateSigningRequestSpec& spec = *request.spec;
  const Place at = root("spec");
  if (spec.request.view().find("-----BEGIN CERTIFICATE REQUEST-----") == std::string_view::npos) {
    std::string bytes;
    kube::detail::base64Encode(spec.request, bytes);
    at("request").invalid(bytes, "PEM block type must be CERTIFICATE REQUEST");
  }
  const Place usages = at("usages");
  if (spec.usages.empty()) usages.required();
  forEach(spec.usages, usages,
          [](const String& usage, const Place& at) { at.oneOfSupported(usage, kUsages); });
  Seen seen;
  forEach(spec.usages, usages, [&](const String& usage, const Place& at) {
    if (!seen.insert(usage)) at.duplicate(usage);
  });
  if (spec.signerName == "kubernetes.io/legacy-unknown") {
    at("signerName")
        .invalid(spec.signerName, "the legacy signerName is not allowed via this API version");
  } else {
    checkSigner(spec.signerName, at("signerName"));
  }
  if (spec.expirationSeconds.value_or(600) < 600) {
    at("expirationSeconds")
        .invalid(*spec.expirationSeconds,
                 "may not specify a duration less than 600 seconds (10 minutes)");
  }
}

void validateCreate(const schedulingv1::PriorityClass& priority, const Place& at) {
  const std::string_view name = priority.metadata.name;
  constexpr std::string_view kReserved = "system-";
  const bool known = (name == "system-node-critical" && priority.value == 2'000'001'000) ||
                     (name == "system-cluster-critical" && priority.value == 2'000'000'000);
  if (name.starts_with(kReserved)) {
    if (!known) {
      at("metadata.name")
          .forbidden(
              fmt::format("priority class names with '{}' prefix are reserved for system use "
                          "only. error: {} is not a known system priority class",
                          kReserved, name));
    }
  } else if (priority.value > kHighestUserPriority) {
    at("value").forbidden(fmt::format("maximum allowed value of a user defined priority is {}",
                                      kHighestUserPriority));
  }
  if (priority.preemptionPolicy) {
    at("preemptionPolicy")
        .oneOf(priority.preemptionPolicy->view(), {"PreemptLowerPriority", "Never"});
  }
}

void validateUpdate(const schedulingv1::PriorityClass& next, const schedulingv1::PriorityClass& old,
                    const Place& at) {
  if (next.value != old.value) at("value").forbidden("may not be changed in an update.");
  at("preemptionPolicy").immutable(next.preemptionPolicy, old.preemptionPolicy);
}

void validate(const coordinationv1::Lease& lease, const Place& root) {
  const coordinationv1::LeaseSpec& spec = *lease.spec;
  const Place at = root("spec");
  if (spec.leaseDurationSeconds.value_or(1) <= 0) {
    at("leaseDurationSeconds").invalid(*spec.leaseDurationSeconds, "must be greater than 0");
  }
  if (spec.leaseTransitions) at("leaseTransitions").nonNegative(*spec.leaseTransitions);
  if (!spec.preferredHolder.value_or("").empty() && spec.strategy.value_or("").empty()) {
    at("preferredHolder").forbidden("may only be specified if `strategy` is defined");
  }
}

}  // namespace kube::apiserver::rules
