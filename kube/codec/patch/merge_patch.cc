#include "kube/codec/patch/merge_patch.h"

#include "kube/codec/patch/internal/object_edit.h"
#include "kube/codec/patch/patch_error.h"
#include "kube/codec/yaml.h"

namespace kube {

namespace {

using detail::ObjectEdit;

Value::Object merged(const Value::Object& target, const Value::Object& patch) {
  ObjectEdit edit(target);
  for (const auto& [key, value] : patch) {
    if (value.isNull()) {
      edit.erase(key);
    } else if (value.isObject()) {
      edit.set(key, merged(target[key].asObject(), value.asObject()));
    } else {
      edit.set(key, value);
    }
  }
  return edit.done();
}

Value::Object difference(const Value::Object& original, const Value::Object& modified) {
  ObjectEdit patch;
  for (const auto& [key, value] : modified) {
    const auto before = original.find(key);
    if (before == original.end()) {
      patch.set(key, value);
    } else if (before->value.isObject() && value.isObject()) {
      Value::Object inside = difference(before->value.asObject(), value.asObject());
      if (!inside.empty()) patch.set(key, std::move(inside));
    } else if (before->value != value) {
      patch.set(key, value);
    }
  }
  for (const auto& [key, value] : original) {
    if (!modified.contains(key)) patch.set(key, nullptr);
  }
  return patch.done();
}

// The part of a patch that deletes, or the part that adds and changes. An empty object is a value,
// unless it became empty here.
Value::Object part(const Value::Object& patch, bool deletions) {
  Value::Object result;
  for (const auto& [key, value] : patch) {
    if (value.isObject() && !value.asObject().empty()) {
      Value::Object inside = part(value.asObject(), deletions);
      if (!inside.empty()) result.insert_or_assign(key, std::move(inside));
    } else if (value.isNull() == deletions) {
      result.insert_or_assign(key, value);
    }
  }
  return result;
}

}  // namespace

Value applyMergePatch(const Value& document, const Value& patch) {
  if (!patch.isObject()) return patch;
  return merged(document.asObject(), patch.asObject());
}

Value createMergePatch(const Value& original, const Value& modified) {
  if (!original.isObject() || !modified.isObject()) return modified;
  return difference(original.asObject(), modified.asObject());
}

Value createThreeWayJsonMergePatch(const Value& original, const Value& modified,
                                   const Value& current, const PatchPreconditions& preconditions) {
  for (const Value* document : {&original, &modified, &current}) {
    if (document->isNull() || document->isObject()) continue;
    throw PatchError(PatchError::Reason::Malformed,
                     std::string("a three-way merge patch needs objects, found ")
                         .append(toString(document->type())));
  }
  const Value additions = part(difference(current.asObject(), modified.asObject()), false);
  const Value deletions = part(difference(original.asObject(), modified.asObject()), true);
  if (hasConflicts(additions, deletions)) {
    throw PatchError(PatchError::Reason::Conflict,
                     "patch:\n" + toYaml(additions) +
                         "\nconflicts with changes made from original to current:\n" +
                         toYaml(deletions) + "\n");
  }
  Value patch = applyMergePatch(deletions, additions);
  checkPreconditions(patch, preconditions);
  return patch;
}

bool hasConflicts(const Value& left, const Value& right) {
  if (left.isObject() && right.isObject()) {
    for (const auto& [key, value] : left.asObject()) {
      const auto other = right.asObject().find(key);
      if (other != right.asObject().end() && hasConflicts(value, other->value)) return true;
    }
    return false;
  }
  if (left.isArray() && right.isArray()) {
    const Value::Array& items = left.asArray();
    if (items.size() != right.asArray().size()) return true;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (hasConflicts(items[i], right[i])) return true;
    }
    return false;
  }
  return left != right;
}

}  // namespace kube
