#include "kube/codec/patch/internal/strategic_diff.h"

#include <algorithm>
#include <string>
#include <vector>

#include "kube/codec/patch/internal/strategic_apply.h"
#include "kube/codec/patch/internal/strategic_list.h"
#include "kube/codec/patch/patch_error.h"

namespace kube::detail {

namespace {

using Strategy = StrategicField::Strategy;

struct Sorted {
  std::string text;  // text of the identity
  const Value* element;
};

std::vector<Sorted> sorted(const Value::Array& list, std::string_view mergeKey) {
  std::vector<Sorted> result;
  result.reserve(list.size());
  for (const Value& item : list) result.push_back({sortText(identityOf(item, mergeKey)), &item});
  std::stable_sort(result.begin(), result.end(),
                   [](const Sorted& a, const Sorted& b) { return a.text < b.text; });
  return result;
}

// True if two elements have the same key, such as a DNS server's ports: 53 for UDP and for TCP. A
// patch that names elements by their key cannot tell them apart.
bool hasTwins(const std::vector<Sorted>& list) {
  return std::ranges::adjacent_find(list, {}, &Sorted::text) != list.end();
}

// Walks two sorted lists side by side: calls `both`, `onlyA` or `onlyB` with elements.
template <class Both, class OnlyA, class OnlyB>
void zip(const std::vector<Sorted>& a, const std::vector<Sorted>& b, Both both, OnlyA onlyA,
         OnlyB onlyB) {
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() || right != b.end()) {
    const int order = left == a.end() ? 1 : right == b.end() ? -1 : left->text.compare(right->text);
    if (order == 0) {
      both(*(left++)->element, *(right++)->element);
    } else if (order < 0) {
      onlyA(*(left++)->element);
    } else {
      onlyB(*(right++)->element);
    }
  }
}

bool sameOrder(const Value::Array& a, const Value::Array& b, std::string_view mergeKey) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (identityOf(a[i], mergeKey) != identityOf(b[i], mergeKey)) return false;
  }
  return true;
}

std::string directiveFor(std::string_view directive, std::string_view key) {
  return std::string(directive).append("/").append(key);
}

void append(Value::Array& list, const Value::Array& more) {
  for (const Value& item : more) list.push_back(item);
}

}  // namespace

Value::Object StrategicDiff::objects(const Value::Object& original, const Value::Object& modified,
                                     const StrategicSchema& schema, bool retainKeys) const {
  ObjectEdit patch;
  Value::Array retained;
  for (const auto& [key, value] : modified) {
    if (retainKeys && !value.isNull()) retained.push_back(key);
    const auto before = original.find(key);
    if (before == original.end()) {
      if (options_.additions) patch.set(key, value);
    } else {
      members(key, before->value, value, schema, patch);
    }
  }
  bool somethingGone = false;
  for (const auto& [key, value] : original) {
    if (modified.contains(key)) continue;
    if (options_.deletions) patch.set(key, nullptr);
    somethingGone = somethingGone || !value.isNull();
  }
  if (!retained.empty() && (!patch.unchanged() || somethingGone)) {
    patch.set(kRetainKeys, std::move(retained));
  }
  return patch.done();
}

void StrategicDiff::members(std::string_view key, const Value& before, const Value& after,
                            const StrategicSchema& schema, ObjectEdit& patch) const {
  if (key == kPatchDirective) {
    if (!before.isString() || !after.isString()) {
      throw PatchError(PatchError::Reason::Malformed, "invalid value for special key: $patch");
    }
    if (before != after) patch.set(key, after);
    return;
  }
  // Equal values need no schema. For lists, this also leaves out an order that upstream would give
  // without need.
  if (before == after) return;
  const auto replace = [&] {
    if (options_.additions) patch.set(key, after);
  };
  if (before.isObject() && after.isObject()) {
    const StrategicField field = schema.object(key);
    if (field.strategy == Strategy::Replace) return replace();
    Value::Object inside =
        objects(before.asObject(), after.asObject(), field.inside, field.retainKeys);
    if (!inside.empty()) patch.set(key, std::move(inside));
    return;
  }
  if (before.isArray() && after.isArray()) {
    const StrategicField field = schema.list(key);
    if (field.strategy != Strategy::Merge) return replace();
    lists(key, before.asArray(), after.asArray(), field, patch);
    return;
  }
  replace();
}

