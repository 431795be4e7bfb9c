// A RestMapper that fetches a server's resources when they are first needed, and once more if a
// resource is not found and the known resources may be out of date.
//
//   auto mapper = std::make_shared<const DeferredRestMapper>(source);   // a DiscoverySource
//   ShortcutExpander named(mapper, [mapper] { return mapper->snapshot()->shortNames; });
//   named.kindFor({.resource = "networks"});   // fetches; the next lookup does not
//
// A lookup passes on exceptions of the source; the next lookup tries again. lookUp() is the
// awaitable form of every lookup.
//
// Thread safety: lookups may be made from any thread at any time. If several threads or tasks need
// a fetch, one fetches and the others wait for the result. No lock is held meanwhile. A source must
// not use the mapper that waits for it.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "kube/base/internal/shared_fetch.h"
#include "kube/base/task.h"
#include "kube/meta/mapping/rest_mapper.h"
#include "kube/meta/mapping/shortcut_expander.h"
#include "kube/meta/mapping/static_rest_mapper.h"

namespace kube {

/// The source of a server's resources, usually a discovery client with a cache. Its members may be
/// called on any thread, even at the same time.
class DiscoverySource {
 public:
  virtual ~DiscoverySource();

  /// Returns the groups in the server's order of preference. May use a cache. The source outlives
  /// the task.
  virtual Task<std::vector<ApiGroupResources>> fetch() = 0;
  /// True if everything fetched since the start, or since the last invalidate(), came from the
  /// server itself: fetching again would not help.
  virtual bool fresh() = 0;
  /// Makes the next fetch() ask the server.
  virtual void invalidate() = 0;
};

/// The result of one fetch.
struct DiscoverySnapshot {
  std::shared_ptr<const StaticRestMapper> mapper;
  std::shared_ptr<const ShortNames> shortNames;
  std::shared_ptr<const SimpleCategoryExpander> categories;

  explicit DiscoverySnapshot(std::span<const ApiGroupResources> groups);
};

class DeferredRestMapper final : public RestMapper {
 public:
  using Snapshot = std::shared_ptr<const DiscoverySnapshot>;

  explicit DeferredRestMapper(std::shared_ptr<DiscoverySource> source);

  /// The known snapshot; fetches one if there is none.
  Snapshot snapshot() const;
  Task<Snapshot> snapshotAsync() const;

  /// Returns the answer of a function to the known snapshot. If that is empty (an optional, a
  /// container), or the function throws because there is no match (isNoMatch), it is asked again
  /// with a newer snapshot, unless the known one is fresh. The mapper outlives the task.
  template <class Look>
  Task<std::invoke_result_t<Look&, const DiscoverySnapshot&>> lookUp(Look look) const {
    using Answer = std::invoke_result_t<Look&, const DiscoverySnapshot&>;
    const Snapshot known = co_await snapshotAsync();
    std::optional<Answer> answer;
    std::exception_ptr noMatch;
    try {
      answer.emplace(look(*known));
    } catch (const Error& error) {
      if (!isNoMatch(error)) throw;
      noMatch = std::current_exception();
    }
    if (answer && !isEmpty(*answer)) co_return *std::move(answer);
    const Snapshot newer = co_await newerThan(known);
    if (newer != nullptr) co_return look(*newer);
    if (noMatch) std::rethrow_exception(noMatch);
    co_return *std::move(answer);
  }

  /// Also invalidates the source.
  void reset() const override;

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

 private:
  template <class Answer>
  static bool isEmpty(const Answer& answer) {
    if constexpr (requires { answer.has_value(); }) {
      return !answer.has_value();
    } else if constexpr (requires { answer.empty(); }) {
      return answer.empty();
    } else {
      return false;
    }
  }
  /// Asks the mapper of the snapshots.
  template <class Ask>
  auto asked(Ask ask) const;
  /// A snapshot other than `old`, which lacks something; null if fetching would not help.
  Task<Snapshot> newerThan(Snapshot old) const;

  std::shared_ptr<DiscoverySource> source_;
  mutable SharedFetch<DiscoverySnapshot> known_;
};

}  // namespace kube
