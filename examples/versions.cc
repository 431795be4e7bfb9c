// A custom resource in two versions, with a hub between them. Decodes objects of both versions,
// applies defaults, and converts them to the other version and back.
#include <fmt/core.h>

#include <string>

#include "kube/codec/deserializer.h"
#include "kube/meta/describe.h"
#include "kube/meta/scheme.h"
#include "kube/meta/v1.h"

namespace samplecrd {

const kube::GroupVersion kV1alpha1{"samplecrd.k8s.io", "v1alpha1"};
const kube::GroupVersion kV1{"samplecrd.k8s.io", "v1"};

// The hub, which the program itself works with. It is never stored, so it may change at any time.
struct NetworkSpec {
  kube::String cidr;
  kube::List<kube::String> gateways;
  std::int32_t mtu = 0;
};
struct Network {
  kube::metav1::ObjectMeta metadata;
  kube::Shared<NetworkSpec> spec;
};

namespace v1alpha1 {
struct NetworkSpec {
  kube::String cidr;
  kube::String gateway;  // only one
};
struct Network {
  kube::metav1::ObjectMeta metadata;
  kube::Shared<NetworkSpec> spec;
};
}  // namespace v1alpha1

namespace v1 {
struct NetworkSpec {
  kube::String cidr;
  kube::List<kube::String> gateways;
  std::optional<std::int32_t> mtu;
};
struct Network {
  kube::metav1::ObjectMeta metadata;
  kube::Shared<NetworkSpec> spec;
};
}  // namespace v1

}  // namespace samplecrd

KUBE_DESCRIBE(samplecrd::NetworkSpec, cidr, gateways, mtu);
KUBE_DESCRIBE(samplecrd::Network, metadata, spec);
KUBE_DESCRIBE(samplecrd::v1alpha1::NetworkSpec, cidr, gateway);
KUBE_DESCRIBE_KIND(samplecrd::v1alpha1::Network,
                   (.group = "samplecrd.k8s.io", .version = "v1alpha1", .kind = "Network"),
                   metadata, spec);
KUBE_DESCRIBE(samplecrd::v1::NetworkSpec, cidr, gateways, mtu);
KUBE_DESCRIBE_KIND(samplecrd::v1::Network,
                   (.group = "samplecrd.k8s.io", .version = "v1", .kind = "Network"), metadata,
                   spec);

namespace samplecrd {

void addTypes(kube::Scheme& scheme) {
  scheme.addKnownTypes<v1alpha1::Network>(kV1alpha1);
  scheme.addKnownTypes<v1::Network>(kV1);
  scheme.addKnownTypeWithName<Network>({"samplecrd.k8s.io", kube::kInternalVersion, "Network"});
  scheme.setVersionPriority({kV1, kV1alpha1});
}

// v1 and the hub have the same field names and need no function. v1alpha1 differs in one field.
void addConversions(kube::Scheme& scheme) {
  scheme.addConversion<v1alpha1::NetworkSpec, NetworkSpec>(
      [](const v1alpha1::NetworkSpec& in, NetworkSpec& out, kube::ConversionScope& scope) {
        scope.defaultConvert(in, out, {.handled = {"gateway"}});
        if (!in.gateway.empty()) out.gateways = {in.gateway};
      });
  scheme.addConversion<NetworkSpec, v1alpha1::NetworkSpec>(
      [](const NetworkSpec& in, v1alpha1::NetworkSpec& out, kube::ConversionScope& scope) {
        scope.defaultConvert(in, out, {.handled = {"gateways"}});
        if (in.gateways.size() > 1) throw kube::Error("v1alpha1 has room for one gateway only");
        out.gateway = in.gateways.front();
      });
}

void addDefaults(kube::Scheme& scheme) {
  scheme.addDefaulting<v1::Network>([](v1::Network& network) {
    if (!network.spec->mtu) network.spec->mtu = 1500;
  });
}

void addToScheme(kube::Scheme& scheme) {
  static const kube::SchemeBuilder builder{addTypes, addConversions, addDefaults};
  builder.addToScheme(scheme);
}

}  // namespace samplecrd

int main() try {
  kube::Scheme scheme("example");
  samplecrd::addToScheme(scheme);
  const kube::UniversalDeserializer deserializer(scheme);

  // Decodes an old manifest into the version that the group prefers.
  const std::string old = R"(apiVersion: samplecrd.k8s.io/v1alpha1
kind: Network
metadata:
  name: example-network
spec:
  cidr: 192.168.0.0/16
  gateway: 192.168.0.1
)";
  const kube::AnyObject latest =
      deserializer.decode(old, {.toVersions = scheme.preferredVersionAllGroups()});
  fmt::print("# {} became\n{}\n", deserializer.decode(old).gvk(),
             kube::encodeObject(latest, kube::Format::Yaml));
  fmt::print("# and back\n{}\n",
             deserializer.encode(latest, samplecrd::kV1alpha1, kube::Format::Yaml));

  // Converts it to the hub, whichever version the manifest had.
  const auto network = scheme.convertTo<samplecrd::Network>(*latest.as<samplecrd::v1::Network>());
  fmt::print("# the hub has {} gateway(s) in {}\n", network.spec->gateways.size(),
             network.spec->cidr);

  // Decodes an object with a missing field, and applies defaults.
  const kube::AnyObject fresh = deserializer.decode(
      R"({"kind": "Network", "apiVersion": "samplecrd.k8s.io/v1", "spec": {"gateways": ["a", "b"]}})",
      {.applyDefaults = true});
  fmt::print("# with its defaults\n{}\n", kube::encodeObject(fresh, kube::Format::Yaml));

  // A conversion that would lose a value throws.
  try {
    scheme.convertToVersion(fresh, samplecrd::kV1alpha1);
  } catch (const kube::ConversionError& error) {
    fmt::print("# refused: {}\n", error.what());
  }
  return 0;
} catch (const kube::Error& error) {
  fmt::print(stderr, "versions: {}\n", error.what());
  return 1;
}
