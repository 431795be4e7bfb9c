// A client for objects of any kind that a server has, whether the program knows the kind or not.
//
//   kube::DynamicClient dynamic(config);
//   auto networks = dynamic.resource({"samplecrd.k8s.io", "v1", "networks"}).inNamespace("book");
//   kube::Unstructured network = networks.get("example");
//   network.setNestedField("192.168.0.0/16", "spec", "cidr");
//   networks.update(network);
//
// resource() returns a ResourceClient like any other, for Unstructured. Everything travels as JSON.
//
// MetadataClient is for programs that need only names, labels, owners and other metadata: the
// server sends nothing else, as protobuf.
//
// Thread safety: cheap, copyable handles; every method may be called from any thread.
#pragma once

#include <concepts>
#include <utility>

#include "kube/client/resource_client.h"
#include "kube/meta/gvk.h"
#include "kube/meta/mapping/rest_mapper.h"
#include "kube/meta/unstructured.h"
#include "kube/rest/rest_client.h"

namespace kube {

class DynamicClient {
 public:
  using Object = Unstructured;

  /// Throws ConfigError.
  explicit DynamicClient(const Config& config) : DynamicClient(RestClient(config)) {}
  /// Shares the connection.
  explicit DynamicClient(RestClient rest) : rest_(std::move(rest)) {}

  /// See ClientDefaults.
  DynamicClient with(const ClientDefaults& defaults) const {
    return DynamicClient(rest_.withDefaults(defaults));
  }

  /// The caller has to know whether the objects are in namespaces: if so, inNamespace() reads and
  /// writes them.
  ResourceClient<Unstructured> resource(const GroupVersionResource& gvr) const {
    return ResourceClient<Unstructured>(
        rest_, ResourceName{{gvr.group, gvr.version}, gvr.resource, std::nullopt});
  }
  /// A template, because braces cannot make a mapping: so three words in braces are a resource.
  template <std::same_as<RestMapping> Mapping>
  ResourceClient<Unstructured> resource(const Mapping& mapping) const {
    return ResourceClient<Unstructured>(
        rest_, ResourceName{
                   {mapping.gvr.group, mapping.gvr.version}, mapping.gvr.resource, mapping.scope});
  }

  const RestClient& rest() const noexcept { return rest_; }

 private:
  RestClient rest_;
};

class MetadataClient {
 public:
  using Object = metav1::PartialObjectMetadata;

  explicit MetadataClient(const Config& config) : MetadataClient(RestClient(config)) {}
  explicit MetadataClient(RestClient rest) : rest_(std::move(rest)) {}

  /// See ClientDefaults.
  MetadataClient with(const ClientDefaults& defaults) const {
    return MetadataClient(rest_.withDefaults(defaults));
  }

  /// get, list, watch, patch and remove work; create, update and apply do not.
  ResourceClient<Object> resource(const GroupVersionResource& gvr) const {
    return ResourceClient<Object>(
        rest_, ResourceName{{gvr.group, gvr.version}, gvr.resource, std::nullopt}, {},
        "PartialObjectMetadata");
  }

  const RestClient& rest() const noexcept { return rest_; }

 private:
  RestClient rest_;
};

}  // namespace kube
