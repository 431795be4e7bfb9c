// ResourceClients with the additional methods of a subresource.
//
//   auto scale = clients.appsV1().deployments("book").getScale("web");
//   auto token = clients.coreV1().serviceAccounts("book").createToken("builder", request);
//   auto page = clients.coreV1().services("book").proxyGet("web", "/healthz", {.port = "http"});
//
// Clientset's accessors return these for built-in resources that have the subresource. For another
// kind: ScalableClient<Network, autoscalingv1::Scale> networks(rest, "book").
//
// async() returns the awaitable form of each: AsyncScalableClient and the like.
//
// Errors and thread safety are those of ResourceClient.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "kube/base/task.h"
#include "kube/client/async_resource_client.h"
#include "kube/client/resource_client.h"

namespace kube {

/// The awaitable form of ScalableClient.
template <Described T, Described Scale>
class AsyncScalableClient : public AsyncResourceClient<T> {
 public:
  using AsyncResourceClient<T>::AsyncResourceClient;

  AsyncScalableClient inNamespace(String name) const {
    return AsyncScalableClient(this->requests().inNamespace(std::move(name)));
  }

  Task<Scale> getScale(std::string_view name, const metav1::GetOptions& options = {}) const {
    return this->template getSubresource<Scale>(name, "scale", options);
  }
  Task<Scale> updateScale(std::string_view name, const Scale& scale,
                          const metav1::UpdateOptions& options = {}) const {
    return this->template updateSubresource<Scale>(name, "scale", scale, options);
  }
  Task<Scale> applyScale(std::string_view name, const Scale& scale,
                         const metav1::ApplyOptions& options) const {
    return this->requests()
        .apply(TypeOf<Scale>::info, &scale, {}, name, {}, options, "scale")
        .async()
        .template into<Scale>();
  }
};

/// For resources with replicas: deployments, replica sets, ...
template <Described T, Described Scale>
class ScalableClient : public ResourceClient<T> {
 public:
  using ResourceClient<T>::ResourceClient;

  ScalableClient inNamespace(String name) const {
    return ScalableClient(this->rest(), this->resource(), std::move(name));
  }
  AsyncScalableClient<T, Scale> async() const {
    return AsyncScalableClient<T, Scale>(this->requests());
  }

  Scale getScale(std::string_view name, const metav1::GetOptions& options = {},
                 const std::stop_token& stop = {}) const {
    return this->template getSubresource<Scale>(name, "scale", options, stop);
  }
  Scale updateScale(std::string_view name, const Scale& scale,
                    const metav1::UpdateOptions& options = {},
                    const std::stop_token& stop = {}) const {
    return this->template updateSubresource<Scale>(name, "scale", scale, options, stop);
  }
  /// Server-side apply; options.fieldManager must be set.
  Scale applyScale(std::string_view name, const Scale& scale, const metav1::ApplyOptions& options,
                   const std::stop_token& stop = {}) const {
    return this->requests()
        .apply(TypeOf<Scale>::info, &scale, {}, name, {}, options, "scale")
        .template into<Scale>(stop);
  }
};

/// The awaitable form of ProxyClient.
template <Described T>
class AsyncProxyClient : public AsyncResourceClient<T> {
 public:
  using AsyncResourceClient<T>::AsyncResourceClient;

  AsyncProxyClient inNamespace(String name) const {
    return AsyncProxyClient(this->requests().inNamespace(std::move(name)));
  }

  Task<std::string> proxyGet(std::string_view name, std::string_view path = {},
                             const ProxyOptions& options = {}) const {
    return this->requests().proxy(name, path, options).async().raw();
  }
};

/// For resources that the server forwards requests to: pods, services, nodes.
template <Described T>
class ProxyClient : public ResourceClient<T> {
 public:
  using ResourceClient<T>::ResourceClient;

