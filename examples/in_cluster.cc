// Runs in a pod: counts the pods of the cluster every ten seconds, with the pod's service account.

#include <iostream>
#include <thread>

#include "kube/client/core/v1.h"

int main() {
  try {
    const kube::Clientset clients(kube::Config::inCluster());
    for (;;) {
      std::size_t count = 0;
      clients.coreV1().pods().pages().forEach([&](const kube::corev1::Pod&) { ++count; });
      std::cout << "there are " << count << " pods in the cluster\n" << std::flush;
      std::this_thread::sleep_for(std::chrono::seconds{10});
    }
  } catch (const kube::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
