// Uses one thing of each kind from the installed headers: an exception, the log, the version.
#include <kube/base/error.h>
#include <kube/base/log.h>
#include <kube/base/version.h>

#include <iostream>

int main() {
  kube::Logger("consumer").debug({{"version", kube::version()}}, "started");
  try {
    throw kube::DecodeError({.format = "json", .path = "spec.replicas", .line = 3, .column = 14},
                            "expected a number, found a string");
  } catch (const kube::Error& e) {
    std::cout << "kubexx " << kube::version() << " says: " << e.what() << '\n';
    return e.kind() == kube::ErrorKind::Decode ? 0 : 1;
  }
}
