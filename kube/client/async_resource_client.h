// The awaitable form of a ResourceClient: the same verbs, options and errors, for coroutines.
//
//   auto pods = clients.coreV1().pods("book").async();
//   corev1::Pod pod = co_await pods.get("example");
//   pod.metadata.labels["tier"] = "backend";
//   co_await pods.update(pod);
//
//   auto watch = co_await pods.watch(options);
//   while (true) {
//     auto event = co_await watch.next();
//     if (!event) break;                                  // the watch has ended
//     ...
//   }
//
// Clients with more verbs, such as those of pods, have awaitable forms of their own: so the result
// of async() has everything that its client has. DynamicClient and MetadataClient return
// ResourceClients, and thereby these as well.
//
// Nothing is sent before the task is awaited. A task holds copies of its arguments, which are
// cheap. Instead of a parameter for a stop token, a task has that of its tree: see
// kube/base/task.h.
//
// Thread safety: a cheap, copyable handle; every method may be called from any thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kube/base/task.h"
#include "kube/client/resource_client.h"
#include "kube/rest/request.h"

namespace kube {

namespace detail {

/// Sends a request with an object as body; its answer does not matter.
template <Described Body>
Task<void> sendForNothing(Request request, Body body) {
  request.body(body);
  // clang-tidy takes the use for one after the move, in coroutines that are templates.
  const std::string answer =
      co_await std::move(request).async().raw();  // NOLINT(bugprone-use-after-move)
}

}  // namespace detail

template <Described T>
class AsyncResourceClient {
 public:
  using Object = T;

  explicit AsyncResourceClient(detail::ResourceRequests requests)
      : requests_(std::move(requests)) {}

  AsyncResourceClient inNamespace(String name) const {
    return AsyncResourceClient(requests_.inNamespace(std::move(name)));
  }
  AsyncResourceClient withMaxRetries(int n) const {
    return AsyncResourceClient(requests_.withMaxRetries(n));
  }
  AsyncResourceClient with(const ClientDefaults& defaults) const {
    return AsyncResourceClient(requests_.with(defaults));
  }

  // ---- Reading.

  Task<T> get(std::string_view name, const metav1::GetOptions& options = {}) const {
    return send<T>(requests_.get(name), options);
  }
  /// Returns none if the object does not exist.
  Task<std::optional<T>> find(std::string_view name, const metav1::GetOptions& options = {}) const {
    return findTask(get(name, options));
  }
  Task<ObjectList<T>> list(const metav1::ListOptions& options = {},
                           const DecodeOptions& decode = {}) const {
    return withOptions(requests_.list(), options).async().template intoList<T>(decode);
  }
  /// Calls `use` as each item arrives, and returns the list's metadata. The pool outlives the task.
  Task<metav1::ListMeta> eachItem(std::function<void(T&&)> use,
                                  const metav1::ListOptions& options = {},
                                  Pool* pool = nullptr) const {
    return withOptions(requests_.list(), options)
        .async()
        .template eachItem<T>(std::move(use), pool);
  }
  /// Reads the list in pages of options.limit (500 if that is 0), each when it is needed.
  AsyncPages<T> pages(metav1::ListOptions options = {}) const {
    return AsyncPages<T>(
        [client = *this](const metav1::ListOptions& page) { return client.list(page); },
        std::move(options));
  }
  /// The pool outlives the stream.
  Task<AsyncWatchStream<T>> watch(metav1::ListOptions options = {}, Pool* pool = nullptr) const {
    return requests_.watch(std::move(options)).async().template watch<T>(pool);
  }

  // ---- Writing. Each function returns the object as the server has stored it.

