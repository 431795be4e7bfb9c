// Uses generated types and the library in one program.
#include <kube/codec/json.h>

#include <iostream>

#include "samplecrd/v1.h"

int main() {
  const auto network =
      kube::fromJson<samplecrdv1::Network>(R"({"spec":{"cidr":"10.0.0.0/8","mtu":1400}})");
  std::cout << kube::toJson(network) << '\n';
  return network.spec->mtu == 1400 ? 0 : 1;
}
