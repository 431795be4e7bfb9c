// Copies a file or folder out of a container, and prints the files that were skipped.
//
//   copy POD PATH [TARGET]

#include <iostream>

#include "kube/client/core/v1.h"
#include "kube/client/pods/pod_copy.h"

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: copy POD PATH [TARGET]\n";
    return 2;
  }
  try {
    const auto config = kube::Config::load();
    const kube::Clientset clients(config);
    const kube::CopyResult copied = kube::copyFrom(
        clients.coreV1().pods(config.namespace_), argv[1], argv[2], argc > 3 ? argv[3] : ".",
        {.onSkipped = [](const std::string& what) { std::cerr << "skipped: " << what << '\n'; }});
    std::cout << copied.files << " files, " << copied.bytes << " bytes\n";
  } catch (const kube::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
