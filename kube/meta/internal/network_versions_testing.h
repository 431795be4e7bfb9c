// A custom resource in several versions, for tests of schemes and conversions.
#pragma once

#include <cstdint>
#include <optional>

#include "kube/meta/describe.h"
#include "kube/meta/scheme.h"
#include "kube/meta/value.h"

namespace networks::v1alpha1 {

struct Peer {
  kube::String name;
  std::int32_t weight = 0;
  kube::List<Peer> peers;
  bool operator==(const Peer&) const = default;
};
struct Option {
  kube::String value;
  std::optional<std::int64_t> ttl;
  bool operator==(const Option&) const = default;
};
struct NetworkSpec {
  kube::String cidr;
  kube::String gateway;
  std::int64_t mtu = 0;
  std::optional<std::int64_t> size;
  kube::List<Peer> peers;
  kube::Map<Option> options;
  kube::Shared<Peer> uplink;
  kube::List<std::int32_t> ports;
  kube::Map<kube::String> tags;
  bool operator==(const NetworkSpec&) const = default;
};
struct Network {
  kube::metav1::ObjectMeta metadata;
  kube::Shared<NetworkSpec> spec;
  bool operator==(const Network&) const = default;
};
struct NetworkList {
  kube::metav1::ListMeta metadata;
  kube::List<Network> items;
  bool operator==(const NetworkList&) const = default;
};

}  // namespace networks::v1alpha1

namespace networks::v1 {

struct Peer {
  kube::String name;
  std::int64_t weight = 0;
  kube::List<Peer> peers;
  bool operator==(const Peer&) const = default;
};
struct Option {
  kube::String value;
  std::optional<std::int32_t> ttl;
  bool operator==(const Option&) const = default;
};
struct NetworkSpec {
  kube::String cidr;
  kube::List<kube::String> gateways;
  std::optional<std::int32_t> mtu;
  std::int32_t size = 0;
  kube::List<Peer> peers;
  kube::Map<Option> options;
  kube::Shared<Peer> uplink;
  kube::List<std::int64_t> ports;
  kube::Map<kube::String> tags;
  bool operator==(const NetworkSpec&) const = default;
};
struct Network {
  kube::metav1::ObjectMeta metadata;
  kube::Shared<NetworkSpec> spec;
  bool operator==(const Network&) const = default;
};
struct NetworkList {
  kube::metav1::ListMeta metadata;
  kube::List<Network> items;
  bool operator==(const NetworkList&) const = default;
};

}  // namespace networks::v1

namespace networks::v2 {

struct Network {
  kube::metav1::ObjectMeta metadata;
  kube::String range;
  bool operator==(const Network&) const = default;
};

}  // namespace networks::v2

KUBE_DESCRIBE(networks::v1alpha1::Peer, name, weight, peers);
KUBE_DESCRIBE(networks::v1alpha1::Option, value, ttl);
KUBE_DESCRIBE(networks::v1alpha1::NetworkSpec, cidr, gateway, mtu, size, peers, options, uplink,
              ports, tags);
KUBE_DESCRIBE_KIND(networks::v1alpha1::Network,
                   (.group = "samplecrd.k8s.io", .version = "v1alpha1", .kind = "Network"),
                   metadata, spec);
KUBE_DESCRIBE_LIST(networks::v1alpha1::NetworkList);
KUBE_DESCRIBE(networks::v1::Peer, name, weight, peers);
KUBE_DESCRIBE(networks::v1::Option, value, ttl);
KUBE_DESCRIBE(networks::v1::NetworkSpec, cidr, gateways, mtu, size, peers, options, uplink, ports,
              tags);
KUBE_DESCRIBE_KIND(networks::v1::Network,
                   (.group = "samplecrd.k8s.io", .version = "v1", .kind = "Network"), metadata,
                   spec);
KUBE_DESCRIBE_LIST(networks::v1::NetworkList);
KUBE_DESCRIBE_KIND(networks::v2::Network,
                   (.group = "samplecrd.k8s.io", .version = "v2", .kind = "Network"), metadata,
                   range);

namespace networks {

inline const kube::GroupVersion kAlpha{"samplecrd.k8s.io", "v1alpha1"};
inline const kube::GroupVersion kV1{"samplecrd.k8s.io", "v1"};
inline const kube::GroupVersion kV2{"samplecrd.k8s.io", "v2"};

/// A scheme with all three versions, and with functions from and to v1 only.
inline kube::Scheme makeScheme() {
  kube::Scheme scheme("networks");
  scheme.addKnownTypes<v1alpha1::Network, v1alpha1::NetworkList>(kAlpha);
  scheme.addKnownTypes<v1::Network, v1::NetworkList>(kV1);
  scheme.addKnownTypes<v2::Network>(kV2);
  scheme.addConversion<v1alpha1::NetworkSpec, v1::NetworkSpec>(
      [](const v1alpha1::NetworkSpec& in, v1::NetworkSpec& out, kube::ConversionScope& scope) {
        scope.defaultConvert(in, out, {.handled = {"gateway"}});
        out.gateways = {};
        if (!in.gateway.empty()) out.gateways.push_back(in.gateway);
      });
  scheme.addConversion<v1::NetworkSpec, v1alpha1::NetworkSpec>(
      [](const v1::NetworkSpec& in, v1alpha1::NetworkSpec& out, kube::ConversionScope& scope) {
        scope.defaultConvert(in, out, {.handled = {"gateways"}});
        if (in.gateways.size() > 1) throw kube::Error("v1alpha1 has room for one gateway");
        out.gateway = in.gateways.front();
      });
  scheme.addConversion<v1::Network, v2::Network>([](const v1::Network& in, v2::Network& out) {
    out.metadata = in.metadata;
    out.range = in.spec->cidr;
  });
  scheme.addConversion<v2::Network, v1::Network>([](const v2::Network& in, v1::Network& out) {
    out.metadata = in.metadata;
    out.spec->cidr = in.range;
  });
  return scheme;
}

}  // namespace networks
