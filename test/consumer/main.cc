// Uses the installed package as another project does: types, codecs, errors.
#include <kube/api/apps/v1.h>
#include <kube/base/error.h>
#include <kube/base/version.h>
#include <kube/codec/json.h>
#include <kube/codec/protobuf.h>
#include <kube/codec/yaml.h>

#include <iostream>

int main() {
  const auto deployment = kube::fromYaml<kube::appsv1::Deployment>(
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 3}\n");
  const auto again = kube::fromProtobuf<kube::appsv1::Deployment>(kube::toProtobuf(deployment));
  std::cout << "kubexx " << kube::version() << ": " << kube::toJson(again) << '\n';
  if (again != deployment || again.spec->replicas != 3) return 1;
  try {
    kube::fromJson<kube::appsv1::Deployment>(R"({"spec":{"replicas":"three"}})");
    return 1;
  } catch (const kube::DecodeError& error) {
    std::cout << error.what() << '\n';
    return error.path() == "spec.replicas" ? 0 : 1;
  }
}
