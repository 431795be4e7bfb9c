// Informers of resources that a program knows only by name.
//
//   kube::DynamicInformerFactory factory(kube::DynamicClient(config));
//   auto networks = factory.forResource({"samplecrd.k8s.io", "v1", "networks"});
//   networks.addHandler({.onAdd = [](auto network) { ... network->object["spec"]["cidr"] ... }});
//   factory.start(stop);
//
//   kube::MetadataInformerFactory names(kube::MetadataClient(config));
//   auto pods = names.forResource({"", "v1", "pods"});           // names, labels, owners: no more
//
// A DynamicInformerFactory has Unstructured objects; a MetadataInformerFactory has
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

  /// The informer of a resource, in the factory's namespace if it has one. A factory for resources
  /// without namespaces must have none.
  SharedInformer<Object> forResource(const GroupVersionResource& gvr) const;

 private:
  const Client client_;
};

using DynamicInformerFactory = ResourceInformerFactory<DynamicClient>;
using MetadataInformerFactory = ResourceInformerFactory<MetadataClient>;

}  // namespace kube
