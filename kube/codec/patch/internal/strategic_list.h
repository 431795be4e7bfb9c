// Elements of lists that a strategic merge patch merges: which is which, and in what order.
//
// An element of a list of objects is known by the value of its merge key, any other by itself.
//
// For source files of this folder; the public face is kube/codec/patch/strategic_merge.h.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "kube/meta/value.h"

namespace kube::detail {

inline constexpr std::string_view kPatchDirective = "$patch";
inline constexpr std::string_view kDeleteElement = "delete";
inline constexpr std::string_view kReplaceList = "replace";  // or an object

/// Throws PatchError.
[[noreturn]] void malformedPatch(const std::string& what);

/// The type all elements have. Throws PatchError when they differ, or are arrays or null; Null when
/// there are no elements.
Value::Type elementType(const Value::Array& a, const Value::Array& b = {});

/// The value by which an element is known. Throws PatchError when the merge key is missing.
const Value& identityOf(const Value& element, std::string_view mergeKey);

/// Where in a list an element is, by identity.
class ElementIndex {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  ElementIndex(const Value::Array& items, std::string_view mergeKey);

  /// The first with that identity, or kNone.
  std::size_t find(const Value& element) const;
  std::size_t findIdentity(const Value& identity) const;

 private:
  std::string_view mergeKey_;
  std::map<std::string, std::size_t> first_;  // no hash that somebody could prepare for
};

/// `items` with those named in `wanted` in that order, and the others, which only the server knows,
/// in the order of `live`. Where the two groups meet, the order of `live` decides if it can.
/// Elements marked for deletion come last in their group.
Value::Array inOrder(const Value::Array& items, const Value::Array& wanted,
                     const Value::Array& live, std::string_view mergeKey);

/// As sorted by upstream: by text, numbers too.
std::string sortText(const Value& value);

}  // namespace kube::detail
