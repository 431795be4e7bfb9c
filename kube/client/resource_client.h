// A client for one kind of object on a server: all the verbs, for one namespace or all.
//
//   kube::ResourceClient<kube::corev1::Pod> pods(rest, "book");
//   auto pod = pods.get("example");
//   pod.metadata.labels["tier"] = "backend";
//   pods.update(pod);
//   for (const auto& p : pods.list({.labelSelector = "app=web"}).items) ...
//   if (auto found = pods.find("example")) ...        // none if it does not exist
//
// It works for every described kind: built-in types, structs of the program (KUBE_DESCRIBE_KIND),
// and, through DynamicClient and MetadataClient, for objects that no struct describes. Clientset
// has a client for each built-in kind.
//
// A client without a namespace sees all namespaces: it can list and watch a namespaced kind, but
// not read single objects. Objects that are created or updated through a client with a namespace
// need not name it.
//
// Errors: ApiError with the server's Status (see isNotFound, isConflict and the like), and the
// errors of Request. Every call ends early with CanceledError when its stop token is triggered.
//
// Thread safety: a cheap, copyable handle; every method may be called from any thread.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/client/list_pages.h"
#include "kube/codec/apply/apply_configuration.h"
#include "kube/codec/object_list.h"
#include "kube/codec/patch/patch.h"
#include "kube/meta/api_error.h"
#include "kube/meta/gvk.h"
#include "kube/meta/internal/object_access.h"
#include "kube/meta/mapping/rest_mapper.h"
#include "kube/meta/type_info.h"
#include "kube/meta/v1.h"
#include "kube/rest/rest_client.h"
#include "kube/rest/watch_stream.h"

namespace kube {

/// The server's name for the objects of a kind, and whether they are in namespaces.
struct ResourceName {
  GroupVersion version = {};
  String plural = {};
  std::optional<RestScope> scope = {};  // none: unknown, and not checked

  /// Returns the name for a described kind. Throws Error for a type that is not the kind of a
  /// resource.
  static ResourceName of(const TypeInfo& type);

  bool operator==(const ResourceName&) const = default;
};

/// The port of an object to connect to; see ProxyClient.
struct ProxyOptions {
  std::string_view scheme = {};  // "https"; empty: http
  std::string_view port = {};    // a number or a name; empty: the only one
  std::vector<std::pair<std::string, std::string>> params = {};
};

namespace detail {

/// The requests of a ResourceClient, without its objects' C++ type.
class ResourceRequests {
 public:
  /// `form` is the kind in which the server shall return objects, if not their own:
  /// "PartialObjectMetadata", or empty.
  ResourceRequests(const RestClient& rest, ResourceName resource, String namespaceName,
                   std::string_view form = {});

  // ---- For the objects of the namespace or, if the client has none, of all namespaces.

  Request list() const;
  /// Sets options.watch.
  Request watch(metav1::ListOptions options) const;
  Request removeCollection() const;

  // ---- For one object, or its subresource. An object is sent to its own namespace if the client
  // has none. All throw Error if neither has one and the kind needs it.

  Request create(const String& objectNamespace) const;
  Request get(std::string_view name, std::string_view subresource = {}) const;
  Request post(std::string_view name, std::string_view subresource,
               const String& objectNamespace = {}) const;
  Request put(std::string_view name, std::string_view subresource = {},
              const String& objectNamespace = {}) const;
  Request patch(PatchType type, std::string patch, std::string_view name,
                std::string_view subresource = {}) const;
  Request remove(std::string_view name) const;
  /// Server-side apply of the object; adds its apiVersion and kind if it lacks them.
  Request apply(const TypeInfo& type, const void* object, const FieldSet& zeros,
                std::string_view name, const String& objectNamespace,
                const metav1::ApplyOptions& options, std::string_view subresource) const;
  /// A GET that the server forwards to the object itself.
  Request proxy(std::string_view name, std::string_view path, const ProxyOptions& options) const;

  ResourceRequests inNamespace(String name) const {
    return ResourceRequests(rest_, resource_, std::move(name), form_);
  }
  /// A copy whose requests are sent again at most `n` times.
  ResourceRequests withMaxRetries(int n) const;
  /// A copy that uses RestClient::withDefaults().
  ResourceRequests with(const ClientDefaults& defaults) const;
  /// A copy that uses RestClient::forCaches().
  ResourceRequests forCaches() const;

