// Writes in the name of one field manager, tries a change without storing it, changes only what was
// read, and cleans up before an object goes. It runs against an API server in the process.

#include <exception>
#include <iostream>

#include "kube/client/core/v1.h"
#include "kube/controller/create_or_update.h"
#include "kube/controller/finalizer_registry.h"
#include "kube/testing/api_server.h"

namespace {

using kube::corev1::ConfigMap;

void write(const kube::Clientset& plain) {
  const auto clients = plain.with({.fieldManager = "color-controller"});
  const auto maps = clients.coreV1().configMaps("default");

  ConfigMap map;
  map.metadata.name = "color";
  const auto paint = [&] { map.data["color"] = "blue"; };
  const auto result = kube::createOrUpdate(maps, map, paint, {.dryRun = true});
  std::cout << toString(result) << ", if it were no dry run\n";
  kube::createOrUpdate(maps, map, paint);
  std::cout << map.metadata.name << " belongs to " << map.metadata.managedFields[0].manager << '\n';

  // A patch that is refused if another client has changed the object since it was read.
  const ConfigMap before = maps.get("color");
  ConfigMap after = before;
  after.data["color"] = "red";
  maps.patch("color", kube::mergeFrom(before, after, {.optimisticLock = true}));
}

void cleanUp(const kube::Clientset& clients) {
  const auto maps = clients.coreV1().configMaps("default");
  kube::FinalizerRegistry<ConfigMap> finalizers;
  finalizers.add("example.com/paint",
                 [](const ConfigMap& map) { std::cout << "wash " << map.metadata.name << '\n'; });

  ConfigMap map = maps.get("color");
  finalizers.finalize(maps, map);  // true: the object lives, and has the finalizer now
  maps.remove("color");
  map = maps.get("color");
  if (!finalizers.finalize(maps, map)) std::cout << "there is nothing left to do\n";
}

}  // namespace

int main() {
  try {
    kube::testing::ApiServer server;
    const kube::Clientset clients(server.config());
    write(clients);
    cleanUp(clients);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
