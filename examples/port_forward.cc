// Forwards a free port of this machine to a port of a pod, until Enter is pressed.
//
//   port_forward POD PORT

#include <iostream>
#include <string>

#include "kube/client/core/v1.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: port_forward POD PORT\n";
    return 2;
  }
  try {
    const auto config = kube::Config::load();
    const kube::Clientset clients(config);
    const auto remote = static_cast<std::uint16_t>(std::stoi(argv[2]));
    const kube::PortForward forward =
        clients.coreV1()
            .pods(config.namespace_)
            .portForward(argv[1], {{.remote = remote}},
                         {.onError = [](const kube::BoundPort&, const kube::Error& error) {
                           std::cerr << error.what() << '\n';
                         }});
    std::cout << "127.0.0.1:" << forward.ports()[0].local << " forwards to port " << remote
              << " of " << argv[1] << "; press Enter to end" << std::endl;
    std::string line;
    std::getline(std::cin, line);
  } catch (const kube::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
