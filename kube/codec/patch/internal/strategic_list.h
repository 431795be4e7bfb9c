// The identity and the order of elements in lists that a strategic merge patch merges.
//
// An element of a list of objects is identified by the value of its merge key, any other by itself.
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

/// The type of all elements. Throws PatchError if types differ, or are arrays or null. Returns Null
/// if there are no elements.
Value::Type elementType(const Value::Array& a, const Value::Array& b = {});

/// The value that identifies an element. Throws PatchError if the merge key is missing.
const Value& identityOf(const Value& element, std::string_view mergeKey);

/// Finds elements of a list by their identity.
class ElementIndex {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  ElementIndex(const Value::Array& items, std::string_view mergeKey);

  /// Returns the first element with that identity, or kNone.
  std::size_t find(const Value& element) const;
  std::size_t findIdentity(const Value& identity) const;

 private:
  std::string_view mergeKey_;
  std::map<std::string, std::size_t> first_;  // not a hash table: its collisions could be provoked
};

/// Returns `items` in order: those named in `wanted` in that order, and the others, which only the
/// server has, in the order of `live`. Between the two groups, the order of `live` decides if it
/// can. Elements marked for deletion come last in their group.
Value::Array inOrder(const Value::Array& items, const Value::Array& wanted,
                     const Value::Array& live, std::string_view mergeKey);

/// The text by which upstream sorts, for numbers too.
std::string sortText(const Value& value);

}  // namespace kube::detail
