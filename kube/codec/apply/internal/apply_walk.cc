#include "kube/codec/apply/internal/apply_walk.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "kube/codec/patch/patch_error.h"

namespace kube::detail {

namespace {

using Form = ApplyPlace::Form;
using Node = FieldSet::Node;

const Value kNull;

// One step to the place of a validation, kept on the stack and written out only for an error.
struct Step {
  const Step* parent;
  const String* field;  // null: an element of a list:
  const ApplyPlace* list = {};
  const Value* item = {};
  std::int64_t index = 0;

  PathElement element() const {
    if (field != nullptr) return *field;
    if (list->isAtomic(Form::List)) return PathElement::index(index);
    std::string why;
    return list->identify(*item, why).value_or(PathElement::index(index));
  }
};

class Validation {
 public:
  explicit Validation(bool allowDuplicates) : allowDuplicates_(allowDuplicates) {}

  void walk(const Value& value, const ApplyPlace& place, const Step* path = nullptr) {
    if (const std::string_view expected = place.mismatch(value); !expected.empty()) {
      error(path, fmt::format("expected {}, got {}", expected, toString(value.type())));
    } else if (value.isArray()) {
      list(value.asArray(), place, path);
    } else if (value.isObject()) {
      for (const auto& [key, member] : value.asObject()) {
        const Step step{path, &key};
        if (const auto inside = place.member(key)) {
          walk(member, *inside, &step);
        } else {
          error(&step, "field not declared in schema");
        }
      }
    }
  }

  void finish() const {
    if (errors_.empty()) return;
    std::string text = errors_.front();
    if (errors_.size() > 1) {
      text = "errors:";
      for (const std::string& each : errors_) text += "\n  " + each;
    }
    throw PatchError(PatchError::Reason::SchemaMismatch, text);
  }

 private:
  void list(const Value::Array& items, const ApplyPlace& place, const Step* path) {
    const ApplyPlace element = place.element();
    const bool atomic = place.isAtomic(Form::List);
    std::set<PathElement> seen;
    std::int64_t i = 0;
    for (const Value& item : items) {
      std::string why;
      if (!atomic && !place.identifies(item, why)) {
        return error(path, fmt::format("element {}: {}", i, why));
      }
      const Step step{path, nullptr, &place, &item, i++};
      if (!atomic && !allowDuplicates_ && !seen.insert(step.element()).second) {
        error(path, "duplicate entries for key " + step.element().toString());
      }
      walk(item, element, &step);
    }
  }

  void error(const Step* path, const std::string& what) {
    if (errors_.size() >= 100) return;  // enough for any reader
    FieldSet::Path elements;
    for (; path != nullptr; path = path->parent) elements.push_back(path->element());
    std::ranges::reverse(elements);
    const std::string place = toString(elements);
    errors_.push_back(place.empty() ? what : place + ": " + what);
  }

