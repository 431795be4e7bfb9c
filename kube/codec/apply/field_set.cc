#include "kube/codec/apply/field_set.h"

#include <algorithm>
#include <ostream>
#include <utility>

namespace kube {

namespace {

using Node = FieldSet::Node;

auto lowerBound(const List<Node>& nodes, const PathElement& element) noexcept {
  return std::lower_bound(
      nodes.begin(), nodes.end(), element,
      [](const Node& node, const PathElement& wanted) { return node.element < wanted; });
}

void walk(const FieldSet& set, FieldSet::Path& path,
          const std::function<void(const FieldSet::Path&)>& visit) {
  for (const Node& node : set.nodes()) {
    if (!node.member) continue;
    path.push_back(node.element);
    visit(path);
    path.pop_back();
  }
  for (const Node& node : set.nodes()) {
    path.push_back(node.element);
    walk(node.below, path, visit);
    path.pop_back();
  }
}

}  // namespace

FieldSet::FieldSet(std::initializer_list<Path> paths) {
  for (const Path& path : paths) insert(path);
}

FieldSet FieldSet::fromNodes(std::vector<Node> nodes) {
  FieldSet set;
  const auto outOfOrder = [](const Node& a, const Node& b) { return !(a.element < b.element); };
  if (std::ranges::adjacent_find(nodes, outOfOrder) == nodes.end()) {  // the common case
    set.nodes_.reserve(nodes.size());
    for (Node& node : nodes) {
      set.append(std::move(node.element), node.member, std::move(node.below));
    }
    return set;
  }
  std::stable_sort(nodes.begin(), nodes.end(),
                   [](const Node& a, const Node& b) { return a.element < b.element; });
  for (Node& node : nodes) set.insert(std::move(node.element), node.member, node.below);
  return set;
}

std::size_t FieldSet::size() const noexcept {
  std::size_t count = 0;
  for (const Node& node : nodes_) count += (node.member ? 1 : 0) + node.below.size();
  return count;
}

const FieldSet::Node* FieldSet::find(const PathElement& element) const noexcept {
  const auto at = lowerBound(nodes_, element);
  return at != nodes_.end() && at->element == element ? &*at : nullptr;
}

bool FieldSet::has(const Path& path) const noexcept {
  const FieldSet* set = this;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const Node* node = set->find(path[i]);
    if (node == nullptr) return false;
    if (i + 1 == path.size()) return node->member;
    set = &node->below;
  }
  return false;
}

void FieldSet::insert(const Path& path) {
  if (path.empty()) return;
  FieldSet below;
  for (std::size_t i = path.size() - 1; i > 0; --i) {
    FieldSet outer;
    outer.append(path[i], i + 1 == path.size(), std::move(below));
    below = std::move(outer);
  }
  insert(path[0], path.size() == 1, below);
}

void FieldSet::insert(PathElement element, bool member, const FieldSet& below) {
  if (!member && below.empty()) return;
  // Elements mostly arrive in order.
  if (nodes_.empty() || std::as_const(nodes_).back().element < element) {
    append(std::move(element), member, below);
    return;
  }
  const auto& nodes = std::as_const(nodes_);
  const auto place = static_cast<std::size_t>(lowerBound(nodes, element) - nodes.begin());
  if (nodes[place].element != element) {
    nodes_.insert(place, Node{std::move(element), member, below});
    return;
  }
  Node& node = nodes_[place];
  node.member = node.member || member;
  if (!below.empty()) node.below = node.below.union_(below);
}

void FieldSet::append(PathElement element, bool member, FieldSet below) {
  if (member || !below.empty()) {
    nodes_.push_back(Node{std::move(element), member, std::move(below)});
  }
}

