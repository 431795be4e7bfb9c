#include "kube/cache/shared_informer_factory.h"

#include "kube/client/dynamic_client.h"

namespace kube {

SharedInformer<Unstructured> SharedInformerFactory::forResource(
    const GroupVersionResource& gvr) const {
  return obtain<Unstructured>("dynamic " + gvr.str(), [&] {
    return makeInformer(DynamicClient(rest_).resource(gvr).inNamespace(options().namespace_),
                        options().resync, gvr.resource.str());
  });
}

std::string SharedInformerFactory::nameOf(const ResourceName& resource) {
  return GroupVersionResource{resource.version.group, resource.version.version, resource.plural}
      .str();
}

Clock::Duration SharedInformerFactory::resyncOf(const TypeInfo& type) const {
  const std::lock_guard lock(resyncMutex_);
  const auto own = resync_.find(&type);
  return own != resync_.end() ? own->second : options().resync;
}

}  // namespace kube
