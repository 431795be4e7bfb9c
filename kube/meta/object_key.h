// The namespace and name of an object: the key of objects in caches and in controllers.
//
//   ObjectKey key = keyOf(pod);            // book/web-1; for a cluster-scoped object just its name
//   ObjectKey::parse("book/web-1") == key
//
// Ordered by namespace, then name. Hashed, streamed and formatted as "namespace/name".
//
// Thread safety: that of String.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

#include "kube/base/internal/text_formatter.h"
#include "kube/base/string.h"
#include "kube/meta/gvk.h"
#include "kube/meta/type_info.h"
#include "kube/meta/v1.h"

namespace kube {

class AnyObject;
class Unstructured;

struct ObjectKey {
  String namespace_ = {};
  String name = {};

  /// Reads "namespace/name", or "name" alone, as str() returns it. Throws DecodeError if there is
  /// more than one slash.
  static ObjectKey parse(std::string_view text);

  bool empty() const noexcept { return namespace_.empty() && name.empty(); }
  std::string str() const;

  auto operator<=>(const ObjectKey&) const = default;
};

/// An API object with a name. Lists have none.
template <class T>
concept NamedObject = ApiObject<T> && requires(const T& object) {
  { object.metadata } -> std::convertible_to<const metav1::ObjectMeta&>;
};

inline ObjectKey keyOf(const metav1::ObjectMeta& meta) { return {meta.namespace_, meta.name}; }
template <NamedObject T>
ObjectKey keyOf(const T& object) {
  return keyOf(object.metadata);
}
ObjectKey keyOf(const Unstructured& object);
/// Throws Error if the object has no metadata.
ObjectKey keyOf(const AnyObject& object);

std::ostream& operator<<(std::ostream& out, const ObjectKey& key);

}  // namespace kube

template <>
struct std::hash<kube::ObjectKey> {
  std::size_t operator()(const kube::ObjectKey& key) const noexcept {
    return kube::detail::hashStrings(key.namespace_, key.name);
  }
};

template <>
struct fmt::formatter<kube::ObjectKey> : kube::detail::TextFormatter {
  auto format(const kube::ObjectKey& key, fmt::format_context& context) const {
    return text(key.str(), context);
  }
};
