// Follows the pods of several namespaces, with one cache for all of them. Lines of the standard
// input add and remove namespaces: "+films", "-book".
//
//   namespaces [NAMESPACE...]

#include <iostream>
#include <string>

#include "kube/cache/core/v1.h"

using kube::corev1::Pod;
using kube::corev1::Secret;

int main(int argc, char** argv) {
  try {
    kube::Strings names;
    for (int i = 1; i < argc; ++i) names.push_back(argv[i]);
    const kube::Clientset clients(kube::Config::load());

    kube::SharedInformerFactory factory(
        clients,
        {.namespaces = names,
         .transform = kube::stripManagedFields,
         .kinds = {kube::byKind<Pod>({.fieldSelector = "status.phase=Running"}),
                   kube::byKind<Secret>({.labelSelector = "app=web",
                                         .namespaces = kube::Strings{"default"},
                                         .transform = [](Secret& secret) { secret.data = {}; }})}});
    const auto running = factory.coreV1().pods();
    const auto pending = factory.informerFor<Pod>({.fieldSelector = "status.phase=Pending"});
    running.addHandler(
        {.onAdd =
             [](const auto& pod) { std::cout << "runs: " << kube::keyOf(*pod).str() << std::endl; },
         .onDelete = [](const auto& pod) { std::cout << "gone: " << pod.key.str() << std::endl; }});
    factory.start();

    for (std::string line; std::getline(std::cin, line);) {
      if (line.size() < 2) continue;
      const kube::String name(line.substr(1));
      line[0] == '+' ? factory.addNamespace(name) : factory.removeNamespace(name);
      // True when the objects of all namespaces are in the caches.
      if (!factory.waitForSync()) break;
      std::cout << running.store().size() << " pods run, " << pending.store().size() << " wait\n";
    }
    factory.remove(pending);
    std::cout << factory.describe();
  } catch (const kube::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
