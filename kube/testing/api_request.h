// What a request to an API server asks for: the verb, the resource, and its parameters.
//
//   ApiRequest request = ApiRequest::parse(http);
//   request.verb;                                  // "list"
//   request.resource;                              // {apps v1 deployments}
//   auto options = request.options<metav1::ListOptions>();
//
// The rules are kube-apiserver's: /api/v1/..., /apis/GROUP/VERSION/..., namespaces/NAME/...,
// a subresource behind the name. Other paths are not about a resource (isResource() is false).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/base/string.h"
#include "kube/codec/format.h"
#include "kube/http/http_server.h"
#include "kube/meta/gvk.h"
#include "kube/meta/type_info.h"

namespace kube::testing {

/// In which form an answer is wanted.
struct ResponseForm {
  enum class As { Object, Table, PartialMetadata, PartialMetadataList };

  Format format = Format::Json;
  As as = As::Object;
  String version = {};  // of meta.k8s.io, if not As::Object
  bool pretty = false;

  /// What tells forms apart in a cache.
  std::string str() const;
  /// application/json and the like.
  std::string_view mediaType() const noexcept;
};

/// In which forms an answer can be had.
struct OfferedForms {
  bool tables = false;
  bool metadata = false;      // of one object
  bool metadataList = false;  // of many
  bool protobuf = true;
  bool stream = false;  // event by event, which YAML has no form for
};

class ApiRequest {
 public:
  /// Throws ApiError for a malformed target.
  static ApiRequest parse(ServerRequest http);

  ServerRequest http;
  std::string path;  // unescaped, without the query
  std::vector<std::pair<std::string, std::string>> query;

  // --- What it is about.
  bool isResource() const noexcept { return !resource.resource.empty(); }
  std::string verb;  // get, list, watch, create, ...; the method in small letters if not
  GroupVersionResource resource;  // resource is empty: a path of another kind
  String namespace_;
  String name;
  String subresource;
  std::string subpath;  // what comes behind a subresource, as in proxy

  /// The first value of a parameter.
  std::optional<std::string_view> param(std::string_view name) const noexcept;
  bool flag(std::string_view name) const noexcept;

  /// The parameters as an options type has them. Throws ApiError for those that are malformed.
  template <Described T>
  T options() const {
    T result{};
    readOptions(TypeOf<T>::info, &result);
    return result;
  }

  /// By its Accept header. Throws ApiError (406) where nothing of that can be had. What cannot be
  /// transformed into tables or metadata is sent as it is.
  ResponseForm form(const OfferedForms& offered) const;
  /// Of its body. Throws ApiError (415).
  Format bodyFormat() const;

 private:
  void place();
  void readOptions(const TypeInfo& type, void* options) const;
};

}  // namespace kube::testing
