#include "kube/meta/mapping/rest_mapper.h"

#include <fmt/core.h>

#include <ostream>
#include <set>

#include "kube/base/joined.h"

namespace kube {
namespace {

template <class Names>
std::string spaced(const Names& names) {
  return fmt::format("[{}]", joined(names, " ", [](const auto& name) { return name.str(); }));
}

template <class Partial>
std::string ambiguous(const Partial& partial, const List<GroupVersionResource>& resources,
                      const List<GroupVersionKind>& kinds) {
  if (!resources.empty() && !kinds.empty()) {
    return fmt::format("{} matches multiple resources {} and kinds {}", partial, spaced(resources),
                       spaced(kinds));
  }
  if (!kinds.empty()) return fmt::format("{} matches multiple kinds {}", partial, spaced(kinds));
  if (!resources.empty()) {
    return fmt::format("{} matches multiple resources {}", partial, spaced(resources));
  }
  return fmt::format("{} matches multiple resources or kinds", partial);
}

std::string noKind(const GroupKind& kind, VersionList versions) {
  std::set<std::string> searched;
  for (const std::string_view version : versions) {
    searched.insert(GroupVersion{kind.group, version}.str());
  }
  if (searched.empty()) {
    return fmt::format("no matches for kind \"{}\" in group \"{}\"", kind.kind, kind.group);
  }
  if (searched.size() == 1) {
    return fmt::format("no matches for kind \"{}\" in version \"{}\"", kind.kind,
                       *searched.begin());
  }
  return fmt::format("no matches for kind \"{}\" in versions [\"{}\"]", kind.kind,
                     joined(searched, "\" \""));
}

}  // namespace

std::string_view toString(RestScope scope) noexcept {
  return scope == RestScope::Namespace ? "namespace" : "root";
}

std::ostream& operator<<(std::ostream& out, RestScope scope) { return out << toString(scope); }

RestMapper::~RestMapper() = default;

GroupVersionKind RestMapper::kindFor(const GroupVersionResource& partial) const {
  if (auto kind = findKind(partial)) return *std::move(kind);
  throw NoResourceMatchError(partial);
}

std::vector<GroupVersionKind> RestMapper::kindsFor(const GroupVersionResource& partial) const {
  auto kinds = findKinds(partial);
  if (kinds.empty()) throw NoResourceMatchError(partial);
  return kinds;
}

GroupVersionResource RestMapper::resourceFor(const GroupVersionResource& partial) const {
  if (auto resource = findResource(partial)) return *std::move(resource);
  throw NoResourceMatchError(partial);
}

std::vector<GroupVersionResource> RestMapper::resourcesFor(
    const GroupVersionResource& partial) const {
  auto resources = findResources(partial);
  if (resources.empty()) throw NoResourceMatchError(partial);
  return resources;
}

RestMapping RestMapper::restMapping(const GroupKind& kind, VersionList versions) const {
  if (auto mapping = findMapping(kind, versions)) return *std::move(mapping);
  throw NoKindMatchError(kind, versions);
}

std::vector<RestMapping> RestMapper::restMappings(const GroupKind& kind,
                                                  VersionList versions) const {
  auto mappings = findMappings(kind, versions);
  if (mappings.empty()) throw NoKindMatchError(kind, versions);
  return mappings;
}

String RestMapper::resourceSingularizer(std::string_view resource) const {
  if (auto singular = findSingular(resource)) return *std::move(singular);
  throw NoResourceMatchError({.resource = resource});
}

std::optional<GroupVersionKind> RestMapper::findKind(const GroupVersionResource& partial) const {
  auto kinds = findKinds(partial);
  if (kinds.empty()) return std::nullopt;
  if (kinds.size() > 1) throw AmbiguousResourceError(partial, {}, {kinds.begin(), kinds.end()});
  return std::move(kinds.front());
}

std::optional<GroupVersionResource> RestMapper::findResource(
    const GroupVersionResource& partial) const {
  auto resources = findResources(partial);
  if (resources.empty()) return std::nullopt;
  if (resources.size() > 1)
    throw AmbiguousResourceError(partial, {resources.begin(), resources.end()});
  return std::move(resources.front());
}

RestMapperPtr borrowed(const RestMapper& mapper) {
  return RestMapperPtr(std::shared_ptr<const void>(), &mapper);
}

RestMapping mappingFor(const RestMapper& mapper, std::string_view resourceOrKind) {
  const auto [fullResource, groupResource] = parseResourceArg(resourceOrKind);
  if (groupResource.resource.empty()) {
    throw NoResourceMatchError(groupResource.withVersion({}));  // a mapper would require a name
  }
  std::optional<GroupVersionKind> kind;
  if (fullResource) kind = mapper.findKind(*fullResource);
  if (!kind) kind = mapper.findKind(groupResource.withVersion({}));
  if (kind) return mapper.restMapping(kind->groupKind(), {kind->version.view()});

  const auto [fullKind, groupKind] = parseKindArg(resourceOrKind);
  std::optional<RestMapping> mapping;
  if (fullKind) mapping = mapper.findMapping(fullKind->groupKind(), {fullKind->version.view()});
  if (!mapping) mapping = mapper.findMapping(groupKind, {});
  if (!mapping) throw NoResourceMatchError(groupResource.withVersion({}));
  return *std::move(mapping);
}

// Out of line, so that the type information of each class has one home.
NoResourceMatchError::~NoResourceMatchError() = default;
NoKindMatchError::~NoKindMatchError() = default;
AmbiguousResourceError::~AmbiguousResourceError() = default;
AmbiguousKindError::~AmbiguousKindError() = default;

NoResourceMatchError::NoResourceMatchError(GroupVersionResource partial)
    : Error(fmt::format("no matches for {}", partial)), partial_(std::move(partial)) {}

NoKindMatchError::NoKindMatchError(GroupKind kind, VersionList versions)
    : Error(noKind(kind, versions)), kind_(std::move(kind)) {
  for (const std::string_view version : versions) versions_.push_back(version);
}

AmbiguousResourceError::AmbiguousResourceError(GroupVersionResource partial,
                                               List<GroupVersionResource> resources,
                                               List<GroupVersionKind> kinds)
    : Error(ambiguous(partial, resources, kinds)),
      partial_(std::move(partial)),
      resources_(std::move(resources)),
      kinds_(std::move(kinds)) {}

AmbiguousKindError::AmbiguousKindError(GroupVersionKind partial,
                                       List<GroupVersionResource> resources,
                                       List<GroupVersionKind> kinds)
    : Error(ambiguous(partial, resources, kinds)),
      partial_(std::move(partial)),
      resources_(std::move(resources)),
      kinds_(std::move(kinds)) {}

bool isNoMatch(const std::exception& error) noexcept {
  return dynamic_cast<const NoResourceMatchError*>(&error) != nullptr ||
         dynamic_cast<const NoKindMatchError*>(&error) != nullptr;
}

bool isAmbiguous(const std::exception& error) noexcept {
  return dynamic_cast<const AmbiguousResourceError*>(&error) != nullptr ||
         dynamic_cast<const AmbiguousKindError*>(&error) != nullptr;
}

}  // namespace kube
