// Keeps the pods of a cluster in memory and prints changes to them, for a minute or until Ctrl-C.
//
//   informer [NAMESPACE]

#include <chrono>
#include <iostream>

#include "kube/cache/core/v1.h"

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  using PodPtr = std::shared_ptr<const kube::corev1::Pod>;
  try {
    const kube::Clientset clients(kube::Config::load());
    kube::SharedInformerFactory factory(clients, {.namespace_ = argc > 1 ? argv[1] : ""});
    const auto pods = factory.coreV1().pods();
    pods.addHandler({
        .onAdd =
            [](PodPtr pod, bool inInitialList) {
              if (!inInitialList) std::cout << kube::keyOf(*pod).str() << " is new" << std::endl;
            },
        .onUpdate =
            [](PodPtr before, PodPtr after) {
              if (before->status->phase == after->status->phase) return;
              std::cout << kube::keyOf(*after).str() << ": " << before->status->phase << " -> "
                        << after->status->phase << std::endl;
            },
        .onDelete =
            [](kube::DeletedObject<kube::corev1::Pod> last) {
              std::cout << last.key.str() << " is gone"
                        << (last.finalStateUnknown ? " (last state unknown)" : "") << std::endl;
            },
    });
    factory.start();
    factory.waitForSync();
    std::cout << pods.store().size() << " pods at the start" << std::endl;
    kube::realClock().sleepFor(60s);
    std::cout << factory.describe();
  } catch (const kube::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
