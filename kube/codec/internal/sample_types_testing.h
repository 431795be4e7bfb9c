// A custom resource as a user describes it, for tests. It is in a header, as a user's would be:
// several source files of one program include it.
#pragma once

#include <cstdint>
#include <optional>

#include "kube/meta/describe.h"
#include "kube/meta/value.h"

namespace samplecrdv1 {

struct Peer {
  kube::String name;
  kube::List<Peer> peers;
  bool operator==(const Peer&) const = default;
};

struct NetworkSpec {
  kube::String cidr;
  std::optional<std::int32_t> mtu;
  kube::List<Peer> peers;
  kube::String class_;
  kube::Map<kube::String> options;
  bool enabled = false;
  bool operator==(const NetworkSpec&) const = default;
};

struct NetworkStatus {
  kube::String phase;
  std::int64_t addresses = 0;
  double load = 0;
  std::optional<kube::String> reason;
  kube::Quantity bandwidth;
  kube::IntOrString port;
  kube::Time since;
  kube::Duration age;
  kube::Bytes key;
  kube::Value extra;
  kube::List<kube::metav1::Condition> conditions;
  int notDescribed = 0;
  bool operator==(const NetworkStatus&) const = default;
};

struct Network {
  kube::metav1::ObjectMeta metadata;
  kube::Shared<NetworkSpec> spec;
  kube::Shared<NetworkStatus> status;
  bool operator==(const Network&) const = default;
};

struct NetworkList {
  kube::metav1::ListMeta metadata;
  kube::List<Network> items;
};

}  // namespace samplecrdv1

KUBE_DESCRIBE(samplecrdv1::Peer, name, peers);
KUBE_DESCRIBE(samplecrdv1::NetworkSpec, (cidr, required), mtu, (peers, "peerNetworks"), class_,
              options, (enabled, "isEnabled", keep));
KUBE_DESCRIBE(samplecrdv1::NetworkStatus, phase, addresses, load, reason, bandwidth, port, since,
              age, key, extra, conditions);
KUBE_DESCRIBE_KIND(samplecrdv1::Network,
                   (.group = "samplecrd.k8s.io", .version = "v1", .kind = "Network",
                    .plural = "networks", .namespaced = true),
                   metadata, spec, status);
KUBE_DESCRIBE_LIST(samplecrdv1::NetworkList);
