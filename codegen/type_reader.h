// Types from OpenAPI schemas: those of CustomResourceDefinitions, and those of a server's
// documents.
//
// An object with properties becomes a struct, named after the kind and the path to it:
// spec.template of Widget is a WidgetSpecTemplate. What C++ has no better form for here becomes a
// kube::Value, which holds any JSON and loses nothing; `notes` tells where and why:
//
//   - x-kubernetes-preserve-unknown-fields: fields that nobody named must not get lost
//   - an array or map as the element of an array or map (an array of strings is fine)
//   - elements that may be null, and required fields that may be: null is not the same as absent
//   - objects with property names that need escaping in JSON
//   - in a document, objects of which nothing is said
//
// Strings, arrays and maps that need not be there are absent when empty, as with Go's omitempty;
// other scalars that need not be there are optionals. A date-time is a kube::Time, of whole
// seconds; a number or text with the pattern of quantities is a kube::Quantity. Objects with
// exactly the fields of metav1::Condition or LabelSelector are those.
//
// Schemas may be hostile: nesting, the number of types and of fields are bounded.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/schema.h"
#include "kube/meta/value.h"

namespace kube::codegen {

struct ReadOptions {
  std::string outer = {};   // the namespace around all
  bool annotations = true;  // generated code carries what schemas say beside types
};

class TypeReader {
 public:
  static constexpr int kMaxDepth = 250;
  static constexpr std::size_t kMaxTypes = 20'000;
  static constexpr std::size_t kMaxFields = 1'000;

  /// `library` has the built-in types, by name alone; `notes` gets a line for each fallback.
  TypeReader(Package& package, const Schema& library, const ReadOptions& options,
             std::vector<std::string>& notes);

  /// The schemas of a document that others refer to ("#/components/schemas/..."), and the beginning
  /// of the names of the package's own.
  void setReferences(const Value& schemas, std::string ownPrefix);

  /// Adds a kind with its type, that of its list, and all parts. Throws Error with the path.
  void addKind(Kind kind, const Value& schema, const std::string& path);

  /// To be called when all kinds are there: members that are named like types get another name.
  static void settleNames(Package& package);

 private:
  struct Place {
    std::string path;
    int depth = 0;

    Place child(std::string_view name) const { return {path + "." + std::string(name), depth + 1}; }
    Place inside() const { return {path + "[]", depth + 1}; }
  };

  std::string uniqueType(const std::string& wanted);
  std::size_t addType(const std::string& name);
  Field property(const std::string& name, const Value& node, bool required,
                 const std::string& owner, const Place& place);
  void chooseShape(Field& field, const Value& node, bool required) const;
  void addConstants(Field& field, const Value& values, std::set<std::string>& used) const;
  /// What one value is. `text` loses the properties of what becomes a struct.
  std::string element(const Value& node, Value& text, const std::string& hint, const Place& place,
                      bool inContainer);
  std::string structure(const Value& node, Value& text, const std::string& hint,
                        const Place& place);
  void addFields(std::size_t type, const Value& node, const Place& place, bool embedded);
  std::string reference(const std::string& name, const Place& place);
  std::string libraryType(const std::string& reference) const;
  bool inLibrary(const std::string& package, const std::string& type) const;
  std::string libraryMatch(const Value& node) const;
  std::string fallback(const Place& place, std::string_view why);
  std::string textOf(const Value& text) const;

  Package& package_;
  const Schema& library_;
  const ReadOptions& options_;
  std::vector<std::string>& notes_;
  std::set<std::string> names_;
  Value references_;
  std::string ownPrefix_;
  std::map<std::string, std::string> referred_;  // the types of references
};

}  // namespace kube::codegen
