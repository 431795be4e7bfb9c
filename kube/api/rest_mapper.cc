#include "kube/api/rest_mapper.h"

#include <array>
#include <string_view>

#include "kube/api/registry.h"
#include "kube/meta/static_rest_mapper.h"

namespace kube {
namespace {

// By descending priority of kube-apiserver's APIServices; extension servers come last.
constexpr std::array<std::string_view, 23> kGroups = {
    "",
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
    "flowcontrol.apiserver.k8s.io",
    "internal.apiserver.k8s.io",
    "resource.k8s.io",
    "storagemigration.k8s.io",
};

}  // namespace

const RestMapper& builtInRestMapper() {
  static const ShortcutExpander mapper(
      std::make_shared<const StaticRestMapper>(builtInKinds(), kGroups),
      std::make_shared<const ShortNames>(builtInKinds(), kGroups));
  return mapper;
}

const CategoryExpander& builtInCategories() {
  static const SimpleCategoryExpander categories(builtInKinds(), kGroups);
  return categories;
}

}  // namespace kube
