#include "kube/cache/resource_informer_factory.h"

namespace kube {

using detail::InformerAccess;
using detail::InformerRequest;

template <class Client>
SharedInformer<typename Client::Object> ResourceInformerFactory<Client>::forResource(
    const GroupVersionResource& gvr) const {
  return InformerAccess::handleOf<Object>(obtain(InformerRequest::of(client_, gvr)));
}

template <class Client>
SharedInformer<typename Client::Object> ResourceInformerFactory<Client>::forResource(
    const GroupVersionResource& gvr, const metav1::ListOptions& which,
    const std::optional<Strings>& namespaces) const {
  return InformerAccess::handleOf<Object>(
      obtain(InformerRequest::of(client_, gvr, which, namespaces)));
}

template <class Client>
InformerUse<typename Client::Object> ResourceInformerFactory<Client>::use(
    const GroupVersionResource& gvr) const {
  return useOf<Object>(obtain(InformerRequest::of(client_, gvr, {}, {}, true)));
}

template <class Client>
InformerUse<typename Client::Object> ResourceInformerFactory<Client>::use(
    const GroupVersionResource& gvr, const metav1::ListOptions& which,
    const std::optional<Strings>& namespaces) const {
  return useOf<Object>(obtain(InformerRequest::of(client_, gvr, which, namespaces, true)));
}

template class ResourceInformerFactory<DynamicClient>;
template class ResourceInformerFactory<MetadataClient>;

}  // namespace kube
