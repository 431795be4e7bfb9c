// The same as deployment.cc without a C++ type for deployments. It works for every kind that a
// server has.
//
//   dynamic_deployment [NAMESPACE]

#include <iostream>

#include "kube/client/dynamic_client.h"
#include "kube/client/retry.h"
#include "kube/codec/yaml.h"

namespace {

constexpr const char* kManifest = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: demo}
spec:
  replicas: 2
  selector: {matchLabels: {app: demo}}
  template:
    metadata: {labels: {app: demo}}
    spec: {containers: [{name: web, image: "nginx:1.25"}]}
)";

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto config = kube::Config::load();
    const kube::DynamicClient client(config);
    const auto deployments =
        client.resource(kube::GroupVersionResource{"apps", "v1", "deployments"})
            .inNamespace(argc > 1 ? argv[1] : config.namespace_);

    deployments.create(kube::fromYaml<kube::Unstructured>(kManifest));
    std::cout << "created demo\n";
    kube::retryOnConflict([&] {
      kube::Unstructured current = deployments.get("demo");
      current.setNestedField(1, "spec", "replicas");
      return deployments.update(current);
    });
    std::cout << "demo has " << deployments.get("demo").nestedInt64("spec", "replicas").value_or(0)
              << " replica\n";
    deployments.remove("demo");
    std::cout << "deleted\n";
  } catch (const kube::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
