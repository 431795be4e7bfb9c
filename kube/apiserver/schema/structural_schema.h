// The schema of a custom resource, as an API server uses it: pruning what is not specified, setting
// defaults, validating, and telling server-side apply how lists and maps are merged.
//
//   StructuralSchema schema(crd.spec->versions[0].schema->openAPIV3Schema.read(), path);
//   std::vector<std::string> unknown;
//   schema.prune(object, &unknown);          // unknown field "spec.colour"
//   schema.setDefaults(object);
//   FieldErrors errors = schema.validate(object);
//   // spec.replicas: Invalid value: 11: spec.replicas in body should be less than or equal to 10
//
// Rules and words are those of apiextensions-apiserver and kube-openapi. The schema is compiled
// once, names sorted and patterns (RE2's syntax, as Go's) ready to match; objects are walked
// without copying what does not change.
//
// x-kubernetes-validations are accepted and not evaluated: that would take CEL.
//
// Schemas and objects may be hostile: nesting, time and what is reported are bounded. A schema of
// more than 250 levels or 200,000 nodes is refused. Walks go no deeper than the schema; only
// pruning goes into arrays that the schema does not describe, down to 1000 levels. At most 1000
// errors or unknown fields are told of one object.
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
  /// Throws ValidationError for a schema that is not structural, or otherwise not accepted. `path`
  /// is where it stands.
  explicit StructuralSchema(const apiextensionsv1::JSONSchemaProps& schema,
                            const ErrorPath& path = ErrorPath("spec.validation.openAPIV3Schema"));
  ~StructuralSchema();
  StructuralSchema(StructuralSchema&&) noexcept;
  StructuralSchema& operator=(StructuralSchema&&) noexcept;

  /// What is wrong with a schema; nothing if it can be made one of these.
  static FieldErrors check(const apiextensionsv1::JSONSchemaProps& schema, const ErrorPath& path);

  /// Removes fields that are not specified. apiVersion, kind and metadata stay, at the root and in
  /// embedded resources; metadata becomes what ObjectMeta has. What went is told in `unknown`, as
  /// `unknown field "spec.colour"`: what DecodeOptions::problems gets for a described type.
  /// Throws DecodeError where the metadata is malformed; the object is then as it was.
  void prune(Value& object, std::vector<std::string>* unknown = nullptr) const;

  /// Sets what is missing and has a default, also in what a default brought, in elements and in
  /// members of maps. Null where it is not allowed counts as missing; without a default it goes.
  void setDefaults(Value& object) const;

  /// What is wrong with the object, but for its own metadata. With the object it replaces in `old`,
  /// what was wrong before and is unchanged is let be.
  FieldErrors validate(const Value& object, const Value* old = nullptr) const;
  /// For an update of the status subresource: only that is looked at.
  FieldErrors validateStatus(const Value& object, const Value& old) const;

  /// How objects are merged and owned. Lives as long as this.
  const FieldSchema& fields() const noexcept;

  /// Formats that the schema has and that nobody checks: an API server warns of them.
  const std::vector<std::string>& unknownFormats() const noexcept;

 private:
  std::unique_ptr<const CompiledSchema> compiled_;
};

}  // namespace kube::apiserver
