#include "kube/cache/kind_options.h"

#include "kube/client/resource_client.h"

namespace kube::detail {

GroupVersionResource resourceOf(const TypeInfo& type) {
  const ResourceName name = ResourceName::of(type);
  return {name.version.group, name.version.version, name.plural};
}

}  // namespace kube::detail
