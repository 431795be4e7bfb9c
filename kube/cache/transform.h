// Transforms: functions that make objects smaller before a cache holds them.
//
//   pods.setTransform([](Pod& pod) { pod.spec->volumes = {}; });
//   kube::SharedInformerFactory factory(clients, {.transform = kube::stripManagedFields});
//
// An exception affects only that object or event: it is logged and counted, and the cache keeps the
// state of the object that it had before, if any.
//
// Thread safety: a reflector calls it from one thread at a time.
#pragma once

#include <concepts>
#include <functional>
#include <utility>

#include "kube/meta/internal/object_access.h"
#include "kube/meta/object_key.h"
#include "kube/meta/unstructured.h"
#include "kube/meta/v1.h"

namespace kube {

/// Changes an object before it is visible to readers and handlers, to drop parts that they do not
/// need.
template <class T>
using Transform = std::function<void(T& object)>;

/// A transform for objects of every kind: changes the metadata of structs, and Unstructured
/// objects.
class CommonTransform {
 public:
  CommonTransform() = default;
  template <class F>
  requires(std::invocable<F&, metav1::ObjectMeta&>&& std::invocable<F&, Unstructured&>)
      CommonTransform(F function)  // NOLINT: implicit, as std::function is
      : metadata(function), unstructured(std::move(function)) {}

  std::function<void(metav1::ObjectMeta&)> metadata;
  std::function<void(Unstructured&)> unstructured;
};

/// A transform that drops `metadata.managedFields`, which only server-side apply needs.
struct StripManagedFields {
  void operator()(metav1::ObjectMeta& metadata) const { metadata.managedFields = {}; }
  void operator()(Unstructured& object) const {
    object.removeNestedField("metadata", "managedFields");
  }
  template <NamedObject T>
  void operator()(T& object) const {
    (*this)(object.metadata);
  }
};
inline constexpr StripManagedFields stripManagedFields;

namespace detail {

/// A transform of objects whose type is not known.
using UntypedTransform = std::function<void(void* object)>;

template <class T>
UntypedTransform untypedTransform(Transform<T> transform) {
  if (!transform) return {};
  return [transform = std::move(transform)](void* object) { transform(*static_cast<T*>(object)); };
}

struct ObjectType;
/// The transform for objects of one type.
UntypedTransform untypedTransform(const CommonTransform& transform, const ObjectType& type);

}  // namespace detail

}  // namespace kube
