#include "kube/testing/openapi_operations.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <optional>
#include <utility>

#include "kube/api/registry.h"
#include "kube/meta/v1.h"
#include "kube/testing/openapi_custom.h"

namespace kube::testing::detail {

namespace {

// --- Names.

std::string capitalized(std::string_view text) {
  std::string out(text);
  if (!out.empty()) out[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(out[0])));
  return out;
}

// "rbacAuthorization" of rbac.authorization.k8s.io, "core" of the core group.
std::string groupTag(std::string_view group) {
  if (group.empty()) return "core";
  if (constexpr std::string_view kSuffix = ".k8s.io"; group.ends_with(kSuffix)) {
    group.remove_suffix(kSuffix.size());
  }
  std::string tag;
  while (!group.empty()) {
    const auto dot = std::min(group.find('.'), group.size());
    tag += tag.empty() ? std::string(group.substr(0, dot)) : capitalized(group.substr(0, dot));
    group.remove_prefix(std::min(dot + 1, group.size()));
  }
  return tag;
}

std::string versionTag(const GroupVersion& version) {
  return groupTag(version.group) + "_" + version.version.str();
}

// "AppsV1", which stands in the ids of a version's operations.
std::string versionId(const GroupVersion& version) {
  return capitalized(groupTag(version.group)) + capitalized(version.version);
}

// --- Parameters.

struct QueryParameter {
  std::string_view name;
  std::string_view type;
};

constexpr QueryParameter kListParameters[] = {{"allowWatchBookmarks", "boolean"},
                                              {"continue", "string"},
                                              {"fieldSelector", "string"},
                                              {"labelSelector", "string"},
                                              {"limit", "integer"},
                                              {"resourceVersion", "string"},
                                              {"resourceVersionMatch", "string"},
                                              {"sendInitialEvents", "boolean"},
                                              {"shardSelector", "string"},
                                              {"timeoutSeconds", "integer"},
                                              {"watch", "boolean"}};
constexpr QueryParameter kDeleteParameters[] = {
    {"gracePeriodSeconds", "integer"},
    {"ignoreStoreReadErrorWithClusterBreakingPotential", "boolean"},
    {"orphanDependents", "boolean"},
    {"propagationPolicy", "string"}};
constexpr QueryParameter kOtherParameters[] = {
    {"fieldManager", "string"}, {"force", "boolean"}, {"pretty", "string"}};

class Parameters {
 public:
  explicit Parameters(OpenApiForm form) : form_(form) {}

  Value query(std::string_view name, std::string_view type) const {
    return parameter("query", name, type);
  }
  Value path(std::string_view name) const {
    Value value = parameter("path", name, "string");
    value["required"] = true;
    return value;
  }
  Value common(std::string_view name) const {
    const std::string_view where =
        form_ == OpenApiForm::V2 ? "#/parameters/" : "#/components/parameters/";
    return Value::Object{{"$ref", std::string(where).append(name)}};
  }

 private:
  Value parameter(std::string_view in, std::string_view name, std::string_view type) const {
    Value value = Value::Object{{"in", in}, {"name", name}};
    Value& schema = form_ == OpenApiForm::V2 ? value : value["schema"];
    schema["type"] = type;
    schema["uniqueItems"] = true;
    return value;
  }

  const OpenApiForm form_;
};

// --- Operations.

using MediaTypes = std::span<const std::string_view>;
constexpr std::string_view kObjectTypes[] = {"application/json", "application/yaml",
                                             "application/vnd.kubernetes.protobuf"};
constexpr std::string_view kCustomTypes[] = {"application/json", "application/yaml"};
constexpr std::string_view kPatchTypes[] = {
    "application/json-patch+json", "application/merge-patch+json",
    "application/strategic-merge-patch+json", "application/apply-patch+yaml"};
constexpr std::string_view kCustomPatchTypes[] = {
    "application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"};
constexpr std::string_view kAnyType[] = {"*/*"};
constexpr std::string_view kTextType[] = {"text/plain"};

using StatusCodes = std::span<const int>;
constexpr int kOk[] = {200};
constexpr int kOkCreated[] = {200, 201};
constexpr int kOkAccepted[] = {200, 202};
constexpr int kOkCreatedAccepted[] = {200, 201, 202};

Value listOf(MediaTypes types) {
  Value list = Value::Array();
  for (const std::string_view type : types) list.array().push_back(type);
  return list;
}

// {"application/json": {"schema": ...}}
Value contentOf(MediaTypes types, const Value& schema) {
  Value content = Value::Object();
  for (const std::string_view type : types) content[type] = Value::Object{{"schema", schema}};
  return content;
}

// What one operation is; the rest follows from the form of the document.
struct Operation {
  std::string id;
  std::string tag;
  std::string_view action = {};  // empty: none
  GroupVersionKind kind = {};
  Value body = {};  // the schema of what is sent; null for none
  bool bodyRequired = true;
  MediaTypes consumes = kAnyType;
  Value response = {};  // the schema of what comes back; null for none
  MediaTypes produces = kObjectTypes;
  StatusCodes codes = kOk;
  Value::Array parameters = {};
};

std::string_view describe(int code) {
  switch (code) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    default:
      return "Unauthorized";
  }
}

