#include "kube/client/resource_client.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "kube/codec/unstructured.h"

namespace kube {

ResourceName ResourceName::of(const TypeInfo& type) {
  if (type.resource == nullptr || type.resource->plural.empty()) {
    throw Error(fmt::format("{} is not the kind of a resource; name the resource", type.name));
  }
  const ResourceInfo& resource = *type.resource;
  return {{resource.group, resource.version},
          resource.plural,
          resource.namespaced ? RestScope::Namespace : RestScope::Root};
}

namespace detail {

namespace {

// The time after the server's timeout at which the client ends a watch itself.
constexpr std::chrono::seconds kWatchGrace{10};
constexpr std::int64_t kLongWatch = 1 << 30;  // practically without an end

// The Accept header that asks a server for objects in another form, as kubectl asks for tables.
std::string acceptAs(std::string_view form) {
  const std::string as = fmt::format(";as={};g=meta.k8s.io;v=v1", form);
  return fmt::format("application/vnd.kubernetes.protobuf{0},application/json{0}", as);
}

}  // namespace

ResourceRequests::ResourceRequests(const RestClient& rest, ResourceName resource,
                                   String namespaceName, std::string_view form)
    : rest_(rest.forVersion(resource.version)),
      resource_(std::move(resource)),
      namespace_(std::move(namespaceName)),
      form_(form) {
  if (namespace_.empty() && resource_.scope == RestScope::Namespace) {
    namespace_ = rest_.defaults().namespace_;
  }
  if (resource_.scope == RestScope::Root && !namespace_.empty()) {
    throw Error(fmt::format("{} are not in namespaces: use a client without namespace \"{}\"",
                            resource_.plural, namespace_));
  }
}

void ResourceRequests::setPath(Request& request, std::string_view name,
                               const String& objectNamespace) const {
  request.resource(resource_.plural);
  if (resource_.scope == RestScope::Root) return;
  const String& space = namespace_.empty() ? objectNamespace : namespace_;
  if (resource_.scope == RestScope::Namespace && space.empty()) {
    throw Error(
        fmt::format("{}{}: a namespace is required: use a client that has one, or inNamespace()",
                    resource_.plural, name.empty() ? "" : fmt::format(" \"{}\"", name)));
  }
  request.namespace_(space);
}

Request ResourceRequests::collection(Request request) const {
  request.namespace_(namespace_).resource(resource_.plural);
  return request;
}

Request ResourceRequests::list() const {
  Request request = collection(rest_.get());
  if (!form_.empty()) request.accept(acceptAs(std::string(form_) + "List"));
  return request;
}

Request ResourceRequests::watch(metav1::ListOptions options) const {
  Request request = collection(rest_.get());
  // Ends a stream that has died on a connection that lives, which would never end otherwise.
  const std::int64_t seconds = options.timeoutSeconds.value_or(0);
  if (seconds > 0 && seconds < kLongWatch) {
    request.giveUpAfter(std::chrono::seconds(seconds) + kWatchGrace);
  }
  if (!form_.empty()) request.accept(acceptAs(form_));
  options.watch = true;
  request.options(options);
  return request;
}

Request ResourceRequests::removeCollection() const { return collection(rest_.del()); }

ResourceRequests ResourceRequests::withMaxRetries(int n) const {
  ResourceRequests requests = *this;
  requests.rest_ = rest_.withMaxRetries(n);
  return requests;
}

ResourceRequests ResourceRequests::with(const ClientDefaults& defaults) const {
  return ResourceRequests(rest_.withDefaults(defaults), resource_, namespace_, form_);
}

ResourceRequests ResourceRequests::forCaches() const {
  ResourceRequests requests = *this;
  requests.rest_ = rest_.forCaches();
  return requests;
}

Request ResourceRequests::create(const String& objectNamespace) const {
  Request request = rest_.post();
  setPath(request, {}, objectNamespace);
  return request;
}

Request ResourceRequests::object(Request request, std::string_view name,
                                 std::string_view subresource,
                                 const String& objectNamespace) const {
  setPath(request, name, objectNamespace);
  request.name(name);
  if (!subresource.empty()) request.subresource(subresource);
  if (!form_.empty()) request.accept(acceptAs(form_));
  return request;
}

Request ResourceRequests::get(std::string_view name, std::string_view subresource) const {
  return object(rest_.get(), name, subresource);
}

Request ResourceRequests::post(std::string_view name, std::string_view subresource,
                               const String& objectNamespace) const {
  return object(rest_.post(), name, subresource, objectNamespace);
}

Request ResourceRequests::put(std::string_view name, std::string_view subresource,
                              const String& objectNamespace) const {
  return object(rest_.put(), name, subresource, objectNamespace);
}

Request ResourceRequests::patch(PatchType type, std::string patch, std::string_view name,
                                std::string_view subresource) const {
  return object(rest_.patch(type, std::move(patch)), name, subresource);
}

Request ResourceRequests::remove(std::string_view name) const {
  return object(rest_.del(), name, {});
}

Request ResourceRequests::apply(const TypeInfo& type, const void* object, const FieldSet& zeros,
                                std::string_view name, const String& objectNamespace,
                                const metav1::ApplyOptions& options,
                                std::string_view subresource) const {
  if (options.fieldManager.empty() && rest_.defaults().fieldManager.empty()) {
    throw Error(fmt::format("apply {} \"{}\": options.fieldManager must not be empty",
                            resource_.plural, name));
  }
  std::string body;
  encodeApply(type, object, zeros, body);
  Request request = this->object(rest_.patch(PatchType::Apply, std::move(body)), name, subresource,
                                 objectNamespace);
  request.options(options);
  return request;
}

Request ResourceRequests::proxy(std::string_view name, std::string_view path,
                                const ProxyOptions& options) const {
  std::string target(name);
  if (!options.scheme.empty()) {
    target = fmt::format("{}:{}:{}", options.scheme, name, options.port);
  } else if (!options.port.empty()) {
    target = fmt::format("{}:{}", name, options.port);
  }
  path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
  Request request = get(target, fmt::format("proxy/{}", path));
  request.accept("*/*");
  for (const auto& [key, value] : options.params) request.param(key, value);
  return request;
}

}  // namespace detail

}  // namespace kube
