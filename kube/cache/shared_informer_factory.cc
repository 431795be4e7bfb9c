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

std::optional<SharedInformer<Unstructured>> SharedInformerFactory::findResource(
    const GroupVersionResource& gvr) const {
  const auto request = detail::InformerRequest::of(DynamicClient(rest_), gvr);
  return handleOf<Unstructured>(found(request.type.info, request.resource));
}

detail::InformerRequest SharedInformerFactory::requestOf(const detail::InformedType& type,
                                                         std::optional<metav1::ListOptions> which,
                                                         const std::optional<Strings>& namespaces,
                                                         bool counted) const {
  const ResourceName resource = ResourceName::of(type.info);
  return {
      .type = type,
      .resource = resource,
      .requests = [rest = rest_, resource] { return detail::ResourceRequests(rest, resource, {}); },
      .which = std::move(which),
      .namespaces = namespaces,
      .counted = counted};
}

InformerFactory::Core SharedInformerFactory::obtainOf(const detail::InformedType& type,
                                                      std::optional<metav1::ListOptions> which,
                                                      const std::optional<Strings>& namespaces,
                                                      bool counted) const {
  return obtain(requestOf(type, std::move(which), namespaces, counted), resyncOf(type.info));
}

detail::InformerSet::Covering SharedInformerFactory::covering(const detail::InformedType& type,
                                                              std::string_view namespaceName,
                                                              bool make) const {
  return InformerFactory::covering(requestOf(type), namespaceName, make, resyncOf(type.info));
}

detail::InformerSet::Covering SharedInformerFactory::covering(const RestMapping& mapping,
                                                              std::string_view namespaceName,
                                                              bool make) const {
  auto request = detail::InformerRequest::of(DynamicClient(rest_), mapping.gvr);
  request.resource.scope = mapping.scope;
  return InformerFactory::covering(request, namespaceName, make);
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
