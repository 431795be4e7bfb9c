// Counts the pods of each replica set, from caches of metadata, which take a fraction of the memory
// of whole objects.
//
//   metadata_informer

#include <iostream>

#include "kube/cache/resource_informer_factory.h"

int main() {
  using kube::metav1::PartialObjectMetadata;
  try {
    const kube::MetadataClient client(kube::Config::load());
    kube::MetadataInformerFactory factory(client);
    const auto pods = factory.forResource({"", "v1", "pods"});
    const auto sets = factory.forResource({"apps", "v1", "replicasets"});
    pods.addIndexer("owner", [](const PartialObjectMetadata& pod) {
      kube::Strings owners;
      for (const auto& owner : pod.metadata.ownerReferences) owners.push_back(owner.uid);
      return owners;
    });
    factory.start();
    factory.waitForSync();
    for (const auto& set : sets.lister().list()) {
      std::cout << kube::keyOf(*set).str() << " has "
                << pods.store().byIndex("owner", set->metadata.uid).size() << " pods\n";
    }
    std::cout << factory.describe();
  } catch (const kube::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
