// Creates a deployment, updates it (and retries on conflicts), lists and deletes it.
//
//   deployment [NAMESPACE]

#include <iostream>

#include "kube/client/apps/v1.h"
#include "kube/client/retry.h"
#include "kube/client/wait.h"
#include "kube/codec/yaml.h"

namespace {

constexpr const char* kManifest = R"(
metadata: {name: demo}
spec:
  replicas: 2
  selector: {matchLabels: {app: demo}}
  template:
    metadata: {labels: {app: demo}}
    spec:
      containers:
      - name: web
        image: nginx:1.25
        ports: [{containerPort: 80}]
)";

}  // namespace

int main(int argc, char** argv) {
  using kube::appsv1::Deployment;
  try {
    const auto config = kube::Config::load();
    const kube::Clientset clients(config);
    const auto deployments = clients.appsV1().deployments(argc > 1 ? argv[1] : config.namespace_);

    const Deployment made = deployments.create(kube::fromYaml<Deployment>(kManifest));
    std::cout << "created " << made.metadata.name << '\n';

    kube::retryOnConflict([&] {
      Deployment current = deployments.get("demo");
      current.spec->replicas = 1;
      current.spec->template_->spec->containers[0].image = "nginx:1.26";
      return deployments.update(current);
    });
    std::cout << "updated to one replica of nginx 1.26\n";

    for (const Deployment& d : deployments.list().items) {
      std::cout << "  " << d.metadata.name << " wants " << d.spec->replicas.value_or(1) << '\n';
    }

    deployments.remove("demo", {.propagationPolicy = "Foreground"});
    kube::waitFor<Deployment>(
        deployments, "demo", [](const Deployment* left) { return left == nullptr; },
        std::chrono::minutes{1});
    std::cout << "deleted\n";
  } catch (const kube::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
