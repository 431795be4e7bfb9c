// Makes the reference with which an event, or another object, names an object.
//
//   corev1::ObjectReference about = referenceTo(pod);
//
// Accepts typed objects of any kind, Unstructured objects, and references, which are returned
// unchanged.
#pragma once

#include <concepts>
#include <string_view>

#include "kube/api/core/v1.h"
#include "kube/meta/object_key.h"
#include "kube/meta/owner.h"
#include "kube/meta/unstructured.h"

namespace kube {

template <class T>
concept Referenced =
    NamedObject<T> || std::same_as<T, Unstructured> || std::same_as<T, corev1::ObjectReference>;

/// Throws Error for a type that is not a kind.
template <Referenced T>
corev1::ObjectReference referenceTo(const T& object) {
  if constexpr (std::same_as<T, corev1::ObjectReference>) {
    return object;
  } else {
    const GroupVersionKind kind = detail::kindOf(object);
    corev1::ObjectReference reference;
    reference.kind = kind.kind;
    reference.apiVersion = kind.groupVersion().str();
    if constexpr (std::same_as<T, Unstructured>) {
      reference.namespace_ = object.namespace_();
      reference.name = object.name();
      reference.uid = object.uid();
      reference.resourceVersion = object.resourceVersion();
    } else {
      reference.namespace_ = object.metadata.namespace_;
      reference.name = object.metadata.name;
      reference.uid = object.metadata.uid;
      reference.resourceVersion = object.metadata.resourceVersion;
    }
    return reference;
  }
}

/// The reference to a part of the object, such as "spec.containers{app}".
template <Referenced T>
corev1::ObjectReference referenceTo(const T& object, std::string_view fieldPath) {
  corev1::ObjectReference reference = referenceTo(object);
  reference.fieldPath = fieldPath;
  return reference;
}

}  // namespace kube
