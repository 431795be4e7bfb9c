#include "kube/cache/resource_informer_factory.h"

namespace kube {

template <class Client>
SharedInformer<typename Client::Object> ResourceInformerFactory<Client>::forResource(
    const GroupVersionResource& gvr) const {
  return detail::InformerAccess::handleOf<Object>(obtain(gvr.str(), [&] {
    return makeInformer(detail::kInformedType<Object>,
                        client_.resource(gvr).inNamespace(options().namespace_).requests(),
                        options().resync, gvr.resource.str());
  }));
}

template class ResourceInformerFactory<DynamicClient>;
template class ResourceInformerFactory<MetadataClient>;

}  // namespace kube
