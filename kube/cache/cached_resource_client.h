// A client for one kind of object that reads from a cache and writes to the server. CachedClient
// makes it, and its header says how reads and writes go together.
//
//   kube::CachedResourceClient<ConfigMap> maps = client.resource<ConfigMap>("book");
//   ConfigMap map = maps.get("settings");             // from the cache
//   map.data["color"] = "blue";
//   maps.update(map);                                 // to the server
//   maps.get("settings").data["color"];               // "blue"
//   for (const auto& one : maps.list({.labelSelector = "app=web"})) ...
//
// The verbs, options and errors are those of ResourceClient. In a cache, an object that does not
// exist is the same ApiError (isNotFound) as on the server. Lists are vectors of shared pointers to
// objects that cannot be changed, in no order; that costs no copies.
//
// Options that a cache cannot satisfy are sent to the server: a resourceVersion, a field selector,
// a limit.
//
// Thread safety: cheap, copyable handles; every method may be called from any thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/base/task.h"
#include "kube/cache/internal/cached_kind.h"
#include "kube/cache/store.h"
#include "kube/client/async_resource_client.h"
#include "kube/client/resource_client.h"
#include "kube/meta/api_error.h"
#include "kube/meta/selectors/label_selector.h"

namespace kube {

/// The awaitable form of a CachedResourceClient. A task has the stop token of its tree.
template <Cacheable T>
class AsyncCachedResourceClient {
 public:
  using Object = T;
  using Objects = std::vector<std::shared_ptr<const T>>;

  AsyncCachedResourceClient(std::shared_ptr<detail::CachedKind> kind, AsyncResourceClient<T> live)
      : kind_(std::move(kind)), live_(std::move(live)) {}

  AsyncCachedResourceClient inNamespace(String name) const {
    return AsyncCachedResourceClient(kind_, live_.inNamespace(std::move(name)));
  }
  /// The client that asks the server, also for reads. The cache knows nothing of its writes.
  const AsyncResourceClient<T>& live() const noexcept { return live_; }

  // ---- Reading.

  Task<T> get(std::string_view name, const metav1::GetOptions& options = {}) const {
    return getTask(kind_, live_, std::string(name), options);
  }
  /// Returns none if the object does not exist.
  Task<std::optional<T>> find(std::string_view name, const metav1::GetOptions& options = {}) const {
    return findTask(kind_, live_, std::string(name), options);
  }
  Task<Objects> list(const metav1::ListOptions& options = {}) const {
    return listTask(kind_, live_, options, {}, {});
  }
  /// The objects with this value in an index of the informer.
  Task<Objects> byIndex(std::string_view name, std::string_view value,
                        const metav1::ListOptions& options = {}) const {
    return listTask(kind_, live_, options, std::string(name), std::string(value));
  }

  // ---- Writing. Each function returns the object as the server has stored it.

  Task<T> create(T object, const metav1::CreateOptions& options = {}) const {
    return noted(live_.create(std::move(object), options), options);
  }
  Task<T> update(T object, const metav1::UpdateOptions& options = {}) const {
    return noted(live_.update(std::move(object), options), options);
  }
  Task<T> updateStatus(T object, const metav1::UpdateOptions& options = {}) const {
    return noted(live_.updateStatus(std::move(object), options), options);
  }
  Task<T> patch(std::string_view name, PatchType type, std::string patch,
                const metav1::PatchOptions& options = {}, std::string_view subresource = {}) const {
    auto task = live_.patch(name, type, std::move(patch), options, subresource);
    const bool whole = subresource.empty() || subresource == "status";
    return whole ? noted(std::move(task), options) : notedPart(std::move(task), options);
  }
  Task<T> apply(const T& object, const metav1::ApplyOptions& options) const {
    return noted(live_.apply(object, options), options);
  }
  Task<T> apply(const Apply<T>& wanted, const metav1::ApplyOptions& options) const {
    return noted(live_.apply(wanted, options), options);
  }
  Task<T> applyStatus(const T& object, const metav1::ApplyOptions& options) const {
    return noted(live_.applyStatus(object, options), options);
  }
  Task<T> applyStatus(const Apply<T>& wanted, const metav1::ApplyOptions& options) const {
    return noted(live_.applyStatus(wanted, options), options);
  }

  // ---- Deleting.

  Task<void> remove(std::string_view name, const metav1::DeleteOptions& options = {}) const {
    return detail::CachedKind::remove(kind_, live_.requests(), std::string(name), options);
  }
  Task<void> removeCollection(const metav1::DeleteOptions& options = {},
                              const metav1::ListOptions& which = {}) const {
    return removeCollectionTask(kind_, live_.removeCollection(options, which),
                                options.dryRun.empty());
  }

  // ---- Subresources.

