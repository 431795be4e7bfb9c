#include "kube/apiserver/documents/openapi_paths.h"

#include <algorithm>
#include <utility>

#include "kube/api/registry.h"
#include "kube/apiserver/documents/openapi_custom.h"
#include "kube/apiserver/documents/openapi_operation.h"
#include "kube/meta/v1.h"

namespace kube::apiserver {

namespace {

constexpr std::string_view kCustomTypes[] = {"application/json", "application/yaml"};
constexpr std::string_view kPatchTypes[] = {
    "application/json-patch+json", "application/merge-patch+json",
    "application/strategic-merge-patch+json", "application/apply-patch+yaml"};
constexpr std::string_view kCustomPatchTypes[] = {
    "application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"};
constexpr std::string_view kTextType[] = {"text/plain"};

constexpr int kOkCreated[] = {200, 201};
constexpr int kOkAccepted[] = {200, 202};
constexpr int kOkCreatedAccepted[] = {200, 201, 202};

bool has(const List<String>& verbs, std::string_view verb) {
  return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

class ResourcePaths {
 public:
  ResourcePaths(Value& paths, const ServedResource& resource, OpenApiDefinitions& definitions)
      : paths_(paths),
        resource_(resource),
        definitions_(definitions),
        parameters_(definitions.form()),
        version_(versionId(resource.groupVersion())),
        scope_(resource.namespaced ? "Namespaced" : ""),
        custom_(resource.type == nullptr) {
    addSchemas();
  }

  void add() {
    const std::string base = pathOf(resource_.groupVersion());
    const std::string plural = "/" + resource_.plural.str();
    const std::string collection =
        base + (resource_.namespaced ? "/namespaces/{namespace}" : "") + plural;
    if (resource_.namespaced && has(resource_.verbs, "list")) {
      open(base + plural, false, false);
      put("get", list("list" + version_ + resource_.kind.str() + "ForAllNamespaces"));
    }
    addCollection(collection);
    addItem(collection + "/{name}");
    for (const ServedSubresource& sub : resource_.subresources) {
      addSubresource(collection + "/{name}/" + sub.name.str(), sub);
    }
  }

 private:
  void addSchemas() {
    const GroupVersionKind listGvk{resource_.group, resource_.version, resource_.listKind};
    if (resource_.type != nullptr) {
      object_ = definitions_.refTo(*resource_.type);
    } else {
      const std::string name = customDefinitionName(resource_.gvk());
      definitions_.put(name, customSchema(resource_.schema, resource_.gvk(), definitions_));
      object_ = definitions_.refTo(name);
    }
    if (resource_.listKind.empty()) return;
    if (const TypeInfo* type = builtInKind(listGvk.groupVersion().str(), listGvk.kind);
        type != nullptr && !custom_) {
      list_ = definitions_.refTo(*type);
      return;
    }
    const std::string name = customDefinitionName(listGvk);
    definitions_.put(name, customListSchema(resource_.gvk(), listGvk, definitions_));
    list_ = definitions_.refTo(name);
  }

  // Starts a path. The methods below add to it.
  void open(const std::string& path, bool name, bool namespace_) {
    item_ = &paths_[path];
    Value::Array& parameters = (*item_)["parameters"].array();
    if (name) parameters.push_back(parameters_.path("name"));
    if (namespace_) parameters.push_back(parameters_.common("namespace"));
    parameters.push_back(parameters_.common("pretty"));
  }

  void put(std::string_view method, const Operation& operation) {
    (*item_)[method] = write(operation, definitions_.form());
  }

  Operation operation(std::string id, std::string_view action) const {
    return {.id = std::move(id),
            .tag = versionTag(resource_.groupVersion()),
            .action = action,
            .kind = resource_.gvk(),
            .response = object_,
            .produces = custom_ ? MediaTypes(kCustomTypes) : kObjectTypes};
  }

  // "readAppsV1NamespacedDeploymentScale"
  std::string id(std::string_view verb, std::string_view subresource = "") const {
    return std::string(verb) + version_ + scope_ + resource_.kind.str() + capitalized(subresource);
  }

  void addCommon(Operation& operation, std::span<const QueryParameter> parameters) const {
    for (const QueryParameter& parameter : parameters) {
      operation.parameters.push_back(parameters_.common(parameter.name));
    }
  }
  void addWriteParameters(Operation& operation) const {
    operation.parameters.push_back(parameters_.query("dryRun", "string"));
    operation.parameters.push_back(parameters_.common("fieldManager"));
    operation.parameters.push_back(parameters_.query("fieldValidation", "string"));
  }

  Operation list(std::string id) const {
    Operation result = operation(std::move(id), "list");
    result.response = list_;
    addCommon(result, kListParameters);
    return result;
  }

  Operation writing(std::string id, std::string_view action, StatusCodes codes) const {
    Operation result = operation(std::move(id), action);
    result.body = object_;
    result.codes = codes;
    addWriteParameters(result);
    return result;
  }

  Operation patching(std::string id) const {
    Operation result = writing(std::move(id), "patch", kOkCreated);
    result.body = definitions_.refTo(TypeOf<metav1::Patch>::info);
    result.consumes = custom_ ? MediaTypes(kCustomPatchTypes) : kPatchTypes;
    result.parameters.push_back(parameters_.common("force"));
    return result;
  }

  Operation deleting(std::string id, std::string_view action) const {
    Operation result = operation(std::move(id), action);
    result.response = definitions_.refTo(TypeOf<metav1::Status>::info);
    result.body = definitions_.refTo(TypeOf<metav1::DeleteOptions>::info);
    result.bodyRequired = false;
    if (action == "delete") result.codes = kOkAccepted;
    result.parameters.push_back(parameters_.query("dryRun", "string"));
    addCommon(result, kDeleteParameters);
    return result;
  }

  void addCollection(const std::string& path) {
    const auto& verbs = resource_.verbs;
    if (!has(verbs, "list") && !has(verbs, "create") && !has(verbs, "deletecollection")) return;
    open(path, false, resource_.namespaced);
    if (has(verbs, "list")) put("get", list(id("list")));
    if (has(verbs, "create")) put("post", writing(id("create"), "post", kOkCreatedAccepted));
    if (has(verbs, "deletecollection")) {
      Operation operation = deleting(
          "delete" + version_ + "Collection" + scope_ + resource_.kind.str(), "deletecollection");
      for (const QueryParameter& parameter : kListParameters) {
        if (parameter.name == "allowWatchBookmarks" || parameter.name == "watch") continue;
        operation.parameters.push_back(parameters_.common(parameter.name));
      }
      put("delete", operation);
    }
  }

  void addItem(const std::string& path) {
    const auto& verbs = resource_.verbs;
    if (!has(verbs, "get") && !has(verbs, "update") && !has(verbs, "patch") &&
        !has(verbs, "delete")) {
      return;
    }
    open(path, true, resource_.namespaced);
    if (has(verbs, "get")) put("get", operation(id("read"), "get"));
    if (has(verbs, "update")) put("put", writing(id("replace"), "put", kOkCreated));
    if (has(verbs, "patch")) put("patch", patching(id("patch")));
    if (has(verbs, "delete")) put("delete", deleting(id("delete"), "delete"));
  }

  // The schema of a subresource's body.
  Value bodyOf(const ServedSubresource& sub, const TypeInfo* type) const {
    if (sub.kind == resource_.gvk()) return object_;
    if (type != nullptr) return definitions_.refTo(*type);
    return Value::Object{{"type", "object"}};
  }

  void addSubresource(const std::string& path, const ServedSubresource& sub) {
    const TypeInfo* type = builtInKind(sub.kind.groupVersion().str(), sub.kind.kind);
    if (sub.kind.kind.view().ends_with("Options")) return addConnection(path, sub, type);
    open(path, true, resource_.namespaced);
    if (sub.name == "log") return addLog(sub);
    const Value body = bodyOf(sub, type);
    const auto about = [&](Operation operation) {
      operation.kind = sub.kind;
      if (!operation.response.isNull()) operation.response = body;
      if (!operation.body.isNull() && operation.action != "patch") operation.body = body;
      return operation;
    };
    if (has(sub.verbs, "get")) put("get", about(operation(id("read", sub.name), "get")));
    if (has(sub.verbs, "update")) {
      put("put", about(writing(id("replace", sub.name), "put", kOkCreated)));
    }
    if (has(sub.verbs, "patch")) put("patch", about(patching(id("patch", sub.name))));
    if (has(sub.verbs, "create")) {
      put("post", about(writing(id("create", sub.name), "post", kOkCreatedAccepted)));
    }
  }

  // Adds the fields of an options kind as query parameters.
  void addFieldParameters(Value::Array& parameters, const TypeInfo* options) const {
    if (options == nullptr) return;
    for (const FieldInfo& field : options->fields) {
      if (field.kind == FieldKind::Message || field.kind == FieldKind::Time) continue;
      std::string_view type = "string";
      if (field.kind == FieldKind::Bool) type = "boolean";
      if (field.kind == FieldKind::Int32 || field.kind == FieldKind::Int64) type = "integer";
      parameters.push_back(parameters_.query(field.name, type));
    }
  }

  void addLog(const ServedSubresource& sub) {
    Operation operation = this->operation(id("read", sub.name), "get");
    operation.response = Value::Object{{"type", "string"}};
    operation.produces = kTextType;
    addFieldParameters(operation.parameters, builtInKind("v1", "PodLogOptions"));
    put("get", operation);
  }

  // Adds a request that becomes a connection of its own: exec, attach, port forwarding, proxies.
  void addConnection(const std::string& path, const ServedSubresource& sub,
                     const TypeInfo* options) {
    const bool proxy = sub.name == "proxy";
    addConnectionPath(path, sub, options, "");
    if (proxy) addConnectionPath(path + "/{path}", sub, options, "WithPath");
  }

  void addConnectionPath(const std::string& path, const ServedSubresource& sub,
                         const TypeInfo* options, std::string_view suffix) {
    item_ = &paths_[path];
    Value::Array& parameters = (*item_)["parameters"].array();
    parameters.push_back(parameters_.path("name"));
    if (resource_.namespaced) parameters.push_back(parameters_.common("namespace"));
    if (!suffix.empty()) parameters.push_back(parameters_.path("path"));
    addFieldParameters(parameters, options);
    static constexpr std::pair<std::string_view, std::string_view> kMethods[] = {
        {"create", "post"}, {"delete", "delete"}, {"get", "get"},        {"patch", "patch"},
        {"update", "put"},  {"head", "head"},     {"options", "options"}};
    for (const auto& [verb, method] : kMethods) {
      const bool always = sub.name == "proxy" && (verb == "head" || verb == "options");
      if (!always && !has(sub.verbs, verb)) continue;
      Operation operation =
          this->operation("connect" + version_ + capitalized(method) + scope_ +
                              resource_.kind.str() + capitalized(sub.name) + std::string(suffix),
                          "connect");
      operation.kind = sub.kind;
      operation.response = Value::Object{{"type", "string"}};
      operation.produces = kAnyType;
      put(method, operation);
    }
  }

  Value& paths_;
  const ServedResource& resource_;
  OpenApiDefinitions& definitions_;
  const Parameters parameters_;
  const std::string version_;
  const std::string scope_;
  const bool custom_;
  Value object_, list_;  // references to the schemas
  Value* item_ = nullptr;
};

}  // namespace

std::string pathOf(const GroupVersion& version) {
  return (version.group.empty() ? "/api/" : "/apis/") + version.str();
}

void addResourcePaths(Value& paths, const ServedResource& resource,
                      OpenApiDefinitions& definitions) {
  ResourcePaths(paths, resource, definitions).add();
}

void addVersionPath(Value& paths, const GroupVersion& version, OpenApiDefinitions& definitions) {
  paths[pathOf(version) + "/"]["get"] =
      write({.id = "get" + versionId(version) + "APIResources",
             .tag = versionTag(version),
             .response = definitions.refTo(TypeOf<metav1::APIResourceList>::info)},
            definitions.form());
}

void addRootPaths(Value& paths, std::span<const ServedGroup> groups,
                  OpenApiDefinitions& definitions) {
  const auto add = [&](const std::string& path, std::string id, std::string tag, Value response) {
    paths[path]["get"] =
        write({.id = std::move(id), .tag = std::move(tag), .response = std::move(response)},
              definitions.form());
  };
  add("/api/", "getCoreAPIVersions", "core", definitions.refTo(TypeOf<metav1::APIVersions>::info));
  add("/apis/", "getAPIVersions", "apis", definitions.refTo(TypeOf<metav1::APIGroupList>::info));
  for (const ServedGroup& group : groups) {
    if (group.name.empty()) continue;
    const std::string tag = groupTag(group.name);
    add("/apis/" + group.name.str() + "/", "get" + capitalized(tag) + "APIGroup", tag,
        definitions.refTo(TypeOf<metav1::APIGroup>::info));
  }
  Value info = Value::Object{{"type", "object"}};
  for (const char* name : {"major", "minor", "gitVersion", "gitCommit", "gitTreeState", "buildDate",
                           "goVersion", "compiler", "platform"}) {
    info["properties"][name] = Value::Object{{"type", "string"}};
    info["required"].array().push_back(name);
  }
  constexpr std::string_view kInfo = "io.k8s.apimachinery.pkg.version.Info";
  definitions.put(kInfo, std::move(info));
  add("/version/", "getCodeVersion", "version", definitions.refTo(kInfo));
}

}  // namespace kube::apiserver