  ProxyClient inNamespace(String name) const {
    return ProxyClient(this->rest(), this->resource(), std::move(name));
  }
  AsyncProxyClient<T> async() const { return AsyncProxyClient<T>(this->requests()); }

  /// Returns the body of the answer to a GET of the path.
  std::string proxyGet(std::string_view name, std::string_view path = {},
                       const ProxyOptions& options = {}, const std::stop_token& stop = {}) const {
    return this->requests().proxy(name, path, options).raw(stop);
  }
};

/// The awaitable form of TokenClient.
template <Described T, Described TokenRequest>
class AsyncTokenClient : public AsyncResourceClient<T> {
 public:
  using AsyncResourceClient<T>::AsyncResourceClient;

  AsyncTokenClient inNamespace(String name) const {
    return AsyncTokenClient(this->requests().inNamespace(std::move(name)));
  }

  Task<TokenRequest> createToken(std::string_view name, const TokenRequest& request = {},
                                 const metav1::CreateOptions& options = {}) const {
    return this->template createSubresource<TokenRequest>(name, "token", request, options);
  }
};

/// For service accounts.
template <Described T, Described TokenRequest>
class TokenClient : public ResourceClient<T> {
 public:
  using ResourceClient<T>::ResourceClient;

  TokenClient inNamespace(String name) const {
    return TokenClient(this->rest(), this->resource(), std::move(name));
  }
  AsyncTokenClient<T, TokenRequest> async() const {
    return AsyncTokenClient<T, TokenRequest>(this->requests());
  }

  /// Requests a token for the account; the status of the result contains it.
  TokenRequest createToken(std::string_view name, const TokenRequest& request = {},
                           const metav1::CreateOptions& options = {},
                           const std::stop_token& stop = {}) const {
    return this->template createSubresource<TokenRequest>(name, "token", request, options, stop);
  }
};

/// The awaitable form of ApprovalClient.
template <Described T>
class AsyncApprovalClient : public AsyncResourceClient<T> {
 public:
  using AsyncResourceClient<T>::AsyncResourceClient;

  AsyncApprovalClient inNamespace(String name) const {
    return AsyncApprovalClient(this->requests().inNamespace(std::move(name)));
  }

  Task<T> updateApproval(const T& object, const metav1::UpdateOptions& options = {}) const {
    return this->put(object, "approval", options);
  }
};

/// For certificate signing requests.
template <Described T>
class ApprovalClient : public ResourceClient<T> {
 public:
  using ResourceClient<T>::ResourceClient;

  AsyncApprovalClient<T> async() const { return AsyncApprovalClient<T>(this->requests()); }

  /// Changes the conditions Approved and Denied, which updateStatus() leaves as they are.
  T updateApproval(const T& object, const metav1::UpdateOptions& options = {},
                   const std::stop_token& stop = {}) const {
    return this->put(object, "approval", options, stop);
  }
};

/// The awaitable form of FinalizeClient.
template <Described T>
class AsyncFinalizeClient : public AsyncResourceClient<T> {
 public:
  using AsyncResourceClient<T>::AsyncResourceClient;

  AsyncFinalizeClient inNamespace(String name) const {
    return AsyncFinalizeClient(this->requests().inNamespace(std::move(name)));
  }

  Task<T> finalize(const T& object, const metav1::UpdateOptions& options = {}) const {
    return this->put(object, "finalize", options);
  }
};

/// For namespaces.
template <Described T>
class FinalizeClient : public ResourceClient<T> {
 public:
  using ResourceClient<T>::ResourceClient;

  AsyncFinalizeClient<T> async() const { return AsyncFinalizeClient<T>(this->requests()); }

  /// Changes spec.finalizers, which update() leaves as they are. A namespace that is being deleted
  /// is gone when no finalizer is left.
  T finalize(const T& object, const metav1::UpdateOptions& options = {},
             const std::stop_token& stop = {}) const {
    return this->put(object, "finalize", options, stop);
  }
};

}  // namespace kube
