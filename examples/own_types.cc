// A custom resource without code generation: two lines make two structs known to every codec.
#include <fmt/core.h>

#include "kube/codec/json.h"
#include "kube/codec/yaml.h"
#include "kube/meta/describe.h"
#include "kube/meta/v1.h"

namespace samplecrdv1 {

struct NetworkSpec {
  kube::String cidr;
  kube::String gateway;
  std::optional<std::int32_t> mtu;
};

struct Network {
  kube::metav1::ObjectMeta metadata;
  kube::Shared<NetworkSpec> spec;
};

}  // namespace samplecrdv1

KUBE_DESCRIBE(samplecrdv1::NetworkSpec, (cidr, required), gateway, mtu);
KUBE_DESCRIBE_KIND(samplecrdv1::Network,
                   (.group = "samplecrd.k8s.io", .version = "v1", .kind = "Network",
                    .plural = "networks", .namespaced = true),
                   metadata, spec);

int main() {
  samplecrdv1::Network network;
  network.metadata.name = "example-network";
  network.spec->cidr = "192.168.0.0/16";
  network.spec->gateway = "192.168.0.1";
  fmt::print("{}", kube::toYaml(network));

  try {
    kube::fromYaml<samplecrdv1::Network>("spec:\n  cidr: 10.0.0.0/8\n  gatway: 10.0.0.1\n",
                                         {.strict = true});
  } catch (const kube::DecodeError& error) {
    fmt::print("refused: {}\n", error.what());
  }
}
