// The input of the generator: packages of API types.
//
// They are read from codegen/schema/*.json (see README.md for the format). Other sources of types,
// such as CustomResourceDefinitions, fill the same structs.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kube/meta/value.h"

namespace kube::codegen {

/// A member of type string, or an empty string if there is none.
inline std::string text(const Value& object, std::string_view key) {
  return object[key].asString().str();
}

inline std::vector<std::string> strings(const Value& array) {
  std::vector<std::string> result;
  for (const Value& item : array.asArray()) result.push_back(item.asString().str());
  return result;
}

struct Field {
  std::string name = {};       // in JSON
  std::string inlined = {};    // instead of a name: a type whose fields stand in this place
  std::string protoName = {};  // if it differs from the name
  std::string type = {};       // "string", "Time", "Volume", "meta/v1.ObjectMeta"
  std::string shape = {};      // "", "pointer", "list", "map"
  int tag = 0;
  bool required = false;
  bool keep = false;
  bool omitZero = false;
  std::string listType = {}, mapType = {}, patchStrategy = {}, patchMergeKey = {};
  std::vector<std::string> listMapKeys = {};

  // For custom resources.
  struct Constant {
    std::string name, value;
  };
  std::string member = {};               // the C++ name, if it is not made from `name`
  std::string comment = {};              // a sentence or two
  std::vector<Constant> constants = {};  // the values of an enumeration
  std::string text = {};                 // kube::SchemaText
};

struct Type {
  std::string name;
  std::vector<Field> fields;
  bool atomic = false;
  std::string comment = {};
  std::string text = {};  // kube::SchemaText
};

struct Subresource {
  std::string name, group, version, kind;
  std::vector<std::string> verbs;
};

struct Kind {
  std::string kind, type, list, resource, singular;
  bool namespaced = false, retired = false, unversioned = false, bare = false;
  std::vector<std::string> verbs, shortNames, categories;
  std::vector<Subresource> subresources;
  // For custom resources.
  std::string cppType = {};      // if it differs from the kind
  std::string accessor = {};     // the name in clients and informers
  std::string versionText = {};  // TypeNotes::version
};

struct Package {
  std::string name;  // "core/v1"
  std::string group, version;
  std::string release;  // of Kubernetes: "1.36.4"
  std::vector<Type> types;
  std::vector<Kind> kinds;

  // For custom resources, which belong to a project that uses the library.
  bool custom = false;
  std::string groupName = {};  // in accessors, if it is not the first label of the group
  std::string outer = {};      // the namespace around the package's own: "acme", "acme::api"

  const Type* find(const std::string& type) const;
};

using Schema = std::map<std::string, Package>;  // by name

/// Reads every .json file of a folder. Throws kube::Error.
Schema readSchema(const std::filesystem::path& folder);

}  // namespace kube::codegen
