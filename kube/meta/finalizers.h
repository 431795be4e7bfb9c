// Finalizers: names on an object that delay its deletion until the controller that added a name has
// cleaned up and removes it.
//
//   if (!pod.metadata.deletionTimestamp) {
//     if (addFinalizer(pod, "example.com/volume")) client.update(pod);
//   } else if (containsFinalizer(pod, "example.com/volume")) {
//     cleanUp(pod);
//     removeFinalizer(pod, "example.com/volume");
//     client.update(pod);
//   }
//
// Thread safety: as any C++ value.
#pragma once

#include <algorithm>
#include <string_view>

#include "kube/meta/object_key.h"
#include "kube/meta/unstructured.h"
#include "kube/meta/v1.h"

namespace kube {

inline bool containsFinalizer(const metav1::ObjectMeta& meta, std::string_view finalizer) noexcept {
  return std::ranges::find(meta.finalizers, finalizer, &String::view) != meta.finalizers.end();
}

/// Returns whether the finalizer was added; false if it existed already.
inline bool addFinalizer(metav1::ObjectMeta& meta, std::string_view finalizer) {
  if (containsFinalizer(meta, finalizer)) return false;
  meta.finalizers.push_back(finalizer);
  return true;
}

/// Returns whether the finalizer existed.
inline bool removeFinalizer(metav1::ObjectMeta& meta, std::string_view finalizer) {
  return erase_if(meta.finalizers, [&](const String& name) { return name == finalizer; }) > 0;
}

template <NamedObject T>
bool containsFinalizer(const T& object, std::string_view finalizer) noexcept {
  return containsFinalizer(object.metadata, finalizer);
}
template <NamedObject T>
bool addFinalizer(T& object, std::string_view finalizer) {
  return addFinalizer(object.metadata, finalizer);
}
template <NamedObject T>
bool removeFinalizer(T& object, std::string_view finalizer) {
  return removeFinalizer(object.metadata, finalizer);
}

inline bool containsFinalizer(const Unstructured& object, std::string_view finalizer) {
  return containsFinalizer(metav1::ObjectMeta{.finalizers = object.finalizers()}, finalizer);
}
inline bool addFinalizer(Unstructured& object, std::string_view finalizer) {
  metav1::ObjectMeta meta{.finalizers = object.finalizers()};
  if (!addFinalizer(meta, finalizer)) return false;
  object.setFinalizers(meta.finalizers);
  return true;
}
inline bool removeFinalizer(Unstructured& object, std::string_view finalizer) {
  metav1::ObjectMeta meta{.finalizers = object.finalizers()};
  if (!removeFinalizer(meta, finalizer)) return false;
  object.setFinalizers(meta.finalizers);
  return true;
}

}  // namespace kube