// Walks both sets element by element; `merge(a, b, result)` gets a node of each, or null.
template <class Merge>
FieldSet FieldSet::zip(const FieldSet& a, const FieldSet& b, Merge merge) {
  FieldSet result;
  auto left = a.nodes_.begin();
  auto right = b.nodes_.begin();
  while (left != a.nodes_.end() || right != b.nodes_.end()) {
    const auto order = left == a.nodes_.end()    ? std::weak_ordering::greater
                       : right == b.nodes_.end() ? std::weak_ordering::less
                                                 : left->element <=> right->element;
    const Node* fromA = order <= 0 ? &*left++ : nullptr;
    const Node* fromB = order >= 0 ? &*right++ : nullptr;
    merge(fromA, fromB, result);
  }
  return result;
}

FieldSet FieldSet::union_(const FieldSet& other) const {
  if (other.empty() || nodes_.sharesWith(other.nodes_)) return *this;
  if (empty()) return other;
  return zip(*this, other, [](const Node* a, const Node* b, FieldSet& result) {
    if (a == nullptr || b == nullptr) {
      const Node& only = a != nullptr ? *a : *b;
      result.append(only.element, only.member, only.below);
    } else {
      result.append(a->element, a->member || b->member, a->below.union_(b->below));
    }
  });
}

FieldSet FieldSet::intersection(const FieldSet& other) const {
  return zip(*this, other, [](const Node* a, const Node* b, FieldSet& result) {
    if (a == nullptr || b == nullptr) return;
    result.append(a->element, a->member && b->member, a->below.intersection(b->below));
  });
}

bool FieldSet::intersects(const FieldSet& other) const noexcept {
  auto left = nodes_.begin();
  auto right = other.nodes_.begin();
  while (left != nodes_.end() && right != other.nodes_.end()) {
    const auto order = left->element <=> right->element;
    if (order == 0) {
      if ((left->member && right->member) || left->below.intersects(right->below)) return true;
    }
    if (order <= 0) ++left;
    if (order >= 0) ++right;
  }
  return false;
}

FieldSet FieldSet::difference(const FieldSet& other) const {
  if (other.empty()) return *this;
  return zip(*this, other, [](const Node* a, const Node* b, FieldSet& result) {
    if (a == nullptr) return;
    if (b == nullptr) {
      result.append(a->element, a->member, a->below);
    } else {
      result.append(a->element, a->member && !b->member, a->below.difference(b->below));
    }
  });
}

FieldSet FieldSet::recursiveDifference(const FieldSet& other) const {
  if (other.empty()) return *this;
  return zip(*this, other, [](const Node* a, const Node* b, FieldSet& result) {
    if (a == nullptr || (b != nullptr && b->member)) return;
    if (b == nullptr) {
      result.append(a->element, a->member, a->below);
    } else {
      result.append(a->element, a->member, a->below.recursiveDifference(b->below));
    }
  });
}

FieldSet FieldSet::leaves() const {
  FieldSet result;
  for (const Node& node : nodes_) {
    result.append(node.element, node.member && node.below.empty(), node.below.leaves());
  }
  return result;
}

void FieldSet::forEach(const std::function<void(const Path&)>& visit) const {
  Path path;
  walk(*this, path, visit);
}

std::vector<FieldSet::Path> FieldSet::paths() const {
  std::vector<Path> result;
  forEach([&](const Path& path) { result.push_back(path); });
  return result;
}

bool operator==(const FieldSet& a, const FieldSet& b) noexcept {
  if (a.nodes_.sharesWith(b.nodes_)) return true;
  return std::equal(a.nodes_.begin(), a.nodes_.end(), b.nodes_.begin(), b.nodes_.end(),
                    [](const Node& x, const Node& y) {
                      return x.member == y.member && x.element == y.element && x.below == y.below;
                    });
}

std::string toString(const FieldSet::Path& path) {
  std::string text;
  for (const PathElement& element : path) text += element.toString();
  return text;
}

std::ostream& operator<<(std::ostream& out, const FieldSet& set) { return out << set.toJson(); }

}  // namespace kube
