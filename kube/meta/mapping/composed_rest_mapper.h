// RestMappers that are made of others.
//
//   const std::vector<RestMapperPtr> both = {borrowed(builtInRestMapper()), custom};
//   FirstHitRestMapper first(both);                     // the first that knows a resource decides
//   auto all = std::make_shared<const MultiRestMapper>(both);     // ambiguous where both know it
//   PriorityRestMapper chosen(all, {{"apps", "*", "*"}}, {{"apps", "*", "*"}});
//
// A mapper that knows nothing of a name is passed over. One that fails otherwise (its server cannot
// be reached, say) is passed over where another one's answer is enough; else what it threw is
// thrown again, or an Error with all the messages if there were several.
//
// Thread safety: any thread may ask at any time. reset() resets the others.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "kube/meta/mapping/rest_mapper.h"

namespace kube {

/// The answers of all.
class MultiRestMapper : public RestMapper {
 public:
  explicit MultiRestMapper(std::vector<RestMapperPtr> mappers) : mappers_(std::move(mappers)) {}

  std::vector<GroupVersionKind> findKinds(const GroupVersionResource& partial) const override;
  std::vector<GroupVersionResource> findResources(
      const GroupVersionResource& partial) const override;
  /// Ambiguous if more than one mapper has one.
  std::optional<RestMapping> findMapping(const GroupKind& kind,
                                         VersionList versions) const override;
  std::vector<RestMapping> findMappings(const GroupKind& kind, VersionList versions) const override;
  /// The first one's that has any.
  std::optional<String> findSingular(std::string_view resource) const override;
  void reset() const override;

 protected:
  const std::vector<RestMapperPtr>& mappers() const noexcept { return mappers_; }

 private:
  std::vector<RestMapperPtr> mappers_;
};

/// Where one answer is wanted, the first mapper's that has one; else as MultiRestMapper.
class FirstHitRestMapper final : public MultiRestMapper {
 public:
  using MultiRestMapper::MultiRestMapper;

  std::optional<GroupVersionKind> findKind(const GroupVersionResource& partial) const override;
  std::optional<GroupVersionResource> findResource(
      const GroupVersionResource& partial) const override;
  std::optional<RestMapping> findMapping(const GroupKind& kind,
                                         VersionList versions) const override;
};

/// Chooses among several answers by patterns. Each pattern narrows the answers down to those that
/// fit it, until one is left; a pattern that none fits is skipped. "*" fits everything.
class PriorityRestMapper final : public RestMapper {
 public:
  PriorityRestMapper(RestMapperPtr mapper, std::vector<GroupVersionResource> resourcePriority,
                     std::vector<GroupVersionKind> kindPriority)
      : mapper_(std::move(mapper)),
        resourcePriority_(std::move(resourcePriority)),
        kindPriority_(std::move(kindPriority)) {}

  std::optional<GroupVersionKind> findKind(const GroupVersionResource& partial) const override;
  std::vector<GroupVersionKind> findKinds(const GroupVersionResource& partial) const override;
  std::optional<GroupVersionResource> findResource(
      const GroupVersionResource& partial) const override;
  std::vector<GroupVersionResource> findResources(
      const GroupVersionResource& partial) const override;
  /// Versions that are asked for come before all patterns, in their order.
  std::optional<RestMapping> findMapping(const GroupKind& kind,
                                         VersionList versions) const override;
  std::vector<RestMapping> findMappings(const GroupKind& kind, VersionList versions) const override;
  std::optional<String> findSingular(std::string_view resource) const override;
  void reset() const override { mapper_->reset(); }

 private:
  RestMapperPtr mapper_;
  std::vector<GroupVersionResource> resourcePriority_;
  std::vector<GroupVersionKind> kindPriority_;
};

}  // namespace kube
