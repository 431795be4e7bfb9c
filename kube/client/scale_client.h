// Reads and changes the scale of any resource that can be scaled.
//
//   kube::ScaleClient scales(rest);
//   auto scale = scales.get({"apps", "v1", "deployments"}, "book", "web");
//   scale.spec->replicas = 5;
//   scales.update({"apps", "v1", "deployments"}, "book", scale, {.fieldManager = "me"});
//
// async() returns the awaitable form.
//
// Thread safety: a cheap, copyable handle; every method may be called from any thread.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "kube/api/autoscaling/v1.h"
#include "kube/base/task.h"
#include "kube/client/async_resource_client.h"
#include "kube/client/resource_client.h"

namespace kube {

class AsyncScaleClient {
 public:
  using Scale = autoscalingv1::Scale;

  explicit AsyncScaleClient(RestClient rest) : rest_(std::move(rest)) {}

  /// See ClientDefaults.
  AsyncScaleClient with(const ClientDefaults& defaults) const {
    return AsyncScaleClient(rest_.withDefaults(defaults));
  }

  Task<Scale> get(const GroupVersionResource& gvr, String namespaceName, std::string_view name,
                  const metav1::GetOptions& options = {}) const {
    return client(gvr, std::move(namespaceName)).getSubresource<Scale>(name, "scale", options);
  }
  Task<Scale> update(const GroupVersionResource& gvr, String namespaceName, const Scale& scale,
                     const metav1::UpdateOptions& options = {}) const {
    return client(gvr, std::move(namespaceName))
        .updateSubresource<Scale>(scale.metadata.name, "scale", scale, options);
  }
  Task<Scale> patch(const GroupVersionResource& gvr, String namespaceName, std::string_view name,
                    PatchType type, std::string patch,
                    const metav1::PatchOptions& options = {}) const {
    return client(gvr, std::move(namespaceName))
        .patch(name, type, std::move(patch), options, "scale");
  }
  /// Server-side apply of the object that scale.metadata names.
  Task<Scale> apply(const GroupVersionResource& gvr, String namespaceName, const Scale& scale,
                    const metav1::ApplyOptions& options) const {
    return client(gvr, std::move(namespaceName))
        .requests()
        .apply(TypeOf<Scale>::info, &scale, {}, scale.metadata.name, {}, options, "scale")
        .async()
        .into<Scale>();
  }

 private:
  AsyncResourceClient<Scale> client(const GroupVersionResource& gvr, String namespaceName) const {
    return AsyncResourceClient<Scale>(detail::ResourceRequests(
        rest_, ResourceName{{gvr.group, gvr.version}, gvr.resource, std::nullopt},
        std::move(namespaceName)));
  }

  RestClient rest_;
};

class ScaleClient {
 public:
  using Scale = autoscalingv1::Scale;

  explicit ScaleClient(const Config& config) : ScaleClient(RestClient(config)) {}
  explicit ScaleClient(RestClient rest) : rest_(std::move(rest)) {}

  AsyncScaleClient async() const { return AsyncScaleClient(rest_); }

  /// See ClientDefaults.
  ScaleClient with(const ClientDefaults& defaults) const {
    return ScaleClient(rest_.withDefaults(defaults));
  }

  Scale get(const GroupVersionResource& gvr, String namespaceName, std::string_view name,
            const metav1::GetOptions& options = {}, const std::stop_token& stop = {}) const {
    return detail::runBlocking(async().get(gvr, std::move(namespaceName), name, options), stop);
  }
  Scale update(const GroupVersionResource& gvr, String namespaceName, const Scale& scale,
               const metav1::UpdateOptions& options = {}, const std::stop_token& stop = {}) const {
    return detail::runBlocking(async().update(gvr, std::move(namespaceName), scale, options), stop);
  }
  Scale patch(const GroupVersionResource& gvr, String namespaceName, std::string_view name,
              PatchType type, std::string patch, const metav1::PatchOptions& options = {},
              const std::stop_token& stop = {}) const {
    return detail::runBlocking(
        async().patch(gvr, std::move(namespaceName), name, type, std::move(patch), options), stop);
  }
  Scale apply(const GroupVersionResource& gvr, String namespaceName, const Scale& scale,
              const metav1::ApplyOptions& options, const std::stop_token& stop = {}) const {
    return detail::runBlocking(async().apply(gvr, std::move(namespaceName), scale, options), stop);
  }

 private:
  RestClient rest_;
};

}  // namespace kube