void StrategicDiff::lists(std::string_view key, const Value::Array& original,
                          const Value::Array& modified, const StrategicField& field,
                          ObjectEdit& patch) const {
  if (original.empty()) {
    if (options_.additions) patch.set(key, modified);
  } else if (elementType(original, modified) == Value::Type::Object) {
    listsOfObjects(key, original, modified, field, patch);
  } else {
    listsOfScalars(key, original, modified, patch);
  }
}

void StrategicDiff::listsOfObjects(std::string_view key, const Value::Array& original,
                                   const Value::Array& modified, const StrategicField& field,
                                   ObjectEdit& patch) const {
  const std::string_view mergeKey = field.mergeKey;
  if (mergeKey.empty()) {
    throw PatchError(
        PatchError::Reason::Malformed,
        std::string("cannot merge lists without merge key for ").append(field.inside.name()));
  }
  const std::vector<Sorted> from = sorted(original, mergeKey);
  const std::vector<Sorted> to = sorted(modified, mergeKey);
  if (options_.isWhole() && (hasTwins(from) || hasTwins(to))) {
    Value::Array all{Value::Object{{kPatchDirective, kReplaceList}}};
    append(all, modified);
    patch.set(key, std::move(all));
    return;
  }
  Value::Array changes;
  Value::Array deletions;
  zip(
      from, to,
      [&](const Value& before, const Value& after) {
        Value::Object change =
            objects(before.asObject(), after.asObject(), field.inside, field.retainKeys);
        if (change.empty()) return;
        change.insert_or_assign(mergeKey, after[mergeKey]);
        changes.push_back(std::move(change));
      },
      [&](const Value& before) {
        if (!options_.deletions) return;
        Value::Object deletion{{kPatchDirective, kDeleteElement}};
        deletion.insert_or_assign(mergeKey, before[mergeKey]);
        deletions.push_back(std::move(deletion));
      },
      [&](const Value& after) {
        if (options_.additions) changes.push_back(after);
      });
  changes = inOrder(changes, modified, {}, mergeKey);
  append(changes, deletions);

  const bool reordered = !sameOrder(original, modified, mergeKey);
  const bool sayOrder = (options_.additions && (!changes.empty() || reordered)) ||
                        (options_.deletions && !changes.empty());
  if (options_.elementOrder && sayOrder && !modified.empty()) {
    Value::Array order;
    for (const Value& item : modified) {
      Value::Object name;
      name.insert_or_assign(mergeKey, item[mergeKey]);
      order.push_back(std::move(name));
    }
    patch.set(directiveFor(kSetElementOrder, key), std::move(order));
  }
  if (!changes.empty()) patch.set(key, std::move(changes));
}

void StrategicDiff::listsOfScalars(std::string_view key, const Value::Array& original,
                                   const Value::Array& modified, ObjectEdit& patch) const {
  Value::Array additions;
  Value::Array deletions;
  zip(
      sorted(original, ""), sorted(modified, ""), [](const Value&, const Value&) {},
      [&](const Value& before) {
        const bool again = !deletions.empty() && std::as_const(deletions).back() == before;
        if (options_.deletions && !again) deletions.push_back(before);
      },
      [&](const Value& after) {
        if (options_.additions) additions.push_back(after);
      });
  const bool sayOrder = (options_.deletions && !deletions.empty()) || options_.additions;
  if (options_.elementOrder && sayOrder && !modified.empty()) {
    patch.set(directiveFor(kSetElementOrder, key), modified);
  }
  if (!additions.empty()) patch.set(key, inOrder(additions, modified, {}, ""));
  if (!deletions.empty()) {
    patch.set(directiveFor(kDeleteFromPrimitiveList, key), std::move(deletions));
  }
}

}  // namespace kube::detail