  const RestClient& rest() const noexcept { return rest_; }
  const ResourceName& resource() const noexcept { return resource_; }
  const String& namespaceName() const noexcept { return namespace_; }
  std::string_view form() const noexcept { return form_; }

 private:
  Request collection(Request request) const;
  Request object(Request request, std::string_view name, std::string_view subresource,
                 const String& objectNamespace = {}) const;
  void setPath(Request& request, std::string_view name, const String& objectNamespace) const;

  RestClient rest_;
  ResourceName resource_;
  String namespace_;
  std::string_view form_;
};

}  // namespace detail

template <Described T>
class AsyncResourceClient;

template <Described T>
class ResourceClient {
 public:
  using Object = T;

  /// A described kind names its resource itself.
  explicit ResourceClient(const RestClient& rest, String namespaceName = {})
      : ResourceClient(rest, ResourceName::of(TypeOf<T>::info), std::move(namespaceName)) {}
  /// `form` is for MetadataClient.
  ResourceClient(const RestClient& rest, ResourceName resource, String namespaceName = {},
                 std::string_view form = {})
      : requests_(rest, std::move(resource), std::move(namespaceName), form) {}

  /// The same kind in another namespace; empty for all.
  ResourceClient inNamespace(String name) const {
    return ResourceClient(requests_.inNamespace(std::move(name)));
  }

  /// The same client for callers that retry themselves: failed requests are sent again at most `n`
  /// times.
  ResourceClient withMaxRetries(int n) const { return ResourceClient(requests_.withMaxRetries(n)); }

  /// The same client with options for every request that takes them; see ClientDefaults.
  ResourceClient with(const ClientDefaults& defaults) const {
    return ResourceClient(requests_.with(defaults));
  }

  /// The awaitable form of this client. Include kube/client/async_resource_client.h.
  AsyncResourceClient<T> async() const;

  // ---- Reading.

  T get(std::string_view name, const metav1::GetOptions& options = {},
        const std::stop_token& stop = {}) const {
    return requests_.get(name).options(options).template into<T>(stop);
  }
  /// Returns none if the object does not exist.
  std::optional<T> find(std::string_view name, const metav1::GetOptions& options = {},
                        const std::stop_token& stop = {}) const {
    try {
      return get(name, options, stop);
    } catch (const ApiError& error) {
      if (!isNotFound(error)) throw;
      return std::nullopt;
    }
  }
  /// Decodes the list while it arrives. Equal parts of the items share memory.
  ObjectList<T> list(const metav1::ListOptions& options = {}, const std::stop_token& stop = {},
                     const DecodeOptions& decode = {}) const {
    return requests_.list().options(options).template intoList<T>(stop, decode);
  }
  /// Reads a list without holding more than one item: calls `use` as each item arrives, and returns
  /// the list's metadata at the end. Items are decoded through the given pool, or one of the list's
  /// own.
  metav1::ListMeta eachItem(std::function<void(T&&)> use, const metav1::ListOptions& options = {},
                            const std::stop_token& stop = {}, Pool* pool = nullptr) const {
    return requests_.list().options(options).template eachItem<T>(std::move(use), stop, pool);
  }
  /// Reads the list in pages of options.limit (500 if that is 0), each when it is needed.
  Pages<T> pages(metav1::ListOptions options = {}, std::stop_token stop = {}) const {
    return Pages<T>([client = *this, stop = std::move(stop)](
                        const metav1::ListOptions& page) { return client.list(page, stop); },
                    std::move(options));
  }
  /// The watch ends when the stop token is triggered, options.timeoutSeconds are over, or the
  /// server closes it.
  WatchStream<T> watch(metav1::ListOptions options = {}, const std::stop_token& stop = {},
                       Pool* pool = nullptr) const {
    return requests_.watch(std::move(options)).template watch<T>(stop, pool);
  }

  // ---- Writing. Each function returns the object as the server has stored it.

