// A set of paths into an object: the fields that a manager owns, the FieldsV1 of managedFields.
//
//   FieldSet set = FieldSet::parse(R"({"f:spec":{"f:replicas":{}}})");
//   set.insert({"spec", "template", "spec", "containers", PathElement::key({{"name", "web"}}),
//               "image"});
//   set.has({"spec", "replicas"});
//   for (const FieldSet::Path& path : set.paths()) std::cout << toString(path) << '\n';
//       .spec.replicas
//       .spec.template.spec.containers[name="web"].image
//
// Whether a path is in the set is independent of the paths above and below it. The empty path, the
// whole object, is never in a set. The text of a set is unique: equal sets have the same text, and
// it is the text that upstream writes.
//
// Thread safety: as any C++ value. Copies are cheap and share memory.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/list.h"
#include "kube/codec/apply/path_element.h"
#include "kube/meta/value.h"

namespace kube {

class FieldSet {
 public:
  using Path = std::vector<PathElement>;
  struct Node;

  FieldSet() = default;
  FieldSet(std::initializer_list<Path> paths);
  /// Takes nodes in any order, and merges nodes of the same element.
  static FieldSet fromNodes(std::vector<Node> nodes);

  /// Reads FieldsV1, and ignores unknown kinds of elements. Throws DecodeError. Sets `canonical` to
  /// whether toJson() is certain to return the same text.
  static FieldSet parse(std::string_view json, bool* canonical = nullptr);
  static FieldSet fromValue(const Value& fields);
  std::string toJson() const;

  bool empty() const noexcept { return nodes_.empty(); }
  /// The number of paths.
  std::size_t size() const noexcept;
  bool has(const Path& path) const noexcept;
  void insert(const Path& path);
  /// Adds paths that start with `element`: that path itself if `member`, and those `below` it.
  void insert(PathElement element, bool member, const FieldSet& below);

  FieldSet union_(const FieldSet& other) const;
  FieldSet intersection(const FieldSet& other) const;
  /// True if any path is in both.
  bool intersects(const FieldSet& other) const noexcept;
  /// This set without the paths of `other`.
  FieldSet difference(const FieldSet& other) const;
  /// This set without the paths of `other` and everything below them.
  FieldSet recursiveDifference(const FieldSet& other) const;
  /// The paths that are not part of a longer one.
  FieldSet leaves() const;

  /// Visits the paths in upstream's order: at each level, first the paths that end there, then
  /// longer ones.
  void forEach(const std::function<void(const Path&)>& visit) const;
  std::vector<Path> paths() const;

  /// The tree itself: a node for each element that a path starts with, sorted.
  const List<Node>& nodes() const noexcept { return nodes_; }
  /// Returns null if no path starts with the element.
  const Node* find(const PathElement& element) const noexcept;

  friend bool operator==(const FieldSet& a, const FieldSet& b) noexcept;

 private:
  template <class Merge>
  static FieldSet zip(const FieldSet& a, const FieldSet& b, Merge merge);
  void append(PathElement element, bool member, FieldSet below);

  List<Node> nodes_;  // sorted by element; each is a member or has something below
};

struct FieldSet::Node {
  PathElement element;
  bool member = false;
  FieldSet below = {};
};

/// .spec.containers[name="web"].image
std::string toString(const FieldSet::Path& path);
/// Writes the set as JSON.
std::ostream& operator<<(std::ostream& out, const FieldSet& set);

}  // namespace kube
