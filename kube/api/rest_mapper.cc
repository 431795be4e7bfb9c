#include "kube/api/rest_mapper.h"

#include "kube/api/registry.h"
#include "kube/meta/mapping/static_rest_mapper.h"

namespace kube {

std::span<const std::string_view> builtInGroups() noexcept {
  static constexpr std::string_view kGroups[] = {"",
                                                 "apiregistration.k8s.io",
                                                 "apps",
                                                 "events.k8s.io",
                                                 "authentication.k8s.io",
                                                 "authorization.k8s.io",
                                                 "autoscaling",
                                                 "batch",
                                                 "certificates.k8s.io",
                                                 "networking.k8s.io",
                                                 "policy",
                                                 "rbac.authorization.k8s.io",
                                                 "storage.k8s.io",
                                                 "admissionregistration.k8s.io",
                                                 "apiextensions.k8s.io",
                                                 "scheduling.k8s.io",
                                                 "coordination.k8s.io",
                                                 "node.k8s.io",
                                                 "discovery.k8s.io",
                                                 "resource.k8s.io",
                                                 "flowcontrol.apiserver.k8s.io",
                                                 "internal.apiserver.k8s.io",
                                                 "storagemigration.k8s.io"};
  return kGroups;
}

const RestMapper& builtInRestMapper() {
  static const ShortcutExpander mapper(
      std::make_shared<const StaticRestMapper>(builtInKinds(), builtInGroups()),
      std::make_shared<const ShortNames>(builtInKinds(), builtInGroups()));
  return mapper;
}

const CategoryExpander& builtInCategories() {
  static const SimpleCategoryExpander categories(builtInKinds(), builtInGroups());
  return categories;
}

}  // namespace kube
