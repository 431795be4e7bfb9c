#include "kube/codec/patch/internal/strategic_list.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "kube/codec/json.h"
#include "kube/codec/patch/patch_error.h"

namespace kube::detail {

namespace {

// Two identities are equal if their texts are. The text includes the type.
std::string identityText(const Value& identity) {
  if (identity.isString()) return "\"" + identity.asString();
  return toJson(identity) + (identity.isDouble() ? "d" : "");
}

bool isDeletion(const Value& element) {
  return element[kPatchDirective].asString() == kDeleteElement;
}

}  // namespace

void malformedPatch(const std::string& what) {
  throw PatchError(PatchError::Reason::Malformed, what);
}

Value::Type elementType(const Value::Array& a, const Value::Array& b) {
  Value::Type type = Value::Type::Null;
  bool first = true;
  for (const Value::Array* list : {&a, &b}) {
    for (const Value& element : *list) {
      if (element.isArray()) malformedPatch("lists of lists are not supported");
      if (element.isNull()) malformedPatch("a merged list must not contain null");
      if (!first && element.type() != type) {
        malformedPatch("list element types are not identical: " +
                       toJson(Value(Value::Array{a, b})));
      }
      type = element.type();
      first = false;
    }
  }
  return type;
}

const Value& identityOf(const Value& element, std::string_view mergeKey) {
  if (mergeKey.empty()) return element;
  if (!element.isObject()) {
    malformedPatch(fmt::format("expected an object with \"{}\" in a merged list, found {}",
                               mergeKey, toString(element.type())));
  }
  const auto& members = element.asObject();
  const auto at = members.find(mergeKey);
  if (at == members.end()) {
    malformedPatch(
        fmt::format("map: {} does not contain declared merge key: {}", toJson(element), mergeKey));
  }
  return at->value;
}

ElementIndex::ElementIndex(const Value::Array& items, std::string_view mergeKey)
    : mergeKey_(mergeKey) {
  std::size_t i = 0;
  for (const Value& item : items) first_.try_emplace(identityText(identityOf(item, mergeKey)), i++);
}

std::size_t ElementIndex::find(const Value& element) const {
  return findIdentity(identityOf(element, mergeKey_));
}

std::size_t ElementIndex::findIdentity(const Value& identity) const {
  const auto at = first_.find(identityText(identity));
  return at != first_.end() ? at->second : kNone;
}

Value::Array inOrder(const Value::Array& items, const Value::Array& wanted,
                     const Value::Array& live, std::string_view mergeKey) {
  struct Ranked {
    const Value* item;
    std::size_t rank;
    std::size_t livePlace;
  };
  const ElementIndex wantedIndex(wanted, mergeKey);
  const ElementIndex liveIndex(live, mergeKey);
  std::vector<Ranked> named;
  std::vector<Ranked> serverOnly;
  for (const Value& item : items) {
    const std::size_t place = wantedIndex.find(item);
    const std::size_t livePlace = liveIndex.find(item);
    (place != ElementIndex::kNone ? named : serverOnly)
        .push_back({&item, place != ElementIndex::kNone ? place : livePlace, livePlace});
  }
  for (std::vector<Ranked>* group : {&named, &serverOnly}) {
    std::stable_sort(group->begin(), group->end(), [](const Ranked& a, const Ranked& b) {
      const bool aGoes = isDeletion(*a.item);
      const bool bGoes = isDeletion(*b.item);
      if (aGoes || bGoes) return !aGoes && bGoes;
      return a.rank < b.rank;
    });
  }
  Value::Array result;
  result.reserve(items.size());
  auto left = serverOnly.begin();
  auto right = named.begin();
  while (left != serverOnly.end() || right != named.end()) {
    const bool known = left != serverOnly.end() && right != named.end() &&
                       left->livePlace != ElementIndex::kNone &&
                       right->livePlace != ElementIndex::kNone;
    const bool takeLeft = right == named.end() || (known && left->livePlace < right->livePlace);
    result.push_back(*(takeLeft ? left++ : right++)->item);
  }
  return result;
}

std::string sortText(const Value& value) {
  return value.isString() ? value.asString().str() : toJson(value);
}

}  // namespace kube::detail
