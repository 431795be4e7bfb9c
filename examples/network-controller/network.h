// The custom resource: spec is the request of a user, status the controller's answer.
// deploy/crd.yaml defines the same for the server.
#pragma once

#include <cstdint>

#include "kube/meta/describe.h"
#include "kube/meta/v1.h"

namespace samplecrdv1 {

struct NetworkSpec {
  kube::String cidr;     // 192.168.0.0/16, or /24 for any block of that size
  kube::String gateway;  // an address in it; empty: the first
};

struct NetworkStatus {
  kube::String cidr;
  kube::String gateway;
  std::int64_t observedGeneration = 0;
  kube::List<kube::metav1::Condition> conditions;
};

struct Network {
  kube::metav1::ObjectMeta metadata;
  kube::Shared<NetworkSpec> spec;
  kube::Shared<NetworkStatus> status;
};

}  // namespace samplecrdv1

KUBE_DESCRIBE(samplecrdv1::NetworkSpec, (cidr, required), gateway);
KUBE_DESCRIBE(samplecrdv1::NetworkStatus, cidr, gateway, observedGeneration, conditions);
KUBE_DESCRIBE_KIND(samplecrdv1::Network,
                   (.group = "samplecrd.k8s.io", .version = "v1", .kind = "Network",
                    .plural = "networks", .namespaced = true),
                   metadata, spec, status);
