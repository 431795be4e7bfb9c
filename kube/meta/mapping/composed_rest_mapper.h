// RestMappers that combine other mappers.
//
//   const std::vector<RestMapperPtr> both = {borrowed(builtInRestMapper()), custom};
//   FirstHitRestMapper first(both);                     // the first that knows a resource decides
//   auto all = std::make_shared<const MultiRestMapper>(both);     // ambiguous if both know it
//   PriorityRestMapper chosen(all, {{"apps", "*", "*"}}, {{"apps", "*", "*"}});
//
// A mapper that does not know a name is skipped. A mapper that fails otherwise (for example because
// its server cannot be reached) is skipped if another mapper's answer is enough; else its exception
// is rethrown, or an Error with all messages if several failed.
//
// Thread safety: lookups may be made from any thread at any time. reset() resets the combined
// mappers.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "kube/meta/mapping/rest_mapper.h"

namespace kube {

/// Returns the answers of all mappers.
class MultiRestMapper : public RestMapper {
 public:
  explicit MultiRestMapper(std::vector<RestMapperPtr> mappers) : mappers_(std::move(mappers)) {}

  std::vector<GroupVersionKind> findKinds(const GroupVersionResource& partial) const override;
  std::vector<GroupVersionResource> findResources(
      const GroupVersionResource& partial) const override;
  /// Ambiguous if more than one mapper has a mapping.
  std::optional<RestMapping> findMapping(const GroupKind& kind,
                                         VersionList versions) const override;
  std::vector<RestMapping> findMappings(const GroupKind& kind, VersionList versions) const override;
  /// The answer of the first mapper that has one.
  std::optional<String> findSingular(std::string_view resource) const override;
  void reset() const override;

 protected:
  const std::vector<RestMapperPtr>& mappers() const noexcept { return mappers_; }

 private:
  std::vector<RestMapperPtr> mappers_;
};

/// For lookups of a single answer, the first mapper that has one decides; else as MultiRestMapper.
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
/// match, until one is left; a pattern that no answer matches is skipped. "*" matches everything.
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
  /// Requested versions precede all patterns, in their order.
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
