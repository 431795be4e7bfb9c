// Adds finalizers to an object on the server, and removes them. kube/meta/finalizers.h has the same
// for objects in memory.
//
//   if (!network.metadata.deletionTimestamp) {
//     ensureFinalizer(networks, network, "example.com/routes");
//   } else if (containsFinalizer(network, "example.com/routes")) {
//     removeRoutes(network);
//     removeFinalizer(networks, network, "example.com/routes");   // now the object can be deleted
//   }
//
// Only the finalizers are sent. If another client has changed the object meanwhile, it is read
// again and the change is retried, so that no finalizers of others are lost; the variable then
// holds the newer object. A newer object with the same name is left alone, because the meant object
// is gone.
//
// With an awaitable client they are tasks; the variable outlives them.
//
// Thread safety: that of the client.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "kube/base/task.h"
#include "kube/client/async_resource_client.h"
#include "kube/client/resource_client.h"
#include "kube/client/retry.h"
#include "kube/codec/patch/patch.h"
#include "kube/controller/write_options.h"
#include "kube/meta/api_error.h"
#include "kube/meta/finalizers.h"
#include "kube/meta/internal/object_access.h"

namespace kube {

namespace detail {

/// Sends a change of an object's finalizers; `change` returns false if nothing is to be changed.
template <Described T, class Change>
Task<bool> changeFinalizers(AsyncResourceClient<T> client, T& object, Change change) {
  const AsyncResourceClient<T> home =
      client.namespaceName().empty() ? client.inNamespace(namespaceOf(object)) : client;
  bool first = true;
  const auto attempt = [&]() -> Task<bool> {
    if (!std::exchange(first, false)) {
      T current = co_await home.get(nameOf(object));
      if (const String uid = uidOf(object); !uid.empty() && uidOf(current) != uid) {
        throw ApiError(status::notFound({home.resource().version.group, home.resource().plural},
                                        nameOf(object)));
      }
      object = std::move(current);
    }
    T wanted = object;
    if (!change(wanted)) co_return false;
    const MergePatchOptions lock{.optimisticLock = !resourceVersionOf(object).empty()};
    const MergePatch patch = mergeFrom(object, wanted, lock);
    object = co_await home.patch(nameOf(object), patch);
    co_return true;
  };
  co_return co_await retryOnConflict(attempt);
}

template <Described T>
Task<bool> removeFinalizersTask(AsyncResourceClient<T> client, T& object, List<String> finalizers) {
  const auto remove = [&](T& changed) {
    bool any = false;
    for (const String& finalizer : finalizers) any |= kube::removeFinalizer(changed, finalizer);
    return any;
  };
  try {
    co_return co_await changeFinalizers(client, object, remove);
  } catch (const ApiError& error) {
    if (!isNotFound(error)) throw;
  }
  co_return false;
}

}  // namespace detail

/// Returns whether the finalizer was added: false if the object had it already.
template <Described T>
Task<bool> ensureFinalizer(const AsyncResourceClient<T>& client, T& object,
                           std::string_view finalizer,
                           const WriteOptions& options = WriteOptions()) {
  return detail::changeFinalizers(
      client.with(options.defaults()), object,
      [name = std::string(finalizer)](T& changed) { return addFinalizer(changed, name); });
}
template <Described T>
bool ensureFinalizer(const ResourceClient<T>& client, T& object, std::string_view finalizer,
                     const WriteOptions& options, const std::stop_token& stop = {}) {
  return detail::runBlocking(ensureFinalizer(client.async(), object, finalizer, options), stop);
}
template <Described T>
bool ensureFinalizer(const ResourceClient<T>& client, T& object, std::string_view finalizer,
                     const std::stop_token& stop = {}) {
  return ensureFinalizer(client, object, finalizer, WriteOptions(), stop);
}

/// Returns whether the finalizer was removed: false if the object had none, or is gone.
template <Described T>
Task<bool> removeFinalizer(const AsyncResourceClient<T>& client, T& object,
                           std::string_view finalizer,
                           const WriteOptions& options = WriteOptions()) {
  return detail::removeFinalizersTask(client.with(options.defaults()), object, {finalizer});
}
template <Described T>
bool removeFinalizer(const ResourceClient<T>& client, T& object, std::string_view finalizer,
                     const WriteOptions& options, const std::stop_token& stop = {}) {
  return detail::runBlocking(removeFinalizer(client.async(), object, finalizer, options), stop);
}
template <Described T>
bool removeFinalizer(const ResourceClient<T>& client, T& object, std::string_view finalizer,
                     const std::stop_token& stop = {}) {
  return removeFinalizer(client, object, finalizer, WriteOptions(), stop);
}

}  // namespace kube
