// Follows a pod's log, starting with its last ten lines. Reconnects when a connection breaks.
//
//   logs POD

#include <iostream>

#include "kube/client/core/v1.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: logs POD\n";
    return 2;
  }
  try {
    const auto config = kube::Config::load();
    const kube::Clientset clients(config);
    const auto pods = clients.coreV1().pods(config.namespace_);
    for (const std::string_view line : pods.followLogs(argv[1], {.tailLines = 10})) {
      std::cout << line << std::endl;
    }
  } catch (const kube::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
