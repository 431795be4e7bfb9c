#include "kube/codec/patch/internal/strategic_apply.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "kube/codec/json.h"
#include "kube/codec/patch/internal/strategic_list.h"
#include "kube/codec/patch/patch_error.h"

namespace kube::detail {

namespace {

using Strategy = StrategicField::Strategy;

[[noreturn]] void unknownDirective(const Value& directive, const Value& patch) {
  malformedPatch(
      fmt::format("unknown patch type: {} in map: {}", sortText(directive), toJson(patch)));
}

bool isDirective(std::string_view key) {
  return key == kRetainKeys || key.starts_with(kSetElementOrder) ||
         key.starts_with(kDeleteFromPrimitiveList);
}

// The field that a directive such as `$setElementOrder/containers` applies to.
std::string_view fieldOf(std::string_view key, std::string_view prefix) {
  if (key.size() > prefix.size() + 1 && key[prefix.size()] == '/') {
    return key.substr(prefix.size() + 1);
  }
  malformedPatch(
      fmt::format("invalid patch format of {} list: expected \"{}/<field>\", found \"{}\"",
                  prefix.substr(1), prefix, key));
}

const Value* find(const Value::Object& object, std::string_view key) {
  const auto at = object.find(key);
  return at != object.end() ? &at->value : nullptr;
}

const Value::Array& listOf(const Value& value, std::string_view key) {
  if (!value.isArray()) {
    malformedPatch(fmt::format("{}: expected a list, found {}", key, toString(value.type())));
  }
  return value.asArray();
}

// The form that a value of a patch takes in an object that has nothing at this place: without parts
// that only delete, or only direct the merge. Nothing if no other parts remain.
std::optional<Value> plain(const Value& value, bool toObject) {
  if (value.isArray()) {
    Value::Array items;
    for (const Value& item : value.asArray()) {
      if (auto kept = plain(item, toObject)) items.push_back(std::move(*kept));
    }
    return items;
  }
  if (!value.isObject()) return value;
  if (value.asObject().contains(kPatchDirective)) return std::nullopt;
  Value::Object members;
  for (const auto& [key, member] : value.asObject()) {
    if (toObject && (member.isNull() || isDirective(key))) continue;
    if (auto kept = plain(member, toObject)) members.insert_or_assign(key, std::move(*kept));
  }
  return members;
}

// Throws unless the order of a list and the list itself agree: the order must contain every
// element, each behind the elements before it.
void checkOrder(const Value::Array& patch, const Value::Array& order, std::string_view mergeKey) {
  if (patch.empty() || order.empty()) return;
  std::size_t i = 0;
  for (const Value& item : patch) {
    if (item.asObject().contains(kPatchDirective)) continue;
    const Value& wanted = identityOf(item, mergeKey);
    while (i < order.size() && identityOf(order[i], mergeKey) != wanted) ++i;
    if (i == order.size()) {
      malformedPatch(fmt::format("The order in patch list:\n{}\n doesn't match {} list:\n{}\n",
                                 toJson(Value(patch)), kSetElementOrder, toJson(Value(order))));
    }
    ++i;
  }
}

Value::Array without(const Value::Array& list, const Value::Array& gone) {
  const ElementIndex index(gone, "");
  Value::Array kept;
  for (const Value& item : list) {
    if (index.find(item) == ElementIndex::kNone) kept.push_back(item);
  }
  return kept;
}

// The elements of both lists, each once.
Value::Array unite(const Value::Array& a, const Value::Array& b) {
  Value::Array both = a;
  for (const Value& item : b) both.push_back(item);
  const ElementIndex index(both, "");
  Value::Array result;
  std::size_t i = 0;
  for (const Value& item : both) {
    if (index.find(item) == i++) result.push_back(item);
  }
  return result;
}

}  // namespace

Value::Object StrategicApplication::objects(const Value::Object& original,
                                            const Value::Object& patch,
                                            const StrategicSchema& schema) const {
  if (const Value* directive = find(patch, kPatchDirective)) {
    if (*directive == Value("delete")) return {};
    if (*directive != Value(kReplaceList)) unknownDirective(*directive, patch);
    Value::Object replacement = patch;
    replacement.erase(kPatchDirective);
    return plain(replacement, toObject_)->asObject();
  }
  ObjectEdit edit(retainKeys(original, patch));
  const auto done = orderedLists(edit, patch, schema);
  for (const auto& [key, value] : patch) {
    if (key == kRetainKeys || key.view().starts_with(kSetElementOrder)) continue;
    if (std::find(done.begin(), done.end(), key.view()) != done.end()) continue;
    member(edit, key, value, schema);
  }
  return edit.done();
}

Value::Object StrategicApplication::retainKeys(const Value::Object& original,
                                               const Value::Object& patch) const {
  const Value* directive = find(patch, kRetainKeys);
  if (directive == nullptr) return original;
  if (!toObject_) {
    const Value* earlier = find(original, kRetainKeys);
    if (earlier != nullptr && *earlier != *directive) {
      malformedPatch(fmt::format("$retainKeys of two patches differ: {} and {}", toJson(*earlier),
                                 toJson(*directive)));
    }
    Value::Object marked = original;
    marked.insert_or_assign(kRetainKeys, *directive);
    return marked;
  }
  constexpr std::string_view kBad = "invalid patch format of retainKeys";
  if (!directive->isArray()) malformedPatch(std::string(kBad) + ": expected a list of names");
  std::set<std::string_view> kept;
  for (const Value& key : directive->asArray()) kept.insert(key.asString());
  for (const auto& [key, value] : patch) {
    if (value.isNull() || isDirective(key)) continue;
    if (!kept.contains(key)) {
      malformedPatch(fmt::format("{}: the patch sets \"{}\", which is not in the list", kBad, key));
    }
  }
  Value::Object remaining;
  for (const auto& [key, value] : original) {
    if (kept.contains(key)) remaining.insert_or_assign(key, value);
  }
  return remaining;
}

std::vector<std::string> StrategicApplication::orderedLists(ObjectEdit& original,
                                                            const Value::Object& patch,
                                                            const StrategicSchema& schema) const {
  std::vector<std::string> done;
  for (const auto& [key, value] : patch) {
    if (!key.view().starts_with(kSetElementOrder)) continue;
    const Value::Array& order = listOf(value, key);
    const std::string_view name = fieldOf(key, kSetElementOrder);
    if (!toObject_) {
      const Value* earlier = original.find(key);
      if (earlier != nullptr && *earlier != value) {
        malformedPatch(
            fmt::format("invalid patch format of setElementOrder list: two patches have different "
                        "orders for {}",
                        name));
      }
      original.set(key, value);
    }
    const Value* live = original.find(name);
    if (live != nullptr && live->isNull()) live = nullptr;
    const Value* wanted = find(patch, name);
    const StrategicField field = schema.list(name);
    if (live != nullptr) listOf(*live, name);
    if (wanted != nullptr) checkOrder(listOf(*wanted, name), order, field.mergeKey);
    if (live == nullptr && wanted == nullptr) continue;
    Value::Array merged = orderedList(live, wanted, order, field);
    original.set(name, std::move(merged));
    done.emplace_back(name);
  }
  return done;
}

Value::Array StrategicApplication::orderedList(const Value* original, const Value* patch,
                                               const Value::Array& order,
                                               const StrategicField& field) const {
  Value::Array live = original != nullptr ? original->asArray() : Value::Array();
  const Value::Array changes = patch != nullptr ? patch->asArray() : Value::Array();
  elementType(live, changes);
  Value::Array merged;
  if (patch == nullptr) {
    merged = live;
  } else if (original == nullptr) {
    merged = plain(*patch, toObject_)->asArray();
  } else {
    merged = field.strategy == Strategy::Merge ? lists(original->asArray(), changes, field, &live)
                                               : changes;
  }
  return inOrder(merged, order, live, field.mergeKey);
}

void StrategicApplication::member(ObjectEdit& original, const String& key, const Value& value,
                                  const StrategicSchema& schema) const {
  std::string_view name = key;
  const bool isDeletion = name.starts_with(kDeleteFromPrimitiveList);
  if (isDeletion) {
    if (!toObject_) {
      original.set(key, value);
      return;
    }
    name = fieldOf(key, kDeleteFromPrimitiveList);
  }
  if (value.isNull()) {
    original.erase(name);
    if (toObject_) return;
  }
  const Value* before = original.find(name);
  if (before == nullptr || before->type() != value.type()) {
    if (!isDeletion) put(original, name, value);
    return;
  }
  if (value.isObject()) {
    const StrategicField field = schema.object(name);
    Value merged = field.strategy == Strategy::Replace
                       ? value
                       : objects(before->asObject(), value.asObject(), field.inside);
    original.set(name, std::move(merged));
  } else if (value.isArray()) {
    const StrategicField field = schema.list(name);
    const Value::Array& items = value.asArray();
    Value merged = value;
    if (isDeletion) {
      const auto type = elementType(before->asArray(), items);
      if (type == Value::Type::Object) {
        malformedPatch("invalid patch format of primitive list: " + key +
                       " is for a list of objects");
      }
      merged = without(before->asArray(), items);
    } else if (field.strategy == Strategy::Merge) {
      merged = lists(before->asArray(), items, field);
    }
    original.set(name, std::move(merged));
  } else {
    original.set(name, value);
  }
}

void StrategicApplication::put(ObjectEdit& original, std::string_view key,
                               const Value& value) const {
  if (auto kept = plain(value, toObject_)) {
    original.set(key, std::move(*kept));
  } else {
    original.erase(key);
  }
}

Value::Array StrategicApplication::lists(const Value::Array& original, const Value::Array& patch,
                                         const StrategicField& field, Value::Array* live) const {
  if (original.empty() && patch.empty()) return original;
  if (elementType(original, patch) == Value::Type::Object) {
    if (field.mergeKey.empty()) {
      malformedPatch(
          fmt::format("cannot merge lists without merge key for {}", field.inside.name()));
    }
    return listsOfObjects(original, patch, field, live);
  }
  return inOrder(unite(original, patch), patch, original, "");
}

Value::Array StrategicApplication::listsOfObjects(Value::Array original, const Value::Array& patch,
                                                  const StrategicField& field,
                                                  Value::Array* live) const {
  const std::size_t sizeBefore = original.size();
  // First the elements that are directives only.
  Value::Array changes;
  Value::Array gone;
  bool replace = false;
  for (const Value& item : patch) {
    const Value* directive = find(item.asObject(), kPatchDirective);
    if (directive == nullptr) {
      changes.push_back(item);
    } else if (*directive == Value("delete")) {
      gone.push_back(item);
    } else if (*directive == Value(kReplaceList)) {
      replace = true;
    } else if (*directive == Value("merge")) {
      malformedPatch("merging lists cannot yet be specified in the patch");
    } else {
      unknownDirective(*directive, item);
    }
  }
  const ElementIndex goneIndex(gone, field.mergeKey);
  if (replace) {
    original = plain(changes, toObject_)->asArray();
    changes.clear();
  } else if (!gone.empty()) {
    erase_if(original,
             [&](const Value& item) { return goneIndex.find(item) != ElementIndex::kNone; });
  }

  // Then the others: each is merged into the first element with its merge key.
  const ElementIndex places(original, field.mergeKey);
  const Value::Array before = original;
  std::map<std::string, std::size_t> added;  // a key that occurs twice in a patch is one element
  for (const Value& change : std::as_const(changes)) {
    const Value& identity = identityOf(change, field.mergeKey);
    std::size_t at = places.findIdentity(identity);
    if (at == ElementIndex::kNone) {
      const auto [place, isNew] = added.try_emplace(toJson(identity), original.size());
      if (isNew) {
        original.push_back(*plain(change, toObject_));
        continue;
      }
      at = place->second;
    }
    Value merged = objects(std::as_const(original)[at].asObject(), change.asObject(), field.inside);
    original[at] = std::move(merged);
  }
  if (live != nullptr && !replace) {
    *live = original;
    live->resize(std::min(sizeBefore, original.size()));
  }
  return inOrder(original, changes, before, field.mergeKey);
}

}  // namespace kube::detail
