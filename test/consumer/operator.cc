// An operator that keeps a ConfigMap with the settings of every Network, and reports it in the
// Network's status.
#include "operator.h"

#include <kube/cache/core/v1.h>
#include <kube/client/core/v1.h>
#include <kube/client/crd.h>
#include <kube/controller/create_or_update.h>
#include <kube/meta/conditions.h>
#include <kube/meta/owner.h>
#include <kube/workqueue/rate_limiting_queue.h>

#include <iostream>

#include "samplecrd/v1_client.h"
#include "samplecrd/v1_informers.h"

using kube::ObjectKey;
using kube::corev1::ConfigMap;
using samplecrdv1::Network;
using Clients = kube::ClientsetWith<samplecrdv1::WithClient>;

namespace {

void reconcile(const Clients& clients, Network network) {
  const kube::String& space = network.metadata.namespace_;
  ConfigMap map;
  map.metadata.name = network.metadata.name;
  map.metadata.namespace_ = space;
  kube::createOrUpdate(clients.coreV1().configMaps(space), map, [&] {
    map.data["cidr"] = network.spec->cidr;
    map.data["mtu"] = std::to_string(network.spec->mtu.value_or(0));
    kube::setControllerReference(network, map);
  });
  if (kube::setStatusCondition(network.status->conditions,
                               {.type = "Ready",
                                .status = "True",
                                .observedGeneration = network.metadata.generation,
                                .reason = "Configured",
                                .message = "its ConfigMap exists"})) {
    clients.samplecrdV1().networks(space).updateStatus(network);
  }
}

}  // namespace

void runOperator(const kube::Config& config, const std::stop_token& stop) {
  const Clients clients(config);
  kube::ensureCrd(clients, kube::crd<Network>(), {}, stop);

  kube::RateLimitingQueue<ObjectKey> queue({.name = "networks"});
  kube::SharedInformerFactoryWith<samplecrdv1::WithInformers> factory(clients);
  auto networks = factory.samplecrdV1().networks();
  networks.addHandler({.onAdd = [&](auto network) { queue.add(kube::keyOf(*network)); },
                       .onUpdate = [&](auto, auto network) { queue.add(kube::keyOf(*network)); }});
  const auto owned = [&](const ConfigMap& map) {
    const auto* owner = kube::getControllerOf(map);
    if (owner != nullptr && owner->kind == "Network") {
      queue.add({map.metadata.namespace_, owner->name});
    }
  };
  factory.coreV1().configMaps().addHandler({.onUpdate = [&](auto, auto map) { owned(*map); },
                                            .onDelete = [&](auto map) { owned(*map); }});
  factory.start(stop);
  if (!factory.waitForSync(stop)) return;

  for (kube::WorkItem<ObjectKey> item; queue.next(item, stop);) {
    try {
      const auto network = networks.lister().inNamespace(item->namespace_).get(item->name);
      if (network != nullptr) reconcile(clients, *network);
      queue.forget(*item);
    } catch (const std::exception& error) {
      std::cerr << *item << ": " << error.what() << '\n';
      queue.addRateLimited(*item);
    }
  }
}
