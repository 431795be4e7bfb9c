// Checks of Services and endpoints.
#include <arpa/inet.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>

#include "kube/apiserver/rules/built_in_kinds.h"
#include "kube/apiserver/rules/built_in_validation.h"

namespace kube::apiserver::rules {

namespace {

using corev1::ServiceSpec;

constexpr std::int32_t kMaxAffinitySeconds = 86400;
constexpr std::string_view kOnlyLoadBalancer = "may only be used when `type` is 'LoadBalancer'";

bool isHeadless(const ServiceSpec& spec) {
  return spec.clusterIPs.size() == 1 && spec.clusterIPs[0] == "None";
}
bool needsHealthCheck(const ServiceSpec& spec) {
  return spec.type == "LoadBalancer" && spec.externalTrafficPolicy == "Local";
}
bool isIPv6(std::string_view address) { return address.find(':') != std::string_view::npos; }

/// Rejects addresses that are reachable only on the endpoint's own machine.
void checkReachable(std::string_view address, const Place& at) {
  const std::string text(address);
  std::array<unsigned char, 16> bytes{};
  if (::inet_pton(AF_INET, text.c_str(), bytes.data()) == 1) {
    if (std::all_of(bytes.begin(), bytes.begin() + 4, [](unsigned char b) { return b == 0; })) {
      at.invalid(address, fmt::format("may not be unspecified ({})", address));
    }
    if (bytes[0] == 127) {
      at.invalid(address, "may not be in the loopback range (127.0.0.0/8, ::1/128)");
    }
    if (bytes[0] == 169 && bytes[1] == 254) {
      at.invalid(address, "may not be in the link-local range (169.254.0.0/16, fe80::/10)");
    }
    if (bytes[0] == 224 && bytes[1] == 0 && bytes[2] == 0) {
      at.invalid(address, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
    }
    return;
  }
  if (::inet_pton(AF_INET6, text.c_str(), bytes.data()) != 1) {
    return at.invalid(address, "must be a valid IP address");
  }
  const bool zeros =
      std::all_of(bytes.begin(), bytes.begin() + 15, [](unsigned char b) { return b == 0; });
  if (zeros && bytes[15] == 0) {
    at.invalid(address, fmt::format("may not be unspecified ({})", address));
  }
  if (zeros && bytes[15] == 1) {
    at.invalid(address, "may not be in the loopback range (127.0.0.0/8, ::1/128)");
  }
  if (bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80) {
    at.invalid(address, "may not be in the link-local range (169.254.0.0/16, fe80::/10)");
  }
  if (bytes[0] == 0xff && (bytes[1] & 0x0f) == 0x02) {
    at.invalid(address, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
  }
}

void checkType(const ServiceSpec& spec, const Place& at) {
  if (spec.type == "ExternalName") {
    constexpr std::string_view kNotSet = "may not be set for ExternalName services";
    if (!spec.clusterIPs.empty()) at("clusterIPs").forbidden(kNotSet);
    if (!spec.ipFamilies.empty()) at("ipFamilies").forbidden(kNotSet);
    if (spec.ipFamilyPolicy) at("ipFamilyPolicy").forbidden(kNotSet);
    std::string_view name = spec.externalName;
    if (name.ends_with('.')) name.remove_suffix(1);
    at("externalName").requiredText(name, validation::isDNS1123Subdomain);
  } else if (spec.type != "ClusterIP" && isHeadless(spec)) {
    const Place addresses = at("clusterIPs");
    addresses[0].invalid("None",
                         fmt::format("may not be set to 'None' for {} services", spec.type));
  }
}

void checkPorts(const ServiceSpec& spec, const Place& all) {
  Seen names;
  forEach(spec.ports, all, [&](const corev1::ServicePort& port, const Place& at) {
    if (port.name.empty()) {
      if (spec.ports.size() > 1) at("name").required();
    } else {
      at("name").text(port.name, validation::isDNS1123Label);
      if (!names.insert(port.name)) at("name").duplicate(port.name);
    }
    at("port").port(port.port);
    at("protocol").oneOf(port.protocol, {"SCTP", "TCP", "UDP"});
    checkPortNumberOrName(port.targetPort, at("targetPort"));
    if (port.appProtocol) at("appProtocol").text(*port.appProtocol, validation::isQualifiedName);
  });
}

void checkPortsDiffer(const ServiceSpec& spec, const Place& all) {
  Seen nodePorts;
  Seen ports;
  forEach(spec.ports, all, [&](const corev1::ServicePort& port, const Place& at) {
    if (port.nodePort == 0) return;
    if (spec.type == "ClusterIP") {
      at("nodePort").forbidden("may not be used when `type` is 'ClusterIP'");
    }
    if (!nodePorts.insert(fmt::format("{}/{}", port.protocol, port.nodePort))) {
      at("nodePort").duplicate(port.nodePort);
    }
  });
  forEach(spec.ports, all, [&](const corev1::ServicePort& port, const Place& at) {
    if (ports.insert(fmt::format("{}/{}", port.protocol, port.port))) return;
    // As the server prints the key of its comparison.
    at.duplicate(Value::Object{{"Name", ""},
                               {"Protocol", port.protocol},
                               {"AppProtocol", nullptr},
                               {"Port", port.port},
                               {"TargetPort", 0},
                               {"NodePort", 0}});
  });
}

void checkAffinity(const ServiceSpec& spec, const Place& at) {
  at("sessionAffinity").oneOf(spec.sessionAffinity, {"ClientIP", "None"});
  const Place config = at("sessionAffinityConfig");
  if (spec.sessionAffinity == "None" && spec.sessionAffinityConfig) {
    config.forbidden("must not be set when session affinity is None");
  }
  if (spec.sessionAffinity != "ClientIP") return;
  const auto& timeout = spec.sessionAffinityConfig->clientIP->timeoutSeconds;
  if (!timeout) {
    config("clientIP.timeoutSeconds").required("when session affinity type is ClientIP");
  } else if (*timeout <= 0 || *timeout > kMaxAffinitySeconds) {
    config("clientIP.timeoutSeconds")
        .invalid(*timeout,
                 fmt::format("must be greater than 0 and less than {}", kMaxAffinitySeconds));
  }
}

void checkClusterIPs(const ServiceSpec& spec, const Place& at) {
  if (spec.type == "ExternalName") return;
  const Place all = at("clusterIPs");
  const auto& addresses = spec.clusterIPs;
  if (spec.clusterIP.empty()) {
    if (!addresses.empty()) {
      all.invalid(shown(addresses), "must be empty when `clusterIP` is not specified");
    }
  } else if (addresses.empty()) {
    all.required();
  } else if (addresses[0] != spec.clusterIP) {
    all.invalid(shown(addresses), "first value must match `clusterIP`");
  }
  Seen families;
  forEach(spec.ipFamilies, at("ipFamilies"), [&](const String& family, const Place& at) {
    at.oneOfSupported(family, {"IPv4", "IPv6"});
    if (!families.insert(family)) at.duplicate(family);
  });
  at("ipFamilyPolicy")
      .oneOf(spec.ipFamilyPolicy, {"PreferDualStack", "RequireDualStack", "SingleStack"});
  if (isHeadless(spec)) return;
  const std::size_t before = at.errors().size();
  forEach(addresses, all, [](const String& address, const Place& at) {
    at.add(validation::isValidIPForLegacyField(at.path(), address));
  });
  if (addresses.size() > 2) all.invalid(shown(addresses), "may only hold up to 2 values");
  if (at.errors().size() != before) return;
  if (addresses.size() == 2 && isIPv6(addresses[0]) == isIPv6(addresses[1])) {
    all.invalid(shown(addresses), "may specify no more than one IP for each IP family");
  }
  for (std::size_t i = 0; i < std::min(addresses.size(), spec.ipFamilies.size()); ++i) {
    if ((spec.ipFamilies[i] == "IPv6") == isIPv6(addresses[i])) continue;
    all[i].invalid(addresses[i],
                   fmt::format("expected an {} value as indicated by `ipFamilies[{}]`",
                               spec.ipFamilies[i], i));
  }
}

void checkTraffic(const ServiceSpec& spec, const Place& at) {
  if (isExternallyAccessible(spec)) {
    at("externalTrafficPolicy").oneOf(spec.externalTrafficPolicy, {"Cluster", "Local"});
  } else if (!spec.externalTrafficPolicy.empty()) {
    at("externalTrafficPolicy")
        .invalid(spec.externalTrafficPolicy, "may only be set for externally-accessible services");
  }
  const std::int32_t healthPort = spec.healthCheckNodePort;
  if (healthPort != 0 && !needsHealthCheck(spec)) {
    at("healthCheckNodePort")
        .invalid(healthPort,
                 "may only be set when `type` is 'LoadBalancer' and "
                 "`externalTrafficPolicy` is 'Local'");
  } else if (healthPort != 0) {
    at("healthCheckNodePort").port(healthPort);
  }
  at("internalTrafficPolicy").oneOf(spec.internalTrafficPolicy, {"Cluster", "Local"});
  at("trafficDistribution")
      .oneOf(spec.trafficDistribution, {"PreferClose", "PreferSameZone", "PreferSameNode"});
}

void checkLoadBalancer(const ServiceSpec& spec, const Place& at) {
  const bool balanced = spec.type == "LoadBalancer";
  const Place ranges = at("LoadBalancerSourceRanges");  // as upstream spells it
  if (!spec.loadBalancerSourceRanges.empty() && !balanced) ranges.forbidden(kOnlyLoadBalancer);
  forEach(spec.loadBalancerSourceRanges, ranges, [](const String& range, const Place& at) {
    std::string_view text = range;
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    at.add(validation::isValidCIDRForLegacyField(at.path(), text));
  });
  if (spec.allocateLoadBalancerNodePorts && !balanced) {
    at("allocateLoadBalancerNodePorts").forbidden(kOnlyLoadBalancer);
  }
  if (!spec.loadBalancerClass) return;
  if (balanced) {
    at("loadBalancerClass").text(*spec.loadBalancerClass, validation::isQualifiedName);
  } else {
    at("loadBalancerClass").forbidden(kOnlyLoadBalancer);
  }
}

/// The first address and the first family stay; a second one may be added or removed.
void checkKept(const List<String>& next, const List<String>& old, std::string_view unset,
               const Place& at) {
  if (old.empty()) return;
  if (next.empty()) return at[0].invalid(shown(next), unset);
  const bool whole = next.size() == old.size();
  for (std::size_t i = 0; i < (whole ? next.size() : 1); ++i) {
    if (next[i] != old[i]) at[i].invalid(shown(next), "may not change once set");
  }
}

void checkEndpointAddresses(const List<corev1::EndpointAddress>& addresses, const Place& at) {
  forEach(addresses, at, [](const corev1::EndpointAddress& address, const Place& at) {
    const Place ip = at("ip");
    ip.add(validation::isValidIPForLegacyField(ip.path(), address.ip));
    if (!address.hostname.empty())
      at("hostname").text(address.hostname, validation::isDNS1123Label);
    checkReachable(address.ip, ip);
  });
}

void checkSliceAddress(std::string_view type, const String& address, const Place& all,
                       const Place& at) {
  if (type == "FQDN") {
    return at.add(validation::isFullyQualifiedDomainName(at.path(), address));
  }
  if (type != "IPv4" && type != "IPv6") return;
  FieldErrors problems = type == "IPv4" ? validation::isValidIPForLegacyField(at.path(), address)
                                        : validation::isValidIP(at.path(), address);
  if (!problems.empty()) return at.add(std::move(problems));
  if (isIPv6(address) != (type == "IPv6")) {
    all.invalid(address, fmt::format("must be an {} address", type));
  }
  checkReachable(address, at);
}

}  // namespace

void validate(const corev1::Service& service, const Place& root) {
  const ServiceSpec& spec = *service.spec;
  const Place at = root("spec");
  if (spec.ports.empty() && !isHeadless(spec) && spec.type != "ExternalName") {
    at("ports").required();
  }
  checkType(spec, at);
  checkPorts(spec, at("ports"));
  const Place selector = at("selector");
  if (!spec.selector.empty()) {
    selector.add(validation::validateLabels(spec.selector, selector.path()));
  }
  checkAffinity(spec, at);
  checkClusterIPs(spec, at);
  forEach(spec.externalIPs, at("externalIPs"), [](const String& address, const Place& at) {
    FieldErrors problems = validation::isValidIPForLegacyField(at.path(), address);
    if (problems.empty()) return checkReachable(address, at);
    at.add(std::move(problems));
  });
  at("type").oneOf(spec.type, {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"});
  checkPortsDiffer(spec, at("ports"));
  checkLoadBalancer(spec, at);
  checkTraffic(spec, at);
}

void validateUpdate(const corev1::Service& nextService, const corev1::Service& oldService,
                    const Place& root) {
  const ServiceSpec& next = *nextService.spec;
  const ServiceSpec& old = *oldService.spec;
  const Place at = root("spec");
  if (next.type != "ExternalName" && old.type != "ExternalName" &&
      !(isHeadless(next) && isHeadless(old))) {
    checkKept(next.clusterIPs, old.clusterIPs, "primary clusterIP can not be unset",
              at("clusterIPs"));
    if (!isHeadless(next) && !isHeadless(old)) {
      checkKept(next.ipFamilies, old.ipFamilies, "primary ipFamily can not be unset",
                at("ipFamilies"));
    }
  }
  if (old.type == "LoadBalancer" && next.type == "LoadBalancer" &&
      next.loadBalancerClass != old.loadBalancerClass) {
    at("loadBalancerClass").invalid(shown(next.loadBalancerClass), "may not change once set");
  }
  if (needsHealthCheck(old) && needsHealthCheck(next) &&
      next.healthCheckNodePort != old.healthCheckNodePort) {
    at("healthCheckNodePort").forbidden("field is immutable");
  }
}

void validate(const corev1::Endpoints& endpoints, const Place& root) {
  forEach(endpoints.subsets, root("subsets"), [](const auto& subset, const Place& at) {
    if (subset.addresses.empty() && subset.notReadyAddresses.empty()) {
      at.required("must specify `addresses` or `notReadyAddresses`");
    }
    checkEndpointAddresses(subset.addresses, at("addresses"));
    checkEndpointAddresses(subset.notReadyAddresses, at("notReadyAddresses"));
    forEach(subset.ports, at("ports"), [&](const corev1::EndpointPort& port, const Place& at) {
      if (port.name.empty()) {
        if (subset.ports.size() > 1) at("name").required();
      } else {
        at("name").text(port.name, validation::isDNS1123Label);
      }
      at("port").port(port.port);
      at("protocol").oneOf(port.protocol, {"SCTP", "TCP", "UDP"});
    });
  });
}

void validate(const discoveryv1::EndpointSlice& slice, const Place& at) {
  at("addressType").oneOf(slice.addressType, {"FQDN", "IPv4", "IPv6"});
  const Place endpoints = at("endpoints");
  if (slice.endpoints.size() > 1000) endpoints.tooMany(slice.endpoints.size(), 1000);
  Seen names;
  forEach(slice.ports, at("ports"), [&](const discoveryv1::EndpointPort& port, const Place& at) {
    const String name = port.name.value_or("");
    if (!name.empty()) at("name").text(name, validation::isDNS1123Label);
    if (!names.insert(name)) at("name").duplicate(name);
    at("protocol").oneOf(port.protocol, {"SCTP", "TCP", "UDP"});
  });
  forEach(slice.endpoints, endpoints, [&](const discoveryv1::Endpoint& endpoint, const Place& at) {
    const Place addresses = at("addresses");
    if (endpoint.addresses.empty()) addresses.required("must contain at least 1 address");
    if (endpoint.addresses.size() > 100) addresses.tooMany(endpoint.addresses.size(), 100);
    forEach(endpoint.addresses, addresses, [&](const String& address, const Place& at) {
      checkSliceAddress(slice.addressType, address, addresses, at);
    });
    if (endpoint.hostname) at("hostname").text(*endpoint.hostname, validation::isDNS1123Label);
  });
}

void validateUpdate(const discoveryv1::EndpointSlice& next, const discoveryv1::EndpointSlice& old,
                    const Place& at) {
  at("addressType").immutable(next.addressType, old.addressType);
}

}  // namespace kube::apiserver::rules
