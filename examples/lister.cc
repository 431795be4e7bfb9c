// Prints the pods of each node, from a cache with an index. Reading the cache makes no request.
//
//   lister [LABEL-SELECTOR]

#include <iostream>

#include "kube/cache/core/v1.h"

int main(int argc, char** argv) {
  try {
    const auto selector = kube::labels::Selector::parse(argc > 1 ? argv[1] : "");
    const kube::Clientset clients(kube::Config::load());
    kube::SharedInformerFactory factory(clients);
    const auto pods = factory.coreV1().pods();
    pods.addIndexer("node",
                    [](const kube::corev1::Pod& pod) { return kube::Strings{pod.spec->nodeName}; });
    factory.start();
    factory.waitForSync();

    for (const auto& node : pods.store().listIndexFuncValues("node")) {
      std::cout << (node.empty() ? "(no node)" : node.view()) << ":\n";
      for (const auto& pod : pods.store().byIndex("node", node, selector)) {
        std::cout << "  " << kube::keyOf(*pod).str() << '\n';
      }
    }
    std::cout << pods.lister().inNamespace("default").list(selector).size()
              << " of them are in the namespace default\n";
  } catch (const kube::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
