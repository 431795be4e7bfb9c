// The source of a Reflector's objects: a function that lists, and a function that watches.
//
//   auto pods = kube::ListWatch<Pod>::fromClient(clients.coreV1().pods("book"));
//   auto some = kube::ListWatch<Pod>::fromClient(clients.coreV1().pods(),
//                                                {.labelSelector = "app=web"});
//
// Usually both use a client. A program may also supply functions of its own, to watch something
// else or for tests. They report errors by exceptions: ApiError for an answer of the server,
// TransportError for a failed connection, or any other.
//
// Thread safety: a reflector calls them from one thread at a time.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "kube/base/pool.h"
#include "kube/cache/internal/client_source.h"
#include "kube/cache/internal/object_access.h"
#include "kube/client/resource_client.h"
#include "kube/codec/stream.h"
#include "kube/meta/v1.h"

namespace kube {

/// A watch under way: blocks for the next event, and returns none when the watch has ended.
/// Destroying it ends the watch.
template <class T>
using EventSource = std::function<std::optional<WatchEvent<T>>()>;

template <Cacheable T>
struct ListWatch {
  /// Reads one page of a list: calls `use` for each item, and returns the list's metadata. Objects
  /// may be decoded through the pool, which lives as long as the reflector.
  std::function<metav1::ListMeta(const metav1::ListOptions& options,
                                 const std::function<void(T&&)>& use, const std::stop_token& stop,
                                 Pool& pool)>
      list;
  std::function<EventSource<T>(const metav1::ListOptions& options, const std::stop_token& stop,
                               Pool& pool)>
      watch;
  /// Returns whether the server's resourceVersion has reached `version`; true if that cannot be
  /// determined. False after a restore from a backup, when the server has begun another history.
  /// Optional.
  std::function<bool(const String& version, const std::stop_token& stop)> reached = {};

  /// Lists and watches the objects that a client sees. `tweak` may change the options of every
  /// request, to narrow it down. (`tweak` is no std::function: clang 14 then takes {.labelSelector
  /// = ...} for one, and fails.)
  template <std::invocable<metav1::ListOptions&> Tweak>
  static ListWatch fromClient(const ResourceClient<T>& resource, Tweak tweak) {
    return fromTweaked(resource, std::move(tweak));
  }
  /// Lists and watches the objects that the selectors of `which` select.
  static ListWatch fromClient(const ResourceClient<T>& client, metav1::ListOptions which = {}) {
    return fromTweaked(client, [which = std::move(which)](metav1::ListOptions& options) {
      options.labelSelector = which.labelSelector;
      options.fieldSelector = which.fieldSelector;
      options.shardSelector = which.shardSelector;
    });
  }
  /// Lists and watches a resource whose objects `T` can hold; without a namespace, those of all
  /// namespaces.
  static ListWatch fromClient(const RestClient& rest, const GroupVersionResource& resource,
                              String namespaceName = {}, String fieldSelector = {}) {
    return fromClient(
        ResourceClient<T>(rest,
                          ResourceName{{resource.group, resource.version}, resource.resource, {}},
                          std::move(namespaceName)),
        metav1::ListOptions{.fieldSelector = std::move(fieldSelector)});
  }

 private:
  static ListWatch fromTweaked(const ResourceClient<T>& resource,
                               std::function<void(metav1::ListOptions&)> tweak) {
    const auto queries =
        std::make_shared<const detail::ClientQueries>(resource.requests(), std::move(tweak));
    return {
        .list =
            [queries](const metav1::ListOptions& options, const std::function<void(T &&)>& use,
                      const std::stop_token& stop, Pool& pool) {
              return queries->list(options).template eachItem<T>(use, stop, &pool);
            },
        .watch = [queries](const metav1::ListOptions& options, const std::stop_token& stop,
                           Pool& pool) -> EventSource<T> {
          auto stream = std::make_shared<WatchStream<T>>(
              queries->watch(options).template watch<T>(stop, &pool));
          return [stream] { return stream->next(); };
        },
        .reached =
            [queries](const String& version, const std::stop_token& stop) {
              return detail::runBlocking(queries->hasReached(version), stop);
            },
    };
  }
};

}  // namespace kube
