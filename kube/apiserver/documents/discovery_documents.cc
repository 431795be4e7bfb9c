#include "kube/apiserver/documents/discovery_documents.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "kube/api/packages.h"
#include "kube/apiserver/documents/content_hash.h"
#include "kube/base/version.h"
#include "kube/codec/json.h"

namespace kube::apiserver {

namespace {

// The resources of a version, sorted by name.
std::vector<const ServedResource*> resourcesOf(std::span<const ServedResource> served,
                                               std::string_view group, std::string_view version) {
  std::vector<const ServedResource*> found;
  for (const ServedResource& resource : served) {
    if (resource.group == group && resource.version == version) found.push_back(&resource);
  }
  std::ranges::sort(found, {}, [](const ServedResource* resource) { return resource->plural; });
  return found;
}

std::vector<ServedSubresource> subresourcesOf(const ServedResource& resource) {
  std::vector<ServedSubresource> all(resource.subresources.begin(), resource.subresources.end());
  std::ranges::sort(all, {}, &ServedSubresource::name);
  return all;
}

metav1::GroupVersionForDiscovery versionOf(const String& group, const String& version) {
  return {.groupVersion = GroupVersion{group, version}.str(), .version = version};
}

metav1::APIGroup describe(const ServedGroup& group) {
  metav1::APIGroup described{.name = group.name};
  for (const String& version : group.versions) {
    described.versions.push_back(versionOf(group.name, version));
  }
  described.preferredVersion = versionOf(group.name, group.versions.front());
  return described;
}

metav1::APIResource describe(const ServedResource& resource) {
  metav1::APIResource described{.name = resource.plural,
                                .singularName = resource.singular,
                                .namespaced = resource.namespaced,
                                .kind = resource.kind,
                                .shortNames = resource.shortNames,
                                .categories = resource.categories,
                                .storageVersionHash = resource.storageVersionHash};
  described.verbs = resource.verbs;
  return described;
}

metav1::APIResource describe(const ServedResource& resource, const ServedSubresource& sub) {
  metav1::APIResource described{.name = resource.plural + "/" + sub.name,
                                .namespaced = resource.namespaced,
                                .kind = sub.kind.kind};
  described.verbs = sub.verbs;
  if (sub.kind.groupVersion() != resource.groupVersion()) {
    described.group = sub.kind.group;
    described.version = sub.kind.version;
  }
  return described;
}

// The kind of a resource's objects. Group and version are left out if they are those of the list.
metav1::GroupVersionKind responseKind(const GroupVersionKind& kind,
                                      const ServedResource& resource) {
  if (kind.groupVersion() == resource.groupVersion()) return {.kind = kind.kind};
  return {.group = kind.group, .version = kind.version, .kind = kind.kind};
}

apidiscoveryv2::APIResourceDiscovery discover(const ServedResource& resource) {
  apidiscoveryv2::APIResourceDiscovery discovered{
      .resource = resource.plural,
      .responseKind = responseKind(resource.gvk(), resource),
      .scope = resource.namespaced ? "Namespaced" : "Cluster",
      .singularResource = resource.singular,
      .verbs = resource.verbs,
      .shortNames = resource.shortNames,
      .categories = resource.categories};
  for (const ServedSubresource& sub : subresourcesOf(resource)) {
    discovered.subresources.push_back({.subresource = sub.name,
                                       .responseKind = responseKind(sub.kind, resource),
                                       .verbs = sub.verbs});
  }
  return discovered;
}

constexpr std::string_view kPlatform =
#if defined(__aarch64__)
    "linux/arm64";
#else
    "linux/amd64";
#endif

}  // namespace

metav1::APIVersions apiVersions(std::span<const ServedResource> served,
                                std::string_view serverAddress) {
  metav1::APIVersions document;
  for (const ServedGroup& group : groupsOf(served)) {
    if (!group.name.empty()) continue;
    for (const String& version : group.versions) document.versions.push_back(version);
  }
  document.serverAddressByClientCIDRs.push_back(
      {.clientCIDR = "0.0.0.0/0", .serverAddress = serverAddress});
  return document;
}

metav1::APIGroupList apiGroupList(std::span<const ServedResource> served) {
  metav1::APIGroupList document;
  for (const ServedGroup& group : groupsOf(served)) {
    if (!group.name.empty()) document.groups.push_back(describe(group));
  }
  return document;
}

metav1::APIGroup apiGroup(std::span<const ServedResource> served, std::string_view group) {
  for (const ServedGroup& candidate : groupsOf(served)) {
    if (candidate.name == group) return describe(candidate);
  }
  return {.name = group};
}

metav1::APIResourceList apiResourceList(std::span<const ServedResource> served,
                                        const GroupVersion& version) {
  metav1::APIResourceList document{.groupVersion = version.str()};
  for (const ServedResource* resource : resourcesOf(served, version.group, version.version)) {
    document.resources.push_back(describe(*resource));
    for (const ServedSubresource& sub : subresourcesOf(*resource)) {
      document.resources.push_back(describe(*resource, sub));
    }
  }
  return document;
}

apidiscoveryv2::APIGroupDiscoveryList groupDiscovery(std::span<const ServedResource> served,
                                                     Root root) {
  apidiscoveryv2::APIGroupDiscoveryList document;
  for (const ServedGroup& group : groupsOf(served)) {
    if (group.name.empty() != (root == Root::Core)) continue;
    apidiscoveryv2::APIGroupDiscovery item;
    item.metadata.name = group.name;
    for (const String& version : group.versions) {
      apidiscoveryv2::APIVersionDiscovery discovered{.version = version, .freshness = "Current"};
      for (const ServedResource* resource : resourcesOf(served, group.name, version)) {
        discovered.resources.push_back(discover(*resource));
      }
      item.versions.push_back(std::move(discovered));
    }
    document.items.push_back(std::move(item));
  }
  return document;
}

TaggedDocument aggregatedDiscovery(std::span<const ServedResource> served, Root root,
                                   std::string_view version) {
  TaggedDocument document{.body = toJson(groupDiscovery(served, root)), .etag = {}};
  if (version != "v2") {
    // The encoder writes the apiVersion of the described type. It is the first in the text.
    constexpr std::string_view kApiVersion = R"("apidiscovery.k8s.io/v2")";
    document.body.replace(document.body.find(kApiVersion), kApiVersion.size(),
                          R"("apidiscovery.k8s.io/)" + std::string(version) + '"');
  }
  document.etag = contentHash(document.body);
  return document;
}

std::string versionDocument() {
  const std::string release(builtInRelease());
  const auto dot = release.find('.');
  const auto end = release.find('.', dot + 1);
  // Clients expect these fields, even if their values are unknown or have no meaning in C++.
  return toJson(Value(Value::Object{{"major", release.substr(0, dot)},
                                    {"minor", release.substr(dot + 1, end - dot - 1)},
                                    {"gitVersion", "v" + release + "+kubexx"},
                                    {"gitCommit", kube::gitCommit()},
                                    {"gitTreeState", ""},
                                    {"buildDate", "1970-01-01T00:00:00Z"},
                                    {"goVersion", "none"},
                                    {"compiler", "c++"},
                                    {"platform", kPlatform}}));
}

}  // namespace kube::apiserver
