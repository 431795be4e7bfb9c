// The schema of a custom resource, as an API server uses it: it prunes unspecified fields, sets
// defaults, validates, and tells server-side apply how to merge lists and maps.
//
//   StructuralSchema schema(crd.spec->versions[0].schema->openAPIV3Schema.read(), path);
//   std::vector<std::string> unknown;
//   schema.prune(object, &unknown);          // unknown field "spec.colour"
//   schema.setDefaults(object);
//   FieldErrors errors = schema.validate(object);
//   // spec.replicas: Invalid value: 11: spec.replicas in body should be less than or equal to 10
//
// Rules and messages are those of apiextensions-apiserver and kube-openapi. The schema is compiled
// once, with sorted names and compiled patterns (RE2's syntax, which is Go's). Walking an object
// copies only the parts that change.
//
// x-kubernetes-validations are accepted but not evaluated, as that would take CEL.
//
// Schemas and objects may be hostile: nesting, time and the number of errors are bounded. A schema
// of more than 250 levels or 200,000 nodes is refused. Walks go no deeper than the schema; only
// pruning enters arrays that the schema does not describe, down to 1000 levels. At most 1000 errors
// or unknown fields are reported for one object.
//
// Thread safety: immutable; any thread may use it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kube/api/apiextensions/v1.h"
#include "kube/codec/apply/field_schema.h"
#include "kube/meta/validation/field_error.h"
#include "kube/meta/value.h"

namespace kube::apiserver {

struct CompiledSchema;

class StructuralSchema {
 public:
  /// Throws ValidationError for a schema that is not structural or not accepted for another reason.
  /// `path` is its position in the definition.
  explicit StructuralSchema(const apiextensionsv1::JSONSchemaProps& schema,
                            const ErrorPath& path = ErrorPath("spec.validation.openAPIV3Schema"));
  ~StructuralSchema();
  StructuralSchema(StructuralSchema&&) noexcept;
  StructuralSchema& operator=(StructuralSchema&&) noexcept;

  /// The errors of a schema; none if a StructuralSchema can be made from it.
  static FieldErrors check(const apiextensionsv1::JSONSchemaProps& schema, const ErrorPath& path);

  /// Removes unspecified fields. apiVersion, kind and metadata stay, at the root and in embedded
  /// resources; metadata is brought into the form of ObjectMeta. Each removed field is appended to
  /// `unknown`, as `unknown field "spec.colour"`: the form of DecodeOptions::problems. Throws
  /// DecodeError for malformed metadata; the object is unchanged then.
  void prune(Value& object, std::vector<std::string>* unknown = nullptr) const;

  /// Sets missing values that have a default, also inside of defaults, in elements and in members
  /// of maps. A null that is not allowed counts as missing; without a default it is removed.
  void setDefaults(Value& object) const;

  /// Checks an object, except for its own metadata. `old` is the object that it replaces: values
  /// that are unchanged since then are accepted even if they are invalid.
  FieldErrors validate(const Value& object, const Value* old = nullptr) const;
  /// Checks the status only, for an update of the status subresource.
  FieldErrors validateStatus(const Value& object, const Value& old) const;

  /// The merge rules for server-side apply. Valid as long as this schema.
  const FieldSchema& fields() const noexcept;

  /// Formats in the schema that are not checked. An API server warns of them.
  const std::vector<std::string>& unknownFormats() const noexcept;

 private:
  std::unique_ptr<const CompiledSchema> compiled_;
};

}  // namespace kube::apiserver