  Task<T> create(T object, const metav1::CreateOptions& options = {}) const {
    Request request = requests_.create(detail::namespaceOf(object));
    return sendObject<T>(std::move(request), std::move(object), options);
  }
  Task<T> update(T object, const metav1::UpdateOptions& options = {}) const {
    return put(std::move(object), {}, options);
  }
  Task<T> updateStatus(T object, const metav1::UpdateOptions& options = {}) const {
    return put(std::move(object), "status", options);
  }
  Task<T> patch(std::string_view name, PatchType type, std::string patch,
                const metav1::PatchOptions& options = {}, std::string_view subresource = {}) const {
    return send<T>(requests_.patch(type, std::move(patch), name, subresource), options);
  }
  Task<T> patch(std::string_view name, const MergePatch& patch,
                const metav1::PatchOptions& options = {}, std::string_view subresource = {}) const {
    return this->patch(name, patch.type, patch.body, options, subresource);
  }
  Task<T> apply(const T& object, const metav1::ApplyOptions& options) const {
    return applyTo(object, {}, options, {});
  }
  Task<T> apply(const Apply<T>& wanted, const metav1::ApplyOptions& options) const {
    return applyTo(*wanted, wanted.zeros(), options, {});
  }
  Task<T> applyStatus(const T& object, const metav1::ApplyOptions& options) const {
    return applyTo(object, {}, options, "status");
  }
  Task<T> applyStatus(const Apply<T>& wanted, const metav1::ApplyOptions& options) const {
    return applyTo(*wanted, wanted.zeros(), options, "status");
  }

  // ---- Deleting.

  Task<void> remove(std::string_view name, const metav1::DeleteOptions& options = {}) const {
    return detail::sendForNothing(requests_.remove(name), options);
  }
  Task<void> removeCollection(const metav1::DeleteOptions& options = {},
                              const metav1::ListOptions& which = {}) const {
    return detail::sendForNothing(withOptions(requests_.removeCollection(), which), options);
  }

  // ---- Subresources.

  template <Described Body>
  Task<Body> getSubresource(std::string_view name, std::string_view subresource,
                            const metav1::GetOptions& options = {}) const {
    return send<Body>(requests_.get(name, subresource), options);
  }
  template <Described Answer, Described Body>
  Task<Answer> createSubresource(std::string_view name, std::string_view subresource, Body body,
                                 const metav1::CreateOptions& options = {}) const {
    return sendObject<Answer>(requests_.post(name, subresource), std::move(body), options);
  }
  template <Described Answer, Described Body>
  Task<Answer> updateSubresource(std::string_view name, std::string_view subresource, Body body,
                                 const metav1::UpdateOptions& options = {}) const {
    return sendObject<Answer>(requests_.put(name, subresource), std::move(body), options);
  }

  const ResourceName& resource() const noexcept { return requests_.resource(); }
  const String& namespaceName() const noexcept { return requests_.namespaceName(); }
  /// The requests without the C++ type, for clients with more than these verbs.
  const detail::ResourceRequests& requests() const noexcept { return requests_; }

 protected:
  Task<T> put(T object, std::string_view subresource, const metav1::UpdateOptions& options) const {
    Request request =
        requests_.put(detail::nameOf(object), subresource, detail::namespaceOf(object));
    return sendObject<T>(std::move(request), std::move(object), options);
  }

 private:
  template <class Options>
  static Request withOptions(Request request, const Options& options) {
    request.options(options);
    return request;
  }
  template <class Answer, class Options>
  static Task<Answer> send(Request request, const Options& options) {
    return withOptions(std::move(request), options).async().template into<Answer>();
  }
  template <class Answer, class Body, class Options>
  static Task<Answer> sendObject(Request request, Body body, const Options& options) {
    return withOptions(std::move(request), options)
        .async()
        .template intoWith<Answer>(std::move(body));
  }
  static Task<std::optional<T>> findTask(Task<T> found) {
    try {
      std::optional<T> object = co_await std::move(found);
      co_return object;
    } catch (const ApiError& error) {
      if (!isNotFound(error)) throw;
    }
    co_return std::nullopt;
  }
  Task<T> applyTo(const T& object, const FieldSet& zeros, const metav1::ApplyOptions& options,
                  std::string_view subresource) const {
    return requests_
        .apply(TypeOf<T>::info, &object, zeros, detail::nameOf(object), detail::namespaceOf(object),
               options, subresource)
        .async()
        .template into<T>();
  }

  detail::ResourceRequests requests_;
};

template <Described T>
AsyncResourceClient<T> ResourceClient<T>::async() const {
  return AsyncResourceClient<T>(requests_);
}

}  // namespace kube
