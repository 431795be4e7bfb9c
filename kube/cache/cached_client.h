// A client that reads from informers' caches and writes to the server, and whose reads show its own
// writes.
//
//   kube::CachedClient client(clients, factory);        // or manager.client()
//   const auto maps = client.resource<ConfigMap>("book");
//   ConfigMap map = maps.get("settings");               // from the cache: no request
//   map.data["color"] = "blue";
//   maps.update(map);                                   // to the server
//   maps.get("settings");                               // blue, although the watch may lag behind
//   maps.live().get("settings");                        // from the server
//
// Reads: from the informer of the kind, which the first read makes if there is none, or from the
// server, by the ReadPolicy of the kind. The server is also asked while the factory does not run,
// while an informer has not synced in time, for namespaces that the factory does not cover, and
// with options that a cache cannot satisfy. A cache may lag behind the writes of other clients.
//
// Own writes: after a call that has written has returned, every read through this client or a copy
// shows an object in the written version or a newer one, and in lists as well. A deleted object is
// gone; one that is deleted with finalizers has its deletionTimestamp; one that is created again
// under the same name is another object. Reads do not wait for this: until the informer has
// received a write, its result is laid over the cache. So it holds while the watch is broken, too.
// If the informer has not received the writes of several minutes, or thousands of objects, reads
// ask the server until it has. A write that fails with a TransportError or a TimeoutError may have
// happened or not, and is not shown before the informer has received it.
//
// The transform of an informer is not applied to an own write that is laid over the cache.
//
// Performance: a read takes about as long as one of a Lister, plus the copy of the object. While
// own writes are on their way back, reads of that kind take turns.
//
// Thread safety: a cheap, copyable handle; every method may be called from any thread, except that
// a handler of an informer must not be the first to read a kind. The factory outlives the client
// and its calls.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>

#include "kube/cache/cached_client_options.h"
#include "kube/cache/cached_resource_client.h"
#include "kube/cache/shared_informer_factory.h"
#include "kube/client/clientset.h"
#include "kube/client/dynamic_client.h"
#include "kube/meta/gvk.h"
#include "kube/meta/mapping/rest_mapper.h"
#include "kube/meta/object_key.h"
#include "kube/rest/rest_client.h"

namespace kube {

class CachedClient {
 public:
  CachedClient(const Clientset& clients, SharedInformerFactory& factory,
               CachedClientOptions options = {});

  /// The same cache and own writes, with requests sent by another client of the same server.
  CachedClient by(const Clientset& clients) const { return CachedClient(clients.rest(), kinds_); }

  /// The client of a described kind; an empty namespace means all.
  template <NamedObject T>
  CachedResourceClient<T> resource(String namespaceName = {}) const {
    return CachedResourceClient<T>(kindOf<T>(), ResourceClient<T>(rest_, std::move(namespaceName)));
  }
  /// The client of a resource that is known by its name only; inNamespace() chooses a namespace.
  CachedResourceClient<Unstructured> resource(const RestMapping& mapping) const;

  /// For single objects, as reconcile functions read them.
  template <NamedObject T>
  T get(const ObjectKey& key, const std::stop_token& stop = {}) const {
    return resource<T>(key.namespace_).get(key.name, {}, stop);
  }
  template <NamedObject T>
  std::optional<T> find(const ObjectKey& key, const std::stop_token& stop = {}) const {
    return resource<T>(key.namespace_).find(key.name, {}, stop);
  }

  /// The client that asks the server for everything.
  Clientset live() const { return Clientset(rest_); }

 private:
  class Kinds;
  using Kind = std::shared_ptr<detail::CachedKind>;
  using Obtain = detail::CachedKind::Obtain;

  CachedClient(RestClient rest, std::shared_ptr<Kinds> kinds)
      : rest_(std::move(rest)), kinds_(std::move(kinds)) {}

  template <class T>
  Kind kindOf() const {
    return kindOf(detail::kObjectType<T>,
                  [&from = factory()](std::string_view namespaceName, bool make) {
                    return from.covering(detail::kInformedType<T>, namespaceName, make);
                  });
  }
  Kind kindOf(const detail::ObjectType& type, Obtain obtain) const;
  SharedInformerFactory& factory() const noexcept;

  RestClient rest_;
  std::shared_ptr<Kinds> kinds_;
};

/// The kind of a type, for CachedClientOptions.
template <NamedObject T>
GroupVersionKind gvkOf() {
  const ResourceInfo& resource = *TypeOf<T>::info.resource;
  return {resource.group, resource.version, resource.kind};
}

}  // namespace kube
