#include "kube/codec/patch/strategic_merge.h"

#include <algorithm>
#include <map>
#include <string>

#include "kube/codec/patch/internal/strategic_apply.h"
#include "kube/codec/patch/internal/strategic_diff.h"
#include "kube/codec/patch/internal/strategic_list.h"
#include "kube/codec/patch/internal/strategic_schema.h"
#include "kube/codec/patch/patch_error.h"
#include "kube/codec/yaml.h"

namespace kube {

namespace {

using detail::StrategicApplication;
using detail::StrategicDiff;
using detail::StrategicField;
using detail::StrategicSchema;
using Strategy = StrategicField::Strategy;

StrategicSchema schemaOf(const TypeInfo& type) {
  if (type.form == JsonForm::Object) return StrategicSchema(type);
  throw PatchError(PatchError::Reason::Malformed,
                   std::string("strategic merge patch format is not supported for ")
                       .append(type.name)
                       .append(": use a JSON merge patch"));
}

const Value::Object& objectOf(const Value& value, std::string_view what) {
  if (value.isNull() || value.isObject()) return value.asObject();
  throw PatchError(PatchError::Reason::Malformed, std::string("invalid JSON document: the ")
                                                      .append(what)
                                                      .append(" must be a JSON object, found ")
                                                      .append(toString(value.type())));
}

// Finds contradictions between two patches.
class Conflicts {
 public:
  static bool objects(const Value::Object& left, const Value::Object& right,
                      const StrategicSchema& schema) {
    // A directive applies to the whole object.
    if (left[detail::kPatchDirective] != right[detail::kPatchDirective]) return true;
    for (const auto& [key, value] : left) {
      if (key == detail::kPatchDirective || key == detail::kRetainKeys) continue;
      const auto other = right.find(key);
      if (other != right.end() && members(key, value, other->value, schema)) return true;
    }
    return false;
  }

 private:
  static bool members(std::string_view key, const Value& left, const Value& right,
                      const StrategicSchema& schema) {
    if (left.isObject() && right.isObject()) {
      const StrategicField field = schema.object(key);
      if (field.strategy != Strategy::Replace) {
        return objects(left.asObject(), right.asObject(), field.inside);
      }
      return left[detail::kPatchDirective] != right[detail::kPatchDirective];
    }
    if (left.isArray() && right.isArray()) {
      // Two different orders of one list exclude each other; deletions never contradict each other.
      if (key.starts_with(detail::kSetElementOrder)) return left != right;
      if (key.starts_with(detail::kDeleteFromPrimitiveList)) return false;
      return lists(left.asArray(), right.asArray(), schema.list(key));
    }
    return left != right;
  }

  static bool lists(const Value::Array& left, const Value::Array& right,
                    const StrategicField& field) {
    const auto type = detail::elementType(left, right);
    if (field.strategy == Strategy::Merge) {
      return type == Value::Type::Object && elements(left, right, field);
    }
    if (left.size() != right.size()) return true;
    if (type != Value::Type::Object) return sorted(left) != sorted(right);
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (objects(left[i].asObject(), right[i].asObject(), field.inside)) return true;
    }
    return false;
  }

  static bool elements(const Value::Array& left, const Value::Array& right,
                       const StrategicField& field) {
    const detail::ElementIndex index(right, field.mergeKey);
    for (const Value& item : left) {
      const std::size_t at = index.find(item);
      if (at == detail::ElementIndex::kNone) continue;
      if (objects(item.asObject(), right[at].asObject(), field.inside)) return true;
    }
    return false;
  }

  static std::vector<std::string> sorted(const Value::Array& list) {
    std::vector<std::string> texts;
    for (const Value& item : list) texts.push_back(toJson(item));
    std::sort(texts.begin(), texts.end());
    texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
    return texts;
  }
};

}  // namespace

Value applyStrategicMergePatch(const Value& object, const Value& patch, const TypeInfo& schema) {
  return StrategicApplication(StrategicApplication::Target::Object)
      .objects(objectOf(object, "object"), objectOf(patch, "patch"), schemaOf(schema));
}

AnyObject applyStrategicMergePatch(const AnyObject& object, std::string_view patchJson) {
  const Value before = toUnstructured(object.type(), object.data()).object;
  const Unstructured after(applyStrategicMergePatch(before, parseJson(patchJson), object.type()));
  AnyObject result(object.type());
  fromUnstructured(object.type(), result.data(), after);
  return result;
}

Value createStrategicMergePatch(const Value& original, const Value& modified,
                                const TypeInfo& schema, const PatchPreconditions& preconditions) {
  Value patch = StrategicDiff({}).objects(objectOf(original, "original"),
                                          objectOf(modified, "modified"), schemaOf(schema));
  checkPreconditions(patch, preconditions);
  return patch;
}

Value createThreeWayStrategicMergePatch(const Value& original, const Value& modified,
                                        const Value& current, const TypeInfo& schema,
                                        const ThreeWayOptions& options) {
  const StrategicSchema root = schemaOf(schema);
  const Value::Object& last = objectOf(original, "original");
  const Value::Object& wanted = objectOf(modified, "modified");
  const Value::Object& live = objectOf(current, "current");

  // Additions and changes for the server, applied to the deletions of the new configuration.
  const Value::Object additions = StrategicDiff({.deletions = false}).objects(live, wanted, root);
  const Value::Object deletions = StrategicDiff({.additions = false}).objects(last, wanted, root);
  Value patch =
      StrategicApplication(StrategicApplication::Target::Patch).objects(deletions, additions, root);
  checkPreconditions(patch, options.preconditions);
  if (options.overwrite) return patch;

  const Value changed = StrategicDiff({.elementOrder = false}).objects(last, live, root);
  if (Conflicts::objects(patch.asObject(), changed.asObject(), root)) {
    throw PatchError(PatchError::Reason::Conflict,
                     "patch:\n" + toYaml(patch) +
                         "\nconflicts with changes made from original to current:\n" +
                         toYaml(changed) + "\n");
  }
  return patch;
}

bool hasConflicts(const Value& left, const Value& right, const TypeInfo& schema) {
  if (!left.isObject() || !right.isObject()) return left != right;
  return Conflicts::objects(left.asObject(), right.asObject(), schemaOf(schema));
}

}  // namespace kube
