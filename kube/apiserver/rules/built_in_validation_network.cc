// Checks of Ingresses and NetworkPolicies.
#include <fmt/core.h>

#include "kube/apiserver/rules/built_in_kinds.h"
#include "kube/apiserver/rules/built_in_validation.h"

namespace kube::apiserver::rules {

namespace {

void checkReference(const std::optional<String>& group, const String& kind, const String& name,
                    const Place& at) {
  if (group) at("apiGroup").text(*group, validation::isDNS1123Subdomain);
  at("kind").requiredText(kind, validation::isPathSegmentName);
  at("name").requiredText(name, validation::isPathSegmentName);
}

void checkServiceBackend(const networkingv1::IngressServiceBackend& service, const Place& backend) {
  const Place at = backend("service");
  if (at("name").require(service.name)) {
    at("name").reasons(service.name, validation::nameIsDNSLabel(service.name, false));
  }
  const networkingv1::ServiceBackendPort& port = *service.port;
  if (!port.name.empty() && port.number != 0) {
    backend.invalid("", "cannot set both port name & port number");
  } else if (!port.name.empty()) {
    at("port.name").text(port.name, validation::isValidPortName);
  } else if (port.number != 0) {
    at("port.number").port(port.number);
  } else {
    backend.required("port name or number is required");
  }
}

void checkBackend(const networkingv1::IngressBackend& backend, const Place& at) {
  if (backend.resource && backend.service) {
    at.invalid("", "cannot set both resource and service backends");
  } else if (backend.resource) {
    checkReference(backend.resource->apiGroup, backend.resource->kind, backend.resource->name,
                   at("resource"));
  } else if (backend.service) {
    checkServiceBackend(*backend.service, at);
  } else {
    at.invalid("", "resource or service backend is required");
  }
}

void checkPathText(std::string_view path, const Place& at) {
  for (std::string_view part : {"//", "/./", "/../", "%2f", "%2F"}) {
    if (path.find(part) != std::string_view::npos) {
      at.invalid(path, fmt::format("must not contain '{}'", part));
    }
  }
  for (std::string_view end : {"/..", "/."}) {
    if (path.ends_with(end)) at.invalid(path, fmt::format("cannot end with '{}'", end));
  }
}

void checkPath(const networkingv1::HTTPIngressPath& path, const Place& at) {
  if (!path.pathType) return at("pathType").required("pathType must be specified");
  const bool absolute = path.path.view().starts_with('/');
  const bool any = *path.pathType == "ImplementationSpecific";
  if (at("pathType").oneOf(path.pathType, {"Exact", "ImplementationSpecific", "Prefix"})) {
    if (!absolute && !(any && path.path.empty())) {
      at("path").invalid(path.path, "must be an absolute path");
    }
    if (!any) checkPathText(path.path, at("path"));
  }
  checkBackend(*path.backend, at("backend"));
}

void checkHost(std::string_view host, const Place& at) {
  const bool wildcard = host.find('*') != std::string_view::npos;
  at.text(host, wildcard ? validation::isWildcardDNS1123Subdomain : validation::isDNS1123Subdomain);
}

void checkIngressRule(const networkingv1::IngressRule& rule, const Place& at) {
  if (!rule.host.empty()) {
    if (validation::isValidIPForLegacyField(ErrorPath(), rule.host, false).empty()) {
      at("host").invalid(rule.host, "must be a DNS name, not an IP address");
    }
    checkHost(rule.host, at("host"));
  }
  if (!rule.http) return;
  const Place http = at("http");
  if (rule.http->paths.empty()) http("paths").required();
  forEach(rule.http->paths, http("paths"), checkPath);
}

void checkPolicyPort(const networkingv1::NetworkPolicyPort& port, const Place& at) {
  at("protocol").oneOf(port.protocol, {"TCP", "UDP", "SCTP"});
  if (!port.port) {
    if (port.endPort) {
      at("endPort").invalid(*port.endPort, "may not be specified when `port` is not specified");
    }
    return;
  }
  checkPortNumberOrName(*port.port, at("port"));
  if (!port.endPort) return;
  if (port.port->isString()) {
    return at("endPort").invalid(*port.endPort, "may not be specified when `port` is non-numeric");
  }
  if (*port.endPort < port.port->intValue()) {
    at("endPort").invalid(port.port->intValue(), "must be greater than or equal to `port`");
  }
  at("endPort").port(*port.endPort);
}

void checkBlock(const networkingv1::IPBlock& block, const Place& at) {
  const Place network = at("cidr");
  if (!network.require(block.cidr)) return;
  network.add(validation::isValidCIDRForLegacyField(network.path(), block.cidr));
  forEach(block.except, at("except"), [](const String& part, const Place& at) {
    at.add(validation::isValidCIDRForLegacyField(at.path(), part));
  });
}

void checkPeer(const networkingv1::NetworkPolicyPeer& peer, const Place& at) {
  if (peer.podSelector) checkSelector(*peer.podSelector, at("podSelector"));
  if (peer.namespaceSelector) checkSelector(*peer.namespaceSelector, at("namespaceSelector"));
  if (peer.ipBlock) checkBlock(*peer.ipBlock, at("ipBlock"));
  const bool selects = peer.podSelector || peer.namespaceSelector;
  if (!selects && !peer.ipBlock) at.required("must specify a peer");
  if (selects && peer.ipBlock) at.forbidden("may not specify both ipBlock and another peer");
}

}  // namespace

void validate(const networkingv1::Ingress& ingress, const Place& root) {
  const networkingv1::IngressSpec& spec = *ingress.spec;
  const Place at = root("spec");
  if (spec.rules.empty() && !spec.defaultBackend) {
    at.invalid(nullptr, "either `defaultBackend` or `rules` must be specified");
  }
  if (spec.defaultBackend) checkBackend(*spec.defaultBackend, at("defaultBackend"));
  forEach(spec.rules, at("rules"), checkIngressRule);
  forEach(spec.tls, at("tls"), [](const networkingv1::IngressTLS& tls, const Place& at) {
    forEach(tls.hosts, at("hosts"),
            [](const String& host, const Place& at) { checkHost(host, at); });
    if (!tls.secretName.empty()) {
      at("secretName")
          .reasons(tls.secretName, validation::nameIsDNSSubdomain(tls.secretName, false));
    }
  });
  if (spec.ingressClassName) {
    at("ingressClassName")
        .reasons(*spec.ingressClassName,
                 validation::nameIsDNSSubdomain(*spec.ingressClassName, false));
  }
}

void validate(const networkingv1::IngressClass& ingressClass, const Place& root) {
  const networkingv1::IngressClassSpec& spec = *ingressClass.spec;
  const Place at = root("spec");
  const Place controller = at("controller");
  if (spec.controller.size() > 250) controller.tooLong(250);
  controller.add(validation::isDomainPrefixedPath(controller.path(), spec.controller));
  if (!spec.parameters) return;
  const networkingv1::IngressClassParametersReference& parameters = *spec.parameters;
  const Place place = at("parameters");
  checkReference(parameters.apiGroup, parameters.kind, parameters.name, place);
  if (!place("scope").oneOf(parameters.scope, {"Cluster", "Namespace"})) return;
  if (parameters.scope == "Namespace") {
    if (!parameters.namespace_) {
      place("namespace").required("`parameters.scope` is set to 'Namespace'");
    } else {
      place("namespace")
          .reasons(*parameters.namespace_,
                   validation::nameIsDNSLabel(*parameters.namespace_, false));
    }
  } else if (parameters.namespace_) {
    place("namespace").forbidden("`parameters.scope` is set to 'Cluster'");
  }
}

void validateUpdate(const networkingv1::IngressClass& next, const networkingv1::IngressClass& old,
                    const Place& at) {
  at("spec.controller").immutable(next.spec->controller, old.spec->controller);
}

void validate(const networkingv1::NetworkPolicy& policy, const Place& root) {
  const networkingv1::NetworkPolicySpec& spec = *policy.spec;
  const Place at = root("spec");
  checkSelector(*spec.podSelector, at("podSelector"));
  forEach(spec.ingress, at("ingress"), [](const auto& rule, const Place& at) {
    forEach(rule.ports, at("ports"), checkPolicyPort);
    forEach(rule.from, at("from"), checkPeer);
  });
  forEach(spec.egress, at("egress"), [](const auto& rule, const Place& at) {
    forEach(rule.ports, at("ports"), checkPolicyPort);
    forEach(rule.to, at("to"), checkPeer);
  });
  if (spec.policyTypes.size() > 2) {
    return at("policyTypes")
        .invalid(shown(spec.policyTypes), "may not specify more than two policyTypes");
  }
  forEach(spec.policyTypes, at("policyTypes"), [](const String& type, const Place& at) {
    at.oneOfSupported(type, {"Ingress", "Egress"});
  });
}

}  // namespace kube::apiserver::rules
