// Reads CustomResourceDefinitions, and a server's OpenAPI documents, into packages of types.
//
//   CrdReader reader(library, {.outer = "acme"});
//   reader.addDefinition(parseYaml(text), "widgets.yaml");
//   std::vector<Package> packages = reader.finish();
//   generateCustom(library, packages);
//
// A package holds a group and version. Its folder and namespace are named after the first label of
// the group and the version: samplecrd/v1 and samplecrdv1. If two groups have the same first label,
// the later one in alphabetical order uses its whole name.
//
// A definition is hostile input: names that are unsafe in code are errors, and sizes are bounded
// (see type_reader.h). Whether a server would accept the definition is not checked here.
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

  /// Adds a CustomResourceDefinition of v1. `source` is for messages. Throws Error with the path.
  void addDefinition(const Value& crd, const std::string& source);

  /// Adds a document of OpenAPI v3. `resources` are those of its version, from discovery (an
  /// APIResourceList).
  void addDocument(const Value& document, const Value& resources, const std::string& source);

  /// Returns the packages. Call it once, after all definitions and documents.
  std::vector<Package> finish();

  /// The places that became a kube::Value, and why.
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

/// Throws Error unless generated code can be in this namespace: "acme", "acme::api".
void checkNamespace(const std::string& outer);

}  // namespace kube::codegen
