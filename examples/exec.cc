// Runs a command in a container, prints its output, and ends with its exit code.
//
//   exec POD COMMAND [ARGUMENT ...]

#include <iostream>

#include "kube/client/core/v1.h"

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: exec POD COMMAND [ARGUMENT ...]\n";
    return 2;
  }
  try {
    const auto config = kube::Config::load();
    const kube::Clientset clients(config);
    const auto pods = clients.coreV1().pods(config.namespace_);
    auto session =
        pods.exec(argv[1], {.command = kube::List<kube::String>(argv + 2, argv + argc),
                            .onStdout = [](std::string_view bytes) { std::cout << bytes; },
                            .onStderr = [](std::string_view bytes) { std::cerr << bytes; }});
    return session.wait();
  } catch (const kube::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
