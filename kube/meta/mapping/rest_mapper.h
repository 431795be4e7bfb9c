// Maps resources ("pods", as in URLs and on command lines) to kinds ("Pod", as in objects), and
// back.
//
//   const RestMapper& mapper = builtInRestMapper();              // kube/api/rest_mapper.h
//   mapper.kindFor({.resource = "deployments"});                 // apps/v1, Kind=Deployment
//   RestMapping m = mapper.restMapping({"apps", "Deployment"}, {"v1"});
//   m.gvr;  m.scope;                                             // where its objects are
//   mappingFor(mapper, "deployments.v1.apps");                   // as typed by a user
//
// Lookups are partial: of a resource's group, version and name only the name is required, in the
// plural or the singular. A group may be shortened to its beginning. If several answers match, the
// plural functions return all, the preferred first. The singular functions choose one, or throw
// AmbiguousResourceError or AmbiguousKindError with the candidates.
//
// Each lookup has two forms. `kindFor` and its like throw NoResourceMatchError or NoKindMatchError
// if there is no answer. `findKind` and its like return nothing then, for callers that expect it
// (above all composed mappers, which so avoid exceptions). A mapper implements the latter. A
// resource without a name is an Error in both.
//
// The mappers: DefaultRestMapper (kinds added one by one), StaticRestMapper (from tables or from a
// server's discovery), DeferredRestMapper (discovery on demand), ShortcutExpander ("deploy"), and
// MultiRestMapper, FirstHitRestMapper and PriorityRestMapper, which combine other mappers.
//
// Thread safety: lookups may be made from any thread at any time.
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

/// The place of a resource's objects: in namespaces, or outside of them.
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

/// Versions in order of preference: {"v1", "v1beta1"}. A view, for use as an argument.
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
  /// The preferred mapping of a kind, in the first of these versions that exists.
  RestMapping restMapping(const GroupKind& kind, VersionList versions = {}) const;
  /// All mappings of a kind, or those in these versions.
  std::vector<RestMapping> restMappings(const GroupKind& kind, VersionList versions = {}) const;
  /// Returns "pod" for "pods" and for "pod".
  String resourceSingularizer(std::string_view resource) const;

  /// The same; they return nothing if there is no answer.
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

  /// Forgets everything that can be fetched again, so that the next lookup fetches it.
  virtual void reset() const {}

 protected:
  RestMapper() = default;
  RestMapper(const RestMapper&) = default;
  RestMapper& operator=(const RestMapper&) = default;
};

/// The form in which composed mappers hold others.
using RestMapperPtr = std::shared_ptr<const RestMapper>;

/// For a mapper that outlives everything that uses the pointer, such as builtInRestMapper().
RestMapperPtr borrowed(const RestMapper& mapper);

/// Resolves a user's "pods", "deploy", "deployments.apps", "deployments.v1.apps" or
/// "Deployment.v1.apps": a resource if there is one, else a kind. Throws NoResourceMatchError, or
/// the mapper's exception if there are several.
RestMapping mappingFor(const RestMapper& mapper, std::string_view resourceOrKind);

// --- Errors --------------------------------------------------------------------------------------

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
  /// Empty if any version was acceptable.
  const List<String>& searchedVersions() const noexcept { return versions_; }

 private:
  GroupKind kind_;
  List<String> versions_;
};

/// The name of several resources; `matchingResources` or `matchingKinds` lists them.
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

/// True for NoResourceMatchError and NoKindMatchError.
bool isNoMatch(const std::exception& error) noexcept;
/// True for AmbiguousResourceError and AmbiguousKindError.
bool isAmbiguous(const std::exception& error) noexcept;

}  // namespace kube
