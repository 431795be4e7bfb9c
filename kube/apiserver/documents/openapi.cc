#include "kube/apiserver/documents/openapi.h"

#include <utility>
#include <vector>

#include "kube/api/packages.h"
#include "kube/api/registry.h"
#include "kube/apiserver/documents/content_hash.h"
#include "kube/apiserver/documents/openapi_definitions.h"
#include "kube/apiserver/documents/openapi_operation.h"
#include "kube/apiserver/documents/openapi_paths.h"
#include "kube/codec/json.h"
#include "kube/meta/v1.h"

namespace kube::apiserver {

namespace {

std::vector<GroupVersion> versionsOf(std::span<const ServedGroup> groups) {
  std::vector<GroupVersion> versions;
  for (const ServedGroup& group : groups) {
    for (const String& version : group.versions) versions.push_back({group.name, version});
  }
  return versions;
}

Value info() {
  return Value::Object{{"title", "Kubernetes"}, {"version", "v" + std::string(builtInRelease())}};
}

Value security() { return Value::Array{Value::Object{{"BearerToken", Value::Array()}}}; }

Value bearerToken() {
  return Value::Object{{"BearerToken", Value::Object{{"description", "Bearer Token authentication"},
                                                     {"in", "header"},
                                                     {"name", "authorization"},
                                                     {"type", "apiKey"}}}};
}

// The name of a version among the paths of the root: "api/v1", "apis/apps/v1".
std::string nameOf(const GroupVersion& version) { return pathOf(version).substr(1); }

bool isBuiltIn(const ServedResource& resource) {
  return resource.type == builtInKind(resource.groupVersion().str(), resource.kind);
}

// Identifies the tables of this build; another release may have others.
const std::string& builtInTables() {
  static const std::string hash = contentHash(toJson(openApiV2(builtInResources())));
  return hash;
}

}  // namespace

Value openApiV2(std::span<const ServedResource> served) {
  const std::vector<ServedGroup> groups = groupsOf(served);
  const std::vector<GroupVersion> versions = versionsOf(groups);
  OpenApiDefinitions definitions(OpenApiForm::V2, versions);
  Value paths = Value::Object();
  addRootPaths(paths, groups, definitions);
  for (const GroupVersion& version : versions) addVersionPath(paths, version, definitions);
  for (const ServedResource& resource : served) {
    addResourcePaths(paths, resource, definitions);
  }
  definitions.refTo(TypeOf<metav1::WatchEvent>::info);
  return Value::Object{{"swagger", "2.0"},
                       {"info", info()},
                       {"paths", std::move(paths)},
                       {"definitions", std::move(definitions).take()},
                       {"parameters", Parameters(OpenApiForm::V2).allCommon()},
                       {"security", security()},
                       {"securityDefinitions", bearerToken()}};
}

Value openApiV3(std::span<const ServedResource> served, const GroupVersion& version) {
  OpenApiDefinitions definitions(OpenApiForm::V3, versionsOf(groupsOf(served)));
  Value paths = Value::Object();
  for (const ServedResource& resource : served) {
    if (resource.groupVersion() == version) addResourcePaths(paths, resource, definitions);
  }
  if (!paths.asObject().empty()) addVersionPath(paths, version, definitions);
  definitions.refTo(TypeOf<metav1::WatchEvent>::info);
  return Value::Object{
      {"openapi", "3.0.0"},
      {"info", info()},
      {"paths", std::move(paths)},
      {"components", Value::Object{{"schemas", std::move(definitions).take()},
                                   {"parameters", Parameters(OpenApiForm::V3).allCommon()},
                                   {"securitySchemes", bearerToken()}}},
      {"security", security()}};
}

std::string openApiV3Hash(std::span<const ServedResource> served, const GroupVersion& version) {
  // The inputs of a document: the tables, the served versions, and schemas. Every document depends
  // on all versions, because DeleteOptions lists them.
  std::string content = builtInTables();
  for (const GroupVersion& other : versionsOf(groupsOf(served))) content += ' ' + other.str();
  content += toJson(apiResourceList(served, version));
  for (const ServedResource& resource : served) {
    if (resource.groupVersion() != version) continue;
    if (resource.type != nullptr && !isBuiltIn(resource)) {
      return contentHash(toJson(openApiV3(served, version)));  // the program's own type
    }
    content += ' ' + resource.listKind.str() + (resource.type != nullptr ? "+" : "-");
    if (resource.schema) content += toJson(*resource.schema);
  }
  return contentHash(content);
}

TaggedDocument openApiV3Root(std::span<const ServedResource> served) {
  Value paths = Value::Object();
  for (const GroupVersion& version : versionsOf(groupsOf(served))) {
    const std::string name = nameOf(version);
    paths[name]["serverRelativeURL"] =
        "/openapi/v3/" + name + "?hash=" + openApiV3Hash(served, version);
  }
  TaggedDocument document{.body = toJson(Value(Value::Object{{"paths", std::move(paths)}})),
                          .etag = {}};
  document.etag = contentHash(document.body);
  return document;
}

}  // namespace kube::apiserver