  template <Described Body>
  Task<Body> getSubresource(std::string_view name, std::string_view subresource,
                            const metav1::GetOptions& options = {}) const {
    return live_.template getSubresource<Body>(name, subresource, options);
  }
  template <Described Answer, Described Body>
  Task<Answer> createSubresource(std::string_view name, std::string_view subresource, Body body,
                                 const metav1::CreateOptions& options = {}) const {
    return notedPart(
        live_.template createSubresource<Answer>(name, subresource, std::move(body), options),
        options);
  }
  template <Described Answer, Described Body>
  Task<Answer> updateSubresource(std::string_view name, std::string_view subresource, Body body,
                                 const metav1::UpdateOptions& options = {}) const {
    return notedPart(
        live_.template updateSubresource<Answer>(name, subresource, std::move(body), options),
        options);
  }

  const ResourceName& resource() const noexcept { return live_.resource(); }
  const String& namespaceName() const noexcept { return live_.namespaceName(); }

 private:
  template <Cacheable U>
  friend class CachedResourceClient;
  using Kind = std::shared_ptr<detail::CachedKind>;

  static const T& typed(const detail::CachedKind::Object& object) {
    return *static_cast<const T*>(object.get());
  }
  static Task<detail::CachedKind::Read> read(Kind kind, const AsyncResourceClient<T>& live,
                                             const std::string& name,
                                             const metav1::GetOptions& options) {
    if (!options.resourceVersion.empty()) co_return std::nullopt;
    detail::CachedKind::Read read = kind->tryFind(live.requests(), name);
    if (read) co_return read;
    co_return co_await detail::CachedKind::find(kind, live.requests(), name);
  }
  static Task<T> getTask(Kind kind, AsyncResourceClient<T> live, std::string name,
                         metav1::GetOptions options) {
    const auto cached = co_await read(kind, live, name, options);
    if (!cached) co_return co_await live.get(name, options);
    co_return existing(live, name, *cached);
  }
  static Task<std::optional<T>> findTask(Kind kind, AsyncResourceClient<T> live, std::string name,
                                         metav1::GetOptions options) {
    const auto cached = co_await read(kind, live, name, options);
    if (!cached) co_return co_await live.find(name, options);
    co_return *cached != nullptr ? std::optional<T>(typed(*cached)) : std::nullopt;
  }
  static const T& existing(const AsyncResourceClient<T>& live, std::string_view name,
                           const detail::CachedKind::Object& object) {
    if (object != nullptr) return typed(object);
    const ResourceName& resource = live.resource();
    throw ApiError(status::notFound({resource.version.group, resource.plural}, name),
                   live.requests().get(name).doing());
  }

  // None if only the server can tell.
  static std::optional<labels::Selector> selectorOf(metav1::ListOptions options) {
    const String labels = std::exchange(options.labelSelector, String());
    if (!(options == metav1::ListOptions{})) return std::nullopt;
    return labels.empty() ? labels::Selector() : labels::Selector::parse(labels);
  }
  static Task<Objects> listTask(Kind kind, AsyncResourceClient<T> live, metav1::ListOptions options,
                                std::string index, std::string value) {
    const auto selector = selectorOf(options);
    const labels::Selector everything;
    const detail::Which which{live.namespaceName(), selector ? *selector : everything, index,
                              value};
    if (selector) {
      auto now = kind->template tryList<T>(live.requests(), which);
      if (now) co_return std::move(*now);
      auto all = co_await detail::CachedKind::list(kind, live.requests(), which);
      if (all) co_return detail::typedObjects<T>(std::move(*all));
    }
    Objects objects;
    std::function<void(T &&)> use = [&](T&& object) {
      if (!index.empty() && !kind->hasIndexValue(live.requests(), which, &object)) return;
      objects.push_back(std::make_shared<const T>(std::move(object)));
    };
    co_await live.eachItem(use, options);
    co_return objects;
  }

  template <class Options>
  Task<T> noted(Task<T> write, const Options& options) const {
    return options.dryRun.empty() ? notedTask(kind_, std::move(write)) : std::move(write);
  }
  static Task<T> notedTask(Kind kind, Task<T> write) {
    T object = co_await std::move(write);
    kind->wrote(std::make_shared<const T>(object));
    co_return object;
  }
  // For answers that are not the object.
  template <class Answer, class Options>
  Task<Answer> notedPart(Task<Answer> write, const Options& options) const {
    return options.dryRun.empty() ? notedPartTask(kind_, std::move(write)) : std::move(write);
  }
  template <class Answer>
  static Task<Answer> notedPartTask(Kind kind, Task<Answer> write) {
    Answer answer = co_await std::move(write);
    if constexpr (detail::ObjectWithMetadata<Answer>) {
      kind->wroteAt(detail::resourceVersionOf(answer));
    } else {
      kind->wroteSomething();
    }
    co_return answer;
  }
  static Task<void> removeCollectionTask(Kind kind, Task<void> removal, bool noted) {
    co_await std::move(removal);
    if (noted) kind->wroteSomething();
  }

  Kind kind_;
  AsyncResourceClient<T> live_;
};

template <Cacheable T>
class CachedResourceClient {
 public:
  using Object = T;
  using Objects = std::vector<std::shared_ptr<const T>>;

