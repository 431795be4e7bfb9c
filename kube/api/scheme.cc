#include "kube/api/scheme.h"

#include <algorithm>

#include "kube/api/conversions.h"
#include "kube/api/registry.h"

namespace kube {

namespace {

// GA before beta before alpha, and higher versions first: the order of an API server, in every
// group.
void setPriorities(Scheme& scheme) {
  for (const GroupVersion& preferred : scheme.preferredVersionAllGroups()) {
    std::vector<GroupVersion> versions = scheme.prioritizedVersionsForGroup(preferred.group);
    std::ranges::sort(versions, [](const GroupVersion& a, const GroupVersion& b) {
      return compareKubeAwareVersions(a.version, b.version) > 0;
    });
    scheme.setVersionPriority(versions);
  }
}

Scheme makeScheme() {
  Scheme scheme("built-in");
  for (const TypeInfo* type : builtInKinds()) {
    const ResourceInfo& resource = *type->resource;
    if (resource.unversioned) continue;  // registered for every version, below
    scheme.addKnownTypeWithName({resource.group, resource.version, resource.kind}, *type);
  }
  for (const GroupVersion& version : std::vector(scheme.observedVersions())) {
    addToGroupVersion(scheme, version);
  }
  setPriorities(scheme);
  detail::addAutoscalingConversions(scheme);
  detail::addAppsConversions(scheme);
  detail::addResourceConversions(scheme);
  detail::addOtherConversions(scheme);
  return scheme;
}

}  // namespace

const Scheme& builtInScheme() {
  // Never destroyed: other objects may use it until the process ends.
  static const Scheme* const scheme = new Scheme(makeScheme());
  return *scheme;
}

}  // namespace kube
