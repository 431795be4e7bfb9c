#include "kube/cache/shared_informer_factory.h"

#include "kube/client/dynamic_client.h"

namespace kube {

SharedInformerFactory::SharedInformerFactory(const Clientset& clients,
                                             InformerFactoryOptions options)
    : SharedInformerFactory(clients.rest(), std::move(options)) {}
SharedInformerFactory::SharedInformerFactory(RestClient rest, InformerFactoryOptions options)
    : InformerFactory(std::move(options),
                      [](const TypeInfo& type) {
                        return type.name != TypeOf<metav1::PartialObjectMetadata>::info.name;
                      }),
      rest_(std::move(rest)) {}
SharedInformerFactory::~SharedInformerFactory() = default;

SharedInformer<Unstructured> SharedInformerFactory::forResource(
    const GroupVersionResource& gvr) const {
  return detail::InformerAccess::handleOf<Unstructured>(
      obtain(detail::InformerRequest::of(DynamicClient(rest_), gvr)));
}

SharedInformer<Unstructured> SharedInformerFactory::forResource(
    const GroupVersionResource& gvr, const metav1::ListOptions& which,
    const std::optional<Strings>& namespaces) const {
  return detail::InformerAccess::handleOf<Unstructured>(
      obtain(detail::InformerRequest::of(DynamicClient(rest_), gvr, which, namespaces)));
}

SharedInformer<metav1::PartialObjectMetadata> SharedInformerFactory::metadataOf(
    const GroupVersionResource& gvr) const {
  return detail::InformerAccess::handleOf<metav1::PartialObjectMetadata>(
      obtain(detail::InformerRequest::of(MetadataClient(rest_), gvr)));
}

SharedInformer<metav1::PartialObjectMetadata> SharedInformerFactory::metadataOf(
    const GroupVersionResource& gvr, RestScope scope) const {
  auto request = detail::InformerRequest::of(MetadataClient(rest_), gvr);
  request.resource.scope = scope;
  return detail::InformerAccess::handleOf<metav1::PartialObjectMetadata>(obtain(request));
}

InformerUse<Unstructured> SharedInformerFactory::use(const GroupVersionResource& gvr) const {
  return useOf<Unstructured>(
      obtain(detail::InformerRequest::of(DynamicClient(rest_), gvr, {}, {}, true)));
}

InformerFactory::Core SharedInformerFactory::obtainOf(const detail::InformedType& type,
                                                      std::optional<metav1::ListOptions> which,
                                                      const std::optional<Strings>& namespaces,
                                                      bool counted) const {
  const ResourceName resource = ResourceName::of(type.info);
  return obtain({.type = type,
                 .resource = resource,
                 .requests = [&] { return detail::ResourceRequests(rest_, resource, {}); },
                 .which = std::move(which),
                 .namespaces = namespaces,
                 .counted = counted},
                resyncOf(type.info));
}

void SharedInformerFactory::setResync(const TypeInfo& type, Clock::Duration period) {
  const detail::Lock lock(resyncMutex_);
  resync_[&type] = period;
}

std::optional<Clock::Duration> SharedInformerFactory::resyncOf(const TypeInfo& type) const {
  const detail::Lock lock(resyncMutex_);
  const auto own = resync_.find(&type);
  if (own == resync_.end()) return std::nullopt;
  return own->second;
}

}  // namespace kube
