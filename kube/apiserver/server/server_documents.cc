#include "kube/apiserver/server/server_documents.h"

#include <fmt/core.h>

#include <functional>

#include "kube/apiserver/documents/discovery_documents.h"
#include "kube/apiserver/documents/openapi.h"
#include "kube/codec/json.h"

namespace kube::apiserver {

namespace {

constexpr std::string_view kAggregated = "APIGroupDiscoveryList";

// The version of aggregated discovery that the client prefers; "" for the plain documents.
std::string_view aggregatedVersion(std::string_view accept) {
  while (!accept.empty()) {
    const std::size_t end = std::min(accept.find(','), accept.size());
    const std::string_view clause = accept.substr(0, end);
    accept.remove_prefix(std::min(end + 1, accept.size()));
    if (clause.find(kAggregated) == std::string_view::npos) {
      if (clause.find("application/json") != std::string_view::npos) return {};
      continue;
    }
    if (clause.find("v=v2beta1") != std::string_view::npos) return "v2beta1";
    if (clause.find("v=v2") != std::string_view::npos) return "v2";
  }
  return {};
}

}  // namespace

ServerDocuments::DocumentPtr ServerDocuments::kept(const std::string& name,
                                                   const std::function<Document()>& make) {
  const std::uint64_t generation = resources_.generation();
  const detail::Lock lock(documentsMutex_);
  if (generation != generation_) {
    documents_.clear();
    generation_ = generation;
  }
  DocumentPtr& document = documents_[name];
  if (!document) document = std::make_shared<const Document>(make());
  return document;
}

bool ServerDocuments::answer(const testing::ApiRequest& request, const Reply& reply) {
  if (request.http.method != "GET" && request.http.method != "HEAD") return false;
  if (request.path == "/version" || request.path == "/version/") {
    reply.body(200, "application/json", versionDocument());
    return true;
  }
  return discovery(request, reply) || openapi(request, reply);
}

bool ServerDocuments::discovery(const testing::ApiRequest& request, const Reply& reply) {
  std::string path = request.path;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const bool core = path == "/api";
  if (core || path == "/apis") {
    const std::string_view version = aggregatedVersion(request.http.headers.get("Accept"));
    if (!version.empty()) {
      const DocumentPtr document = kept(path + std::string(version), [&] {
        TaggedDocument made =
            aggregatedDiscovery(resources_.served(), core ? Root::Core : Root::Groups, version);
        return Document{"application/json;g=apidiscovery.k8s.io;v=" + std::string(version) +
                            ";as=APIGroupDiscoveryList",
                        std::move(made.body), std::move(made.etag)};
      });
      reply.document(document->mediaType, document->body, document->etag);
    } else if (core) {
      reply.object(200,
                   AnyObject(apiVersions(resources_.served(), request.http.headers.get("Host"))));
    } else {
      reply.object(200, AnyObject(apiGroupList(resources_.served())));
    }
    return true;
  }
  if (path == "/api/v1") {
    reply.object(200, AnyObject(apiResourceList(resources_.served(), {"", "v1"})));
    return true;
  }
  if (!path.starts_with("/apis/")) return false;
  const std::string_view rest = std::string_view(path).substr(6);
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos) {
    if (!resources_.hasGroup(rest)) return false;
    reply.object(200, AnyObject(apiGroup(resources_.served(), rest)));
    return true;
  }
  const GroupVersion version{rest.substr(0, slash), rest.substr(slash + 1)};
  if (!resources_.hasVersion(version)) return false;
  reply.object(200, AnyObject(apiResourceList(resources_.served(), version)));
  return true;
}

bool ServerDocuments::openapi(const testing::ApiRequest& request, const Reply& reply) {
  constexpr std::string_view kV3 = "/openapi/v3/";
  const std::string_view path = request.path;
  if (path == "/openapi/v2") {
    const std::string_view accept = request.http.headers.get("Accept");
    const bool binary = accept.find("proto-openapi.spec.v2") != std::string_view::npos;
    const DocumentPtr document = kept(binary ? "v2 protobuf" : "v2", [&] {
      const Value all = openApiV2(resources_.served());
      std::string body = binary ? openApiV2Protobuf(all) : toJson(all);
      std::string etag = fmt::format("{:016x}", std::hash<std::string>{}(body));
      return Document{std::string(binary ? kOpenApiV2ProtobufContentType : "application/json"),
                      std::move(body), std::move(etag)};
    });
    reply.document(document->mediaType, document->body, document->etag);
    return true;
  }
  if (path == "/openapi/v3") {
    const TaggedDocument root = openApiV3Root(resources_.served());
    reply.document("application/json", root.body, root.etag);
    return true;
  }
  if (!path.starts_with(kV3)) return false;
  // api/v1 or apis/apps/v1
  std::string_view rest = path.substr(kV3.size());
  GroupVersion version;
  if (rest.starts_with("api/")) {
    version.version = rest.substr(4);
  } else if (rest.starts_with("apis/")) {
    rest.remove_prefix(5);
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    version = {rest.substr(0, slash), rest.substr(std::min(slash + 1, rest.size()))};
  }
  if (!resources_.hasVersion(version)) return false;
  const DocumentPtr document = kept("v3 " + version.str(), [&] {
    const auto served = resources_.served();
    return Document{"application/json", toJson(openApiV3(served, version)),
                    openApiV3Hash(served, version)};
  });
  reply.document(document->mediaType, document->body, document->etag);
  return true;
}

}  // namespace kube::apiserver
