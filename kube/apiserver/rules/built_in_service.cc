// The addresses and ports of a Service: allocation, updates, and release.
#include <algorithm>

#include "kube/apiserver/rules/built_in_kinds.h"
#include "kube/apiserver/rules/built_in_rules.h"

namespace kube::apiserver {

namespace {

using corev1::ServiceSpec;

bool needsClusterIP(const ServiceSpec& spec) { return spec.type != "ExternalName"; }
bool needsNodePort(const ServiceSpec& spec) {
  return spec.type == "NodePort" || spec.type == "LoadBalancer";
}
bool needsHealthCheckPort(const ServiceSpec& spec) {
  return spec.type == "LoadBalancer" && spec.externalTrafficPolicy == "Local";
}
bool isExternallyAccessible(const ServiceSpec& spec) {
  return needsNodePort(spec) || (spec.type == "ClusterIP" && !spec.externalIPs.empty());
}

bool usesNodePort(const ServiceSpec& spec, std::int32_t number) {
  return std::any_of(spec.ports.begin(), spec.ports.end(),
                     [&](const corev1::ServicePort& port) { return port.nodePort == number; });
}

bool asksForNoNewNodePort(const ServiceSpec& next, const ServiceSpec& old) {
  return std::all_of(next.ports.begin(), next.ports.end(), [&](const corev1::ServicePort& port) {
    return port.nodePort == 0 || usesNodePort(old, port.nodePort);
  });
}

/// Drops fields that the new type does not use, unless the update changes them: then they are
/// errors.
void dropWhatTypeHasNot(ServiceSpec& next, const ServiceSpec& old) {
  if (needsClusterIP(old) && !needsClusterIP(next)) {
    if (next.clusterIP == old.clusterIP && next.clusterIPs == old.clusterIPs) {
      next.clusterIP = {};
      next.clusterIPs.clear();
    }
    if (next.ipFamilies == old.ipFamilies) next.ipFamilies.clear();
    if (next.ipFamilyPolicy == old.ipFamilyPolicy) next.ipFamilyPolicy.reset();
  }
  if (needsNodePort(old) && !needsNodePort(next) && asksForNoNewNodePort(next, old)) {
    for (corev1::ServicePort& port : next.ports) port.nodePort = 0;
  }
  if (needsHealthCheckPort(old) && !needsHealthCheckPort(next) &&
      next.healthCheckNodePort == old.healthCheckNodePort) {
    next.healthCheckNodePort = 0;
  }
  if (old.type == "LoadBalancer" && next.type != "LoadBalancer") {
    if (next.allocateLoadBalancerNodePorts == old.allocateLoadBalancerNodePorts)
      next.allocateLoadBalancerNodePorts.reset();
    if (next.loadBalancerClass == old.loadBalancerClass) next.loadBalancerClass.reset();
  }
  if (isExternallyAccessible(old) && !isExternallyAccessible(next) &&
      next.externalTrafficPolicy == old.externalTrafficPolicy) {
    next.externalTrafficPolicy = {};
  }
}

/// An update need not repeat allocated values.
void keepAllocated(ServiceSpec& next, const ServiceSpec& old) {
  if (needsClusterIP(old) && needsClusterIP(next)) {
    if (next.clusterIP.empty()) next.clusterIP = old.clusterIP;
    if (next.clusterIPs.empty()) next.clusterIPs = old.clusterIPs;
    // A change of the single address changes the first of the list.
    if (next.clusterIP != old.clusterIP && next.clusterIPs == old.clusterIPs) {
      next.clusterIPs = {next.clusterIP};
    }
  }
  if (needsNodePort(old) && needsNodePort(next)) {
    const ServiceSpec asked = next;
    for (corev1::ServicePort& port : next.ports) {
      if (port.nodePort != 0) continue;
      const auto same = std::find_if(old.ports.begin(), old.ports.end(),
                                     [&](const auto& before) { return before.name == port.name; });
      if (same != old.ports.end() && !usesNodePort(asked, same->nodePort))
        port.nodePort = same->nodePort;
    }
  }
  if (needsHealthCheckPort(old) && needsHealthCheckPort(next) && next.healthCheckNodePort == 0) {
    next.healthCheckNodePort = old.healthCheckNodePort;
  }
}

std::string_view familyOf(std::string_view address) {
  return address.find(':') == std::string_view::npos ? "IPv4" : "IPv6";
}

void setAddresses(ServiceSpec& spec, const ServiceAllocator& allocator) {
  if (spec.clusterIP.empty() && !spec.clusterIPs.empty()) return;  // validation reports it
  if (spec.clusterIP.empty() && allocator.clusterIP) spec.clusterIP = allocator.clusterIP();
  if (spec.clusterIP.empty()) return;
  if (spec.clusterIPs.empty()) spec.clusterIPs = {spec.clusterIP};
  if (!spec.ipFamilyPolicy) spec.ipFamilyPolicy = "SingleStack";
  if (!spec.ipFamilies.empty()) return;
  // Without an address of its own, a Service has the cluster's first family.
  spec.ipFamilies = {spec.clusterIP == "None" ? String("IPv4") : String(familyOf(spec.clusterIP))};
}

}  // namespace

void rules::prepareUpdate(corev1::Service& next, const corev1::Service& old) {
  dropWhatTypeHasNot(*next.spec, *old.spec);
  keepAllocated(*next.spec, *old.spec);
  if (next.spec->type != "LoadBalancer" && next.status.read().loadBalancer) {
    next.status->loadBalancer.reset();
  }
}

void allocateForService(AnyObject& object, const ServiceAllocator& allocator) {
  auto* service = object.as<corev1::Service>();
  if (service == nullptr) return;
  ServiceSpec& spec = *service->spec;
  if (needsClusterIP(spec)) setAddresses(spec, allocator);
  if (!allocator.nodePort || !needsNodePort(spec)) return;
  const bool allPorts =
      spec.type == "NodePort" || spec.allocateLoadBalancerNodePorts.value_or(true);
  if (allPorts) {
    for (corev1::ServicePort& port : spec.ports) {
      if (port.nodePort == 0) port.nodePort = allocator.nodePort();
    }
  }
  if (needsHealthCheckPort(spec) && spec.healthCheckNodePort == 0) {
    spec.healthCheckNodePort = allocator.nodePort();
  }
}

}  // namespace kube::apiserver
