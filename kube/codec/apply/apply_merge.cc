// Merges and compares two objects, place by place.
#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "kube/codec/apply/internal/apply_walk.h"
#include "kube/codec/patch/internal/object_edit.h"
#include "kube/codec/patch/patch_error.h"

namespace kube::detail {

namespace {

using Form = ApplyPlace::Form;

bool isEmptyList(const Value* value) { return value == nullptr || value->asArray().empty(); }
bool isEmptyMap(const Value* value) { return value == nullptr || value->asObject().empty(); }

// The elements of a list that is not atomic, found by their identity.
struct Indexed {
  struct Item {
    PathElement identity;
    const Value* value;
  };

  Indexed(const Value* list, const ApplyPlace& place) {
    if (list == nullptr) return;
    items.reserve(list->asArray().size());
    for (const Value& item : list->asArray()) {
      std::string why;
      auto identity = place.identify(item, why);
      if (!identity) throw PatchError(PatchError::Reason::Malformed, why);
      items.push_back({std::move(*identity), &item});
    }
    sorted.reserve(items.size());
    for (const Item& item : items) sorted.push_back(&item);
    std::ranges::stable_sort(sorted, {}, identityOf);
  }

  static const PathElement& identityOf(const Item* item) { return item->identity; }

  /// Returns all elements of one identity, in the list's order.
  std::span<const Item* const> find(const PathElement& identity) const {
    const auto first = std::ranges::lower_bound(sorted, identity, {}, identityOf);
    return {first, std::ranges::upper_bound(first, sorted.end(), identity, {}, identityOf)};
  }
  bool has(const PathElement& identity) const { return !find(identity).empty(); }

  std::vector<Item> items;
  std::vector<const Item*> sorted;  // by identity
};

// Merges two lists in the order of `rhs`. Elements that only `lhs` has keep their place, as far as
// the two orders agree.
class ListMerge {
 public:
  ListMerge(const Value* lhs, const Value* rhs, const ApplyPlace& place)
      : element_(place.element()), lhs_(lhs, place), rhs_(rhs, place) {
    const auto twice = std::ranges::adjacent_find(rhs_.sorted, {}, Indexed::identityOf);
    if (twice != rhs_.sorted.end()) {
      throw PatchError(PatchError::Reason::Malformed,
                       "duplicate entries for key " + (*twice)->identity.toString());
    }
    for (const Indexed::Item& item : rhs_.items) {
      if (lhs_.has(item.identity)) shared_.push_back(&item.identity);
    }
  }

  Value::Array run() {
    std::size_t left = 0;
    std::size_t right = 0;
    while (left < lhs_.items.size() || right < rhs_.items.size()) {
      const PathElement* ours = left < lhs_.items.size() ? &lhs_.items[left].identity : nullptr;
      const PathElement* theirs = right < rhs_.items.size() ? &rhs_.items[right].identity : nullptr;
      if (ours != nullptr && theirs != nullptr) {
        if (*ours == *theirs) {
          takeRight(right++);
          ++left;
          continue;
        }
        // In both lists, but its turn is later, or over.
        if (rhs_.has(*ours) && nextShared_ < shared_.size() && *shared_[nextShared_] != *ours) {
          ++left;
          continue;
        }
      }
      if (ours != nullptr) {
        if (!rhs_.has(*ours)) {
          put(lhs_.items[left++].value, nullptr);
          continue;
        }
        if (taken_.contains(*ours)) ++left;
      }
      if (theirs != nullptr) takeRight(right++);
    }
    return std::move(out_);
  }

 private:
  void takeRight(std::size_t i) {
    const PathElement& identity = rhs_.items[i].identity;
    const auto ours = lhs_.find(identity);
    // Several elements of one identity are replaced rather than merged.
    static const Value kNull;
    const Value* lhs = ours.empty() ? nullptr : ours.size() > 1 ? &kNull : ours.front()->value;
    put(lhs, rhs_.items[i].value);
    taken_.insert(identity);
    if (nextShared_ < shared_.size() && *shared_[nextShared_] == identity) ++nextShared_;
  }

