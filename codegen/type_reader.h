// Reads types from the OpenAPI schemas of CustomResourceDefinitions and of a server's documents.
//
// An object with properties becomes a struct, named after the kind and the path to it:
// spec.template of Widget is a WidgetSpecTemplate. Values without a better C++ type become a
// kube::Value, which holds any JSON and loses nothing. `notes` says where and why:
//
//   - x-kubernetes-preserve-unknown-fields: fields without a name in the schema must be kept
//   - an array or map as the element of an array or map (an array of strings is fine)
//   - elements and required fields that may be null: null is not the same as absent
//   - objects with property names that need escaping in JSON
//   - in a document, objects without properties
//
// Optional strings, arrays and maps are absent when empty, as with Go's omitempty; other optional
// scalars become a std::optional. A date-time is a kube::Time, in whole seconds. A number or string
// with the pattern of quantities is a kube::Quantity. Objects with exactly the fields of
// metav1::Condition or LabelSelector get those types.
//
// Schemas may be hostile: nesting, the number of types and the number of fields are bounded.
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
  std::string outer = {};   // the namespace around all generated code
  bool annotations = true;  // generated code keeps the parts of schemas that types lack
};

class TypeReader {
 public:
  static constexpr int kMaxDepth = 250;
  static constexpr std::size_t kMaxTypes = 20'000;
  static constexpr std::size_t kMaxFields = 1'000;

  /// `library` has the names of the built-in types; `notes` gets a line for each fallback.
  TypeReader(Package& package, const Schema& library, const ReadOptions& options,
             std::vector<std::string>& notes);

  /// Sets the schemas of a document, to which references ("#/components/schemas/...") lead, and the
  /// prefix of the package's own schemas.
  void setReferences(const Value& schemas, std::string ownPrefix);

  /// Adds a kind with its type, the type of its list, and all nested types. Throws Error with the
  /// path.
  void addKind(Kind kind, const Value& schema, const std::string& path);

  /// Renames members that have the name of a type. Call it after all kinds are added.
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
  /// Returns the type of a value. Removes from `text` the properties of objects that become
  /// structs.
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
  std::map<std::string, std::string> referred_;  // a reference's schema -> its type
};

}  // namespace kube::codegen
