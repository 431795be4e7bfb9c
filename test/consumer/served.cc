// A test in another project: clients talk to an API server in the same process.
#include <kube/client/clientset.h>
#include <kube/client/core/v1.h>
#include <kube/meta/api_error.h>
#include <kube/testing/api_server.h>

#include <iostream>

int main() {
  kube::testing::ApiServer server;
  const kube::Clientset clients(server.config());
  auto maps = clients.coreV1().configMaps("default");
  maps.create({.metadata = {.name = "settings"}, .data = {{"colour", "blue"}}});
  const auto read = maps.get("settings");
  std::cout << "read: " << read.metadata.name << ", colour " << read.data["colour"] << '\n';
  try {
    maps.get("absent");
    return 1;
  } catch (const kube::ApiError& error) {
    std::cout << error.what() << '\n';
    return kube::isNotFound(error) && read.data["colour"] == "blue" ? 0 : 1;
  }
}
