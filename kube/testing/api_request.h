// A request to an API server: its verb, its resource and its parameters.
//
//   ApiRequest request = ApiRequest::parse(http);
//   request.verb;                                  // "list"
//   request.resource;                              // {apps v1 deployments}
//   auto options = request.options<metav1::ListOptions>();
//
// The rules are kube-apiserver's: /api/v1/..., /apis/GROUP/VERSION/..., namespaces/NAME/..., a
// subresource after the name. Other paths name no resource (isResource() is false).
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

/// The form in which the client wants the answer.
struct ResponseForm {
  enum class As { Object, Table, PartialMetadata, PartialMetadataList };

  Format format = Format::Json;
  As as = As::Object;
  String version = {};  // of meta.k8s.io, unless As::Object
  bool pretty = false;

  /// A text that differs between forms: a key for caches.
  std::string str() const;
  /// The Content-Type without parameters, such as application/json.
  std::string_view mediaType() const noexcept;
};

/// The forms in which the server can give an answer.
struct OfferedForms {
  bool tables = false;
  bool metadata = false;      // of a single object
  bool metadataList = false;  // of a list
  bool protobuf = true;
  bool stream = false;  // event by event; YAML has no form for that
};

class ApiRequest {
 public:
  /// Throws ApiError for a malformed target.
  static ApiRequest parse(ServerRequest http);

  ServerRequest http;
  std::string path;  // unescaped, without the query
  std::vector<std::pair<std::string, std::string>> query;

  // --- The subject of the request.
  bool isResource() const noexcept { return !resource.resource.empty(); }
  std::string verb;               // get, list, watch, create, ...; else the method in lower case
  GroupVersionResource resource;  // an empty `resource`: the path names none
  String namespace_;
  String name;
  String subresource;
  std::string subpath;  // the path after the subresource, as in proxy

  /// True for a request with this verb, for this resource ("pods", or "pods/status" for the
  /// subresource alone) and with a path that begins so. An empty text matches all.
  bool is(std::string_view verb, std::string_view resource, std::string_view path) const noexcept;

  /// The first value of a parameter.
  std::optional<std::string_view> param(std::string_view name) const noexcept;
  bool flag(std::string_view name) const noexcept;

  /// Reads the parameters into an options type. Throws ApiError for malformed values.
  template <Described T>
  T options() const {
    T result{};
    readOptions(TypeOf<T>::info, &result);
    return result;
  }

  /// The first form of the Accept header that is offered. Throws ApiError (406) if none is. Answers
  /// without tables and metadata ignore a request for these.
  ResponseForm form(const OfferedForms& offered) const;
  /// The format of the body. Throws ApiError (415) for an unknown Content-Type.
  Format bodyFormat() const;

 private:
  void place();
  void readOptions(const TypeInfo& type, void* options) const;
};

/// Selects requests. An empty field matches all.
struct RequestFilter {
  std::string verb = {};      // "watch"
  std::string resource = {};  // "pods", or "pods/status" for the subresource alone
  std::string namespace_ = {};
  std::string name = {};
  std::string path = {};  // a prefix: "/apis"

  bool matches(const ApiRequest& request) const noexcept;
};

}  // namespace kube::testing
