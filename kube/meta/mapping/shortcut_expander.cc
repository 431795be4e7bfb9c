#include "kube/meta/mapping/shortcut_expander.h"

#include <fmt/core.h>

#include <algorithm>

namespace kube {
namespace {

template <class T>
void addNew(std::vector<T>& all, T item) {
  if (std::ranges::find(all, item) == all.end()) all.push_back(std::move(item));
}

/// Calls `use(group, resource)` for every resource of every version that could be read, in the
/// server's order, without subresources.
template <class Use>
void forEachResource(std::span<const ApiGroupResources> groups, Use use) {
  for (const ApiGroupResources& group : groups) {
    for (const metav1::GroupVersionForDiscovery& version : group.group.versions) {
      for (const metav1::APIResource& resource : group.versionedResources[version.version]) {
        if (resource.name.view().find('/') != std::string_view::npos) continue;
        use(group.group.name, resource);
      }
    }
  }
}

}  // namespace

ShortNames::ShortNames(std::span<const TypeInfo* const> types,
                       std::span<const std::string_view> groups) {
  for (const ResourceInfo* resource : servedResources(types, groups)) {
    addName(resource->group, resource->plural);
    addName(resource->group, resource->singular);
    for (const std::string_view shortName : resource->shortNames) {
      // A resource that moved to another group keeps its short name only there.
      const bool moved = resource->retired && resourcesOf_.contains(shortName);
      if (!moved) addShortName(resource->group, shortName, resource->plural);
    }
  }
}

ShortNames::ShortNames(std::span<const ApiGroupResources> groups) {
  forEachResource(groups, [this](const String& group, const metav1::APIResource& resource) {
    addName(group, resource.name);
    addName(group, resource.singularName);
    for (const String& shortName : resource.shortNames) {
      addShortName(group, shortName, resource.name);
    }
  });
}

void ShortNames::addName(std::string_view group, std::string_view name) {
  if (!name.empty()) addNew(groupsOf_[String(name)], String(group));
}

void ShortNames::addShortName(std::string_view group, std::string_view shortName,
                              std::string_view resource) {
  addNew(resourcesOf_[String(shortName)], GroupResource{group, resource});
}

GroupVersionResource ShortNames::expand(const GroupVersionResource& partial,
                                        const NameWarningHandler& warn) const {
  const auto meant = resourcesOf_.find(partial.resource.view());
  if (meant == resourcesOf_.end()) return partial;
  if (const auto named = groupsOf_.find(partial.resource.view()); named != groupsOf_.end()) {
    const std::vector<String>& groups = named->second;
    if (partial.group.empty()) return partial;
    if (std::ranges::find(groups, partial.group) != groups.end()) return partial;
  }

  const GroupResource* found = nullptr;
  for (const GroupResource& resource : meant->second) {
    if (!partial.group.empty() && partial.group != resource.group) continue;
    if (found == nullptr) {
      found = &resource;
    } else if (warn) {
      warn(fmt::format("short name \"{}\" could also match lower priority resource {}",
                       partial.resource, resource));
    }
  }
  if (found == nullptr) {
    const auto begun = std::ranges::find_if(meant->second, [&](const GroupResource& resource) {
      return resource.group.view().starts_with(partial.group.view());
    });
    if (begun == meant->second.end()) return partial;
    found = &*begun;
  }
  return found->withVersion(partial.version);
}

ShortcutExpander::ShortcutExpander(RestMapperPtr mapper, std::shared_ptr<const ShortNames> names,
                                   NameWarningHandler warn)
    : ShortcutExpander(
          std::move(mapper), [names = std::move(names)] { return names; }, std::move(warn)) {}

ShortcutExpander::ShortcutExpander(RestMapperPtr mapper,
                                   std::function<std::shared_ptr<const ShortNames>()> names,
                                   NameWarningHandler warn)
    : mapper_(std::move(mapper)), names_(std::move(names)), warn_(std::move(warn)) {}

// A mapper that does not find a resource may fetch new ones, and the names may then be newer too.
template <class Ask>
auto ShortcutExpander::expanded(const GroupVersionResource& partial, Ask ask) const {
  const auto isNone = [](const auto& answer) {
    if constexpr (requires { answer.empty(); }) {
      return answer.empty();
    } else {
      return !answer.has_value();
    }
  };
  const auto names = names_();
  const GroupVersionResource meant = names->expand(partial, warn_);
  auto answer = ask(meant);
  if (!isNone(answer)) return answer;
  const auto newNames = names_();
  if (newNames == names) return answer;
  const GroupVersionResource meantNow = newNames->expand(partial, warn_);
  if (meantNow == meant) return answer;
  return ask(meantNow);
}

std::optional<GroupVersionKind> ShortcutExpander::findKind(
    const GroupVersionResource& partial) const {
  return expanded(partial,
                  [this](const GroupVersionResource& meant) { return mapper_->findKind(meant); });
}

std::vector<GroupVersionKind> ShortcutExpander::findKinds(
    const GroupVersionResource& partial) const {
  return expanded(partial,
                  [this](const GroupVersionResource& meant) { return mapper_->findKinds(meant); });
}

std::optional<GroupVersionResource> ShortcutExpander::findResource(
    const GroupVersionResource& partial) const {
  return expanded(
      partial, [this](const GroupVersionResource& meant) { return mapper_->findResource(meant); });
}

std::vector<GroupVersionResource> ShortcutExpander::findResources(
    const GroupVersionResource& partial) const {
  return expanded(
      partial, [this](const GroupVersionResource& meant) { return mapper_->findResources(meant); });
}

std::optional<RestMapping> ShortcutExpander::findMapping(const GroupKind& kind,
                                                         VersionList versions) const {
  return mapper_->findMapping(kind, versions);
}

std::vector<RestMapping> ShortcutExpander::findMappings(const GroupKind& kind,
                                                        VersionList versions) const {
  return mapper_->findMappings(kind, versions);
}

std::optional<String> ShortcutExpander::findSingular(std::string_view resource) const {
  return expanded({.resource = resource}, [this](const GroupVersionResource& meant) {
    return mapper_->findSingular(meant.resource);
  });
}

CategoryExpander::~CategoryExpander() = default;

SimpleCategoryExpander::SimpleCategoryExpander(std::span<const TypeInfo* const> types,
                                               std::span<const std::string_view> groups) {
  for (const ResourceInfo* resource : servedResources(types, groups)) {
    if (resource->retired) continue;
    for (const std::string_view category : resource->categories) {
      add(category, {resource->group, resource->plural});
    }
  }
}

SimpleCategoryExpander::SimpleCategoryExpander(std::span<const ApiGroupResources> groups) {
  forEachResource(groups, [this](const String& group, const metav1::APIResource& resource) {
    for (const String& category : resource.categories) add(category, {group, resource.name});
  });
}

void SimpleCategoryExpander::add(std::string_view category, GroupResource resource) {
  addNew(resourcesOf_[String(category)], std::move(resource));
}

std::optional<std::vector<GroupResource>> SimpleCategoryExpander::expand(
    std::string_view category) const {
  const auto known = resourcesOf_.find(category);
  if (known == resourcesOf_.end()) return std::nullopt;
  return known->second;
}

std::optional<std::vector<GroupResource>> UnionCategoryExpander::expand(
    std::string_view category) const {
  std::optional<std::vector<GroupResource>> all;
  for (const auto& expander : expanders_) {
    std::optional<std::vector<GroupResource>> more = expander->expand(category);
    if (!more) continue;
    if (!all) all.emplace();
    for (GroupResource& resource : *more) addNew(*all, std::move(resource));
  }
  return all;
}

}  // namespace kube
