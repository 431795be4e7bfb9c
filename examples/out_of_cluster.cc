// Connects as kubectl would and lists the pods of a namespace.
//
//   out_of_cluster [NAMESPACE]

#include <iostream>

#include "kube/client/core/v1.h"

int main(int argc, char** argv) {
  try {
    // Tries LoadOptions::path (for a flag --kubeconfig), $KUBECONFIG, ~/.kube/config and the
    // service account of the pod, in this order.
    const auto config = kube::Config::load();
    const kube::Clientset clients(config);
    const auto list = clients.coreV1().pods(argc > 1 ? argv[1] : config.namespace_).list();
    for (const auto& pod : list.items) {
      std::cout << pod.metadata.name << ' ' << pod.status->phase << ' ' << pod.status->podIP
                << '\n';
    }
    std::cout << list.items.size() << " pods at resource version " << list.metadata.resourceVersion
              << '\n';
  } catch (const kube::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
