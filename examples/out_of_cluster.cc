// Connects as kubectl would and lists the pods of a namespace.
//
//   out_of_cluster [NAMESPACE]

#include <iostream>

#include "kube/api/core/v1.h"
#include "kube/client/resource_client.h"

int main(int argc, char** argv) {
  try {
    // --kubeconfig's file by LoadOptions::path, $KUBECONFIG, ~/.kube/config, or a pod's own
    // account.
    const auto config = kube::Config::load();
    const kube::RestClient rest(config);
    const kube::ResourceClient<kube::corev1::Pod> pods(rest,
                                                       argc > 1 ? argv[1] : config.namespace_);
    const auto list = pods.list();
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
