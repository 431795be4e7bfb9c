// Prints objects for logs and terminals. Values of secrets stay hidden.
#include <fmt/core.h>

#include <iostream>

#include "kube/api/core/v1.h"
#include "kube/codec/print.h"

int main() {
  kube::corev1::Pod pod;
  pod.metadata.name = "web";
  pod.metadata.labels["app"] = "shop";
  fmt::print("{}\n", pod);    // JSON on one line
  fmt::print("{:p}\n", pod);  // JSON on several lines
  fmt::print("{:y}", pod);    // YAML
  std::cout << pod.metadata << '\n';

  kube::corev1::Secret secret;
  secret.data["password"] = "hunter2";
  std::cout << secret << '\n';  // "password": "7 bytes"
}
