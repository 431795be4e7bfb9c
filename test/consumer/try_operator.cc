// Runs the operator against a server in this process: it creates a ConfigMap, and again after a
// deletion.
#include <kube/client/core/v1.h>
#include <kube/client/crd.h>
#include <kube/client/wait.h>
#include <kube/meta/conditions.h>
#include <kube/testing/api_server.h>

#include <chrono>
#include <iostream>
#include <thread>

#include "operator.h"
#include "samplecrd/v1_client.h"

using namespace std::chrono_literals;

int main() {
  kube::testing::ApiServer server;
  const std::jthread running(
      [&](const std::stop_token& stop) { runOperator(server.config(), stop); });
  try {
    const kube::ClientsetWith<samplecrdv1::WithClient> clients(server.config());
    kube::ensureCrd(clients, kube::crd<samplecrdv1::Network>());  // as the operator does

    const auto networks = clients.samplecrdV1().networks("default");
    samplecrdv1::Network network;
    network.metadata.name = "example";
    network.spec->cidr = "10.0.0.0/8";
    networks.create(network);
    kube::waitFor<samplecrdv1::Network>(
        networks, "example",
        [](const auto* now) {
          return now != nullptr && kube::isStatusConditionTrue(now->status->conditions, "Ready");
        },
        30s);

    const auto maps = clients.coreV1().configMaps("default");
    const auto made = maps.get("example");
    std::cout << "cidr " << made.data["cidr"] << ", mtu " << made.data["mtu"] << '\n';
    maps.remove("example");
    kube::waitFor<kube::corev1::ConfigMap>(
        maps, "example",
        [&](const auto* now) { return now != nullptr && now->metadata.uid != made.metadata.uid; },
        30s);
    std::cout << "created again\n";
    return made.data["mtu"] == "1500" ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
