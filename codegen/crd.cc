#include "codegen/crd.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "codegen/names.h"
#include "kube/base/error.h"
#include "kube/base/internal/text.h"
#include "kube/codec/json.h"

namespace kube::codegen {

namespace {

const std::vector<std::string> kVerbs = {"delete", "deletecollection", "get",    "list",
                                         "patch",  "create",           "update", "watch"};
const std::vector<std::string> kSubresourceVerbs = {"get", "patch", "update"};

// Reads a name. It goes into code and comments unchanged, so it is restricted to safe characters.
std::string name(const Value& node, std::string_view key, const std::string& path) {
  std::string result = text(node, key);
  if (result.empty()) throw Error(fmt::format("{}.{}: missing", path, key));
  const bool plain = result.size() <= 253 && std::ranges::all_of(result, [](char c) {
                       return detail::isAlphanumeric(c) || c == '-' || c == '.';
                     });
  if (!plain || !detail::isAlphanumeric(result.front())) {
    throw Error(fmt::format("{}.{}: {} is not a name", path, key, literal(result)));
  }
  return result;
}

Subresource statusOf(const std::string& kind) {
  return {.name = "status", .group = "", .version = "", .kind = kind, .verbs = kSubresourceVerbs};
}
Subresource scale() {
  return {.name = "scale",
          .group = "autoscaling",
          .version = "v1",
          .kind = "Scale",
          .verbs = kSubresourceVerbs};
}

// The version as JSON, without the schema and the name, which the generated code has elsewhere.
std::string versionText(const Value& version) {
  Value::Object rest = version.asObject();
  rest.erase("schema");
  rest.erase("name");
  return toJson(Value(std::move(rest)));
}

// "samplecrd.k8s.io" -> "samplecrd"; with `whole`, "samplecrdk8sio".
std::string folderFor(std::string_view group, bool whole) {
  std::string folder;
  for (const char c : whole ? group : group.substr(0, group.find('.'))) {
    if (detail::isAlphanumeric(c)) folder += detail::lower(c);
  }
  if (detail::isDigit(folder[0])) folder.insert(0, "x");
  return folder;
}

// Gives the accessors of a package unique names.
void nameAccessors(Package& package) {
  std::set<std::string> used = {"rest", "GroupClient", "factory_"};
  for (Kind& kind : package.kinds) {
    if (kind.resource.empty()) continue;
    std::string accessor = lowerFirst(identifier(accessorName(kind)));
    if (isReserved(accessor) || used.contains(accessor)) accessor += "_";
    while (!used.insert(accessor).second) accessor += "_";
    kind.accessor = accessor;
  }
}

}  // namespace

void checkNamespace(const std::string& outer) {
  std::string_view rest = outer;
  while (!outer.empty()) {
    const auto end = rest.find("::");
    const std::string part(rest.substr(0, end));
    const bool plain = !part.empty() && std::ranges::all_of(part, isIdentifierCharacter) &&
                       !detail::isDigit(part[0]);
    // Generated code uses kube::String and std::optional, so neither name may be hidden. Generated
    // code must not extend the library's namespace, either.
    const bool hides = part == "std" || part == "kube";
    if (!plain || hides || isReserved(part)) {
      throw Error(fmt::format("{} cannot be a namespace around generated code", literal(outer)));
    }
    if (end == std::string_view::npos) return;
    rest.remove_prefix(end + 2);
  }
}

CrdReader::CrdReader(const Schema& library, ReadOptions options)
    : library_(library), options_(std::move(options)) {
  checkNamespace(options_.outer);
}

Package& CrdReader::packageOf(const std::string& group, const std::string& version) {
  Package& package = packages_[{group, version}];
  if (!package.custom) {
    package.group = group;
    package.version = version;
    package.custom = true;
    package.outer = options_.outer;
  }
  return package;
}

void CrdReader::addKind(const std::string& group, const std::string& version, Kind kind,
                        const Value& schema, const std::string& path, const Value* references) {
  Package& package = packageOf(group, version);
  const auto same = [&](const Kind& other) { return other.kind == kind.kind; };
  if (std::ranges::any_of(package.kinds, same)) {
    throw Error(fmt::format("{}: {} {}/{} is defined twice", path, kind.kind, group, version));
  }
  TypeReader reader(package, library_, options_, notes_);
  if (references != nullptr) reader.setReferences(*references, "");
  reader.addKind(std::move(kind), schema, path);
}

void CrdReader::addDefinition(const Value& crd, const std::string& source) {
  const std::string apiVersion = text(crd, "apiVersion");
  if (text(crd, "kind") != "CustomResourceDefinition" ||
      !apiVersion.starts_with("apiextensions.k8s.io/")) {
    throw Error(fmt::format("{}: expected a CustomResourceDefinition, found {} {}", source,
                            literal(apiVersion), literal(text(crd, "kind"))));
  }
  if (apiVersion != "apiextensions.k8s.io/v1") {
    throw Error(
        fmt::format("{}: {}: servers since 1.22 accept only apiextensions.k8s.io/v1; convert "
                    "the definition to it",
                    source, apiVersion));
  }
  const Value& spec = crd["spec"];
  const Value& names = spec["names"];
  const std::string group = name(spec, "group", source + ": spec");
  Kind kind;
  kind.kind = name(names, "kind", source + ": spec.names");
  kind.resource = name(names, "plural", source + ": spec.names");
  kind.singular = text(names, "singular");
  kind.list = text(names, "listKind");
  if (kind.list.empty()) kind.list = kind.kind + "List";
  kind.namespaced = text(spec, "scope") == "Namespaced";
  kind.verbs = kVerbs;
  kind.shortNames = strings(names["shortNames"]);
  kind.categories = strings(names["categories"]);

  const auto& versions = spec["versions"].asArray();
  if (versions.empty()) throw Error(source + ": spec.versions: missing");
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const Value& version = versions[i];
    const std::string path = fmt::format("{}: spec.versions[{}]", source, i);
    Kind own = kind;
    own.retired = !version["served"].asBool();
    if (version["subresources"]["status"].isObject()) {
      own.subresources.push_back(statusOf(kind.kind));
    }
    if (version["subresources"]["scale"].isObject()) own.subresources.push_back(scale());
    if (options_.annotations) own.versionText = versionText(version);
    addKind(group, name(version, "name", path), std::move(own),
            version["schema"]["openAPIV3Schema"], path + ".schema.openAPIV3Schema");
  }
}

