#include "kube/client/resource_client.h"

#include <fmt/core.h>

#include "kube/codec/unstructured.h"

namespace kube {

ResourceName ResourceName::of(const TypeInfo& type) {
  if (type.resource == nullptr || type.resource->plural.empty()) {
    throw Error(fmt::format("{} is served as no resource of its own; name one", type.name));
  }
  const ResourceInfo& resource = *type.resource;
  return {{resource.group, resource.version}, resource.plural, resource.namespaced};
}

namespace detail {

ResourceRequests::ResourceRequests(const RestClient& rest, ResourceName resource,
                                   String namespaceName)
    : rest_(rest.forVersion(resource.version)),
      resource_(std::move(resource)),
      namespace_(std::move(namespaceName)) {
  if (!resource_.namespaced && !namespace_.empty()) {
    throw Error(fmt::format("{} are not in namespaces: ask for them without \"{}\"",
                            resource_.plural, namespace_));
  }
}

Request ResourceRequests::collection(Request request) const {
  request.namespace_(namespace_).resource(resource_.plural);
  return request;
}

Request ResourceRequests::create(const String& objectNamespace) const {
  Request request = rest_.post();
  const String& place = namespace_.empty() ? objectNamespace : namespace_;
  if (resource_.namespaced) {
    if (place.empty()) {
      throw Error(fmt::format("create {}: neither the client nor the object names a namespace",
                              resource_.plural));
    }
    request.namespace_(place);
  }
  request.resource(resource_.plural);
  return request;
}

Request ResourceRequests::object(Request request, std::string_view name,
                                 std::string_view subresource,
                                 const String& objectNamespace) const {
  request.resource(resource_.plural);
  if (resource_.namespaced) {
    const String& place = namespace_.empty() ? objectNamespace : namespace_;
    if (place.empty()) {
      throw Error(
          fmt::format("{} \"{}\": name its namespace, with inNamespace()", resource_.plural, name));
    }
    request.namespace_(place);
  }
  request.name(name);
  if (!subresource.empty()) request.subresource(subresource);
  return request;
}

Request ResourceRequests::apply(const TypeInfo& type, const void* object, std::string_view name,
                                const String& objectNamespace, const metav1::ApplyOptions& options,
                                std::string_view subresource) const {
  if (options.fieldManager.empty()) {
    throw Error(fmt::format("apply {} \"{}\": options.fieldManager has to say who applies",
                            resource_.plural, name));
  }
  std::string body;
  encodeJson(type, object, body);
  Request request = this->object(rest_.patch(PatchType::Apply, std::move(body)), name, subresource,
                                 objectNamespace);
  request.options(options);
  return request;
}

}  // namespace detail

}  // namespace kube
