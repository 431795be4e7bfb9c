// Sends lines to the main process of a container and prints its output.
//
//   attach POD < lines

#include <iostream>
#include <string>
#include <thread>

#include "kube/client/core/v1.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: attach POD\n";
    return 2;
  }
  try {
    const auto config = kube::Config::load();
    const kube::Clientset clients(config);
    auto session = clients.coreV1().pods(config.namespace_).attach(argv[1], {.stdin = true});
    // A thread of its own writes, so that reading and writing do not wait for each other.
    std::jthread typing([&] {
      for (std::string line; std::getline(std::cin, line);) {
        if (!session.write(line + "\n")) return;
      }
      session.closeStdin();
    });
    while (const auto piece = session.read()) std::cout << piece->bytes << std::flush;
    return session.wait();
  } catch (const kube::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