  void put(const Value* lhs, const Value* rhs) {
    if (auto merged = merge(lhs, rhs, element_)) out_.push_back(std::move(*merged));
  }

  ApplyPlace element_;
  Indexed lhs_;
  Indexed rhs_;
  std::vector<const PathElement*> shared_;  // in the order of rhs
  std::size_t nextShared_ = 0;
  std::set<PathElement> taken_;
  Value::Array out_;
};

std::optional<Value> mergeMaps(const Value& lhs, const Value& rhs, const ApplyPlace& place) {
  ObjectEdit out(lhs.asObject());
  for (const auto& [key, theirs] : rhs.asObject()) {
    const auto ours = lhs.asObject().find(key);
    const auto inside = place.member(key);
    if (ours == lhs.asObject().end() || !inside) {
      out.set(key, theirs);
    } else if (auto merged = merge(&ours->value, &theirs, *inside)) {
      out.set(key, std::move(*merged));
    } else {
      out.erase(key);
    }
  }
  Value::Object result = out.done();
  if (result.empty()) return std::nullopt;
  return result;
}

}  // namespace

std::optional<Value> merge(const Value* lhs, const Value* rhs, const ApplyPlace& place) {
  if (rhs == nullptr) return lhs != nullptr ? std::optional<Value>(*lhs) : std::nullopt;
  if (lhs == nullptr) return *rhs;
  const Form form = place.formOf(*rhs);
  if (form == Form::Scalar || place.isAtomic(form)) return *rhs;
  if (form == Form::List) {
    if (isEmptyList(lhs) && isEmptyList(rhs)) return *rhs;
    Value::Array merged = ListMerge(lhs, rhs, place).run();
    if (merged.empty()) return std::nullopt;
    return merged;
  }
  // Two empty values are not merged, since null and {} differ.
  if (isEmptyMap(lhs) && isEmptyMap(rhs)) return *rhs;
  return mergeMaps(*lhs, *rhs, place);
}

// --- Comparing.

namespace {

class Comparing {
 public:
  // Compares at `element` below a place whose comparison is `into`.
  static void at(PathElement element, const Value* lhs, const Value* rhs, const ApplyPlace& place,
                 Comparison& into) {
    Comparison below;
    const Change change = walk(lhs, rhs, place, below);
    const bool lastStep[] = {change == Change::Removed, change == Change::Modified,
                             change == Change::Added};
    into.removed.insert(element, lastStep[0], below.removed);
    into.modified.insert(element, lastStep[1], below.modified);
    into.added.insert(element, lastStep[2], below.added);
  }

  enum class Change { None, Removed, Modified, Added };

  static Change walk(const Value* lhs, const Value* rhs, const ApplyPlace& place,
                     Comparison& below) {
    if (lhs != nullptr && rhs != nullptr) {
      // Without a schema, a value may change its form.
      const Form before = place.formOf(*lhs);
      const Form after = place.formOf(*rhs);
      if (before != after) {
        const Change first = as(before, lhs, rhs, place, below);
        const Change second = as(after, lhs, rhs, place, below);
        return second != Change::None ? second : first;
      }
      return as(after, lhs, rhs, place, below);
    }
    as(place.formOf(lhs != nullptr ? *lhs : *rhs), lhs, rhs, place, below);
    return lhs == nullptr ? Change::Added : Change::Removed;
  }

 private:
  static Change leaf(const Value* lhs, const Value* rhs) {
    if (lhs == nullptr) return Change::Added;
    if (rhs == nullptr) return Change::Removed;
    return compareValues(*lhs, *rhs) == 0 ? Change::None : Change::Modified;
  }

