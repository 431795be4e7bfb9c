#include "codegen/schema.h"

#include <fstream>
#include <sstream>

#include "kube/base/error.h"
#include "kube/codec/json.h"

namespace kube::codegen {

const Type* Package::find(const std::string& type) const {
  for (const Type& candidate : types) {
    if (candidate.name == type) return &candidate;
  }
  return nullptr;
}

namespace {

Field readField(const Value& value) {
  return {.name = text(value, "name"),
          .inlined = text(value, "inline"),
          .protoName = text(value, "protoName"),
          .type = text(value, "type"),
          .shape = text(value, "shape"),
          .tag = static_cast<int>(value["tag"].asInt()),
          .required = value["required"].asBool(),
          .keep = value["keep"].asBool(),
          .omitZero = value["omitzero"].asBool(),
          .listType = text(value, "listType"),
          .mapType = text(value, "mapType"),
          .patchStrategy = text(value, "patchStrategy"),
          .patchMergeKey = text(value, "patchMergeKey"),
          .listMapKeys = strings(value["listMapKeys"])};
}

Kind readKind(const Value& value) {
  Kind kind{.kind = text(value, "kind"),
            .type = text(value, "type"),
            .list = text(value, "list"),
            .resource = text(value, "resource"),
            .singular = text(value, "singular"),
            .namespaced = value["namespaced"].asBool(),
            .retired = value["retired"].asBool(),
            .unversioned = value["unversioned"].asBool() || value["everyVersion"].asBool(),
            .bare = value["bare"].asBool(),
            .verbs = strings(value["verbs"]),
            .shortNames = strings(value["shortNames"]),
            .categories = strings(value["categories"]),
            .subresources = {}};
  for (const Value& sub : value["subresources"].asArray()) {
    kind.subresources.push_back({.name = text(sub, "name"),
                                 .group = text(sub, "group"),
                                 .version = text(sub, "version"),
                                 .kind = text(sub, "kind"),
                                 .verbs = strings(sub["verbs"])});
  }
  return kind;
}

Package readPackage(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::stringstream content;
  content << in.rdbuf();
  if (!in) throw Error(file.string() + ": cannot be read");
  const Value root = parseJson(content.str());
  Package package{.name = text(root, "package"),
                  .group = text(root, "group"),
                  .version = text(root, "version"),
                  .release = text(root, "release"),
                  .types = {},
                  .kinds = {}};
  for (const auto& [name, fields] : root["types"].asObject()) {
    Type type{.name = name.str(), .fields = {}, .atomic = root["structTypes"][name] == "atomic"};
    for (const Value& field : fields.asArray()) type.fields.push_back(readField(field));
    package.types.push_back(std::move(type));
  }
  for (const Value& kind : root["kinds"].asArray()) package.kinds.push_back(readKind(kind));
  return package;
}

}  // namespace

Schema readSchema(const std::filesystem::path& folder) {
  Schema schema;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    Package package = readPackage(entry.path());
    schema.emplace(package.name, std::move(package));
  }
  if (schema.empty()) throw Error(folder.string() + ": no schema files in this folder");
  return schema;
}

}  // namespace kube::codegen
