// Short names and categories: "deploy" for deployments.apps, "all" for a list of resources.
//
//   auto names = std::make_shared<const ShortNames>(types);
//   ShortcutExpander mapper(delegate, names, [](const std::string& text) { warn(text); });
//   mapper.kindFor({.resource = "deploy"});             // apps/v1, Kind=Deployment
//
//   SimpleCategoryExpander categories(types);
//   categories.expand("all");                           // pods, services, deployments.apps, ...
//
// Where a short name is several resources', the preferred one's is meant, and the warning handler
// is told of the others. What is a resource's full name is never expanded.
//
// Thread safety: any thread may ask at any time; the warning handler is called on that thread.
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

/// Told that a name may have been meant differently.
using NameWarningHandler = std::function<void(const std::string& warning)>;

/// The short names of a set of resources.
class ShortNames {
 public:
  ShortNames() = default;
  explicit ShortNames(std::span<const TypeInfo* const> types,
                      std::span<const std::string_view> groups = {});
  explicit ShortNames(std::span<const ApiGroupResources> groups);

  /// The resource with its full name and group, if its name is a short one; else as it was. A group
  /// may be shortened to its beginning. The version stays.
  GroupVersionResource expand(const GroupVersionResource& partial,
                              const NameWarningHandler& warn = {}) const;

 private:
  void addName(std::string_view group, std::string_view name);
  void addShortName(std::string_view group, std::string_view shortName, std::string_view resource);

  detail::StringMap<std::vector<String>> groupsOf_;            // by plural and singular
  detail::StringMap<std::vector<GroupResource>> resourcesOf_;  // by short name, preferred first
};

/// A RestMapper that understands short names; the rest is up to another one.
class ShortcutExpander final : public RestMapper {
 public:
  ShortcutExpander(RestMapperPtr mapper, std::shared_ptr<const ShortNames> names,
                   NameWarningHandler warn = {});
  /// With names that change: `names` is called for each question, and never gives null. What it
  /// throws, the question throws.
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
  /// What current releases no longer serve is in no category.
  explicit SimpleCategoryExpander(std::span<const TypeInfo* const> types,
                                  std::span<const std::string_view> groups = {});
  explicit SimpleCategoryExpander(std::span<const ApiGroupResources> groups);

  /// Once only, however often it is added.
  void add(std::string_view category, GroupResource resource);
  std::optional<std::vector<GroupResource>> expand(std::string_view category) const override;

 private:
  detail::StringMap<std::vector<GroupResource>> resourcesOf_;
};

/// What any of several expanders knows, each resource once.
class UnionCategoryExpander final : public CategoryExpander {
 public:
  explicit UnionCategoryExpander(std::vector<std::shared_ptr<const CategoryExpander>> expanders)
      : expanders_(std::move(expanders)) {}

  std::optional<std::vector<GroupResource>> expand(std::string_view category) const override;

 private:
  std::vector<std::shared_ptr<const CategoryExpander>> expanders_;
};

}  // namespace kube
