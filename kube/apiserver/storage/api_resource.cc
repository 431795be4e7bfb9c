#include "kube/apiserver/storage/api_resource.h"

#include <algorithm>

#include "kube/api/scheme.h"
#include "kube/apiserver/custom/custom_rules.h"
#include "kube/apiserver/rules/built_in_rules.h"
#include "kube/apiserver/storage/event_forms.h"
#include "kube/meta/api_error.h"
#include "kube/meta/unstructured.h"

namespace kube::apiserver {

const ServedSubresource* ApiVersion::subresource(std::string_view name) const noexcept {
  const auto it = std::ranges::find_if(
      subresources, [&](const ServedSubresource& one) { return one.name == name; });
  return it == subresources.end() ? nullptr : &*it;
}

bool ApiVersion::has(std::string_view verb) const noexcept {
  return std::ranges::any_of(verbs, [&](const String& one) { return one == verb; });
}

const ApiVersion* ApiResource::version(std::string_view version) const noexcept {
  const auto it =
      std::ranges::find_if(versions, [&](const ApiVersion& one) { return one.version == version; });
  return it == versions.end() ? nullptr : &*it;
}

AnyObject ApiResource::convert(const AnyObject& object, const ApiVersion& to) const {
  if (const auto* dynamic = object.as<Unstructured>()) {
    if (dynamic->gvk().version == to.version) return object;
    Unstructured other = *dynamic;  // fields are the same in all versions: strategy None
    other.setGvk(kindIn(to));
    return AnyObject(other);
  }
  if (&object.type() == to.type) return object;
  if (const auto* event = object.as<corev1::Event>(); event != nullptr && !name.group.empty()) {
    return convert(AnyObject(newForm(*event)), to);
  }
  if (const auto* event = object.as<eventsv1::Event>(); event != nullptr && name.group.empty()) {
    return convert(AnyObject(oldForm(*event)), to);
  }
  try {
    return builtInScheme().convertToVersion(object, GroupVersion{name.group, to.version});
  } catch (const Error& error) {
    throw ApiError(status::internalError(error.what()));
  }
}

ResourceTable::ResourceTable(Storage& storage) {
  std::map<GroupResource, ApiResource> made;
  for (ServedResource& served : builtInResources()) {
    ApiResource& resource = made[{served.group, served.plural}];
    resource.name = {served.group, served.plural};
    resource.kind = served.kind;
    resource.listKind = served.listKind;
    resource.namespaced = served.namespaced;
    const TypeInfo& type = *served.type;
    const bool defines = &type == &TypeOf<apiextensionsv1::CustomResourceDefinition>::info;
    auto rules = defines ? definitionRules() : builtInRules(type);
    resource.versions.push_back({std::move(served), std::move(rules)});
  }
  for (auto& [name, resource] : made) {
    const auto order = builtInScheme().prioritizedVersionsForGroup(name.group);
    const auto rank = [&](const ApiVersion& version) {
      return std::ranges::find(order, version.version, &GroupVersion::version) - order.begin();
    };
    std::ranges::stable_sort(resource.versions, {}, rank);
    if (resource.stored().has("list")) resource.objects = storage.add(name.str());
  }
  // Both resources of events show the same objects.
  made[{"events.k8s.io", "events"}].objects = made[{"", "events"}].objects;
  for (auto& [name, resource] : made) {
    resources_[name] = std::make_shared<const ApiResource>(std::move(resource));
  }
}

std::vector<ServedResource> ResourceTable::served() const {
  std::vector<ServedResource> result;
  for (const ResourcePtr& resource : all()) {
    for (const ApiVersion& version : resource->versions) {
      result.push_back(version);
      if (version.custom) result.back().type = nullptr;  // documents describe it by its schema
    }
  }
  return result;
}

ResourcePtr ResourceTable::find(const GroupResource& name) const {
  const detail::Lock lock(resourcesMutex_);
  const auto it = resources_.find(name);
  return it == resources_.end() ? nullptr : it->second;
}

ResourcePtr ResourceTable::findKind(const GroupKind& kind) const {
  const detail::Lock lock(resourcesMutex_);
  for (const auto& [name, resource] : resources_) {
    if (name.group == kind.group && resource->kind == kind.kind) return resource;
  }
  return nullptr;
}

std::vector<ResourcePtr> ResourceTable::all() const {
  const detail::Lock lock(resourcesMutex_);
  std::vector<ResourcePtr> result;
  result.reserve(resources_.size());
  for (const auto& [name, resource] : resources_) result.push_back(resource);
  return result;
}

bool ResourceTable::hasGroup(std::string_view group) const {
  const detail::Lock lock(resourcesMutex_);
  return std::ranges::any_of(resources_, [&](const auto& one) { return one.first.group == group; });
}

bool ResourceTable::hasVersion(const GroupVersion& version) const {
  const detail::Lock lock(resourcesMutex_);
  return std::ranges::any_of(resources_, [&](const auto& one) {
    return one.first.group == version.group && one.second->version(version.version) != nullptr;
  });
}

void ResourceTable::put(ApiResource resource) {
  const detail::Lock lock(resourcesMutex_);
  const GroupResource name = resource.name;
  resources_[name] = std::make_shared<const ApiResource>(std::move(resource));
  ++generation_;
}

void ResourceTable::remove(const GroupResource& name) {
  const detail::Lock lock(resourcesMutex_);
  resources_.erase(name);
  ++generation_;
}

std::uint64_t ResourceTable::generation() const {
  const detail::Lock lock(resourcesMutex_);
  return generation_;
}

}  // namespace kube::apiserver
