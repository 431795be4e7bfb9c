// A kind for the tests of this folder, with a field of every shape.
#pragma once

#include <optional>

#include "kube/meta/describe.h"
#include "kube/meta/value.h"

namespace sample {

struct Peer {
  kube::String name;
  kube::List<kube::String> addresses;
  std::int32_t weight = 0;
};

struct NetworkSpec {
  kube::String cidr;
  std::optional<std::int32_t> mtu;
  std::optional<kube::String> zone;
  bool isolated = false;
  kube::Quantity bandwidth;
  kube::Map<kube::Quantity> limits;
  kube::List<Peer> peers;
  kube::Map<Peer> named;
  kube::Shared<Peer> gateway;
  kube::Bytes secret;
  kube::IntOrString port;
  kube::Duration lease;
  kube::RawExtension raw;
  kube::Value anything;
  double share = 0;
};

struct NetworkStatus {
  kube::List<kube::metav1::Condition> conditions;
  kube::MicroTime probed;
};

struct Network {
  kube::metav1::ObjectMeta metadata;
  kube::Shared<NetworkSpec> spec;
  kube::Shared<NetworkStatus> status;
};

/// Larger than 224 bytes, so a list holds it by handle.
struct Large {
  NetworkSpec one, two;
};

}  // namespace sample

KUBE_DESCRIBE(sample::Peer, name, addresses, weight);
KUBE_DESCRIBE(sample::NetworkSpec, cidr, mtu, zone, isolated, bandwidth, limits, peers, named,
              gateway, secret, port, lease, raw, anything, share);
KUBE_DESCRIBE(sample::Large, one, two);
KUBE_DESCRIBE(sample::NetworkStatus, conditions, probed);
KUBE_DESCRIBE_KIND(sample::Network,
                   (.group = "sample.io", .version = "v1", .kind = "Network", .plural = "networks",
                    .namespaced = true),
                   metadata, spec, (status, byValue));
