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
// Thread safety: that of the client.
#pragma once

#include <stop_token>
#include <string_view>
#include <utility>

#include "kube/client/resource_client.h"
#include "kube/client/retry.h"
#include "kube/codec/patch/patch.h"
#include "kube/meta/api_error.h"
#include "kube/meta/finalizers.h"
#include "kube/meta/internal/object_access.h"

namespace kube {

namespace detail {

/// Sends a change of an object's finalizers; `change` returns false if nothing is to be changed.
template <Described T, class Change>
bool changeFinalizers(const ResourceClient<T>& client, T& object, Change change,
                      const std::stop_token& stop) {
  const ResourceClient<T> home =
      client.namespaceName().empty() ? client.inNamespace(namespaceOf(object)) : client;
  bool first = true;
  return retryOnConflict(
      [&] {
        if (!std::exchange(first, false)) {
          T current = home.get(nameOf(object), {}, stop);
          if (const String uid = uidOf(object); !uid.empty() && uidOf(current) != uid) {
            throw ApiError(status::notFound({home.resource().version.group, home.resource().plural},
                                            nameOf(object)));
          }
          object = std::move(current);
        }
        T wanted = object;
        if (!change(wanted)) return false;
        // A patch with a resourceVersion fails if the object has another one.
        T before = object;
        clearResourceVersion(before);
        object = home.patch(nameOf(object), mergePatchType<T>(),
                            createTwoWayMergePatch(before, wanted), {}, stop);
        return true;
      },
      stop);
}

}  // namespace detail

/// Returns whether the finalizer was added: false if the object had it already.
template <Described T>
bool ensureFinalizer(const ResourceClient<T>& client, T& object, std::string_view finalizer,
                     const std::stop_token& stop = {}) {
  return detail::changeFinalizers(
      client, object, [&](T& changed) { return addFinalizer(changed, finalizer); }, stop);
}

/// Returns whether the finalizer was removed: false if the object had none, or is gone.
template <Described T>
bool removeFinalizer(const ResourceClient<T>& client, T& object, std::string_view finalizer,
                     const std::stop_token& stop = {}) {
  try {
    return detail::changeFinalizers(
        client, object, [&](T& changed) { return removeFinalizer(changed, finalizer); }, stop);
  } catch (const ApiError& error) {
    if (!isNotFound(error)) throw;
    return false;
  }
}

}  // namespace kube
