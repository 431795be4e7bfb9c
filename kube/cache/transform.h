// Transforms: functions that make objects smaller before a cache holds them.
//
//   pods.setTransform([](Pod& pod) { pod.metadata.managedFields = {}; });
//
// An exception affects only that object or event: it is logged and counted, and the cache keeps the
// state of the object that it had before, if any.
//
// Thread safety: a reflector calls it from one thread at a time.
#pragma once

#include <functional>
#include <utility>

namespace kube {

/// Changes an object before it is visible to readers and handlers, to drop parts that they do not
/// need.
template <class T>
using Transform = std::function<void(T& object)>;

namespace detail {

/// A transform of objects whose type is not known.
using UntypedTransform = std::function<void(void* object)>;

template <class T>
UntypedTransform untypedTransform(Transform<T> transform) {
  if (!transform) return {};
  return [transform = std::move(transform)](void* object) { transform(*static_cast<T*>(object)); };
}

}  // namespace detail

}  // namespace kube
