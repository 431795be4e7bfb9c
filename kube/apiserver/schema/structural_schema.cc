#include "kube/apiserver/schema/structural_schema.h"

#include <fmt/core.h>

#include <utility>

#include "kube/apiserver/schema/schema_check.h"
#include "kube/apiserver/schema/schema_compile.h"
#include "kube/base/error.h"

namespace kube::apiserver {

namespace {

// Compiles as much of the schema as is valid.
CompiledSchema compile(const apiextensionsv1::JSONSchemaProps& schema, const ErrorPath& path,
                       FieldErrors& errors) {
  SchemaFindings findings = checkSchema(schema, path);
  CompiledSchema compiled;
  errors = std::move(findings.structural);
  if (findings.compilable) compiled = compileSchema(schema, path, errors);
  append(errors, std::move(findings.openApi));
  return compiled;
}

}  // namespace

StructuralSchema::StructuralSchema(const apiextensionsv1::JSONSchemaProps& schema,
                                   const ErrorPath& path) {
  FieldErrors errors;
  auto compiled = std::make_unique<CompiledSchema>(compile(schema, path, errors));
  throwIfAny(errors);
  compiled_ = std::move(compiled);
}
StructuralSchema::~StructuralSchema() = default;
StructuralSchema::StructuralSchema(StructuralSchema&&) noexcept = default;
StructuralSchema& StructuralSchema::operator=(StructuralSchema&&) noexcept = default;

FieldErrors StructuralSchema::check(const apiextensionsv1::JSONSchemaProps& schema,
                                    const ErrorPath& path) {
  FieldErrors errors;
  compile(schema, path, errors);
  return errors;
}

void StructuralSchema::prune(Value& object, std::vector<std::string>* unknown) const {
  const SchemaNode& root = *compiled_->root;
  for (const std::string_view name : {"kind", "apiVersion"}) {
    const Value& value = std::as_const(object)[name];
    if (!value.isNull() && !value.isString()) {
      throw DecodeError({.path = std::string(name)}, "must be a string");
    }
  }
  std::vector<std::string> paths;
  std::vector<std::string>* told = unknown != nullptr ? &paths : nullptr;
  std::optional<Value> metadata;
  const auto at = std::as_const(object).asObject().find("metadata");
  if (at != std::as_const(object).asObject().end()) {
    metadata = coercedMetadata(at->value, "metadata", told);
  }
  Value result = object;
  if (auto pruned = prunedValue(result, &root, /*root=*/true, told)) {
    result = std::move(*pruned);
  }
  if (auto coerced = coercedValue(result, root, /*root=*/false, told)) {
    result = std::move(*coerced);
  }
  if (metadata) result["metadata"] = std::move(*metadata);
  object = std::move(result);
  if (unknown == nullptr) return;
  for (const std::string& path : paths) {
    unknown->push_back(fmt::format("unknown field \"{}\"", path));
  }
}

void StructuralSchema::setDefaults(Value& object) const {
  if (auto defaulted = defaultedValue(object, *compiled_->root)) {
    object = std::move(*defaulted);
  }
}

FieldErrors StructuralSchema::validate(const Value& object, const Value* old) const {
  const SchemaNode& root = *compiled_->root;
  FieldErrors errors = valueErrors(object, old, root, ErrorPath());
  append(errors, embeddedErrors(object, root, /*root=*/false, ErrorPath()));
  // Lists with duplicates before the update may keep them.
  if (old == nullptr || listErrors(*old, root, ErrorPath()).empty()) {
    append(errors, listErrors(object, root, ErrorPath()));
  }
  return errors;
}

FieldErrors StructuralSchema::validateStatus(const Value& object, const Value& old) const {
  const SchemaNode& root = *compiled_->root;
  FieldErrors errors;
  const auto status = object.asObject().find("status");
  const SchemaNode* node = root.property("status");
  if (status != object.asObject().end() && node != nullptr) {
    const auto before = old.asObject().find("status");
    errors = valueErrors(status->value, before != old.asObject().end() ? &before->value : nullptr,
                         *node, ErrorPath("status"));
  }
  FieldErrors lists = listErrors(object, root, ErrorPath());
  if (!lists.empty() && listErrors(old, root, ErrorPath()).empty()) {
    append(errors, std::move(lists));
  }
  return errors;
}

const FieldSchema& StructuralSchema::fields() const noexcept { return *compiled_->rootFields; }

const std::vector<std::string>& StructuralSchema::unknownFormats() const noexcept {
  return compiled_->unknownFormats;
}

}  // namespace kube::apiserver
