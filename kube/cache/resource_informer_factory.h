// Informers of resources that a program knows by name only.
//
//   kube::DynamicInformerFactory factory(kube::DynamicClient(config));
//   auto networks = factory.forResource({"samplecrd.k8s.io", "v1", "networks"});
//   networks.addHandler({.onAdd = [](auto network) { ... network->object["spec"]["cidr"] ... }});
//   factory.start(stop);
//
//   kube::MetadataInformerFactory names(kube::MetadataClient(config));
//   auto pods = names.forResource({"", "v1", "pods"});           // names, labels, owners: no more
//
// Objects of a DynamicInformerFactory are Unstructured; a MetadataInformerFactory's are
// PartialObjectMetadata, which take a fraction of the memory.
//
// Thread safety: see InformerFactory.
#pragma once

#include <utility>

#include "kube/cache/informer_factory.h"
#include "kube/client/dynamic_client.h"
#include "kube/meta/gvk.h"

namespace kube {

template <class Client>
class ResourceInformerFactory final : public InformerFactory {
 public:
  using Object = typename Client::Object;

  explicit ResourceInformerFactory(Client client, InformerFactoryOptions options = {})
      : InformerFactory(std::move(options)), client_(std::move(client)) {}

  /// With the factory's namespace, if it has one: for resources without namespaces it must not.
  SharedInformer<Object> forResource(const GroupVersionResource& gvr) const;

 private:
  const Client client_;
};

using DynamicInformerFactory = ResourceInformerFactory<DynamicClient>;
using MetadataInformerFactory = ResourceInformerFactory<MetadataClient>;

}  // namespace kube
