// The facts the generator works from: what a package of API types contains.
//
// Read from codegen/schema/*.json (see README.md for the format); other sources of types, such as
// CustomResourceDefinitions, fill the same structs.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kube/meta/value.h"

namespace kube::codegen {

/// A member that is a text; empty where there is none.
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
  std::string inlined = {};    // instead: a type whose fields stand in this place
  std::string protoName = {};  // if it differs
  std::string type = {};       // "string", "Time", "Volume", "meta/v1.ObjectMeta"
  std::string shape = {};      // "", "pointer", "list", "map"
  int tag = 0;
  bool required = false;
  bool keep = false;
  bool omitZero = false;
  std::string listType = {}, mapType = {}, patchStrategy = {}, patchMergeKey = {};
  std::vector<std::string> listMapKeys = {};

  // Of custom resources.
  struct Constant {
    std::string name, value;
  };
  std::string member = {};               // in C++, where it is not made from the name
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
  // Of custom resources.
  std::string cppType = {};      // where it is not the kind
  std::string accessor = {};     // of clients and informers
  std::string versionText = {};  // TypeNotes::version
};

struct Package {
  std::string name;  // "core/v1"
  std::string group, version;
  std::string release;  // of Kubernetes: "1.36.4"
  std::vector<Type> types;
  std::vector<Kind> kinds;

  // Of custom resources: not part of the library, but of a project that uses it.
  bool custom = false;
  std::string groupName = {};  // of accessors, where it is not the first label of the group
  std::string outer = {};      // the namespace around the package's own, as "acme" or "acme::api"

  const Type* find(const std::string& type) const;
};

using Schema = std::map<std::string, Package>;  // by name

/// Reads every file of a folder. Throws kube::Error.
Schema readSchema(const std::filesystem::path& folder);

}  // namespace kube::codegen
