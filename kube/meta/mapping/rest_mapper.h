// From resources ("pods", as in URLs and on command lines) to kinds ("Pod", as in objects), and
// back.
//
//   const RestMapper& mapper = builtInRestMapper();              // kube/api/rest_mapper.h
//   mapper.kindFor({.resource = "deployments"});                 // apps/v1, Kind=Deployment
//   RestMapping m = mapper.restMapping({"apps", "Deployment"}, {"v1"});
//   m.gvr;  m.scope;                                             // where its objects are
//   mappingFor(mapper, "deployments.v1.apps");                   // what a person typed
//
// Questions are partial: of a resource's group, version and name only the name is needed, in the
// plural or the singular; a group may be shortened to its beginning. Where several answers fit, the
// plural questions give all, the preferred first, and the singular ones choose, or throw
// AmbiguousResourceError or AmbiguousKindError with the candidates.
//
// Each question comes twice. `kindFor` and its like throw NoResourceMatchError or NoKindMatchError
// when there is no answer; `findKind` and its like return nothing then, for callers to whom that is
// ordinary (composed mappers above all: no exception is made on the way). A mapper implements the
// latter. A resource without a name is an Error in both.
//
// The mappers: DefaultRestMapper (kinds added one by one), StaticRestMapper (from tables or from a
// server's discovery), DeferredRestMapper (discovery when it is needed), ShortcutExpander
// ("deploy"), and MultiRestMapper, FirstHitRestMapper and PriorityRestMapper, which are made of
// others.
//
// Thread safety: any thread may ask at any time.
#pragma once

#include <exception>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/error.h"
#include "kube/base/list.h"
#include "kube/meta/gvk.h"

namespace kube {

/// Where a resource's objects are: in namespaces, or beside them.
enum class RestScope : unsigned char { Namespace, Root };

/// "namespace" or "root".
std::string_view toString(RestScope scope) noexcept;
std::ostream& operator<<(std::ostream& out, RestScope scope);

struct RestMapping {
  GroupVersionResource gvr = {};
  GroupVersionKind gvk = {};
  RestScope scope = RestScope::Namespace;

  bool operator==(const RestMapping&) const = default;
};

/// Versions in the order of preference: {"v1", "v1beta1"}. A view, for use as an argument.
class VersionList {
 public:
  VersionList() noexcept = default;
  VersionList(std::initializer_list<std::string_view> versions) noexcept  // NOLINT: implicit
      : versions_(versions.begin(), versions.size()) {}
  VersionList(std::span<const std::string_view> versions) noexcept  // NOLINT: implicit
      : versions_(versions) {}

  auto begin() const noexcept { return versions_.begin(); }
  auto end() const noexcept { return versions_.end(); }
  std::size_t size() const noexcept { return versions_.size(); }
  bool empty() const noexcept { return versions_.empty(); }

 private:
  std::span<const std::string_view> versions_;
};

class RestMapper {
 public:
  virtual ~RestMapper();

  GroupVersionKind kindFor(const GroupVersionResource& partial) const;
  std::vector<GroupVersionKind> kindsFor(const GroupVersionResource& partial) const;
  GroupVersionResource resourceFor(const GroupVersionResource& partial) const;
  std::vector<GroupVersionResource> resourcesFor(const GroupVersionResource& partial) const;
  /// The preferred mapping of a kind, of the first of these versions that there is.
  RestMapping restMapping(const GroupKind& kind, VersionList versions = {}) const;
  /// All mappings of a kind, or those of these versions.
  std::vector<RestMapping> restMappings(const GroupKind& kind, VersionList versions = {}) const;
  /// "pods" becomes "pod", and so does "pod".
  String resourceSingularizer(std::string_view resource) const;

  // The same; nothing where there is no answer.
  virtual std::optional<GroupVersionKind> findKind(const GroupVersionResource& partial) const;
  virtual std::vector<GroupVersionKind> findKinds(const GroupVersionResource& partial) const = 0;
  virtual std::optional<GroupVersionResource> findResource(
      const GroupVersionResource& partial) const;
  virtual std::vector<GroupVersionResource> findResources(
      const GroupVersionResource& partial) const = 0;
  virtual std::optional<RestMapping> findMapping(const GroupKind& kind,
                                                 VersionList versions) const = 0;
  virtual std::vector<RestMapping> findMappings(const GroupKind& kind,
                                                VersionList versions) const = 0;
  virtual std::optional<String> findSingular(std::string_view resource) const = 0;

  /// Forgets what can be learnt again, so that the next question is answered afresh.
  virtual void reset() const {}

 protected:
  RestMapper() = default;
  RestMapper(const RestMapper&) = default;
  RestMapper& operator=(const RestMapper&) = default;
};

/// How mappers that are made of others hold them.
using RestMapperPtr = std::shared_ptr<const RestMapper>;

/// For a mapper that outlives everything made of it, such as builtInRestMapper().
RestMapperPtr borrowed(const RestMapper& mapper);

/// What a person means by "pods", "deploy", "deployments.apps", "deployments.v1.apps" or
/// "Deployment.v1.apps": a resource if there is one, else a kind.
/// Throws NoResourceMatchError, or what the mapper throws when there are several.
RestMapping mappingFor(const RestMapper& mapper, std::string_view resourceOrKind);

// --- What goes wrong -----------------------------------------------------------------------------

class NoResourceMatchError : public Error {
 public:
  explicit NoResourceMatchError(GroupVersionResource partial);
  ~NoResourceMatchError() override;

  const GroupVersionResource& partialResource() const noexcept { return partial_; }

 private:
  GroupVersionResource partial_;
};

class NoKindMatchError : public Error {
 public:
  explicit NoKindMatchError(GroupKind kind, VersionList versions = {});
  ~NoKindMatchError() override;

  const GroupKind& groupKind() const noexcept { return kind_; }
  /// Empty if any version would have done.
  const List<String>& searchedVersions() const noexcept { return versions_; }

 private:
  GroupKind kind_;
  List<String> versions_;
};

/// A resource that is several; `matchingResources` or `matchingKinds` says which.
class AmbiguousResourceError : public Error {
 public:
  AmbiguousResourceError(GroupVersionResource partial, List<GroupVersionResource> resources,
                         List<GroupVersionKind> kinds = {});
  ~AmbiguousResourceError() override;

  const GroupVersionResource& partialResource() const noexcept { return partial_; }
  const List<GroupVersionResource>& matchingResources() const noexcept { return resources_; }
  const List<GroupVersionKind>& matchingKinds() const noexcept { return kinds_; }

 private:
  GroupVersionResource partial_;
  List<GroupVersionResource> resources_;
  List<GroupVersionKind> kinds_;
};

class AmbiguousKindError : public Error {
 public:
  AmbiguousKindError(GroupVersionKind partial, List<GroupVersionResource> resources,
                     List<GroupVersionKind> kinds);
  ~AmbiguousKindError() override;

  const GroupVersionKind& partialKind() const noexcept { return partial_; }
  const List<GroupVersionResource>& matchingResources() const noexcept { return resources_; }
  const List<GroupVersionKind>& matchingKinds() const noexcept { return kinds_; }

 private:
  GroupVersionKind partial_;
  List<GroupVersionResource> resources_;
  List<GroupVersionKind> kinds_;
};

/// NoResourceMatchError or NoKindMatchError.
bool isNoMatch(const std::exception& error) noexcept;
/// AmbiguousResourceError or AmbiguousKindError.
bool isAmbiguous(const std::exception& error) noexcept;

}  // namespace kube
