// Prints changes to the pods of a namespace, for a minute or until Ctrl-C.
//
//   watch_pods [NAMESPACE]

#include <iostream>

#include "kube/client/core/v1.h"

int main(int argc, char** argv) {
  try {
    const auto config = kube::Config::load();
    const kube::Clientset clients(config);
    const auto pods = clients.coreV1().pods(argc > 1 ? argv[1] : config.namespace_);
    const auto list = pods.list();
    std::cout << list.items.size() << " pods at the start\n";
    for (const auto& event :
         pods.watch({.resourceVersion = list.metadata.resourceVersion, .timeoutSeconds = 60})) {
      if (event.type == kube::EventType::Error) {
        std::cerr << event.status.message << '\n';
        return 1;
      }
      std::cout << event.type << ' ' << event.object.metadata.name << ' '
                << event.object.status->phase << std::endl;
    }
  } catch (const kube::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
