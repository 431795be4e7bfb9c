// Short names and categories: "deploy" for deployments.apps, "all" for a list of resources.
//
//   auto names = std::make_shared<const ShortNames>(types);
//   ShortcutExpander mapper(delegate, names, [](const std::string& text) { warn(text); });
//   mapper.kindFor({.resource = "deploy"});             // apps/v1, Kind=Deployment
//
//   SimpleCategoryExpander categories(types);
//   categories.expand("all");                           // pods, services, deployments.apps, ...
//
// If several resources have the same short name, the preferred one is chosen, and the warning
// handler gets the others. The full name of a resource is never expanded.
//
// Thread safety: lookups may be made from any thread at any time; the warning handler is called on
// that thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kube/meta/mapping/internal/rest_index.h"
#include "kube/meta/mapping/rest_mapper.h"
#include "kube/meta/mapping/static_rest_mapper.h"
#include "kube/meta/type_info.h"

namespace kube {

/// Called if a name has other possible meanings.
using NameWarningHandler = std::function<void(const std::string& warning)>;

/// The short names of a set of resources.
class ShortNames {
 public:
  ShortNames() = default;
  explicit ShortNames(std::span<const TypeInfo* const> types,
                      std::span<const std::string_view> groups = {});
  explicit ShortNames(std::span<const ApiGroupResources> groups);

  /// Returns the resource with its full name and group if its name is a short one; else returns it
  /// unchanged. A group may be shortened to its beginning. The version stays.
  GroupVersionResource expand(const GroupVersionResource& partial,
                              const NameWarningHandler& warn = {}) const;

 private:
  void addName(std::string_view group, std::string_view name);
  void addShortName(std::string_view group, std::string_view shortName, std::string_view resource);

  detail::StringMap<std::vector<String>> groupsOf_;            // by plural and singular
  detail::StringMap<std::vector<GroupResource>> resourcesOf_;  // by short name, preferred first
};

/// A RestMapper that expands short names, and leaves the lookup to another mapper.
class ShortcutExpander final : public RestMapper {
 public:
  ShortcutExpander(RestMapperPtr mapper, std::shared_ptr<const ShortNames> names,
                   NameWarningHandler warn = {});
  /// For names that change: `names` is called in each lookup, and never returns null. A lookup
  /// passes on its exceptions.
  ShortcutExpander(RestMapperPtr mapper, std::function<std::shared_ptr<const ShortNames>()> names,
                   NameWarningHandler warn = {});

  std::optional<GroupVersionKind> findKind(const GroupVersionResource& partial) const override;
  std::vector<GroupVersionKind> findKinds(const GroupVersionResource& partial) const override;
  std::optional<GroupVersionResource> findResource(
      const GroupVersionResource& partial) const override;
  std::vector<GroupVersionResource> findResources(
      const GroupVersionResource& partial) const override;
  std::optional<RestMapping> findMapping(const GroupKind& kind,
                                         VersionList versions) const override;
  std::vector<RestMapping> findMappings(const GroupKind& kind, VersionList versions) const override;
  std::optional<String> findSingular(std::string_view resource) const override;
  void reset() const override { mapper_->reset(); }

 private:
  template <class Ask>
  auto expanded(const GroupVersionResource& partial, Ask ask) const;

  RestMapperPtr mapper_;
  std::function<std::shared_ptr<const ShortNames>()> names_;
  NameWarningHandler warn_;
};

class CategoryExpander {
 public:
  virtual ~CategoryExpander();
  /// The category's resources, or nothing if there is no such category.
  virtual std::optional<std::vector<GroupResource>> expand(std::string_view category) const = 0;
};

class SimpleCategoryExpander final : public CategoryExpander {
 public:
  SimpleCategoryExpander() = default;
  /// Skips resources that current releases no longer serve.
  explicit SimpleCategoryExpander(std::span<const TypeInfo* const> types,
                                  std::span<const std::string_view> groups = {});
  explicit SimpleCategoryExpander(std::span<const ApiGroupResources> groups);

  /// Adds a resource once, however often this is called.
  void add(std::string_view category, GroupResource resource);
  std::optional<std::vector<GroupResource>> expand(std::string_view category) const override;

 private:
  detail::StringMap<std::vector<GroupResource>> resourcesOf_;
};

/// The union of several expanders, with each resource once.
class UnionCategoryExpander final : public CategoryExpander {
 public:
  explicit UnionCategoryExpander(std::vector<std::shared_ptr<const CategoryExpander>> expanders)
      : expanders_(std::move(expanders)) {}

  std::optional<std::vector<GroupResource>> expand(std::string_view category) const override;

 private:
  std::vector<std::shared_ptr<const CategoryExpander>> expanders_;
};

}  // namespace kube
