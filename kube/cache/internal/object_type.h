// The properties of an object type that the parts of a cache that are compiled once need.
//
// Stores, queues, reflectors and informers hold their objects as pointers to void. They read an
// object's key, labels and resourceVersion through the ObjectType of its type. There is one
// constant for each type, with two functions.
//
// Thread safety: constants.
#pragma once

#include <string_view>

#include "kube/base/string.h"
#include "kube/cache/internal/object_access.h"
#include "kube/meta/object_key.h"
#include "kube/meta/selectors/label_selector.h"
#include "kube/meta/type_info.h"
#include "kube/meta/v1.h"

namespace kube::detail {

struct ObjectType {
  const TypeInfo& info;
  KeyView (*keyViewOf)(const void* object) noexcept;
  /// Null if the objects are Unstructured.
  const metav1::ObjectMeta& (*metadataOf)(const void* object) noexcept;

  ObjectKey keyOf(const void* object) const;
  const String& namespaceOf(const void* object) const noexcept;
  const String& uidOf(const void* object) const noexcept;
  const String& resourceVersionOf(const void* object) const noexcept;
  std::string_view annotationOf(const void* object, std::string_view key) const noexcept;
  bool selects(const labels::Selector& selector, const void* object) const;
};

template <Cacheable T>
struct ObjectTypeOf {
  static KeyView keyViewOf(const void* object) noexcept {
    const T& typed = *static_cast<const T*>(object);
    return {detail::namespaceOf(typed), detail::nameOf(typed)};
  }
  static const metav1::ObjectMeta& metadataOf(const void* object) noexcept requires NamedObject<T> {
    return static_cast<const T*>(object)->metadata;
  }
  static constexpr ObjectType make() {
    if constexpr (NamedObject<T>) {
      return {TypeOf<T>::info, &keyViewOf, &metadataOf};
    } else {
      return {TypeOf<T>::info, &keyViewOf, nullptr};
    }
  }
};

template <Cacheable T>
inline constexpr ObjectType kObjectType = ObjectTypeOf<T>::make();

}  // namespace kube::detail
