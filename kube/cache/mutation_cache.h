// A cache with the program's own writes: shows objects that the program has written before the
// informer has received them.
//
//   kube::MutationCache<ConfigMap> maps(informer.lister());
//   maps.mutation(client.update(map));                 // as the server answered
//   auto map = maps.get({"book", "settings"});         // as written, or newer
//
// It is client-go's MutationCache, with deletions. A written object is shown until the store has
// reached its version, however the store got there: so an object that was written and then deleted
// by another client does not stay. In a store without versions, which the program fills, an object
// is shown until the store has it in that version, or `ttl` is over.
//
// CachedClient does all of this by itself, and asks the server where this cache forgets: when there
// are more than `maxEntries` objects that the store has not received, or after `ttl`.
//
// Thread safety: a cheap, copyable handle; every method may be called from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/base/clock.h"
#include "kube/cache/internal/own_writes.h"
#include "kube/cache/lister.h"

namespace kube {

struct MutationCacheOptions {
  /// The time for which an object is kept that the store does not receive.
  Clock::Duration ttl = std::chrono::minutes(5);
  std::size_t maxEntries = 4096;
  Clock* clock = nullptr;  // null: the real one
};

template <Cacheable T>
class MutationCache {
 public:
  using Object = std::shared_ptr<const T>;

  explicit MutationCache(Lister<T> below, const MutationCacheOptions& options = {})
      : below_(std::move(below)),
        own_(std::make_shared<detail::OwnWrites>(
            detail::kObjectType<T>, detail::OwnWrites::Options{.capacity = options.maxEntries,
                                                               .patience = options.ttl,
                                                               .clock = options.clock,
                                                               .forgets = true})) {}

  /// Notes an object that the program has written, as the server answered.
  void mutation(T written) const {
    own_->wrote(std::make_shared<const T>(std::move(written)), &store());
  }
  /// Notes an object that the program has deleted. One that is created under the same name has
  /// another uid, and is shown.
  void removed(const T& last) const {
    own_->removed({detail::namespaceOf(last), detail::nameOf(last)}, detail::uidOf(last),
                  detail::resourceVersionOf(last), &store());
  }

  /// The newer of the object in the store and the written one. Null if there is none.
  Object get(const ObjectKey& key) const {
    auto read = own_->find(store(), {key.namespace_, key.name});
    return std::static_pointer_cast<const T>(std::move(read.object));
  }
  /// In no order. An empty namespace means all.
  std::vector<Object> list(const labels::Selector& selector = {},
                           std::string_view namespaceName = {}) const {
    return list(detail::Which{namespaceName, selector});
  }
  /// The objects with a value in an index. Throws Error if there is no such index.
  std::vector<Object> byIndex(std::string_view name, std::string_view value,
                              const labels::Selector& selector = {}) const {
    return list(detail::Which{{}, selector, name, value});
  }
  /// The number of written and deleted objects that the store has not received.
  std::size_t pending() const { return own_->size(); }

 private:
  const detail::UntypedStore& store() const noexcept {
    return *detail::StoreAccess::untyped<T>(&below_.store());
  }
  std::vector<Object> list(const detail::Which& which) const {
    return detail::typedObjects<T>(*own_->list(store(), which));
  }

  Lister<T> below_;
  std::shared_ptr<detail::OwnWrites> own_;
};

}  // namespace kube