  bool allowDuplicates_;
  std::vector<std::string> errors_;
};

struct Found {
  bool member = false;
  FieldSet below = {};
};

Found find(const Value& value, const ApplyPlace& place);

FieldSet findInList(const Value::Array& items, const ApplyPlace& place) {
  std::vector<std::pair<PathElement, const Value*>> elements;
  std::set<PathElement> seen;
  std::set<PathElement> duplicates;
  for (const Value& item : items) {
    std::string why;
    auto identity = place.identify(item, why);
    if (!identity) continue;
    if (!seen.insert(*identity).second) duplicates.insert(*identity);
    elements.emplace_back(std::move(*identity), &item);
  }
  std::vector<Node> nodes;
  const ApplyPlace element = place.element();
  for (auto& [identity, item] : elements) {
    // The parts of several elements of one identity have no owner.
    FieldSet below = duplicates.contains(identity) ? FieldSet() : find(*item, element).below;
    nodes.push_back({std::move(identity), true, std::move(below)});
  }
  return FieldSet::fromNodes(std::move(nodes));
}

Found find(const Value& value, const ApplyPlace& place) {
  const Form form = place.formOf(value);
  if (form == Form::Scalar || place.isAtomic(form)) return {.member = true};
  if (form == Form::List) return {.below = findInList(value.asArray(), place)};
  Found found;
  for (const auto& [key, member] : value.asObject()) {
    const auto inside = place.member(key);
    if (!inside) continue;
    Found part = find(member, *inside);
    const bool empty = member.isNull() || (member.isObject() && member.asObject().empty());
    found.below.insert(key, part.member || empty || !place.declares(key), part.below);
  }
  return found;
}

}  // namespace

void validate(const Value& value, const ApplyPlace& place, bool allowDuplicates) {
  Validation validation(allowDuplicates);
  validation.walk(value, place);
  validation.finish();
}

FieldSet fieldsIn(const Value& value, const ApplyPlace& place) { return find(value, place).below; }

// --- Parts of a value.

namespace {

std::optional<Value> part(const Value& value, const FieldSet& set, const ApplyPlace& place,
                          bool extract);

Value partOr(const Value& value, const FieldSet& set, const ApplyPlace& place, bool extract) {
  return part(value, set, place, extract).value_or(kNull);
}

std::optional<Value> partOfList(const Value& value, const FieldSet& set, const ApplyPlace& place,
                                bool extract) {
  const ApplyPlace element = place.element();
  Value::Array kept;
  for (const Value& item : value.asArray()) {
    std::string why;
    const auto identity = place.identify(item, why);
    const Node* node = identity ? set.find(*identity) : nullptr;
    if (node == nullptr) {
      if (!extract) kept.push_back(item);
    } else if (extract) {
      kept.push_back(node->below.empty() ? item : partOr(item, node->below, element, true));
    } else if (!node->member) {
      kept.push_back(partOr(item, node->below, element, false));
    }
  }
  if (kept.empty()) return std::nullopt;
  return kept;
}

std::optional<Value> partOfMap(const Value& value, const FieldSet& set, const ApplyPlace& place,
                               bool extract) {
  Value::Object kept;
  for (const auto& [key, member] : value.asObject()) {
    const Node* node = set.find(key);
    if (node == nullptr) {
      if (!extract) kept.insert_or_assign(key, member);
      continue;
    }
    if (node->member && !extract) continue;
    const ApplyPlace inside = place.member(key).value_or(ApplyPlace::root(nullptr));
    kept.insert_or_assign(key, partOr(member, node->below, inside, extract));
  }
  if (kept.empty()) return std::nullopt;
  return kept;
}

std::optional<Value> part(const Value& value, const FieldSet& set, const ApplyPlace& place,
                          bool extract) {
  const Form form = place.formOf(value);
  if (form == Form::Scalar) return value;
  const bool empty = form == Form::List ? value.asArray().empty() : value.asObject().empty();
  if (empty || place.isAtomic(form)) {
    return extract ? std::optional<Value>(value) : std::nullopt;
  }
  return form == Form::List ? partOfList(value, set, place, extract)
                            : partOfMap(value, set, place, extract);
}

}  // namespace

Value removeFields(const Value& value, const FieldSet& set, const ApplyPlace& place) {
  return partOr(value, set, place, false);
}

Value extractFields(const Value& value, const FieldSet& set, const ApplyPlace& place) {
  return partOr(value, set, place, true);
}

// --- Sets seen through the tables.

namespace {

ApplyPlace placeOf(const PathElement& element, const ApplyPlace& place) {
  if (element.kind() != PathElement::Kind::Field) return place.element();
  return place.member(element.name()).value_or(ApplyPlace::root(nullptr));
}

}  // namespace

FieldSet withNamedFields(const FieldSet& set, const ApplyPlace& place) {
  FieldSet result;
  for (const Node& node : set.nodes()) {
    const bool named =
        node.element.kind() == PathElement::Kind::Field && place.declares(node.element.name());
    result.insert(node.element, node.member || named,
                  withNamedFields(node.below, placeOf(node.element, place)));
  }
  return result;
}

namespace {

// True if a path continues below a part that is owned as one.
bool splitsAtoms(const FieldSet& set, const ApplyPlace& place) {
  return std::ranges::any_of(set.nodes(), [&](const Node& node) {
    if (node.below.empty()) return false;
    const ApplyPlace inside = placeOf(node.element, place);
    const Form form = inside.formOf(kNull);
    return (form != Form::Scalar && inside.isAtomic(form)) || splitsAtoms(node.below, inside);
  });
}

FieldSet joinAtoms(const FieldSet& set, const ApplyPlace& place) {
  FieldSet result;
  for (const Node& node : set.nodes()) {
    const ApplyPlace inside = placeOf(node.element, place);
    const Form form = inside.formOf(kNull);
    if (!node.below.empty() && form != Form::Scalar && inside.isAtomic(form)) {
      result.insert(node.element, true, {});
    } else {
      result.insert(node.element, node.member, joinAtoms(node.below, inside));
    }
  }
  return result;
}

}  // namespace

FieldSet reconciled(const FieldSet& set, const ApplyPlace& place) {
  return splitsAtoms(set, place) ? joinAtoms(set, place) : set;
}

}  // namespace kube::detail