  static Change as(Form form, const Value* lhs, const Value* rhs, const ApplyPlace& place,
                   Comparison& below) {
    if (form == Form::Scalar || place.isAtomic(form)) return leaf(lhs, rhs);
    if (form == Form::List) {
      if (isEmptyList(lhs) && isEmptyList(rhs)) return leaf(lhs, rhs);
      lists(lhs, rhs, place, below);
    } else {
      if (isEmptyMap(lhs) && isEmptyMap(rhs)) return leaf(lhs, rhs);
      maps(lhs, rhs, place, below);
    }
    return Change::None;
  }

  static void maps(const Value* lhs, const Value* rhs, const ApplyPlace& place, Comparison& below) {
    static const Value::Object kNothing;
    const Value::Object& before = lhs != nullptr ? lhs->asObject() : kNothing;
    const Value::Object& after = rhs != nullptr ? rhs->asObject() : kNothing;
    const auto one = [&](const String& key, const Value* ours, const Value* theirs) {
      const auto inside = place.member(key);
      if (!inside) return;
      if (ours == nullptr && lhs != nullptr) ours = place.standIn(key);
      if (theirs == nullptr && rhs != nullptr) theirs = place.standIn(key);
      at(key, ours, theirs, *inside, below);
    };
    auto left = before.begin();
    auto right = after.begin();
    while (left != before.end() || right != after.end()) {
      const bool takeLeft =
          right == after.end() || (left != before.end() && left->key <= right->key);
      const bool takeRight =
          left == before.end() || (right != after.end() && right->key <= left->key);
      const String& key = takeLeft ? left->key : right->key;
      one(key, takeLeft ? &left->value : nullptr, takeRight ? &right->value : nullptr);
      if (takeLeft) ++left;
      if (takeRight) ++right;
    }
  }

  static void lists(const Value* lhs, const Value* rhs, const ApplyPlace& place,
                    Comparison& below) {
    const Indexed before(lhs, place);
    const Indexed after(rhs, place);
    const ApplyPlace element = place.element();
    auto left = before.sorted.begin();
    auto right = after.sorted.begin();
    while (left != before.sorted.end() || right != after.sorted.end()) {
      const PathElement& identity =
          right == after.sorted.end() ||
                  (left != before.sorted.end() && (*left)->identity < (*right)->identity)
              ? (*left)->identity
              : (*right)->identity;
      const auto ours = run(left, before.sorted.end(), identity);
      const auto theirs = run(right, after.sorted.end(), identity);
      if (ours.size() <= 1 && theirs.size() <= 1) {
        at(identity, ours.empty() ? nullptr : ours[0]->value,
           theirs.empty() ? nullptr : theirs[0]->value, element, below);
      } else if (ours.size() > 1 && theirs.size() > 1) {
        // Several elements of one identity are compared as one.
        const bool same = std::ranges::equal(ours, theirs, [](const auto* a, const auto* b) {
          return compareValues(*a->value, *b->value) == 0;
        });
        below.modified.insert(identity, !same, {});
      } else if (ours.size() > 1) {
        if (!theirs.empty()) at(identity, nullptr, theirs[0]->value, element, below);
        below.removed.insert(identity, true, {});
      } else {
        if (!ours.empty()) at(identity, ours[0]->value, nullptr, element, below);
        below.added.insert(identity, true, {});
      }
    }
  }

  // Returns the elements of this identity at the front, if any, and moves `first` behind them.
  template <class Iterator>
  static std::span<const Indexed::Item* const> run(Iterator& first, Iterator end,
                                                   const PathElement& identity) {
    const Iterator begin = first;
    while (first != end && (*first)->identity == identity) ++first;
    return {begin, first};
  }
};

}  // namespace

Comparison compare(const Value& lhs, const Value& rhs, const ApplyPlace& place) {
  Comparison result;
  Comparing::walk(&lhs, &rhs, place, result);
  return result;
}

}  // namespace kube::detail