  CachedResourceClient(std::shared_ptr<detail::CachedKind> kind, ResourceClient<T> live)
      : async_(std::move(kind), live.async()), live_(std::move(live)) {}

  CachedResourceClient inNamespace(String name) const {
    return CachedResourceClient(async_.kind_, live_.inNamespace(std::move(name)));
  }
  /// The client that asks the server, also for reads. The cache knows nothing of its writes.
  const ResourceClient<T>& live() const noexcept { return live_; }
  /// The awaitable form of this client.
  const AsyncCachedResourceClient<T>& async() const noexcept { return async_; }

  // ---- Reading.

  T get(std::string_view name, const metav1::GetOptions& options = {},
        const std::stop_token& stop = {}) const {
    if (const auto now = tryFind(name, options)) return async_.existing(async_.live_, name, *now);
    return detail::runBlocking(async_.get(name, options), stop);
  }
  /// Returns none if the object does not exist.
  std::optional<T> find(std::string_view name, const metav1::GetOptions& options = {},
                        const std::stop_token& stop = {}) const {
    if (const auto now = tryFind(name, options)) {
      return *now != nullptr ? std::optional<T>(async_.typed(*now)) : std::nullopt;
    }
    return detail::runBlocking(async_.find(name, options), stop);
  }
  Objects list(const metav1::ListOptions& options = {}, const std::stop_token& stop = {}) const {
    return detail::runBlocking(async_.list(options), stop);
  }
  /// The objects with this value in an index of the informer. Throws Error if there is no such
  /// index.
  Objects byIndex(std::string_view name, std::string_view value,
                  const metav1::ListOptions& options = {}, const std::stop_token& stop = {}) const {
    return detail::runBlocking(async_.byIndex(name, value, options), stop);
  }

  // ---- Writing. Each function returns the object as the server has stored it.

  T create(const T& object, const metav1::CreateOptions& options = {},
           const std::stop_token& stop = {}) const {
    return detail::runBlocking(async_.create(object, options), stop);
  }
  T update(const T& object, const metav1::UpdateOptions& options = {},
           const std::stop_token& stop = {}) const {
    return detail::runBlocking(async_.update(object, options), stop);
  }
  T updateStatus(const T& object, const metav1::UpdateOptions& options = {},
                 const std::stop_token& stop = {}) const {
    return detail::runBlocking(async_.updateStatus(object, options), stop);
  }
  T patch(std::string_view name, PatchType type, std::string patch,
          const metav1::PatchOptions& options = {}, const std::stop_token& stop = {},
          std::string_view subresource = {}) const {
    return detail::runBlocking(async_.patch(name, type, std::move(patch), options, subresource),
                               stop);
  }
  /// See ResourceClient::apply().
  template <class Wanted>
  T apply(const Wanted& wanted, const metav1::ApplyOptions& options,
          const std::stop_token& stop = {}) const {
    return detail::runBlocking(async_.apply(wanted, options), stop);
  }
  template <class Wanted>
  T applyStatus(const Wanted& wanted, const metav1::ApplyOptions& options,
                const std::stop_token& stop = {}) const {
    return detail::runBlocking(async_.applyStatus(wanted, options), stop);
  }

  // ---- Deleting.

  void remove(std::string_view name, const metav1::DeleteOptions& options = {},
              const std::stop_token& stop = {}) const {
    detail::runBlocking(async_.remove(name, options), stop);
  }
  void removeCollection(const metav1::DeleteOptions& options = {},
                        const metav1::ListOptions& which = {},
                        const std::stop_token& stop = {}) const {
    detail::runBlocking(async_.removeCollection(options, which), stop);
  }

  // ---- Subresources.

  template <Described Body>
  Body getSubresource(std::string_view name, std::string_view subresource,
                      const metav1::GetOptions& options = {},
                      const std::stop_token& stop = {}) const {
    return live_.template getSubresource<Body>(name, subresource, options, stop);
  }
  template <Described Answer, Described Body>
  Answer createSubresource(std::string_view name, std::string_view subresource, const Body& body,
                           const metav1::CreateOptions& options = {},
                           const std::stop_token& stop = {}) const {
    return detail::runBlocking(
        async_.template createSubresource<Answer>(name, subresource, body, options), stop);
  }
  template <Described Answer, Described Body>
  Answer updateSubresource(std::string_view name, std::string_view subresource, const Body& body,
                           const metav1::UpdateOptions& options = {},
                           const std::stop_token& stop = {}) const {
    return detail::runBlocking(
        async_.template updateSubresource<Answer>(name, subresource, body, options), stop);
  }

  const ResourceName& resource() const noexcept { return live_.resource(); }
  const String& namespaceName() const noexcept { return live_.namespaceName(); }

 private:
  // Most reads need no coroutine.
  detail::CachedKind::Read tryFind(std::string_view name, const metav1::GetOptions& options) const {
    if (!options.resourceVersion.empty()) return std::nullopt;
    return async_.kind_->tryFind(live_.requests(), name);
  }

  AsyncCachedResourceClient<T> async_;
  ResourceClient<T> live_;
};

}  // namespace kube
