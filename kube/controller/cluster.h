// Another cluster that a manager works with, beside its own.
//
//   kube::Cluster& west = manager.addCluster("west", kube::Config::load({.context = "west"}));
//   manager.controller<samplev1::Network>("networks")
//       .watches(west.informers().informerFor<corev1::Node>(), keysOfNode)
//       .reconcile(...);
//   manager.controller<corev1::Pod>("pods of west", west).reconcile(...);
//
// The cluster's informers are started and stopped with those of the manager, which waits for all
// of them before it works, and is not ready before they have synced. The manager's election,
// leaderClients() and events are those of its own cluster.
//
// Thread safety: as the parts.
#pragma once

#include <string>
#include <utility>

#include "kube/cache/shared_informer_factory.h"
#include "kube/client/clientset.h"
#include "kube/rest/config.h"

namespace kube {

class Cluster {
 public:
  /// Programs call Manager::addCluster().
  Cluster(std::string name, const Config& config, InformerFactoryOptions informers)
      : name_(std::move(name)), clients_(config), informers_(clients_, std::move(informers)) {}
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  const std::string& name() const noexcept { return name_; }
  const Clientset& clients() const noexcept { return clients_; }
  SharedInformerFactory& informers() noexcept { return informers_; }
  const SharedInformerFactory& informers() const noexcept { return informers_; }

 private:
  const std::string name_;
  const Clientset clients_;
  SharedInformerFactory informers_;
};

}  // namespace kube
