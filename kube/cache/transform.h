// What makes objects smaller before a cache holds them.
//
//   pods.setTransform([](Pod& pod) { pod.metadata.managedFields = {}; });
//
// What it throws costs that one object, or that one event of it: it is logged and counted, and the
// cache has what it had of the object before, or nothing.
//
// Thread safety: a reflector calls it from one thread at a time.
#pragma once

#include <functional>
#include <utility>

namespace kube {

/// Changes an object before anybody sees it, to leave out what nobody needs.
template <class T>
using Transform = std::function<void(T& object)>;

namespace detail {

/// As a reflector's loop has it, which does not know the type.
using UntypedTransform = std::function<void(void* object)>;

template <class T>
UntypedTransform untypedTransform(Transform<T> transform) {
  if (!transform) return {};
  return [transform = std::move(transform)](void* object) { transform(*static_cast<T*>(object)); };
}

}  // namespace detail

}  // namespace kube
