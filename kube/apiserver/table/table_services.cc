// Services, endpoints, ingresses, network policies and addresses as rows of a table.
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

#include "kube/api/core/v1.h"
#include "kube/api/discovery/v1.h"
#include "kube/api/networking/v1.h"
#include "kube/api/networking/v1beta1.h"
#include "kube/apiserver/table/table_columns.h"
#include "kube/base/internal/text.h"
#include "kube/meta/gvk.h"
#include "kube/meta/selectors/label_selector.h"

namespace kube::apiserver {

namespace {

using corev1::Endpoints;
using corev1::Service;
using discoveryv1::EndpointSlice;
using networkingv1::Ingress;
using networkingv1::IngressClass;
using networkingv1::NetworkPolicy;

// The number of addresses, hosts or ports that a cell lists.
constexpr std::size_t kShown = 3;

// --- Services.

// The addresses of a load balancer, or its names if it has none.
template <class Points>
std::string balancerAddresses(const Points& points) {
  std::set<std::string_view> addresses;
  for (const auto& point : points) {
    const String& address = !point.ip.empty() ? point.ip : point.hostname;
    if (!address.empty()) addresses.insert(address);
  }
  return joined(addresses, ",");
}

std::string externalAddress(const Service& service) {
  const auto& spec = *service.spec;
  const String type = orElse(spec.type, "ClusterIP");
  if (type == "ExternalName") return spec.externalName.str();
  const std::string external = joined(spec.externalIPs, ",");
  if (type == "ClusterIP" || type == "NodePort") return external.empty() ? "<none>" : external;
  if (type != "LoadBalancer") return "<unknown>";
  std::string balancer = balancerAddresses(service.status->loadBalancer->ingress);
  if (balancer.empty()) return external.empty() ? "<pending>" : external;
  return external.empty() ? balancer : balancer + "," + external;
}

String clusterAddress(const Service& service) {
  const auto& ips = service.spec->clusterIPs;
  return orElse(ips.empty() ? service.spec->clusterIP : ips[0], "<none>");
}

std::string portsOf(const Service& service) {
  const auto& ports = service.spec->ports;
  if (ports.empty()) return "<none>";
  return joined(ports, ",", [](const corev1::ServicePort& port) {
    const String protocol = orElse(port.protocol, "TCP");
    return port.nodePort > 0 ? fmt::format("{}:{}/{}", port.port, port.nodePort, protocol)
                             : fmt::format("{}/{}", port.port, protocol);
  });
}

constexpr TableColumn kServices[] = {
    nameColumn<Service>(),
    text("Type", "how the service is reached",
         [](const Service& service) { return orElse(service.spec->type, "ClusterIP"); }),
    text("Cluster-IP", "the address inside of the cluster",
         [](const Service& service) { return clusterAddress(service); }),
    text("External-IP", "the address outside of the cluster",
         [](const Service& service) { return externalAddress(service); }),
    text("Port(s)", "ports, with the nodes' ports and protocols",
         [](const Service& service) { return portsOf(service); }),
    ageColumn<Service>(),
    wide(text("Selector", "labels of the pods behind it",
              [](const Service& service) { return labels::formatLabels(service.spec->selector); })),
};

// --- Endpoints.

std::string joinHostPort(std::string_view host, std::int32_t port) {
  const bool ipv6 = host.find(':') != std::string_view::npos;
  return ipv6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

std::string addressesOf(const Endpoints& endpoints) {
  if (endpoints.subsets.empty()) return "<none>";
  std::vector<std::string> shown;
  std::size_t count = 0;
  const auto add = [&](const corev1::EndpointAddress& address, const corev1::EndpointPort* port) {
    ++count;
    if (shown.size() == kShown) return;
    shown.push_back(port != nullptr ? joinHostPort(address.ip, port->port) : address.ip.str());
  };
  for (const corev1::EndpointSubset& subset : endpoints.subsets) {
    if (subset.ports.empty()) {  // a headless service
      for (const auto& address : subset.addresses) add(address, nullptr);
    }
    for (const auto& port : subset.ports) {
      for (const auto& address : subset.addresses) add(address, &port);
    }
  }
  std::string out = joined(shown, ",");
  if (count > kShown) out += fmt::format(" + {} more...", count - kShown);
  return out;
}

constexpr TableColumn kEndpoints[] = {
    nameColumn<Endpoints>(),
    text("Endpoints", "addresses and ports that are ready",
         [](const Endpoints& endpoints) { return addressesOf(endpoints); }),
    ageColumn<Endpoints>(),
};

std::string portsOf(const EndpointSlice& slice) {
  std::vector<std::string> ports;
  for (const auto& port : slice.ports) {
    ports.push_back(port.port ? std::to_string(*port.port) : orElse(port.name, "*").str());
  }
  const std::string out = firstOf(ports, kShown);
  return out.empty() ? "<unset>" : out;
}

std::string addressesOf(const EndpointSlice& slice) {
  std::vector<std::string_view> addresses;
  for (const auto& endpoint : slice.endpoints) {
    for (const String& address : endpoint.addresses) addresses.push_back(address);
  }
  const std::string out = firstOf(addresses, kShown);
  return out.empty() ? "<unset>" : out;
}

constexpr TableColumn kEndpointSlices[] = {
    nameColumn<EndpointSlice>(),
    text("AddressType", "what the addresses are",
         [](const EndpointSlice& slice) { return slice.addressType; }),
    text("Ports", "ports of the endpoints",
         [](const EndpointSlice& slice) { return portsOf(slice); }),
    text("Endpoints", "addresses of the endpoints",
         [](const EndpointSlice& slice) { return addressesOf(slice); }),
    ageColumn<EndpointSlice>(),
};

// --- Ingresses and policies.

std::string hostsOf(const Ingress& ingress) {
  const auto& rules = ingress.spec->rules;
  std::vector<std::string_view> hosts;
  bool more = false;
  for (const auto& rule : rules) {
    more = hosts.size() == kShown;
    if (more) break;
    if (!rule.host.empty()) hosts.push_back(rule.host);
  }
  if (hosts.empty()) return "*";
  std::string out = joined(hosts, ",");
  if (more) out += fmt::format(" + {} more...", rules.size() - kShown);
  return out;
}

constexpr TableColumn kIngresses[] = {
    nameColumn<Ingress>(),
    text("Class", "the class, which says who serves it",
         [](const Ingress& ingress) { return orElse(ingress.spec->ingressClassName, "<none>"); }),
    text("Hosts", "hosts that there are rules for",
         [](const Ingress& ingress) { return hostsOf(ingress); }),
    text("Address", "where it is served",
         [](const Ingress& ingress) {
           return balancerAddresses(ingress.status->loadBalancer->ingress);
         }),
    text("Ports", "ports that it is served at",
         [](const Ingress& ingress) { return ingress.spec->tls.empty() ? "80" : "80, 443"; }),
    ageColumn<Ingress>(),
};

String classNameOf(const IngressClass& ingress) {
  constexpr std::string_view kDefault = "ingressclass.kubernetes.io/is-default-class";
  const String& name = ingress.metadata.name;
  return ingress.metadata.annotations[kDefault] == "true" ? String(name + " (default)") : name;
}

std::string parametersOf(const IngressClass& ingress) {
  if (!ingress.spec->parameters) return "<none>";
  const auto& parameters = *ingress.spec->parameters;
  std::string out = parameters.kind.str();
  if (parameters.apiGroup) out += "." + parameters.apiGroup->str();
  return out + "/" + parameters.name.str();
}

constexpr TableColumn kIngressClasses[] = {
    {.name = "Name",
     .format = "name",
     .description = "the object's name",
     .cell = cellOf([](const IngressClass& ingress) { return classNameOf(ingress); })},
    text("Controller", "who serves ingresses of this class",
         [](const IngressClass& ingress) { return ingress.spec->controller; }),
    text("Parameters", "what configures the controller",
         [](const IngressClass& ingress) { return parametersOf(ingress); }),
    ageColumn<IngressClass>(),
};

constexpr TableColumn kNetworkPolicies[] = {
    nameColumn<NetworkPolicy>(),
    text("Pod-Selector", "the pods it is about",
         [](const NetworkPolicy& policy) {
           return labels::formatLabelSelector(policy.spec->podSelector);
         }),
    ageColumn<NetworkPolicy>(),
};

// --- Addresses.

template <class IPAddress>
std::string parentOf(const IPAddress& address) {
  if (!address.spec->parentRef) return "<none>";
  const auto& parent = *address.spec->parentRef;
  std::string out = detail::lower(GroupResource{parent.group, parent.resource}.str());
  if (!parent.namespace_.empty()) out += "/" + parent.namespace_.str();
  return out + "/" + parent.name.str();
}

template <class IPAddress>
constexpr TableColumn kIPAddresses[] = {
    nameColumn<IPAddress>(),
    text("ParentRef", "what the address was given to",
         [](const IPAddress& address) { return parentOf(address); }),
};

template <class ServiceCIDR>
constexpr TableColumn kServiceCIDRs[] = {
    nameColumn<ServiceCIDR>(),
    text("CIDRs", "ranges that services' addresses are taken from",
         [](const ServiceCIDR& range) { return joined(range.spec->cidrs, ","); }),
    ageColumn<ServiceCIDR>(),
};

constexpr KindTable kServiceTables[] = {
    kindTable<Service>(kServices),
    kindTable<Endpoints>(kEndpoints),
    kindTable<EndpointSlice>(kEndpointSlices),
    kindTable<Ingress>(kIngresses),
    kindTable<IngressClass>(kIngressClasses),
    kindTable<NetworkPolicy>(kNetworkPolicies),
    kindTable<networkingv1::IPAddress>(kIPAddresses<networkingv1::IPAddress>),
    kindTable<networkingv1beta1::IPAddress>(kIPAddresses<networkingv1beta1::IPAddress>),
    kindTable<networkingv1::ServiceCIDR>(kServiceCIDRs<networkingv1::ServiceCIDR>),
    kindTable<networkingv1beta1::ServiceCIDR>(kServiceCIDRs<networkingv1beta1::ServiceCIDR>),
};

}  // namespace

std::span<const KindTable> serviceTables() { return kServiceTables; }

}  // namespace kube::apiserver
