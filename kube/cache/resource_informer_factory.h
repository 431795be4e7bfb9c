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

#include <optional>
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
      : InformerFactory(
            std::move(options),
            [](const TypeInfo& type) { return type.name == TypeOf<Object>::info.name; }),
        client_(std::move(client)) {}

  /// The informer of a resource with the options of its kind, in the factory's namespaces if it has
  /// some. For a resource without namespaces, these must be Strings{""} in the kind's options.
  SharedInformer<Object> forResource(const GroupVersionResource& gvr) const;
  /// The informer of the objects that the selectors of `which` select, in these namespaces or in
  /// those of the kind's options. Each selection has an informer of its own.
  SharedInformer<Object> forResource(const GroupVersionResource& gvr,
                                     const metav1::ListOptions& which,
                                     const std::optional<Strings>& namespaces = {}) const;
  /// The same informers for counted users, see InformerUse.
  InformerUse<Object> use(const GroupVersionResource& gvr) const;
  InformerUse<Object> use(const GroupVersionResource& gvr, const metav1::ListOptions& which,
                          const std::optional<Strings>& namespaces = {}) const;

 private:
  const Client client_;
};

using DynamicInformerFactory = ResourceInformerFactory<DynamicClient>;
using MetadataInformerFactory = ResourceInformerFactory<MetadataClient>;

}  // namespace kube
