// Decodes a Deployment, reads some of its fields, changes a copy, and prints both.
#include <fmt/core.h>

#include <fstream>
#include <sstream>

#include "kube/api/apps/v1.h"
#include "kube/codec/json.h"
#include "kube/codec/yaml.h"

int main(int argc, char** argv) try {
  std::ifstream file(argc > 1 ? argv[1] : "examples/deployment.yaml");
  std::stringstream text;
  text << file.rdbuf();

  const auto deployment = kube::fromYaml<kube::appsv1::Deployment>(text.str(), {.strict = true});
  fmt::print("{}/{} wants {} replicas\n", deployment.metadata.namespace_, deployment.metadata.name,
             deployment.spec->replicas.value_or(1));
  for (const auto& container : deployment.spec->template_->spec->containers) {
    fmt::print("  {} runs {} with at most {} of memory, listening on {}\n", container.name,
               container.image, container.resources->limits["memory"],
               container.ports[0].containerPort);
  }
  // Absent fields read as empty, so nothing has to be checked first.
  fmt::print("  host network: {}\n", deployment.spec->template_->spec->hostNetwork);

  auto scaled = deployment;  // costs a few reference counts
  scaled.spec->replicas = 5;
  scaled.metadata.annotations["example.com/scaled-by"] = "decode.cc";
  fmt::print("the copy has {} replicas, the original still has {}; they share the template: {}\n",
             scaled.spec->replicas.value_or(0), deployment.spec->replicas.value_or(0),
             std::as_const(scaled).spec->template_.sharesWith(deployment.spec->template_));
  fmt::print("{}\n", kube::toJson(scaled.metadata));
  return 0;
} catch (const kube::Error& error) {
  fmt::print(stderr, "decode: {}\n", error.what());
  return 1;
}
