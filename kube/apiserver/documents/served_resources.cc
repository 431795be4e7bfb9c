#include "kube/apiserver/documents/served_resources.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "kube/api/registry.h"
#include "kube/api/rest_mapper.h"

namespace kube::apiserver {

namespace {

std::size_t placeOf(std::string_view group) {
  const auto groups = builtInGroups();
  return static_cast<std::size_t>(std::ranges::find(groups, group) - groups.begin());
}

List<String> strings(std::span<const std::string_view> texts) {
  List<String> list;
  for (const std::string_view text : texts) list.push_back(text);
  return list;
}

ServedResource fromTable(const TypeInfo& type) {
  const ResourceInfo& info = *type.resource;
  ServedResource served{.group = info.group,
                        .version = info.version,
                        .kind = info.kind,
                        .plural = info.plural,
                        .singular = info.singular,
                        .listKind = info.listKind,
                        .namespaced = info.namespaced,
                        .verbs = strings(info.verbs),
                        .shortNames = strings(info.shortNames),
                        .categories = strings(info.categories),
                        .type = &type};
  for (const ResourceInfo::Subresource& sub : info.subresources) {
    const bool own = sub.group.empty() && sub.version.empty();
    served.subresources.push_back({.name = sub.name,
                                   .kind = {own ? served.group : String(sub.group),
                                            own ? served.version : String(sub.version), sub.kind},
                                   .verbs = strings(sub.verbs)});
  }
  return served;
}

}  // namespace

List<String> allVerbs() {
  return {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
}

std::vector<ServedResource> builtInResources() {
  std::vector<ServedResource> served;
  for (const TypeInfo* type : builtInKinds()) {
    const ResourceInfo& info = *type->resource;
    if (info.plural.empty() || info.retired || info.group == "metrics.k8s.io") continue;
    served.push_back(fromTable(*type));
  }
  return served;
}

std::vector<ServedGroup> groupsOf(std::span<const ServedResource> served) {
  std::map<std::pair<std::size_t, String>, std::set<String>> versions;
  for (const ServedResource& resource : served) {
    versions[{placeOf(resource.group), resource.group}].insert(resource.version);
  }
  std::vector<ServedGroup> groups;
  for (const auto& [key, all] : versions) {
    ServedGroup group{key.second, {all.begin(), all.end()}};
    std::ranges::sort(group.versions, [](const String& a, const String& b) {
      return compareKubeAwareVersions(a, b) > 0;
    });
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace kube::apiserver
