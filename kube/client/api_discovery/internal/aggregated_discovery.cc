#include "kube/client/api_discovery/internal/aggregated_discovery.h"

#include <fmt/core.h>

#include <algorithm>

#include "kube/base/internal/text.h"
#include "kube/http/http.h"

namespace kube::detail {

namespace {

// The two versions of the document have the same fields.

template <class Resource>
bool hasKind(const Resource& resource) {
  return resource.responseKind.has_value() && *resource.responseKind != metav1::GroupVersionKind{};
}

template <class Resource>
void addResource(const Resource& in, List<metav1::APIResource>& out) {
  metav1::APIResource result;
  result.name = in.resource;
  result.singularName = in.singularResource;
  result.namespaced = in.scope == "Namespaced";
  result.verbs = in.verbs;
  result.shortNames = in.shortNames;
  result.categories = in.categories;
  const auto setKind = [](metav1::APIResource& resource, const metav1::GroupVersionKind& kind) {
    resource.group = kind.group;
    resource.version = kind.version;
    resource.kind = kind.kind;
  };
  if (hasKind(in)) {
    setKind(result, *in.responseKind);
    out.push_back(result);
  }
  for (const auto& part : in.subresources) {
    if (!hasKind(part)) continue;
    metav1::APIResource sub;
    sub.name = fmt::format("{}/{}", in.resource, part.subresource);
    sub.singularName = in.singularResource;
    sub.namespaced = result.namespaced;
    sub.verbs = part.verbs;
    setKind(sub, *part.responseKind);
    out.push_back(std::move(sub));
  }
}

template <class Document>
void split(const Document& document, ServerResources& served) {
  for (const auto& in : document.items) {
    metav1::APIGroup group{.name = in.metadata.name};
    for (const auto& version : in.versions) {
      const GroupVersion gv{group.name, version.version};
      if (version.freshness == "Stale") {
        const StaleGroupVersionError stale(gv);
        served.failed.push_back({gv, stale.what(), std::make_exception_ptr(stale), true});
        continue;
      }
      const metav1::GroupVersionForDiscovery listed{gv.str(), version.version};
      if (!group.preferredVersion.has_value()) group.preferredVersion = listed;
      group.versions.push_back(listed);
      metav1::APIResourceList list{.groupVersion = listed.groupVersion};
      for (const auto& resource : version.resources) addResource(resource, list.resources);
      served.resources.push_back(std::move(list));
    }
    served.groups.push_back(std::move(group));
  }
}

}  // namespace

void splitAggregated(const apidiscoveryv2::APIGroupDiscoveryList& document,
                     ServerResources& served) {
  split(document, served);
}

void splitAggregated(const apidiscoveryv2beta1::APIGroupDiscoveryList& document,
                     ServerResources& served) {
  split(document, served);
}

bool isAggregatedDiscovery(std::string_view contentType, std::string_view version) noexcept {
  if (!equalIgnoringCase(trim(cut(contentType, ';')), "application/json")) return false;
  bool isGroup = false;
  bool isVersion = false;
  bool isKind = false;
  while (!contentType.empty()) {
    std::string_view value = cut(contentType, ';');
    const std::string_view name = trim(cut(value, '='));
    value = trim(value);
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
    }
    if (equalIgnoringCase(name, "g")) isGroup = value == "apidiscovery.k8s.io";
    if (equalIgnoringCase(name, "v")) isVersion = value == version;
    if (equalIgnoringCase(name, "as")) isKind = value == "APIGroupDiscoveryList";
  }
  return isGroup && isVersion && isKind;
}

}  // namespace kube::detail