  T create(const T& object, const metav1::CreateOptions& options = {},
           const std::stop_token& stop = {}) const {
    return requests_.create(detail::namespaceOf(object))
        .options(options)
        .body(object)
        .template into<T>(stop);
  }
  /// Throws a conflict (isConflict) if the object has changed since it was read.
  T update(const T& object, const metav1::UpdateOptions& options = {},
           const std::stop_token& stop = {}) const {
    return put(object, {}, options, stop);
  }
  /// Changes the status alone; update() leaves it as it is.
  T updateStatus(const T& object, const metav1::UpdateOptions& options = {},
                 const std::stop_token& stop = {}) const {
    return put(object, "status", options, stop);
  }
  T patch(std::string_view name, PatchType type, std::string patch,
          const metav1::PatchOptions& options = {}, const std::stop_token& stop = {},
          std::string_view subresource = {}) const {
    return requests_.patch(type, std::move(patch), name, subresource)
        .options(options)
        .template into<T>(stop);
  }
  T patch(std::string_view name, const MergePatch& patch, const metav1::PatchOptions& options = {},
          const std::stop_token& stop = {}, std::string_view subresource = {}) const {
    return this->patch(name, patch.type, patch.body, options, stop, subresource);
  }
  /// Server-side apply: the object holds just the fields that options.fieldManager wants to own.
  /// Fields with the values of a new object are not sent; an `Apply` names the zeros that are.
  T apply(const T& object, const metav1::ApplyOptions& options,
          const std::stop_token& stop = {}) const {
    return applyTo(object, {}, options, {}, stop);
  }
  T apply(const Apply<T>& wanted, const metav1::ApplyOptions& options,
          const std::stop_token& stop = {}) const {
    return applyTo(*wanted, wanted.zeros(), options, {}, stop);
  }
  T applyStatus(const T& object, const metav1::ApplyOptions& options,
                const std::stop_token& stop = {}) const {
    return applyTo(object, {}, options, "status", stop);
  }
  T applyStatus(const Apply<T>& wanted, const metav1::ApplyOptions& options,
                const std::stop_token& stop = {}) const {
    return applyTo(*wanted, wanted.zeros(), options, "status", stop);
  }

  // ---- Deleting. An object with finalizers, or a pod with its grace period, exists for a while
  // longer.

  void remove(std::string_view name, const metav1::DeleteOptions& options = {},
              const std::stop_token& stop = {}) const {
    requests_.remove(name).body(options).raw(stop);
  }
  /// Removes all objects that the selectors of `which` select.
  void removeCollection(const metav1::DeleteOptions& options = {},
                        const metav1::ListOptions& which = {},
                        const std::stop_token& stop = {}) const {
    requests_.removeCollection().options(which).body(options).raw(stop);
  }

  // ---- Subresources, such as "scale" of a deployment, whose body is of another kind.

  template <Described Body>
  Body getSubresource(std::string_view name, std::string_view subresource,
                      const metav1::GetOptions& options = {},
                      const std::stop_token& stop = {}) const {
    return requests_.get(name, subresource).options(options).template into<Body>(stop);
  }
  template <Described Answer, Described Body>
  Answer createSubresource(std::string_view name, std::string_view subresource, const Body& body,
                           const metav1::CreateOptions& options = {},
                           const std::stop_token& stop = {}) const {
    return requests_.post(name, subresource)
        .options(options)
        .body(body)
        .template into<Answer>(stop);
  }
  template <Described Answer, Described Body>
  Answer updateSubresource(std::string_view name, std::string_view subresource, const Body& body,
                           const metav1::UpdateOptions& options = {},
                           const std::stop_token& stop = {}) const {
    return requests_.put(name, subresource).options(options).body(body).template into<Answer>(stop);
  }

  const RestClient& rest() const noexcept { return requests_.rest(); }
  const ResourceName& resource() const noexcept { return requests_.resource(); }
  const String& namespaceName() const noexcept { return requests_.namespaceName(); }
  /// The requests without the C++ type: for informers, and for clients with more than these verbs.
  const detail::ResourceRequests& requests() const noexcept { return requests_; }

 protected:
  T put(const T& object, std::string_view subresource, const metav1::UpdateOptions& options,
        const std::stop_token& stop) const {
    return requests_.put(detail::nameOf(object), subresource, detail::namespaceOf(object))
        .options(options)
        .body(object)
        .template into<T>(stop);
  }

 private:
  friend class AsyncResourceClient<T>;
  explicit ResourceClient(detail::ResourceRequests requests) : requests_(std::move(requests)) {}

  T applyTo(const T& object, const FieldSet& zeros, const metav1::ApplyOptions& options,
            std::string_view subresource, const std::stop_token& stop) const {
    return requests_
        .apply(TypeOf<T>::info, &object, zeros, detail::nameOf(object), detail::namespaceOf(object),
               options, subresource)
        .template into<T>(stop);
  }

  detail::ResourceRequests requests_;
};

}  // namespace kube
