#include "kube/cache/shared_informer_factory.h"

#include "kube/client/dynamic_client.h"

namespace kube {

SharedInformerFactory::SharedInformerFactory(const Clientset& clients,
                                             InformerFactoryOptions options)
    : SharedInformerFactory(clients.rest(), std::move(options)) {}
SharedInformerFactory::SharedInformerFactory(RestClient rest, InformerFactoryOptions options)
    : InformerFactory(std::move(options)), rest_(std::move(rest)) {}
SharedInformerFactory::~SharedInformerFactory() = default;

SharedInformer<Unstructured> SharedInformerFactory::forResource(
    const GroupVersionResource& gvr) const {
  return detail::InformerAccess::handleOf<Unstructured>(obtain(dynamicNameOf(gvr), [&] {
    return makeInformer(
        detail::kInformedType<Unstructured>,
        DynamicClient(rest_).resource(gvr).inNamespace(options().namespace_).requests(),
        options().resync, gvr.resource.str());
  }));
}

InformerFactory::Core SharedInformerFactory::obtainOf(const detail::InformedType& type,
                                                      const metav1::ListOptions& which,
                                                      Match match) const {
  const ResourceName resource = ResourceName::of(type.info);
  const auto make = [&] {
    const bool namespaced = resource.scope != RestScope::Root;
    return makeInformer(
        type,
        detail::ResourceRequests(rest_, resource, namespaced ? options().namespace_ : String()),
        resyncOf(type.info), resource.plural.str(), which);
  };
  return obtain(nameOf(resource), make, describeSelection(which), match);
}

InformerFactory::Core SharedInformerFactory::obtainOf(const TypeInfo& type,
                                                      const std::function<Core()>& make) const {
  return obtain(nameOf(ResourceName::of(type)), make, "a source of its own");
}

std::string SharedInformerFactory::nameOf(const ResourceName& resource) {
  return GroupVersionResource{resource.version.group, resource.version.version, resource.plural}
      .str();
}

void SharedInformerFactory::setResync(const TypeInfo& type, Clock::Duration period) {
  const detail::Lock lock(resyncMutex_);
  resync_[&type] = period;
}

Clock::Duration SharedInformerFactory::resyncOf(const TypeInfo& type) const {
  const detail::Lock lock(resyncMutex_);
  const auto own = resync_.find(&type);
  return own != resync_.end() ? own->second : options().resync;
}

}  // namespace kube
