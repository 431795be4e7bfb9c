// Makes a CustomResourceDefinition from a C++ struct. SchemaOf adds the facts that the type's table
// does not have: descriptions, limits, rules and columns. `crd_from_struct --install` also applies
// it to the cluster of the kubeconfig and waits until it is served.
#include <fmt/core.h>

#include <string_view>

#include "kube/client/crd.h"
#include "kube/codec/yaml.h"
#include "kube/meta/describe.h"
#include "kube/meta/schema_notes.h"

namespace samplecrdv1 {

struct NetworkSpec {
  kube::String cidr;
  kube::String mode;
  std::optional<std::int32_t> mtu;
};

struct Network {
  kube::metav1::ObjectMeta metadata;
  kube::Shared<NetworkSpec> spec;
};

}  // namespace samplecrdv1

template <>
struct kube::SchemaOf<samplecrdv1::NetworkSpec> {
  using Spec = samplecrdv1::NetworkSpec;
  static void annotate(kube::SchemaNotes<Spec>& spec) {
    spec.type() = {.description = "A network between pods."};
    spec[&Spec::cidr] = {.description = "Its addresses", .pattern = "^[0-9.]+/[0-9]+$"};
    spec[&Spec::mode] = {.enum_ = {"Bridge", "Overlay"}};
    spec[&Spec::mtu] = {.default_ = 1500, .minimum = 68, .maximum = 9000};
    spec.rule({.rule = "!has(self.mode) || self.mode != 'Overlay' || self.mtu <= 1450",
               .message = "an overlay needs room for its headers"});
  }
};
template <>
struct kube::SchemaOf<samplecrdv1::Network> {
  using Network = samplecrdv1::Network;
  static void annotate(kube::SchemaNotes<Network>& network) {
    network.kind() = {.shortNames = {"net"}};
    network.column("CIDR", &Network::spec, &samplecrdv1::NetworkSpec::cidr);
    network.column("MTU", &Network::spec, &samplecrdv1::NetworkSpec::mtu);
  }
};

KUBE_DESCRIBE(samplecrdv1::NetworkSpec, (cidr, required), mode, mtu);
KUBE_DESCRIBE_KIND(samplecrdv1::Network,
                   (.group = "samplecrd.example.com", .version = "v1", .kind = "Network",
                    .plural = "networks", .namespaced = true),
                   metadata, (spec, required));

int main(int argc, char** argv) {
  const auto definition = kube::crd<samplecrdv1::Network>();
  fmt::print("{}", kube::toYaml(definition));
  if (argc < 2 || std::string_view(argv[1]) != "--install") return 0;
  try {
    kube::ensureCrd(kube::Clientset(kube::Config::load()), definition);
    fmt::print("served\n");
    return 0;
  } catch (const kube::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