Value responsesOf(const Operation& operation, OpenApiForm form) {
  Value responses = Value::Object();
  for (const int code : operation.codes) {
    Value& response = responses[std::to_string(code)];
    response["description"] = describe(code);
    if (operation.response.isNull()) continue;
    if (form == OpenApiForm::V2) {
      response["schema"] = operation.response;
    } else {
      response["content"] = contentOf(operation.produces, operation.response);
    }
  }
  responses["401"]["description"] = describe(401);
  return responses;
}

Value write(const Operation& operation, OpenApiForm form) {
  Value value = Value::Object{{"operationId", operation.id},
                              {"responses", responsesOf(operation, form)},
                              {"tags", Value::Array{operation.tag}}};
  Value::Array parameters = operation.parameters;
  if (form == OpenApiForm::V2) {
    value["consumes"] = listOf(operation.consumes);
    value["produces"] = listOf(operation.produces);
    value["schemes"] = Value::Array{"https"};
    if (!operation.body.isNull()) {
      Value body = Value::Object{{"in", "body"}, {"name", "body"}, {"schema", operation.body}};
      if (operation.bodyRequired) body["required"] = true;
      parameters.insert(0, std::move(body));
    }
  } else if (!operation.body.isNull()) {
    value["requestBody"]["content"] = contentOf(operation.consumes, operation.body);
    if (operation.bodyRequired) value["requestBody"]["required"] = true;
  }
  if (!parameters.empty()) value["parameters"] = std::move(parameters);
  if (operation.action.empty()) return value;
  value["x-kubernetes-action"] = operation.action;
  value["x-kubernetes-group-version-kind"] = gvkExtension(operation.kind)[0];
  return value;
}

// --- The paths of one resource.

bool has(const List<String>& verbs, std::string_view verb) {
  return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

class ResourcePaths {
 public:
  ResourcePaths(Value& paths, const ServedResource& resource, Definitions& definitions)
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

  // The path that is written to from here on.
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

  void addSubresource(const std::string& path, const ServedSubresource& sub) {
    const TypeInfo* type = builtInKind(sub.kind.groupVersion().str(), sub.kind.kind);
    if (sub.kind.kind.view().ends_with("Options")) return addConnection(path, sub, type);
    open(path, true, resource_.namespaced);
    if (sub.name == "log") return addLog(sub);
    Value body = object_;
    if (sub.kind != resource_.gvk()) {
      body = type != nullptr ? definitions_.refTo(*type) : Value(Value::Object{{"type", "object"}});
    }
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

  // Query parameters that are the fields of an options kind.
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

  // What becomes a connection of its own: exec, attach, port forwarding, proxies.
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
  Definitions& definitions_;
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

void addResourcePaths(Value& paths, const ServedResource& resource, Definitions& definitions) {
  ResourcePaths(paths, resource, definitions).add();
}

void addVersionPath(Value& paths, const GroupVersion& version, Definitions& definitions) {
  paths[pathOf(version) + "/"]["get"] =
      write({.id = "get" + versionId(version) + "APIResources",
             .tag = versionTag(version),
             .response = definitions.refTo(TypeOf<metav1::APIResourceList>::info)},
            definitions.form());
}

void addRootPaths(Value& paths, std::span<const ServedGroup> groups, Definitions& definitions) {
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

Value commonParameters(OpenApiForm form) {
  const Parameters parameters(form);
  Value all = Value::Object();
  for (const auto& group : std::initializer_list<std::span<const QueryParameter>>{
           kListParameters, kDeleteParameters, kOtherParameters}) {
    for (const QueryParameter& parameter : group) {
      all[parameter.name] = parameters.query(parameter.name, parameter.type);
    }
  }
  all["namespace"] = parameters.path("namespace");
  return all;
}

}  // namespace kube::testing::detail
