// CustomResourceDefinitions, and a server's OpenAPI documents, as packages of types.
//
//   CrdReader reader(library, {.outer = "acme"});
//   reader.addDefinition(parseYaml(text), "widgets.yaml");
//   std::vector<Package> packages = reader.finish();
//   generateCustom(library, packages);
//
// A package is a group and version; definitions of the same one share it. Its folder and namespace
// are the first label of the group's name with the version, as samplecrd/v1 and samplecrdv1; where
// groups would share them, the later one in alphabetical order has its whole name.
//
// Whether a definition is one that a server accepts is not looked at here. It is hostile input all
// the same: names that have no place in code are errors, and what is bounded says type_reader.h.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codegen/schema.h"
#include "codegen/type_reader.h"
#include "kube/meta/value.h"

namespace kube::codegen {

class CrdReader {
 public:
  CrdReader(const Schema& library, ReadOptions options);

  /// A CustomResourceDefinition of v1. `source` is for messages. Throws Error with the path.
  void addDefinition(const Value& crd, const std::string& source);

  /// A document of OpenAPI v3, and the resources of that version as discovery tells them (an
  /// APIResourceList).
  void addDocument(const Value& document, const Value& resources, const std::string& source);

  /// Once, when all are added.
  std::vector<Package> finish();

  /// Where something became a kube::Value, and why.
  const std::vector<std::string>& notes() const noexcept { return notes_; }

 private:
  Package& packageOf(const std::string& group, const std::string& version);
  void addKind(const std::string& group, const std::string& version, Kind kind, const Value& schema,
               const std::string& path, const Value* references = nullptr);

  const Schema& library_;
  const ReadOptions options_;
  std::map<std::pair<std::string, std::string>, Package> packages_;  // by group and version
  std::vector<std::string> notes_;
};

/// Throws Error unless it can stand around generated code: "acme", "acme::api".
void checkNamespace(const std::string& outer);

}  // namespace kube::codegen