void CrdReader::addDocument(const Value& document, const Value& resources,
                            const std::string& source) {
  const Value& schemas = document["components"]["schemas"];
  const std::string groupVersion = text(resources, "groupVersion");
  const auto slash = groupVersion.find('/');
  if (slash == std::string::npos) {
    throw Error(fmt::format("{}: {} is not a GROUP/VERSION", source, literal(groupVersion)));
  }
  const Value both = Value::Object{{"group", groupVersion.substr(0, slash)},
                                   {"version", groupVersion.substr(slash + 1)}};
  const std::string group = name(both, "group", source);
  const std::string version = name(both, "version", source);

  // The schemas of kinds name their kind.
  std::map<std::string, std::string> schemaOf;
  for (const auto& [key, schema] : schemas.asObject()) {
    for (const Value& gvk : schema["x-kubernetes-group-version-kind"].asArray()) {
      if (text(gvk, "group") == group && text(gvk, "version") == version) {
        schemaOf.emplace(text(gvk, "kind"), key.str());
      }
    }
  }

  std::vector<Kind> kinds;
  std::map<std::string, std::vector<Subresource>> subresources;  // by resource
  for (const Value& resource : resources["resources"].asArray()) {
    const std::string plural = text(resource, "name");
    if (const auto sub = plural.find('/'); sub != std::string::npos) {
      const std::string what = plural.substr(sub + 1);
      auto& of = subresources[plural.substr(0, sub)];
      if (what == "status") of.push_back(statusOf(text(resource, "kind")));
      if (what == "scale" && text(resource, "group") == "autoscaling") of.push_back(scale());
      continue;
    }
    Kind kind;
    kind.kind = name(resource, "kind", source + ": resources");
    kind.resource = name(resource, "name", source + ": resources");
    kind.singular = text(resource, "singularName");
    kind.list = kind.kind + "List";
    kind.namespaced = resource["namespaced"].asBool();
    kind.verbs = strings(resource["verbs"]);
    kind.shortNames = strings(resource["shortNames"]);
    kind.categories = strings(resource["categories"]);
    kinds.push_back(std::move(kind));
  }
  if (kinds.empty()) throw Error(fmt::format("{}: no resources in {}", source, groupVersion));

  Package& package = packageOf(group, version);
  TypeReader reader(package, library_, options_, notes_);
  std::string prefix;
  if (const auto at = schemaOf.find(kinds.front().kind); at != schemaOf.end()) {
    prefix = at->second.substr(0, at->second.rfind('.') + 1);
  }
  reader.setReferences(schemas, prefix);
  std::set<std::string> done;
  for (Kind& kind : kinds) {
    if (!done.insert(kind.kind).second) continue;
    const auto at = schemaOf.find(kind.kind);
    if (at == schemaOf.end()) {
      throw Error(
          fmt::format("{}: the document has no schema of {} {}", source, groupVersion, kind.kind));
    }
    kind.subresources = subresources[kind.resource];
    reader.addKind(std::move(kind), schemas[at->second], source + ": " + at->second);
  }
}

std::vector<Package> CrdReader::finish() {
  std::vector<Package> packages;
  std::map<std::string, std::string> owner;  // a folder -> its group
  for (auto& [key, package] : packages_) {
    std::string folder = folderFor(package.group, false);
    if (owner.emplace(folder, package.group).first->second != package.group) {
      folder = folderFor(package.group, true);
      if (owner.emplace(folder, package.group).first->second != package.group) {
        throw Error(fmt::format("the groups {} and {} have the same name in C++", owner[folder],
                                package.group));
      }
      package.groupName = folder;
    }
    package.name = folder + "/" + identifier(package.version);
    nameAccessors(package);
    TypeReader::settleNames(package);
    packages.push_back(std::move(package));
  }
  packages_.clear();
  return packages;
}

}  // namespace kube::codegen
